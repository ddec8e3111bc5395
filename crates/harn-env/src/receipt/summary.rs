//! A receipt in few words.

use harn_ledger::{Digest, StreamId};
use serde::Serialize;

use super::Stage;
use super::event::{End, Resolution};
use super::intent::Purpose;
use super::state::State;
use crate::command::Outcome;
use crate::compare::Comparison;

/// A receipt in few words, for proofs and lists. Bounded: names and outcomes only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The receipt.
    pub id: StreamId,
    /// `ready`, `checked`, `held` or `interrupted`.
    pub status: &'static str,
    /// Why it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<&'static str>,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a person said becomes of a source that preparation changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolution>,
    /// The digest of the recipe; absent where there is none, so that nothing was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Digest>,
    /// The receipt whose set-up was reused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<StreamId>,
    /// How often the set-up was done again: 0 or 1.
    pub retry: u32,
    /// The last outcome of each command: stage, name, outcome.
    pub results: Vec<(Stage, String, Outcome)>,
    /// How final results compare with the baseline, in its order.
    pub comparisons: Vec<Comparison>,
}

impl State {
    /// The receipt in few words.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let (status, hold, reason) = match &self.end {
            Some((End::Ready, _)) => ("ready", None, None),
            Some((End::Checked, _)) => ("checked", None, None),
            Some((End::Held(hold), reason)) => ("held", Some(hold.as_str()), reason.clone()),
            None => ("interrupted", None, None),
        };
        let mut results: Vec<(Stage, String, Outcome)> = Vec::new();
        for done in &self.done {
            results.retain(|(stage, name, _)| (*stage, &**name) != (done.stage, &*done.result.name));
            results.push((done.stage, done.result.name.clone(), done.result.outcome));
        }
        if !matches!(self.end, Some((End::Ready | End::Checked, _))) {
            results.extend(self.not_run());
        }
        Summary {
            id: self.id.clone(),
            status,
            hold,
            reason,
            resolved: self.resolved,
            recipe: self.recipe,
            reused_from: self.reused.clone().filter(|_| self.retried.is_none()),
            retry: u32::from(self.retried.is_some()),
            results,
            comparisons: self.comparisons.clone(),
        }
    }

    /// The commands that were to be run and were not begun.
    fn not_run(&self) -> Vec<(Stage, String, Outcome)> {
        let needs_set_up = self.reused.is_none() || self.retried.is_some();
        let planned: &[(Stage, &[String])] = match self.purpose {
            Purpose::Prepare {} if needs_set_up => {
                &[(Stage::Setup, &self.setup), (Stage::Tools, &self.tools), (Stage::Baseline, &self.baseline)]
            }
            Purpose::Prepare {} => &[(Stage::Tools, &self.tools), (Stage::Baseline, &self.baseline)],
            Purpose::Tools { .. } => &[(Stage::Tools, &self.tools)],
            Purpose::Check { .. } => &[(Stage::Final, &self.baseline)],
        };
        let commands = planned.iter().flat_map(|(stage, names)| names.iter().map(move |name| (*stage, name)));
        let was_run = |(stage, name): &(Stage, &String)| {
            self.done.iter().any(|done| done.stage == *stage && done.result.name == **name)
        };
        let left = commands.filter(|command| !was_run(command));
        left.map(|(stage, name)| (stage, name.clone(), Outcome::NotRun)).collect()
    }
}
