//! A work item in memory: commands are decided, what they give goes through JSON as on disk, and is folded.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use harn_ledger::{Actor, BlobRef, Decider, Digest, Recorded, StreamId, Timestamp};
use harn_workflow::work::{
    Accept, Caller, Class, Command, Disposition, End, Event, Facts, Intent, NewItem, Observed, Outcome,
    Projection, Refusal, Reopen, ReviewFact, Role, RunShows, ScriptFile, State, Trigger, Work, Workflow,
};

pub(crate) fn id(text: &str) -> StreamId {
    text.parse().unwrap()
}

pub(crate) fn actor(text: &str) -> Actor {
    text.parse().unwrap()
}

/// Noon of a day, and seconds after it.
pub(crate) fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2026-07-22T12:00:00.000000Z".parse().unwrap();
    Timestamp::from_microseconds(noon.as_microseconds() + seconds * 1_000_000)
}

pub(crate) fn proof(number: u32) -> BlobRef {
    BlobRef::of(format!("proof {number}").as_bytes())
}

pub(crate) fn new_item() -> NewItem {
    let script = ScriptFile::of("/project/release.mjs", b"export default async () => {}");
    NewItem::new("Release the package", "Publish a verified package release", Workflow::of(script))
}

pub(crate) fn failed(class: Option<Class>, error: &str) -> End {
    let proof = BlobRef::of(b"failed");
    End::new(Outcome::Failed, class, Some(proof), Some(error), None).unwrap()
}

pub(crate) fn blocked_on(error: &str, decision: Option<&str>) -> End {
    let proof = BlobRef::of(b"failed");
    End::new(Outcome::Failed, Some(Class::Decision), Some(proof), Some(error), decision).unwrap()
}

/// One item and everything around it.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) intent: Intent,
    pub(crate) state: State,
    pub(crate) log: Vec<Recorded<Event>>,
    pub(crate) facts: Facts,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::of(new_item())
    }

    pub(crate) fn with_attempts(max_attempts: u32) -> Self {
        Self::of(NewItem { max_attempts, ..new_item() })
    }

    pub(crate) fn of(item: NewItem) -> Self {
        let intent = item.into_intent(id("w1"), at(0)).unwrap();
        let facts = Facts {
            observed: Observed::default(),
            caller: Caller { actor: actor("operator"), role: Role::Person },
            now: at(0),
            proof: None,
            unproven: None,
        };
        let mut desk = Self { state: Work::init(&intent), intent, log: Vec::new(), facts };
        desk.record(vec![Event::Created {}]);
        desk
    }

    /// Folds events as a ledger would, one second later.
    pub(crate) fn record(&mut self, events: Vec<Event>) {
        self.facts.now = Timestamp::from_microseconds(self.facts.now.as_microseconds() + 1_000_000);
        for event in events {
            let json = serde_json::to_string(&event).unwrap();
            assert!(!json.contains("null"), "{json}");
            let recorded = Recorded {
                seq: self.log.len() as u64 + 1,
                ts: self.facts.now,
                actor: self.facts.caller.actor.clone(),
                hash: Digest::of(json.as_bytes()),
                event: serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}")),
            };
            assert_eq!(recorded.event, event);
            Work::evolve(&mut self.state, &recorded);
            self.log.push(recorded);
        }
    }

    pub(crate) fn tries(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        let events = Work::decide(&self.state, command, &self.facts)?;
        self.record(events.clone());
        Ok(events)
    }

    /// Carries a command out and gives the names of what it wrote.
    pub(crate) fn does(&mut self, command: Command) -> Vec<String> {
        let shown = format!("{command:?}");
        let events = self.tries(command).unwrap_or_else(|refusal| panic!("{shown}: {refusal}"));
        events.iter().map(name).collect()
    }

    /// The code of the refusal.
    pub(crate) fn refuses(&self, command: Command) -> &'static str {
        self.refusal(command).code()
    }

    pub(crate) fn refusal(&self, command: Command) -> Refusal {
        let shown = format!("{command:?}");
        match Work::decide(&self.state, command, &self.facts) {
            Ok(events) => panic!("{shown} gives {events:?}"),
            Err(refusal) => refusal,
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.log.iter().map(|recorded| name(&recorded.event)).collect()
    }

    pub(crate) fn projection(&self) -> Projection {
        Projection::of(&self.state, &self.facts.observed)
    }

    /// State and next action.
    pub(crate) fn stands(&self) -> (String, String) {
        let projection = self.projection();
        (projection.state.to_string(), projection.next_action.to_string())
    }

    #[track_caller]
    pub(crate) fn assert_stands(&self, state: &str, next_action: &str) {
        assert_eq!(self.stands(), (state.to_owned(), next_action.to_owned()), "{}", self.projection().reason);
    }

    pub(crate) fn begins(&mut self, trigger: Trigger) -> StreamId {
        let run_id = id(&format!("wf-{}", self.state.attempts().len() + 1));
        self.does(Command::Begin { run_id: run_id.clone(), trigger });
        self.facts.observed.run = Some(RunShows::Open { worked: true });
        run_id
    }

    /// One whole attempt, first of its window or not as the state demands.
    pub(crate) fn attempts(&mut self, end: End) {
        let trigger = if self.stands().0 == "ready" { Trigger::Initial } else { Trigger::Retry };
        let run_id = self.begins(trigger);
        self.facts.proof = end.proof();
        self.facts.observed.run = Some(RunShows::Ended(end.clone()));
        self.does(Command::End { run_id, end });
        self.facts.observed.run = None;
    }

    /// An attempt that passes.
    pub(crate) fn passes(&mut self) {
        let number = u32::try_from(self.state.attempts().len()).unwrap() + 1;
        self.attempts(End::passed(proof(number)));
    }

    /// An attempt that was started and of which nothing is heard any more.
    pub(crate) fn loses(&mut self, shows: Option<RunShows>) {
        let trigger = if self.stands().0 == "ready" { Trigger::Initial } else { Trigger::Retry };
        self.begins(trigger);
        self.facts.observed.run = shows;
    }
}

pub(crate) fn name(event: &Event) -> String {
    let json = serde_json::to_value(event).unwrap();
    json.as_object().unwrap().keys().next().unwrap().clone()
}

pub(crate) fn begin(run_id: &str, trigger: Trigger) -> Command {
    Command::Begin { run_id: id(run_id), trigger }
}

pub(crate) fn retry() -> Command {
    begin("wf-new", Trigger::Retry)
}

pub(crate) fn run() -> Command {
    begin("wf-new", Trigger::Initial)
}

pub(crate) fn cancel() -> Command {
    Command::Cancel { reason: None }
}

pub(crate) fn reopen(findings: &[&str]) -> Command {
    Command::Reopen(reopening(findings))
}

pub(crate) fn reopening(findings: &[&str]) -> Reopen {
    Reopen { findings: findings.iter().map(|&it| it.to_owned()).collect(), ..Reopen::default() }
}

pub(crate) fn accept(dispositions: &[&str]) -> Command {
    Command::Accept(accepting(dispositions))
}

pub(crate) fn accepting(dispositions: &[&str]) -> Accept {
    let read = |text: &&str| -> Disposition { text.parse().unwrap() };
    Accept { dispositions: dispositions.iter().map(read).collect(), ..Accept::default() }
}

/// What a gate says that is open.
pub(crate) fn clean() -> ReviewFact {
    ReviewFact::Clean { review: id("rv-1"), turn: "t2".to_owned(), fingerprint: Digest::of(b"source") }
}

/// What a gate says that is closed.
pub(crate) fn closed(reasons: &[&str]) -> ReviewFact {
    let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
    ReviewFact::Closed { review: Some(id("rv-1")), reasons }
}
