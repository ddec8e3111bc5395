//! Manifests: one check for writer and reader.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use harn_ledger::{BlobRef, Digest};
use harn_workflow::context::WorkContext;
use harn_workflow::run::{AbsolutePath, Isolation, Manifest, ManifestParts, Module};

use crate::run_samples::{id, manifest, parts, path};

fn pretty(manifest: &Manifest) -> String {
    serde_json::to_string_pretty(manifest).unwrap()
}

/// Reads the sample manifest with one text replaced, and gives the reader's words.
fn read_with(from: &str, to: &str) -> String {
    let json = pretty(&manifest());
    let changed = json.replacen(from, to, 1);
    assert_ne!(json, changed, "`{from}` does not stand in the manifest");
    serde_json::from_str::<Manifest>(&changed).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(serde_json::from_str::<Manifest>(&pretty(&manifest())).unwrap(), manifest());
}

/// K-48, K-49
#[test]
fn a_reader_refuses_what_no_writer_writes() {
    let cases = [
        // K-48
        ("\"initial\"", "\"retry\"", "number"),
        (
            "\"number\": 1,\n    \"trigger\": \"initial\"",
            "\"number\": 2,\n    \"trigger\": \"retry\"",
            "`prior` is missing",
        ),
        ("\"id\": \"alpha\"", "\"id\": \"beta\"", "`work_context.id` is `beta`"),
        // K-49
        ("\"concurrency\": 4", "\"concurrency\": 0", "nonzero"),
        ("\"max_agents\": 50", "\"max_agents\": 0", "nonzero"),
        ("\"memory_bytes\": 268435456", "\"memory_bytes\": 0", "nonzero"),
        // Closed, of one version, and canonical contexts.
        ("\"schema_version\": 1", "\"schema_version\": 2", "expected 1"),
        ("\"name\"", "\"nick\": 1,\n  \"name\"", "unknown field `nick`"),
        ("\"cwd\"", "\"cpu\": 1, \"cwd\"", "unknown field `cpu`"),
        ("\"title\": \"Release", "\"title\": \" Release", "`title`"),
        ("\"trigger\": \"initial\"", "\"trigger\": \"initial\", \"findings\": []", "`findings`"),
        ("  \"work_item_id\": \"alpha\",\n", "", "without `work_item_id`"),
        // W-21
        ("\"cwd\": \"/proj", "\"cwd\": \"home", "not a usable path"),
        ("\"adapter\": \"codex\"", "\"adapter\": \"\"", "blank"),
        ("\"operator\"", "\" \"", "blank"),
    ];
    for (from, to, words) in cases {
        let message = read_with(from, to);
        assert!(message.contains(words), "{to}: {message}");
    }
    let long = format!("\"{}\"", "o".repeat(201));
    assert!(read_with("\"operator\"", &long).contains("at most 200"));
}

/// W-21: the writer's side of the same rules. K-47: a context needs its work item, and that one.
#[test]
fn a_writer_refuses_what_no_reader_reads() {
    type Change = fn(&mut ManifestParts);
    let cases: [(Change, &str); 12] = [
        (|m| m.work_item_id = None, "manifest_work_context_alone"),
        (|m| m.work_item_id = Some(id("beta")), "manifest_other_work_item"),
        (|m| m.work_context = None, "manifest_attempt_context_alone"),
        (|m| m.script.sha256 = Digest::of(b"other"), "manifest_other_content"),
        (|m| m.script.modules[0].content = BlobRef::of(b"other"), "manifest_other_content"),
        (|m| m.script.modules[0].path = m.script.path.clone(), "manifest_repeated_module"),
        (|m| m.script.modules = vec![m.script.modules[0].clone(); 65], "manifest_too_many_modules"),
        (
            |m| {
                m.execution.subscription_only = true;
                m.execution.allow_api_billing = true;
            },
            "manifest_billing_conflict",
        ),
        (|m| m.execution.effective_isolation = Isolation::Worktree, "manifest_unrequested_isolation"),
        (|m| m.execution.random_seed = 1 << 53, "manifest_not_exact"),
        (|m| m.execution.zone_offset_minutes = 1440, "manifest_zone_offset"),
        (|m| m.execution.zone_offset_minutes = i16::MIN, "manifest_zone_offset"),
    ];
    for (change, code) in cases {
        let mut changed = parts();
        change(&mut changed);
        assert_eq!(Manifest::new(changed.clone()).unwrap_err().code(), code);
        let json = serde_json::to_string(&changed).unwrap();
        assert!(serde_json::from_str::<Manifest>(&json).is_err(), "{code}");
    }
}

#[test]
fn a_run_need_not_belong_to_a_work_item() {
    let alone = ManifestParts { work_item_id: None, work_context: None, attempt_context: None, ..parts() };
    let json = pretty(&Manifest::new(alone).unwrap());
    assert!(!json.contains("work_") && !json.contains("attempt_"), "{json}");
}

#[test]
fn a_fallback_to_the_shared_checkout_stands_in_the_manifest() {
    let mut fallback = parts();
    fallback.execution.requested_isolation = Isolation::Worktree;
    let json = pretty(&Manifest::new(fallback).unwrap());
    assert!(
        json.contains("\"requested_isolation\": \"worktree\",\n    \"effective_isolation\": \"shared\""),
        "{json}"
    );
}

/// An object with a member `blob` is a citation and nothing else is one.
#[test]
fn the_script_and_its_modules_are_the_only_citations() {
    let mut more = parts();
    more.script.modules.push(Module {
        path: path("/y.mjs"),
        sha256: Digest::of(b"y"),
        content: BlobRef::of(b"y"),
    });
    let json = serde_json::to_value(Manifest::new(more).unwrap()).unwrap();
    assert_eq!(citations(&json), 3);
}

/// Counts the objects with a member `blob`, each of which must be a citation.
pub(crate) fn citations(json: &serde_json::Value) -> usize {
    match json {
        serde_json::Value::Object(members) if members.contains_key("blob") => {
            serde_json::from_value::<BlobRef>(json.clone()).unwrap();
            1
        }
        serde_json::Value::Object(members) => members.values().map(citations).sum(),
        serde_json::Value::Array(entries) => entries.iter().map(citations).sum(),
        _ => 0,
    }
}

/// K-44: what the manifest holds is its own; changing what it was made from changes nothing.
#[test]
fn the_contexts_are_frozen() {
    let mut acceptance = vec!["A".to_owned()];
    let context = WorkContext::new(id("alpha"), "T", "O", &acceptance).unwrap();
    acceptance[0].push('!');
    assert_eq!(context.acceptance(), ["A"]);
    assert!(AbsolutePath::new("relative").is_err());
}
