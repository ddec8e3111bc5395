//! Records what happens in a run, one event at a time, and remembers when the last one happened.

use std::io;

use harn_ledger::{AppendError, BlobError, Blobs, ExecuteError, ReadError, Recorded, Stream, Timestamp};
use harn_workflow::run::{Captured, Command, Event, Refusal, Run, State};

use super::replay::{Completion, Replay};

/// Why a run could not be recorded any further. Children are stopped, and the transcript ends where it could.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The transcript could not be written.
    #[error(transparent)]
    Append(AppendError),
    /// The transcript could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Evidence could not be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// What a child printed could not be stored, so nothing can be said about it.
    #[error("the output of a child could not be stored")]
    Output(#[source] io::Error),
    /// An event would have contradicted the transcript.
    #[error("the transcript refuses an event")]
    Refused(#[source] Refusal),
    /// A run that goes on did not do again what it had done.
    #[error("the run cannot go on: its transcript has `{recorded}`{} where the script now comes to `{found}`", at(*seq))]
    Diverged {
        /// The number of the recorded event, if one was left.
        seq: Option<u64>,
        /// What was recorded.
        recorded: &'static str,
        /// What the script does now.
        found: &'static str,
    },
}

fn at(seq: Option<u64>) -> String {
    seq.map(|seq| format!(" as event {seq}")).unwrap_or_default()
}

impl RunError {
    /// A stable name for the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Append(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Output(error) => output_code(error),
            Self::Refused(refusal) => refusal.code(),
            Self::Diverged { .. } => "replay_diverged",
        }
    }

    /// What to do next, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Append(error) => error.hint(),
            Self::Read(error) => error.hint(),
            Self::Blob(error) => error.hint(),
            Self::Output(_) => None,
            Self::Refused(refusal) => refusal.hint(),
            Self::Diverged { .. } => Some("`harn work retry` starts a new attempt".to_owned()),
        }
    }

    /// Whether the transcript holds as much as it may.
    pub(super) const fn is_full(&self) -> bool {
        matches!(self, Self::Append(AppendError::LimitReached { .. }))
    }
}

/// The same names that a blob's own failures have.
fn output_code(error: &io::Error) -> &'static str {
    let blob = error.get_ref().and_then(|inner| inner.downcast_ref::<BlobError>());
    match (blob, error.kind()) {
        (Some(blob), _) => blob.code(),
        (None, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => "storage_full",
        (None, _) => "blob_failed",
    }
}

impl From<ExecuteError<Refusal>> for RunError {
    fn from(error: ExecuteError<Refusal>) -> Self {
        match error {
            ExecuteError::Refused(refusal) => Self::Refused(refusal),
            ExecuteError::Facts(error) => Self::Read(error),
            ExecuteError::Append(error) => Self::Append(error),
        }
    }
}

/// Who is told of every event as it is recorded.
pub(super) type Observer<'a> = &'a mut dyn FnMut(&Recorded<Event>);

/// The pen of a run.
pub(super) struct Recorder<'a> {
    stream: &'a Stream<Run>,
    blobs: Blobs,
    actor: &'a str,
    observer: Observer<'a>,
    last: Timestamp,
    /// What the script has yet to do again, in a run that goes on.
    replay: Option<Replay>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(stream: &'a Stream<Run>, blobs: Blobs, actor: &'a str, observer: Observer<'a>) -> Self {
        let last = stream.intent().parts().started_at;
        Self { stream, blobs, actor, observer, last, replay: None }
    }

    /// The same for a run that goes on: what is recorded already is compared instead of being recorded again.
    pub(super) fn replaying(self, replay: Replay) -> Self {
        Self { replay: Some(replay), ..self }
    }

    /// Whether the script has yet to catch up with the transcript.
    pub(super) fn is_replaying(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| !replay.is_over())
    }

    /// What the script has yet to do again.
    fn replay(&mut self) -> Option<&mut Replay> {
        self.replay.as_mut().filter(|replay| !replay.is_over())
    }

    /// The script does not catch up any more: what stands in the transcript stands.
    pub(super) fn leave_replay(&mut self) {
        self.replay = None;
    }

    /// The recorded end of a call that the script is told of next, as long as there is one.
    pub(super) fn completion(&mut self) -> Result<Option<Completion>, RunError> {
        let Some(replay) = self.replay() else { return Ok(None) };
        let completion = replay.completion()?;
        if let Some(completion) = &completion {
            self.last = completion.recorded.ts;
        }
        Ok(completion)
    }

    /// The script is over, so it must have caught up.
    pub(super) fn finish_replay(&mut self) -> Result<(), RunError> {
        self.replay().map_or(Ok(()), |replay| Err(replay.diverged("its end")))
    }

    /// Records one event.
    pub(super) fn event(&mut self, event: Event) -> Result<(), RunError> {
        if let Some(replay) = self.replay() {
            self.last = replay.again(event)?.ts;
            return Ok(());
        }
        self.events(vec![event])
    }

    /// Records several events in one batch, none without the others.
    pub(super) fn events(&mut self, events: Vec<Event>) -> Result<(), RunError> {
        self.command(Command::Record(events))
    }

    /// Records what a command adds.
    pub(super) fn command(&mut self, command: Command) -> Result<(), RunError> {
        let committed = self.stream.execute(self.actor, command)?;
        for recorded in &committed.events {
            self.last = recorded.ts;
            (self.observer)(recorded);
        }
        Ok(())
    }

    /// Puts bytes into the form that an event holds, storing them if they must be a blob.
    pub(super) fn capture(&self, bytes: &[u8]) -> Result<Captured, RunError> {
        let captured = Captured::of(bytes);
        if captured.blob().is_some() {
            self.blobs.put(bytes)?;
        }
        Ok(captured)
    }

    /// Where the run stands.
    pub(super) fn state(&self) -> Result<State, RunError> {
        match &self.replay {
            Some(replay) if !replay.is_over() => Ok(replay.state().clone()),
            _ => Ok(self.stream.state()?),
        }
    }

    /// When the last event was recorded: script time.
    pub(super) fn last_ms(&self) -> i64 {
        self.last.as_milliseconds()
    }

    pub(super) const fn blobs(&self) -> &Blobs {
        &self.blobs
    }
}
