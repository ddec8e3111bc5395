//! What a handle knows of its stream: the state folded so far, and where the log was verified up to.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;

use crate::append::Written;
use crate::decider::{Decider, Expect, Head};
use crate::disk::Stat;
use crate::entry::{Entry, LEDGER_PREFIX, LedgerEvent, Recorded};
use crate::id::Actor;
use crate::line::Line;
use crate::log::{Log, ReadError};
use crate::payload;
use crate::scan::{Position, UnfinishedTail};

/// What a handle knows of the log.
pub(crate) struct Folded<S> {
    pub(crate) state: S,
    pub(crate) position: Position,
    /// The last event of the domain and the ledger's lines after it: what an expectation may name.
    heads: Vec<Head>,
    pub(crate) tail: Option<UnfinishedTail>,
    /// Files of moved tails that the log tells of.
    pub(crate) torn: BTreeSet<String>,
    /// The log as this handle left it after its last write.
    pub(crate) left: Option<Stat>,
    /// Whether the handle has looked at who may reach its files.
    pub(crate) place_checked: bool,
}

impl<S> Folded<S> {
    pub(crate) const fn new(state: S, start: Position) -> Self {
        Self {
            state,
            position: start,
            heads: Vec::new(),
            tail: None,
            torn: BTreeSet::new(),
            left: None,
            place_checked: false,
        }
    }

    /// Folds what came since the last look. After a failure the fold stands where the failure was.
    pub(crate) fn refresh<D: Decider<State = S>>(&mut self, log: &Log) -> Result<(), ReadError> {
        let mut position = self.position;
        let mut unknown = None;
        let mut actors = Actors::default();
        let read = log.read(&mut position, &mut |line| match typed::<D::Event>(line, &mut actors) {
            Ok(entry) => {
                self.fold::<D>(&entry);
                ControlFlow::Continue(())
            }
            Err(what) => {
                unknown = Some((line.seq(), what));
                ControlFlow::Break(())
            }
        });
        self.position = position;
        self.tail = read?;
        match unknown {
            Some((seq, what)) => Err(ReadError::Newer { stream: log.name.clone(), seq, what }),
            None => Ok(()),
        }
    }

    pub(crate) fn fold<D: Decider<State = S>>(&mut self, entry: &Entry<D::Event>) {
        match entry {
            Entry::Domain(recorded) => {
                D::evolve(&mut self.state, recorded);
                self.heads.clear();
                self.heads.push(Head { seq: recorded.seq, hash: recorded.hash });
            }
            Entry::Ledger(recorded) => {
                self.torn.insert(moved_file(&recorded.event).to_owned());
                self.heads.push(Head { seq: recorded.seq, hash: recorded.hash });
            }
        }
    }

    /// Folds what this handle wrote itself, without reading it again, and returns the entries.
    pub(crate) fn fold_written<D: Decider<State = S>>(
        &mut self,
        written: Written,
        actor: &Actor,
        events: Vec<D::Event>,
    ) -> Vec<Recorded<D::Event>> {
        let Written { ledger, heads, ts, position } = written;
        for recorded in ledger {
            self.fold::<D>(&Entry::Ledger(recorded));
        }
        let mut committed = Vec::with_capacity(events.len());
        for (event, Head { seq, hash }) in events.into_iter().zip(heads) {
            let entry = Entry::Domain(Recorded { seq, ts, actor: actor.clone(), hash, event });
            self.fold::<D>(&entry);
            if let Entry::Domain(recorded) = entry {
                committed.push(recorded);
            }
        }
        self.position = position;
        self.tail = None;
        committed
    }

    /// Whether nothing of the domain came after what is expected.
    pub(crate) fn meets(&self, expect: Expect) -> bool {
        match expect {
            Expect::Any => true,
            Expect::Head(head) => self.heads.contains(&head),
        }
    }

    pub(crate) const fn head(&self) -> Head {
        Head { seq: self.position.seq, hash: self.position.hash }
    }
}

/// The file of a moved tail that an entry tells of.
pub(crate) fn told_of<E>(entry: &Entry<E>) -> Option<String> {
    match entry {
        Entry::Domain(_) => None,
        Entry::Ledger(recorded) => Some(moved_file(&recorded.event).to_owned()),
    }
}

/// The file that a line of the ledger tells of.
pub(crate) fn moved_file(event: &LedgerEvent) -> &str {
    let (LedgerEvent::TailMoved { file, .. } | LedgerEvent::Cut { file, .. }) = event;
    file
}

/// The actor of the line before: most often that of the next one too, which then need not be copied.
#[derive(Debug, Default)]
pub(crate) struct Actors(Option<Actor>);

impl Actors {
    fn of(&mut self, line: &Line<'_>) -> Actor {
        let text = line.actor();
        match &self.0 {
            Some(last) if last.as_str() == text => last.clone(),
            _ => self.0.insert(Actor::from_checked(&text)).clone(),
        }
    }
}

/// The line as an entry, or what about it is not known.
pub(crate) fn typed<E: DeserializeOwned>(line: &Line<'_>, actors: &mut Actors) -> Result<Entry<E>, String> {
    let (name, data) = (line.event(), line.data());
    let what = |error: serde_json::Error| format!("`{name}`: {error}");
    Ok(if name.starts_with(LEDGER_PREFIX) {
        Entry::Ledger(recorded(line, actors, payload::decode(name, data).map_err(what)?))
    } else {
        Entry::Domain(recorded(line, actors, payload::decode(name, data).map_err(what)?))
    })
}

fn recorded<E>(line: &Line<'_>, actors: &mut Actors, event: E) -> Recorded<E> {
    let actor = actors.of(line);
    Recorded { seq: line.seq(), ts: line.ts(), actor, hash: line.hash(), event }
}
