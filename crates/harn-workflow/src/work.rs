//! Work items: durable objectives, the attempts to reach them, and what people said about the results.
//!
//! A work item is a durable objective. A run is one bounded attempt to advance it. A passing run waits for a person;
//! only an explicit accept completes the objective. This module is the pure part: a [`Decider`](harn_ledger::Decider)
//! over streams of kind `work`, and the functions that tell where an item stands. It reads no file, no clock and no
//! environment; what the outside world has to say comes in as [`Facts`].
//!
//! ```
//! use harn_ledger::{Decider, Timestamp};
//! use harn_workflow::work::{ItemState, NewItem, NextAction, Observed, Projection, ScriptFile, Work, Workflow};
//!
//! let script = ScriptFile::of("/project/release.mjs", b"export default async () => {}");
//! let item = NewItem::new("Release the package", "Publish a verified release", Workflow::of(script));
//! let intent = item.into_intent("release-1".parse()?, Timestamp::UNIX_EPOCH)?;
//!
//! let projection = Projection::of(&Work::init(&intent), &Observed::default());
//! assert_eq!((projection.state, projection.next_action), (ItemState::Ready, NextAction::Run));
//! assert_eq!(projection.attempts_text(), "0/3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: what is written ([`Intent`], [`Event`]), what follows from it ([`State`], [`Budget`]), what the
//! outside adds ([`Facts`], [`dependencies`]), what can be asked ([`Command`], [`Refusal`], [`transition`]), and what is
//! shown ([`Projection`]).

mod attempt;
pub mod bounds;
mod brief;
mod budget;
mod command;
mod decide;
pub mod dependencies;
mod end;
mod event;
mod explain;
mod facts;
mod finding;
pub(crate) mod fit;
mod intent;
mod lifecycle;
mod new_item;
mod origin;
mod precedence;
mod projection;
mod reason;
mod refusal;
mod review;
pub mod rule;
mod script;
mod settle;
mod state;
mod suggest;
pub mod transition;

pub use attempt::{Attempt, AttemptStatus, Judgement, Trigger};
pub use budget::Budget;
pub use command::{Accept, Carry, Command, Reopen, Verb};
pub use decide::Work;
pub use dependencies::Dependency;
pub use end::{Class, End, InvalidEnd, Outcome};
pub use event::{Event, InvalidEvent};
pub use explain::{Because, Explanation, Possible, RuledOut};
pub use facts::{ApprovalStatus, Caller, Facts, Observed, Role, RunShows};
pub use finding::{
    Disposition, FindingId, Findings, InvalidDisposition, InvalidFindingId, OpenFinding, PastFinding,
    PastOutcome, Ruling,
};
pub use intent::{Intent, InvalidIntent, InvalidSourceKind, Source, SourceKind};
pub use lifecycle::{ItemState, NextAction};
pub use new_item::NewItem;
pub use origin::{FindingWas, Imported, KeptFile, Origin, Program};
pub(crate) use precedence::standing;
pub use precedence::{Standing, own};
pub use projection::{AttemptRow, Projection};
pub use refusal::Refusal;
pub use review::{AcceptedReview, ReviewFact};
pub use rule::Rule;
pub use script::{ScriptFile, Workflow};
pub use state::{Governance, Grant, Note, Receipt, State};
