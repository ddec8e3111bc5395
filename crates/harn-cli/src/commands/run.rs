//! `harn run …`

use std::collections::VecDeque;
use std::ops::ControlFlow;

use harn_ledger::{RawEvent, Stream, StreamId};
use harn_workflow::run::Run;
use serde_json::{Value, json};

use super::Context;
use crate::args::{LogArgs, RunCommand};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::ids::resolve;
use crate::render;
use crate::returned::returned;

pub(super) fn run(context: &mut Context<'_, '_>, command: &RunCommand) -> Result<Exit, Failure> {
    match command {
        RunCommand::List => list(context),
        RunCommand::Show { id } => show(context, id),
        RunCommand::Log(args) => {
            let id = looked_at(context, &args.id)?;
            print_log(context, "run", &id, args)
        }
        RunCommand::Proof { id, verify } => proof(context, id, *verify),
    }
}

fn looked_at(context: &Context<'_, '_>, id: &str) -> Result<StreamId, Failure> {
    resolve(context.session.works.ledger(), "run", id, true)
}

fn list(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let ledger = context.session.works.ledger().clone();
    let mut runs = Vec::new();
    let mut warnings = Vec::new();
    for id in ledger.ids("run")? {
        match ledger.stream::<Run>(id.as_str()).and_then(|run| Ok((run.state()?, run))) {
            Ok((state, run)) => runs.push(render::RunRow::new(run.intent(), &state)),
            Err(error) => {
                let reason = with_causes(&error);
                context.warn(&format!("{id} cannot be read: {reason}"));
                warnings.push(json!({ "id": id, "reason": reason }));
            }
        }
    }
    runs.sort_by(|a, b| (b.started_at, &b.id).cmp(&(a.started_at, &a.id)));
    if runs.is_empty() {
        context.output.text("no runs\n");
    }
    context.output.text(&render::run_rows(&runs, context.io.width()));
    context.output.document(json!({ "schema_version": 1, "items": runs, "warnings": warnings }));
    Ok(Exit::Done)
}

fn show(context: &mut Context<'_, '_>, id: &str) -> Result<Exit, Failure> {
    let id = looked_at(context, id)?;
    let run: Stream<Run> = context.session.works.ledger().stream(id.as_str())?;
    let row = render::RunRow::new(run.intent(), &run.state()?);
    let proof = context.session.works.compute_proof(&id).ok();
    let result = returned(&context.session.works, id.as_str());
    let shown = render::ShownRun {
        row: &row,
        manifest: run.intent(),
        proof: proof.as_ref(),
        result: result.as_ref(),
    };
    let text = render::run(&shown, context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(json!({
        "schema_version": 1,
        "run": row,
        "manifest": run.intent(),
        "proof": proof,
        "result": result,
    }));
    Ok(Exit::Done)
}

fn proof(context: &mut Context<'_, '_>, id: &str, verify: bool) -> Result<Exit, Failure> {
    let id = looked_at(context, id)?;
    let works = &context.session.works;
    let proof = works.compute_proof(&id)?;
    if verify {
        let checked = works.verify_proof(&id)?;
        let digest = proof.blob_ref().blob;
        context.output.text(&match checked {
            None => format!("{digest} follows from manifest and transcript\n"),
            Some(ref problem) => format!("{problem}\n"),
        });
        context.output.document(json!({
            "schema_version": 1,
            "run_id": id,
            "sha256": digest,
            "problem": checked.as_ref().map(ToString::to_string),
        }));
        return Ok(if checked.is_none() { Exit::Done } else { Exit::Damaged });
    }
    let text = render::proof(&proof, context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(serde_json::to_value(&proof).unwrap_or(Value::Null));
    Ok(Exit::Done)
}

/// Prints the log of any stream.
pub(super) fn print_log(
    context: &mut Context<'_, '_>,
    kind: &str,
    id: &StreamId,
    args: &LogArgs,
) -> Result<Exit, Failure> {
    let after = args.after.map_or(0, u64::from);
    let limit = args.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut events: VecDeque<RawEvent<'static>> = VecDeque::new();
    let raw = context.session.works.ledger().raw(kind, id.as_str())?;
    let (head, tail) = raw.visit(|event| {
        if event.seq > after {
            if events.len() == limit {
                events.pop_front();
            }
            events.push_back(event.into_owned());
        }
        ControlFlow::Continue(())
    })?;
    let events = Vec::from(events);
    if let Some(tail) = tail {
        context.warn_of_tail(kind, id, head.seq, tail);
    }
    context.output.text(&render::log(&events, args.chain, context.io.width()));
    let stream = format!("{kind}/{id}");
    let documents: Vec<Value> = events.iter().map(render::event_document).collect();
    context
        .output
        .document(json!({ "schema_version": 1, "stream": stream, "head": head, "events": documents }));
    Ok(Exit::Done)
}
