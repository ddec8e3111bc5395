//! `harn env …`

mod decide;
mod look;
mod run;

use harn_env::receipt::Receipt;
use harn_ledger::{Stream, StreamId};

use super::Context;
use crate::args::EnvCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ids::resolve;

pub(super) fn run(context: &mut Context<'_, '_>, command: &EnvCommand) -> Result<Exit, Failure> {
    match command {
        EnvCommand::Prepare(args) => run::prepare(context, args),
        EnvCommand::Check(args) => run::check(context, args),
        EnvCommand::Show { id } => look::show(context, id.as_deref()),
        EnvCommand::List => look::list(context),
        EnvCommand::Compare { before, after } => look::compare(context, before, after),
        EnvCommand::Resolve(args) => decide::resolve(context, args),
        EnvCommand::Adopt { id, command } => decide::adopt(context, id, command),
        EnvCommand::Key(args) => run::key(context, args),
        EnvCommand::Fingerprint => look::fingerprint(context),
    }
}

/// What is stated of this machine: by the caller, else by the configuration, else by the machine.
fn sandbox(context: &Context<'_, '_>, asked: Option<&str>) -> Result<String, Failure> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let stated = context.session.config()?.env.sandbox_version;
    Ok(stated.unwrap_or_else(harn_env::prepare::sandbox_version))
}

fn receipt(context: &Context<'_, '_>, id: &str) -> Result<Stream<Receipt>, Failure> {
    let ledger = context.session.works.ledger();
    let id = resolve(ledger, "env", id, true)?;
    Ok(ledger.stream::<Receipt>(id.as_str())?)
}

/// The receipt that is named, else the newest one that `fits`.
fn receipt_or_last(
    context: &Context<'_, '_>,
    id: Option<&str>,
    fits: impl Fn(&Stream<Receipt>) -> bool,
) -> Result<Stream<Receipt>, Failure> {
    if let Some(id) = id {
        return receipt(context, id);
    }
    let last = receipts(context)?.into_iter().find(|stream| fits(stream));
    last.ok_or_else(|| {
        Failure::new(Exit::Refused, "no_receipt", "there is no receipt to take").hint("harn env prepare")
    })
}

/// All receipts that can be read, the newest first.
fn receipts(context: &Context<'_, '_>) -> Result<Vec<Stream<Receipt>>, Failure> {
    let ledger = context.session.works.ledger();
    let ids: Vec<StreamId> = ledger.ids("env")?;
    let mut streams: Vec<Stream<Receipt>> =
        ids.iter().filter_map(|id| ledger.stream::<Receipt>(id.as_str()).ok()).collect();
    streams.sort_by(|one, other| {
        let key = |stream: &Stream<Receipt>| (stream.intent().created_at, stream.id().clone());
        key(other).cmp(&key(one))
    });
    Ok(streams)
}
