#![doc = include_str!("../README.md")]

pub mod body;
pub mod bounds;
pub mod brief;
pub mod check;
pub mod event;
pub mod finding;
mod gate;
mod id;
mod identity;
pub mod import;
mod intent;
mod path;
pub mod plan;
mod repair;
pub mod report;
mod review;
pub mod sarif;
mod source;
pub mod state;
mod turn;
mod validate;

pub use event::Event;
pub use finding::Finding;
pub use gate::{Gate, Outside, Published, Reason, gate};
pub use id::{FindingId, InvalidNumber, TurnId};
pub use identity::Anchor;
pub use intent::{Base, Intent, InvalidIntent};
pub use path::{InvalidPath, SourcePath};
pub use plan::Plan;
pub use repair::{NotReviewed, Offer, Revision, next};
pub use report::Report;
pub use review::{Command, Refusal, Review};
pub use source::Source;
pub use state::State;
pub use turn::{Accepted, Turn, TurnOutcome};
pub use validate::{Judgement, Problem, Rejection, Step, validate};
