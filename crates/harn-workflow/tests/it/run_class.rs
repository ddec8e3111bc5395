//! The class of a run: whether its failure says anything about the work.
use harn_workflow::run::{AgentOutcome, Class, Event, Failure, FailureClass, Tally, run_class};

use crate::run_samples::{
    Transcript, agent_failed, agent_started, agent_succeeded, block, check_started, failed, manifest,
    succeeded,
};

const ENVIRONMENT: Option<FailureClass> = Some(FailureClass::Environment);
const UPSTREAM: Option<FailureClass> = Some(FailureClass::Upstream);

fn class(failure: Option<Failure>, agents: &[(AgentOutcome, Option<FailureClass>)]) -> Option<Class> {
    let mut tally = Tally { worked: !agents.is_empty(), ..Tally::default() };
    for (outcome, class) in agents {
        tally.add(*outcome, *class);
    }
    run_class(failure, &tally)
}

/// K-76, K-77, K-78, K-79
#[test]
fn agents_decide() {
    use AgentOutcome::{Cached, Failed, Succeeded};
    let error = Some(Failure::ScriptError);
    let cases = [
        // K-76: a run that succeeded has no class.
        (None, vec![(Failed, ENVIRONMENT)], None),
        // K-77: all of one class; mixed.
        (error, vec![(Failed, ENVIRONMENT), (Failed, ENVIRONMENT)], Some(Class::Environment)),
        (error, vec![(Failed, UPSTREAM), (Failed, UPSTREAM)], Some(Class::Upstream)),
        (error, vec![(Failed, UPSTREAM), (Failed, ENVIRONMENT)], Some(Class::Environment)),
        (error, vec![(Failed, ENVIRONMENT), (Failed, UPSTREAM)], Some(Class::Environment)),
        (error, vec![(Failed, UPSTREAM), (Failed, None)], Some(Class::Upstream)),
        // K-78: one answer is enough.
        (error, vec![(Failed, ENVIRONMENT), (Succeeded, None)], None),
        (error, vec![(Cached, None), (Failed, UPSTREAM)], None),
        // K-79: nothing is known.
        (error, vec![(Failed, None)], None),
        (error, vec![], None),
        // A declared block overrides everything.
        (Some(Failure::Decision), vec![(Succeeded, None), (Failed, ENVIRONMENT)], Some(Class::Decision)),
    ];
    for (failure, agents, expected) in cases {
        assert_eq!(class(failure, &agents), expected, "{failure:?} {agents:?}");
    }
}

#[test]
fn only_a_stop_from_outside_before_anything_was_started_is_interrupted() {
    use AgentOutcome::Failed;
    let cases = [
        (Failure::Signal, vec![], Some(Class::Interrupted)),
        (Failure::Cancelled, vec![], Some(Class::Interrupted)),
        (Failure::Signal, vec![(Failed, None)], None),
        (Failure::Cancelled, vec![(Failed, UPSTREAM)], Some(Class::Upstream)),
        (Failure::Deadline, vec![], None),
        (Failure::TranscriptFull, vec![], None),
        (Failure::LoadFailed, vec![], None),
        (Failure::ScriptStalled, vec![], None),
    ];
    for (failure, agents, expected) in cases {
        assert_eq!(class(Some(failure), &agents), expected, "{failure:?} {agents:?}");
    }
}

/// The same through the fold, up to what the proof says.
#[test]
fn transcripts_have_the_class_that_follows_from_them() {
    let run = || Transcript::of(manifest(), &[]);
    let blocked = Event::RunBlocked { reason: block("which licence?"), decision: None };
    let cases = [
        (run().with(agent_started(1)).with(agent_failed(1, ENVIRONMENT)).then(succeeded()), None),
        (
            run()
                .with(agent_started(1))
                .with(agent_failed(1, UPSTREAM))
                .then(failed(Failure::ScriptError, "x")),
            Some(Class::Upstream),
        ),
        (
            run()
                .with(agent_started(1))
                .with(agent_succeeded(1, "y"))
                .then(failed(Failure::ScriptError, "x")),
            None,
        ),
        (run().with(blocked).then(failed(Failure::Decision, "x")), Some(Class::Decision)),
        (run().then(failed(Failure::Cancelled, "x")), Some(Class::Interrupted)),
        (run().with(agent_started(1)).then(failed(Failure::Cancelled, "x")), None),
        (run().with(check_started(1, &[])).then(failed(Failure::Signal, "x")), None),
    ];
    for (run, expected) in cases {
        let Some(Event::RunEnded { class, .. }) = run.lines.last().map(|line| &line.event) else {
            panic!("the transcript does not end");
        };
        assert_eq!((*class, run.proof().run.class), (expected, expected), "{:?}", run.lines);
    }
}

/// A forged class is not believed: the proof goes by what was recorded.
#[test]
fn a_class_that_does_not_follow_is_refused_and_never_proved() {
    use harn_workflow::run::Status;
    let forged = Event::RunEnded {
        status: Status::Failed,
        failure: Some(Failure::ScriptError),
        class: Some(Class::Environment),
        error: None,
        result: None,
        repository_after: None,
    };
    let mut run = Transcript::of(manifest(), &[]);
    assert_eq!(run.record(forged.clone()).unwrap_err().code(), "run_wrong_class");
    run.append(forged);
    assert_eq!(run.proof().run.class, None);
}
