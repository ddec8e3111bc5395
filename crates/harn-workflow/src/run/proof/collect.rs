//! Gathers what a transcript says into a whole proof, whatever its size.

use std::collections::BTreeMap;

use harn_ledger::{Decider as _, Recorded};

use crate::run::class::run_class;
use crate::run::command::Run;
use crate::run::ending::Failure;
use crate::run::environment::EnvironmentRecord;
use crate::run::event::Event;
use crate::run::evidence::Evidence;
use crate::run::id::{AgentId, CheckId};
use crate::run::manifest::Manifest;
use crate::run::meta::Meta;
use crate::run::repository::RepositoryRecord;
use crate::run::rollup::roll_up;
use crate::run::state::{Phase, State};

use super::children::{start_agent, start_check};
use super::parts::{
    AgentRecord, CheckRecord, ExecutionRecord, Integrity, ResultDigest, RunRecord, TranscriptHead,
};
use super::unknowns::unknowns;
use super::{NotEnded, Proof};

/// The whole proof, however long.
pub(super) fn collect<'a>(
    manifest: &Manifest,
    transcript: impl IntoIterator<Item = &'a Recorded<Event>>,
) -> Result<Proof, NotEnded> {
    let mut state = Run::init(manifest);
    let mut found = Found::default();
    for recorded in transcript {
        if let Some(run) = run_record(manifest, &found.meta, &state, recorded) {
            return Ok(found.conclude(manifest, run, recorded));
        }
        found.take(recorded);
        Run::evolve(&mut state, recorded);
    }
    Err(NotEnded)
}

/// The record of a run that `end` ends in `state`; none when it does not end it. The class is the one that follows,
/// whatever the event says.
fn run_record(manifest: &Manifest, meta: &Meta, state: &State, end: &Recorded<Event>) -> Option<RunRecord> {
    let Event::RunEnded { status, failure, error, result, .. } = &end.event else {
        return None;
    };
    let frozen = manifest.parts();
    let said = meta.parts();
    let (reason, decision) = match state.phase() {
        Phase::Blocked { reason, decision } if *failure == Some(Failure::Decision) => {
            (Some(reason.clone()), decision.clone())
        }
        _ => (None, None),
    };
    let took = end.ts.as_microseconds().saturating_sub(frozen.started_at.as_microseconds());
    Some(RunRecord {
        id: frozen.run_id.clone(),
        work_item_id: frozen.work_item_id.clone(),
        name: said.name.as_ref().unwrap_or(&frozen.name).clone(),
        status: *status,
        failure: *failure,
        class: run_class(*failure, state.tally()),
        decision_id: decision,
        started_at: frozen.started_at,
        ended_at: end.ts,
        duration_ms: u64::try_from(took / 1000).unwrap_or(0),
        work_context: frozen.work_context.clone(),
        attempt_context: frozen.attempt_context.clone(),
        objective: said.objective.clone(),
        error: error.clone().or(reason),
        result: result.as_ref().map(ResultDigest::of),
    })
}

#[derive(Default)]
struct Found {
    meta: Meta,
    environment: Option<EnvironmentRecord>,
    agents: BTreeMap<AgentId, AgentRecord>,
    checks: BTreeMap<CheckId, CheckRecord>,
    evidence: Vec<Evidence>,
}

impl Found {
    fn take(&mut self, recorded: &Recorded<Event>) {
        match &recorded.event {
            Event::EnvironmentPrepared { preparation } => {
                let preparation = Some((**preparation).clone());
                self.environment = Some(EnvironmentRecord { preparation, after: None });
            }
            Event::EnvironmentSkipped {} => {
                self.environment = Some(EnvironmentRecord { preparation: None, after: None });
            }
            Event::EnvironmentChecked { check } => {
                if let Some(environment) = &mut self.environment {
                    environment.after = Some((**check).clone());
                }
            }
            Event::ScriptLoaded { meta } => self.meta = meta.clone(),
            event @ Event::AgentStarted { id, .. } => {
                self.agents.extend(start_agent(event).map(|record| (*id, record)));
            }
            event @ (Event::AgentTry { id, .. } | Event::AgentEnded { id, .. }) => {
                if let Some(agent) = self.agents.get_mut(id) {
                    agent.take(event);
                }
            }
            event @ Event::CheckStarted { id, .. } => {
                self.checks.extend(start_check(event).map(|record| (*id, record)));
            }
            event @ Event::CheckEnded { id, .. } => {
                if let Some(check) = self.checks.get_mut(id) {
                    check.take(event);
                }
            }
            event @ Event::EvidenceRecorded { .. } => self.evidence.extend(Evidence::of(event, recorded.ts)),
            _ => {}
        }
    }

    fn conclude(self, manifest: &Manifest, run: RunRecord, end: &Recorded<Event>) -> Proof {
        let frozen = manifest.parts();
        let items = frozen.work_context.as_ref().map_or(&[][..], |work| work.acceptance());
        let after = match &end.event {
            Event::RunEnded { repository_after, .. } => repository_after.as_ref(),
            _ => None,
        };
        let declared = &self.meta.parts().acceptance;
        let mut acceptance = roll_up(declared, items, frozen.execution.require_acceptance, &self.evidence);
        if let Some(environment) = &self.environment {
            acceptance = acceptance.with_baseline(environment);
        }
        let mut proof = Proof {
            schema_version: frozen.schema_version,
            run,
            acceptance,
            agents: self.agents.into_values().collect(),
            checks: self.checks.into_values().collect(),
            evidence: self.evidence,
            execution: ExecutionRecord {
                requested_isolation: frozen.execution.requested_isolation,
                effective_isolation: frozen.execution.effective_isolation,
            },
            environment: self.environment,
            repository: RepositoryRecord::of(frozen.repository_before.as_ref(), after),
            unknowns: Vec::new(),
            truncated: Vec::new(),
            integrity: Integrity { transcript: TranscriptHead { seq: end.seq, hash: end.hash } },
        };
        proof.unknowns = unknowns(&proof);
        proof
    }
}
