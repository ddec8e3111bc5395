//! `harn init`

use std::path::Path;

use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::output::Output;
use crate::project;
use crate::text::safe_line;

pub(super) fn run(root: Option<&Path>, io: &Io<'_>, output: &mut Output) -> Result<Exit, Failure> {
    let directory = root.map_or_else(|| io.directory.clone(), |root| io.directory.join(root));
    let done = project::init(&directory)?;
    let configuration = done.project.configuration.to_string_lossy().into_owned();
    let what = if done.created { "created" } else { "already there:" };
    output.text(&format!("{what} {}\n", safe_line(&configuration)));
    output.document(json!({
        "schema_version": 1,
        "root": done.project.root.to_string_lossy(),
        "state": done.project.state.to_string_lossy(),
        "created": done.created,
    }));
    Ok(Exit::Done)
}
