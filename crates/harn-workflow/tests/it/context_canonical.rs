//! A context is canonical exactly when making it again from its parts and writing it gives the same JSON.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_workflow::context::{
    AcceptanceSummary, AttemptContext, Cause, ContextFinding, Prior, Trigger, Unresolved, UnresolvedStatus,
    WorkContext,
};
use proptest::prelude::*;

use crate::run_samples::{actor, id};

/// A text that is often padded and sometimes blank.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-z\"\\\\é]{1,6}", 1 => "[ \\t\\n]{0,1}[a-z]{1,3}[ \\n]{0,2}", 1 => Just(" ".to_owned())]
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn array(entries: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", entries.into_iter().collect::<Vec<_>>().join(","))
}

/// Sometimes swaps two members.
fn disturb(mut members: Vec<(&'static str, String)>, swap: Option<(usize, usize)>) -> String {
    if let Some((a, b)) = swap {
        let count = members.len();
        members.swap(a % count, b % count);
    }
    object(&members)
}

fn swap() -> impl Strategy<Value = Option<(usize, usize)>> {
    prop_oneof![3 => Just(None), 1 => (0usize..5, 0usize..5).prop_map(Some)]
}

const CAUSES: [(Cause, &str); 4] = [
    (Cause::WorkflowError, "workflow_error"),
    (Cause::AcceptanceUnsatisfied, "acceptance_unsatisfied"),
    (Cause::AcceptanceUnknown, "acceptance_unknown"),
    (Cause::Lost, "lost"),
];

/// A prior whose parts agree more often than not, with the causes in some order.
fn prior() -> impl Strategy<Value = Prior> {
    let criterion = ("[a-z]{1,2}", text(), any::<bool>()).prop_map(|(id, statement, unknown)| Unresolved {
        id,
        statement,
        status: if unknown { UnresolvedStatus::Unknown } else { UnresolvedStatus::Unsatisfied },
    });
    let made = (
        proptest::option::of(text()),
        proptest::collection::vec(criterion, 0..3),
        any::<bool>(),
        0u32..3,
        prop_oneof![8 => Just(0u32), 1 => 1u32..3],
        prop_oneof![4 => Just(None), 1 => proptest::sample::subsequence(CAUSES.to_vec(), 0..4).prop_shuffle().prop_map(Some)],
        any::<bool>(),
    );
    made.prop_map(|(error, unresolved, failed, satisfied, wrong, other, reverse)| {
        let count = |status| {
            u32::try_from(unresolved.iter().filter(|c: &&Unresolved| c.status == status).count()).unwrap()
        };
        let (unsatisfied, unknown) = (count(UnresolvedStatus::Unsatisfied), count(UnresolvedStatus::Unknown));
        let mut causes: Vec<_> = [failed, unsatisfied > 0, unknown > 0]
            .into_iter()
            .zip(CAUSES)
            .filter_map(|(holds, (cause, _))| holds.then_some(cause))
            .collect();
        if let Some(other) = other {
            causes = other.into_iter().map(|(cause, _)| cause).collect();
        } else if reverse && causes.len() > 1 {
            causes.reverse();
        }
        if causes == [Cause::Lost] {
            return Prior::lost(id("run-1"));
        }
        Prior {
            run_id: id("run-1"),
            causes,
            error,
            acceptance: Some(AcceptanceSummary {
                satisfied,
                unsatisfied,
                unknown,
                total: satisfied + unsatisfied + unknown + wrong,
            }),
            unresolved,
        }
    })
}

fn prior_json(prior: &Prior, swap: Option<(usize, usize)>) -> String {
    let name = |cause: &Cause| CAUSES.iter().find(|(other, _)| other == cause).unwrap().1;
    let mut members = vec![
        ("run_id", quoted(prior.run_id.as_str())),
        ("causes", array(prior.causes.iter().map(|cause| quoted(name(cause))))),
    ];
    members.extend(prior.error.as_ref().map(|error| ("error", quoted(error))));
    members.extend(prior.acceptance.map(|summary| {
        let counts = [
            ("satisfied", summary.satisfied.to_string()),
            ("unsatisfied", summary.unsatisfied.to_string()),
            ("unknown", summary.unknown.to_string()),
            ("total", summary.total.to_string()),
        ];
        ("acceptance", object(&counts))
    }));
    let unresolved = prior.unresolved.iter().map(|criterion| {
        let status = match criterion.status {
            UnresolvedStatus::Unsatisfied => "unsatisfied",
            UnresolvedStatus::Unknown => "unknown",
        };
        object(&[
            ("id", quoted(&criterion.id)),
            ("statement", quoted(&criterion.statement)),
            ("status", quoted(status)),
        ])
    });
    members.push(("unresolved", array(unresolved)));
    disturb(members, swap)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn work_contexts(
        title in text(),
        objective in text(),
        acceptance in proptest::collection::vec(text(), 0..4),
        version in prop_oneof![8 => Just(1), 1 => 0..3],
        extra in proptest::bool::weighted(0.05),
        swap in swap(),
    ) {
        let mut members = vec![
            ("schema_version", version.to_string()),
            ("id", quoted("alpha")),
            ("title", quoted(&title)),
            ("objective", quoted(&objective)),
            ("acceptance", array(acceptance.iter().map(|text| quoted(text)))),
        ];
        if extra {
            members.push(("extra", "1".to_owned()));
        }
        let json = disturb(members, swap);
        let again = WorkContext::new(id("alpha"), &title, &objective, &acceptance)
            .ok()
            .map(|context| serde_json::to_string(&context).unwrap());
        let read = WorkContext::from_json(json.as_bytes());
        prop_assert_eq!(read.is_ok(), again == Some(json), "{:?}", read);
    }

    #[test]
    fn attempt_contexts(
        number in 0u32..4,
        retry in any::<bool>(),
        prior in prior(),
        (odd, prior_swap, swap) in (proptest::bool::weighted(0.05), swap(), swap()),
        findings in proptest::option::of(proptest::collection::vec(("f[1-9]", text()), 0..3)),
    ) {
        let trigger = if retry { Trigger::Retry } else { Trigger::Initial };
        let prior = (retry != odd).then_some(prior);
        let mut members = vec![
            ("schema_version", "1".to_owned()),
            ("number", number.to_string()),
            ("trigger", quoted(if retry { "retry" } else { "initial" })),
        ];
        members.extend(prior.as_ref().map(|prior| ("prior", prior_json(prior, prior_swap))));
        members.extend(findings.as_ref().map(|findings| {
            ("findings", array(findings.iter().map(|(id, statement)| object(&[
                ("id", quoted(id)),
                ("actor", quoted("reviewer")),
                ("statement", quoted(statement)),
            ]))))
        }));
        let json = disturb(members, swap);
        let findings = findings.unwrap_or_default().into_iter().map(|(id, statement)| ContextFinding {
            id,
            actor: actor("reviewer"),
            statement,
        });
        let again = AttemptContext::new(number, trigger, prior, findings.collect())
            .ok()
            .map(|context| serde_json::to_string(&context).unwrap());
        let read = AttemptContext::from_json(json.as_bytes());
        prop_assert_eq!(read.is_ok(), again == Some(json), "{:?}", read);
    }
}
