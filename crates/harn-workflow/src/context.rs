//! What a script is told about its work and its attempt, frozen before it starts.
//!
//! Both documents are closed and have exactly one written form. They stand in the run's manifest, where the script's
//! host takes them from, and again, member for member, in the proof. Nothing puts them into a prompt: the script
//! decides what an agent reads.
//!
//! A context is made by its constructor, which trims texts and orders causes, or read from JSON, which must already be
//! in that form. Both ways end in the same check, so whatever can be written can be read.

mod acceptance;
mod attempt;
mod canonical;
mod node;
mod prior;
mod work;

pub use acceptance::{AcceptanceSummary, CRITERIA_MAX, Unresolved, UnresolvedStatus};
pub use attempt::{AttemptContext, ContextFinding, FINDING_MAX, FINDINGS_MAX, NUMBER_MAX, Trigger};
pub use canonical::{ContextError, SHORT_ID_MAX};
pub use prior::{Cause, ERROR_MAX, Prior};
pub use work::{ACCEPTANCE_MAX, CRITERION_MAX, OBJECTIVE_MAX, TITLE_MAX, WorkContext};
