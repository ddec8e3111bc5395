//! A review and a finding of it, for people and for programs.

use harn_ledger::{Digest, StreamId};
use harn_review::check::{CheckResult, Scope};
use harn_review::finding::{Decided, Evidence, Finding, Kind, Moment, Raised, Standing};
use harn_review::{Gate, Intent, Offer, State, TurnOutcome};
use serde_json::{Value, json};

use super::item::to_the_second;
use super::page::Page;
use crate::text::{Palette, columns, safe_line};

/// The four things that are known of a source, each by itself.
struct Standings {
    /// Whether the source is the one that was recorded last.
    saved: &'static str,
    /// How the combined checks stand on it.
    checks: &'static str,
    /// How its review stands.
    review: &'static str,
    /// Whether it is what was published.
    published: &'static str,
}

impl Standings {
    fn of(state: &State, now: &Digest) -> Self {
        let turn = state.turns().last();
        let recorded = state.turns().iter().any(|turn| turn.fingerprint == *now)
            || state.checks().iter().any(|result| result.fingerprint == *now);
        let combined = &state.plan().combined;
        let results: Vec<_> = combined.iter().map(|check| state.combined(&check.name, now)).collect();
        let checks = if combined.is_empty() {
            "none"
        } else if results.iter().any(|result| result.is_some_and(|it| !it.passed())) {
            "failed"
        } else if results.iter().any(Option::is_none) {
            "not_run"
        } else {
            "passed"
        };
        let review = match turn {
            None => "none",
            Some(turn) if turn.fingerprint != *now || turn.plan != *state.plan_digest() => "outdated",
            Some(turn) => turn.word(),
        };
        let published = match state.published() {
            None => "no",
            Some((publication, _)) if publication.fingerprint == *now => "yes",
            Some(_) => "outdated",
        };
        Self { saved: if recorded { "recorded" } else { "not_recorded" }, checks, review, published }
    }
}

/// A review in sections.
pub(crate) fn review(
    intent: &Intent,
    state: &State,
    now: &Digest,
    (gate, offer): (&Gate, &Offer),
    (width, palette): (usize, Palette),
) -> String {
    let mut page = Page::new(width, palette);
    page.title(intent.id.as_str(), intent.request.lines().next().unwrap_or_default());
    let is = Standings::of(state, now);
    page.line("source", &format!("{now} ({})", is.saved.replace('_', " ")));
    page.line("checks", &is.checks.replace('_', " "));
    page.line(
        "review",
        &state
            .turns()
            .last()
            .map_or_else(|| is.review.to_owned(), |turn| format!("{} ({})", is.review, turn.id)),
    );
    page.line("published", is.published);
    if let Some(base) = &intent.base {
        page.line("base", &format!("{} at {}", base.branch, base.commit));
    }
    if let Some(item) = &intent.work_item {
        page.line("work item", item.as_str());
    }
    let style = if gate.is_open() { palette.good } else { palette.waiting };
    page.word("gate", if gate.is_open() { "open" } else { "closed" }, style);
    for reason in gate.reasons() {
        page.item("  - ", &reason.to_string());
    }
    page.field("next", &offer.words());
    turn(&mut page, state);
    let mut findings: Vec<&Finding> = state.findings().collect();
    findings.sort_by_key(|finding| (rank(finding), finding.priority, finding.id));
    if !findings.is_empty() {
        page.section("findings");
        let rows: Vec<[String; 5]> = findings.iter().map(|finding| row(state, finding)).collect();
        page.rows(&columns(&rows, Some(width)));
    }
    let mut checks: Vec<&CheckResult> = state.checks().iter().filter(|it| it.fingerprint == *now).collect();
    // What failed comes first, in its order.
    checks.sort_by_key(|result| result.passed());
    if !checks.is_empty() {
        page.section("checks on this source");
        for result in checks {
            page.item("  ", &check_line(result));
        }
    }
    page.into_text()
}

fn turn(page: &mut Page, state: &State) {
    let Some(turn) = state.turns().last() else { return };
    match &turn.outcome {
        TurnOutcome::Accepted(report) => page.field("summary", &report.summary),
        TurnOutcome::Paused { problems, .. } => {
            page.section("refused twice");
            for problem in problems {
                page.item("  - ", problem);
            }
        }
        _ => {}
    }
}

/// Open ones first, then what was dealt with, then notes.
const fn rank(finding: &Finding) -> u8 {
    match (finding.standing, finding.kind) {
        (Standing::Open, Kind::Uncertain) => 1,
        (Standing::Open, _) => 0,
        (Standing::Fixed, _) => 2,
        (Standing::Dismissed, _) => 3,
        (Standing::Merged, _) => 4,
        (Standing::Noted, _) => 5,
    }
}

fn row(state: &State, finding: &Finding) -> [String; 5] {
    let place = finding.place.as_ref().map(|place| format!("{}:{}", place.file, place.line));
    let closed_by = if finding.closed_by_person() { " by a person" } else { "" };
    [
        format!("  {}", finding.id),
        format!("{} {}{closed_by}", finding.kind.as_str(), finding.standing.as_str()),
        finding.priority.as_str().to_owned(),
        safe_line(&place.unwrap_or_default()).into_owned(),
        format!("{} ({})", safe_line(&finding.title), seen(state, finding)),
    ]
}

/// Whether the last report spoke of a finding, or it is only kept.
fn seen(state: &State, finding: &Finding) -> String {
    match (finding.last_seen, state.last_report()) {
        (Some(seen), Some(last)) if seen == last.id => format!("reported in {seen}"),
        (Some(seen), _) => format!("saved, last reported in {seen}"),
        (None, _) => "saved, never reported by a reviewer".to_owned(),
    }
}

/// The whole life of a finding.
pub(crate) fn review_finding(state: &State, finding: &Finding, width: usize, palette: Palette) -> String {
    let mut page = Page::new(width, palette);
    page.title(&finding.id.to_string(), &finding.title);
    let style = if finding.is_open() { palette.waiting } else { palette.good };
    page.word("standing", finding.standing.as_str(), style);
    page.line("kind", finding.kind.as_str());
    page.line("priority", finding.priority.as_str());
    page.line("owner", finding.owner.as_deref().unwrap_or("none"));
    if let Some(place) = &finding.place {
        page.line("place", &format!("{}:{}", place.file, place.line));
    }
    page.line("seen", &seen(state, finding));
    if let Some(into) = finding.merged_into {
        page.line("merged into", &into.to_string());
    }
    if let Some(reason) = &finding.not_reproduced {
        page.field("not reproduced", reason);
    }
    if finding.seen_again > 0 {
        page.line("raised again with nothing new", &format!("{} times", finding.seen_again));
    }
    if let Some(fix) = &finding.fix {
        page.field("proposed fix", fix);
    }
    page.section("evidence");
    for it in &finding.evidence {
        page.item("  ", &format!("{}: {}", head(it), evidence_text(&it.what)));
    }
    if !finding.attempts.is_empty() {
        page.section("repairs attempted");
        for it in &finding.attempts {
            let change =
                if it.what.before == it.what.after { "changed nothing" } else { "changed the source" };
            page.item("  ", &format!("{}: pass {} by {}, {change}", head(it), it.what.pass, it.what.task));
        }
    }
    let checks: Vec<&CheckResult> = state.checks_of(finding.id).collect();
    if !checks.is_empty() {
        page.section("regression checks");
        for result in checks {
            page.item("  ", &check_line(result));
        }
    }
    if !finding.decisions.is_empty() {
        page.section("decisions");
        for it in &finding.decisions {
            page.item("  ", &format!("{}: {}", head(it), decided(&it.what)));
        }
    }
    page.into_text()
}

fn head<T>(it: &Moment<T>) -> String {
    let by = match &it.by {
        Raised::Turn(turn) => format!("{turn}, handed in by {}", it.actor),
        Raised::Import(tool) => format!("{tool}, taken in by {}", it.actor),
        Raised::Person {} => it.actor.clone(),
    };
    format!("{}, {by}", to_the_second(it.at))
}

fn evidence_text(evidence: &Evidence) -> String {
    let cited = evidence.cites.iter().map(|cite| match (&cite.check, &cite.file, cite.line) {
        (Some(check), _, _) => format!("check {check}"),
        (_, Some(file), Some(line)) => format!("{file}:{line}"),
        _ => String::new(),
    });
    let cited: Vec<String> = cited.collect();
    if cited.is_empty() { evidence.text.clone() } else { format!("{} [{}]", evidence.text, cited.join(", ")) }
}

fn decided(decided: &Decided) -> String {
    match decided {
        Decided::Confirmed => "confirmed as a defect".to_owned(),
        Decided::Reopened => "open again".to_owned(),
        Decided::Fixed { checks } => format!("fixed, shown by {}", checks.join(", ")),
        Decided::Dismissed { reason, evidence } => {
            format!("dismissed: {reason}; {}", evidence_text(evidence))
        }
        Decided::Closed { reason } => format!("closed by a person, without evidence: {reason}"),
        Decided::Merged { into, reason } => format!("merged into {into}: {reason}"),
        Decided::Priority { to, reason } => match reason {
            Some(reason) => format!("priority {}: {reason}", to.as_str()),
            None => format!("priority {}", to.as_str()),
        },
        Decided::NotReproduced { reason } => format!("need not be reproduced: {reason}"),
        Decided::Owner { to, reason } => format!("given to {}: {reason}", to.as_deref().unwrap_or("no task")),
    }
}

/// A result of a check in one line.
pub(crate) fn check_line(result: &CheckResult) -> String {
    let of = match (result.scope, &result.finding, &result.task) {
        (Scope::Baseline, Some(id), _) => format!("{id} before a repair"),
        (Scope::Final, Some(id), _) => format!("{id} after a repair"),
        (_, _, Some(task)) => format!("task {task}"),
        _ => "combined".to_owned(),
    };
    let code = result.code.map_or(String::new(), |code| format!(", exit {code}"));
    let outcome = result.outcome.as_str().replace('_', " ");
    safe_line(&format!("{outcome}: {} ({of}{code}, run {})", result.check.name, result.attempt)).into_owned()
}

/// A review as a document.
pub(crate) fn review_document(
    intent: &Intent,
    state: &State,
    now: &Digest,
    gate: &Gate,
    offer: &Offer,
) -> Value {
    let is = Standings::of(state, now);
    let turns: Vec<Value> = state
        .turns()
        .iter()
        .map(|turn| {
            json!({
                "turn": turn.id,
                "outcome": turn.word(),
                "fingerprint": turn.fingerprint,
                "plan": turn.plan,
                "instructions": turn.instructions,
                "reviewer": turn.reviewer,
                "at": turn.at,
            })
        })
        .collect();
    let findings: Vec<Value> = state.findings().map(|finding| summary(state, finding)).collect();
    json!({
        "schema_version": 1,
        "id": intent.id,
        "request": intent.request,
        "base": intent.base,
        "work_item": intent.work_item,
        "plan": state.plan_digest(),
        "fingerprint": now,
        "saved": is.saved,
        "checks": is.checks,
        "review": is.review,
        "published": is.published,
        "gate": gate_document(&intent.id, now, gate),
        "offer": {"action": offer.as_str(), "words": offer.words()},
        "turns": turns,
        "findings": findings,
        "results": state.checks(),
    })
}

/// The gate's answer as a document.
pub(crate) fn gate_document(id: &StreamId, now: &Digest, gate: &Gate) -> Value {
    let said: Vec<String> = gate.reasons().iter().map(ToString::to_string).collect();
    let (turn, waived) = match gate {
        Gate::Open { turn, waived, .. } => (Some(turn), waived.as_slice()),
        Gate::Closed { .. } => (None, &[][..]),
    };
    json!({
        "schema_version": 1,
        "id": id,
        "open": gate.is_open(),
        "fingerprint": now,
        "turn": turn,
        "waived": waived,
        "reasons": gate.reasons(),
        "said": said,
    })
}

fn summary(state: &State, finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "kind": finding.kind,
        "standing": finding.standing,
        "closed_by_person": finding.closed_by_person(),
        "priority": finding.priority,
        "owner": finding.owner,
        "file": finding.place.as_ref().map(|place| &place.file),
        "line": finding.place.as_ref().map(|place| place.line),
        "title": finding.title,
        "not_reproduced": finding.not_reproduced,
        "merged_into": finding.merged_into,
        "last_reported": finding.last_seen,
        "reported_now": finding.last_seen.is_some() && finding.last_seen == state.last_report().map(|turn| turn.id),
    })
}

/// The whole life of a finding as a document.
pub(crate) fn review_finding_document(state: &State, finding: &Finding) -> Value {
    let moment = |at: harn_ledger::Timestamp, actor: &str, by: &Raised, what: Value| json!({"at": at, "actor": actor, "by": by, "what": what});
    let evidence = finding.evidence.iter().map(|it| moment(it.at, &it.actor, &it.by, json!(it.what)));
    let attempts = finding.attempts.iter().map(|it| {
        let what = json!({"pass": it.what.pass, "task": it.what.task, "before": it.what.before, "after": it.what.after});
        moment(it.at, &it.actor, &it.by, what)
    });
    let decisions =
        finding.decisions.iter().map(|it| moment(it.at, &it.actor, &it.by, json!(decided(&it.what))));
    json!({
        "schema_version": 1,
        "finding": summary(state, finding),
        "fix": finding.fix,
        "evidence": evidence.collect::<Vec<_>>(),
        "attempts": attempts.collect::<Vec<_>>(),
        "decisions": decisions.collect::<Vec<_>>(),
        "results": state.checks_of(finding.id).collect::<Vec<_>>(),
    })
}
