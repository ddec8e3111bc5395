//! How an attempt ended, and whether it is charged.

use std::fmt;

use harn_ledger::BlobRef;
use harn_ledger::text::{TextError, check_block, check_line};
use serde::{Deserialize, Serialize};

use super::{bounds, fit};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run succeeded, with a proof that leaves no criterion open.
    Passed,
    /// The run ended, but did not pass.
    Failed,
    /// There is no terminal evidence.
    Lost,
}

/// The positively known reason why an attempt says nothing about the work. An attempt with a class is not charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A precondition was missing, so the work never started.
    Environment,
    /// An outside service was reached and refused.
    Upstream,
    /// The script said that a person must rule.
    Decision,
    /// It ended before any agent or check was started.
    Interrupted,
}

/// How an attempt ended, with what is known about it. The parts fit together: see [`End::new`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub(super) outcome: Outcome,
    pub(super) class: Option<Class>,
    pub(super) proof: Option<BlobRef>,
    pub(super) error: Option<String>,
    pub(super) decision: Option<String>,
}

/// Why the parts of an attempt's end do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEnd {
    /// It passed, but nothing proves it.
    #[error("a passed attempt has no proof")]
    PassedWithoutProof,
    /// It passed, but has a class, an error or a decision.
    #[error("a passed attempt has a class, an error or a decision")]
    PassedWithFailure,
    /// It is lost, but has a proof.
    #[error("a lost attempt has a proof")]
    LostWithProof,
    /// It is lost, but has a class that only terminal evidence can give.
    #[error("a lost attempt has a class other than `interrupted`")]
    LostWithClass,
    /// It names a decision, but is not of that class.
    #[error("the attempt names a decision, but its class is not `decision`")]
    DecisionWithoutClass,
    /// A text is blank, too long, untrimmed or holds control characters.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl End {
    /// An end whose parts fit together. Error and decision are made to fit their bounds: a script's text can never keep
    /// an attempt from being ended; a blank one counts as absent.
    ///
    /// A passed attempt has a proof and nothing else. A lost one has no proof, and no class but `interrupted`. Only class
    /// `decision` names a decision.
    pub fn new(
        outcome: Outcome,
        class: Option<Class>,
        proof: Option<BlobRef>,
        error: Option<&str>,
        decision: Option<&str>,
    ) -> Result<Self, InvalidEnd> {
        let error = error.and_then(|text| fit::block(text, bounds::ERROR));
        let decision = decision.and_then(|text| fit::line(text, bounds::DECISION));
        let end = Self { outcome, class, proof, error, decision };
        end.check()?;
        Ok(end)
    }

    /// A pass with its proof.
    #[must_use]
    pub const fn passed(proof: BlobRef) -> Self {
        Self { outcome: Outcome::Passed, class: None, proof: Some(proof), error: None, decision: None }
    }

    /// No terminal evidence. It is charged unless the run is known to have ended before any agent or check was started.
    #[must_use]
    pub const fn lost(interrupted: bool) -> Self {
        let class = if interrupted { Some(Class::Interrupted) } else { None };
        Self { outcome: Outcome::Lost, class, proof: None, error: None, decision: None }
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Why it is not charged.
    #[must_use]
    pub const fn class(&self) -> Option<Class> {
        self.class
    }

    /// The proof.
    #[must_use]
    pub const fn proof(&self) -> Option<BlobRef> {
        self.proof
    }

    /// The error, up to 2,000 characters.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The decision that a person must make, one line of up to 1,000 characters.
    #[must_use]
    pub fn decision(&self) -> Option<&str> {
        self.decision.as_deref()
    }

    /// Whether it counts against the budget: whatever has no positively known class does.
    #[must_use]
    pub const fn is_charged(&self) -> bool {
        self.class.is_none()
    }

    pub(super) fn check(&self) -> Result<(), InvalidEnd> {
        let failure = self.class.is_some() || self.error.is_some() || self.decision.is_some();
        match self.outcome {
            Outcome::Passed if self.proof.is_none() => return Err(InvalidEnd::PassedWithoutProof),
            Outcome::Passed if failure => return Err(InvalidEnd::PassedWithFailure),
            Outcome::Lost if self.proof.is_some() => return Err(InvalidEnd::LostWithProof),
            Outcome::Lost if !matches!(self.class, None | Some(Class::Interrupted)) => {
                return Err(InvalidEnd::LostWithClass);
            }
            _ => {}
        }
        if self.decision.is_some() && self.class != Some(Class::Decision) {
            return Err(InvalidEnd::DecisionWithoutClass);
        }
        if let Some(error) = &self.error {
            check_block("error", error, bounds::ERROR)?;
        }
        if let Some(decision) = &self.decision {
            check_line("decision", decision, bounds::DECISION)?;
        }
        Ok(())
    }
}

impl InvalidEnd {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PassedWithoutProof => "passed_without_proof",
            Self::PassedWithFailure => "passed_with_failure",
            Self::LostWithProof => "lost_with_proof",
            Self::LostWithClass => "lost_with_class",
            Self::DecisionWithoutClass => "decision_without_class",
            Self::Text(error) => error.code(),
        }
    }
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 4] = [Self::Environment, Self::Upstream, Self::Decision, Self::Interrupted];

    /// The word in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Upstream => "upstream",
            Self::Decision => "decision",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Lost => "lost",
        })
    }
}
