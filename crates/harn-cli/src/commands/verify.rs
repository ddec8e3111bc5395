//! `harn verify`

use harn_ledger::{Decider as _, VerifyOptions};
use harn_workflow::run::Run;
use harn_workflow::work::Work;
use serde_json::{Value, json};

use super::Context;
use crate::exit::Exit;
use crate::text::safe_line;

pub(super) fn run(context: &mut Context<'_, '_>) -> Exit {
    let mut options = VerifyOptions::default();
    options.limits.insert(Work::KIND.to_owned(), Work::LIMITS);
    options.limits.insert(Run::KIND.to_owned(), Run::LIMITS);
    let works = &context.session.works;
    let found = works.ledger().verify(&options);
    let unproved = works.verify_proofs();

    let mut problems: Vec<(String, &str, String)> =
        found.problems.iter().map(|it| (it.place.clone(), it.kind.code(), it.kind.to_string())).collect();
    problems.extend(unproved.iter().map(|it| (format!("work/{}", it.id), it.code(), it.to_string())));

    for (place, _, what) in &problems {
        context.output.text(&format!("{}: {}\n", safe_line(place), safe_line(what)));
    }
    let verdict = match problems.len() {
        0 => "everything verifies".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    context.output.text(&format!(
        "{} streams, {} events, {} blobs cited, {} blobs without a citation: {verdict}\n",
        found.streams, found.events, found.blobs, found.orphan_blobs
    ));
    let problems: Vec<Value> = problems
        .into_iter()
        .map(|(place, code, message)| json!({ "place": place, "code": code, "message": message }))
        .collect();
    let clean = problems.is_empty();
    context.output.document(json!({
        "schema_version": 1,
        "streams": found.streams,
        "events": found.events,
        "blobs": found.blobs,
        "orphan_blobs": found.orphan_blobs,
        "problems": problems,
    }));
    if clean { Exit::Done } else { Exit::Damaged }
}
