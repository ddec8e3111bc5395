//! The fold of a receipt, and what comes next in it.

use harn_ledger::{Digest, StreamId};

use super::event::{End, Event, Hold, Resolution};
use super::intent::{Intent, Purpose, Snapshot};
use super::result::CommandResult;
use super::step::Step;
use super::words::fitting;
use super::{Refusal, Stage};
use crate::compare::Comparison;
use crate::fingerprint::Difference;
use crate::recipe::{Command, Recipe};

/// A receipt, as far as its log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(super) id: StreamId,
    pub(super) purpose: Purpose,
    pub(super) started: bool,
    pub(super) has_recipe: bool,
    /// The names of the recipe's commands, by stage.
    pub(super) setup: Vec<String>,
    pub(super) tools: Vec<String>,
    pub(super) baseline: Vec<String>,
    pub(super) key: Digest,
    pub(super) recipe: Option<Digest>,
    pub(super) reused: Option<StreamId>,
    pub(super) retried: Option<String>,
    pub(super) done: Vec<Done>,
    pub(super) compared: Vec<(Stage, Snapshot, Difference)>,
    pub(super) resolved: Option<Resolution>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) end: Option<(End, Option<String>)>,
}

/// A command that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Where it belongs.
    pub stage: Stage,
    /// Its place in its list.
    pub index: u32,
    /// In which round.
    pub round: u32,
    /// What it came to.
    pub result: CommandResult,
}

impl State {
    pub(super) fn new(intent: &Intent) -> Self {
        let names = |of: fn(&Recipe) -> Vec<String>| intent.recipe.as_ref().map(of).unwrap_or_default();
        Self {
            id: intent.id.clone(),
            purpose: intent.purpose.clone(),
            started: false,
            has_recipe: intent.recipe.is_some(),
            setup: names(|recipe| of(&recipe.setup)),
            tools: names(|recipe| recipe.tools.iter().map(|tool| tool.name.clone()).collect()),
            baseline: names(|recipe| of(&recipe.baseline)),
            key: intent.key.digest(),
            recipe: intent.recipe.as_ref().map(Recipe::digest),
            reused: None,
            retried: None,
            done: Vec::new(),
            compared: Vec::new(),
            resolved: None,
            comparisons: Vec::new(),
            end: None,
        }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Started {} => self.started = true,
            Event::SetupReused { receipt } => self.reused = Some(receipt.clone()),
            Event::CommandEnded { stage, index, round, result } => {
                self.done.push(Done {
                    stage: *stage,
                    index: *index,
                    round: *round,
                    result: (**result).clone(),
                });
            }
            Event::SetupRetried { reason } => self.retried = Some(reason.clone()),
            Event::SourceCompared { after, source, changed } => {
                self.compared.push((*after, *source, changed.clone()));
            }
            Event::ResultCompared { comparison, .. } => self.comparisons.push(comparison.clone()),
            Event::SourceResolved { resolution, .. } => self.resolved = Some(*resolution),
            Event::Ended { end, reason } => self.end = Some((*end, reason.clone())),
        }
    }

    /// What comes next. A cancellation may come at any time, and a rerun before a final result is compared.
    #[must_use]
    pub fn next(&self) -> Step {
        if self.end.is_some() {
            return Step::Nothing;
        }
        if !self.started {
            return Step::Start;
        }
        match self.purpose {
            Purpose::Prepare {} => self.next_of_preparation(),
            Purpose::Tools { .. } => self.next_of_tools().unwrap_or(Step::READY),
            Purpose::Check { .. } => self.next_of_check(),
        }
    }

    fn next_of_preparation(&self) -> Step {
        if !self.has_recipe {
            return Step::READY;
        }
        let round = self.round();
        if self.reused.is_none() || self.retried.is_some() {
            let done = self.of(Stage::Setup, round);
            if let Some(failed) = done.iter().find(|done| !done.result.passed()) {
                return Step::held(Hold::Setup, &format!("the set-up failed: {}", failed.words()));
            }
            if done.len() < self.setup.len() {
                return run(Stage::Setup, done.len(), round);
            }
        }
        if let Some(step) = self.next_of_tools() {
            return step;
        }
        for (after, commands) in [(Stage::Setup, 0), (Stage::Baseline, self.baseline.len())] {
            let done = self.of(Stage::Baseline, 1).len();
            if done < commands {
                return run(Stage::Baseline, done, 1);
            }
            match self.compared.iter().find(|(stage, ..)| *stage == after) {
                None => return Step::CompareSource { after },
                Some((.., changed)) if !changed.paths.is_empty() => {
                    let named: Vec<_> =
                        changed.paths.iter().take(3).map(|(path, _)| format!("`{path}`")).collect();
                    let all = changed.paths.len() as u64 + changed.left_out;
                    let more = all - named.len() as u64;
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    let what = if after == Stage::Setup { "preparation" } else { "the baseline" };
                    return Step::held(Hold::Source, &format!("{what} changed {}{more}", named.join(", ")));
                }
                Some(_) => {}
            }
        }
        Step::READY
    }

    /// What is left to be done for the tools. Only a preparation may do the set-up again for them.
    fn next_of_tools(&self) -> Option<Step> {
        let round = self.round();
        let tools = self.of(Stage::Tools, round);
        if let Some(failed) = tools.iter().find(|done| !done.result.passed()) {
            let words = format!("a tool does not work: {}", failed.words());
            let may_retry = self.retried.is_none() && self.purpose == Purpose::Prepare {};
            return Some(if may_retry {
                Step::Retry { reason: fitting(&words).unwrap_or_default() }
            } else {
                Step::held(Hold::Tools, &words)
            });
        }
        (tools.len() < self.tools.len()).then(|| run(Stage::Tools, tools.len(), round))
    }

    /// All commands are run, also when one fails: what is not run cannot be compared.
    fn next_of_check(&self) -> Step {
        let done = self.of(Stage::Final, 1).len();
        if self.comparisons.len() < done {
            let index = u32::try_from(self.comparisons.len()).unwrap_or(u32::MAX);
            return Step::CompareResult { index };
        }
        if done < self.baseline.len() {
            return run(Stage::Final, done, 1);
        }
        Step::End { end: End::Checked, reason: None }
    }

    pub(super) fn check_order(&self, event: &Event) -> Result<(), Refusal> {
        let next = self.next();
        let fits = match (event, &next) {
            (Event::SourceResolved { .. }, Step::Nothing) => self.waits_for_a_person(),
            (Event::Ended { end: End::Held(Hold::Cancelled), .. }, next) => {
                !matches!(next, Step::Nothing | Step::Start)
            }
            (Event::SetupReused { .. }, Step::Run { stage: Stage::Setup, index: 0, round: 1 }) => {
                self.reused.is_none()
            }
            (Event::CommandEnded { stage, index, round, .. }, Step::Run { stage: s, index: i, round: r }) => {
                (stage, index, round) == (s, i, r)
            }
            // The rerun of a final result.
            (
                Event::CommandEnded { stage: Stage::Final, index, round: 2, .. },
                Step::CompareResult { index: next },
            ) => index == next && !self.done.iter().any(|done| done.round == 2 && done.index == *index),
            (Event::Started {}, Step::Start) | (Event::SetupRetried { .. }, Step::Retry { .. }) => true,
            (Event::SourceCompared { after, .. }, Step::CompareSource { after: next }) => after == next,
            (Event::ResultCompared { index, .. }, Step::CompareResult { index: next }) => index == next,
            (Event::Ended { end, .. }, Step::End { end: next, .. }) => end == next,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(Refusal::OutOfOrder { event: event.name(), expected: next.to_string() })
    }

    /// The receipt's id.
    #[must_use]
    pub const fn id(&self) -> &StreamId {
        &self.id
    }

    /// The commands that ended, in order.
    #[must_use]
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// How final results compare with the baseline, in its order.
    #[must_use]
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// With what it ended, and why if it is held; none while it is open, and for good when its process is gone.
    #[must_use]
    pub fn end(&self) -> Option<(End, Option<&str>)> {
        self.end.as_ref().map(|(end, reason)| (*end, reason.as_deref()))
    }

    /// Whether preparation changed the source, and nobody has said what becomes of that.
    #[must_use]
    pub fn waits_for_a_person(&self) -> bool {
        matches!(self.end, Some((End::Held(Hold::Source), _))) && self.resolved.is_none()
    }

    /// What became of a source that preparation changed.
    #[must_use]
    pub const fn resolved(&self) -> Option<Resolution> {
        self.resolved
    }

    /// How the source differed, by the stage after which it was looked at.
    pub fn changes(&self) -> impl Iterator<Item = (Stage, &Difference)> {
        self.compared.iter().map(|(after, _, changed)| (*after, changed))
    }

    /// The source as it was found last.
    #[must_use]
    pub fn source_after(&self) -> Option<Snapshot> {
        self.compared.last().map(|(_, source, _)| *source)
    }

    /// The result of a command of the baseline.
    #[must_use]
    pub fn baseline(&self, index: u32) -> Option<&CommandResult> {
        self.of(Stage::Baseline, 1).into_iter().find(|done| done.index == index).map(|done| &done.result)
    }

    /// Whether it is what the last set-up of its project was: one that ran, or may have been running when its process was
    /// gone.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        let interrupted =
            self.end.is_none() && self.started && self.reused.is_none() && !self.setup.is_empty();
        let ran = self.done.iter().any(|done| done.stage == Stage::Setup);
        self.purpose == Purpose::Prepare {} && (ran || interrupted)
    }

    /// Whether a later preparation with this key may do without its set-up: it ended well, and nothing was changed by it.
    #[must_use]
    pub fn is_reusable_for(&self, key: &Digest) -> bool {
        self.is_set_up() && self.key == *key && matches!(self.end, Some((End::Ready, _)))
    }

    /// In which round set-up and tools are.
    fn round(&self) -> u32 {
        1 + u32::from(self.retried.is_some())
    }

    fn of(&self, stage: Stage, round: u32) -> Vec<&Done> {
        self.done.iter().filter(|done| done.stage == stage && done.round == round).collect()
    }
}

impl Done {
    /// How it ended, in words.
    fn words(&self) -> String {
        let CommandResult { name, outcome, error, .. } = &self.result;
        let error = error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
        format!("`{name}` {}{error}", outcome.as_str().replace('_', " "))
    }
}

fn run(stage: Stage, index: usize, round: u32) -> Step {
    Step::Run { stage, index: u32::try_from(index).unwrap_or(u32::MAX), round }
}

fn of(commands: &[Command]) -> Vec<String> {
    commands.iter().map(|command| command.name.clone()).collect()
}
