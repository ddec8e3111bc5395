//! `harn verify`

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use harn_env::receipt::Receipt;
use harn_ledger::{CHECKPOINT_MAX, Checkpoint, Decider as _, Problem, ProblemKind, VerifyOptions};
use harn_workflow::run::Run;
use harn_workflow::work::Work;
use serde_json::{Value, json};

use super::Context;
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::safe_line;

pub(super) fn run(context: &mut Context<'_, '_>, args: &VerifyArgs) -> Result<Exit, Failure> {
    let mut options = options();
    options.against = args.against.as_deref().map(|file| read(context, file)).transpose()?;
    let works = &context.session.works;
    let found = works.ledger().verify(&options);
    let unproved = works.verify_proofs();

    let mut problems: Vec<(String, &str, String, Option<String>)> = found
        .problems
        .iter()
        .map(|it| (it.place.clone(), it.kind.code(), it.kind.to_string(), repair(it)))
        .collect();
    problems.extend(unproved.iter().map(|it| (format!("work/{}", it.id), it.code(), it.to_string(), None)));

    for (place, _, what, repair) in &problems {
        context.output.text(&format!("{}: {}\n", safe_line(place), safe_line(what)));
        if let Some(repair) = repair {
            context.output.text(&format!("try: {}\n", safe_line(repair)));
        }
    }
    let verdict = match problems.len() {
        0 => match &options.against {
            None => "everything verifies".to_owned(),
            Some(checkpoint) => {
                format!("everything verifies, and extends the checkpoint of {}", checkpoint.ts())
            }
        },
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    context.output.text(&format!(
        "{} streams, {} events, {} blobs cited, {} blobs without a citation: {verdict}\n",
        found.streams, found.events, found.blobs, found.orphan_blobs
    ));
    let problems: Vec<Value> = problems
        .into_iter()
        .map(|(place, code, message, repair)| {
            let mut problem = json!({ "place": place, "code": code, "message": message });
            if let Some(repair) = repair {
                problem["try"] = repair.into();
            }
            problem
        })
        .collect();
    let clean = problems.is_empty();
    let mut document = json!({
        "schema_version": 1,
        "streams": found.streams,
        "events": found.events,
        "blobs": found.blobs,
        "orphan_blobs": found.orphan_blobs,
        "problems": problems,
    });
    if let Some(checkpoint) = &options.against {
        document["against"] = described(checkpoint);
    }
    context.output.document(document);
    Ok(if clean { Exit::Done } else { Exit::Damaged })
}

/// Which checkpoint it was.
fn described(checkpoint: &Checkpoint) -> Value {
    json!({ "ts": checkpoint.ts(), "streams": checkpoint.heads().len(), "sha256": checkpoint.digest() })
}

/// Reads a checkpoint from a file, or from standard input.
fn read(context: &mut Context<'_, '_>, file: &Path) -> Result<Checkpoint, Failure> {
    let bytes = if file == Path::new("-") {
        bounded(context.io.stdin)
    } else {
        File::open(context.io.directory.join(file)).and_then(|mut file| bounded(&mut file))
    };
    match bytes {
        Ok(bytes) => Ok(Checkpoint::parse(&bytes)?),
        Err(error) => {
            let message = format!("cannot read the checkpoint `{}`: {error}", file.display());
            Err(Failure::new(Exit::Environment, "input_unreadable", message))
        }
    }
}

/// At most one byte more than a checkpoint may have.
fn bounded(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(CHECKPOINT_MAX + 1).read_to_end(&mut bytes).map(|_| bytes)
}

/// The limits that each kind of stream is held to.
pub(super) fn options() -> VerifyOptions {
    let mut options = VerifyOptions::default();
    options.limits.insert(Work::KIND.to_owned(), Work::LIMITS);
    options.limits.insert(Run::KIND.to_owned(), Run::LIMITS);
    options.limits.insert(Receipt::KIND.to_owned(), Receipt::LIMITS);
    options
}

/// The command that says how to mend it, where one does. Without its first line nothing would be left of a stream.
fn repair(problem: &Problem) -> Option<String> {
    let option = match &problem.kind {
        ProblemKind::UnfinishedTail(_) => "",
        ProblemKind::Damaged(damage) if damage.line > 1 => " --cut-at-damage",
        ProblemKind::Suspect => " --resync",
        _ => return None,
    };
    Some(format!("harn repair --stream {}{option}", problem.place))
}
