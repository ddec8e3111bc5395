//! What changes nothing: `harn review list`, `show`, `gate`, `schema` and `export`

use harn_engine::review::Asked;
use harn_ledger::StreamError;
use harn_review::{next, report, sarif};
use serde_json::json;

use super::super::Context;
use super::{finding_id, reviews, shown, with_controller};
use crate::args::{ExportFormat, GateArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::text::{columns, safe_line};

pub(super) fn list(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut items = Vec::new();
    for stream in reviews(context)? {
        let Ok(state) = stream.state() else { continue };
        let turn = state.turns().last();
        let word = turn.map_or("none", |turn| turn.word());
        let open = state.open().count();
        rows.push([
            stream.id().to_string(),
            turn.map_or_else(String::new, |turn| format!("{} {word}", turn.id)),
            format!("{open} open"),
            safe_line(stream.intent().request.lines().next().unwrap_or_default()).into_owned(),
        ]);
        items.push(json!({
            "id": stream.id(),
            "created_at": stream.intent().created_at,
            "work_item": stream.intent().work_item,
            "turn": turn.map(|turn| turn.id),
            "review": word,
            "open": open,
        }));
    }
    if rows.is_empty() {
        context.output.text("no reviews\n");
    }
    context.output.text(&columns(&rows, context.io.width()));
    context.output.document(json!({"schema_version": 1, "items": items}));
    Ok(Exit::Done)
}

pub(super) fn show(context: &mut Context<'_, '_>, id: &str, finding: Option<&str>) -> Result<Exit, Failure> {
    let review = shown(context, id)?;
    if let Some(finding) = finding {
        let id = finding_id(finding)?;
        let state = review.state().map_err(StreamError::from)?;
        let Some(finding) = state.finding(id) else {
            let hint = format!("`harn review show {}` shows what there is", review.id());
            return Err(Failure::new(
                Exit::Refused,
                "unknown_finding",
                format!("the review has no finding {id}"),
            )
            .hint(hint));
        };
        context.output.text(&render::review_finding(&state, finding, context.prose_width(), context.palette));
        context.output.document(render::review_finding_document(&state, finding));
        return Ok(Exit::Done);
    }
    let (gate, looked, state) =
        with_controller(context, None, |controller, _| controller.gate(&review, Asked::default()))?;
    let offer = next(&state, &looked.source.fingerprint);
    let intent = review.intent();
    let fingerprint = looked.source.fingerprint;
    let page = render::review(
        intent,
        &state,
        &fingerprint,
        (&gate, &offer),
        (context.prose_width(), context.palette),
    );
    context.output.text(&page);
    context.output.document(render::review_document(intent, &state, &fingerprint, &gate, &offer));
    Ok(Exit::Done)
}

pub(super) fn gate(context: &mut Context<'_, '_>, args: &GateArgs) -> Result<Exit, Failure> {
    let review = shown(context, &args.id)?;
    let asked = Asked { require_coverage: args.require_coverage, ..Asked::default() };
    let (gate, looked, _) = with_controller(context, None, |controller, _| controller.gate(&review, asked))?;
    if gate.is_open() {
        context.output.text("open\n");
    } else {
        context.output.text("closed\n");
        for reason in gate.reasons() {
            context.output.text(&format!("  - {}\n", safe_line(&reason.to_string())));
        }
    }
    context.output.document(render::gate_document(review.id(), &looked.source.fingerprint, &gate));
    Ok(if gate.is_open() { Exit::Done } else { Exit::Refused })
}

pub(super) fn schema(context: &mut Context<'_, '_>, id: Option<&str>) -> Result<Exit, Failure> {
    let schema = match id {
        Some(id) => report::schema(Some(shown(context, id)?.state().map_err(StreamError::from)?.plan())),
        None => report::schema(None),
    };
    context.output.exactly(format!("{schema:#}\n").into_bytes());
    Ok(Exit::Done)
}

pub(super) fn export(context: &mut Context<'_, '_>, id: &str, format: ExportFormat) -> Result<Exit, Failure> {
    let state = shown(context, id)?.state().map_err(StreamError::from)?;
    match format {
        ExportFormat::Sarif => context.output.exactly(format!("{:#}\n", sarif::write(&state)).into_bytes()),
    }
    Ok(Exit::Done)
}
