//! What is written of a receipt is read as it was, and nothing else is read.

use harn_env::receipt::InvalidEvent;

use super::*;

/// The value once for each object in it, with a member more in that object.
fn with_a_member_more(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert("unknown".to_owned(), Value::Null);
            found.push(Value::Object(more));
            for (name, member) in members {
                found.extend(with_a_member_more(member).into_iter().map(|member| {
                    let mut members = members.clone();
                    members.insert(name.clone(), member);
                    Value::Object(members)
                }));
            }
        }
        Value::Array(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                found.extend(with_a_member_more(entry).into_iter().map(|entry| {
                    let mut entries = entries.clone();
                    entries[at] = entry;
                    Value::Array(entries)
                }));
            }
        }
        _ => {}
    }
    found
}

proptest! {
    #[test]
    fn events_and_intents_read_back_and_unknown_members_are_refused(course in any_course()) {
        let mut events = all_events(&course.results[0]);
        let source = snapshot();
        let changed = Difference { left_out: 3, ..course.changed[0].clone() };
        events.push(Event::SourceCompared { after: Stage::Setup, source, changed });
        for event in events {
            let text = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), &event);
            let value = serde_json::to_value(&event).unwrap();
            prop_assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), [event.name()]);
            for more in with_a_member_more(&value) {
                prop_assert!(serde_json::from_value::<Event>(more.clone()).is_err(), "{}", more);
            }
        }
        let intent = intent(&course);
        let value = serde_json::to_value(&intent).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Intent>(value.clone()).unwrap(), &intent);
        for more in with_a_member_more(&value) {
            prop_assert!(serde_json::from_value::<Intent>(more.clone()).is_err(), "{}", more);
        }
    }
}

fn plain_result() -> CommandResult {
    CommandResult {
        name: "unit".to_owned(),
        outcome: Outcome::Failed,
        exit: Some(Exit::Code(1)),
        error: None,
        note: None,
        duration_ms: 1,
        limit_seconds: 30,
        stdout: None,
        stderr: None,
        signature: Signature::default(),
    }
}

/// What is out of its bounds can neither be recorded nor read.
#[test]
fn an_event_keeps_its_bounds() {
    let end = |end, reason: Option<&str>| Event::Ended { end, reason: reason.map(str::to_owned) };
    let command = |change: &dyn Fn(&mut CommandResult)| {
        let mut result = Box::new(plain_result());
        change(&mut result);
        Event::CommandEnded { stage: Stage::Setup, index: 0, round: 1, result }
    };
    let output = |tail: String| Some(Output { content: BlobRef::of(b""), bytes: 1, whole: true, tail });
    let paths = |count: usize| Event::SourceCompared {
        after: Stage::Setup,
        source: snapshot(),
        changed: Difference {
            paths: (0..count).map(|at| (format!("f{at}"), Change::Added)).collect(),
            left_out: 0,
        },
    };
    let held = End::Held(Hold::Setup);
    let cases = [
        (end(End::Ready, Some("why")), "reason_without_hold"),
        (end(End::Checked, Some("why")), "reason_without_hold"),
        (end(held, None), "reason_without_hold"),
        (end(held, Some(" ")), "text_blank"),
        (end(held, Some(&"x".repeat(1_001))), "text_too_long"),
        (end(held, Some("bell\u{7}")), "text_control_character"),
        (Event::SetupRetried { reason: String::new() }, "text_blank"),
        (Event::SourceResolved { resolution: Resolution::Keep, reason: " x".to_owned() }, "text_untrimmed"),
        (command(&|it| it.name = "two\nlines".to_owned()), "text_control_character"),
        (command(&|it| it.name = "x".repeat(101)), "text_too_long"),
        (command(&|it| it.error = Some("x".repeat(1_001))), "text_too_long"),
        (command(&|it| it.stdout = output("x".repeat(2_049))), "too_much"),
        (command(&|it| it.stderr = output("x".repeat(2_049))), "too_much"),
        (paths(201), "too_much"),
    ];
    let course = Course {
        purpose: Purpose::Prepare {},
        sizes: Some([1, 1, 1]),
        results: vec![plain_result()],
        changed: Default::default(),
        reuse: false,
        rerun: false,
        stop_at: None,
    };
    let state = Receipt::init(&intent(&course));
    for (event, code) in cases {
        let refusal = Receipt::decide(&state, Record(event.clone()), &()).unwrap_err();
        assert_eq!(refusal.code(), code, "{event:?}");
        assert_eq!(event.check().map_err(|error: InvalidEvent| error.code()), Err(code));
        let written = serde_json::to_string(&event).unwrap();
        assert!(serde_json::from_str::<Event>(&written).is_err(), "{event:?}");
    }
    // The largest that fit.
    for event in [
        end(held, Some(&"x".repeat(1_000))),
        command(&|it| it.stdout = output("x".repeat(2_048))),
        paths(200),
    ] {
        assert_eq!(event.check(), Ok(()), "{event:?}");
    }
}

/// An intent that does not fit together is not read.
#[test]
fn an_intent_keeps_its_bounds() {
    let course = Course {
        purpose: Purpose::Check { receipt: id("env-0") },
        sizes: Some([1, 1, 1]),
        results: Vec::new(),
        changed: Default::default(),
        reuse: false,
        rerun: false,
        stop_at: None,
    };
    let value = serde_json::to_value(intent(&course)).unwrap();
    let changed = |name: &str, member: Value| {
        let mut value = value.clone();
        value[name] = member;
        serde_json::from_value::<Intent>(value)
    };
    assert!(changed("schema_version", json!(1)).is_ok());
    for (name, member) in [
        ("schema_version", json!(2)),
        ("root", json!("")),
        ("root", json!("a\nb")),
        ("root", json!("x".repeat(1_001))),
        ("origin", Value::Null),
        ("recipe", Value::Null),
        ("purpose", json!({ "prepare": {}, "tools": { "receipt": "env-0" } })),
        ("purpose", json!("prepare")),
    ] {
        assert!(changed(name, member.clone()).is_err(), "{name}: {member}");
    }
}
