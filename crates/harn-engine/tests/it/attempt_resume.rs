//! An attempt goes on from whatever its transcript holds, and comes to the same end without paying twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use harn_engine::attempt::{AttemptError, AttemptReport, ResumeRequest, resume_attempt};
use harn_engine::run::{Adapters, RunError, StopReason, Stopper};
use harn_ledger::StreamId;
use harn_workflow::run::{Class, Failure};
use harn_workflow::work::{Accept, ItemState};
use serde_json::{Value, json};

use crate::attempt_fixture::{Attempt, Prepares, Project, sh};

/// Says what it was asked in a file, and answers with it. One question fails, and one has a long answer.
const AGENT: &str = r#"read -r prompt; echo "$prompt" >> calls
case "$prompt" in
  bad) echo "no such luck" >&2; exit 4 ;;
  long) printf '%05000d' 7 ;;
  *) printf 'to %s' "$prompt" ;;
esac"#;

/// Does everything that a script can do, and returns all that it was told.
const SCRIPT: &str = r#"
export const meta = { name: "all", acceptance: [{ id: "works", statement: "It works" }] };
console.log("loading");
export default async (ctx) => {
  const told = [ctx.attempt.number, Math.random()];
  ctx.stage("First");
  told.push(await ctx.agent("one"));
  const caught = async (work) => { try { told.push(await work()); } catch (error) { told.push(String(error.message)); } };
  await caught(() => ctx.agent("bad"));
  await caught(() => ctx.evidence({ kind: "test", status: "passed", label: "x", acceptanceIds: ["nonsense"] }));
  told.push(await ctx.parallel([() => ctx.agent("two"), () => ctx.agent("long"), () => Promise.reject(new Error("no"))]));
  ctx.log("between", "\u{1f980}".repeat(2000));
  const check = await ctx.check({ name: "loud", argv: ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"] });
  told.push(check.stdout, check.exit_code, check.outcome);
  const failed = await ctx.check({ name: "quiet", argv: ["sh", "-c", "echo why >&2; exit 3"] });
  told.push(failed.stderr, failed.exit_code);
  told.push(ctx.evidence({ kind: "test", status: "passed", label: "seen", acceptanceIds: ["works"] }), Math.random());
  return told;
};
"#;

/// An attempt whose process ended before it did.
pub(crate) struct Interrupted<'a> {
    project: &'a Project,
    id: StreamId,
    run_id: StreamId,
    /// The lines of the whole transcript, and those of the item's log up to the start of the attempt.
    run: Vec<String>,
    work: String,
}

fn log(project: &Project, kind: &str, id: &StreamId) -> PathBuf {
    project.state().join(kind).join(id.as_str()).join("events.jsonl")
}

impl<'a> Interrupted<'a> {
    /// An attempt that was made from its beginning to its end.
    pub(crate) fn after(project: &'a Project, id: StreamId, report: &AttemptReport) -> Self {
        let run_id = report.run_id.clone();
        let run = fs::read_to_string(log(project, "run", &run_id)).unwrap();
        let work = fs::read_to_string(log(project, "work", &id)).unwrap();
        Self {
            project,
            id,
            run_id,
            run: run.split_inclusive('\n').map(str::to_owned).collect(),
            work: work.split_inclusive('\n').take(2).collect(),
        }
    }

    /// The records as a process left them that ended after `lines` lines of the transcript.
    pub(crate) fn cut(&self, lines: usize) {
        fs::write(log(self.project, "run", &self.run_id), self.run[..lines].concat()).unwrap();
        fs::write(log(self.project, "work", &self.id), &self.work).unwrap();
        let _ = fs::remove_file(self.project.cwd().join("calls"));
    }

    fn resume_with(&self, adapters: &Adapters, stopper: &Stopper) -> Result<AttemptReport, AttemptError> {
        self.resume_in(Prepares::Nothing, adapters, stopper)
    }

    pub(crate) fn resume_in(
        &self,
        prepares: Prepares,
        adapters: &Adapters,
        stopper: &Stopper,
    ) -> Result<AttemptReport, AttemptError> {
        let root = self.project.cwd();
        let works = self.project.reopened();
        resume_attempt(ResumeRequest {
            works: &works,
            caller: &self.project.ann,
            id: &self.id,
            adapters,
            environment: &BTreeMap::from([("PATH".into(), std::env::var_os("PATH").unwrap_or_default())]),
            preparation: prepares.request(&root, &mut |_| {}),
            lease_note: "a test",
            stopper,
            observer: &mut |_| {},
        })
    }

    fn resume(&self) -> Result<AttemptReport, AttemptError> {
        let adapters = Adapters::none().with(sh("exec", AGENT)).with_default("exec");
        self.resume_with(&adapters, &Stopper::new())
    }

    /// The names of the events of the transcript as it is now.
    pub(crate) fn events(&self) -> Vec<String> {
        names(&fs::read_to_string(log(self.project, "run", &self.run_id)).unwrap())
    }

    /// How many agents were started since the cut.
    fn calls(&self) -> usize {
        fs::read_to_string(self.project.cwd().join("calls")).unwrap_or_default().lines().count()
    }
}

fn names(log: &str) -> Vec<String> {
    let name =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
    log.lines().map(name).collect()
}

fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|found| *found == name).count()
}

#[test]
fn from_every_point_the_end_is_the_same_and_no_answer_is_paid_twice() {
    let project = Project::new();
    let id = project.item(SCRIPT);
    let mut attempt = Attempt::of(&project, &id).agent(AGENT);
    attempt.options.concurrency = 1.try_into().unwrap();
    let first = attempt.run().unwrap();
    assert!(first.proof.passes(), "{:?}", first.proof.run.error);
    let told = project.result(&first.run_id);
    assert_eq!(told[3], "`sh` exited with code 4: no such luck");
    assert!(told[6].as_str().unwrap().contains("bytes left out"));
    let interrupted = Interrupted::after(&project, id, &first);
    let whole = names(&interrupted.run.concat());
    let agents = count(&whole, "agent.started");
    assert_eq!((agents, count(&whole, "agent.ended"), count(&whole, "check.ended")), (4, 4, 2));

    for lines in 1..whole.len() {
        interrupted.cut(lines);
        let kept = names(&interrupted.run[..lines].concat());
        let report = interrupted.resume().unwrap_or_else(|error| panic!("after {lines}: {error}"));

        assert_eq!(project.result(&interrupted.run_id), told, "after {lines}");
        assert_eq!(report.run_id, interrupted.run_id);
        assert_eq!(report.proof.acceptance, first.proof.acceptance, "after {lines}");
        assert_eq!(report.item.projection.state, ItemState::InReview, "after {lines}");
        assert_eq!(report.item.projection.charged_attempts, 1);
        let events = interrupted.events();
        let without: Vec<_> = events
            .iter()
            .filter(|name| *name != "run.resumed" && *name != "ledger.tail_moved")
            .cloned()
            .collect();
        assert_eq!((without.len(), count(&events, "run.resumed")), (whole.len(), 1), "after {lines}");
        assert_eq!(without, whole, "after {lines}");
        let answered = count(&kept, "agent.ended");
        assert_eq!(interrupted.calls(), agents - answered, "after {lines}");
        let work = project.work_events(&interrupted.id);
        assert_eq!(work[..4], ["work.created", "attempt.started", "attempt.resumed", "attempt.ended"]);
    }
    // What was put together from two processes is evidence like any other.
    let works = project.reopened();
    works.accept(&project.ann, &interrupted.id, Accept::default()).unwrap();
}

#[test]
fn an_attempt_goes_on_more_than_once() {
    let project = Project::new();
    let id = project.item(SCRIPT);
    let first = Attempt::of(&project, &id).agent(AGENT).run().unwrap();
    let told = project.result(&first.run_id);
    let interrupted = Interrupted::after(&project, id, &first);
    interrupted.cut(6);
    interrupted.resume().unwrap();
    let again = Interrupted::after(&project, interrupted.id.clone(), &first);
    again.cut(again.run.len() - 3);
    let report = again.resume().unwrap();
    assert_eq!(project.result(&report.run_id), told);
    assert_eq!(count(&again.events(), "run.resumed"), 2);
    assert_eq!(again.calls(), 0);
}

#[test]
fn a_decision_that_was_on_record_stays_the_end() {
    let script = r#"export const meta = { name: "b" };
export default async (ctx) => { const one = ctx.agent("one"); await ctx.agent("two"); ctx.blocked({ reason: "which?", decision: "d" }); };"#;
    let project = Project::new();
    let id = project.item(script);
    let first = Attempt::of(&project, &id).agent(AGENT).run().unwrap();
    let interrupted = Interrupted::after(&project, id, &first);
    for lines in 2..interrupted.run.len() {
        interrupted.cut(lines);
        let report = interrupted.resume().unwrap();
        assert_eq!(
            (report.proof.run.failure, report.proof.run.class),
            (Some(Failure::Decision), Some(Class::Decision))
        );
        assert_eq!(report.item.projection.blocked_on_decision.as_deref(), Some("d"));
        assert_eq!(count(&interrupted.events(), "run.blocked"), 1, "after {lines}");
    }
}

#[test]
fn a_stop_while_the_script_catches_up_starts_nothing() {
    let project = Project::new();
    let id = project.item(SCRIPT);
    let first = Attempt::of(&project, &id).agent(AGENT).run().unwrap();
    let interrupted = Interrupted::after(&project, id, &first);
    for lines in [2, 5, 8, interrupted.run.len() - 2] {
        interrupted.cut(lines);
        let stopper = Stopper::new();
        stopper.stop(StopReason::Signal);
        let adapters = Adapters::none().with(sh("exec", AGENT)).with_default("exec");
        let report = interrupted.resume_with(&adapters, &stopper).unwrap();
        assert_eq!(report.proof.run.failure, Some(Failure::Signal), "after {lines}");
        assert_eq!(interrupted.calls(), 0, "after {lines}");
        assert_eq!(report.item.projection.state, ItemState::Blocked);
    }
}

#[test]
fn what_cannot_go_on_as_it_was_is_refused_or_said() {
    let script = r#"export const meta = { name: "c" };
export default async (ctx) => { try { await ctx.agent("x", { adapter: "other" }); } catch { ctx.log("no other"); } await ctx.agent("y"); };"#;
    let project = Project::new();
    let id = project.item(script);
    let first = Attempt::of(&project, &id).agent(AGENT).run().unwrap();
    let interrupted = Interrupted::after(&project, id, &first);
    let lines = interrupted.run.len() - 1;

    interrupted.cut(lines);
    let before = fs::read(log(&project, "run", &interrupted.run_id)).unwrap();
    let error = interrupted.resume_with(&Adapters::none(), &Stopper::new()).unwrap_err();
    assert_eq!(error.code(), "adapter_unknown");
    assert_eq!(fs::read(log(&project, "run", &interrupted.run_id)).unwrap(), before);
    assert_eq!(project.work_events(&interrupted.id), ["work.created", "attempt.started"]);

    let adapters = Adapters::none().with(sh("exec", AGENT)).with(sh("other", AGENT)).with_default("exec");
    let error = interrupted.resume_with(&adapters, &Stopper::new()).unwrap_err();
    assert!(
        matches!(
            error,
            AttemptError::Run(RunError::Diverged { recorded: "log", found: "agent.started", .. })
        ),
        "{error}"
    );
    assert_eq!(interrupted.calls(), 0);
    // Nothing is lost: with what it had it goes on.
    let report = interrupted.resume().unwrap();
    assert_eq!(report.proof.run.error, None, "{}", json!(interrupted.events()));
}
