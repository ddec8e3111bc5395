//! How a run is executed: where, by whom, and under which limits.

use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use super::manifest::ManifestError;
use super::path::AbsolutePath;
use super::text::Line;

/// The largest number that every reader of JSON holds exactly.
pub(super) const EXACT_MAX: u64 = (1 << 53) - 1;
/// Minutes in a day; a zone is nearer to UTC than that.
const DAY_MINUTES: u16 = 24 * 60;

/// Where children and checks work. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In the checkout itself.
    Shared,
    /// In a worktree of this attempt.
    Worktree,
}

/// How a run is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// Where children and checks are started.
    pub cwd: AbsolutePath,
    /// The adapter of every agent that names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Line<100>>,
    /// Most agents in all.
    pub max_agents: NonZeroU32,
    /// Most agents at once.
    pub concurrency: NonZeroU32,
    /// How long the run may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<NonZeroU64>,
    /// How much memory the script may use, in bytes.
    pub memory_bytes: NonZeroU64,
    /// API keys are kept from agents.
    pub subscription_only: bool,
    /// An API key may be used although a subscription is there. Never together with `subscription_only`.
    pub allow_api_billing: bool,
    /// Whom requests for approval are addressed to. It informs and grants nothing.
    pub approval_addressee: Line<200>,
    /// The isolation that was asked for.
    pub requested_isolation: Isolation,
    /// The isolation that the run has; at most what was asked for.
    pub effective_isolation: Isolation,
    /// Every acceptance text of the work item is a criterion, whether or not evidence cites it.
    pub require_acceptance: bool,
    /// The seed of the script's random numbers; at most 2^53 - 1.
    pub random_seed: u64,
    /// The offset of the script's time zone east of UTC, in minutes; less than a day.
    pub zone_offset_minutes: i16,
}

impl Execution {
    /// An execution in `cwd` with nothing asked for: 50 agents, 4 at once, 256 MiB, no deadline, shared, UTC, approvals
    /// addressed to `operator`.
    #[must_use]
    pub fn in_dir(cwd: AbsolutePath) -> Self {
        let positive = "a positive constant";
        Self {
            cwd,
            adapter: None,
            max_agents: NonZeroU32::new(50).expect(positive),
            concurrency: NonZeroU32::new(4).expect(positive),
            deadline_ms: None,
            memory_bytes: NonZeroU64::new(256 << 20).expect(positive),
            subscription_only: false,
            allow_api_billing: false,
            approval_addressee: Line::clip("operator").expect("a word"),
            requested_isolation: Isolation::Shared,
            effective_isolation: Isolation::Shared,
            require_acceptance: false,
            random_seed: 0,
            zone_offset_minutes: 0,
        }
    }

    /// The members agree with each other and stay within what every reader holds exactly.
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        if self.subscription_only && self.allow_api_billing {
            return Err(ManifestError::BillingConflict);
        }
        if self.effective_isolation == Isolation::Worktree && self.requested_isolation == Isolation::Shared {
            return Err(ManifestError::UnrequestedIsolation);
        }
        let numbers = [
            ("random_seed", self.random_seed),
            ("memory_bytes", self.memory_bytes.get()),
            ("deadline_ms", self.deadline_ms.map_or(0, NonZeroU64::get)),
        ];
        if let Some((member, found)) = numbers.into_iter().find(|(_, number)| *number > EXACT_MAX) {
            return Err(ManifestError::NotExact { member, found });
        }
        if self.zone_offset_minutes.unsigned_abs() >= DAY_MINUTES {
            return Err(ManifestError::ZoneOffset { found: self.zone_offset_minutes });
        }
        Ok(())
    }
}
