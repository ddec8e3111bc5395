//! The projection as JSON.

use harn_workflow::work::{Class, Command};

use crate::work_harness::{Desk, accept, failed, reopen};

#[test]
fn the_members_that_are_shown() {
    let mut desk = Desk::new();
    desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    desk.passes();
    desk.does(reopen(&["wrong"]));
    desk.does(Command::Note { text: "seen".to_owned() });
    desk.does(Command::Grant { attempts: 2, reason: "hard".to_owned() });
    let json = serde_json::to_value(desk.projection()).unwrap();
    let members: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    let mut expected = vec![
        "schema_version",
        "id",
        "title",
        "state",
        "next_action",
        "reason",
        "try",
        "unresolved_dependencies",
        "attempts",
        "attempts_used",
        "charged_attempts",
        "attempts_remaining",
        "max_attempts",
        "granted_attempts",
        "uncharged_in_a_row",
        "max_uncharged_attempts",
        "grants",
        "findings",
        "notes",
        "updated_at",
    ];
    expected.sort_unstable();
    let mut members: Vec<_> = members.iter().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!(json["schema_version"], 1);
    assert_eq!(
        json["attempts"][0],
        serde_json::json!({
            "imported": false,
            "number": 1,
            "run_id": "wf-1",
            "started_at": "2026-07-22T12:00:02.000000Z",
            "ended_at": "2026-07-22T12:00:03.000000Z",
            "trigger": "initial",
            "status": "failed",
            "class": "upstream",
            "charge_reason": "an outside service refused before the work was touched", "charged": false,
            "proof": {"blob": desk.state.attempts()[0].end.as_ref().unwrap().proof().unwrap().blob, "bytes": 6},
            "error": "HTTP 503",
        })
    );
    assert_eq!(
        json["findings"],
        serde_json::json!({"open": [{"id": "f1", "actor": "operator", "statement": "wrong"}], "past": []})
    );
    assert_eq!(json["grants"][0]["attempts"], 2);
    assert_eq!(json["notes"][0]["text"], "seen");
}

#[test]
fn there_is_always_something_to_try() {
    let mut desk = Desk::with_attempts(1);
    assert_eq!(desk.projection().suggestions, ["harn work run w1"]);
    desk.attempts(failed(Some(Class::Environment), "no codex"));
    desk.assert_stands("blocked", "none");
    assert_eq!(desk.projection().suggestions, ["harn work retry w1"]);
    desk.passes();
    let grant = "--grant 1 --reason \"why one more\"";
    assert_eq!(
        desk.projection().suggestions,
        [
            "harn work accept w1".to_owned(),
            format!("harn work reopen w1 --finding \"what is wrong\" {grant}")
        ]
    );
    desk.does(accept(&[]));
    assert_eq!(
        desk.projection().suggestions,
        [format!("harn work reopen w1 --finding \"what is wrong\" {grant}")]
    );
}
