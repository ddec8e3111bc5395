//! The controller of a review: it looks at the source, runs the checks, and records what came of them.
//!
//! What is decided is decided in `harn_review`; here is what touches files, processes and Git.

mod check;
mod error;
mod source;

use std::path::Path;

use harn_env::command::{Cancel, Environment};
use harn_env::fingerprint::Fingerprint;
use harn_env::redact::Redactor;
use harn_ledger::{BlobRef, Decider as _, Ledger, Stream, StreamId, Timestamp};
use harn_review::check::{Check, CheckResult, Scope};
use harn_review::event::Event;
use harn_review::{Base, Command, FindingId, Gate, Intent, Outside, Plan, Published, Review, State};
use harn_review::{brief, import, sarif};
use harn_workflow::WorkLedger;
use serde_json::Value;

use crate::git::Git;

pub use error::ReviewError;
pub use source::Looked;

/// What a controller works with.
#[derive(Clone, Copy)]
pub struct Controller<'a> {
    /// Where everything is recorded.
    pub works: &'a WorkLedger,
    /// The project.
    pub root: &'a Path,
    /// The environment of checks, of Git and of the writer.
    pub environment: &'a Environment,
    /// Masks secrets in what checks print.
    pub redactor: &'a Redactor,
    /// Stops what runs.
    pub cancel: &'a Cancel,
    /// Who acts.
    pub actor: &'a str,
}

impl std::fmt::Debug for Controller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller")
            .field("root", &self.root)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// What a review is opened with.
#[derive(Debug, Clone)]
pub struct Open {
    /// Its id.
    pub id: StreamId,
    /// What was asked for.
    pub request: String,
    /// The plan.
    pub plan: Plan,
    /// The branch that the work is to be merged into; where there is a repository, the branch of the remote that it has as its
    /// own, or the branch that is checked out.
    pub base: Option<String>,
    /// The remote that has that branch, if there is one.
    pub remote: Option<String>,
    /// The work item that needs it.
    pub work_item: Option<StreamId>,
    /// Every changed file has to be read.
    pub require_coverage: bool,
    /// When.
    pub now: Timestamp,
}

/// A turn that was begun.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The review after it.
    pub state: State,
    /// What the reviewer is given.
    pub brief: Value,
}

/// What became of a report.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// The review after it.
    pub state: State,
    /// What was recorded; none when it answered no turn that is waited for.
    pub event: Option<Event>,
}

impl Controller<'_> {
    fn ledger(&self) -> &Ledger {
        self.works.ledger()
    }

    pub(crate) fn git(&self) -> Git<'_> {
        Git::new(self.root, self.environment, self.cancel)
    }

    /// The review with this id.
    pub fn stream(&self, id: &StreamId) -> Result<Stream<Review>, ReviewError> {
        Ok(self.ledger().stream::<Review>(id.as_str())?)
    }

    /// Opens a review.
    pub fn open(&self, open: Open) -> Result<Stream<Review>, ReviewError> {
        let base = self.base(open.base.as_deref(), open.remote.as_deref())?;
        let intent = Intent {
            schema_version: 1,
            id: open.id,
            request: open.request.trim().to_owned(),
            root: self.root.to_string_lossy().into_owned(),
            base,
            plan: open.plan,
            work_item: open.work_item,
            require_coverage: open.require_coverage,
            created_at: open.now,
        };
        intent.check()?;
        let id = intent.id.clone();
        let first =
            Review::decide(&Review::init(&intent), Command::Open {}, &()).map_err(ReviewError::Refused)?;
        Ok(self.ledger().create::<Review>(id.as_str(), self.actor, &intent, &first)?)
    }

    /// Where the branch is that the work is to be merged into.
    fn base(&self, branch: Option<&str>, remote: Option<&str>) -> Result<Option<Base>, ReviewError> {
        if !self.root.join(".git").exists() {
            return match branch {
                Some(_) => Err(ReviewError::NoRepository { root: self.root.to_owned() }),
                None => Ok(None),
            };
        }
        let git = self.git();
        if branch.is_none() && !git.says(&["rev-parse", "--verify", "--quiet", "HEAD"])? {
            // Before the first commit there is nothing to be merged into.
            return Ok(None);
        }
        let branch = match (branch, remote) {
            (Some(branch), _) => branch.to_owned(),
            (None, Some(remote)) => default_branch(&git, remote)?,
            (None, None) => {
                let name = git.line(&["rev-parse", "--abbrev-ref", "HEAD"])?;
                if name == "HEAD" {
                    return Err(ReviewError::NoBase { what: "no branch is checked out".to_owned() });
                }
                name
            }
        };
        let commit = match remote {
            Some(remote) => git.remote_branch(remote, &branch)?,
            None => git
                .line(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}^{{commit}}")])
                .ok(),
        };
        let Some(commit) = commit else {
            let on = remote.map_or(String::new(), |remote| format!(" on `{remote}`"));
            return Err(ReviewError::NoBase { what: format!("there is no branch `{branch}`{on}") });
        };
        let is_here = git.says(&["merge-base", "--is-ancestor", &commit, "HEAD"]).unwrap_or(false);
        if !is_here {
            return Err(ReviewError::BaseNotMerged { branch, commit });
        }
        Ok(Some(Base { remote: remote.map(str::to_owned), branch, commit }))
    }

    /// Asks a reviewer.
    pub fn begin(&self, review: &Stream<Review>, reviewer: Option<String>) -> Result<Begun, ReviewError> {
        let state = review.state()?;
        let looked = self.look(review, source::of_findings(&state))?;
        let manifest = self.ledger().blobs().put(&looked.fingerprint.to_bytes())?;
        let command = Command::Begin {
            fingerprint: looked.source.fingerprint,
            instructions: brief::instructions_digest(),
            manifest: Some(manifest),
            reviewer,
            queued: looked.source.queued.clone(),
        };
        let state = self.execute(review, command)?.0;
        let diff = self.diff(state.base(), &looked.fingerprint)?;
        let turn = state.live_turn().ok_or(ReviewError::NoTurn)?;
        let brief = brief::brief(&state, turn, &looked.source, diff.as_deref());
        Ok(Begun { state, brief })
    }

    /// Takes a report in.
    pub fn submit(&self, review: &Stream<Review>, bytes: Vec<u8>) -> Result<Submitted, ReviewError> {
        if bytes.len() > harn_review::bounds::REPORT {
            return Err(ReviewError::ReportTooLarge { bytes: bytes.len() });
        }
        let state = review.state()?;
        let named = source::of_report(&bytes);
        let looked = self.look(review, source::of_findings(&state).chain(named))?;
        let raw = self.ledger().blobs().put(&bytes)?;
        let (state, event) =
            self.execute(review, Command::Submit { bytes, raw, source: Box::new(looked.source) })?;
        Ok(Submitted { state, event })
    }

    /// Takes in what a static analyser wrote.
    pub fn import(&self, review: &Stream<Review>, bytes: &[u8]) -> Result<Submitted, ReviewError> {
        let state = review.state()?;
        let named = sarif::paths(bytes)?;
        let looked = self.look(review, source::of_findings(&state).chain(named))?;
        let imported: import::Imported = sarif::read(bytes, state.plan(), &looked.source)?;
        let raw = self.ledger().blobs().put(bytes)?;
        let command = Command::Import { imported, raw, source: Box::new(looked.source) };
        let (state, event) = self.execute(review, command)?;
        Ok(Submitted { state, event })
    }

    /// Starts a repair pass.
    pub fn begin_repair(&self, review: &Stream<Review>) -> Result<State, ReviewError> {
        let fingerprint = self.fingerprint()?.digest();
        Ok(self.execute(review, Command::BeginRepair { fingerprint })?.0)
    }

    /// Records that the task whose turn it is attempted its repairs.
    pub fn attempted(&self, review: &Stream<Review>, note: Option<String>) -> Result<State, ReviewError> {
        let state = review.state()?;
        let after = self.fingerprint()?.digest();
        let before = state.pass_under_way().map_or(after, |(pass, _)| pass.source);
        Ok(self.execute(review, Command::Attempted { before, after, note })?.0)
    }

    /// Gives a failed combined check back to its owner.
    pub fn begin_fix_check(&self, review: &Stream<Review>, name: String) -> Result<State, ReviewError> {
        let fingerprint = self.fingerprint()?.digest();
        Ok(self.execute(review, Command::BeginFixCheck { name, fingerprint })?.0)
    }

    /// Records that the owner is done with a failed check.
    pub fn end_fix_check(&self, review: &Stream<Review>, repaired: bool) -> Result<State, ReviewError> {
        let fingerprint = self.fingerprint()?.digest();
        Ok(self.execute(review, Command::EndFixCheck { repaired, fingerprint })?.0)
    }

    /// Runs every combined check on the present source. They always run all.
    pub fn run_combined(
        &self,
        review: &Stream<Review>,
        told: &mut dyn FnMut(&CheckResult),
    ) -> Result<Vec<CheckResult>, ReviewError> {
        let checks = review.state()?.plan().combined.clone();
        if checks.is_empty() {
            return Err(ReviewError::NoChecks { of: "the plan has no combined check".to_owned() });
        }
        self.run_all(review, &checks, &check::Owner::Combined, told)
    }

    /// Runs every check of a task on the present source.
    pub fn run_task(
        &self,
        review: &Stream<Review>,
        task: &str,
        told: &mut dyn FnMut(&CheckResult),
    ) -> Result<Vec<CheckResult>, ReviewError> {
        let state = review.state()?;
        let Some(planned) = state.plan().task(task) else {
            let known = state.plan().tasks.iter().map(|task| task.id.clone()).collect();
            return Err(ReviewError::Refused(harn_review::Refusal::UnknownTask {
                task: task.to_owned(),
                known,
            }));
        };
        if planned.checks.is_empty() {
            return Err(ReviewError::NoChecks { of: format!("the task `{task}` has no check") });
        }
        let checks = planned.checks.clone();
        self.run_all(review, &checks, &check::Owner::Task(task.to_owned()), told)
    }

    /// Runs the regression check of a finding: in the scope `baseline` before a repair was attempted, in the scope `final`
    /// after one.
    pub fn run_regression(
        &self,
        review: &Stream<Review>,
        id: FindingId,
        check: &Check,
    ) -> Result<CheckResult, ReviewError> {
        check.check().map_err(ReviewError::Check)?;
        let state = review.state()?;
        let finding =
            state.finding(id).ok_or(ReviewError::Refused(harn_review::Refusal::UnknownFinding { id }))?;
        let scope = if finding.was_attempted() { Scope::Final } else { Scope::Baseline };
        let owner = check::Owner::Finding(id, scope);
        let mut results = self.run_all(review, std::slice::from_ref(check), &owner, &mut |_| {})?;
        results.pop().ok_or(ReviewError::Stopped)
    }

    /// Runs checks one after the other and records each.
    fn run_all(
        &self,
        review: &Stream<Review>,
        checks: &[Check],
        owner: &check::Owner,
        told: &mut dyn FnMut(&CheckResult),
    ) -> Result<Vec<CheckResult>, ReviewError> {
        let mut results = Vec::new();
        for check in checks {
            if self.cancel.is_cancelled() {
                return Err(ReviewError::Stopped);
            }
            let result = self.run_check(check, owner)?;
            let (_, event) = self.execute(review, Command::RecordCheck { result: Box::new(result) })?;
            if let Some(Event::CheckRecorded { result }) = event {
                told(&result);
                results.push(*result);
            }
        }
        Ok(results)
    }

    /// Whether the present source may be published, and the source itself.
    pub fn gate(&self, review: &Stream<Review>, asked: Asked) -> Result<(Gate, Looked, State), ReviewError> {
        let state = review.state()?;
        let mut looked = self.look(review, source::of_findings(&state))?;
        if asked.ignore_queue {
            looked.source.queued.clear();
        }
        let base = self.base_now(&state)?;
        let remote = state.base().and_then(|base| base.remote.as_deref());
        let published = match (remote, state.published()) {
            (Some(remote), Some((publication, _))) => {
                Some(self.git().remote_branch(remote, &publication.branch)?)
            }
            _ => None,
        };
        let outside = Outside {
            source: &looked.source,
            base: base.as_deref(),
            request: None,
            published: match &published {
                None => Published::NotAsked,
                Some(None) => Published::Absent,
                Some(Some(commit)) => Published::At(commit),
            },
            require_coverage: asked.require_coverage,
        };
        let gate = harn_review::gate(&state, &outside);
        Ok((gate, looked, state))
    }

    /// Where the branch is now that the work is to be merged into.
    fn base_now(&self, state: &State) -> Result<Option<String>, ReviewError> {
        let Some(base) = state.base() else { return Ok(None) };
        let git = self.git();
        Ok(match &base.remote {
            Some(remote) => git.remote_branch(remote, &base.branch)?,
            None => git
                .line(&[
                    "rev-parse",
                    "--verify",
                    "--quiet",
                    &format!("refs/heads/{}^{{commit}}", base.branch),
                ])
                .ok(),
        })
    }

    /// Asks something of the review. What is returned is the review after it, and the event that was recorded, if one was.
    pub fn execute(
        &self,
        review: &Stream<Review>,
        command: Command,
    ) -> Result<(State, Option<Event>), ReviewError> {
        let committed = review.execute(self.actor, command)?;
        let event = committed.events.into_iter().next().map(|recorded| recorded.event);
        Ok((review.state()?, event))
    }

    /// Stores bytes beside the ledger.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<BlobRef, ReviewError> {
        Ok(self.ledger().blobs().put(bytes)?)
    }

    pub(crate) fn fingerprint(&self) -> Result<Fingerprint, ReviewError> {
        Ok(harn_env::fingerprint::take(self.root, &[])?)
    }
}

/// What is asked of the gate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Every changed file has to be read, also where the review does not say so.
    pub require_coverage: bool,
    /// What waits for the agents does not count: whoever asks disposes of it.
    pub ignore_queue: bool,
}

/// The branch that a remote has as its own.
fn default_branch(git: &Git<'_>, remote: &str) -> Result<String, ReviewError> {
    let answer = git.line(&["ls-remote", "--symref", "--", remote, "HEAD"])?;
    let name = answer.lines().find_map(|line| line.strip_prefix("ref: refs/heads/")?.split('\t').next());
    name.map(str::to_owned)
        .ok_or_else(|| ReviewError::NoBase { what: format!("`{remote}` has no branch of its own") })
}
