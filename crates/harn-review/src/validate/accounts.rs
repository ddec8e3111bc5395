//! V6 to V8, V13 and V14: every open finding is accounted for, and nothing is called clean before its time.

use std::collections::BTreeMap;

use super::{Case, Kind, Problem, Status, problem};
use crate::report::Verdict;

/// V6: every account is about a finding that is there, once, and that can have this verdict.
pub(super) fn known(case: &Case<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for account in &case.report.accounts {
        *counts.entry(&account.id).or_default() += 1;
        let id = account.id.escape_debug();
        let Some(finding) = case.finding(account) else {
            found.push(problem(
                "unknown_finding",
                format!("there is no finding `{id}`; new ones go into `new` without an id"),
            ));
            continue;
        };
        let standing = finding.standing.as_str();
        let same = account.verdict.as_str() == standing;
        let is_note = finding.kind == Kind::Note;
        if !finding.is_open() && !same && (is_note || !account.verdict.stays_open()) {
            let text = format!("{id} is {standing}, so it cannot become `{}`", account.verdict.as_str());
            found.push(problem("finding_closed", text));
        }
    }
    let twice = counts.into_iter().filter(|(_, count)| *count > 1);
    found.extend(
        twice.map(|(id, _)| {
            problem("account_twice", format!("{} has more than one account", id.escape_debug()))
        }),
    );
    found
}

/// V7: omission is not resolution.
pub(super) fn omitted(case: &Case<'_>) -> Vec<Problem> {
    if case.report.status == Status::Blocked {
        return Vec::new();
    }
    let accounted = |id: &str| case.report.accounts.iter().any(|account| account.id == id);
    let silent = case.state.open().filter(|finding| !accounted(&finding.id.to_string()));
    let text = |finding: &super::Finding| {
        format!("{} \u{201c}{}\u{201d} is open and has no account: judge it again", finding.id, finding.title)
    };
    silent.map(|finding| problem("omitted", text(finding))).collect()
}

/// V8: an open finding does not become less by another word.
pub(super) fn degraded(case: &Case<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (account, finding) in case.accounts().filter(|(_, finding)| finding.is_open()) {
        match (finding.kind, account.verdict) {
            (_, Verdict::Note) => {
                let text = format!(
                    "{} is an open {}, and does not become a note: dismiss it with reason and evidence",
                    finding.id,
                    finding.kind.as_str()
                );
                found.push(problem("becomes_note", text));
            }
            (Kind::Defect, Verdict::Uncertain) => {
                let text = format!(
                    "{} is a defect, and does not become uncertain: dismiss it, or say that it is open",
                    finding.id
                );
                found.push(problem("becomes_uncertain", text));
            }
            _ => {}
        }
    }
    found
}

/// V13: nothing is clean while anything is open.
pub(super) fn clean_while_open(case: &Case<'_>) -> Vec<Problem> {
    if case.report.status != Status::Clean {
        return Vec::new();
    }
    let open = case.accounts().filter(|(account, _)| account.verdict.stays_open());
    open.map(|(_, finding)| {
        problem("clean_while_open", format!("{} is open, so the source is not clean", finding.id))
    })
    .collect()
}

/// V14: nothing is clean with new findings.
pub(super) fn clean_with_new(case: &Case<'_>) -> Vec<Problem> {
    if case.report.status != Status::Clean {
        return Vec::new();
    }
    let raised = case.report.new.iter().filter(|new| new.kind != Kind::Note);
    let text = |title: &str| {
        format!(
            "\u{201c}{}\u{201d} is new, so the source is not clean: the status is `findings`",
            title.escape_debug()
        )
    };
    raised.map(|new| problem("clean_with_new", text(&new.title))).collect()
}
