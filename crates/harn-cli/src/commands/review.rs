//! `harn review …`

mod checks;
mod govern;
mod look;
mod turn;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use harn_engine::attempt::redactor;
use harn_engine::review::{Asked, Controller, ReviewError};
use harn_engine::run::Stopper;
use harn_env::command::Environment;
use harn_ledger::{Decider as _, Stream, StreamId};
use harn_review::{FindingId, Gate, Review};
use harn_workflow::work::ReviewFact;

use super::Context;
use crate::args::ReviewCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ids::resolve;
use crate::signals;

pub(super) fn run(context: &mut Context<'_, '_>, command: &ReviewCommand) -> Result<Exit, Failure> {
    match command {
        ReviewCommand::Open(args) => turn::open(context, args),
        ReviewCommand::List => look::list(context),
        ReviewCommand::Begin(args) => turn::begin(context, args),
        ReviewCommand::Submit(args) => turn::submit(context, args),
        ReviewCommand::Import(args) => turn::import(context, args),
        ReviewCommand::Show { id, finding } => look::show(context, id, finding.as_deref()),
        ReviewCommand::Repair(args) => govern::repair(context, args),
        ReviewCommand::RecordCheck(args) => checks::record(context, args),
        ReviewCommand::Decide(args) => govern::decide(context, args),
        ReviewCommand::Waive { id, check, why } => govern::waive(context, id, check, why),
        ReviewCommand::Plan { id, file, why } => govern::plan(context, id, file, why),
        ReviewCommand::FixCheck(args) => checks::fix(context, args),
        ReviewCommand::Gate(args) => look::gate(context, args),
        ReviewCommand::Schema { id } => look::schema(context, id.as_deref()),
        ReviewCommand::Export { id, format } => look::export(context, id, *format),
    }
}

/// What the reviews of a project are worked on with; a signal stops what runs.
fn with_controller<T>(
    context: &mut Context<'_, '_>,
    actor: Option<&str>,
    work: impl FnOnce(&Controller<'_>, &mut dyn FnMut(&str)) -> Result<T, ReviewError>,
) -> Result<T, Failure> {
    let caller = context.session.caller(actor, context.io)?;
    controlled(context, caller.actor.as_str(), work)
}

fn controlled<T>(
    context: &mut Context<'_, '_>,
    actor: &str,
    work: impl FnOnce(&Controller<'_>, &mut dyn FnMut(&str)) -> Result<T, ReviewError>,
) -> Result<T, Failure> {
    let stopper = Stopper::new();
    let _listening = signals::stop_on_signal(&stopper).map_err(|error| {
        Failure::new(Exit::Environment, "signals_unavailable", format!("cannot listen for signals: {error}"))
    })?;
    let variables: BTreeMap<OsString, OsString> = context.io.environment.clone();
    let redactor = redactor(&variables);
    let environment = Environment::exact(variables);
    let works = context.session.works.clone();
    let root = context.session.project.root.clone();
    let controller = Controller {
        works: &works,
        root: &root,
        environment: &environment,
        redactor: &redactor,
        cancel: stopper.environment(),
        actor,
    };
    let show = context.io.stderr.terminal.is_some();
    let stderr = &mut *context.io.stderr.writer;
    let mut say = |line: &str| {
        if show {
            // A closed stream must not end it.
            let _ = writeln!(stderr, "{line}");
        }
    };
    Ok(work(&controller, &mut say)?)
}

/// A review that is only looked at: a prefix will do.
fn shown(context: &Context<'_, '_>, id: &str) -> Result<Stream<Review>, Failure> {
    let ledger = context.session.works.ledger();
    let id = resolve(ledger, Review::KIND, id, true)?;
    Ok(ledger.stream::<Review>(id.as_str())?)
}

/// A review that is changed: a prefix will do where a person sees it.
fn changed(context: &Context<'_, '_>, id: &str) -> Result<Stream<Review>, Failure> {
    let ledger = context.session.works.ledger();
    let id = resolve(ledger, Review::KIND, id, context.prefixes_change_things())?;
    Ok(ledger.stream::<Review>(id.as_str())?)
}

/// All reviews that can be read, the newest first.
fn reviews(context: &Context<'_, '_>) -> Result<Vec<Stream<Review>>, Failure> {
    let ledger = context.session.works.ledger();
    let ids: Vec<StreamId> = ledger.ids(Review::KIND)?;
    let mut streams: Vec<Stream<Review>> =
        ids.iter().filter_map(|id| ledger.stream::<Review>(id.as_str()).ok()).collect();
    streams.sort_by(|one, other| {
        let key = |stream: &Stream<Review>| (stream.intent().created_at, stream.id().clone());
        key(other).cmp(&key(one))
    });
    Ok(streams)
}

/// What only a person decides: a process that a workflow started may not.
fn refuse_child(context: &Context<'_, '_>, what: &str) -> Result<(), Failure> {
    if !context.session.is_child() {
        return Ok(());
    }
    let message = format!("a process started by a workflow may not {what}");
    Err(Failure::new(Exit::Refused, "workflow_child", message))
}

fn finding_id(text: &str) -> Result<FindingId, Failure> {
    Ok(text.parse::<FindingId>()?)
}

/// A file, or standard input; at most one byte more than `max`.
fn read(context: &mut Context<'_, '_>, path: &Path, max: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        (&mut *context.io.stdin).take(max as u64 + 1).read_to_end(&mut bytes)
    } else {
        File::open(context.io.directory.join(path))
            .and_then(|file| file.take(max as u64 + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            Err(Failure::new(Exit::Refused, "input_unreadable", message))
        }
    }
}

/// What the gate of a work item's last review says of the present source; none when it has none.
pub(super) fn review_of(
    context: &mut Context<'_, '_>,
    item: &StreamId,
    actor: &str,
) -> Result<Option<ReviewFact>, Failure> {
    let Some(review) = reviews(context)?.into_iter().find(|it| it.intent().work_item.as_ref() == Some(item))
    else {
        return Ok(None);
    };
    let id = review.id().clone();
    // Whoever accepts says of every open finding of the item what becomes of it.
    let asked = Asked { ignore_queue: true, ..Asked::default() };
    let (gate, _, _) = controlled(context, actor, |controller, _| controller.gate(&review, asked))?;
    Ok(Some(match gate {
        Gate::Open { turn, fingerprint, .. } => {
            ReviewFact::Clean { review: id, turn: turn.to_string(), fingerprint }
        }
        Gate::Closed { reasons } => ReviewFact::Closed {
            review: Some(id),
            reasons: reasons.iter().map(ToString::to_string).collect(),
        },
    }))
}
