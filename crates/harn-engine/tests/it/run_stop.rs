//! How a run ends when its script does not simply return: stopped from outside, by the script itself, or by exhaustion.
//! Whatever happens, the end is recorded, proved, and no process is left.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use harn_engine::attempt::AttemptReport;
use harn_engine::run::{StopReason, Stopper};
use harn_workflow::run::proof::{AgentStatus, UnknownCode};
use harn_workflow::run::{Class, Event, Failure, Status};
use harn_workflow::work::ItemState;

use crate::attempt_fixture::{Attempt, Project, is_alive, wait_until};

/// An agent that does not end by itself, with a child.
const ENDLESS: &str = "sleep 600 & echo $$ $! >$HARN_AGENT_ID.new
    mv $HARN_AGENT_ID.new $HARN_AGENT_ID.pids; wait";

/// The same with a child that does not listen.
const STUBBORN: &str = "(trap '' TERM; exec sleep 600) & echo $$ $! >$HARN_AGENT_ID.new
    mv $HARN_AGENT_ID.new $HARN_AGENT_ID.pids; wait";

/// What must hold after any end.
fn assert_ended(project: &Project, report: &AttemptReport, why: &str) {
    assert_eq!(project.events(&report.run_id).last(), Some(&"run.ended"), "{why}");
    assert_eq!(report.item.projection.proof, Some(report.proof.blob_ref()), "{why}");
    assert!(project.reopened().verify_proofs().is_empty(), "{why}");
    for entry in std::fs::read_dir(project.cwd()).unwrap() {
        let path = entry.unwrap().path();
        let is_list = path.extension().is_some_and(|extension| extension == "pids");
        assert!(!is_list || !is_alive(&path), "{why}: a process of {} is left", path.display());
    }
    let open = report.proof.agents.iter().find(|agent| agent.status == AgentStatus::Unfinished);
    assert!(open.is_none(), "{why}: an agent has no end on record");
}

#[test]
fn a_deadline_ends_whatever_the_script_does() {
    let scripts = [
        "export default ({agent}) => agent('p');",
        "export default ({check}) => check({name: 'c', argv: ['sleep', '600']});",
        "export default () => { while (true); }",
        // The stop wins over whatever the script makes of it.
        "export default async ({agent}) => { try { return await agent('p'); } catch { return 'caught'; } };",
        "export default async ({agent}) => { try { await agent('p'); } finally { return 'finally'; } };",
        "export default async ({agent, parallel}) => { await parallel([() => agent('p')]); return 'returned'; };",
        "export default () => { while (true) { try { while (true); } catch {} } };",
        "while (true); export default () => 1;",
    ];
    for script in scripts {
        let project = Project::new();
        let id = project.item(script);
        let report = Attempt::of(&project, &id).agent(ENDLESS).deadline(400).run().unwrap();
        assert_eq!(report.proof.run.failure, Some(Failure::Deadline), "{script}");
        // Its own time is the script's to spend.
        assert_eq!((report.proof.run.class, report.item.projection.charged_attempts), (None, 1), "{script}");
        assert_ended(&project, &report, script);
    }
}

#[test]
fn a_run_that_is_in_time_ends_before_its_deadline() {
    let project = Project::new();
    let id = project.item("export default () => 'in time';");
    let report = Attempt::of(&project, &id).deadline(3_600_000).run().unwrap();
    assert_eq!(report.proof.run.status, Status::Succeeded);
}

#[test]
fn a_signal_ends_the_run_and_is_charged_only_when_something_was_started() {
    for (at, charged) in [("script.loaded", 0), ("agent.started", 1)] {
        let project = Project::new();
        let id = project.item("export default ({agent, log}) => { log('x'); return agent('p'); };");
        let stopper = Stopper::new();
        let attempt = Attempt::of(&project, &id).agent(ENDLESS).stopper(&stopper);
        let report = attempt.observer(|recorded| {
            if recorded.event.name() == at {
                stopper.stop(StopReason::Signal);
            }
        });
        let report = report.run().unwrap();
        assert_eq!(report.proof.run.failure, Some(Failure::Signal), "{at}");
        assert_eq!(report.proof.run.class, (charged == 0).then_some(Class::Interrupted), "{at}");
        assert_eq!(report.item.projection.charged_attempts, charged, "{at}");
        assert_ended(&project, &report, at);
        // The first reason counts.
        stopper.stop(StopReason::Deadline);
        assert_eq!(stopper.reason(), Some(StopReason::Signal));
    }
}

#[test]
fn a_stop_from_another_thread_ends_running_and_waiting_children() {
    let project = Project::new();
    let id = project.item(
        "export default ({agent, parallel}) => parallel([1, 2, 3, 4, 5, 6].map((n) => () => agent(`${n}`)));",
    );
    let (stopper, asked_for) = (Stopper::new(), AtomicU32::new(0));
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            let running = |n: u32| project.cwd().join(format!("a{n}.pids")).exists();
            wait_until("all slots are taken", || (1..=4).all(running));
            wait_until("all agents are asked for", || asked_for.load(Ordering::SeqCst) == 6);
            stopper.stop(StopReason::Signal);
        });
        let attempt = Attempt::of(&project, &id).agent(STUBBORN).stopper(&stopper);
        let attempt = attempt.observer(|recorded| {
            let is_started = matches!(recorded.event, Event::AgentStarted { .. });
            asked_for.fetch_add(u32::from(is_started), Ordering::SeqCst);
        });
        attempt.run().unwrap()
    });
    assert_eq!(report.proof.run.failure, Some(Failure::Signal));
    assert_eq!(report.proof.agents.len(), 6);
    assert!(!project.cwd().join("a5.pids").exists());
    assert_ended(&project, &report, "stopped");
}

#[test]
fn blocked_ends_the_run_where_it_stands() {
    let scripts = [
        "export default ({blocked}) => { try { blocked({reason: 'r'}); } catch {} return 'went on'; };",
        "export default async ({blocked}) => { try { await blocked({reason: 'r'}); } catch { return 'caught'; } };",
        "export default async ({blocked, parallel}) => { await parallel([() => blocked({reason: 'r'})]); };",
        "export default async ({agent, blocked}) => { agent('p'); await agent('q', {adapter: 'quick'});
             blocked({reason: 'r'}); };",
        "export default async ({check, blocked}) => { check({name: 'c', argv: ['sleep', '600']}); blocked({reason: 'r'}); };",
    ];
    for script in scripts {
        let project = Project::new();
        let id = project.item(script);
        let agents = harn_engine::run::Adapters::none()
            .with(crate::attempt_fixture::sh("slow", ENDLESS))
            .with(crate::attempt_fixture::sh("quick", "until [ -e a1.pids ]; do sleep 0.01; done"))
            .with_default("slow");
        let report = Attempt::of(&project, &id).adapters(agents).run().unwrap();
        assert_eq!(report.proof.run.failure, Some(Failure::Decision), "{script}");
        assert_eq!(report.item.projection.charged_attempts, 0, "{script}");
        let events = project.events(&report.run_id);
        assert_eq!(events[events.len() - 2..], ["run.blocked", "run.ended"], "{script}");
        assert_ended(&project, &report, script);
    }
}

#[test]
fn a_stop_that_comes_with_a_block_leaves_one_end() {
    let project = Project::new();
    let id = project.item("export default ({stage, blocked}) => { stage('s'); blocked({reason: 'r'}); };");
    let stopper = Stopper::new();
    // The script is stopped at an event of its own, so the block may or may not be asked for: both are fine.
    let attempt = Attempt::of(&project, &id).stopper(&stopper).observer(|recorded| {
        if matches!(recorded.event, Event::Stage { .. }) {
            stopper.stop(StopReason::Signal);
        }
    });
    let report = attempt.run().unwrap();
    assert_eq!(report.proof.run.failure, Some(Failure::Signal));
    assert_eq!(project.events(&report.run_id).last(), Some(&"run.ended"));
}

#[test]
fn agents_that_nobody_waits_for_are_ended_and_recorded() {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent, check}) => {
             for (let n = 0; n < 6; n += 1) agent(`${n}`);
             check({name: 'c', argv: ['sleep', '600']});
             await check({name: 'first', argv: ['sh', '-c', 'until [ -e a1.pids ]; do sleep 0.01; done']});
             return 'done';
         };",
    );
    let mut attempt = Attempt::of(&project, &id).agent(ENDLESS);
    attempt.options.concurrency = std::num::NonZeroU32::new(8).unwrap();
    let report = attempt.run().unwrap();
    assert_eq!(project.result(&report.run_id), "done");
    let codes: Vec<UnknownCode> = report.proof.unknowns.iter().map(|unknown| unknown.code).collect();
    assert_eq!(codes, [UnknownCode::NoAcceptanceCriteria, UnknownCode::AgentsFailed]);
    assert_eq!(project.agents(&report.run_id).len(), 6);
    assert!(
        project.agents(&report.run_id).iter().all(|(.., error)| error == "`sh` was stopped with its run")
    );
    assert_ended(&project, &report, "returned");
}

#[test]
fn n_18_every_way_to_fail_has_an_end_and_a_proof() {
    // With what the error says; nothing is made up where there is nothing to say.
    let cases: [(&str, Failure, &str); 12] = [
        ("await new Promise(() => {})", Failure::ScriptStalled, "waits for something"),
        ("throw null", Failure::ScriptError, ""),
        ("throw new Error('')", Failure::ScriptError, ""),
        ("throw new Error('x'.repeat(3000))", Failure::ScriptError, "x…"),
        ("return 10n", Failure::UnusableResult, "JSON"),
        ("const a = {}; a.a = a; return a", Failure::UnusableResult, "JSON"),
        ("return {toJSON() { throw new Error('not me'); }}", Failure::UnusableResult, "not me"),
        ("return {toJSON() { while (true); }}", Failure::Deadline, "time was over"),
        ("const a = []; while (true) a.push(new Uint8Array(1 << 24))", Failure::OutOfMemory, "out of memory"),
        (
            "try { const a = []; while (true) a.push(new Uint8Array(1 << 24)); } catch {} return 'went on'",
            Failure::OutOfMemory,
            "out of memory",
        ),
        ("const f = () => f() + 1; return f()", Failure::StackOverflow, "too deeply"),
        ("await ctx.agent('p'); return 1", Failure::ScriptError, "exited with code 1"),
    ];
    for (body, failure, error) in cases {
        let project = Project::new();
        let id = project.item(&format!("export default async (ctx) => {{ {body}; }};"));
        let attempt = Attempt::of(&project, &id).agent("exit 1");
        let attempt = if failure == Failure::Deadline { attempt.deadline(300) } else { attempt };
        let report = attempt.run().unwrap();
        let run = &report.proof.run;
        assert_eq!(run.failure, Some(failure), "{body}: {:?}", run.error);
        let found = run.error.as_ref().map(harn_workflow::run::Text::as_str).unwrap_or_default();
        assert!(found.contains(error) && found.is_empty() == error.is_empty(), "{body}: {found}");
        assert_eq!(report.item.projection.state, ItemState::Blocked, "{body}");
        assert_ended(&project, &report, body);
        let events = project.events(&report.run_id);
        assert_eq!(events.iter().filter(|event| **event == "run.ended").count(), 1);
    }
}
