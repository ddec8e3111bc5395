//! Work contexts: what is trimmed, what is refused, and by which name.
use harn_workflow::context::{ContextError, WorkContext};

use crate::run_samples::id;

fn json(members: &str) -> String {
    format!("{{{members}}}")
}

const GOOD: &str = r#""schema_version":1,"id":"alpha","title":"T","objective":"O","acceptance":["A","B"]"#;

fn read(members: &str) -> Result<WorkContext, ContextError> {
    WorkContext::from_json(json(members).as_bytes())
}

/// K-42
#[test]
fn padded_texts_are_trimmed_and_the_result_is_canonical() {
    let context = WorkContext::new(id("alpha"), " T\t", "\nO\n", [" A", "B "]).unwrap();
    assert_eq!((context.title(), context.objective()), ("T", "O"));
    assert_eq!(context.acceptance(), ["A", "B"]);
    assert_eq!(serde_json::to_string(&context).unwrap(), json(GOOD));
    assert_eq!(read(GOOD).unwrap(), context);
}

/// K-43 and every other way not to be canonical.
#[test]
fn what_is_not_canonical_is_refused_by_name() {
    let many = format!("\"acceptance\":[{}]", vec!["\"A\""; 51].join(","));
    let cases = [
        // K-43
        (GOOD.replace(']', "],\"extra\":1"), "context_unknown_member", "`extra`"),
        (GOOD.replace("alpha", "../escape"), "context_id", "`id`"),
        (GOOD.replace("version\":1", "version\":2"), "context_version", "is 2"),
        (GOOD.replace("\"acceptance\":[\"A\",\"B\"]", &many), "context_too_many", "`acceptance` has 51"),
        // Texts.
        (GOOD.replace("\"T\"", "\" T\""), "context_text", "`title`"),
        (GOOD.replace("\"T\"", "\"T\\nU\""), "context_text", "`title`"),
        (GOOD.replace("\"T\"", "\"\""), "context_text", "`title`"),
        (GOOD.replace("\"O\"", "\"O\\u0007\""), "context_text", "`objective`"),
        (GOOD.replace("\"B\"", "\"B \""), "context_text", "`acceptance[1]`"),
        (GOOD.replace("\"T\"", &format!("\"{}\"", "t".repeat(201))), "context_text", "`title`"),
        (GOOD.replace("\"O\"", &format!("\"{}\"", "o".repeat(4001))), "context_text", "`objective`"),
        (GOOD.replace("\"A\"", &format!("\"{}\"", "a".repeat(501))), "context_text", "`acceptance[0]`"),
        // Shape.
        (GOOD.replace("\"T\"", "null"), "context_wrong_type", "`title`"),
        (GOOD.replace("\"A\"", "1"), "context_wrong_type", "`acceptance[0]`"),
        (GOOD.replace("[\"A\",\"B\"]", "{}"), "context_wrong_type", "`acceptance`"),
        (GOOD.replace("version\":1", "version\":1.0"), "context_wrong_type", "`schema_version`"),
        (GOOD.replace("version\":1", "version\":-1"), "context_wrong_type", "`schema_version`"),
        (GOOD.replace("\"title\":\"T\",", ""), "context_missing_member", "`title`"),
        (GOOD.replace("\"schema_version\":1,", ""), "context_missing_member", "`schema_version`"),
        (
            GOOD.replace("\"title\":\"T\"", "\"title\":\"T\",\"title\":\"T\""),
            "context_repeated_member",
            "`title`",
        ),
        (
            GOOD.replace("\"title\":\"T\",\"objective\":\"O\"", "\"objective\":\"O\",\"title\":\"T\""),
            "context_member_order",
            "`title`",
        ),
    ];
    for (members, code, named) in cases {
        assert_ne!(members, GOOD, "the case for {code} changes nothing");
        let error = read(&members).unwrap_err();
        assert_eq!(error.code(), code, "{members}");
        assert!(error.to_string().contains(named), "{error}");
    }
    assert_eq!(WorkContext::from_json(b"{").unwrap_err().code(), "context_not_json");
    assert_eq!(WorkContext::from_json(b"[]").unwrap_err().code(), "context_wrong_type");
}

#[test]
fn the_constructor_refuses_what_the_reader_refuses() {
    let new = |title: &str, objective: &str, acceptance: Vec<String>| {
        WorkContext::new(id("alpha"), title, objective, acceptance).map_err(|error| error.code())
    };
    assert_eq!(new(" ", "O", vec![]).unwrap_err(), "context_text");
    assert_eq!(new("T", "", vec![]).unwrap_err(), "context_text");
    assert_eq!(new("T", "O", vec![String::new()]).unwrap_err(), "context_text");
    assert_eq!(new("T", "O", vec!["A".to_owned(); 51]).unwrap_err(), "context_too_many");
    assert!(new(&"ñ".repeat(200), &"ñ".repeat(4000), vec!["ñ".repeat(500); 50]).is_ok());
}

#[test]
fn a_reader_that_keeps_only_a_message_still_names_member_and_reason() {
    let error = serde_json::from_str::<WorkContext>(&json(&GOOD.replace("\"B\"", "\"B \""))).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("`acceptance[1]`") && message.contains("white space"), "{message}");
}
