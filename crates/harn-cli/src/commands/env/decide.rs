//! `harn env resolve` and `harn env adopt`

use harn_env::receipt::{CommandResult, Receipt, Resolution, Stage};
use harn_env::resolve::{self, Request};
use harn_ledger::{Stream, StreamError};
use serde_json::json;

use super::super::Context;
use super::receipt;
use crate::args::ResolveArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::safe_line;

/// Longest finding, in characters.
const FINDING_MAX: usize = 1_000;
/// Lines of output that a finding quotes.
const LINES: usize = 6;

pub(super) fn resolve(context: &mut Context<'_, '_>, args: &ResolveArgs) -> Result<Exit, Failure> {
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    let stream = receipt(context, &args.id)?;
    let resolution = if args.keep { Resolution::Keep } else { Resolution::Restore };
    let done = resolve::resolve(Request {
        ledger: context.session.works.ledger(),
        root: &context.session.project.root,
        receipt: stream.id(),
        resolution,
        reason: &args.reason,
        actor: caller.actor.as_str(),
    })?;
    for path in &done.restored {
        context.output.text(&format!("put back {}\n", safe_line(path)));
    }
    let said = match resolution {
        Resolution::Keep => "the edits stay; the next preparation begins with them",
        Resolution::Restore => "the source is as it was before the preparation",
    };
    context.output.text(&format!("{said}\n"));
    context.output.document(json!({
        "schema_version": 1,
        "receipt": done.receipt.id(),
        "resolution": resolution,
        "restored": done.restored,
    }));
    Ok(Exit::Done)
}

pub(super) fn adopt(context: &mut Context<'_, '_>, id: &str, command: &str) -> Result<Exit, Failure> {
    let stream = receipt(context, id)?;
    let state = stream.state().map_err(StreamError::from)?;
    let mut baseline = state.done().iter().filter(|done| done.stage == Stage::Baseline);
    let Some(done) = baseline.find(|done| done.result.name == command) else {
        let message = format!("`{}` is no command of the baseline in `{}`", safe_line(command), stream.id());
        let hint = format!("harn env show {}", stream.id());
        return Err(Failure::new(Exit::Refused, "no_such_command", message).hint(hint));
    };
    if done.result.passed() {
        let message =
            format!("`{}` passed in `{}`, so there is nothing to repair", safe_line(command), stream.id());
        return Err(Failure::new(Exit::Refused, "nothing_to_adopt", message));
    }
    let finding = finding(&stream, &done.result);
    let item = stream.intent().owner.as_ref().map_or("WORK-ID", |owner| owner.work_item.as_str());
    context.output.text(&format!("{finding}\n"));
    if context.io.stderr.terminal.is_some() {
        let command = shlex::try_quote(command).unwrap_or_default();
        let adopted = format!("$(harn env adopt {} {command})", stream.id());
        let hint = format!("harn work reopen {item} --finding \"{adopted}\"");
        // A closed stream must not end it.
        let _ = writeln!(context.io.stderr.writer, "try: {}", safe_line(&hint));
    }
    context.output.document(json!({
        "schema_version": 1,
        "receipt": stream.id(),
        "command": done.result.name,
        "finding": finding,
    }));
    Ok(Exit::Done)
}

/// What a finding says of a command that did not pass before the work: how it ended, and its last words.
fn finding(stream: &Stream<Receipt>, result: &CommandResult) -> String {
    let outcome = result.outcome.as_str().replace('_', " ");
    let mut text =
        format!("`{}` did not pass before the work ({outcome}, receipt {}).", result.name, stream.id());
    let output = result.stderr.iter().chain(&result.stdout).find(|output| !output.tail.trim().is_empty());
    let words = output.map(|output| output.tail.trim_end()).or(result.error.as_deref());
    if let Some(words) = words {
        let lines: Vec<&str> = words.lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            text.push_str("\n  ");
            text.push_str(&safe_line(line));
        }
    }
    text.chars().take(FINDING_MAX).collect::<String>().trim_end().to_owned()
}
