//! SARIF: what analysers write is taken in once, and what is written fits the published schema.

use harn_ledger::BlobRef;
use harn_review::event::{Decision, Event};
use harn_review::{Command, sarif};
use serde_json::{Value, json};

use super::cases::{Desk, accounts, id, plan};

const SCHEMA: &str = include_str!("../fixtures/sarif/sarif-schema-2.1.0.json");

fn imports(desk: &mut Desk, log: &Value) -> Event {
    let bytes = log.to_string().into_bytes();
    let imported =
        sarif::read(&bytes, &plan(), &desk.source).unwrap_or_else(|error| panic!("{error}: {log}"));
    let raw = BlobRef::of(&bytes);
    desk.does(Command::Import { imported, raw, source: Box::new(desk.source.clone()) })
}

fn result(level: &str, text: &str, line: u32) -> Value {
    json!({
        "ruleId": "rule", "level": level, "message": {"text": text},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": "src/a.rs"}, "region": {"startLine": line},
        }}],
    })
}

fn log(results: &[Value]) -> Value {
    json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": results}]})
}

fn assert_valid(log: &Value) {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    // As published, this pattern has a bracket that nothing opens, and some engines refuse it. Nothing here says a language.
    for owner in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][owner]["properties"]["language"];
        language.as_object_mut().and_then(|language| language.remove("pattern"));
    }
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> =
        schema.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn levels_are_kinds_and_what_is_suppressed_stays_out() {
    let mut desk = Desk::new();
    let mut suppressed = result("error", "off", 4);
    suppressed["suppressions"] = json!([{"kind": "inSource"}]);
    let log =
        log(&[result("error", "bad", 2), result("warning", "odd", 3), result("note", "so", 4), suppressed]);
    let Event::FindingsImported { skipped, .. } = imports(&mut desk, &log) else { panic!("it is an import") };
    assert_eq!(skipped, 1);
    assert_eq!(desk.stands(), ["R1 open defect", "R2 open uncertain", "R3 noted note"]);
    assert_eq!(desk.finding("R1").owner.as_deref(), Some("lib"));
}

#[test]
fn what_was_taken_in_is_known_again_and_a_ruling_stands() {
    let mut desk = Desk::new();
    let mut printed = result("error", "bad", 2);
    printed["partialFingerprints"] = json!({"primary/v1": "abc"});
    imports(&mut desk, &log(std::slice::from_ref(&printed)));
    imports(&mut desk, &log(std::slice::from_ref(&printed)));
    // The analyser knows it again although it is somewhere else by now, in other words.
    let mut moved = result("error", "called otherwise", 4);
    moved["partialFingerprints"] = json!({"primary/v1": "abc"});
    imports(&mut desk, &log(&[moved]));
    assert_eq!(desk.stands(), ["R1 open defect"]);
    let mut other = Desk::new();
    imports(&mut other, &log(std::slice::from_ref(&printed)));
    let _ = other.turn("clean", &accounts(&["R1 dismissed"]), &[]);
    imports(&mut other, &log(&[printed]));
    assert_eq!((other.stands(), other.finding("R1").seen_again), (vec!["R1 dismissed defect".to_owned()], 1));
}

#[test]
fn what_is_written_fits_the_schema_and_opens_nothing_when_it_is_read() {
    let mut desk = Desk::museum();
    desk.does(Desk::decision("R8", Decision::Close {}));
    let written = sarif::write(&desk.state);
    assert_valid(&written);
    assert_valid(&sarif::write(&Desk::new().state));
    let results = written["runs"][0]["results"].as_array().map_or(0, Vec::len);
    assert_eq!(results, desk.stands().len());
    let before = desk.stands();
    imports(&mut desk, &written);
    assert_eq!(desk.stands(), before);
    assert_eq!(desk.finding("R2").id, id("R2"));
}

#[test]
fn logs_of_well_known_analysers_are_read_and_others_refused() {
    let desk = Desk::new();
    for log in [
        include_str!("../fixtures/sarif/clippy.json"),
        include_str!("../fixtures/sarif/eslint.json"),
        include_str!("../fixtures/sarif/semgrep.json"),
    ] {
        let imported = sarif::read(log.as_bytes(), &plan(), &desk.source);
        assert!(imported.as_ref().is_ok_and(|it| !it.findings.is_empty()), "{imported:?}");
    }
    for bad in ["", "{}", r#"{"version": "2.0.0", "runs": []}"#] {
        assert!(sarif::read(bad.as_bytes(), &plan(), &desk.source).is_err(), "{bad}");
    }
}
