//! How a review follows from its events.

use std::sync::Arc;

use harn_ledger::{Digest, Recorded};

use super::{FixCheck, Pass, Phase, PublicationState, State, Waiver, WrittenDraft};
use crate::event::{Change, Decision, Event};
use crate::finding::{Attempt, Decided, Evidence, Finding, Kind, Moment, Raised, Standing};
use crate::id::FindingId;
use crate::turn::{Accepted, Turn, TurnOutcome};

/// When and by whom an event was recorded.
struct Stamp<'a> {
    recorded: &'a Recorded<Event>,
    by: Raised,
    fingerprint: Option<Digest>,
}

impl Stamp<'_> {
    fn on<T>(&self, what: T) -> Moment<T> {
        Moment {
            what,
            by: self.by.clone(),
            fingerprint: self.fingerprint,
            actor: self.recorded.actor.to_string(),
            at: self.recorded.ts,
        }
    }
}

impl State {
    pub(crate) fn apply(&mut self, recorded: &Recorded<Event>) {
        let person = Stamp { recorded, by: Raised::Person {}, fingerprint: None };
        match &recorded.event {
            Event::Opened {} => self.opened = true,
            Event::TurnBegun { .. }
            | Event::ReportAccepted { .. }
            | Event::ReportStale { .. }
            | Event::ReportRejected { .. } => self.apply_turn(recorded),
            Event::FindingsImported { tool, fingerprint, changes, .. } => {
                let by = Raised::Import(tool.clone());
                let open = self.open().count();
                self.changes(changes, &Stamp { recorded, by, fingerprint: Some(*fingerprint) });
                self.raised_since |= self.open().count() > open;
            }
            Event::RepairBegun { pass, findings, owners, rechecks, fingerprint } => self.passes.push(Pass {
                number: *pass,
                findings: findings.clone(),
                owners: owners.clone(),
                rechecks: rechecks.clone(),
                attempted: 0,
                source: *fingerprint,
                turns_before: self.turns.len(),
                known: self.findings.len(),
            }),
            Event::RepairAttempted { pass, task, before, after, .. } => {
                self.attempted(*pass, task, *before, *after, &person);
            }
            Event::CheckRecorded { result } => self.checks.push((**result).clone()),
            Event::FindingDecided { id, decision, reason, evidence } => {
                self.decided(*id, decision, reason, evidence.as_ref(), &person);
            }
            Event::CheckWaived { name, reason } => self.waivers.push(Waiver {
                name: name.clone(),
                reason: reason.clone(),
                actor: recorded.actor.to_string(),
                plan: self.plan_digest,
                at: recorded.ts,
            }),
            Event::PlanAccepted { plan, .. } => {
                self.plan_digest = plan.digest();
                self.plan = Arc::new((**plan).clone());
                self.passes.clear();
            }
            Event::FixCheckBegun { name, task, .. } => {
                self.dropped.push((self.checks.len(), task.clone()));
                self.fix_checks.push(FixCheck { name: name.clone(), task: task.clone(), repaired: None });
            }
            Event::FixCheckEnded { repaired, .. } => {
                if let Some(fix) = self.fix_checks.last_mut() {
                    fix.repaired = Some(*repaired);
                }
            }
            Event::DraftWritten { key, title, summary, by, .. } => {
                let (title, summary) = (title.clone(), summary.clone());
                self.draft = Some(WrittenDraft { key: *key, title, summary, by: *by });
            }
            Event::PublicationBegun { publication } => self
                .publications
                .push(PublicationState { publication: publication.clone(), phase: Phase::Begun }),
            Event::PublicationPushed { .. } => self.phase(Phase::Pushed),
            Event::PublicationDone { url, .. } => self.phase(Phase::Done { url: url.clone() }),
            Event::PublicationFailed { reason } => self.phase(Phase::Failed { reason: reason.clone() }),
        }
    }

    fn apply_turn(&mut self, recorded: &Recorded<Event>) {
        match &recorded.event {
            Event::TurnBegun { turn, fingerprint, plan, instructions, manifest, reviewer } => {
                if let Some(last) = self.turns.last_mut().filter(|last| last.is_live()) {
                    last.outcome = TurnOutcome::Superseded;
                }
                self.turns.push(Turn {
                    id: *turn,
                    fingerprint: *fingerprint,
                    plan: *plan,
                    instructions: *instructions,
                    manifest: *manifest,
                    reviewer: reviewer.clone(),
                    at: recorded.ts,
                    rejections: 0,
                    outcome: TurnOutcome::Running,
                });
            }
            Event::ReportAccepted { turn, raw, status, summary, changes, read, unread, unread_more } => {
                let fingerprint = self.turn(*turn).map(|turn| turn.fingerprint);
                let by = Raised::Turn(*turn);
                self.changes(changes, &Stamp { recorded, by, fingerprint });
                for id in changes.iter().map(Change::id) {
                    if let Some(finding) = self.findings.get_mut(&id) {
                        finding.last_seen = Some(*turn);
                    }
                }
                let ruled_on = |change: &Change| {
                    let is_note = self.findings.get(&change.id()).is_some_and(|it| it.kind == Kind::Note);
                    is_note || matches!(change, Change::SeenAgain { .. })
                };
                self.raised_since = false;
                let only_ruled_on = changes.iter().all(ruled_on) && self.open().next().is_none();
                self.end_turn(TurnOutcome::Accepted(Accepted {
                    status: *status,
                    summary: summary.clone(),
                    raw: *raw,
                    reported: changes.iter().map(Change::id).collect(),
                    only_ruled_on,
                    read: *read,
                    unread: unread.clone(),
                    unread_more: *unread_more,
                }));
            }
            Event::ReportStale { raw, status, summary, moved, .. } => self.end_turn(TurnOutcome::Stale {
                status: *status,
                summary: summary.clone(),
                raw: *raw,
                moved: moved.clone(),
            }),
            Event::ReportRejected { raw, problems, .. } => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.rejections += 1;
                    if turn.rejections > 1 {
                        turn.outcome = TurnOutcome::Paused { problems: problems.clone(), raw: *raw };
                    }
                }
            }
            _ => {}
        }
    }

    fn end_turn(&mut self, outcome: TurnOutcome) {
        if let Some(turn) = self.turns.last_mut() {
            turn.outcome = outcome;
        }
    }

    fn phase(&mut self, phase: Phase) {
        if let Some(publication) = self.publications.last_mut() {
            publication.phase = phase;
        }
    }

    fn changes(&mut self, changes: &[Change], stamp: &Stamp<'_>) {
        for change in changes {
            if let Change::Opened { id, finding } = change {
                let open = if finding.kind == Kind::Note { Standing::Noted } else { Standing::Open };
                self.findings.insert(
                    *id,
                    Finding {
                        id: *id,
                        kind: finding.kind,
                        standing: open,
                        priority: finding.priority,
                        owner: finding.owner.clone(),
                        place: finding.place.clone(),
                        title: finding.title.clone(),
                        fix: finding.fix.clone(),
                        rule: finding.rule.clone(),
                        partial_fingerprints: finding.partial_fingerprints.clone(),
                        evidence: vec![stamp.on(finding.evidence.clone())],
                        attempts: Vec::new(),
                        attempts_before: 0,
                        decisions: Vec::new(),
                        seen_again: 0,
                        last_seen: None,
                        merged_into: None,
                        not_reproduced: None,
                    },
                );
                continue;
            }
            if let Change::Merged { id, into, .. } = change {
                self.copy_evidence(*id, *into);
            }
            if let Some(finding) = self.findings.get_mut(&change.id()) {
                finding.change(change, stamp);
            }
        }
    }

    /// What was seen of a finding is kept with the one that it is the same as.
    fn copy_evidence(&mut self, from: FindingId, to: FindingId) {
        let evidence = self.findings.get(&from).map(|it| it.evidence.clone()).unwrap_or_default();
        if let Some(into) = self.findings.get_mut(&to) {
            into.evidence.extend(evidence);
        }
    }

    fn attempted(&mut self, pass: u32, task: &str, before: Digest, after: Digest, stamp: &Stamp<'_>) {
        let Some(running) = self.passes.last_mut() else { return };
        let results = self.checks.len();
        running.attempted += 1;
        running.source = after;
        for id in &running.findings {
            let owned = |finding: &&mut Finding| finding.owner.as_deref() == Some(task);
            if let Some(finding) = self.findings.get_mut(id).filter(owned) {
                finding.attempts.push(stamp.on(Attempt {
                    pass,
                    task: task.to_owned(),
                    before,
                    after,
                    results,
                }));
            }
        }
    }

    fn decided(
        &mut self,
        id: FindingId,
        decision: &Decision,
        reason: &str,
        evidence: Option<&Evidence>,
        stamp: &Stamp<'_>,
    ) {
        let Some(finding) = self.findings.get_mut(&id) else { return };
        finding.evidence.extend(evidence.map(|evidence| stamp.on(evidence.clone())));
        let reason = reason.to_owned();
        let decided = match decision {
            Decision::Close {} => {
                finding.standing = Standing::Dismissed;
                Decided::Closed { reason }
            }
            Decision::Confirm {} => {
                finding.kind = Kind::Defect;
                Decided::Confirmed
            }
            Decision::Reopen {} => {
                self.raised_since = true;
                finding.reopen();
                Decided::Reopened
            }
            Decision::NotReproduced {} => {
                finding.not_reproduced = Some(reason.clone());
                Decided::NotReproduced { reason }
            }
            Decision::Priority { to } => {
                finding.priority = *to;
                Decided::Priority { to: *to, reason: Some(reason) }
            }
            Decision::Owner { to } => {
                finding.owner.clone_from(to);
                Decided::Owner { to: to.clone(), reason }
            }
        };
        finding.decisions.push(stamp.on(decided));
    }
}

impl Finding {
    fn reopen(&mut self) {
        self.standing = Standing::Open;
        self.merged_into = None;
        self.not_reproduced = None;
        self.attempts_before = self.attempts.len();
    }

    fn change(&mut self, change: &Change, stamp: &Stamp<'_>) {
        match change {
            Change::Opened { .. } => {}
            Change::Seen { kind, evidence, place, .. } => {
                if !self.is_open() {
                    self.reopen();
                    self.decisions.push(stamp.on(Decided::Reopened));
                }
                if self.kind == Kind::Uncertain && *kind == Kind::Defect {
                    self.decisions.push(stamp.on(Decided::Confirmed));
                }
                self.kind = *kind;
                self.evidence.push(stamp.on(evidence.clone()));
                if let Some(place) = place {
                    self.place = Some(place.clone());
                }
            }
            Change::SeenAgain { .. } => self.seen_again = self.seen_again.saturating_add(1),
            Change::Fixed { checks, .. } => {
                self.standing = Standing::Fixed;
                self.decisions.push(stamp.on(Decided::Fixed { checks: checks.clone() }));
            }
            Change::Dismissed { reason, evidence, .. } => {
                self.standing = Standing::Dismissed;
                let (reason, evidence) = (reason.clone(), evidence.clone());
                self.decisions.push(stamp.on(Decided::Dismissed { reason, evidence }));
            }
            Change::Merged { into, reason, .. } => {
                self.standing = Standing::Merged;
                self.merged_into = Some(*into);
                self.decisions.push(stamp.on(Decided::Merged { into: *into, reason: reason.clone() }));
            }
            Change::Reprioritised { to, reason, .. } => {
                self.priority = *to;
                self.decisions.push(stamp.on(Decided::Priority { to: *to, reason: reason.clone() }));
            }
        }
    }
}
