//! What a result of before and a result of now say about the work between them.

use harn_env::command::{Exit, Outcome};
use harn_env::compare::{Comparison, Seen, Signature, Verdict, compare, needs_rerun};
use proptest::prelude::*;

const OUTCOMES: [Outcome; 7] = [
    Outcome::Passed,
    Outcome::Failed,
    Outcome::MissingTool,
    Outcome::Timeout,
    Outcome::Stopped,
    Outcome::NotRun,
    Outcome::CouldNotStart,
];

fn seen(outcome: Outcome) -> Seen {
    failing(outcome, &[])
}

/// A run in which these tests failed.
fn failing(outcome: Outcome, tests: &[&str]) -> Seen {
    let lines: Vec<String> = tests.iter().map(|name| format!("test {name} ... FAILED")).collect();
    let text = lines.join("\n");
    let exit = (outcome == Outcome::Failed).then_some(Exit::Code(101));
    Seen { outcome, exit, signature: Signature::of(exit, &text, "") }
}

fn verdict(baseline: Option<Outcome>, last: Outcome, rerun: Option<Outcome>) -> Verdict {
    compare(baseline.map(seen).as_ref(), &seen(last), rerun.map(seen).as_ref()).verdict
}

/// The table of the reference, row by row, without a rerun.
#[test]
fn every_pair_of_results_has_its_verdict() {
    use Outcome::{CouldNotStart, Failed, MissingTool, NotRun, Passed, Stopped, Timeout};
    use Verdict as V;
    let table = [
        (None, [V::NewPass, V::NewFail, V::Unknown, V::NewFail, V::Unknown, V::Unknown, V::Unknown]),
        (
            Some(Passed),
            [
                V::Holds,
                V::SuspectedRegression,
                V::EnvironmentLost,
                V::SuspectedRegression,
                V::Unknown,
                V::Unknown,
                V::EnvironmentLost,
            ],
        ),
        (
            Some(Failed),
            [
                V::Repaired,
                V::PreExisting,
                V::EnvironmentLost,
                V::Changed,
                V::Unknown,
                V::Unknown,
                V::EnvironmentLost,
            ],
        ),
        (
            Some(MissingTool),
            [
                V::NewPass,
                V::Unknown,
                V::EnvironmentGap,
                V::Unknown,
                V::Unknown,
                V::Unknown,
                V::EnvironmentGap,
            ],
        ),
        (Some(Timeout), [V::Inconclusive; 7]),
        (Some(Stopped), [V::Inconclusive; 7]),
        (Some(NotRun), [V::Inconclusive; 7]),
        (
            Some(CouldNotStart),
            [
                V::NewPass,
                V::Unknown,
                V::EnvironmentGap,
                V::Unknown,
                V::Unknown,
                V::Unknown,
                V::EnvironmentGap,
            ],
        ),
    ];
    assert_eq!(table.len(), OUTCOMES.len() + 1);
    for (baseline, row) in table {
        for (last, expected) in OUTCOMES.into_iter().zip(row) {
            assert_eq!(verdict(baseline, last, None), expected, "{baseline:?} then {last:?}");
        }
    }
}

/// B21, B24, B27: a regression and a repair must show twice; two runs that disagree are flaky, and that is no pass.
#[test]
fn b_21_b_24_b_27_one_rerun_confirms_or_disagrees() {
    use Outcome::{Failed, MissingTool, Passed, Timeout};
    for (baseline, last, rerun, expected) in [
        (Passed, Failed, Failed, Verdict::Regression),
        (Passed, Failed, Passed, Verdict::Flaky),
        (Passed, Failed, MissingTool, Verdict::SuspectedRegression),
        (Passed, Timeout, Timeout, Verdict::SuspectedRegression),
        (Passed, Timeout, Failed, Verdict::Regression),
        (Passed, Timeout, Passed, Verdict::Flaky),
        (Failed, Passed, Passed, Verdict::Repaired),
        (Failed, Passed, Failed, Verdict::Flaky),
        (Failed, Passed, Timeout, Verdict::Flaky),
    ] {
        let found = verdict(Some(baseline), last, Some(rerun));
        assert_eq!(found, expected, "{baseline:?}, {last:?}, {rerun:?}");
        assert!(needs_rerun(Some(&seen(baseline)), &seen(last)));
    }
    assert!(!Verdict::Flaky.passes() && !Verdict::SuspectedRegression.passes());
}

/// B22, B23: the same tests are an old failure, one more is named.
#[test]
fn b_22_b_23_failures_are_told_apart_by_their_tests() {
    let judged = |before: &[&str], now: &[&str]| {
        let Comparison { verdict, broken, mended } =
            compare(Some(&failing(Outcome::Failed, before)), &failing(Outcome::Failed, now), None);
        let names = |set: std::collections::BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" ");
        (verdict, names(broken), names(mended))
    };
    let told = |verdict, broken: &str, mended: &str| (verdict, broken.to_owned(), mended.to_owned());
    assert_eq!(judged(&["a", "b"], &["b", "a"]), told(Verdict::PreExisting, "", ""));
    assert_eq!(judged(&["a"], &["a", "b"]), told(Verdict::SuspectedRegression, "b", ""));
    assert_eq!(judged(&["a", "b"], &["a"]), told(Verdict::Changed, "", "b"));
    // The same count, and another failure.
    assert_eq!(judged(&["a"], &["b"]), told(Verdict::SuspectedRegression, "b", "a"));

    let passed = compare(Some(&seen(Outcome::Passed)), &failing(Outcome::Failed, &["a"]), None);
    assert_eq!(passed.broken.into_iter().collect::<Vec<_>>(), ["a"]);
    let repaired = compare(Some(&failing(Outcome::Failed, &["a"])), &seen(Outcome::Passed), None);
    assert_eq!(repaired.mended.into_iter().collect::<Vec<_>>(), ["a"]);
}

/// B25, B26: what is missing here is nobody's regression.
#[test]
fn b_25_b_26_a_missing_tool_blames_nobody() {
    assert_eq!(verdict(Some(Outcome::Passed), Outcome::MissingTool, None), Verdict::EnvironmentLost);
    assert_eq!(verdict(Some(Outcome::MissingTool), Outcome::Failed, None), Verdict::Unknown);
    let blaming: Vec<_> = Verdict::ALL.into_iter().filter(|it| it.blames_the_work()).collect();
    assert_eq!(blaming, [Verdict::Regression]);
}

fn any_seen() -> impl Strategy<Value = Seen> {
    let tests = prop::collection::btree_set("[a-c]", 0..3);
    (prop::sample::select(OUTCOMES.to_vec()), tests).prop_map(|(outcome, tests)| {
        let names: Vec<&str> = tests.iter().map(String::as_str).collect();
        failing(outcome, if outcome == Outcome::Failed { &names } else { &[] })
    })
}

proptest! {
    /// Whatever the results are: nothing is a regression unless it passed before and failed twice, nothing passes that
    /// did not pass now, and an old failure names no test.
    #[test]
    fn no_verdict_says_more_than_the_results(
        baseline in prop::option::of(any_seen()),
        last in any_seen(),
        rerun in prop::option::of(any_seen()),
    ) {
        let Comparison { verdict, broken, mended } = compare(baseline.as_ref(), &last, rerun.as_ref());
        let was = baseline.as_ref().map(|seen| seen.outcome);
        if verdict.blames_the_work() {
            prop_assert_eq!(was, Some(Outcome::Passed));
            prop_assert_ne!(last.outcome, Outcome::Passed);
            prop_assert_eq!(rerun.as_ref().map(|seen| seen.outcome), Some(Outcome::Failed));
        }
        if verdict.passes() {
            prop_assert_eq!(last.outcome, Outcome::Passed);
        }
        if verdict == Verdict::PreExisting {
            prop_assert!(broken.is_empty() && mended.is_empty());
        }
        prop_assert!(broken.is_disjoint(&mended));
        let json = serde_json::to_string(&compare(baseline.as_ref(), &last, rerun.as_ref())).unwrap();
        let word = format!("\"verdict\":\"{verdict}\"");
        prop_assert!(json.contains(&word), "{}", json);
    }
}
