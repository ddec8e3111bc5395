//! What a person decides about an item: `accept`, `reopen`, `cancel`, `grant`, `recharge`, `note`.

use std::io::Read as _;

use harn_ledger::Digest;
use harn_workflow::Changed;
use harn_workflow::work::{Accept, Carry, Disposition, FindingId, Reopen, Ruling};

use super::super::Context;
use super::super::review::review_of;
use super::{changed, print_changed};
use crate::args::{AcceptArgs, ActArgs, DispositionArg, OutcomeArg, RechargeArgs, ReopenArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// Longest text that is read from standard input: more than any text may have.
const INPUT_MAX: u64 = 1 << 20;

pub(super) fn note(
    context: &mut Context<'_, '_>,
    id: &str,
    text: &str,
    actor: Option<&str>,
) -> Result<Exit, Failure> {
    let id = changed(context, id)?;
    let caller = context.session.caller(actor, context.io)?;
    let text = if text == "-" { standard_input(context)? } else { text.to_owned() };
    let done = context.session.works.note(&caller, &id, text)?;
    print_changed(context, &done)
}

fn standard_input(context: &mut Context<'_, '_>) -> Result<String, Failure> {
    let mut text = String::new();
    match context.io.stdin.take(INPUT_MAX).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("cannot read standard input: {error}");
            Err(Failure::new(Exit::Environment, "input_unreadable", message))
        }
    }
}

pub(super) fn grant(
    context: &mut Context<'_, '_>,
    id: &str,
    attempts: u32,
    reason: &str,
    actor: Option<&str>,
) -> Result<Exit, Failure> {
    let id = changed(context, id)?;
    let caller = context.session.caller(actor, context.io)?;
    let done = context.session.works.grant(&caller, &id, attempts, reason.to_owned())?;
    print_changed(context, &done)
}

pub(super) fn recharge(context: &mut Context<'_, '_>, args: &RechargeArgs) -> Result<Exit, Failure> {
    let id = changed(context, &args.id)?;
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    let reason = args.reason.clone();
    let done = context.session.works.recharge(&caller, &id, args.attempt, args.charge.0, reason)?;
    if done.events.is_empty() {
        context.output.text("nothing changed: the attempt is judged so already\n");
    }
    print_changed(context, &done)
}

pub(super) fn cancel(context: &mut Context<'_, '_>, args: &ActArgs) -> Result<Exit, Failure> {
    let id = changed(context, &args.id)?;
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    let done = context.session.works.cancel(&caller, &id, args.reason.clone())?;
    print_changed(context, &done)
}

pub(super) fn accept(context: &mut Context<'_, '_>, args: &AcceptArgs) -> Result<Exit, Failure> {
    let id = changed(context, &args.act.id)?;
    let caller = context.session.caller(args.act.actor.as_deref(), context.io)?;
    let expect_proof = args.expect_proof.as_deref().map(digest).transpose()?;
    let review = if context.session.works.get(&id)?.intent().require_review {
        review_of(context, &id, caller.actor.as_str())?
    } else {
        None
    };
    let request = Accept {
        dispositions: args.dispose.0.iter().map(disposition).collect::<Result<_, _>>()?,
        expect_proof,
        accepted_unknowns: args.accept_unknown.clone(),
        reason: args.act.reason.clone(),
        only_raiser: context.session.config()?.findings.only_raiser,
        review,
    };
    let raised: Vec<_> = context.session.works.get(&id)?.projection.findings.open;
    let done = context.session.works.accept(&caller, &id, request)?;
    for finding in raised.iter().filter(|finding| finding.actor != caller.actor) {
        context.warn(&format!(
            "{} disposes of finding {}, which {} raised; the record keeps both names",
            caller.actor, finding.id, finding.actor
        ));
    }
    print_changed(context, &done)
}

fn digest(text: &str) -> Result<Digest, Failure> {
    text.parse().map_err(|error| Failure::from_error(Exit::Usage, "digest_invalid", None, &error))
}

fn finding_id(text: &str) -> Result<FindingId, Failure> {
    text.parse().map_err(|error| Failure::from_error(Exit::Refused, "unknown_finding", None, &error))
}

fn disposition(arg: &DispositionArg) -> Result<Disposition, Failure> {
    let (outcome, reason) = match &arg.outcome {
        OutcomeArg::Fixed => (Ruling::Fixed, None),
        OutcomeArg::Deferred(reason) => {
            (Ruling::Deferred, Some(reason.clone()).filter(|reason| !reason.is_empty()))
        }
    };
    Ok(Disposition { id: finding_id(&arg.finding)?, outcome, reason })
}

pub(super) fn reopen(context: &mut Context<'_, '_>, args: &ReopenArgs) -> Result<Exit, Failure> {
    let id = changed(context, &args.act.id)?;
    let caller = context.session.caller(args.act.actor.as_deref(), context.io)?;
    let carry = match args.carry.as_slice() {
        [] => Carry::Unsaid,
        ids if ids.iter().any(|id| id == "all") => Carry::All,
        ids => Carry::These(ids.iter().map(|id| finding_id(id)).collect::<Result<_, _>>()?),
    };
    let request = Reopen {
        reason: args.act.reason.clone(),
        findings: args.finding.clone(),
        carry,
        supersede_all: args.supersede_all,
        grant: args.grant,
    };
    let done = context.session.works.reopen(&caller, &id, request)?;
    if done.events.is_empty() {
        context.output.text("nothing changed: the item is reopened already, with the same findings\n");
    }
    say_what_stays_open(context, &done, args);
    print_changed(context, &done)
}

/// A reopen without findings leaves the open ones as they are; nothing stays open unsaid.
fn say_what_stays_open(context: &mut Context<'_, '_>, done: &Changed, args: &ReopenArgs) {
    let open = &done.item.projection.findings.open;
    if !open.is_empty() && args.finding.is_empty() && args.carry.is_empty() && !done.events.is_empty() {
        let ids: Vec<String> = open.iter().map(|finding| finding.id.to_string()).collect();
        context.warn(&format!("still open: {}", ids.join(", ")));
    }
}
