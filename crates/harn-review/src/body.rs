//! What a publication says of verification: taken from the records alone.

use std::fmt::Write as _;

use harn_ledger::Digest;

use crate::check::Scope;
use crate::finding::{Finding, Standing};
use crate::id::TurnId;
use crate::state::State;

/// The text of a publication: the summary, and below it what the records say of the source with this fingerprint, which was
/// found clean in `turn`. Nothing that a writer says gets into the second part.
#[must_use]
pub fn body(state: &State, summary: &str, turn: TurnId, fingerprint: &Digest, waived: &[String]) -> String {
    format!("{}\n\n{}", summary.trim_end(), verification(state, turn, fingerprint, waived))
}

/// What the records say of a source: how many combined checks passed, how the review ended, what was fixed and dismissed, what
/// a person let pass, closed, or excused from being reproduced.
#[must_use]
pub fn verification(state: &State, turn: TurnId, fingerprint: &Digest, waived: &[String]) -> String {
    let planned = &state.plan().combined;
    let passed = planned.iter().filter(|check| {
        state.combined(&check.name, fingerprint).is_some_and(crate::check::CheckResult::passed)
    });
    let passed = passed.count();
    let mut text = String::from("## Verification\n\nRecorded by harn, not written by an author.\n\n");
    line(&mut text, &format!("Source: `{fingerprint}`"));
    line(&mut text, &format!("Combined checks: {passed} of {} passed on this source", planned.len()));
    for check in planned {
        let outcome =
            state.combined(&check.name, fingerprint).map_or("not_run", |result| result.outcome.as_str());
        let times = runs(state, &check.name, fingerprint);
        let again = if times > 1 { format!(", run {times} times") } else { String::new() };
        sub(&mut text, &format!("{}: {}{again}", code(&check.name), outcome.replace('_', " ")));
    }
    for name in waived {
        if let Some(waiver) = state.waiver(name) {
            let by = code(&waiver.actor);
            line(
                &mut text,
                &format!(
                    "Waived: {} does not pass, and {by} lets it pass: {}",
                    code(name),
                    plain(&waiver.reason)
                ),
            );
        }
    }
    let turns = state.turns().len();
    line(&mut text, &format!("Review: found clean in {turn} of {turns} on this source"));
    let count = |is_it: fn(&Finding) -> bool| state.findings().filter(|finding| is_it(finding)).count();
    let fixed = count(|it| it.standing == Standing::Fixed);
    let dismissed = count(|it| it.standing == Standing::Dismissed && !it.closed_by_person());
    let closed = count(Finding::closed_by_person);
    let merged = count(|it| it.standing == Standing::Merged);
    let notes = count(|it| it.standing == Standing::Noted);
    line(
        &mut text,
        &format!(
            "Findings: {fixed} fixed, {dismissed} dismissed, {merged} merged, {closed} closed by a person, {notes} notes, 0 open"
        ),
    );
    for finding in state.findings().filter(|finding| finding.closed_by_person()) {
        let reason = finding.decisions.iter().rev().find_map(|it| match &it.what {
            crate::finding::Decided::Closed { reason } => Some((reason, &it.actor)),
            _ => None,
        });
        if let Some((reason, actor)) = reason {
            sub(
                &mut text,
                &format!("{} was closed by {} without a check: {}", finding.id, code(actor), plain(reason)),
            );
        }
    }
    for finding in state.findings().filter(|finding| finding.standing == Standing::Fixed) {
        if let Some(reason) = &finding.not_reproduced {
            sub(
                &mut text,
                &format!("{} was fixed and was not reproduced before: {}", finding.id, plain(reason)),
            );
        }
    }
    if let Some(crate::turn::TurnOutcome::Accepted(report)) = state.turn(turn).map(|turn| &turn.outcome) {
        let unread = report.unread.len() + usize::try_from(report.unread_more).unwrap_or(0);
        if report.read.is_none() {
            line(&mut text, "Read: the reviewer did not say which files");
        } else if unread > 0 {
            line(
                &mut text,
                &format!("Read: {unread} changed files are not among those that the reviewer read"),
            );
        } else {
            line(&mut text, "Read: every changed file");
        }
    }
    text
}

fn runs(state: &State, name: &str, fingerprint: &Digest) -> usize {
    let is_it = |result: &&crate::check::CheckResult| {
        result.scope == Scope::Combined && result.check.name == name && result.fingerprint == *fingerprint
    };
    state.checks().iter().filter(is_it).count()
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "- {words}");
}

fn sub(text: &mut String, words: &str) {
    let _ = writeln!(text, "  - {words}");
}

/// A name as code, whatever it holds.
fn code(name: &str) -> String {
    format!("`{}`", name.replace('`', "'").split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A reason in one line, in which nothing is markup.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '@') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
