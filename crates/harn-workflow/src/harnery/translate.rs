//! From the files of one item to an intent and a log of ours.

use std::collections::HashMap;
use std::num::NonZeroU32;

use harn_ledger::{Actor, BlobRef, Digest, StreamId, Timestamp};

use super::attempt::{Expected, OldAttempt, Status, read as read_attempt};
use super::damage::{Damage, DamageKind};
use super::intent::{self, OldIntent};
use super::log::{self, AcceptedRun, OldDisposition, OldEvent, What};
use super::tree::{File, Tree, require};
use crate::work::{
    Disposition, End, Event, FindingId, FindingWas, Imported, Intent, KeptFile, OpenFinding, Origin, Program,
    Source, Trigger, Workflow, bounds, fit,
};

/// Longest id of a stream.
const ID_MAX: usize = 100;

/// One item of Harnery's in our terms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Translated {
    /// What it is for.
    pub intent: Intent,
    /// What happened, each event marked as imported.
    pub events: Vec<Event>,
    /// The files that intent and events cite.
    pub blobs: Vec<Vec<u8>>,
}

/// Translates the item `id` of `tree`.
pub fn translate(tree: &dyn Tree, id: &str) -> Result<Translated, Damage> {
    let place = |name: &str| format!("work/{id}/{name}");
    let stream_id = StreamId::new(id)
        .map_err(|error| Damage::of(&place(""), DamageKind::Untold { why: error.to_string() }))?;
    // Whoever runs the item says more about it later.
    let leased = tree.read(&place("lease.json"), 4096);
    if !matches!(leased, Ok(None)) {
        return Err(Damage::of(&place("lease.json"), DamageKind::Leased));
    }
    let intent_file = require(tree, &place("intent.json"), intent::MAX)?;
    let old = OldIntent::read(id, &intent_file)?;
    let log_file = require(tree, &place("events.jsonl"), log::MAX)?;
    let events = log::read(id, &log_file)?;

    let mut blobs = Vec::new();
    let content = tree.script(&old.script, old.sha256).filter(|bytes| Digest::of(bytes) == old.sha256);
    let content = content.map(|bytes| {
        let cited = BlobRef::of(&bytes);
        blobs.push(bytes);
        cited
    });
    let intent = our_intent(stream_id, &old, content, &intent_file, &log_file)
        .map_err(|why| Damage::of(&intent_file.path, DamageKind::Untold { why }))?;
    let mut story = Story {
        tree,
        item: id,
        intent: &old,
        log: &log_file.path,
        events: Vec::new(),
        blobs,
        attempts: Vec::new(),
        open: None,
        in_window: false,
        findings: HashMap::new(),
        order: Vec::new(),
        raised: 0,
        last: old.created_at,
    };
    for event in &events {
        story.tell(event)?;
    }
    story.end()?;
    let Story { events, mut blobs, .. } = story;
    for event in &events {
        if let Err(error) = event.check() {
            return Err(Damage::of(&log_file.path, DamageKind::Untold { why: error.to_string() }));
        }
    }
    blobs.extend([intent_file.bytes, log_file.bytes]);
    Ok(Translated { intent, events, blobs })
}

fn our_intent(
    id: StreamId,
    old: &OldIntent,
    content: Option<BlobRef>,
    intent_file: &File,
    log_file: &File,
) -> Result<Intent, String> {
    let missing = |what: &str| format!("its {what} is blank");
    let block = |text: &String| fit::block(text, bounds::ACCEPTANCE).ok_or_else(|| missing("acceptance"));
    let ids = old.dependencies.iter().map(|id| StreamId::new(id));
    let intent = Intent {
        schema_version: Intent::SCHEMA_VERSION,
        id,
        title: fit::line(&old.title, bounds::TITLE).ok_or_else(|| missing("title"))?,
        objective: fit::block(&old.objective, bounds::OBJECTIVE).ok_or_else(|| missing("objective"))?,
        acceptance: old.acceptance.iter().map(block).collect::<Result<_, _>>()?,
        dependencies: ids.collect::<Result<_, _>>().map_err(|error| error.to_string())?,
        workflow: Workflow { path: old.script.clone(), sha256: old.sha256, content, modules: Vec::new() },
        max_attempts: old.max_attempts,
        max_uncharged_attempts: old.max_uncharged_attempts,
        source: Source {
            kind: old.source.0,
            reference: old.source.1.as_deref().and_then(|text| fit::line(text, bounds::SOURCE_REF)),
        },
        created_at: old.created_at,
        require_review: false,
        imported: Some(Imported {
            program: Program::Harnery,
            intent: kept(intent_file),
            log: kept(log_file),
        }),
    };
    intent.check().map_err(|error| error.to_string())?;
    Ok(intent)
}

fn kept(file: &File) -> KeptFile {
    KeptFile { path: file.path.clone(), content: BlobRef::of(&file.bytes) }
}

/// An attempt of which everything is known, at the point of the log that the translation has reached.
struct Attempt {
    run_id: StreamId,
    old_run_id: String,
    number: u32,
    proof: Option<BlobRef>,
}

/// An attempt whose end has not been told yet.
struct Open {
    actor: String,
    read: OldAttempt,
    /// Whether it was told that it is parked.
    told: bool,
}

/// The log so far.
struct Story<'a> {
    tree: &'a dyn Tree,
    item: &'a str,
    intent: &'a OldIntent,
    log: &'a str,
    events: Vec<Event>,
    blobs: Vec<Vec<u8>>,
    attempts: Vec<Attempt>,
    open: Option<Open>,
    /// Whether an attempt was started since the last reopen.
    in_window: bool,
    /// Open findings, by the ids that they had.
    findings: HashMap<String, FindingId>,
    /// The open findings, in the order in which they were raised.
    order: Vec<FindingId>,
    raised: u32,
    /// When the last event was that has been told.
    last: Timestamp,
}

impl Story<'_> {
    fn tell(&mut self, event: &OldEvent) -> Result<(), Damage> {
        if !matches!(event.what, What::Resumed { .. }) {
            self.end_attempt_before(event)?;
        }
        self.last = event.at;
        let at_line = |kind| Damage::at(self.log, event.line, kind);
        let mut origin = self.origin(event);
        let reason = event.reason.as_deref().and_then(|text| fit::block(text, bounds::REASON));
        let ours = match &event.what {
            What::Created => {
                origin.reason = reason;
                Event::Created {}
            }
            What::Started { run_id, attempt, trigger } => {
                origin.reason = reason;
                let expected = Expected {
                    item: self.item,
                    intent: self.intent,
                    run_id,
                    number: *attempt,
                    trigger: *trigger,
                    before: self.attempts.last().map(|attempt| &*attempt.old_run_id),
                };
                let read = read_attempt(self.tree, &expected)?;
                let ours = our_run_id(run_id);
                if ours.as_str() != run_id {
                    origin.run_id_was = fit::line(run_id, bounds::OLD_NAME);
                }
                let proof = match &read.status {
                    Status::Ended { end, .. } => end.proof(),
                    _ => None,
                };
                let (old_run_id, number) = (run_id.clone(), *attempt);
                self.attempts.push(Attempt { run_id: ours.clone(), old_run_id, number, proof });
                self.open = Some(Open { actor: event.actor.clone(), read, told: false });
                // Old records do not say; what is not the first of its window is a retry.
                let by_window = if self.in_window { Trigger::Retry } else { Trigger::Initial };
                let trigger = trigger.unwrap_or(by_window);
                self.in_window = true;
                Event::AttemptStarted { run_id: ours, attempt: number, trigger }
            }
            What::Resumed { run_id, attempt } => {
                origin.reason = reason;
                Event::AttemptResumed { run_id: our_run_id(run_id), attempt: *attempt }
            }
            What::Reconciled { state, next_action } => Event::Reconciled {
                state: *state,
                next_action: *next_action,
                reason: reason.unwrap_or_else(|| state.as_str().to_owned()),
            },
            What::Reopened { findings } => self.reopened(event, reason, findings, &mut origin),
            What::Accepted { accepted, dispositions, unknowns } => {
                self.accepted(accepted.as_ref(), dispositions, unknowns, reason).map_err(at_line)?
            }
            What::Cancelled => Event::Cancelled { reason },
        };
        self.events.push(Event::Imported { origin: Box::new(origin), event: Box::new(ours) });
        Ok(())
    }

    /// Findings get ids that are unique for the life of the item, where Harnery begins at `f1` with every reopen.
    fn reopened(
        &mut self,
        event: &OldEvent,
        reason: Option<String>,
        findings: &[(String, String)],
        origin: &mut Origin,
    ) -> Event {
        self.in_window = false;
        let mut superseded = Vec::new();
        let mut ours = Vec::new();
        if !findings.is_empty() {
            superseded = std::mem::take(&mut self.order);
            self.findings.clear();
        }
        for (was, statement) in findings {
            let Some(statement) = fit::block(statement, bounds::FINDING) else { continue };
            self.raised += 1;
            let id = FindingId::new(NonZeroU32::new(self.raised).unwrap_or(NonZeroU32::MIN));
            if id.to_string() != *was {
                origin.findings_were.push(FindingWas { id, was: was.clone() });
            }
            self.findings.insert(was.clone(), id);
            self.order.push(id);
            ours.push(OpenFinding { id, actor: actor(&event.actor), statement });
        }
        Event::Reopened { reason, findings: ours, superseded }
    }

    fn accepted(
        &mut self,
        accepted: Option<&AcceptedRun>,
        dispositions: &[OldDisposition],
        unknowns: &[String],
        reason: Option<String>,
    ) -> Result<Event, DamageKind> {
        let history = |expected| DamageKind::History { event: "work.accepted".to_owned(), expected };
        let found = match accepted {
            Some(accepted) => self.attempts.iter().rfind(|attempt| attempt.old_run_id == accepted.run_id),
            None => self.attempts.last(),
        };
        let attempt = found.ok_or_else(|| history("an attempt that was started"))?;
        let proof = attempt.proof.ok_or_else(|| history("the proof of the attempt, which is missing"))?;
        if let Some(accepted) = accepted.filter(|accepted| accepted.proof != proof.blob) {
            let (found, accepted) = (proof.blob.to_string(), accepted.proof.to_string());
            return Err(DamageKind::ProofChanged { found, accepted });
        }
        let (run_id, attempt) = (attempt.run_id.clone(), attempt.number);
        let mut ours = Vec::new();
        for OldDisposition { id, outcome, reason } in dispositions {
            let id = self.findings.remove(id).ok_or_else(|| history("dispositions of open findings"))?;
            self.order.retain(|open| *open != id);
            let reason = reason.as_deref().and_then(|text| fit::block(text, bounds::DISPOSITION_REASON));
            ours.push(Disposition { id, outcome: *outcome, reason });
        }
        let fitted = unknowns.iter().filter_map(|unknown| fit::line(unknown, bounds::UNKNOWN));
        let mut accepted_unknowns: Vec<String> = fitted.collect();
        accepted_unknowns.sort_unstable();
        accepted_unknowns.dedup();
        let dispositions = ours;
        Ok(Event::Accepted { run_id, attempt, proof, reason, dispositions, accepted_unknowns, review: None })
    }

    /// Tells how the open attempt ended or parked, if that was before `event`. Harnery does not record it: it follows from
    /// the run's files, at the time that they name.
    fn end_attempt_before(&mut self, event: &OldEvent) -> Result<(), Damage> {
        let Some(open) = &self.open else { return Ok(()) };
        // What opens or closes a window, or begins another attempt, comes after the end of this one.
        let closes = match event.what {
            What::Started { .. } | What::Accepted { .. } | What::Reopened { .. } => true,
            What::Cancelled => !matches!(open.read.status, Status::Ended { .. }),
            _ => false,
        };
        let at = match &open.read.status {
            Status::Ended { at, .. } | Status::Parked { at, .. } => Some(*at),
            Status::Lost => None,
        };
        if closes || at.is_some_and(|at| at <= event.at) {
            self.tell_attempt(closes)?;
        }
        Ok(())
    }

    /// Nothing more is recorded.
    fn end(&mut self) -> Result<(), Damage> {
        let lost = self.open.as_ref().is_some_and(|open| matches!(open.read.status, Status::Lost));
        self.tell_attempt(lost)
    }

    /// Tells how the open attempt stands. What goes on without it `closes` it: then it is neither parked nor under way.
    fn tell_attempt(&mut self, closes: bool) -> Result<(), Damage> {
        let (Some(mut open), Some(attempt)) = (self.open.take(), self.attempts.last()) else { return Ok(()) };
        let (run_id, number) = (attempt.run_id.clone(), attempt.number);
        let mut told = Vec::new();
        // Harnery counts what left nothing behind, so it counts here too.
        let lost = Event::ended(run_id.clone(), number, End::lost(false));
        match &open.read.status {
            Status::Ended { at, end } => told.push((*at, Event::ended(run_id, number, end.clone()))),
            Status::Parked { at, approval_id } => {
                if !open.told {
                    let approval_id = StreamId::new(approval_id).map_err(|error| {
                        Damage::of(self.log, DamageKind::Untold { why: error.to_string() })
                    })?;
                    told.push((*at, Event::AttemptParked { run_id, attempt: number, approval_id }));
                }
                if closes {
                    told.push((self.last, lost));
                }
            }
            Status::Lost if closes => told.push((self.last, lost)),
            Status::Lost => {}
        }
        let path = open.read.source.clone().unwrap_or_else(|| self.log.to_owned());
        for (at, event) in told {
            let mut origin = plain_origin(path.clone(), None, at, &open.actor);
            origin.kept = open.read.files.iter().map(kept).collect();
            self.events.push(Event::Imported { origin: Box::new(origin), event: Box::new(event) });
        }
        self.blobs.extend(std::mem::take(&mut open.read.files).into_iter().map(|file| file.bytes));
        if !closes && !matches!(open.read.status, Status::Ended { .. }) {
            open.told = true;
            self.open = Some(open);
        }
        Ok(())
    }

    fn origin(&self, event: &OldEvent) -> Origin {
        plain_origin(self.log.to_owned(), Some(event.line), event.at, &event.actor)
    }
}

fn plain_origin(path: String, line: Option<u64>, at: Timestamp, by: &str) -> Origin {
    let ours = actor(by);
    let actor_was = fit::line(by, bounds::OLD_NAME).filter(|was| *was != ours.as_str());
    Origin {
        program: Program::Harnery,
        path,
        line,
        at,
        actor: ours,
        actor_was,
        reason: None,
        run_id_was: None,
        findings_were: Vec::new(),
        kept: Vec::new(),
    }
}

/// A name that fits; Harnery allows twice the length, and any character.
fn actor(name: &str) -> Actor {
    let fitted = fit::line(name, 100).and_then(|name| Actor::new(&name).ok());
    fitted.unwrap_or_else(|| Actor::new("unknown").expect("a word"))
}

/// The same id where it fits; else its beginning and a digest of the whole.
fn our_run_id(old: &str) -> StreamId {
    StreamId::new(old).unwrap_or_else(|_| {
        let digest = Digest::of(old.as_bytes()).to_string();
        let kept: String = old.chars().take(ID_MAX - 17).collect();
        StreamId::new(&format!("{kept}-{}", &digest[..16])).expect("the log checked its letters")
    })
}
