//! Attempt contexts: what is trimmed, what is refused, and by which name.
use harn_workflow::context::{
    AcceptanceSummary, AttemptContext, Cause, ContextError, ContextFinding, Prior, Trigger, Unresolved,
    UnresolvedStatus,
};

use crate::run_samples::{actor, id};

fn prior() -> Prior {
    Prior {
        run_id: id("run-1"),
        causes: vec![Cause::WorkflowError, Cause::AcceptanceUnknown],
        error: Some("it broke".to_owned()),
        acceptance: Some(AcceptanceSummary { unknown: 1, satisfied: 1, unsatisfied: 0, total: 2 }),
        unresolved: vec![Unresolved {
            id: "tests".to_owned(),
            statement: "The suite passes".to_owned(),
            status: UnresolvedStatus::Unknown,
        }],
    }
}

fn finding(id: &str, statement: &str) -> ContextFinding {
    ContextFinding { id: id.to_owned(), actor: actor("reviewer"), statement: statement.to_owned() }
}

fn retry(prior: Prior) -> Result<AttemptContext, ContextError> {
    AttemptContext::new(2, Trigger::Retry, Some(prior), vec![])
}

const RETRY: &str = concat!(
    r#"{"schema_version":1,"number":2,"trigger":"retry","prior":{"run_id":"run-1","#,
    r#""causes":["workflow_error","acceptance_unknown"],"error":"it broke","#,
    r#""acceptance":{"satisfied":1,"unsatisfied":0,"unknown":1,"total":2},"#,
    r#""unresolved":[{"id":"tests","statement":"The suite passes","status":"unknown"}]},"#,
    r#""findings":[{"id":"f1","actor":"reviewer","statement":"Wrong."}]}"#
);

/// K-40
#[test]
fn padded_texts_are_trimmed_causes_ordered_and_the_result_is_canonical() {
    let padded = Prior {
        causes: vec![Cause::AcceptanceUnknown, Cause::WorkflowError],
        error: Some(" it broke\n".to_owned()),
        unresolved: vec![Unresolved {
            id: " tests".to_owned(),
            statement: "\tThe suite passes ".to_owned(),
            status: UnresolvedStatus::Unknown,
        }],
        ..prior()
    };
    let context =
        AttemptContext::new(2, Trigger::Retry, Some(padded), vec![finding(" f1 ", " Wrong. ")]).unwrap();
    assert_eq!(context.prior(), Some(&prior()));
    assert_eq!(context.findings(), [finding("f1", "Wrong.")]);
    assert_eq!(serde_json::to_string(&context).unwrap(), RETRY);
    assert_eq!(AttemptContext::from_json(RETRY.as_bytes()).unwrap(), context);
}

/// K-41
#[test]
fn trigger_and_prior_go_together_and_a_prior_agrees_with_itself() {
    let lost = || Prior::lost(id("run-1"));
    let summary = |satisfied, unsatisfied, unknown, total| {
        Some(AcceptanceSummary { satisfied, unsatisfied, unknown, total })
    };
    let initial = AttemptContext::new(1, Trigger::Initial, Some(prior()), vec![]);
    assert_eq!(initial.unwrap_err().code(), "context_prior_on_initial");
    let none = AttemptContext::new(2, Trigger::Retry, None, vec![]);
    assert_eq!(none.unwrap_err().code(), "context_prior_missing");
    let cases = [
        (Prior { causes: vec![Cause::Lost, Cause::WorkflowError], ..lost() }, "context_lost_not_alone"),
        (Prior { error: Some("x".to_owned()), ..lost() }, "context_lost_not_alone"),
        (Prior { acceptance: summary(0, 0, 0, 0), ..lost() }, "context_lost_not_alone"),
        (Prior { unresolved: prior().unresolved, ..lost() }, "context_lost_not_alone"),
        (
            Prior { causes: vec![Cause::WorkflowError, Cause::WorkflowError], ..prior() },
            "context_repeated_cause",
        ),
        (Prior { causes: vec![], ..prior() }, "context_no_cause"),
        (Prior { causes: vec![Cause::WorkflowError], ..prior() }, "context_cause_mismatch"),
        (
            Prior { causes: vec![Cause::AcceptanceUnsatisfied, Cause::AcceptanceUnknown], ..prior() },
            "context_cause_mismatch",
        ),
        (Prior { acceptance: summary(0, 0, 2, 2), ..prior() }, "context_summary_mismatch"),
        (Prior { acceptance: summary(1, 0, 1, 3), ..prior() }, "context_summary_sum"),
        (Prior { acceptance: summary(101, 0, 1, 102), ..prior() }, "context_out_of_range"),
        (Prior { acceptance: None, ..prior() }, "context_missing_member"),
        (Prior { error: Some(" ".to_owned()), ..prior() }, "context_text"),
        (Prior { error: Some("x".repeat(2001)), ..prior() }, "context_text"),
        (
            Prior { unresolved: [prior().unresolved, prior().unresolved].concat(), ..prior() },
            "context_repeated_id",
        ),
    ];
    for (prior, code) in cases {
        assert_eq!(retry(prior.clone()).unwrap_err().code(), code, "{prior:?}");
    }
    assert!(retry(prior()).is_ok() && retry(lost()).is_ok());
    // A failed run without criteria has nothing unresolved.
    let bare = Prior {
        causes: vec![Cause::WorkflowError],
        error: None,
        acceptance: summary(0, 0, 0, 0),
        unresolved: vec![],
        ..prior()
    };
    assert!(retry(bare).is_ok());
}

/// W-23: uncharged attempts never run out of numbers.
#[test]
fn numbers() {
    let new = |number, trigger| {
        let prior = (trigger == Trigger::Retry).then(prior);
        AttemptContext::new(number, trigger, prior, vec![]).map_err(|error| error.code())
    };
    for good in [1, 2, 101, 10_000] {
        assert!(new(good, Trigger::Initial).is_ok(), "{good}");
    }
    for (number, trigger) in [(0, Trigger::Initial), (10_001, Trigger::Initial), (1, Trigger::Retry)] {
        assert_eq!(new(number, trigger), Err("context_out_of_range"));
    }
}

#[test]
fn findings_are_few_short_and_have_ids_of_their_own() {
    let with =
        |findings| AttemptContext::new(1, Trigger::Initial, None, findings).map_err(|error| error.code());
    let many = |count: usize| (1..=count).map(|n| finding(&format!("f{n}"), "x")).collect::<Vec<_>>();
    assert!(with(many(20)).is_ok());
    assert!(with(vec![finding("f1", &"ñ".repeat(1000))]).is_ok());
    for (bad, code) in [
        (many(21), "context_too_many"),
        (vec![finding("f1", &"ñ".repeat(1001))], "context_text"),
        (vec![finding("f1", " ")], "context_text"),
        (vec![finding("f1", "a\u{1b}[2J")], "context_text"),
        (vec![finding("../f", "x")], "context_id"),
        (vec![finding(&"f".repeat(65), "x")], "context_text"),
        (vec![finding("f1", "x"), finding("f1 ", "y")], "context_repeated_id"),
    ] {
        assert_eq!(with(bad), Err(code));
    }
}

#[test]
fn what_is_not_canonical_is_refused_by_name() {
    let cases = [
        (RETRY.replacen('{', "{\"extra\":1,", 1), "context_unknown_member", "`extra`"),
        (RETRY.replace("\"run_id\"", "\"x\":1,\"run_id\""), "context_unknown_member", "`prior.x`"),
        (RETRY.replace("Wrong.\"}", "Wrong.\",\"x\":1}"), "context_unknown_member", "`findings[0].x`"),
        (RETRY.replace("version\":1", "version\":3"), "context_version", "is 3"),
        (RETRY.replace("\"number\":2", "\"number\":10001"), "context_out_of_range", "`number`"),
        (RETRY.replace("\"retry\"", "\"again\""), "context_unknown_word", "`trigger`"),
        (RETRY.replace("workflow_error", "weather"), "context_unknown_word", "`prior.causes[0]`"),
        (
            RETRY.replace("\"status\":\"unknown\"", "\"status\":\"satisfied\""),
            "context_unknown_word",
            "`prior.unresolved[0].status`",
        ),
        (
            RETRY.replace(
                "\"workflow_error\",\"acceptance_unknown\"",
                "\"acceptance_unknown\",\"workflow_error\"",
            ),
            "context_cause_order",
            "causes",
        ),
        (RETRY.replace("it broke", "it broke "), "context_text", "`prior.error`"),
        (RETRY.replace("The suite", " The suite"), "context_text", "`prior.unresolved[0].statement`"),
        (RETRY.replace("Wrong.", "Wrong.\\n"), "context_text", "`findings[0].statement`"),
        (RETRY.replace("\"reviewer\"", "\"reviewer \""), "context_text", "`findings[0].actor`"),
        (RETRY.replace("\"it broke\"", "null"), "context_wrong_type", "`prior.error`"),
        (RETRY.replace("run-1", "../run"), "context_id", "`prior.run_id`"),
        (
            RETRY.replace(r#"[{"id":"f1","actor":"reviewer","statement":"Wrong."}]"#, "[]"),
            "context_empty",
            "`findings`",
        ),
        (
            RETRY.replace(r#""number":2,"trigger":"retry""#, r#""trigger":"retry","number":2"#),
            "context_member_order",
            "`number`",
        ),
        (
            RETRY.replace(r#""satisfied":1,"unsatisfied":0"#, r#""unsatisfied":0,"satisfied":1"#),
            "context_member_order",
            "`prior.acceptance.satisfied`",
        ),
        (RETRY.replace(r#""number":2"#, r#""number":2,"number":2"#), "context_repeated_member", "`number`"),
        (RETRY.replace(r#","total":2"#, ""), "context_missing_member", "`prior.acceptance.total`"),
    ];
    for (json, code, named) in cases {
        assert_ne!(json, RETRY, "the case for {code} changes nothing");
        let error = AttemptContext::from_json(json.as_bytes()).unwrap_err();
        assert_eq!(error.code(), code, "{json}");
        assert!(error.to_string().contains(named), "{error}");
    }
}
