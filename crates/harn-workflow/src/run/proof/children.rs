//! What the proof says about agents and checks, gathered event by event.

use crate::run::agent::AgentOutcome;
use crate::run::captured::Captured;
use crate::run::event::Event;

use super::parts::{AgentRecord, AgentStatus, CheckRecord, ResultDigest};

/// The record of a call that has just started; none for any other event.
pub(super) fn start_agent(event: &Event) -> Option<AgentRecord> {
    let Event::AgentStarted { id, label, stage, adapter, model, effort, .. } = event else {
        return None;
    };
    Some(AgentRecord {
        id: *id,
        label: label.clone(),
        stage: stage.clone(),
        adapter: adapter.clone(),
        model: model.clone(),
        effort: effort.clone(),
        status: AgentStatus::Unfinished,
        class: None,
        tries: 0,
        duration_ms: None,
        result: None,
        error: None,
    })
}

/// The record of a check that has just started; none for any other event.
pub(super) fn start_check(event: &Event) -> Option<CheckRecord> {
    let Event::CheckStarted { id, name, stage, argv, cwd, .. } = event else {
        return None;
    };
    Some(CheckRecord {
        id: *id,
        name: name.clone(),
        stage: stage.clone(),
        argv: Some(argv.clone()),
        cwd: cwd.clone(),
        outcome: None,
        exit_code: None,
        signal: None,
        duration_ms: None,
        stdout: None,
        stderr: None,
        error: None,
        evidence_id: None,
    })
}

impl AgentRecord {
    /// Takes in what happened to the call.
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::AgentTry { number, .. } => self.tries = number.get(),
            Event::AgentEnded { outcome, class, reply, error, tries, duration_ms, .. } => {
                self.status = match outcome {
                    AgentOutcome::Succeeded => AgentStatus::Succeeded,
                    AgentOutcome::Cached => AgentStatus::Cached,
                    AgentOutcome::Failed => AgentStatus::Failed,
                };
                self.class = *class;
                self.tries = *tries;
                self.duration_ms = Some(*duration_ms);
                self.result = reply.as_ref().map(ResultDigest::of);
                self.error.clone_from(error);
            }
            _ => {}
        }
    }
}

impl CheckRecord {
    /// Takes in how the check ended.
    pub(super) fn take(&mut self, event: &Event) {
        if let Event::CheckEnded {
            outcome,
            exit_code,
            signal,
            error,
            duration_ms,
            stdout,
            stderr,
            evidence,
            ..
        } = event
        {
            self.outcome = Some(*outcome);
            self.exit_code = *exit_code;
            self.signal = *signal;
            self.duration_ms = Some(*duration_ms);
            self.stdout = stdout.as_ref().map(Captured::digest);
            self.stderr = stderr.as_ref().map(Captured::digest);
            self.error.clone_from(error);
            self.evidence_id = Some(*evidence);
        }
    }
}
