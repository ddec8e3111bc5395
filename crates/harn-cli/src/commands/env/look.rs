//! `harn env show`, `harn env list`, `harn env compare` and `harn env fingerprint`

use harn_env::fingerprint::Fingerprint;
use harn_env::prepare::PrepareError;
use harn_env::receipt::{CommandResult, Receipt, Stage};
use harn_ledger::{Stream, StreamError};
use serde_json::{Value, json};

use super::super::Context;
use super::{receipt, receipt_or_last, receipts};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::text::{columns, safe_line};

/// Most paths of a difference that are named.
const PATHS_MAX: usize = 200;

pub(super) fn show(context: &mut Context<'_, '_>, id: Option<&str>) -> Result<Exit, Failure> {
    let stream = receipt_or_last(context, id, |_| true)?;
    let state = stream.state().map_err(StreamError::from)?;
    let text = render::receipt(stream.intent(), &state, context.prose_width(), context.palette);
    context.output.text(&text);
    context.output.document(render::receipt_document(stream.intent(), &state));
    Ok(Exit::Done)
}

pub(super) fn list(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut items: Vec<Value> = Vec::new();
    for stream in receipts(context)? {
        let Ok(state) = stream.state() else { continue };
        let summary = state.summary();
        let purpose = if matches!(stream.intent().purpose, harn_env::receipt::Purpose::Prepare {}) {
            "prepare"
        } else {
            "check"
        };
        let why = summary.reason.clone().unwrap_or_default();
        rows.push([
            summary.id.to_string(),
            purpose.to_owned(),
            summary.status.to_owned(),
            safe_line(&why).into_owned(),
        ]);
        items.push(
            json!({ "purpose": purpose, "created_at": stream.intent().created_at, "summary": summary }),
        );
    }
    if rows.is_empty() {
        context.output.text("no receipts\n");
    }
    context.output.text(&columns(&rows, context.io.width()));
    context.output.document(json!({ "schema_version": 1, "items": items }));
    Ok(Exit::Done)
}

pub(super) fn compare(context: &mut Context<'_, '_>, before: &str, after: &str) -> Result<Exit, Failure> {
    let (before, after) = (receipt(context, before)?, receipt(context, after)?);
    let (was, is) = (before.state().map_err(StreamError::from)?, after.state().map_err(StreamError::from)?);
    let baseline = |done: &&harn_env::receipt::Done| done.stage == Stage::Baseline;
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut items: Vec<Value> = Vec::new();
    for now in is.done().iter().filter(baseline) {
        let then = was.done().iter().filter(baseline).find(|done| done.result.name == now.result.name);
        let seen = then.map(|done| CommandResult::seen(&done.result));
        let found = harn_env::compare::compare(seen.as_ref(), &now.result.seen(), None);
        rows.push([
            safe_line(&now.result.name).into_owned(),
            found.verdict.to_string(),
            render::tests_line(&found),
        ]);
        items.push(json!({ "name": now.result.name, "comparison": found }));
    }
    if rows.is_empty() {
        context.output.text("no commands to compare\n");
    }
    context.output.text(&columns(&rows, context.io.width()));
    let changed = source(context, &after)?.difference(&source(context, &before)?, PATHS_MAX);
    context.output.text(&render::changed_source(&changed, context.palette));
    context.output.document(json!({
        "schema_version": 1,
        "before": before.id(),
        "after": after.id(),
        "comparisons": items,
        "source": changed,
    }));
    Ok(Exit::Done)
}

/// What the source of a receipt held before anything ran.
fn source(context: &Context<'_, '_>, receipt: &Stream<Receipt>) -> Result<Fingerprint, Failure> {
    let bytes =
        context.session.works.blobs().get(&receipt.intent().source.content).map_err(PrepareError::from)?;
    Fingerprint::from_bytes(&bytes).ok_or_else(|| {
        let message = format!("the fingerprint of `{}` cannot be read", receipt.id());
        Failure::new(Exit::Damaged, "blob_damaged", message)
    })
}

pub(super) fn fingerprint(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let root = context.session.project.root.clone();
    let found = harn_env::fingerprint::take(&root, &[]).map_err(PrepareError::from)?;
    let how = match found.source() {
        harn_env::fingerprint::Source::Git { tree, commit } => format!("git tree {tree}, at commit {commit}"),
        harn_env::fingerprint::Source::Walk => "every file read".to_owned(),
    };
    context.output.text(&format!(
        "{}\n{} files, {} repositories inside, {how}\n",
        found.digest(),
        found.entries().len(),
        found.nested().len()
    ));
    // Of a large tree the document is not small.
    if context.output.is_document() {
        context.output.document(json!({
            "schema_version": 1,
            "digest": found.digest(),
            "fingerprint": found,
        }));
    }
    Ok(Exit::Done)
}
