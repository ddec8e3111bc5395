//! The two ends of an attempt: its start, which freezes what the script is told, and its end, which binds the proof.

use harn_ledger::{CreateError, Decider as _, ExecuteError, Stream, StreamId, Timestamp};

use super::observe::View;
use super::proof::{self, ProofError};
use super::{WorkError, WorkLedger};
use crate::context::{self, AttemptContext, ContextError, ContextFinding, Prior, WorkContext};
use crate::harnery;
use crate::run::{Event as RunEvent, Manifest, Proof, Run, prior_from};
use crate::work::{Attempt, Caller, Command, End, Intent, Refusal, State, Trigger, Work};

/// An attempt that was recorded and not yet begun to run.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The run that is the attempt.
    pub run_id: StreamId,
    /// When it was recorded.
    pub started_at: Timestamp,
    /// What the script is told about the work.
    pub work_context: WorkContext,
    /// What the script is told about the attempt.
    pub attempt_context: AttemptContext,
}

/// Why an attempt was not begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// It is not allowed, or could not be recorded.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// What the script would be told is not canonical.
    #[error(transparent)]
    Context(#[from] ContextError),
}

/// Why the end of an attempt was not recorded. The run's own stream still proves it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndError {
    /// There is no proof.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// It could not be recorded.
    #[error(transparent)]
    Work(#[from] WorkError),
}

impl BeginError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Work(error) => error.code(),
            Self::Context(error) => error.code(),
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Work(error) => error.hint(),
            Self::Context(error) => error.hint(),
        }
    }
}

impl EndError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Proof(error) => error.code(),
            Self::Work(error) => error.code(),
        }
    }
}

impl WorkLedger {
    /// Whether [`begin`](Self::begin) would be allowed now. Nothing is recorded, and no lease is needed.
    pub fn check_begin(&self, caller: &Caller, id: &StreamId, trigger: Trigger) -> Result<(), BeginError> {
        // No attempt has an item's id for its run, so the question is not about the run.
        Ok(self.check(caller, id, Command::Begin { run_id: id.clone(), trigger })?)
    }

    /// Whether [`resume`](Self::resume) would be allowed now. Nothing is recorded, and no lease is needed.
    pub fn check_resume(&self, caller: &Caller, id: &StreamId) -> Result<(), WorkError> {
        self.check(caller, id, Command::Resume)
    }

    fn check(&self, caller: &Caller, id: &StreamId, command: Command) -> Result<(), WorkError> {
        let stream = self.ledger.stream::<Work>(id.as_str())?;
        let decided = || -> Result<(), ExecuteError<Refusal>> {
            let state = stream.state()?;
            let facts = self.facts(&stream, &state, caller, View::Decision)?;
            Work::decide(&state, command, &facts).map(drop).map_err(ExecuteError::Refused)
        };
        Ok(decided()?)
    }

    /// Records the start of an attempt. The caller holds the item's lease, and no line of the script runs before this
    /// returns.
    pub fn begin(&self, caller: &Caller, id: &StreamId, trigger: Trigger) -> Result<Begun, BeginError> {
        let stream = self.ledger.stream::<Work>(id.as_str()).map_err(WorkError::from)?;
        let work_context = work_context(stream.intent())?;
        // Whether the script can be told about the attempt is known before the attempt is recorded.
        let state = || stream.state().map_err(|error| WorkError::from(ExecuteError::from(error)));
        let before = state()?;
        self.attempt_context(id, &before, before.attempts().len() + 1, trigger)?;
        let mut run_id = self.new_id("run");
        // An attempt that was cut off before its run existed has its id all the same.
        while before.attempt_of(&run_id).is_some() {
            run_id = self.new_id("run");
        }

        let command = Command::Begin { run_id: run_id.clone(), trigger };
        let committed = self.execute(&stream, caller, command)?;
        let started_at = committed.events.last().map_or_else(|| self.now(), |recorded| recorded.ts);
        // Somebody may have changed the findings at the last moment: what is told is what was recorded.
        let begun = state()?;
        let attempt_context = self.attempt_context(id, &begun, begun.attempts().len(), trigger)?;
        Ok(Begun { run_id, started_at, work_context, attempt_context })
    }

    /// Creates the stream of an attempt's run with its first event.
    pub fn create_run(&self, caller: &Caller, manifest: &Manifest) -> Result<Stream<Run>, CreateError> {
        let run_id = manifest.parts().run_id.as_str();
        self.ledger.create::<Run>(run_id, caller.actor.as_str(), manifest, &[RunEvent::RunStarted {}])
    }

    /// Records the end of an attempt whose run has ended. The proof is stored before it is cited, as for every command.
    pub fn end(&self, caller: &Caller, id: &StreamId, run: &Stream<Run>) -> Result<Proof, EndError> {
        let run_id = run.id().clone();
        let computed =
            proof::of(run).map_err(|error| ProofError::from(harn_ledger::StreamError::from(error)))?;
        let proof = computed.ok_or_else(|| ProofError::NotEnded { run_id: run_id.clone() })?;
        let stream = self.ledger.stream::<Work>(id.as_str()).map_err(WorkError::from)?;
        let command = Command::End { run_id: run_id.clone(), end: proof::end(&proof) };
        match self.execute(&stream, caller, command) {
            Ok(_) => Ok(proof),
            // Somebody who reconciled meanwhile recorded the same end.
            Err(WorkError::Execute(ExecuteError::Refused(Refusal::AlreadyEnded { .. })))
                if cites(&stream, &proof) =>
            {
                Ok(proof)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What the script is told about attempt `number`, the last one or the one that would follow.
    fn attempt_context(
        &self,
        id: &StreamId,
        state: &State,
        number: usize,
        trigger: Trigger,
    ) -> Result<AttemptContext, BeginError> {
        let (trigger, prior) = match trigger {
            Trigger::Initial => (context::Trigger::Initial, None),
            Trigger::Retry => {
                let before = &state.attempts()[..number - 1];
                (context::Trigger::Retry, before.last().map(|latest| self.prior(id, latest)))
            }
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let finding = |finding: &crate::work::OpenFinding| ContextFinding {
            id: finding.id.to_string(),
            actor: finding.actor.clone(),
            statement: finding.statement.clone(),
        };
        let findings = state.findings().open.iter().map(finding).collect();
        // A retry of an item without an attempt is refused when it is decided, in better words than these.
        let trigger = if prior.is_none() { context::Trigger::Initial } else { trigger };
        Ok(AttemptContext::new(number, trigger, prior, findings)?)
    }

    /// What a retry is told about the attempt before it: what its proof says, or that it is lost.
    fn prior(&self, id: &StreamId, latest: &Attempt) -> Prior {
        if latest.imported {
            let cited = latest.end.as_ref().and_then(End::proof);
            let proof = cited.and_then(|cited| self.blobs().get(&cited).ok());
            let prior = proof.and_then(|proof| harnery::prior_of(&latest.run_id, &proof));
            return prior.unwrap_or_else(|| Prior::lost(latest.run_id.clone()));
        }
        let proof = match latest.end.as_ref() {
            Some(end) => end.proof().and_then(|cited| self.stored_proof(&latest.run_id, &cited).ok()),
            None => self.proof_of_attempt(id, latest.number, &latest.run_id).ok(),
        };
        let prior = prior_from(&latest.run_id, proof.as_ref());
        prior.unwrap_or_else(|_| Prior::lost(latest.run_id.clone()))
    }
}

fn work_context(intent: &Intent) -> Result<WorkContext, ContextError> {
    WorkContext::new(intent.id.clone(), &intent.title, &intent.objective, &intent.acceptance)
}

/// Whether the item's last attempt ended with that proof.
fn cites(stream: &Stream<Work>, proof: &Proof) -> bool {
    let cited =
        |state: State| state.attempts().last().and_then(|latest| latest.end.as_ref()).and_then(End::proof);
    stream.state().ok().and_then(cited) == Some(proof.blob_ref())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use harn_ledger::disk::MemDisk;
    use harn_ledger::{Clock, CountingIds, FixedClock, Ledger};

    use super::super::{Draft, ScriptText};
    use super::*;
    use crate::work::{Reopen, Role};

    /// A clock that sends the item back with a finding when it is looked at for the second time.
    #[derive(Debug)]
    struct Interferes {
        others: WorkLedger,
        caller: Caller,
        id: StreamId,
        looks: Arc<AtomicU32>,
    }

    impl Clock for Interferes {
        fn now(&self) -> Timestamp {
            if self.looks.fetch_add(1, Ordering::SeqCst) == 1 {
                let reopen = Reopen { findings: vec!["It truncates".to_owned()], ..Reopen::default() };
                self.others.reopen(&self.caller, &self.id, reopen).unwrap();
            }
            Timestamp::UNIX_EPOCH
        }
    }

    #[test]
    fn a_finding_that_is_raised_at_the_last_moment_is_told() {
        let clock = FixedClock(Timestamp::UNIX_EPOCH);
        let ledger = Ledger::builder("/state").disk(MemDisk::new()).clock(clock).open().unwrap();
        let works = WorkLedger::new(ledger.clone(), clock, CountingIds::from_seed(1));
        let caller = Caller { actor: "ann".parse().unwrap(), role: Role::Person };
        let script = ScriptText { path: "/a.mjs".to_owned(), bytes: b"export default () => 1".to_vec() };
        let id = works.create(&caller, Draft::new("t", "o", script)).unwrap().intent().id.clone();
        works.cancel(&caller, &id, None).unwrap();
        works.reopen(&caller, &id, Reopen::default()).unwrap();

        let looks = Arc::default();
        let interferes =
            Interferes { others: works, caller: caller.clone(), id: id.clone(), looks: Arc::clone(&looks) };
        let works = WorkLedger::new(ledger, interferes, CountingIds::from_seed(2));
        let begun = works.begin(&caller, &id, Trigger::Initial).unwrap();
        assert!(looks.load(Ordering::SeqCst) > 2, "the command was not decided again");
        let told = serde_json::to_value(&begun.attempt_context).unwrap();
        assert_eq!(told["findings"][0]["statement"], "It truncates");
        assert_eq!(told["number"], 1);
    }
}
