//! One bounded attempt to advance a work item, as a stream: `run/<id>`.
//!
//! The stream's intent is the [`Manifest`], written before the script is loaded: what was asked, with which contexts and
//! under which limits. Its log is the transcript of [`Event`]s. Whatever is said about a run afterwards follows from
//! these two alone: the [`State`], the [class](Class) that decides whether the attempt is charged, the
//! [roll-up](roll_up) of its criteria, and the [`Proof`], which anybody can compute again and compare.

mod agent;
mod captured;
mod check;
mod class;
mod command;
mod criterion;
mod ending;
mod environment;
mod event;
mod evidence;
mod execution;
mod id;
mod legal;
mod manifest;
mod meta;
mod path;
mod prior;
pub mod proof;
mod repository;
mod rollup;
mod script;
mod state;
mod text;
mod version;

pub use agent::{AgentOutcome, TryOutcome};
pub use captured::{
    Captured, ContentDigest, Excerpt, HEAD_MAX, INLINE_MAX, InvalidCaptured, Payload, PayloadKind, TAIL_MAX,
};
pub use check::{Argv, CheckOutcome, InvalidArgv};
pub use class::{Class, FailureClass, Tally, run_class};
pub use command::{Command, EndedCheck, Ending, Run};
pub use criterion::{AcceptanceIds, Criterion, CriterionId, InvalidCriterionId};
pub use ending::{Failure, Status};
pub use environment::{
    BaselineResult, COMMANDS_MAX, CommandName, Compared, EnvironmentRecord, FinalCheck, Hold, Preparation,
    ReceiptHead, TESTS_MAX, Verdict,
};
pub use event::{DecisionId, Event, Label, Reason};
pub use evidence::{EVIDENCE_MAX, Evidence, EvidenceKind, EvidenceStatus, Source};
pub use execution::{Execution, Isolation};
pub use id::{AgentId, CheckId, EvidenceId, InvalidNumberedId};
pub use legal::Refusal;
pub use manifest::{Manifest, ManifestError, ManifestParts};
pub use meta::{Meta, MetaError, MetaParts};
pub use path::{AbsolutePath, InvalidPath};
pub use prior::{PriorError, prior_from};
pub use proof::{NotEnded, Proof};
pub use repository::{DirtyPath, Drift, RepositoryRecord, Snapshot};
pub use rollup::{Acceptance, CriterionResult, CriterionStatus, roll_up};
pub use script::{Module, Script};
pub use state::{Environment, OpenCheck, Phase, State};
pub use text::{Block, Line, Text};
pub use version::Version;
