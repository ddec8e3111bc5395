//! The roll-up of criteria.
use harn_ledger::Timestamp;
use harn_workflow::run::{
    Acceptance, Criterion, CriterionId, CriterionStatus, Evidence, EvidenceId, EvidenceKind, EvidenceStatus,
    Meta, MetaParts, Source, roll_up,
};
use proptest::prelude::*;

use crate::run_samples::{
    Transcript, block, check_ended, check_started, cited, evidence, line, manifest, meta, nth, parts,
    succeeded,
};

const STATUSES: [EvidenceStatus; 4] =
    [EvidenceStatus::Passed, EvidenceStatus::Failed, EvidenceStatus::Observed, EvidenceStatus::Unknown];

fn record(number: u32, source: Source, status: EvidenceStatus, ids: &[&str]) -> Evidence {
    Evidence {
        id: EvidenceId::new(nth(number)),
        source,
        recorded_at: Timestamp::UNIX_EPOCH,
        kind: EvidenceKind::Test,
        status,
        label: line("x"),
        stage: None,
        check: None,
        summary: None,
        reference: None,
        acceptance_ids: cited(ids),
        note: None,
    }
}

fn of(declared: &[&str], items: usize, require: bool, evidence: &[Evidence]) -> Acceptance {
    let items = vec!["An acceptance text".to_owned(); items];
    roll_up(&meta(declared).parts().acceptance, &items, require, evidence)
}

/// K-92
#[test]
fn a_failure_outweighs_a_pass_and_nothing_else_decides() {
    use EvidenceStatus::{Failed, Observed, Passed, Unknown};
    let cases: [(&[EvidenceStatus], CriterionStatus); 7] = [
        (&[Passed], CriterionStatus::Satisfied),
        (&[Passed, Failed], CriterionStatus::Unsatisfied),
        (&[Failed, Passed], CriterionStatus::Unsatisfied),
        (&[Observed], CriterionStatus::Unknown),
        (&[Observed, Unknown], CriterionStatus::Unknown),
        (&[Observed, Passed], CriterionStatus::Satisfied),
        (&[], CriterionStatus::Unknown),
    ];
    for (statuses, expected) in cases {
        let evidence: Vec<_> = statuses
            .iter()
            .zip(1..)
            .map(|(status, n)| record(n, Source::Workflow, *status, &["c"]))
            .collect();
        assert_eq!(of(&["c"], 0, false, &evidence).criteria[0].status, expected, "{statuses:?}");
    }
}

#[test]
fn acceptance_texts_join_when_cited_or_demanded() {
    let evidence = [
        record(1, Source::Engine, EvidenceStatus::Passed, &["c", "item.2"]),
        record(2, Source::Workflow, EvidenceStatus::Observed, &["c"]),
    ];
    let ids = |acceptance: &Acceptance| {
        let criteria: Vec<_> = acceptance.criteria.iter().map(|result| result.id.to_string()).collect();
        let rest: Vec<_> = acceptance.not_covered.iter().map(ToString::to_string).collect();
        (criteria.join(" "), rest.join(" "))
    };
    let cited_only = of(&["c"], 3, false, &evidence);
    assert_eq!(ids(&cited_only), ("c item.2".to_owned(), "item.1 item.3".to_owned()));
    assert_eq!(cited_only.summary.satisfied, 2);
    let demanded = of(&["c"], 3, true, &evidence);
    assert_eq!(ids(&demanded), ("c item.1 item.2 item.3".to_owned(), String::new()));
    assert_eq!((demanded.summary.satisfied, demanded.summary.unknown, demanded.summary.total), (2, 2, 4));
    // Whoever vouches is listed once, the script first, and every citation counts as cited.
    assert_eq!(cited_only.criteria[0].sources, [Source::Workflow, Source::Engine]);
    assert_eq!(cited_only.criteria[0].evidence_ids.len(), 2);
    assert_eq!(ids(&of(&[], 2, false, &[])), (String::new(), "item.1 item.2".to_owned()));
}

/// K-90
#[test]
fn criteria_have_unique_well_formed_ids() {
    let criterion = |id: &str| Criterion { id: CriterionId::new(id).unwrap(), statement: block("x") };
    let new = |acceptance| {
        let parts = MetaParts { acceptance, ..MetaParts::default() };
        Meta::new(parts).map_err(|error| error.code())
    };
    for bad in ["", "../x", "a b", "-a", &"a".repeat(65)] {
        assert!(CriterionId::new(bad).is_err(), "{bad}");
    }
    assert_eq!(new(vec![criterion("a"), criterion("b"), criterion("a")]), Err("meta_repeated_criterion"));
    assert_eq!(new(vec![criterion("item.1")]), Err("meta_reserved_criterion"));
    let many = |count: usize| (0..count).map(|n| criterion(&format!("c{n}"))).collect::<Vec<_>>();
    assert_eq!(new(many(51)), Err("meta_too_many_criteria"));
    assert!(new(many(50)).is_ok());
    let repeated = r#"{"acceptance":[{"id":"a","statement":"x"},{"id":"a","statement":"x"}]}"#;
    assert!(serde_json::from_str::<Meta>(repeated).is_err());
}

/// K-91
#[test]
fn evidence_cites_known_criteria_once_and_is_bounded() {
    let mut run = Transcript::of(manifest(), &["c"]);
    let unknown = run.record(evidence(1, EvidenceStatus::Passed, &["d"])).unwrap_err();
    assert_eq!(unknown.code(), "run_unknown_criterion");
    // `alpha` has two acceptance texts.
    assert!(run.record(evidence(1, EvidenceStatus::Passed, &["item.3"])).is_err());
    for none in ["item.0", "item.01", "item.", "item.x"] {
        assert!(run.record(check_started(1, &[none])).is_err(), "{none}");
    }
    assert_eq!(cited(&["c", "item.2", "c"]), cited(&["c", "item.2"]));
    run.record(evidence(1, EvidenceStatus::Passed, &["c", "item.2", "c"])).unwrap();
    assert_eq!(run.record(evidence(3, EvidenceStatus::Passed, &[])).unwrap_err().code(), "run_out_of_order");
    for number in 2..200 {
        run.record(evidence(number, EvidenceStatus::Observed, &[])).unwrap();
    }
    // An open check has its record reserved.
    run.record(check_started(1, &["c"])).unwrap();
    assert_eq!(
        run.record(evidence(200, EvidenceStatus::Passed, &[])).unwrap_err().code(),
        "run_too_much_evidence"
    );
    assert_eq!(run.record(check_started(2, &[])).unwrap_err().code(), "run_too_much_evidence");
    run.execute(check_ended(1, harn_workflow::run::CheckOutcome::Failed)).unwrap();
    assert_eq!(
        run.record(evidence(201, EvidenceStatus::Passed, &[])).unwrap_err().code(),
        "run_too_much_evidence"
    );
    let proof = run.then(succeeded()).proof();
    assert_eq!(proof.evidence.last().unwrap().id.to_string(), "e200");
    assert_eq!(proof.evidence.last().unwrap().source, Source::Engine);
    assert_eq!(proof.acceptance.criteria[0].status, CriterionStatus::Unsatisfied);
}

#[test]
fn the_manifest_can_demand_every_acceptance_text() {
    let mut demanding = parts();
    demanding.execution.require_acceptance = true;
    let manifest = harn_workflow::run::Manifest::new(demanding).unwrap();
    let proof = Transcript::of(manifest, &[]).then(succeeded()).proof();
    assert_eq!((proof.acceptance.summary.unknown, proof.passes()), (2, false));
    assert_eq!(proof.acceptance.criteria[1].statement.as_str(), "The smoke test passes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// An oracle that goes record by record instead of criterion by criterion.
    #[test]
    fn the_roll_up_agrees_with_an_oracle(
        declared in 0usize..4,
        items in 0usize..4,
        require in any::<bool>(),
        records in proptest::collection::vec((0usize..4, any::<bool>(), proptest::collection::vec(0usize..8, 0..4)), 0..8),
    ) {
        let names: Vec<String> =
            (0..declared).map(|n| format!("c{n}")).chain((1..=items).map(|n| format!("item.{n}"))).collect();
        let mut rank = vec![None; names.len()];
        let mut evidence = Vec::new();
        for ((status, engine, mentions), number) in records.iter().zip(1..) {
            let mentions: Vec<usize> = mentions.iter().copied().filter(|at| *at < names.len()).collect();
            for at in &mentions {
                let weight = [1, 2, 0, 0][*status];
                rank[*at] = rank[*at].max(Some(weight));
            }
            let ids: Vec<&str> = mentions.iter().map(|at| names[*at].as_str()).collect();
            let source = if *engine { Source::Engine } else { Source::Workflow };
            evidence.push(record(number, source, STATUSES[*status], &ids));
        }
        let ids: Vec<&str> = names[..declared].iter().map(String::as_str).collect();
        let acceptance = of(&ids, items, require, &evidence);

        let mut expected = Vec::new();
        let mut rest = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if at < declared || require || rank[at].is_some() {
                let status = match rank[at] {
                    Some(2) => CriterionStatus::Unsatisfied,
                    Some(1) => CriterionStatus::Satisfied,
                    _ => CriterionStatus::Unknown,
                };
                expected.push((name.clone(), status));
            } else {
                rest.push(name.clone());
            }
        }
        let found: Vec<_> = acceptance.criteria.iter().map(|c| (c.id.to_string(), c.status)).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(acceptance.not_covered.iter().map(ToString::to_string).collect::<Vec<_>>(), rest);
        let count = |status| u32::try_from(expected.iter().filter(|(_, s)| *s == status).count()).unwrap();
        let summary = acceptance.summary;
        prop_assert_eq!(
            (summary.satisfied, summary.unsatisfied, summary.unknown, summary.total as usize),
            (
                count(CriterionStatus::Satisfied),
                count(CriterionStatus::Unsatisfied),
                count(CriterionStatus::Unknown),
                expected.len(),
            )
        );
    }
}
