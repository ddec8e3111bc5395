//! `harn-review` in another program: what a reviewer reports is kept, and the gate says what stands in the way.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::collections::BTreeMap;
use std::error::Error;

use harn_ledger::{BlobRef, Digest, Ledger, StreamId, Timestamp};
use harn_review::{Command, Event, Intent, Outside, Plan, Published, Review, Source, SourcePath, gate};

/// Opens a review, asks a reviewer, takes in its report, and asks the gate.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let ledger = Ledger::open(directory.path().join("ledger"))?;
    let files = BTreeMap::from([(SourcePath::new("log.rs")?, "fn log() {\n    grow();\n}\n".to_owned())]);
    let source = Source::of(Digest::of(b"what the program takes for its source"), files);
    let intent = Intent {
        schema_version: 1,
        id: StreamId::new("review-1")?,
        request: "Bound the log".to_owned(),
        root: "/project".to_owned(),
        base: None,
        plan: Plan::undivided(Vec::new()),
        work_item: None,
        require_coverage: false,
        created_at: Timestamp::UNIX_EPOCH,
    };
    let review = ledger.create::<Review>("review-1", "program", &intent, &[Event::Opened {}])?;
    let (fingerprint, instructions) = (source.fingerprint, harn_review::brief::instructions_digest());
    let begin =
        Command::Begin { fingerprint, instructions, manifest: None, reviewer: None, queued: Vec::new() };
    review.execute("program", begin)?;

    let report = format!(
        r#"{{"schema": "review-report.v1", "turn": "t1", "fingerprint": "{fingerprint}", "status": "findings",
        "summary": "It grows.", "new": [{{"kind": "defect", "owner": "work", "file": "log.rs", "line": 2,
        "priority": "P1", "title": "The log is not bounded", "evidence": "nothing ends it"}}]}}"#
    );
    let raw: BlobRef = ledger.blobs().put(report.as_bytes())?;
    let submit = Command::Submit { bytes: report.into_bytes(), raw, source: Box::new(source.clone()) };
    review.execute("reviewer", submit)?;

    let (base, request, published) = (None, None, Published::NotAsked);
    let outside = Outside { source: &source, base, request, published, require_coverage: false };
    let answer = gate(&review.state()?, &outside);
    for reason in answer.reasons() {
        println!("{reason}");
    }
    let told = answer.reasons().iter().any(|reason| reason.to_string() == "open: R1");
    if told && !answer.is_open() { Ok(()) } else { Err("the gate is open on an open finding".into()) }
}
