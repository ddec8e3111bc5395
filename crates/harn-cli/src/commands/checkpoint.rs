//! `harn checkpoint`

use std::path::Path;

use harn_ledger::Checkpoint;
use harn_ledger::disk::OsDisk;
use serde_json::json;

use super::{Context, verify};
use crate::args::CheckpointArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::safe_line;

pub(super) fn run(context: &mut Context<'_, '_>, args: &CheckpointArgs) -> Result<Exit, Failure> {
    let checkpoint = context.session.works.ledger().checkpoint_with(&verify::options())?;
    match &args.out {
        Some(file) if file != Path::new("-") => write(context, &checkpoint, file)?,
        // With and without `--json`, so that what was printed can always be kept.
        _ => context.output.exactly(checkpoint.to_bytes()),
    }
    Ok(Exit::Done)
}

fn write(context: &mut Context<'_, '_>, checkpoint: &Checkpoint, file: &Path) -> Result<(), Failure> {
    checkpoint.write_new(&OsDisk, &context.io.directory.join(file))?;
    let (streams, digest) = (checkpoint.heads().len(), checkpoint.digest());
    let file = file.display().to_string();
    let noun = if streams == 1 { "stream" } else { "streams" };
    context
        .output
        .text(&format!("checkpoint of {streams} {noun} written to {}\nsha256: {digest}\n", safe_line(&file)));
    context.output.document(json!({
        "schema_version": 1,
        "file": file,
        "ts": checkpoint.ts(),
        "streams": streams,
        "sha256": digest,
    }));
    Ok(())
}
