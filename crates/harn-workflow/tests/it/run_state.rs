//! Which event may follow which, and what the fold remembers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_workflow::run::{
    Captured, CheckOutcome, Command, Ending, Event, EvidenceStatus, Failure, Payload, PayloadKind, Phase,
    Reason, Refusal, Run, Source, Status, TryOutcome,
};

use harn_ledger::Decider as _;

use crate::run_samples::{
    Transcript, agent_failed, agent_started, agent_succeeded, block, check_ended, check_started, cited,
    evidence, failed, id, line, loaded, manifest, nth, succeeded, text,
};

fn running() -> Transcript {
    Transcript::of(manifest(), &["c"])
}

fn parked() -> Event {
    Event::RunParked { approval_id: id("apr-1") }
}

fn blocked() -> Event {
    Event::RunBlocked { reason: block("which licence?"), decision: Some(line("D-7")) }
}

fn log() -> Event {
    Event::Log { message: Captured::of(b"hello") }
}

fn attempt(number: u32, tries: u32) -> Event {
    Event::AgentTry {
        id: format!("a{number}").parse().unwrap(),
        number: nth(tries),
        outcome: TryOutcome::Failed,
        class: None,
        error: Some(block("no answer")),
        reply: None,
        stderr: None,
        duration_ms: 5,
    }
}

fn tried(number: u32, tries: u32) -> Event {
    match agent_succeeded(number, "x") {
        Event::AgentEnded { id, outcome, class, reply, error, duration_ms, .. } => {
            Event::AgentEnded { id, outcome, class, reply, error, tries, duration_ms }
        }
        other => other,
    }
}

fn refused(transcript: &Transcript, event: Event) -> Option<&'static str> {
    Run::decide(&transcript.state, Command::Record(vec![event]), &()).err().map(|refusal| refusal.code())
}

#[test]
fn each_phase_takes_its_own_events() {
    const PHASE: Option<&str> = Some("run_wrong_phase");
    const LOAD: Option<&str> = Some("run_script_not_loaded");
    let created = Run::init(&manifest());
    let first = |event| Run::decide(&created, Command::Record(vec![event]), &()).err().map(|r| r.code());
    assert_eq!(
        (first(Event::RunStarted {}), first(log()), first(Event::RunResumed {})),
        (None, PHASE, PHASE)
    );

    let started = Transcript::started(manifest());
    let loaded_run = running();
    let waiting = running().with(parked());
    let stuck = running().with(blocked());
    let over = running().then(succeeded());
    let end = |failure| match Run::decide(&running().state, failed(failure, "x"), &()) {
        Ok(events) => events[0].clone(),
        Err(_) => Event::RunEnded {
            status: Status::Failed,
            failure: Some(failure),
            class: stuck.state.class(Some(failure)),
            error: None,
            result: None,
            repository_after: None,
        },
    };
    let table = [
        // event, before loading, running, parked, blocked, ended
        (Event::RunStarted {}, [PHASE, PHASE, PHASE, PHASE, PHASE]),
        (Event::RunResumed {}, [None, None, None, PHASE, PHASE]),
        (loaded(&[]), [None, Some("run_script_loaded"), PHASE, PHASE, PHASE]),
        (log(), [None, None, PHASE, PHASE, PHASE]),
        (Event::Stage { title: line("do") }, [LOAD, None, PHASE, PHASE, PHASE]),
        (Event::ParallelItemFailed { index: 0, error: None }, [LOAD, None, PHASE, PHASE, PHASE]),
        (agent_started(1), [LOAD, None, PHASE, PHASE, PHASE]),
        (check_started(1, &[]), [LOAD, None, PHASE, PHASE, PHASE]),
        (evidence(1, EvidenceStatus::Passed, &[]), [LOAD, None, PHASE, PHASE, PHASE]),
        (parked(), [LOAD, None, PHASE, PHASE, PHASE]),
        (blocked(), [LOAD, None, PHASE, PHASE, PHASE]),
        (end(Failure::Cancelled), [None, None, None, Some("run_inconsistent"), PHASE]),
        (
            end(Failure::Decision),
            [Some("run_inconsistent"), Some("run_inconsistent"), Some("run_inconsistent"), None, PHASE],
        ),
    ];
    for (event, expected) in table {
        for (transcript, expected) in
            [&started, &loaded_run, &waiting, &stuck, &over].into_iter().zip(expected)
        {
            assert_eq!(
                refused(transcript, event.clone()),
                expected,
                "{} in {:?}",
                event.name(),
                transcript.state.phase()
            );
        }
    }
}

#[test]
fn calls_are_numbered_and_end_once() {
    let run = running().with(agent_started(1)).with(agent_started(2)).with(agent_succeeded(2, "x"));
    let order = Some("run_out_of_order");
    assert_eq!(refused(&run, agent_started(2)), order);
    assert_eq!(refused(&run, agent_started(4)), order);
    assert_eq!(refused(&run, agent_started(3)), None);
    assert_eq!(refused(&run, agent_succeeded(2, "x")), Some("run_not_open"));
    assert_eq!(refused(&run, attempt(2, 1)), Some("run_not_open"));
    assert_eq!(refused(&run, agent_failed(3, None)), Some("run_not_open"));
    assert_eq!(refused(&run, attempt(1, 2)), order);
    let run = run.with(attempt(1, 1));
    assert_eq!(refused(&run, attempt(1, 1)), order);
    assert_eq!(refused(&run, tried(1, 0)), order);
    assert_eq!(refused(&run, tried(1, 2)), order);
    assert_eq!(refused(&run, tried(1, 1)), None);
}

#[test]
fn checks_are_numbered_end_once_and_leave_evidence() {
    let run = running().with(check_started(1, &["c"]));
    assert_eq!(refused(&run, check_started(1, &[])), Some("run_out_of_order"));
    let ended = |outcome| Run::decide(&run.state, check_ended(1, outcome), &()).unwrap();
    for (outcome, status) in [
        (CheckOutcome::Passed, EvidenceStatus::Passed),
        (CheckOutcome::Failed, EvidenceStatus::Failed),
        (CheckOutcome::Timeout, EvidenceStatus::Failed),
        (CheckOutcome::MissingTool, EvidenceStatus::Unknown),
        (CheckOutcome::Stopped, EvidenceStatus::Unknown),
        (CheckOutcome::NotRun, EvidenceStatus::Unknown),
        (CheckOutcome::CouldNotStart, EvidenceStatus::Unknown),
    ] {
        match &ended(outcome)[..] {
            [
                Event::CheckEnded { evidence, .. },
                Event::EvidenceRecorded { id, source, status: found, acceptance_ids, check, .. },
            ] => {
                assert_eq!((evidence, *source, *found), (id, Source::Engine, status));
                assert_eq!((acceptance_ids, check.unwrap().to_string()), (&cited(&["c"]), "c1".to_owned()));
            }
            other => panic!("{other:?}"),
        }
    }
    // The two cannot come apart, and the record cannot say something else.
    let [end, record] = <[Event; 2]>::try_from(ended(CheckOutcome::Failed)).unwrap();
    let batch =
        |events| Run::decide(&run.state, Command::Record(events), &()).map_err(|refusal| refusal.code());
    assert!(batch(vec![end.clone(), record.clone()]).is_ok());
    assert_eq!(batch(vec![end.clone()]), Err("run_evidence_due"));
    assert_eq!(batch(vec![end.clone(), log(), record.clone()]), Err("run_evidence_due"));
    assert_eq!(batch(vec![record]), Err("run_inconsistent"));
    let better = ended(CheckOutcome::Passed).pop().unwrap();
    assert_eq!(batch(vec![end, better]), Err("run_evidence_due"));

    let run = run.then(check_ended(1, CheckOutcome::Passed));
    let again = Run::decide(&run.state, check_ended(1, CheckOutcome::Passed), &());
    assert_eq!(again.unwrap_err().code(), "run_not_open");
}

#[test]
fn an_event_does_not_contradict_itself() {
    use harn_workflow::run::AgentOutcome::{Cached, Failed, Succeeded};

    let run = running().with(agent_started(1)).with(check_started(1, &[]));
    let inconsistent = |event| assert_eq!(refused(&run, event), Some("run_inconsistent"));
    let ended = |outcome, reply, error: Option<Reason>| Event::AgentEnded {
        id: "a1".parse().unwrap(),
        outcome,
        class: None,
        reply,
        error,
        tries: 0,
        duration_ms: 0,
    };
    inconsistent(ended(Succeeded, None, None));
    inconsistent(ended(Cached, None, None));
    inconsistent(ended(Failed, Some(text("x")), None));
    inconsistent(ended(Succeeded, Some(text("x")), Some(block("y"))));
    let end = |status, failure, error, result| Event::RunEnded {
        status,
        failure,
        class: None,
        error,
        result,
        repository_after: None,
    };
    inconsistent(end(Status::Succeeded, Some(Failure::ScriptError), None, None));
    inconsistent(end(Status::Failed, None, None, None));
    inconsistent(end(Status::Succeeded, None, Some(block("x")), None));
    inconsistent(end(Status::Failed, Some(Failure::ScriptError), None, Some(text("x"))));
    let unloaded = Transcript::started(manifest());
    assert_eq!(refused(&unloaded, end(Status::Succeeded, None, None, None)), Some("run_inconsistent"));
    let passed_with_1 = match check_ended(1, CheckOutcome::Failed) {
        Command::EndCheck(mut check) => {
            check.outcome = CheckOutcome::Passed;
            Command::EndCheck(check)
        }
        other => other,
    };
    assert_eq!(Run::decide(&run.state, passed_with_1, &()).unwrap_err().code(), "run_inconsistent");
}

#[test]
fn a_run_parks_when_nothing_is_running_and_goes_on_where_it_was() {
    for started in [agent_started(1), check_started(1, &[])] {
        assert_eq!(refused(&running().with(started), parked()), Some("run_work_open"));
    }
    let mut run = running().with(agent_started(1)).with(check_started(1, &[]));
    assert_eq!(run.record(parked()), Err(Refusal::WorkOpen { agents: 1, checks: 1 }));
    let run = run.with(agent_succeeded(1, "x")).then(check_ended(1, CheckOutcome::Passed)).with(parked());
    assert_eq!(run.state.parked(), Some(&id("apr-1")));
    let run = run.with(Event::RunResumed {});
    assert_eq!((run.state.parked(), run.state.phase()), (None, &Phase::Running));
    assert_eq!(run.state.next_agent().to_string(), "a2");
    // A process that is gone leaves its calls open; the next one goes on with them.
    let run = run.with(agent_started(2)).with(attempt(2, 1)).with(Event::RunResumed {}).with(attempt(2, 2));
    assert_eq!(run.state.open_agents().get(&"a2".parse().unwrap()), Some(&2));
    let run = run.with(tried(2, 2)).then(succeeded());
    assert_eq!(run.proof().agents[1].tries, 2);
}

/// What a work item asks of the run of its open attempt.
#[test]
fn facts_for_the_work_item() {
    let facts = |run: &Transcript| (run.state.worked(), run.state.parked().is_some(), run.state.ended());
    assert_eq!(facts(&Transcript::started(manifest())), (false, false, false));
    assert_eq!(facts(&running()), (false, false, false));
    assert_eq!(facts(&running().with(parked())), (false, true, false));
    assert_eq!(facts(&running().with(agent_started(1))), (true, false, false));
    assert_eq!(facts(&running().with(check_started(1, &[]))), (true, false, false));
    assert_eq!(facts(&running().with(parked()).then(failed(Failure::Cancelled, "x"))), (false, false, true));
}

#[test]
fn the_end_may_use_the_reserve_and_nothing_else_may() {
    let run = running().then(succeeded());
    let closing: Vec<&str> = run
        .lines
        .iter()
        .map(|line| &line.event)
        .chain(&[parked(), blocked(), log()])
        .filter(|event| Run::closes(event))
        .map(Event::name)
        .collect();
    assert_eq!(closing, ["run.ended"]);
}

#[test]
fn nothing_follows_the_end_even_below_the_rules() {
    let mut run = running().then(succeeded());
    let (state, proof) = (run.state.clone(), run.proof());
    for event in [agent_started(1), Event::RunResumed {}, log()] {
        run.append(event);
    }
    assert_eq!((run.state.clone(), run.proof()), (state, proof));
}

/// N-18, the part of the transcript: every way to end leaves a terminal record, with or without words.
#[test]
fn every_failure_can_be_recorded() {
    let failures = [
        Failure::LoadFailed,
        Failure::ScriptError,
        Failure::ScriptStalled,
        Failure::OutOfMemory,
        Failure::StackOverflow,
        Failure::UnusableResult,
        Failure::ReplayDiverged,
        Failure::TranscriptFull,
        Failure::Deadline,
        Failure::Signal,
        Failure::Cancelled,
    ];
    for failure in failures {
        for words in ["", "it broke"] {
            let proof = running().with(agent_started(1)).then(failed(failure, words)).proof();
            assert_eq!((proof.run.status, proof.run.failure), (Status::Failed, Some(failure)));
            assert_eq!(proof.run.error.is_some(), !words.is_empty());
        }
    }
}

#[test]
fn a_result_may_be_anything_or_nothing() {
    for result in [
        None,
        Some(text("")),
        Some(Payload { kind: PayloadKind::Json, content: Captured::of(&vec![b'['; 1 << 20]) }),
    ] {
        let ending = Ending { result: result.clone(), ..Ending::default() };
        let proof = running().then(Command::End(Box::new(ending))).proof();
        assert_eq!(
            proof.run.result.map(|digest| digest.bytes),
            result.map(|payload| payload.content.digest().bytes)
        );
    }
}
