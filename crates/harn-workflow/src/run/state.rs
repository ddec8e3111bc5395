//! The fold of a transcript: small enough to be kept for a run of a million events.

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_ledger::StreamId;

use super::class::{Class, Tally, run_class};
use super::criterion::{AcceptanceIds, CriterionId};
use super::ending::{Failure, Status};
use super::environment::Hold;
use super::event::{DecisionId, Event, Label, Reason};
use super::evidence::EvidenceStatus;
use super::id::{AgentId, CheckId, EvidenceId};
use super::manifest::Manifest;

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Nothing is recorded yet.
    Created,
    /// It is under way, or the process that ran it is gone.
    Running,
    /// It waits for an approval.
    Parked {
        /// Which one.
        approval_id: StreamId,
    },
    /// The script said that a person must rule; only the end is missing.
    Blocked {
        /// Why.
        reason: Reason,
        /// What is to be decided.
        decision: Option<DecisionId>,
    },
    /// It is over.
    Ended {
        /// Whether the script returned.
        status: Status,
        /// What ended it otherwise.
        failure: Option<Failure>,
        /// Why it failed, when that is not about the work.
        class: Option<Class>,
    },
}

/// A check that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCheck {
    /// What it is called.
    pub name: Label,
    /// The stage in which it was called.
    pub stage: Option<Label>,
    /// The criteria that its result will speak about.
    pub acceptance_ids: AcceptanceIds,
}

/// The record that must follow a check that has just ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DueEvidence {
    pub(super) id: EvidenceId,
    pub(super) check: CheckId,
    pub(super) status: EvidenceStatus,
    pub(super) acceptance_ids: AcceptanceIds,
}

/// What is known of the environment of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Environment {
    /// Nothing was said of it.
    #[default]
    Unsaid,
    /// The caller did without a preparation.
    Skipped,
    /// It was prepared.
    Prepared {
        /// The receipt of that.
        receipt: StreamId,
        /// How many commands the baseline has.
        commands: usize,
    },
    /// It must not be worked in.
    Held(Hold),
    /// Its commands were run again after the work.
    Checked,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    phase: Phase,
    environment: Environment,
    script_loaded: bool,
    open_agents: BTreeMap<AgentId, u32>,
    open_checks: BTreeMap<CheckId, OpenCheck>,
    due: Option<DueEvidence>,
    items: usize,
    declared: Arc<[CriterionId]>,
    agents: u32,
    checks: u32,
    evidence: u32,
    tally: Tally,
}

impl State {
    pub(super) fn new(manifest: &Manifest) -> Self {
        Self {
            phase: Phase::Created,
            environment: Environment::Unsaid,
            script_loaded: false,
            open_agents: BTreeMap::new(),
            open_checks: BTreeMap::new(),
            due: None,
            items: manifest.parts().work_context.as_ref().map_or(0, |work| work.acceptance().len()),
            declared: Arc::default(),
            agents: 0,
            checks: 0,
            evidence: 0,
            tally: Tally::default(),
        }
    }

    /// Where the run stands.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The approval that the run waits for, if it does.
    #[must_use]
    pub const fn parked(&self) -> Option<&StreamId> {
        match &self.phase {
            Phase::Parked { approval_id } => Some(approval_id),
            _ => None,
        }
    }

    /// Whether the run is over.
    #[must_use]
    pub const fn ended(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }

    /// Whether an agent or a check was started: whether the run can have touched the work.
    #[must_use]
    pub const fn worked(&self) -> bool {
        self.tally.worked
    }

    /// What is known of the environment.
    #[must_use]
    pub const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether the script was loaded.
    #[must_use]
    pub const fn script_loaded(&self) -> bool {
        self.script_loaded
    }

    /// What the class of the run depends on.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The class that the run would have if it ended with `failure` now.
    #[must_use]
    pub fn class(&self, failure: Option<Failure>) -> Option<Class> {
        run_class(failure, &self.tally)
    }

    /// The calls of agents that have not ended, each with the number of its recorded tries.
    #[must_use]
    pub const fn open_agents(&self) -> &BTreeMap<AgentId, u32> {
        &self.open_agents
    }

    /// The checks that have not ended.
    #[must_use]
    pub const fn open_checks(&self) -> &BTreeMap<CheckId, OpenCheck> {
        &self.open_checks
    }

    /// The id of the next call of an agent.
    #[must_use]
    pub const fn next_agent(&self) -> AgentId {
        AgentId::after(self.agents)
    }

    /// The id of the next check.
    #[must_use]
    pub const fn next_check(&self) -> CheckId {
        CheckId::after(self.checks)
    }

    /// The id of the next record of evidence.
    #[must_use]
    pub const fn next_evidence(&self) -> EvidenceId {
        EvidenceId::after(self.evidence)
    }

    /// How many records of evidence there are, those that open checks will add included.
    #[must_use]
    pub fn evidence_reserved(&self) -> usize {
        self.evidence as usize + self.open_checks.len()
    }

    /// Whether evidence may cite `id`: the script declared it, or it stands for an acceptance text of the work item.
    #[must_use]
    pub fn has_criterion(&self, id: &CriterionId) -> bool {
        self.declared.contains(id) || id.item_index().is_some_and(|index| index < self.items)
    }

    /// The record that must come next, if a check has just ended.
    pub(super) const fn due(&self) -> Option<&DueEvidence> {
        self.due.as_ref()
    }

    /// Folds one event in. Whatever is recorded can be folded; what comes after the end changes nothing.
    pub(super) fn apply(&mut self, event: &Event) {
        if self.ended() {
            return;
        }
        match event {
            Event::RunStarted {} | Event::RunResumed {} => self.phase = Phase::Running,
            Event::ScriptLoaded { meta } => {
                self.script_loaded = true;
                self.declared =
                    meta.parts().acceptance.iter().map(|criterion| criterion.id.clone()).collect();
            }
            Event::EnvironmentPrepared { preparation } => {
                self.environment = match preparation.hold {
                    Some(hold) => Environment::Held(hold),
                    None => Environment::Prepared {
                        receipt: preparation.receipt.id.clone(),
                        commands: preparation.baseline.len(),
                    },
                };
            }
            Event::EnvironmentSkipped {} => self.environment = Environment::Skipped,
            Event::EnvironmentChecked { .. } => self.environment = Environment::Checked,
            Event::Stage { .. } | Event::Log { .. } | Event::ParallelItemFailed { .. } => {}
            Event::AgentStarted { id, .. } => {
                self.agents = self.agents.max(id.number());
                self.open_agents.insert(*id, 0);
                self.tally.worked = true;
            }
            Event::AgentTry { id, number, .. } => {
                if let Some(tries) = self.open_agents.get_mut(id) {
                    *tries = number.get();
                }
            }
            Event::AgentEnded { id, outcome, class, .. } => {
                self.open_agents.remove(id);
                self.tally.add(*outcome, *class);
            }
            Event::CheckStarted { id, name, stage, acceptance_ids, .. } => {
                self.checks = self.checks.max(id.number());
                let open = OpenCheck {
                    name: name.clone(),
                    stage: stage.clone(),
                    acceptance_ids: acceptance_ids.clone(),
                };
                self.open_checks.insert(*id, open);
                self.tally.worked = true;
            }
            Event::CheckEnded { id, outcome, evidence, .. } => {
                self.due = self.open_checks.remove(id).map(|open| DueEvidence {
                    id: *evidence,
                    check: *id,
                    status: outcome.evidence(),
                    acceptance_ids: open.acceptance_ids,
                });
            }
            Event::EvidenceRecorded { id, .. } => {
                self.evidence = self.evidence.max(id.number());
                self.due = None;
            }
            Event::RunParked { approval_id } => {
                self.phase = Phase::Parked { approval_id: approval_id.clone() };
            }
            Event::RunBlocked { reason, decision } => {
                self.phase = Phase::Blocked { reason: reason.clone(), decision: decision.clone() };
            }
            Event::RunEnded { status, failure, class, .. } => {
                self.phase = Phase::Ended { status: *status, failure: *failure, class: *class };
            }
        }
    }
}
