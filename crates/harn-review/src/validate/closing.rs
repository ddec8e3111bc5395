//! V9 to V12: nothing is closed by words alone.

use std::collections::BTreeSet;

use super::change::{brings_news, same_as};
use super::{Account, Case, Finding, Kind, Problem, problem};
use crate::check::{CheckOutcome, CheckResult, Scope};
use crate::id::FindingId;
use crate::report::Verdict;

/// V9: a ruling has its reason and its evidence.
pub(super) fn rulings(case: &Case<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (account, finding) in case.accounts() {
        let id = finding.id;
        match account.verdict {
            Verdict::Dismissed if finding.is_open() => {
                if is_blank(account.reason.as_ref()) {
                    found.push(problem(
                        "dismissed_without_reason",
                        format!("{id} is dismissed without a reason"),
                    ));
                }
                if is_blank(account.evidence.as_ref()) || account.cites.is_empty() {
                    let text = format!(
                        "{id} is dismissed without evidence against it: say what was seen, and cite a recorded check or a line of a file"
                    );
                    found.push(problem("dismissed_without_evidence", text));
                }
            }
            Verdict::Merged if finding.is_open() => found.extend(merge(case, account, finding)),
            Verdict::Open | Verdict::Confirmed | Verdict::Uncertain
                if !finding.is_open()
                    && is_ruled_on(finding)
                    && !brings_news(case.source, finding, &account.cites, None) =>
            {
                let text = format!(
                    "{id} was dismissed, and nothing is cited that the dismissal did not weigh: cite a check or a line that is new"
                );
                found.push(problem("no_new_evidence", text));
            }
            _ => {}
        }
        let lowered = account.priority.is_some_and(|priority| priority > finding.priority);
        if lowered && is_blank(account.reason.as_ref()) {
            let (from, to) = (finding.priority, account.priority.unwrap_or(finding.priority));
            let text = format!(
                "the priority of {id} is lowered from {} to {} without a reason",
                from.as_str(),
                to.as_str()
            );
            found.push(problem("priority_without_reason", text));
        }
    }
    // What the same report closes and raises again.
    for new in &case.report.new {
        let Some(again) = same_as(case, new) else { continue };
        let closes = |(account, finding): (&Account, &Finding)| {
            finding.id == again && finding.is_open() && !account.verdict.stays_open()
        };
        if case.is_current() && case.accounts().any(closes) {
            let text = format!(
                "{again} is closed, and \u{201c}{}\u{201d} raises it again",
                new.title.escape_debug()
            );
            found.push(problem("contradiction", text));
        }
    }
    found
}

fn is_ruled_on(finding: &Finding) -> bool {
    finding.standing == crate::finding::Standing::Dismissed
}

fn merge(case: &Case<'_>, account: &Account, finding: &Finding) -> Vec<Problem> {
    let id = finding.id;
    let mut found = Vec::new();
    if is_blank(account.reason.as_ref()) {
        found.push(problem("merged_without_reason", format!("{id} is merged without a reason")));
    }
    let into = account.into.as_deref().and_then(|into| into.parse::<FindingId>().ok());
    let Some(target) = into.and_then(|into| case.state.finding(into)) else {
        let text = format!("{id} is merged, and `into` names no finding");
        found.push(problem("merged_into_nothing", text));
        return found;
    };
    let stays = case.accounts().any(|(account, it)| it.id == target.id && account.verdict.stays_open());
    if target.id == id {
        found.push(problem("merged_into_itself", format!("{id} is merged into itself")));
    } else if !target.is_open() || !stays {
        let text = format!("{id} is merged into {}, which does not stay open", target.id);
        found.push(problem("merged_into_closed", text));
    } else if target.kind == Kind::Uncertain && finding.kind == Kind::Defect && !confirms(case, target) {
        let text =
            format!("{id} is a defect and {} is not certain: confirm it, or merge it into {id}", target.id);
        found.push(problem("merged_into_uncertain", text));
    }
    found
}

fn confirms(case: &Case<'_>, finding: &Finding) -> bool {
    case.accounts().any(|(account, it)| it.id == finding.id && account.verdict == Verdict::Confirmed)
}

/// The findings that are said to be fixed, and are open defects.
fn fixed<'a>(case: &'a Case<'_>) -> impl Iterator<Item = (&'a Account, &'a Finding)> {
    case.accounts().filter(|(account, finding)| {
        account.verdict == Verdict::Fixed && finding.is_open() && finding.kind == Kind::Defect
    })
}

/// V10: what is fixed was repaired.
pub(super) fn unattempted(case: &Case<'_>) -> Vec<Problem> {
    let without = fixed(case).filter(|(_, finding)| !finding.was_attempted());
    without
        .map(|(_, finding)| {
            let text =
                format!("{} cannot be fixed: no repair of it was attempted since it was opened", finding.id);
            problem("not_attempted", text)
        })
        .collect()
}

/// V11: what is fixed is shown by its regression checks.
pub(super) fn unproven(case: &Case<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (account, finding) in fixed(case) {
        let recorded = case.state.checks_of(finding.id).map(|result| result.check.name.as_str());
        let names: BTreeSet<&str> = recorded.chain(account.checks.iter().map(String::as_str)).collect();
        if names.is_empty() {
            let text = format!(
                "{} has no regression check: have one recorded that fails without the repair and passes with it",
                finding.id
            );
            found.push(problem("no_regression_check", text));
        }
        found.extend(names.into_iter().filter_map(|name| proof(case, finding, name).err()));
    }
    found
}

/// Whether a check shows that a finding is fixed: it failed on a source of before, it passes on this one, and it is the same
/// check.
fn proof(case: &Case<'_>, finding: &Finding, name: &str) -> Result<(), Problem> {
    let (id, shown) = (finding.id, name.escape_debug());
    let results: Vec<&CheckResult> =
        case.state.checks_of(id).filter(|result| result.check.name == name).collect();
    let here =
        |result: &&&CheckResult| result.scope == Scope::Final && result.fingerprint == case.turn.fingerprint;
    let Some(green) = results.iter().rfind(here) else {
        let why = match results.iter().rfind(|result| result.scope == Scope::Final) {
            None if results.is_empty() => "was never recorded for it",
            None => "was not run after the repair",
            Some(_) => "was run on another source only",
        };
        return Err(problem(
            "check_not_here",
            format!("{id} is not shown to be fixed: its check `{shown}` {why}"),
        ));
    };
    if !green.passed() {
        let text = format!(
            "{id} is not shown to be fixed: its check `{shown}` {} on this source",
            green.outcome.as_str().replace('_', " ")
        );
        return Err(problem("check_not_green", text));
    }
    if finding.not_reproduced.is_some() {
        return Ok(());
    }
    // What was shown before the repair is what the check came to last before it.
    let repaired = finding.attempts.last().map_or(0, |attempt| attempt.what.results);
    let of_check = |result: &&CheckResult| result.finding == Some(id) && result.check.name == name;
    let before = case.state.checks().iter().take(repaired).rfind(of_check);
    let red = before
        .filter(|result| result.outcome == CheckOutcome::Failed && result.fingerprint != green.fingerprint);
    if red.is_some_and(|red| red.script == green.script) {
        return Ok(());
    }
    if red.is_some() {
        let text = format!(
            "{id} is not shown to be fixed: its check `{shown}` that failed before is not the one that passes now"
        );
        return Err(problem("check_changed", text));
    }
    let text = format!(
        "{id} is not shown to be fixed: its check `{shown}` never failed before, so it is not reproduced; confirm it with one that does, or dismiss it"
    );
    Err(problem("never_red", text))
}

/// V12: a suspicion is not fixed.
pub(super) fn uncertain(case: &Case<'_>) -> Vec<Problem> {
    let fixed = case.accounts().filter(|(account, finding)| {
        account.verdict == Verdict::Fixed && finding.is_open() && finding.kind == Kind::Uncertain
    });
    fixed
        .map(|(_, finding)| {
            let text =
                format!("{} is uncertain and cannot be fixed: confirm or dismiss it first", finding.id);
            problem("uncertain_fixed", text)
        })
        .collect()
}

fn is_blank(text: Option<&String>) -> bool {
    text.is_none_or(|text| text.trim().is_empty())
}
