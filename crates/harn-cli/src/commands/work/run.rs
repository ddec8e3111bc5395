//! `harn work run`, `harn work retry` and `harn work resume`

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use harn_engine::attempt::{
    AttemptError, AttemptOptions, AttemptReport, AttemptRequest, EnvironmentRequest, ResumeRequest,
    resume_attempt, run_attempt,
};
use harn_engine::run::Stopper;
use harn_env::prepare::Progress;
use harn_ledger::Recorded;
use harn_workflow::WorkLedger;
use harn_workflow::run::{Class, Event, Failure as RunFailure, Hold, Isolation};
use harn_workflow::work::{Caller, Role, Trigger};

use super::super::Context;
use super::adapters::adapters;
use super::changed;
use crate::args::{ResumeArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::returned::returned;
use crate::signals;
use crate::text::safe_line;

pub(super) fn run(context: &mut Context<'_, '_>, args: &RunArgs, trigger: Trigger) -> Result<Exit, Failure> {
    let isolation = isolation(args)?;
    let config = context.session.config()?;
    let adapters = adapters(args.adapter.as_deref(), args.exec.as_deref(), &config)?;
    let id = changed(context, &args.id)?;
    let mut caller = context.session.caller(args.actor.as_deref(), context.io)?;
    if args.unattended && caller.role == Role::Person {
        caller.role = Role::Automation;
    }
    let options = AttemptOptions {
        cwd: directory(context, args),
        max_agents: number(args.max_agents),
        concurrency: number(args.concurrency),
        deadline: args.deadline,
        subscription_only: args.subscription_only,
        allow_api_billing: args.allow_api_billing,
        approval_to: args.approval_to.clone(),
        isolation,
        require_acceptance: config.require_acceptance,
    };
    attended(context, &caller, |works, run| {
        run_attempt(AttemptRequest {
            works,
            caller: &caller,
            id: &id,
            trigger,
            options: &options,
            adapters: &adapters,
            environment: run.environment,
            preparation: Some(EnvironmentRequest {
                root: run.root,
                skip: args.no_env,
                sandbox: run.sandbox,
                progress: run.progress,
            }),
            lease_note: run.lease_note,
            stopper: run.stopper,
            observer: run.observer,
        })
    })
}

pub(super) fn resume(context: &mut Context<'_, '_>, args: &ResumeArgs) -> Result<Exit, Failure> {
    let config = context.session.config()?;
    let adapters = adapters(None, args.exec.as_deref(), &config)?;
    let id = changed(context, &args.id)?;
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    attended(context, &caller, |works, run| {
        resume_attempt(ResumeRequest {
            works,
            caller: &caller,
            id: &id,
            adapters: &adapters,
            environment: run.environment,
            preparation: Some(EnvironmentRequest {
                root: run.root,
                skip: args.no_env,
                sandbox: run.sandbox,
                progress: run.progress,
            }),
            lease_note: run.lease_note,
            stopper: run.stopper,
            observer: run.observer,
        })
    })
}

/// What stands around an attempt while it runs.
struct Attended<'a> {
    environment: &'a BTreeMap<OsString, OsString>,
    root: &'a Path,
    sandbox: Option<&'a str>,
    progress: &'a mut dyn FnMut(Progress<'_>),
    lease_note: &'a str,
    stopper: &'a Stopper,
    observer: &'a mut dyn FnMut(&Recorded<Event>),
}

/// Runs an attempt that a signal stops, shows what happens in it, and prints what came of it.
fn attended(
    context: &mut Context<'_, '_>,
    caller: &Caller,
    attempt: impl FnOnce(&WorkLedger, Attended<'_>) -> Result<AttemptReport, AttemptError>,
) -> Result<Exit, Failure> {
    let stopper = Stopper::new();
    let _listening = signals::stop_on_signal(&stopper).map_err(|error| {
        Failure::new(Exit::Environment, "signals_unavailable", format!("cannot listen for signals: {error}"))
    })?;
    let lease_note = format!("{} runs it, process {}", caller.actor, std::process::id());
    let environment = context.io.environment.clone();
    let sandbox = context.session.config()?.env.sandbox_version;
    let root = context.session.project.root.clone();
    let show_progress = context.io.stderr.terminal.is_some();
    let stderr = RefCell::new(&mut *context.io.stderr.writer);
    let say = |line: &str| {
        // A closed stream must not end a run.
        let _ = writeln!(stderr.borrow_mut(), "{line}");
    };
    let mut observer = |recorded: &Recorded<Event>| {
        if show_progress && let Some(line) = render::progress(recorded) {
            say(&line);
        }
    };
    let mut progress = |it: Progress<'_>| {
        // Whoever waits is told, also where there is no terminal.
        if let Some(line) =
            render::preparing(&it).filter(|_| show_progress || matches!(it, Progress::Waiting(_)))
        {
            say(&safe_line(&line));
        }
    };
    let around = Attended {
        environment: &environment,
        root: &root,
        sandbox: sandbox.as_deref(),
        progress: &mut progress,
        lease_note: &lease_note,
        stopper: &stopper,
        observer: &mut observer,
    };
    let report = attempt(&context.session.works, around)?;
    let result = returned(&context.session.works, report.run_id.as_str());
    let text = render::report(&report, result.as_ref(), context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(render::report_document(&report, result.as_ref()));
    Ok(exit(&report))
}

/// What became of the attempt, for a script that asks.
fn exit(report: &AttemptReport) -> Exit {
    let run = &report.proof.run;
    let environment = report.proof.environment.as_ref();
    let hold = environment.and_then(|it| it.preparation.as_ref()).and_then(|it| it.hold);
    match (run.failure, run.class) {
        _ if report.proof.passes() => Exit::Done,
        _ if hold == Some(Hold::Source) => Exit::Environment,
        (Some(RunFailure::Signal), _) => Exit::Interrupted,
        (_, Some(Class::Decision)) => Exit::Waiting,
        (_, Some(Class::Environment | Class::Upstream)) => Exit::Environment,
        _ => Exit::WorkFailed,
    }
}

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("the command line takes no zero")
}

/// Where agents and checks work, as an absolute path.
fn directory(context: &Context<'_, '_>, args: &RunArgs) -> PathBuf {
    match &args.cwd {
        Some(directory) => context.io.directory.join(directory),
        None => context.session.project.root.clone(),
    }
}

/// What does not exist yet is refused by name, never accepted and ignored.
fn isolation(args: &RunArgs) -> Result<Isolation, Failure> {
    let not_built = |what: &str| {
        Failure::new(
            Exit::Refused,
            "not_built",
            format!("{what} is not built yet, so the attempt is not started"),
        )
    };
    if args.policy.is_some() {
        return Err(not_built("`--policy`").hint("leave `--policy` out"));
    }
    let isolation = match args.isolation.as_deref() {
        None | Some("shared") => Isolation::Shared,
        Some("worktree") => Isolation::Worktree,
        Some(other) => {
            let message =
                format!("`{}` is not an isolation, expected `shared` or `worktree`", other.escape_debug());
            return Err(Failure::new(Exit::Usage, "isolation_unknown", message));
        }
    };
    match (&args.workspace_root, isolation) {
        (Some(_), Isolation::Shared) => Err(Failure::new(
            Exit::Usage,
            "workspace_root_without_worktree",
            "`--workspace-root` requires `--isolation worktree`",
        )
        .hint("leave `--workspace-root` out to run in the checkout itself")),
        (Some(_), Isolation::Worktree) => Err(not_built("an isolated worktree")
            .hint("leave `--workspace-root` out to run in the checkout itself")),
        (None, isolation) => Ok(isolation),
    }
}
