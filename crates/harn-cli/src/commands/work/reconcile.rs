//! `harn work reconcile`

use serde_json::json;

use super::super::Context;
use super::{changed, print_changed};
use crate::exit::Exit;
use crate::failure::{Fails as _, Failure};
use crate::render;

pub(super) fn run(
    context: &mut Context<'_, '_>,
    id: Option<&str>,
    actor: Option<&str>,
) -> Result<Exit, Failure> {
    let caller = context.session.caller(actor, context.io)?;
    if let Some(id) = id {
        let id = changed(context, id)?;
        let done = context.session.works.reconcile(&caller, &id)?;
        return print_changed(context, &done);
    }
    let mut items = Vec::new();
    let mut problems = Vec::new();
    let mut exit = Exit::Done;
    for id in context.session.works.ledger().ids("work")? {
        match context.session.works.reconcile(&caller, &id) {
            Ok(done) => items.push(done.item.projection),
            Err(error) => {
                context.warn(&format!("{id} cannot be reconciled: {error}"));
                exit = exit.max(error.failure().exit);
                problems.push(json!({ "id": id, "code": error.code(), "reason": error.to_string() }));
            }
        }
    }
    if items.is_empty() && problems.is_empty() {
        context.output.text("no work items\n");
    }
    context.output.text(&render::rows(&items, context.io.width()));
    context.output.document(json!({ "schema_version": 1, "items": items, "warnings": problems }));
    Ok(exit)
}
