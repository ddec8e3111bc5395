//! `harn work show`, `harn work why` and `harn work log`

use serde_json::{Value, json};

use super::super::Context;
use super::{looked_at, print_item, warn_of_tail};
use crate::args::{LogArgs, ShowArgs, WhyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;

pub(super) fn show(context: &mut Context<'_, '_>, args: &ShowArgs) -> Result<Exit, Failure> {
    let id = looked_at(context, &args.id)?;
    if let Some(seq) = args.at {
        return show_at(context, &id, seq.into());
    }
    let item = context.session.works.get(&id)?;
    warn_of_tail(context, &item)?;
    print_item(context, &item)
}

/// The item as its log stood once.
fn show_at(context: &mut Context<'_, '_>, id: &harn_ledger::StreamId, seq: u64) -> Result<Exit, Failure> {
    let past = context.session.works.get_at(id, seq)?;
    let text = render::past_item(&past, context.prose_width(), context.palette);
    context.output.text(&text);
    let ledger = context.session.works.ledger();
    let mut document = render::item_document(ledger, &past.item, Some(seq))?;
    document["at"] = seq.into();
    context.output.document(document);
    Ok(Exit::Done)
}

pub(super) fn why(context: &mut Context<'_, '_>, args: &WhyArgs) -> Result<Exit, Failure> {
    let id = looked_at(context, &args.id)?;
    let caller = context.session.caller(None, context.io)?;
    let (item, explanation) = context.session.works.explain(&caller, &id)?;
    warn_of_tail(context, &item)?;
    let text = render::explanation(&item, &explanation, context.prose_width(), context.palette);
    context.output.text(&text);
    let mut document = json!({ "schema_version": 1, "id": id });
    if let (Value::Object(document), Ok(Value::Object(explanation))) =
        (&mut document, serde_json::to_value(&explanation))
    {
        document.extend(explanation);
    }
    context.output.document(document);
    Ok(Exit::Done)
}

pub(super) fn log(context: &mut Context<'_, '_>, args: &LogArgs) -> Result<Exit, Failure> {
    let id = looked_at(context, &args.id)?;
    super::super::run::print_log(context, "work", &id, args)
}
