//! `harn repair`

use harn_ledger::{Digest, LedgerEvent, LogPart, Repair, RepairMode, Repaired};
use serde_json::{Value, json};

use super::{Context, verify};
use crate::args::RepairArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::safe_line;

pub(super) fn run(context: &mut Context<'_, '_>, args: &RepairArgs) -> Result<Exit, Failure> {
    let (repair, mode) = (args.repair(), args.mode());
    if mode == RepairMode::Apply && context.session.is_child() {
        return Err(Failure::new(
            Exit::Refused,
            "workflow_child",
            "a process started by a workflow may not repair a stream, expected a person outside of it",
        ));
    }
    let (kind, id) = (args.stream.kind(), args.stream.id().as_str());
    let ledger = context.session.works.ledger();
    let repaired = ledger.repair(kind, id, repair, mode, &verify::options())?;
    context.output.text(&words(&repaired, repair, mode));
    context.output.document(document(&repaired, repair, mode));
    Ok(Exit::Done)
}

/// What was done or would be, each on a line of its own, and what to type to do it.
fn words(repaired: &Repaired, repair: Repair, mode: RepairMode) -> String {
    let stream = &repaired.stream;
    if repaired.is_nothing() {
        return format!("{stream}: nothing to repair\n");
    }
    let applied = mode == RepairMode::Apply;
    let mut lines = Vec::new();
    if let Some(damage) = &repaired.damage {
        lines.push(format!(
            "{stream}: damaged at line {}, byte {}: {}",
            damage.line, damage.offset, damage.kind
        ));
    }
    if let Some(part) = &repaired.rewritten {
        let did = if applied { "wrote" } else { "would write" };
        lines.push(format!("{did} {} to the disk again, sha256 {}", extent(part), part.sha256));
    }
    if let Some(moved) = &repaired.moved {
        let did = if applied { "moved" } else { "would move" };
        let part = &moved.part;
        lines.push(format!("{did} {} to {stream}/{}, sha256 {}", extent(part), moved.file, part.sha256));
    }
    for (name, file, bytes, _) in repaired.told.iter().filter_map(told) {
        let did = if applied { "recorded" } else { "would record" };
        lines.push(format!("{did} {name}: {stream}/{file} holds {bytes} bytes"));
    }
    let ends = if applied { "ends" } else { "would end" };
    lines.push(format!("{stream} {ends} with event {}", repaired.head.seq));
    if !applied {
        lines.push(format!("try: {} --apply", command(repaired, repair)));
    }
    lines.iter().map(|line| safe_line(line) + "\n").collect()
}

fn extent(part: &LogPart) -> String {
    let lines = if part.lines == 1 { "1 line".to_owned() } else { format!("{} lines", part.lines) };
    format!("{} bytes ({lines}) from byte {} of the log on", part.bytes, part.offset)
}

fn command(repaired: &Repaired, repair: Repair) -> String {
    let option = match repair {
        Repair::CutAtDamage => " --cut-at-damage",
        Repair::Resync => " --resync",
        _ => "",
    };
    format!("harn repair --stream {}{option}", repaired.stream)
}

/// Name of the event, file, bytes and digest.
fn told(event: &LedgerEvent) -> Option<(&'static str, &str, u64, Digest)> {
    match event {
        LedgerEvent::TailMoved { file, bytes, sha256 } => Some(("ledger.tail_moved", file, *bytes, *sha256)),
        LedgerEvent::Cut { file, bytes, sha256 } => Some(("ledger.cut", file, *bytes, *sha256)),
        // A repair tells of nothing else.
        _ => None,
    }
}

fn document(repaired: &Repaired, repair: Repair, mode: RepairMode) -> Value {
    let repair = match repair {
        Repair::CutAtDamage => "cut_at_damage",
        Repair::Resync => "resync",
        _ => "move_tail",
    };
    let told: Vec<Value> = repaired
        .told
        .iter()
        .filter_map(told)
        .map(|(name, file, bytes, sha256)| json!({ "event": name, "file": file, "bytes": bytes, "sha256": sha256 }))
        .collect();
    json!({
        "schema_version": 1,
        "stream": repaired.stream.to_string(),
        "repair": repair,
        "applied": mode == RepairMode::Apply,
        "nothing_to_do": repaired.is_nothing(),
        "damage": repaired.damage.as_ref().map(|damage| json!({
            "line": damage.line,
            "offset": damage.offset,
            "lines_behind": damage.lines_behind,
            "message": damage.kind.to_string(),
        })),
        "rewritten": repaired.rewritten.as_ref().map(|part| json!({
            "offset": part.offset, "bytes": part.bytes, "lines": part.lines, "sha256": part.sha256,
        })),
        "moved": repaired.moved.as_ref().map(|moved| json!({
            "file": moved.file,
            "offset": moved.part.offset,
            "bytes": moved.part.bytes,
            "lines": moved.part.lines,
            "sha256": moved.part.sha256,
        })),
        "told": told,
        "head": { "seq": repaired.head.seq, "hash": repaired.head.hash },
    })
}
