//! A script that catches up with its transcript: what it waits for comes from there.

use crate::script::Next;

use super::super::recorder::RunError;
use super::super::replay::{CallOf, Completion};
use super::{Driver, record};

impl Driver<'_> {
    /// The next end of a call that is on record, for a script that catches up.
    pub(super) fn replayed(&mut self) -> Result<Option<Next>, RunError> {
        let Some(Completion { of, recorded }) = self.recorder.completion()? else { return Ok(None) };
        let Some(place) = self.waiting.iter().position(|job| job.work.call_of() == of) else {
            let (seq, recorded) = (Some(recorded.seq), recorded.event.name());
            return Err(RunError::Diverged { seq, recorded, found: "a wait for other calls" });
        };
        let call = self.waiting.remove(place).expect("it was just found").call;
        let at_ms = recorded.ts.as_milliseconds();
        let outcome = record::recorded(recorded.event, self.recorder.blobs())?;
        Ok(Some(Next::Completed { call, at_ms, outcome }))
    }

    /// Gives up catching up: the run is stopped. Calls that are over by the transcript are not ended again.
    pub(super) fn leave_replay(&mut self) -> Result<(), RunError> {
        self.recorder.leave_replay();
        let state = self.recorder.state()?;
        self.waiting.retain(|job| match job.work.call_of() {
            CallOf::Agent(id) => state.open_agents().contains_key(&id),
            CallOf::Check(id) => state.open_checks().contains_key(&id),
        });
        Ok(())
    }
}
