//! `harn env prepare`, `harn env check` and `harn env key`

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use harn_engine::attempt::redactor;
use harn_engine::run::Stopper;
use harn_env::command::Environment;
use harn_env::prepare::{self, Progress, Request};
use harn_env::receipt::{End, Hold, Owner, Receipt, State};
use harn_env::recipe::{Chosen, RECIPE_MAX, Recipe};
use harn_ledger::{Decider as _, Stream};
use harn_workflow::work::Work;
use serde_json::json;

use super::super::Context;
use super::{receipt_or_last, receipts};
use crate::args::{CheckArgs, PrepareArgs, RecipeArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ids::resolve;
use crate::render;
use crate::signals;
use crate::text::safe_line;

pub(super) fn prepare(context: &mut Context<'_, '_>, args: &PrepareArgs) -> Result<Exit, Failure> {
    let plan = plan(context, args.recipe.plan.as_deref())?;
    let recipe = prepare::recipe_of(&context.session.project.root, plan.as_deref())?;
    let owner = match &args.work {
        Some(work) => {
            let work_item = resolve(context.session.works.ledger(), Work::KIND, work, false)?;
            Some(Owner { work_item, attempt: None })
        }
        None => None,
    };
    let asked = (args.recipe.sandbox_version.as_deref(), args.actor.as_deref());
    let prepare = |request: Request<'_>| prepare::prepare(Request { owner, ..request });
    let stream = attended(context, asked, &recipe, prepare)?;
    print(context, &stream)
}

pub(super) fn check(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<Exit, Failure> {
    let is_ready = |stream: &Stream<Receipt>| {
        stream.state().is_ok_and(|state| matches!(state.end(), Some((End::Ready, _))))
    };
    let before = receipt_or_last(context, args.id.as_deref(), is_ready)?;
    let asked = (args.sandbox_version.as_deref(), args.actor.as_deref());
    let stream = attended(context, asked, &Chosen::None, |request| prepare::check(request, before.id()))?;
    print(context, &stream)
}

pub(super) fn key(context: &mut Context<'_, '_>, args: &RecipeArgs) -> Result<Exit, Failure> {
    let root = context.session.project.root.clone();
    let plan = plan(context, args.plan.as_deref())?;
    let recipe = prepare::recipe_of(&root, plan.as_deref())?;
    let sandbox = super::sandbox(context, args.sandbox_version.as_deref())?;
    let home = home(context);
    let (digest, inputs) = match &recipe {
        Chosen::Recipe { recipe, .. } => (Some(Recipe::digest(recipe)), recipe.inputs.clone()),
        Chosen::None => (None, Vec::new()),
    };
    let source = harn_env::fingerprint::take(&root, &inputs).map_err(prepare::PrepareError::from)?;
    let (files, absent) = source.key_files();
    let key = harn_env::key::Key::new(digest, &sandbox, &home, files.to_vec(), absent.to_vec())
        .map_err(prepare::PrepareError::from)?;
    let last = receipts(context)?
        .into_iter()
        .find(|stream| matches!(stream.intent().purpose, harn_env::receipt::Purpose::Prepare {}));
    let misses: Option<Vec<String>> =
        last.as_ref().map(|last| key.misses(&last.intent().key).iter().map(ToString::to_string).collect());
    context.output.text(&render::key(&key, last.as_ref().zip(misses.as_deref()), context.palette));
    context.output.document(json!({
        "schema_version": 1,
        "digest": key.digest(),
        "key": key,
        "compared_with": last.as_ref().map(|last| last.id().clone()),
        "misses": misses,
    }));
    Ok(Exit::Done)
}

/// Runs a preparation or a check that a signal stops, and says on a terminal what happens.
fn attended(
    context: &mut Context<'_, '_>,
    (sandbox, actor): (Option<&str>, Option<&str>),
    recipe: &Chosen,
    work: impl FnOnce(Request<'_>) -> Result<Stream<Receipt>, prepare::PrepareError>,
) -> Result<Stream<Receipt>, Failure> {
    let caller = context.session.caller(actor, context.io)?;
    let stopper = Stopper::new();
    let _listening = signals::stop_on_signal(&stopper).map_err(|error| {
        Failure::new(Exit::Environment, "signals_unavailable", format!("cannot listen for signals: {error}"))
    })?;
    let sandbox = super::sandbox(context, sandbox)?;
    let home = home(context);
    let variables = context.io.environment.clone();
    let redactor = redactor(&variables);
    let environment = Environment::exact(variables.clone());
    let works = context.session.works.clone();
    let root = context.session.project.root.clone();
    let show = context.io.stderr.terminal.is_some();
    let stderr = &mut *context.io.stderr.writer;
    let mut progress = |it: Progress<'_>| {
        // Whoever waits is told, also where there is no terminal.
        if let Some(line) = render::preparing(&it).filter(|_| show || matches!(it, Progress::Waiting(_))) {
            // A closed stream must not end it.
            let _ = writeln!(stderr, "{}", safe_line(&line));
        }
    };
    Ok(work(Request {
        ledger: works.ledger(),
        root: &root,
        recipe,
        sandbox: &sandbox,
        environment: &environment,
        home: &home,
        redactor: &redactor,
        cancel: stopper.environment(),
        owner: None,
        actor: caller.actor.as_str(),
        id: works.new_id("env"),
        now: &|| works.now(),
        progress: &mut progress,
    })?)
}

fn home(context: &Context<'_, '_>) -> String {
    prepare::home(context.io.variable("HOME").map(Path::new))
}

/// The plan's recipe, at most one byte more than one may have.
fn plan(context: &mut Context<'_, '_>, path: Option<&Path>) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        (&mut *context.io.stdin).take(RECIPE_MAX as u64 + 1).read_to_end(&mut bytes)
    } else {
        File::open(context.io.directory.join(path))
            .and_then(|file| file.take(RECIPE_MAX as u64 + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        Failure::new(Exit::Refused, "plan_unreadable", format!("cannot read `{}`: {error}", path.display()))
    })?;
    Ok(Some(bytes))
}

fn print(context: &mut Context<'_, '_>, stream: &Stream<Receipt>) -> Result<Exit, Failure> {
    let state = stream.state().map_err(harn_ledger::StreamError::from)?;
    let text = render::receipt(stream.intent(), &state, context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(render::receipt_document(stream.intent(), &state));
    Ok(exit(&state))
}

/// What came of it, for a script that asks.
fn exit(state: &State) -> Exit {
    let comparisons = state.comparisons();
    match state.end() {
        Some((End::Held(Hold::Cancelled), _)) | None => Exit::Interrupted,
        Some((End::Held(_), _)) => Exit::Environment,
        Some((End::Ready, _)) => Exit::Done,
        Some((End::Checked, _)) if comparisons.iter().all(|it| it.verdict.passes()) => Exit::Done,
        Some((End::Checked, _)) => {
            use harn_env::compare::Verdict::{EnvironmentGap, EnvironmentLost};
            let environment_alone = comparisons
                .iter()
                .all(|it| it.verdict.passes() || matches!(it.verdict, EnvironmentGap | EnvironmentLost));
            if environment_alone { Exit::Environment } else { Exit::WorkFailed }
        }
    }
}
