//! Which failures are charged: whatever is not positively known to say nothing about the work.

use harn_engine::adapter::{Adapter, AgentClass, AgentFailure, AgentRequest, Exec, Invocation};
use harn_engine::run::Adapters;
use harn_env::command::Finished;
use harn_workflow::run::AgentOutcome;
use harn_workflow::work::{AttemptStatus, ItemState, NextAction};

use crate::attempt_fixture::{Attempt, Project, sh};

const ASKS: &str = "export default ({agent}) => agent('do it');";

/// An adapter whose vendor is reached and refuses.
#[derive(Debug)]
struct Overloaded;

impl Adapter for Overloaded {
    fn name(&self) -> &'static str {
        "overloaded"
    }

    fn invocation(&self, _: &AgentRequest) -> Result<Invocation, AgentFailure> {
        Ok(Invocation { program: "true".into(), args: Vec::new(), stdin: Vec::new(), variables: Vec::new() })
    }

    fn reply(&self, _: &Finished, _: &[u8]) -> Result<Vec<u8>, AgentFailure> {
        Err(AgentFailure { class: Some(AgentClass::Upstream), message: "503 overloaded".to_owned() })
    }
}

fn absent(name: &str) -> Exec {
    Exec::new(name, ["/does/not/exist/agent"]).unwrap()
}

/// One attempt at an item, and what it says of it: next action, class of the attempt, charged attempts, and its reason.
fn outcome(script: &str, adapters: Adapters) -> (NextAction, Option<&'static str>, u32, String) {
    let project = Project::new();
    let id = project.item(script);
    let report = Attempt::of(&project, &id).adapters(adapters).run().unwrap();
    let item = report.item.projection;
    assert_eq!((item.state, item.attempts_used), (ItemState::Blocked, 1), "{script}");
    assert_eq!(item.attempts[0].status, AttemptStatus::Failed);
    assert_eq!(item.attempts_remaining, 3 - item.charged_attempts);
    let class = item.attempts[0].class.map(harn_workflow::work::Class::as_str);
    (item.next_action, class, item.charged_attempts, item.reason)
}

fn only(adapter: impl Adapter + 'static) -> Adapters {
    let name = adapter.name().to_owned();
    Adapters::none().with(adapter).with_default(&name)
}

#[test]
fn k_18_to_k_23_and_k_60_to_k_63_each_failure_is_charged_unless_its_class_is_known() {
    let (none, retry) = (NextAction::None, NextAction::Retry);
    let cases: [(&str, Adapters, NextAction, Option<&str>, &str); 14] = [
        // K-18, K-60, K-62: the operating system says that the program is not there.
        (ASKS, only(absent("exec")), none, Some("environment"), "precondition"),
        // No adapter at all: the reason says how to name one.
        (ASKS, Adapters::none(), none, Some("environment"), "--adapter"),
        // K-19, K-20.
        (
            "export default ({blocked}) => blocked({reason: 'Which colour?', decision: 'colour'});",
            Adapters::none(),
            none,
            Some("decision"),
            "colour",
        ),
        (
            "export default async ({blocked}) => { try { await blocked({reason: 'Which one?'}); } catch {} };",
            Adapters::none(),
            none,
            Some("decision"),
            "Which one?",
        ),
        // K-21.
        (ASKS, only(Overloaded), retry, Some("upstream"), "outside service"),
        // K-23, K-61, K-63: an exit code is never taken for a missing program.
        (ASKS, only(sh("exec", "exit 127")), retry, None, "code 127"),
        (ASKS, only(sh("exec", "does-not-exist")), retry, None, "code 127"),
        (ASKS, only(sh("exec", "echo '503 Service Unavailable'; exit 3")), retry, None, "code 3"),
        // What it says on standard error counts, by a narrow rule; what a model says on standard output does not.
        (ASKS, only(sh("exec", "echo 'HTTP 503 Service Unavailable' >&2; exit 1")), retry, Some("upstream"), "503"),
        (ASKS, only(sh("exec", "echo '500 tests failed' >&2; exit 1")), retry, None, "500 tests"),
        // K-77: one missing program outranks another agent's failure.
        (
            "export default async ({agent, parallel}) => {
                 await parallel([() => agent('a', {adapter: 'absent'}), () => agent('b', {adapter: 'fails'})]);
                 throw new Error('none answered');
             };",
            Adapters::none().with(absent("absent")).with(sh("fails", "exit 1")),
            none,
            Some("environment"),
            "none answered",
        ),
        // K-78: one answer, and the failure is about the work.
        (
            "export default async ({agent}) => {
                 await agent('a', {adapter: 'works'});
                 await agent('b', {adapter: 'absent'});
             };",
            Adapters::none().with(sh("works", "echo yes")).with(absent("absent")),
            retry,
            None,
            "was not found",
        ),
        // K-79.
        ("export default () => { throw new Error('no agents'); };", Adapters::none(), retry, None, "no agents"),
        // A check is no agent: a missing tool is what the script makes of it.
        (
            "export default async ({check}) => {
                 const {outcome} = await check({name: 'c', argv: ['/does/not/exist']});
                 throw new Error(outcome);
             };",
            Adapters::none(),
            retry,
            None,
            "missing_tool",
        ),
    ];
    for (script, adapters, next, class, words) in cases {
        let (found_next, found_class, charged, reason) = outcome(script, adapters);
        assert_eq!((found_next, found_class), (next, class), "{script}: {reason}");
        assert_eq!(charged, u32::from(class.is_none()), "{script}");
        assert!(reason.contains(words), "{script}: {reason}");
    }
}

#[test]
fn k_19_k_20_a_decision_is_named_once_or_empty() {
    for (decision, expected) in [("{reason: 'r', decision: 'colour'}", "colour"), ("{reason: 'r'}", "")] {
        let project = Project::new();
        let id = project.item(&format!("export default ({{blocked}}) => blocked({decision});"));
        let item = Attempt::of(&project, &id).run().unwrap().item.projection;
        assert_eq!(item.blocked_on_decision.as_deref(), Some(expected));
        assert_eq!(
            item.reason.matches("colour").count(),
            usize::from(!expected.is_empty()),
            "{}",
            item.reason
        );
    }
}

#[test]
fn k_22_refusals_of_an_outside_service_stop_automation_after_a_while() {
    let project = Project::new();
    let id = project.item_with(ASKS, |draft| {
        draft.max_attempts = 5;
        draft.max_uncharged_attempts = 2;
    });
    let first = Attempt::of(&project, &id).default_adapter(Overloaded).run().unwrap().item.projection;
    assert_eq!((first.state, first.next_action), (ItemState::Blocked, NextAction::Retry));
    let second =
        Attempt::of(&project, &id).default_adapter(Overloaded).retry().run().unwrap().item.projection;
    assert_eq!((second.state, second.next_action), (ItemState::Blocked, NextAction::None));
    assert!(second.reason.contains("outside service"), "{}", second.reason);
    assert_eq!((second.charged_attempts, second.attempts_remaining, second.attempts_used), (0, 5, 2));
}

#[test]
fn a_script_that_calls_no_agent_needs_no_adapter() {
    let project = Project::new();
    let id = project.item("export default () => 'done';");
    assert_eq!(Attempt::of(&project, &id).run().unwrap().item.projection.state, ItemState::InReview);
}

#[test]
fn an_adapter_that_the_script_names_and_that_is_not_there_is_an_error_of_the_call() {
    let project = Project::new();
    let id = project.item(
        "export default async ({agent}) => {
             try { await agent('p', {adapter: 'b'}); } catch (error) { return error.message; }
         };",
    );
    let report = Attempt::of(&project, &id).adapters(Adapters::none().with(sh("a", "cat"))).run().unwrap();
    assert_eq!(project.result(&report.run_id), "there is no adapter `b`, expected one of: a");
    assert_eq!(report.proof.agents.len(), 0);
}

#[test]
fn exec_refuses_what_it_cannot_express() {
    for option in ["model", "effort", "maxTurns"] {
        let project = Project::new();
        let value = if option == "maxTurns" { "3" } else { "'x'" };
        let report = project.run(
            &format!("export default ({{agent}}) => agent('p', {{{option}: {value}}});"),
            "touch started",
        );
        let [(outcome, class, error)] = &project.agents(&report.run_id)[..] else { panic!("one agent") };
        assert_eq!((*outcome, *class), (AgentOutcome::Failed, None));
        assert!(error.contains(&format!("takes no `{option}`")), "{error}");
        assert!(!project.cwd().join("started").exists());
    }
}
