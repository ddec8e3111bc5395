//! `events.jsonl`: what happened to an item.

use std::collections::HashMap;

use harn_ledger::{Digest, Timestamp};
use serde::Deserialize;

use super::damage::{Damage, DamageKind};
use super::member::{at_most, digest, document, name, number, same, text, time, version};
use super::tree::File;
use crate::work::{ItemState, NextAction, Ruling, Trigger, bounds};

/// Longest log that Harnery reads, in bytes.
pub(super) const MAX: u64 = 4_194_304;
const EVENTS_MAX: usize = 1_000;
const LINE_MAX: usize = 16_384;
/// The largest attempt number that is taken in; a log has room for fewer.
const ATTEMPT_MAX: u32 = 1_000;

/// An event that Harnery would read.
#[derive(Debug)]
pub(super) struct OldEvent {
    /// Its line in the file.
    pub(super) line: u64,
    pub(super) at: Timestamp,
    pub(super) actor: String,
    pub(super) reason: Option<String>,
    pub(super) what: What,
}

/// What happened.
#[derive(Debug)]
pub(super) enum What {
    Created,
    Started { run_id: String, attempt: u32, trigger: Option<Trigger> },
    Resumed { run_id: String, attempt: u32 },
    Reconciled { state: ItemState, next_action: NextAction },
    Reopened { findings: Vec<(String, String)> },
    Accepted { accepted: Option<AcceptedRun>, dispositions: Vec<OldDisposition>, unknowns: Vec<String> },
    Cancelled,
}

/// The run that an acceptance names.
#[derive(Debug)]
pub(super) struct AcceptedRun {
    pub(super) run_id: String,
    pub(super) proof: Digest,
}

/// What an acceptance says about a finding.
#[derive(Debug)]
pub(super) struct OldDisposition {
    pub(super) id: String,
    pub(super) outcome: Ruling,
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
struct Form {
    schema_version: u64,
    work_id: String,
    seq: u64,
    ts: String,
    event: String,
    actor: String,
    reason: Option<String>,
    run_id: Option<String>,
    attempt: Option<u64>,
    trigger: Option<String>,
    state: Option<String>,
    next_action: Option<String>,
    findings: Option<Vec<FindingForm>>,
    proof_sha256: Option<String>,
    dispositions: Option<Vec<DispositionForm>>,
    accepted_unknowns: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct FindingForm {
    id: String,
    statement: String,
}

#[derive(Deserialize)]
struct DispositionForm {
    id: String,
    outcome: String,
    reason: Option<String>,
}

/// The events of a log, if its history holds together.
pub(super) fn read(id: &str, file: &File) -> Result<Vec<OldEvent>, Damage> {
    let whole = |kind| Damage::of(&file.path, kind);
    if !file.bytes.is_empty() && !file.bytes.ends_with(b"\n") {
        return Err(whole(DamageKind::Truncated));
    }
    let lines = file.bytes.split(|byte| *byte == b'\n').zip(1_u64..);
    // Blank lines do not count.
    let lines: Vec<_> = lines.filter(|(line, _)| !line.trim_ascii().is_empty()).collect();
    at_most("events", lines.len(), EVENTS_MAX).map_err(whole)?;
    if lines.is_empty() {
        return Err(whole(DamageKind::Empty));
    }
    let mut history = History::default();
    let mut events = Vec::new();
    for ((line, place), seq) in lines.into_iter().zip(1_u64..) {
        let event = event(id, line, place, seq)
            .and_then(|event| history.check(&event).map(|()| event))
            .map_err(|kind| Damage::at(&file.path, place, kind))?;
        events.push(event);
    }
    Ok(events)
}

fn event(id: &str, line: &[u8], place: u64, seq: u64) -> Result<OldEvent, DamageKind> {
    at_most("bytes", line.len(), LINE_MAX)?;
    let form: Form = document(line)?;
    version(form.schema_version, 1)?;
    same("work_id", &form.work_id, id)?;
    same("seq", &form.seq.to_string(), &seq.to_string())?;
    text("actor", &form.actor, bounds::OLD_NAME)?;
    if let Some(reason) = &form.reason {
        text("reason", reason, bounds::REASON)?;
    }
    let at = time("ts", &form.ts)?;
    let (actor, reason) = (form.actor.clone(), form.reason.clone());
    Ok(OldEvent { line: place, at, actor, reason, what: what(form)? })
}

fn what(form: Form) -> Result<What, DamageKind> {
    Ok(match form.event.as_str() {
        "work.created" => What::Created,
        "attempt.started" => {
            let trigger = form.trigger.as_deref().map(trigger).transpose()?;
            let (run_id, attempt) = attempt(form.run_id, form.attempt)?;
            What::Started { run_id, attempt, trigger }
        }
        "attempt.resumed" => {
            let (run_id, attempt) = attempt(form.run_id, form.attempt)?;
            What::Resumed { run_id, attempt }
        }
        "work.reconciled" => What::Reconciled {
            state: word("state", form.state)?,
            next_action: word("next_action", form.next_action)?,
        },
        "work.reopened" => What::Reopened { findings: findings(form.findings.unwrap_or_default())? },
        "work.accepted" => accepted(form)?,
        "work.cancelled" => What::Cancelled,
        _ => {
            let expected = "one of the seven that Harnery writes".to_owned();
            return Err(DamageKind::Member { member: "event", expected });
        }
    })
}

fn attempt(run_id: Option<String>, attempt: Option<u64>) -> Result<(String, u32), DamageKind> {
    let run_id = required("run_id", run_id)?;
    name("run_id", &run_id, 200)?;
    Ok((run_id, number("attempt", required("attempt", attempt)?, 1, ATTEMPT_MAX)?))
}

fn accepted(form: Form) -> Result<What, DamageKind> {
    let accepted = match form.run_id {
        Some(run_id) => {
            let (run_id, _) = attempt(Some(run_id), form.attempt)?;
            let proof = digest("proof_sha256", &required("proof_sha256", form.proof_sha256)?)?;
            Some(AcceptedRun { run_id, proof })
        }
        // Old records name no run.
        None => None,
    };
    let dispositions = form.dispositions.unwrap_or_default();
    at_most("dispositions", dispositions.len(), bounds::FINDINGS)?;
    let dispositions = dispositions.into_iter().map(disposition).collect::<Result<_, _>>()?;
    let unknowns = form.accepted_unknowns.unwrap_or_default();
    at_most("accepted unknowns", unknowns.len(), bounds::UNKNOWNS)?;
    unknowns.iter().try_for_each(|unknown| text("accepted_unknowns", unknown, bounds::UNKNOWN))?;
    Ok(What::Accepted { accepted, dispositions, unknowns })
}

fn findings(findings: Vec<FindingForm>) -> Result<Vec<(String, String)>, DamageKind> {
    at_most("findings", findings.len(), bounds::FINDINGS)?;
    for finding in &findings {
        name("findings.id", &finding.id, bounds::OLD_FINDING)?;
        text("findings.statement", &finding.statement, bounds::FINDING)?;
    }
    Ok(findings.into_iter().map(|finding| (finding.id, finding.statement)).collect())
}

fn disposition(form: DispositionForm) -> Result<OldDisposition, DamageKind> {
    let outcome = match form.outcome.as_str() {
        "fixed" => Ruling::Fixed,
        "deferred" => Ruling::Deferred,
        _ => {
            let expected = "`fixed` or `deferred`".to_owned();
            return Err(DamageKind::Member { member: "dispositions.outcome", expected });
        }
    };
    match &form.reason {
        Some(reason) => text("dispositions.reason", reason, bounds::DISPOSITION_REASON)?,
        None if outcome == Ruling::Deferred => {
            return Err(DamageKind::Member {
                member: "dispositions.reason",
                expected: "a reason".to_owned(),
            });
        }
        None => {}
    }
    Ok(OldDisposition { id: form.id, outcome, reason: form.reason })
}

fn trigger(word: &str) -> Result<Trigger, DamageKind> {
    match word {
        "initial" => Ok(Trigger::Initial),
        "retry" => Ok(Trigger::Retry),
        _ => {
            let expected = "`initial` or `retry`".to_owned();
            Err(DamageKind::Member { member: "trigger", expected })
        }
    }
}

/// A word of a list that both programs share.
fn word<T: serde::de::DeserializeOwned>(member: &'static str, word: Option<String>) -> Result<T, DamageKind> {
    serde_json::from_value(required(member, word)?.into())
        .map_err(|_| DamageKind::Member { member, expected: "a word that Harnery writes".to_owned() })
}

fn required<T>(member: &'static str, value: Option<T>) -> Result<T, DamageKind> {
    value.ok_or_else(|| DamageKind::Member { member, expected: "it to be there".to_owned() })
}

/// What makes a history one.
#[derive(Default)]
struct History {
    begun: bool,
    attempts: u32,
    runs: HashMap<String, u32>,
}

impl History {
    fn check(&mut self, event: &OldEvent) -> Result<(), DamageKind> {
        let refuse = |event: &str, expected| Err(DamageKind::History { event: event.to_owned(), expected });
        match &event.what {
            What::Created if self.begun => return refuse("work.created", "one creation, as the first event"),
            What::Created => self.begun = true,
            _ if !self.begun => return refuse("an event", "the creation first"),
            What::Started { run_id, attempt, .. } => {
                self.attempts += 1;
                if *attempt != self.attempts || self.runs.insert(run_id.clone(), *attempt).is_some() {
                    return refuse("attempt.started", "the next number, and a run of its own");
                }
            }
            What::Resumed { run_id, attempt } if self.runs.get(run_id) != Some(attempt) => {
                return refuse("attempt.resumed", "an attempt that was started");
            }
            _ => {}
        }
        Ok(())
    }
}
