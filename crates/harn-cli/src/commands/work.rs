//! `harn work …`

mod adapters;
mod create;
mod govern;
mod list;
mod reconcile;
mod run;
mod show;

use harn_ledger::StreamId;
use harn_workflow::work::Trigger;
use harn_workflow::{Changed, WorkItem};

use super::Context;
use crate::args::WorkCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ids::resolve;
use crate::render;

pub(super) fn run(context: &mut Context<'_, '_>, command: &WorkCommand) -> Result<Exit, Failure> {
    let (result, id) = match command {
        WorkCommand::Create(args) => (create::run(context, args), None),
        WorkCommand::List(args) => (list::run(context, args), None),
        WorkCommand::Show(args) => (show::show(context, args), None),
        WorkCommand::Why(args) => (show::why(context, args), None),
        WorkCommand::Log(args) => (show::log(context, args), None),
        WorkCommand::Note { id, text, actor } => {
            (govern::note(context, id, text, actor.as_deref()), Some(id))
        }
        WorkCommand::Reconcile { id, actor } => {
            (reconcile::run(context, id.as_deref(), actor.as_deref()), id.as_ref())
        }
        WorkCommand::Run(args) => (run::run(context, args, Trigger::Initial), Some(&args.id)),
        WorkCommand::Retry(args) => (run::run(context, args, Trigger::Retry), Some(&args.id)),
        WorkCommand::Accept(args) => (govern::accept(context, args), Some(&args.act.id)),
        WorkCommand::Cancel(args) => (govern::cancel(context, args), Some(&args.id)),
        WorkCommand::Reopen(args) => (govern::reopen(context, args), Some(&args.act.id)),
        WorkCommand::Recharge(args) => (govern::recharge(context, args), Some(&args.id)),
        WorkCommand::Resume(args) => (run::resume(context, args), Some(&args.id)),
        WorkCommand::Grant { id, attempts, reason, actor } => {
            (govern::grant(context, id, *attempts, reason, actor.as_deref()), Some(id))
        }
    };
    result.map_err(|failure| match id {
        Some(id) if failure.exit == Exit::Refused && !failure.is_about_a_text() => {
            failure.or_hint(|| format!("harn work show {id}"))
        }
        _ => failure,
    })
}

/// The item that a command means which only looks.
fn looked_at(context: &Context<'_, '_>, id: &str) -> Result<StreamId, Failure> {
    resolve(context.session.works.ledger(), "work", id, true)
}

/// The item that a command means which changes it.
fn changed(context: &Context<'_, '_>, id: &str) -> Result<StreamId, Failure> {
    resolve(context.session.works.ledger(), "work", id, context.prefixes_change_things())
}

/// Warns of bytes that a crash left behind the item's last event, and returns the words.
fn warn_of_tail(context: &mut Context<'_, '_>, item: &WorkItem) -> Result<Option<String>, Failure> {
    let Some(tail) = item.stream.unfinished_tail()? else { return Ok(None) };
    let events = item.stream.head()?.seq;
    Ok(Some(context.warn_of_tail("work", item.stream.id(), events, tail)))
}

/// Prints an item after it was changed.
fn print_changed(context: &mut Context<'_, '_>, changed: &Changed) -> Result<Exit, Failure> {
    print_item(context, &changed.item)
}

/// Prints an item with the evidence of its latest attempt.
fn print_item(context: &mut Context<'_, '_>, item: &WorkItem) -> Result<Exit, Failure> {
    let works = &context.session.works;
    let proved = item.projection.attempts.iter().rev().find_map(|attempt| Some((attempt, attempt.proof?)));
    // The proof of an imported attempt is in another program's words.
    let proved = proved.filter(|(attempt, _)| !attempt.imported);
    let evidence =
        proved.map(|(attempt, proof)| (attempt.number, works.stored_proof(&attempt.run_id, &proof)));
    let text = render::item(item, evidence.as_ref(), context.prose_width(), context.palette);
    context.output.text(&text);
    let document = render::item_document(context.session.works.ledger(), item, None)?;
    context.output.document(document);
    Ok(Exit::Done)
}
