//! A state as the catalog of `list` keeps it: an older build may have written it.

use harn_workflow::work::{Class, Command, Dependency, ItemState, NewItem, Reopen, State};

use crate::work_harness::{Desk, accepting, failed, id, new_item, proof, reopening};

/// An item with something of everything that a state holds.
fn rich() -> Desk {
    let mut desk = Desk::of(NewItem { dependencies: vec![id("base")], ..new_item() });
    let base = Dependency {
        id: id("base"),
        state: Some(ItemState::Succeeded),
        reopened: false,
        why: "accepted".to_owned(),
    };
    desk.facts.observed.dependencies = vec![base];
    desk.attempts(failed(None, "boom"));
    let reason = "a library was missing".to_owned();
    desk.does(Command::Recharge { attempt: 1, class: Some(Class::Environment), reason });
    desk.attempts(failed(Some(Class::Upstream), "HTTP 503"));
    desk.passes();
    desk.does(Command::Reopen(Reopen {
        reason: Some("not yet".to_owned()),
        ..reopening(&["It throws.", "It waits."])
    }));
    desk.does(Command::Grant { attempts: 2, reason: "it is worth it".to_owned() });
    desk.does(Command::Note { text: "nearly there".to_owned() });
    desk.passes();
    desk.facts.proof = Some(proof(4));
    let mut accept = accepting(&["f1=fixed", "f2=deferred:it may wait"]);
    accept.reason = Some("good enough".to_owned());
    desk.does(Command::Accept(accept));
    desk
}

/// If this fails, and the state is meant to look like this now: raise `SUMMARY_VERSION` in `work_ledger/list.rs`, so that
/// no list takes what an older build kept for what this one would keep, and replace the file.
#[test]
fn what_a_catalog_keeps_of_an_item() {
    let state = rich().state;
    let kept = serde_json::to_string_pretty(&state).unwrap() + "\n";
    let golden = include_str!("../golden/work-state.json");
    assert_eq!(kept, golden);
    assert_eq!(serde_json::from_str::<State>(golden).unwrap(), state);
}
