//! What agents answer, how they fail, and what is kept of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use harn_engine::adapter::{Adapter, AgentFailure, AgentRequest, Invocation};
use harn_engine::attempt::AttemptError;
use harn_engine::run::RunError;
use harn_env::command::Finished;
use harn_ledger::{BlobRef, Digest};
use harn_workflow::run::{AgentOutcome, CheckOutcome, Event, TryOutcome};
use harn_workflow::work::ItemState;

use crate::attempt_disk::Watch;
use crate::attempt_fixture::{Attempt, Project, is_alive};

const ASKS: &str = "export default ({agent}) => agent('do it', {timeoutMs: 60000});";

#[test]
fn a_reply_is_what_was_printed_without_white_space_at_its_ends() {
    let cases: [(&str, &str, &[u8]); 6] = [
        ("echo hello", "hello", b"hello"),
        ("printf ' \\n two\\nlines \\n\\n'", "two\nlines", b"two\nlines"),
        // Nothing at all is an answer too.
        ("true", "", b""),
        // What is not text reaches the script as text, and is kept as it is.
        ("printf 'a\\377b\\303'", "a\u{fffd}b\u{fffd}", b"a\xffb\xc3"),
        ("printf 'ñ\\0z'", "ñ\0z", b"\xc3\xb1\0z"),
        ("echo reply; echo warning >&2; sleep 600 &", "reply", b"reply"),
    ];
    for (agent, text, bytes) in cases {
        let project = Project::new();
        let report = project.run(ASKS, agent);
        assert_eq!(project.result(&report.run_id), text, "{agent}");
        let transcript = project.transcript(&report.run_id);
        let reply = transcript.iter().find_map(|recorded| match &recorded.event {
            Event::AgentEnded { reply, .. } => reply.as_ref(),
            _ => None,
        });
        assert_eq!(project.bytes(&reply.unwrap().content), bytes, "{agent}");
        assert_eq!(report.item.projection.state, ItemState::InReview);
    }
}

#[test]
fn r_28_k_68_an_agent_that_gives_no_reply_fails_with_words_and_leaves_no_process() {
    let cases = [
        ("echo oops >&2; exit 3", TryOutcome::Failed, "`sh` exited with code 3: oops"),
        ("kill -9 $$", TryOutcome::Failed, "`sh` was ended by signal 9"),
        ("kill -TERM $$", TryOutcome::Failed, "`sh` was ended by signal 15"),
        ("sleep 600 & echo $$ $! >pids; wait", TryOutcome::Timeout, "`sh` ran out of time and was ended"),
        // The exit code of a program that was ended says nothing.
        (
            "trap 'exit 0' TERM; sleep 600 & echo $$ $! >pids; echo reply; wait",
            TryOutcome::Timeout,
            "`sh` ran out of time and was ended",
        ),
    ];
    for (agent, outcome, message) in cases {
        let project = Project::new();
        let report = project.run("export default ({agent}) => agent('p', {timeoutMs: 500});", agent);
        let [(ended, class, error)] = &project.agents(&report.run_id)[..] else { panic!("one agent") };
        assert_eq!((*ended, *class, &**error), (AgentOutcome::Failed, None, message));
        let transcript = project.transcript(&report.run_id);
        let tried = transcript.iter().find_map(|recorded| match &recorded.event {
            Event::AgentTry { outcome, .. } => Some(*outcome),
            _ => None,
        });
        assert_eq!(tried, Some(outcome), "{agent}");
        // The script did not catch it.
        assert_eq!(report.proof.run.error.unwrap().as_str(), message);
        assert_eq!(report.item.projection.charged_attempts, 1);
        let pids = project.cwd().join("pids");
        assert!(!pids.exists() || !is_alive(&pids), "{agent}");
    }
}

#[test]
fn a_reply_that_is_too_long_fails_the_call_and_its_bytes_are_kept() {
    let project = Project::new();
    let report = project.run(
        "export default async ({agent}) => { try { await agent('p'); } catch (error) { return error.message; } };",
        "head -c 9437184 /dev/zero | tr '\\0' x",
    );
    assert_eq!(project.result(&report.run_id), "the reply has 9437184 bytes, expected at most 8388608");
    let transcript = project.transcript(&report.run_id);
    let rejected = transcript.iter().find_map(|recorded| match &recorded.event {
        Event::AgentTry { reply, .. } => reply.as_ref(),
        _ => None,
    });
    let content = vec![b'x'; 9 << 20];
    assert_eq!(rejected.unwrap().blob(), Some(BlobRef::of(&content)));
    assert!(project.bytes(rejected.unwrap()) == content);
}

#[test]
fn why_a_process_failed_comes_before_the_length_of_what_it_printed() {
    let project = Project::new();
    let report = project.run(ASKS, "head -c 9437184 /dev/zero; exit 5");
    assert_eq!(project.agents(&report.run_id)[0].2, "`sh` exited with code 5");
}

/// The same with 300 MB and a look at the memory is a test of the whole program.
#[test]
fn r_29_r_31_long_output_of_a_check_is_kept_whole_and_shown_in_part() {
    let project = Project::new();
    let report = project.run(
        "export default async ({check}) => {
             const script = \"head -c 12000000 /dev/zero | tr '\\\\0' x; printf '界界'; printf 'a\\\\377' >&2\";
             const {passed, stdout, stderr} = await check({name: 'long', argv: ['sh', '-c', script]});
             return {passed, length: stdout.length, end: stdout.slice(-3), gap: /bytes left out/.test(stdout), stderr};
         };",
        "",
    );
    let shown = project.result(&report.run_id);
    assert_eq!(
        (&shown["passed"], &shown["end"], &shown["gap"]),
        (&true.into(), &"x界界".into(), &true.into())
    );
    assert!(shown["length"].as_u64().unwrap() < 66_000);
    assert_eq!(shown["stderr"], "a\u{fffd}");

    let mut content = vec![b'x'; 12_000_000];
    content.extend_from_slice("界界".as_bytes());
    let [check] = &report.proof.checks[..] else { panic!("one check") };
    assert_eq!(check.stdout.unwrap().sha256, Digest::of(&content));
    assert_eq!(check.stdout.unwrap().bytes, content.len() as u64);
    let transcript = project.transcript(&report.run_id);
    let [stdout, stderr] = transcript.iter().find_map(ended_output).unwrap();
    let excerpt = stdout.excerpt().unwrap();
    assert_eq!((excerpt.dropped, excerpt.tail.ends_with("x界界")), (None, true));
    assert!(project.bytes(stdout) == content);
    assert_eq!(project.bytes(stderr), b"a\xff");
}

fn ended_output(recorded: &harn_ledger::Recorded<Event>) -> Option<[&harn_workflow::run::Captured; 2]> {
    match &recorded.event {
        Event::CheckEnded { stdout: Some(stdout), stderr: Some(stderr), .. } => Some([stdout, stderr]),
        _ => None,
    }
}

#[test]
fn output_that_cannot_be_stored_is_no_reply() {
    // Longer than an event can hold, so it must go to the disk before anything is said about it.
    let scripts = [
        ASKS,
        "export default ({check}) => check({name: 'c', argv: ['sh', '-c', 'head -c 100000 /dev/zero | tr \"\\\\0\" x']});",
    ];
    for script in scripts {
        let watch = Watch::default();
        let project = Project::on(watch.disk());
        let id = project.item(script);
        let agent = "head -c 100000 /dev/zero | tr '\\0' x";
        let error = Attempt::of(&project, &id)
            .agent(agent)
            .observer(|recorded| {
                let works = matches!(recorded.event, Event::AgentStarted { .. } | Event::CheckStarted { .. });
                if works {
                    watch.set_full(true);
                }
            })
            .run()
            .unwrap_err();
        assert!(matches!(error, AttemptError::Run(RunError::Output(_))), "{error}");
        assert_eq!(error.code(), "storage_full");
        // Nothing is made up: the attempt has no end, and says so.
        assert_eq!(project.work_events(&id), ["work.created", "attempt.started"]);
        let item = project.projection(&id);
        assert_eq!((item.state, item.charged_attempts), (ItemState::Blocked, 1));

        watch.set_full(false);
        let report = Attempt::of(&project, &id).agent(agent).retry().run().unwrap();
        assert_eq!(report.item.projection.state, ItemState::InReview);
    }
}

/// An adapter with a mistake in it.
#[derive(Debug)]
struct Panics;

impl Adapter for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn invocation(&self, _: &AgentRequest) -> Result<Invocation, AgentFailure> {
        Ok(Invocation { program: "true".into(), args: Vec::new(), stdin: Vec::new(), variables: Vec::new() })
    }

    fn reply(&self, _: &Finished, _: &[u8]) -> Result<Vec<u8>, AgentFailure> {
        panic!("this adapter has a mistake");
    }
}

#[test]
fn an_adapter_that_panics_does_not_make_the_run_wait_for_ever() {
    let project = Project::new();
    let id = project.item("export default ({agent, attempt}) => attempt.number === 1 ? agent('p') : 'done';");
    let attempt = Attempt::of(&project, &id).default_adapter(Panics);
    let panic = catch_unwind(AssertUnwindSafe(|| attempt.run())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"this adapter has a mistake"));
    // Like after a crash, the attempt is lost and the item is not.
    assert_eq!(Attempt::of(&project, &id).retry().run().unwrap().item.projection.state, ItemState::InReview);
}

#[test]
fn a_check_says_how_it_came_out_and_never_ends_the_run() {
    let cases = [
        ("argv: ['true']", CheckOutcome::Passed, Some(0)),
        ("argv: ['sh', '-c', 'exit 7']", CheckOutcome::Failed, Some(7)),
        ("argv: ['/does/not/exist']", CheckOutcome::MissingTool, None),
        ("argv: ['true'], cwd: 'does/not/exist'", CheckOutcome::CouldNotStart, None),
        ("argv: ['sleep', '600'], timeoutMs: 200", CheckOutcome::Timeout, None),
        // One that exits with 0 when it is ended has not passed.
        (
            "argv: ['sh', '-c', 'trap \"exit 0\" TERM; sleep 600 & wait'], timeoutMs: 500",
            CheckOutcome::Timeout,
            None,
        ),
    ];
    for (check, outcome, exit_code) in cases {
        let project = Project::new();
        let report = project.run(
            &format!("export default async ({{check}}) => (await check({{name: 'c', {check}}})).outcome;"),
            "",
        );
        let name = serde_json::to_value(outcome).unwrap();
        assert_eq!(project.result(&report.run_id), name, "{check}");
        let record = &report.proof.checks[0];
        assert_eq!((record.outcome, record.exit_code), (Some(outcome), exit_code), "{check}");
        assert_eq!(report.proof.evidence[0].status, outcome.evidence(), "{check}");
    }
}
