//! The environment of an attempt: its receipts are made here, and told to the run in the run's own words.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use harn_env::command::Environment;
use harn_env::compare;
use harn_env::prepare::{self, PrepareError, Progress, Request};
use harn_env::receipt::{self, CommandResult, End, Owner, Receipt, Stage};
use harn_env::recipe::Chosen;
use harn_env::redact::Redactor;
use harn_ledger::{ReadError, Stream, StreamId};
use harn_workflow::WorkLedger;
use harn_workflow::run::{
    BaselineResult, CommandName, Compared, FinalCheck, Hold, Line, Preparation, Reason, ReceiptHead,
    TESTS_MAX, Verdict,
};

use super::AttemptError;
use crate::adapter::{ChildIdentity, agent_environment};
use crate::run::{Prepared, Stopper, Surroundings, check_outcome};

/// What the commands of a recipe are called among the children of a run.
const CHILD: &str = "env";

/// What is to be done about the environment of an attempt.
pub struct EnvironmentRequest<'a> {
    /// The project: an absolute path.
    pub root: &'a Path,
    /// Do without a preparation; where there is a recipe the proof says so.
    pub skip: bool,
    /// What is stated of this machine: one line of up to 200 characters; what [`prepare::sandbox_version`] says if this is none.
    pub sandbox: Option<&'a str>,
    /// Is told what happens.
    pub progress: &'a mut dyn FnMut(Progress<'_>),
}

/// The recipe that governs, and what is to be done about it.
pub(super) struct Governed<'a> {
    request: EnvironmentRequest<'a>,
    recipe: Chosen,
}

/// The attempt whose environment it is.
pub(super) struct Of<'a> {
    pub(super) works: &'a WorkLedger,
    pub(super) actor: &'a str,
    pub(super) owner: Owner,
    pub(super) run_id: &'a StreamId,
    pub(super) variables: &'a BTreeMap<OsString, OsString>,
    pub(super) subscription_only: bool,
    pub(super) stopper: &'a Stopper,
}

/// Makes the receipts of one attempt.
pub(super) struct Receipts<'a, 'g> {
    governed: &'g mut Governed<'a>,
    of: Of<'g>,
}

impl<'a> Governed<'a> {
    /// Reads the recipe. One that is none is refused before anything is recorded.
    pub(super) fn new(request: EnvironmentRequest<'a>) -> Result<Self, AttemptError> {
        let recipe = prepare::recipe_of(request.root, None).map_err(AttemptError::Environment)?;
        Ok(Self { request, recipe })
    }

    /// Refuses an attempt whose preparation would be refused.
    pub(super) fn check(&self, works: &WorkLedger) -> Result<(), AttemptError> {
        match self.recipe {
            Chosen::Recipe { .. } if !self.request.skip => {
                prepare::check_resolved(works.ledger(), self.request.root).map_err(AttemptError::Environment)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn receipts<'g>(&'g mut self, of: Of<'g>) -> Receipts<'a, 'g> {
        Receipts { governed: self, of }
    }
}

impl Receipts<'_, '_> {
    /// Sees whether the tools of a preparation still work, before an attempt goes on.
    pub(super) fn check_tools(&mut self, receipt: &StreamId) -> Result<(), AttemptError> {
        if self.governed.request.skip {
            return Ok(());
        }
        let checked = self.make(|request| prepare::check_tools(request, receipt));
        let summary = checked.map_err(AttemptError::Environment)?.state().map(|state| state.summary());
        let summary = summary.map_err(|error| AttemptError::Environment(error.into()))?;
        match summary.reason {
            Some(reason) => Err(AttemptError::EnvironmentHeld { receipt: summary.id, reason }),
            None => Ok(()),
        }
    }

    fn make(
        &mut self,
        work: impl FnOnce(Request<'_>) -> Result<Stream<Receipt>, PrepareError>,
    ) -> Result<Stream<Receipt>, PrepareError> {
        let Of { works, actor, owner, run_id, variables, subscription_only, stopper } = &self.of;
        let identity = ChildIdentity { run_id: run_id.as_str(), child_id: CHILD };
        let environment = agent_environment(variables, *subscription_only, &identity);
        let EnvironmentRequest { root, sandbox, progress, .. } = &mut self.governed.request;
        let sandbox = sandbox.map_or_else(prepare::sandbox_version, str::to_owned);
        work(Request {
            ledger: works.ledger(),
            root,
            recipe: &self.governed.recipe,
            sandbox: &sandbox,
            environment: &environment,
            home: &prepare::home(home(&environment).map(Path::new)),
            redactor: &redactor(variables),
            cancel: stopper.environment(),
            owner: Some(owner.clone()),
            actor,
            id: works.new_id("env"),
            now: &|| works.now(),
            progress: &mut **progress,
        })
    }
}

impl Surroundings for Receipts<'_, '_> {
    fn prepare(&mut self) -> Prepared {
        match (&self.governed.recipe, self.governed.request.skip) {
            (Chosen::None, _) => return Prepared::NoRecipe,
            (Chosen::Recipe { .. }, true) => return Prepared::Skipped,
            (Chosen::Recipe { .. }, false) => {}
        }
        match self.make(prepare::prepare).and_then(|made| Ok(preparation(&made)?)) {
            Ok(preparation) => Prepared::Receipt(Box::new(preparation)),
            Err(error) => Prepared::Failed(in_words(&error)),
        }
    }

    fn check(&mut self, receipt: &StreamId) -> Result<FinalCheck, String> {
        let made = self.make(|request| prepare::check(request, receipt));
        made.and_then(|made| Ok(final_check(&made)?)).map_err(|error| in_words(&error))
    }
}

/// Masks the values of the variables that look like secrets.
#[must_use]
pub fn redactor(variables: &BTreeMap<OsString, OsString>) -> Redactor {
    let secrets = variables.iter().filter(|(name, _)| Redactor::is_secret_name(&name.to_string_lossy()));
    Redactor::new().with_values(secrets.map(|(_, value)| value.to_string_lossy().into_owned().into_bytes()))
}

fn home(environment: &Environment) -> Option<&OsString> {
    match environment {
        Environment::Exact(variables) => variables.get(OsStr::new("HOME")),
        Environment::Inherit { .. } => None,
    }
}

/// An error with its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        source = cause.source();
    }
    words
}

fn head(receipt: &Stream<Receipt>) -> Result<ReceiptHead, ReadError> {
    Ok(ReceiptHead { id: receipt.id().clone(), hash: receipt.head()?.hash })
}

fn preparation(made: &Stream<Receipt>) -> Result<Preparation, ReadError> {
    let state = made.state()?;
    let summary = state.summary();
    let hold = match state.end() {
        Some((End::Held(hold), _)) => Some(match hold {
            receipt::Hold::Setup => Hold::Setup,
            receipt::Hold::Tools => Hold::Tools,
            receipt::Hold::Source => Hold::Source,
            receipt::Hold::Cancelled => Hold::Cancelled,
        }),
        _ => None,
    };
    let baseline = state.done().iter().filter(|done| done.stage == Stage::Baseline);
    Ok(Preparation {
        receipt: head(made)?,
        hold,
        reason: summary.reason.as_deref().and_then(Reason::clip),
        reused_from: summary.reused_from,
        retried: summary.retry > 0,
        baseline: baseline.map(|done| result(&done.result)).collect(),
    })
}

fn final_check(made: &Stream<Receipt>) -> Result<FinalCheck, ReadError> {
    let state = made.state()?;
    let results = state.done().iter().filter(|done| done.stage == Stage::Final && done.round == 1);
    let comparisons = results.zip(state.comparisons());
    Ok(FinalCheck {
        receipt: head(made)?,
        comparisons: comparisons.map(|(done, comparison)| compared(&done.result.name, comparison)).collect(),
    })
}

fn result(result: &CommandResult) -> BaselineResult {
    BaselineResult { name: name(&result.name), outcome: check_outcome(result.outcome) }
}

fn name(name: &str) -> CommandName {
    CommandName::clip(name).expect("the name of a command is not blank")
}

fn compared(command: &str, comparison: &compare::Comparison) -> Compared {
    let broken = comparison.broken.iter().filter_map(|test| Line::clip(test)).take(TESTS_MAX);
    Compared {
        name: name(command),
        verdict: verdict(comparison.verdict),
        broken: broken.collect(),
        broken_total: u32::try_from(comparison.broken.len()).unwrap_or(u32::MAX),
    }
}

const fn verdict(verdict: compare::Verdict) -> Verdict {
    match verdict {
        compare::Verdict::Holds => Verdict::Holds,
        compare::Verdict::Regression => Verdict::Regression,
        compare::Verdict::SuspectedRegression => Verdict::SuspectedRegression,
        compare::Verdict::Repaired => Verdict::Repaired,
        compare::Verdict::PreExisting => Verdict::PreExisting,
        compare::Verdict::Changed => Verdict::Changed,
        compare::Verdict::EnvironmentLost => Verdict::EnvironmentLost,
        compare::Verdict::EnvironmentGap => Verdict::EnvironmentGap,
        compare::Verdict::NewPass => Verdict::NewPass,
        compare::Verdict::NewFail => Verdict::NewFail,
        compare::Verdict::Inconclusive => Verdict::Inconclusive,
        compare::Verdict::Unknown => Verdict::Unknown,
        compare::Verdict::Flaky => Verdict::Flaky,
    }
}
