//! `harn work create`

use harn_engine::attempt::read_script;
use harn_workflow::Draft;

use super::super::Context;
use crate::args::CreateArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;

pub(super) fn run(context: &mut Context<'_, '_>, args: &CreateArgs) -> Result<Exit, Failure> {
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    let mut files = read_script(&context.io.directory.join(&args.workflow))?;
    let script = files.remove(0);
    let draft = Draft {
        id: args.id.clone(),
        acceptance: args.accept.clone(),
        dependencies: args
            .depends_on
            .iter()
            .map(|id| id.trim().to_owned())
            .filter(|id| !id.is_empty())
            .collect(),
        modules: files,
        max_attempts: args.max_attempts,
        max_uncharged_attempts: args.max_uncharged_attempts,
        require_review: args.require_review,
        source_kind: args.source_kind,
        source_ref: args.source_ref.clone(),
        ..Draft::new(&args.title, &args.objective, script)
    };
    let item = context.session.works.create(&caller, draft)?;
    context.output.text(&format!("{}\n", item.projection.id));
    context.output.text(&render::rows([&item.projection], context.io.width()));
    let document = render::item_document(context.session.works.ledger(), &item, None)?;
    context.output.document(document);
    Ok(Exit::Done)
}
