//! Whatever comes of the commands, a receipt goes on in one order, and it ends.

mod form;
mod order;

use harn_env::command::{Exit, Outcome};
use harn_env::compare::{Comparison, Signature, Verdict};
use harn_env::fingerprint::{Change, Difference};
use harn_env::key::Key;
use harn_env::receipt::{
    CommandResult, End, Event, Hold, Intent, Output, Owner, Purpose, Receipt, Record, Refusal, Resolution,
    Saved, SavedFile, Snapshot, Stage, State, Step,
};
use harn_env::recipe::{Origin, Recipe};
use harn_ledger::disk::MemDisk;
use harn_ledger::{BlobRef, Decider as _, Digest, Ledger, Recorded, Stream, StreamId, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use order::expected;

/// More events than any receipt of a small recipe has.
const STEPS_MAX: usize = 40;

/// What a receipt goes through.
#[derive(Debug, Clone)]
struct Course {
    purpose: Purpose,
    /// How many commands set-up, tools and baseline have; none without a recipe.
    sizes: Option<[usize; 3]>,
    /// What comes of one command after the other, from the beginning again where there are more.
    results: Vec<CommandResult>,
    /// What changed after the set-up and after the baseline.
    changed: [Difference; 2],
    reuse: bool,
    rerun: bool,
    /// Which event the stop comes in place of; the first cannot be stopped.
    stop_at: Option<usize>,
}

fn id(text: &str) -> StreamId {
    StreamId::new(text).unwrap()
}

fn snapshot() -> Snapshot {
    Snapshot { digest: Digest::of(b"tree"), content: BlobRef::of(b"tree") }
}

fn intent(course: &Course) -> Intent {
    let recipe = course.sizes.map(|[setup, tools, baseline]| {
        let command = |at: usize| json!({ "name": format!("c{at}"), "argv": ["true"] });
        let commands = |count: usize| (0..count).map(command).collect::<Vec<_>>();
        let tool = |at: usize| json!({ "name": format!("t{at}"), "command": command(at) });
        let recipe = json!({
            "schema": "environment.v1",
            "setup": commands(setup),
            "tools": (0..tools).map(tool).collect::<Vec<_>>(),
            "baseline": commands(baseline),
        });
        Recipe::parse(recipe.to_string().as_bytes()).unwrap()
    });
    Intent {
        schema_version: 1,
        id: id("env-1"),
        purpose: course.purpose.clone(),
        root: "/project".to_owned(),
        origin: recipe.is_some().then_some(Origin::Plan),
        key: Key::new(recipe.as_ref().map(Recipe::digest), "sandbox", "home", Vec::new(), Vec::new())
            .unwrap(),
        recipe,
        source: snapshot(),
        saved: Saved {
            files: vec![SavedFile { path: "f".to_owned(), mode: 0o644, content: BlobRef::of(b"f") }],
            left_out: 2,
        },
        owner: Some(Owner { work_item: id("work-1"), attempt: Some(2) }),
        created_at: Timestamp::from_microseconds(1),
    }
}

fn any_result() -> impl Strategy<Value = CommandResult> {
    use Outcome::{CouldNotStart, Failed, MissingTool, NotRun, Passed, Stopped, Timeout};
    let bad = vec![Failed, MissingTool, Timeout, Stopped, NotRun, CouldNotStart];
    let outcome = prop_oneof![5 => Just(Passed), 1 => prop::sample::select(bad)];
    let error = prop::option::weighted(0.1, "[a-z`]([ -~\n]{0,20}[a-z])?");
    let exit = prop::option::of(prop_oneof![(0..256).prop_map(Exit::Code), (1..65).prop_map(Exit::Signal)]);
    let printed = || prop::option::of("\\PC{0,20}");
    (outcome, error, exit, 0..1_u64 << 50, 1..=180_u32, (printed(), printed())).prop_map(
        |(outcome, error, exit, duration_ms, limit_seconds, (stdout, stderr))| {
            let kept = |text: Option<&String>| {
                text.map(|text| Output {
                    content: BlobRef::of(text.as_bytes()),
                    bytes: text.len() as u64,
                    whole: text.len() % 2 == 0,
                    tail: text.clone(),
                })
            };
            let words = |text: &Option<String>| text.clone().unwrap_or_default();
            CommandResult {
                name: "command".to_owned(),
                outcome,
                exit,
                note: error.clone(),
                error,
                duration_ms,
                limit_seconds,
                stdout: kept(stdout.as_ref()),
                stderr: kept(stderr.as_ref()),
                signature: Signature::of(exit, &words(&stdout), &words(&stderr)),
            }
        },
    )
}

fn any_course() -> impl Strategy<Value = Course> {
    let other = || id("env-0");
    let purpose = prop_oneof![
        4 => Just(Purpose::Prepare {}),
        1 => Just(Purpose::Tools { receipt: other() }),
        2 => Just(Purpose::Check { receipt: other() }),
    ];
    let changed = || {
        let paths = prop::collection::vec("[a-z]{1,8}", 1..5);
        let changed = paths.prop_map(|paths| Difference {
            paths: paths.into_iter().map(|path| (path, Change::Content)).collect(),
            left_out: 0,
        });
        prop_oneof![4 => Just(Difference::default()), 1 => changed]
    };
    let sizes = prop::option::weighted(0.95, [0..4_usize, 0..4, 0..4]);
    let results = prop::collection::vec(any_result(), 1..24);
    let stop_at = prop::option::weighted(0.3, 1..19_usize);
    (purpose, sizes, results, [changed(), changed()], any::<(bool, bool)>(), stop_at).prop_map(
        |(purpose, sizes, results, changed, (reuse, rerun), stop_at)| Course {
            purpose,
            sizes,
            results,
            changed,
            reuse,
            rerun,
            stop_at,
        },
    )
}

fn label(event: &Event) -> String {
    match event {
        Event::Started {} => "started".to_owned(),
        Event::SetupReused { .. } => "reused".to_owned(),
        Event::CommandEnded { stage, index, round, .. } => format!("{stage} {index} {round}"),
        Event::SetupRetried { .. } => "retried".to_owned(),
        Event::SourceCompared { after, .. } => format!("source {after}"),
        Event::ResultCompared { index, .. } => format!("compared {index}"),
        Event::Ended { end, .. } => format!("{end:?}"),
        Event::SourceResolved { .. } => "resolved".to_owned(),
        other => panic!("{} is new", other.name()),
    }
}

fn compared(index: u32) -> Event {
    let (broken, mended) = (["a".to_owned()].into(), ["b".to_owned()].into());
    Event::ResultCompared { index, comparison: Comparison { verdict: Verdict::Changed, broken, mended } }
}

fn resolved(resolution: Resolution) -> Event {
    Event::SourceResolved { resolution, reason: "a person says so".to_owned() }
}

fn ended(end: End) -> Event {
    let reason = matches!(end, End::Held(_)).then(|| "why it is held".to_owned());
    Event::Ended { end, reason }
}

/// The event that a runner records for a step, or in place of it.
fn answer(course: &Course, before: &[Event], step: &Step) -> Event {
    if course.stop_at == Some(before.len()) {
        return ended(End::Held(Hold::Cancelled));
    }
    let ran = before.iter().filter(|event| matches!(event, Event::CommandEnded { .. })).count();
    let result = Box::new(course.results[ran % course.results.len()].clone());
    match step {
        Step::Run { stage: Stage::Setup, index: 0, round: 1 } if course.reuse => {
            Event::SetupReused { receipt: id("env-0") }
        }
        Step::Run { stage, index, round } => {
            Event::CommandEnded { stage: *stage, index: *index, round: *round, result }
        }
        Step::Retry { reason } => Event::SetupRetried { reason: reason.clone() },
        Step::CompareSource { after } => Event::SourceCompared {
            after: *after,
            source: snapshot(),
            changed: course.changed[usize::from(*after == Stage::Baseline)].clone(),
        },
        Step::CompareResult { index } => {
            let rerun = format!("final {index} 2");
            if course.rerun && !before.iter().any(|event| label(event) == rerun) {
                Event::CommandEnded { stage: Stage::Final, index: *index, round: 2, result }
            } else {
                compared(*index)
            }
        }
        Step::End { end, reason } => Event::Ended { end: *end, reason: reason.clone() },
        Step::Start => Event::Started {},
        Step::Nothing => panic!("nothing comes next"),
    }
}

/// One event of each kind, for every place in a small recipe and beyond it.
fn all_events(result: &CommandResult) -> Vec<Event> {
    let stages = [Stage::Setup, Stage::Tools, Stage::Baseline, Stage::Final];
    let holds = [Hold::Setup, Hold::Tools, Hold::Source, Hold::Cancelled];
    let mut events = vec![
        Event::Started {},
        Event::SetupReused { receipt: id("env-0") },
        Event::SetupRetried { reason: "a tool".to_owned() },
        resolved(Resolution::Keep),
        resolved(Resolution::Restore),
        ended(End::Ready),
        ended(End::Checked),
    ];
    events.extend(holds.map(|hold| ended(End::Held(hold))));
    events.extend((0..4).map(compared));
    for stage in stages {
        let changed = Difference::default();
        events.push(Event::SourceCompared { after: stage, source: snapshot(), changed });
        for (index, round) in (0..4).flat_map(|index| (1..4).map(move |round| (index, round))) {
            events.push(Event::CommandEnded { stage, index, round, result: Box::new(result.clone()) });
        }
    }
    events
}

/// The labels of all events that may come next.
fn may_follow(before: &[Event], step: &Step) -> Vec<String> {
    match step {
        // A source that was changed waits for a person, who says one thing once.
        Step::Nothing => {
            let waits = before.last().is_some_and(|event| label(event) == "Held(Source)");
            return if waits { vec!["resolved".to_owned()] } else { Vec::new() };
        }
        Step::Start => return vec!["started".to_owned()],
        _ => {}
    }
    let had = |label_of: &str| before.iter().any(|event| label(event) == label_of);
    let mut labels = vec!["Held(Cancelled)".to_owned()];
    match step {
        Step::Run { stage, index, round } => {
            labels.push(format!("{stage} {index} {round}"));
            if labels[1] == "setup 0 1" && !had("reused") {
                labels.push("reused".to_owned());
            }
        }
        Step::Retry { .. } => labels.push("retried".to_owned()),
        Step::CompareSource { after } => labels.push(format!("source {after}")),
        Step::CompareResult { index } => {
            labels.push(format!("compared {index}"));
            let rerun = format!("final {index} 2");
            if !had(&rerun) {
                labels.push(rerun);
            }
        }
        Step::End { end, .. } => labels.push(format!("{end:?}")),
        Step::Start | Step::Nothing => {}
    }
    labels
}

fn check_what_may_follow(
    state: &State,
    before: &[Event],
    result: &CommandResult,
) -> Result<(), TestCaseError> {
    let labels = may_follow(before, &state.next());
    for event in all_events(result) {
        let label = label(&event);
        let decided = Receipt::decide(state, Record(event.clone()), &());
        if labels.contains(&label) {
            prop_assert_eq!(decided, Ok(vec![event]));
        } else {
            let is_refused =
                matches!(&decided, Err(Refusal::OutOfOrder { event: name, .. }) if *name == event.name());
            prop_assert!(is_refused, "{} after {:?}: {:?}", label, before.last().map(self::label), decided);
        }
    }
    Ok(())
}

/// Goes through a course in a ledger, and gives what was recorded.
fn go_through(course: &Course, disk: &MemDisk) -> Result<(Stream<Receipt>, Vec<Event>), TestCaseError> {
    let ledger = Ledger::builder("/state").disk(disk.clone()).open().unwrap();
    let intent = intent(course);
    check_what_may_follow(&Receipt::init(&intent), &[], &course.results[0])?;
    let mut events = vec![Event::Started {}];
    let stream = ledger.create::<Receipt>("env-1", "tester", &intent, &events).unwrap();
    loop {
        let state = stream.state().unwrap();
        check_what_may_follow(&state, &events, &course.results[0])?;
        let step = state.next();
        if step == Step::Nothing {
            if course.reuse && state.waits_for_a_person() {
                let event = resolved(Resolution::Keep);
                stream.execute("person", Record(event.clone())).unwrap();
                events.push(event);
                check_what_may_follow(&stream.state().unwrap(), &events, &course.results[0])?;
            }
            return Ok((stream, events));
        }
        prop_assert!(events.len() < STEPS_MAX, "it does not end");
        let event = answer(course, &events, &step);
        stream.execute("tester", Record(event.clone())).unwrap();
        events.push(event);
    }
}

proptest! {
    /// Every receipt takes the order of the reference, nothing else is accepted in it, and it ends once.
    #[test]
    fn a_receipt_has_one_order_and_an_end(course in any_course()) {
        let disk = MemDisk::new();
        let (stream, events) = go_through(&course, &disk)?;
        let labels: Vec<String> = events.iter().map(label).filter(|label| label != "resolved").collect();
        prop_assert_eq!(&labels, &expected(&course));

        let state = stream.state().unwrap();
        let summary = state.summary();
        let retries = labels.iter().filter(|label| *label == "retried").count();
        prop_assert!(retries <= 1 && summary.retry as usize == retries);
        let ends: Vec<_> = events.iter().filter(|event| matches!(event, Event::Ended { .. })).collect();
        let [Event::Ended { end, reason }] = &ends[..] else { panic!("{ends:?}") };
        prop_assert_eq!(*end == End::Held(Hold::Source) && !course.reuse, state.waits_for_a_person());
        prop_assert_eq!(state.end(), Some((*end, reason.as_deref())));
        let (status, hold) = match end {
            End::Ready => ("ready", None),
            End::Checked => ("checked", None),
            End::Held(hold) => ("held", Some(hold.as_str())),
        };
        prop_assert_eq!((summary.status, summary.hold), (status, hold));
        let failed = |stage: Stage| state.done().iter().any(|done| done.stage == stage && !done.result.passed());
        let ran = |stage: Stage| state.done().iter().any(|done| done.stage == stage);
        if failed(Stage::Setup) {
            prop_assert!(matches!(end, End::Held(Hold::Setup | Hold::Cancelled)) && !ran(Stage::Baseline));
        }
        if matches!(end, End::Held(Hold::Setup)) {
            prop_assert!(failed(Stage::Setup));
        }
        if matches!(end, End::Held(Hold::Tools)) {
            prop_assert!(failed(Stage::Tools) && !ran(Stage::Baseline));
        }

        // What is folded from the log is what the writer saw, also for another reader of the disk.
        let again = Ledger::builder("/state").disk(disk).open().unwrap();
        let again = again.stream::<Receipt>("env-1").unwrap();
        prop_assert_eq!(again.intent(), &intent(&course));
        prop_assert_eq!(&again.state().unwrap(), &state);
        let mut folded = Receipt::init(again.intent());
        let history = again.history().unwrap();
        let recorded: Vec<&Recorded<Event>> = history.iter().filter_map(|entry| entry.domain()).collect();
        prop_assert!(recorded.iter().map(|it| &it.event).eq(&events));
        for it in recorded {
            Receipt::evolve(&mut folded, it);
        }
        prop_assert_eq!(folded, state);
    }
}
