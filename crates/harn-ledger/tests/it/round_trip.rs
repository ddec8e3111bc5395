//! Arbitrary data, of every type that JSON has: it reads back as it was, or is refused as a whole.

use std::collections::BTreeMap;
use std::path::Path;

use harn_ledger::disk::MemDisk;
use harn_ledger::{AppendError, Decider, Entry, Expect, Ledger, Recorded, Stream, VerifyOptions};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::store::{LOG, config, in_memory, open, read};

/// A domain that keeps whatever it is given.
struct Drawer;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    label: Thing,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum DrawerEvent {
    #[serde(rename = "put")]
    Put { thing: Thing },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Thing {
    Nothing {},
    Flag(bool),
    Text(String),
    Letter(char),
    Small(i8),
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Single(f32),
    List(Vec<Thing>),
    Named(BTreeMap<String, Thing>),
    Pair(Box<Thing>, Box<Thing>),
    Perhaps {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thing: Option<Box<Thing>>,
    },
}

#[derive(Debug, thiserror::Error)]
#[error("nothing is ever refused")]
struct Never;

impl Decider for Drawer {
    const KIND: &'static str = "drawer";
    type Intent = Label;
    type Event = DrawerEvent;
    type State = Vec<Thing>;
    type Command = Thing;
    type Facts = ();
    type Refusal = Never;

    fn init(_: &Label) -> Vec<Thing> {
        Vec::new()
    }

    fn decide(_: &Vec<Thing>, thing: Thing, (): &()) -> Result<Vec<DrawerEvent>, Never> {
        Ok(vec![DrawerEvent::Put { thing }])
    }

    fn evolve(things: &mut Vec<Thing>, recorded: &Recorded<DrawerEvent>) {
        let DrawerEvent::Put { thing } = &recorded.event;
        things.push(thing.clone());
    }
}

fn create(ledger: &Ledger, label: Thing) -> Stream<Drawer> {
    ledger.create("d", "clerk", &Label { label }, &[DrawerEvent::Put { thing: Thing::Nothing {} }]).unwrap()
}

fn open_drawer(disk: &MemDisk) -> Stream<Drawer> {
    open(disk.clone(), Path::new("/bank")).stream("d").unwrap()
}

/// Texts that look like parts of a line, among the arbitrary ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any::<String>(),
        1 => prop::sample::select(vec![
            "null", "\"", "\\", "\\\"", "\n", "\0", "\u{2028}", "\u{10ffff}", "hash", "prev", "bytes",
            r#"","hash":"0"}"#, r#"},"more":true,"prev":""#, r#""blob""#,
        ])
        .prop_map(str::to_owned),
    ]
}

/// A member may not be called `blob`, unless it is a citation's.
fn name() -> impl Strategy<Value = String> {
    text().prop_filter("a citation", |name| name != "blob")
}

fn thing(leaf: impl Strategy<Value = Thing> + 'static) -> impl Strategy<Value = Thing> {
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Thing::List),
            btree_map(name(), inner.clone(), 0..6).prop_map(Thing::Named),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Thing::Pair(Box::new(a), Box::new(b))),
            prop::option::of(inner).prop_map(|thing| Thing::Perhaps { thing: thing.map(Box::new) }),
        ]
    })
}

fn exact() -> impl Strategy<Value = Thing> {
    prop_oneof![
        Just(Thing::Nothing {}),
        any::<bool>().prop_map(Thing::Flag),
        text().prop_map(Thing::Text),
        any::<char>().prop_map(Thing::Letter),
        any::<i8>().prop_map(Thing::Small),
        prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)].prop_map(Thing::Signed),
        prop_oneof![any::<u64>(), Just(u64::MAX)].prop_map(Thing::Unsigned),
    ]
}

fn real() -> impl Strategy<Value = Thing> {
    use proptest::num::{f32, f64};
    prop_oneof![f64::ANY.prop_map(Thing::Real), f32::ANY.prop_map(Thing::Single)]
}

/// The bits of a finite fraction.
fn bits(thing: &Thing) -> Option<u64> {
    match thing {
        Thing::Real(number) => number.is_finite().then(|| number.to_bits()),
        Thing::Single(number) => number.is_finite().then(|| u64::from(number.to_bits())),
        other => panic!("{other:?} is no fraction"),
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn data_without_fractions_reads_back_as_it_was(label in thing(exact()), things in vec(thing(exact()), 0..6)) {
        let (disk, ledger) = in_memory();
        let stream = create(&ledger, label.clone());
        let events: Vec<DrawerEvent> = things.iter().map(|thing| DrawerEvent::Put { thing: thing.clone() }).collect();
        let committed = stream.append(Expect::Any, "clerk", events.clone()).unwrap();
        prop_assert!(committed.events.iter().map(|recorded| &recorded.event).eq(&events));

        let fresh = open_drawer(&disk);
        prop_assert_eq!(&fresh.intent().label, &label);
        let state = fresh.state().unwrap();
        prop_assert_eq!(&state[1..], &things[..]);
        prop_assert_eq!(&stream.state().unwrap(), &state);
        let mut folded = Drawer::init(fresh.intent());
        fresh.history().unwrap().iter().filter_map(Entry::domain).for_each(|it| Drawer::evolve(&mut folded, it));
        prop_assert_eq!(folded, state);

        let mut raw = Vec::new();
        let shown = ledger.raw("drawer", "d").unwrap().visit(|event| {
            raw.push(event.data.into_owned());
            std::ops::ControlFlow::Continue(())
        });
        prop_assert_eq!(shown.unwrap().0, committed.head);
        let written = |thing: &Thing| format!("{{\"thing\":{}}}", serde_json::to_string(thing).unwrap());
        prop_assert!(raw[1..].iter().eq(&things.iter().map(written).collect::<Vec<_>>()));
        prop_assert_eq!(ledger.verify(&VerifyOptions::default()).problems, vec![]);
    }

    /// To the bit. What is no number has no JSON, so it is refused, and nothing is written.
    #[test]
    fn a_fraction_reads_back_as_it_was(number in real()) {
        let (disk, ledger) = in_memory();
        let stream = create(&ledger, Thing::Nothing {});
        let path = Path::new("/bank/drawer/d").join(LOG);
        let before = read(&disk, &path);
        let appended = stream.append(Expect::Any, "clerk", vec![DrawerEvent::Put { thing: number.clone() }]);
        let finite = bits(&number).is_some();
        prop_assert_eq!(appended.is_ok(), finite);
        match appended {
            Ok(_) => prop_assert_eq!(bits(&open_drawer(&disk).state().unwrap()[1]), bits(&number)),
            Err(error) => {
                prop_assert!(matches!(error, AppendError::NotCanonical(_)), "{}", error);
                prop_assert_eq!(read(&disk, &path), before);
            }
        }
    }

    #[test]
    fn a_member_that_looks_like_a_citation_is_refused(thing in thing(exact()), nested in 0..4) {
        let (disk, ledger) = in_memory();
        let stream = create(&ledger, Thing::Nothing {});
        let path = Path::new("/bank/drawer/d").join(LOG);
        let before = read(&disk, &path);
        let mut false_citation = Thing::Named(BTreeMap::from([("blob".to_owned(), thing)]));
        for _ in 0..nested {
            false_citation = Thing::List(vec![false_citation]);
        }
        let error = stream.append(Expect::Any, "clerk", vec![DrawerEvent::Put { thing: false_citation }]).unwrap_err();
        prop_assert!(matches!(error, AppendError::NotCanonical(_)), "{}", error);
        prop_assert_eq!(read(&disk, &path), before);
    }
}
