//! `harn work run` and `harn work retry`

use std::num::NonZeroU32;
use std::path::PathBuf;

use harn_engine::adapter::Exec;
use harn_engine::attempt::{AttemptOptions, AttemptReport, AttemptRequest, run_attempt};
use harn_engine::run::{Adapters, Stopper};
use harn_workflow::run::{Class, Failure as RunFailure, Isolation};
use harn_workflow::work::{Role, Trigger};

use super::super::Context;
use super::changed;
use crate::args::{ActArgs, RunArgs};
use crate::config::Config;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::returned::returned;
use crate::signals;

pub(super) fn run(context: &mut Context<'_, '_>, args: &RunArgs, trigger: Trigger) -> Result<Exit, Failure> {
    let isolation = isolation(args)?;
    let config = context.session.config()?;
    let adapters = adapters(args, &config)?;
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
    let stopper = Stopper::new();
    let _listening = signals::stop_on_signal(&stopper).map_err(|error| {
        Failure::new(Exit::Environment, "signals_unavailable", format!("cannot listen for signals: {error}"))
    })?;
    let lease_note = format!("{} runs it, process {}", caller.actor, std::process::id());
    let environment = context.io.environment.clone();
    let show_progress = context.io.stderr.terminal.is_some();
    let stderr = &mut *context.io.stderr.writer;
    let mut observer = |recorded: &_| {
        if show_progress && let Some(line) = render::progress(recorded) {
            // A closed stream must not end a run.
            let _ = writeln!(stderr, "{line}");
        }
    };
    let report = run_attempt(AttemptRequest {
        works: &context.session.works,
        caller: &caller,
        id: &id,
        trigger,
        options: &options,
        adapters: &adapters,
        environment: &environment,
        lease_note: &lease_note,
        stopper: &stopper,
        observer: &mut observer,
    })?;
    let result = returned(&context.session.works, report.run_id.as_str());
    let text = render::report(&report, result.as_ref(), context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(render::report_document(&report, result.as_ref()));
    Ok(exit(&report))
}

/// Says whether the attempt could go on; going on is not built yet.
pub(super) fn resume(context: &mut Context<'_, '_>, args: &ActArgs) -> Result<Exit, Failure> {
    let id = changed(context, &args.id)?;
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    context.session.works.check_resume(&caller, &id)?;
    Err(Failure::new(
        Exit::Refused,
        "not_built",
        format!("attempt of `{id}` could go on, but going on from a transcript is not built yet"),
    )
    .hint(format!("harn work retry {id}")))
}

/// What became of the attempt, for a script that asks.
fn exit(report: &AttemptReport) -> Exit {
    let run = &report.proof.run;
    match (run.failure, run.class) {
        _ if report.proof.passes() => Exit::Done,
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

/// The adapters that are configured or given, and which of them is meant.
fn adapters(args: &RunArgs, config: &Config) -> Result<Adapters, Failure> {
    let mut adapters = Adapters::none();
    let refuse = |error: harn_engine::adapter::ExecError| {
        Failure::from_error(Exit::Refused, error.code(), None, &error)
    };
    for (name, adapter) in &config.adapters {
        adapters = adapters.with(Exec::new(name, &adapter.command).map_err(refuse)?);
    }
    if let Some(command) = &args.exec {
        if args.adapter.as_deref().is_some_and(|name| name != "exec") {
            let message = "`--exec` is the command of the adapter `exec`, and another adapter is named";
            return Err(Failure::new(Exit::Usage, "exec_with_other_adapter", message)
                .hint("leave one of `--adapter` and `--exec` out"));
        }
        let words = shlex::split(command).ok_or_else(|| {
            let message = format!("`--exec` has an open quotation: {}", command.escape_debug());
            Failure::new(Exit::Usage, "exec_unreadable", message).hint("quote the command as for a shell")
        })?;
        adapters = adapters.with(Exec::new("exec", words).map_err(refuse)?).with_default("exec");
    } else if args.adapter.as_deref() == Some("exec") && adapters.get("exec").is_none() {
        return Err(Failure::new(Exit::Usage, "exec_missing", "the adapter `exec` needs a command")
            .hint("add `--exec COMMAND`"));
    }
    match args.adapter.as_deref().or(config.adapter.as_deref()) {
        Some(name) if args.exec.is_none() => Ok(adapters.with_default(name)),
        _ => Ok(adapters),
    }
}
