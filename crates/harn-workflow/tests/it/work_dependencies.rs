//! Dependencies: what holds an item back, and what is told about it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use harn_ledger::StreamId;
use harn_workflow::work::dependencies::{Evaluation, Found, Own, find_cycle};
use harn_workflow::work::{Command, Dependency, ItemState, NewItem, own};

use crate::work_harness::{Desk, accept, cancel, id, new_item, reopen, retry, run};

/// Items by id: dependencies, and the state without them.
struct Shelf {
    items: BTreeMap<String, Found>,
    asked: RefCell<BTreeMap<String, usize>>,
}

impl Shelf {
    fn new(items: &[(&str, ItemState, &[&str])]) -> Self {
        let found = |(name, state, dependencies): &(&str, ItemState, &[&str])| {
            let dependencies = dependencies.iter().map(|it| id(it)).collect();
            let reason = format!("{name} is {state}");
            ((*name).to_owned(), Found::Item(Own { dependencies, state: *state, reopened: false, reason }))
        };
        Self { items: items.iter().map(found).collect(), asked: RefCell::default() }
    }

    fn look(&self, id: &StreamId) -> Found {
        *self.asked.borrow_mut().entry(id.to_string()).or_default() += 1;
        self.items.get(id.as_str()).cloned().unwrap_or(Found::Missing)
    }

    fn of(&self, ids: &[&str]) -> Vec<(String, String)> {
        let ids: Vec<_> = ids.iter().map(|it| id(it)).collect();
        let told = Evaluation::new(|id: &StreamId| self.look(id)).of(&ids);
        told.into_iter().map(|it| (it.state_words(), it.why)).collect()
    }
}

fn told(word: &str, why: &str) -> (String, String) {
    (word.to_owned(), why.to_owned())
}

#[test]
fn k03_an_item_waits_until_every_dependency_is_accepted() {
    let mut desk = Desk::of(NewItem { dependencies: vec![id("base"), id("other")], ..new_item() });
    let base = Desk::of(new_item());
    let dependency = |name: &str, state, why: &str| Dependency {
        id: id(name),
        state: Some(state),
        reopened: false,
        why: why.to_owned(),
    };
    let of_base = own(&base.state, &base.facts.observed);
    desk.facts.observed.dependencies = vec![
        dependency("base", of_base.state, &of_base.reason),
        dependency("other", ItemState::Succeeded, "accepted"),
    ];
    desk.assert_stands("waiting", "wait_for_dependencies");
    let projection = desk.projection();
    assert_eq!(projection.reason, "waits for `base` (ready)");
    assert_eq!(projection.unresolved_dependencies.len(), 1);
    assert_eq!(projection.unresolved_dependencies[0].why, "nothing stands in its way");
    assert_eq!(projection.suggestions, ["harn work show base"]);
    for refused in [run(), retry(), Command::Resume] {
        assert_eq!(desk.refuses(refused), "waiting");
    }
    desk.facts.observed.dependencies[0] = dependency("base", ItemState::Succeeded, "accepted");
    desk.assert_stands("ready", "run");
    desk.does(cancel());
    desk.assert_stands("cancelled", "none");
}

#[test]
fn what_nobody_looked_at_counts_as_unresolved() {
    let desk = Desk::of(NewItem { dependencies: vec![id("base")], ..new_item() });
    desk.assert_stands("waiting", "wait_for_dependencies");
    assert_eq!(desk.projection().reason, "waits for `base` (unknown)");
}

#[test]
fn an_item_by_itself_leaves_its_dependencies_out_of_account() {
    let desk = Desk::of(NewItem { dependencies: vec![id("base")], ..new_item() });
    let own = own(&desk.state, &desk.facts.observed);
    assert_eq!((own.state, own.dependencies), (ItemState::Ready, vec![id("base")]));
}

#[test]
fn w70_each_unresolved_dependency_is_told_with_its_own_state() {
    let mut shelf = Shelf::new(&[
        ("done", ItemState::Succeeded, &["nowhere"]),
        ("gone", ItemState::Cancelled, &[]),
        ("stuck", ItemState::Blocked, &["done"]),
        ("held", ItemState::Ready, &["gone", "done", "held-too"]),
        ("held-too", ItemState::Blocked, &["stuck"]),
        ("review", ItemState::InReview, &["gone"]),
    ]);
    shelf.items.insert("odd".to_owned(), Found::Unreadable { why: "line 2 is damaged".to_owned() });
    assert_eq!(
        shelf.of(&["done", "gone", "stuck", "held", "review", "odd", "nowhere"]),
        [
            told("succeeded", "done is succeeded"),
            told("cancelled", "gone is cancelled"),
            told("blocked", "stuck is blocked"),
            told("waiting", "waits for `gone` (cancelled), `held-too` (waiting)"),
            told("in_review", "review is in_review"),
            told("unknown", "it cannot be read: line 2 is damaged"),
            told("unknown", "it does not exist"),
        ]
    );
}

#[test]
fn w71_a_dependency_that_was_sent_back_says_so() {
    let mut base = Desk::of(new_item());
    base.passes();
    base.does(accept(&[]));
    let beside = |base: &Desk| {
        let found = Found::Item(own(&base.state, &base.facts.observed));
        let mut evaluation = Evaluation::new(|_: &StreamId| found.clone());
        evaluation.of(&[id("base")])
    };
    let mut above = Desk::of(NewItem { dependencies: vec![id("base")], ..new_item() });
    above.facts.observed.dependencies = beside(&base);
    above.assert_stands("ready", "run");
    assert!(above.projection().unresolved_dependencies.is_empty());

    base.does(reopen(&["It truncates"]));
    above.facts.observed.dependencies = beside(&base);
    above.assert_stands("waiting", "wait_for_dependencies");
    assert_eq!(above.projection().reason, "waits for `base` (reopened, ready)");
    base.passes();
    base.does(cancel());
    above.facts.observed.dependencies = beside(&base);
    assert_eq!(above.projection().reason, "waits for `base` (cancelled)");

    // An item that has passed it already is not held back, and is told all the same.
    base.does(reopen(&[]));
    base.does(cancel());
    base.does(reopen(&[]));
    above.facts.observed.dependencies = vec![];
    let mut accepted = Desk::of(NewItem { dependencies: vec![id("base")], ..new_item() });
    let done = Dependency {
        id: id("base"),
        state: Some(ItemState::Succeeded),
        reopened: false,
        why: "accepted".to_owned(),
    };
    accepted.facts.observed.dependencies = vec![done];
    accepted.passes();
    accepted.does(accept(&[]));
    accepted.facts.observed.dependencies = beside(&base);
    accepted.assert_stands("succeeded", "none");
    assert!(accepted.projection().unresolved_dependencies[0].reopened);
}

#[test]
fn w72_a_cycle_cannot_loop() {
    let shelf = Shelf::new(&[
        ("a", ItemState::Ready, &["b"]),
        ("b", ItemState::Ready, &["c"]),
        ("c", ItemState::Ready, &["a", "c"]),
    ]);
    assert_eq!(shelf.of(&["a"]), [told("waiting", "waits for `b` (waiting)")]);
    assert_eq!(shelf.of(&["c"]), [told("waiting", "waits for `a` (waiting), `c` (waiting)")]);
}

#[test]
fn w73_n06_every_item_is_looked_at_once() {
    let (width, depth) = (10, 6);
    let name = |layer: usize, column: usize| format!("i{layer}-{column}");
    let mut shelf = Shelf::new(&[]);
    for layer in 0..depth {
        for column in 0..width {
            let dependencies =
                if layer == 0 { vec![] } else { (0..width).map(|it| id(&name(layer - 1, it))).collect() };
            let own =
                Own { dependencies, state: ItemState::Ready, reopened: false, reason: "ready".to_owned() };
            shelf.items.insert(name(layer, column), Found::Item(own));
        }
    }
    let mut evaluation = Evaluation::new(|id: &StreamId| shelf.look(id));
    for layer in (0..depth).rev() {
        let ids: Vec<_> = (0..width).map(|column| id(&name(layer, column))).collect();
        let states: Vec<_> = evaluation.of(&ids).into_iter().map(|it| it.state).collect();
        let expected = if layer == 0 { ItemState::Ready } else { ItemState::Waiting };
        assert_eq!(states, vec![Some(expected); width]);
    }
    let asked = shelf.asked.borrow();
    assert_eq!(asked.len(), width * depth);
    assert!(asked.values().all(|&times| times == 1), "{asked:?}");
}

#[test]
fn what_is_told_does_not_depend_on_what_was_asked_before() {
    let items: [(&str, ItemState, &[&str]); 4] = [
        ("a", ItemState::Ready, &["b"]),
        ("b", ItemState::Blocked, &["c", "a"]),
        ("c", ItemState::Ready, &["a"]),
        ("d", ItemState::InReview, &["a"]),
    ];
    let names = ["a", "b", "c", "d"];
    let shelf = Shelf::new(&items);
    let alone: Vec<_> = names.iter().flat_map(|name| shelf.of(&[name])).collect();
    assert_eq!(shelf.of(&names), alone);
    let mut backwards = shelf.of(&["d", "c", "b", "a"]);
    backwards.reverse();
    assert_eq!(backwards, alone);
}

#[test]
fn a_dependency_on_fifty_items_is_told_within_bounds() {
    let dependencies: Vec<_> = (0..50).map(|it| id(&format!("{it}-{}", "x".repeat(90)))).collect();
    let mut desk = Desk::of(NewItem { dependencies, ..new_item() });
    assert!(desk.projection().reason.chars().count() <= 2_000);
    assert_eq!(desk.projection().unresolved_dependencies.len(), 50);
    assert_eq!(desk.does(Command::Reconcile), ["work.reconciled"]);
}

#[test]
fn a_cycle_is_found_at_creation() {
    let edges: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("a", &["b", "c"][..]),
        ("b", &["d"]),
        ("c", &["d"]),
        ("d", &[]),
        ("back", &["new"]),
        ("x", &["y"]),
        ("y", &["z"]),
        ("z", &["y"]),
    ]);
    let asked = RefCell::new(Vec::new());
    let cycle = |dependencies: &[&str]| {
        asked.borrow_mut().clear();
        let dependencies: Vec<_> = dependencies.iter().map(|it| id(it)).collect();
        let found = find_cycle(&id("new"), &dependencies, |item| {
            asked.borrow_mut().push(item.to_string());
            edges.get(item.as_str()).map(|edges| edges.iter().map(|it| id(it)).collect())
        });
        found.map(|cycle| cycle.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(cycle(&[]), None);
    assert_eq!(cycle(&["a", "b", "missing"]), None);
    assert_eq!(asked.borrow().iter().filter(|it| *it == "d").count(), 1);
    assert_eq!(cycle(&["a", "back"]).as_deref(), Some("new back new"));
    assert_eq!(cycle(&["x"]).as_deref(), Some("y z y"));
    assert_eq!(cycle(&["new"]).as_deref(), Some("new new"));

    // Iterative: a chain of any length.
    let next = |item: &StreamId| {
        let number: u32 = item.as_str()[1..].parse().unwrap();
        Some(if number == 100_000 { vec![] } else { vec![id(&format!("n{}", number + 1))] })
    };
    assert_eq!(find_cycle(&id("new"), &[id("n0")], next), None);
}
