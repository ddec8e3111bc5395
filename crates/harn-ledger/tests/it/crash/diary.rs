//! A domain whose lines are a page long at most, so that one lost page can take the end of one line and the start of
//! the next.

use std::convert::Infallible;

use harn_ledger::{BlobRef, Decider, Limits, Recorded};
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub(crate) struct Diary;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Title {
    pub(crate) title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum DiaryEvent {
    #[serde(rename = "wrote")]
    Wrote { text: String },
    #[serde(rename = "filed")]
    Filed { paper: BlobRef },
}

impl Decider for Diary {
    const KIND: &'static str = "diary";
    const LIMITS: Limits = Limits { intent_bytes: 200, line_bytes: 5000, events: 100, log_bytes: 200_000 };
    type Intent = Title;
    type Event = DiaryEvent;
    /// What was written, in order.
    type State = Vec<DiaryEvent>;
    type Command = Infallible;
    type Facts = ();
    type Refusal = Infallible;

    fn init(_: &Title) -> Vec<DiaryEvent> {
        Vec::new()
    }

    fn decide(_: &Vec<DiaryEvent>, command: Infallible, (): &()) -> Result<Vec<DiaryEvent>, Infallible> {
        match command {}
    }

    fn evolve(state: &mut Vec<DiaryEvent>, recorded: &Recorded<DiaryEvent>) {
        state.push(recorded.event.clone());
    }
}
