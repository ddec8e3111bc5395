//! The intent: what is refused before it is written, and again when it is read.

use harn_ledger::{BlobRef, Digest};
use harn_workflow::work::{Intent, NewItem, ScriptFile, Source, SourceKind, Workflow};

use crate::work_harness::{at, id, new_item};

#[test]
fn the_written_form() {
    let item = NewItem {
        acceptance: vec![" The suite passes ".to_owned()],
        dependencies: vec![id("base")],
        source: Source { kind: SourceKind::External, reference: Some(" issue 7 ".to_owned()) },
        ..new_item()
    };
    let intent = item.into_intent(id("w1"), at(0)).unwrap();
    let sha256 = intent.workflow.sha256;
    let expected = format!(
        r#"{{
  "schema_version": 1,
  "id": "w1",
  "title": "Release the package",
  "objective": "Publish a verified package release",
  "acceptance": [
    "The suite passes"
  ],
  "dependencies": [
    "base"
  ],
  "workflow": {{
    "path": "/project/release.mjs",
    "sha256": "{sha256}",
    "content": {{
      "blob": "{sha256}",
      "bytes": 29
    }},
    "modules": []
  }},
  "max_attempts": 3,
  "max_uncharged_attempts": 3,
  "source": {{
    "kind": "external",
    "ref": "issue 7"
  }},
  "created_at": "2026-07-22T12:00:00.000000Z"
}}"#
    );
    assert_eq!(serde_json::to_string_pretty(&intent).unwrap(), expected);
    assert_eq!(serde_json::from_str::<Intent>(&expected).unwrap(), intent);
}

#[test]
fn n08_n13_every_bound_is_checked_before_anything_is_written() {
    type Change = fn(&mut NewItem);
    let cases: &[(Change, &str)] = &[
        (|it| it.title = "  ".into(), "text_blank"),
        (|it| it.title = "x".repeat(201), "text_too_long"),
        (|it| it.title = "two\nlines".into(), "text_control_character"),
        (|it| it.title = "\u{1b}[2Jcleared".into(), "text_control_character"),
        (|it| it.title = "tab\there".into(), "text_control_character"),
        (|it| it.objective = "\n".into(), "text_blank"),
        (|it| it.objective = "x".repeat(4_001), "text_too_long"),
        (|it| it.objective = "bell \u{7}".into(), "text_control_character"),
        (|it| it.acceptance = vec!["a".into(); 51], "too_many"),
        (|it| it.acceptance = vec!["a".into(), " ".into()], "text_blank"),
        (|it| it.acceptance = vec!["x".repeat(501)], "text_too_long"),
        (|it| it.dependencies = vec![id("a"), id("b"), id("a")], "duplicate_dependency"),
        (|it| it.dependencies = vec![id("w1")], "self_dependency"),
        (|it| it.dependencies = (0..51).map(|n| id(&format!("d{n}"))).collect(), "too_many"),
        (|it| it.max_attempts = 0, "out_of_range"),
        (|it| it.max_attempts = 101, "out_of_range"),
        (|it| it.max_uncharged_attempts = 0, "out_of_range"),
        (|it| it.max_uncharged_attempts = 101, "out_of_range"),
        (|it| it.source.reference = Some(" ".into()), "text_blank"),
        (|it| it.source.reference = Some("x".repeat(1_001)), "text_too_long"),
        (|it| it.source.reference = Some("a\nb".into()), "text_control_character"),
        (|it| it.workflow.path = "release.mjs".into(), "relative_path"),
        (|it| it.workflow.path = format!("/{}", "x".repeat(1_000)), "text_too_long"),
        (|it| it.workflow.path = "/a\nb".into(), "text_control_character"),
        (|it| it.workflow.sha256 = Digest::of(b"changed"), "other_bytes"),
        (|it| it.workflow.content = Some(BlobRef::of(b"changed")), "other_bytes"),
        (|it| it.workflow.modules = vec![ScriptFile::of("/a.mjs", b"a"); 2], "duplicate_path"),
        (|it| it.workflow.modules = vec![ScriptFile::of(it.workflow.path.clone(), b"a")], "duplicate_path"),
        (|it| it.workflow.modules = vec![ScriptFile::of("a.mjs", b"a")], "relative_path"),
        (|it| it.workflow.modules = modules(65, 10), "too_many"),
        (|it| it.workflow.modules = modules(9, 1_000), "too_many"),
    ];
    for (number, (change, code)) in cases.iter().enumerate() {
        let mut item = new_item();
        change(&mut item);
        let refused = item.into_intent(id("w1"), at(0));
        assert_eq!(refused.map_err(|error| error.code()).err(), Some(*code), "case {number}");
    }
}

fn modules(count: usize, length: usize) -> Vec<ScriptFile> {
    let path = |number| format!("/{number:0>width$}", width = length - 1);
    (0..count).map(|number| ScriptFile::of(path(number), b"export {}")).collect()
}

#[test]
fn w55_what_was_not_checked_by_the_writer_is_refused_by_the_reader() {
    type Change = fn(&mut serde_json::Value);
    let intent = new_item().into_intent(id("w1"), at(0)).unwrap();
    let value = serde_json::to_value(&intent).unwrap();
    let read = |change: Change| {
        let mut changed = value.clone();
        change(&mut changed);
        serde_json::from_value::<Intent>(changed).map_err(|error| error.to_string())
    };
    assert_eq!(read(|_| ()).as_ref(), Ok(&intent));
    // K-02: another version is refused by name.
    let cases: [(Change, &str); 7] = [
        (|it| it["schema_version"] = 2.into(), "schema version 2"),
        (|it| it["title"] = " padded ".into(), "white space"),
        (|it| it["max_attempts"] = 101.into(), "expected 1 to 100"),
        (|it| it["surprise"] = 1.into(), "unknown field `surprise`"),
        (|it| it["workflow"]["surprise"] = 1.into(), "unknown field `surprise`"),
        (|it| it["source"]["kind"] = "robot".into(), "unknown variant `robot`"),
        (|it| it["created_at"] = "2026".into(), "not a timestamp"),
    ];
    for (change, words) in cases {
        let error = read(change).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn sources() {
    for (word, kind) in
        [("human", SourceKind::Human), ("workflow", SourceKind::Workflow), ("external", SourceKind::External)]
    {
        assert_eq!(word.parse(), Ok(kind));
        assert_eq!(kind.to_string(), word);
    }
    let error = "robot".parse::<SourceKind>().unwrap_err();
    assert!(error.to_string().contains("expected `human`, `workflow` or `external`"));
}

#[test]
fn lengths_are_counted_in_characters_after_trimming() {
    let title = format!("  {}  ", "𝕏".repeat(200));
    let item = NewItem { title, ..new_item() };
    assert_eq!(item.into_intent(id("w1"), at(0)).unwrap().title.chars().count(), 200);
    let workflow = Workflow { modules: modules(7, 1_000), ..new_item().workflow };
    assert!(NewItem { workflow, ..new_item() }.into_intent(id("w1"), at(0)).is_ok());
}
