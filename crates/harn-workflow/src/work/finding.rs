//! Operator findings: corrections that a person attaches to a reopen, and what became of them.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use harn_ledger::{Actor, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The id of a finding, `f1`, `f2`, …: unique for the life of its item and never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId(NonZeroU32);

/// The text is not the id of a finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the id of a finding, expected `f` and a number such as `f1`", .0.escape_debug())]
pub struct InvalidFindingId(pub String);

/// A finding that nobody has ruled on yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenFinding {
    /// Its id.
    pub id: FindingId,
    /// Who raised it; a carried finding keeps its first actor.
    pub actor: Actor,
    /// What is wrong, 1 to 1,000 characters.
    pub statement: String,
}

/// A finding that is open no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastFinding {
    /// Its id.
    pub id: FindingId,
    /// Who raised it.
    pub actor: Actor,
    /// What was wrong.
    pub statement: String,
    /// What became of it.
    pub outcome: PastOutcome,
    /// Why, where a reason was given for this finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who disposed of it or replaced it.
    pub closed_by: Actor,
    /// When.
    pub closed_at: Timestamp,
}

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastOutcome {
    /// An acceptance says that it was dealt with.
    Fixed,
    /// An acceptance puts it off, with a reason.
    Deferred,
    /// A later reopen replaced it.
    Superseded,
}

/// What an acceptance says about one open finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disposition {
    /// The finding.
    pub id: FindingId,
    /// The ruling.
    pub outcome: Ruling,
    /// 1 to 500 characters; required for a deferral.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How an acceptance rules on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It was dealt with.
    Fixed,
    /// It is put off.
    Deferred,
}

/// The text is not a disposition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDisposition {
    /// There is no `=`, or no id before it.
    #[error("`{}` is not a disposition, expected `<id>=fixed` or `<id>=deferred:<reason>`", text.escape_debug())]
    Form {
        /// The text.
        text: String,
    },
    /// The id is not one.
    #[error(transparent)]
    Id(#[from] InvalidFindingId),
    /// The ruling is neither of the two.
    #[error("`{}` is not a ruling, expected `fixed` or `deferred:<reason>`", word.escape_debug())]
    Ruling {
        /// The word.
        word: String,
    },
}

impl FindingId {
    /// The `number`th finding of an item, counted from 1.
    #[must_use]
    pub const fn new(number: NonZeroU32) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }
}

/// The findings of one item, as far as its log goes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// Those that nobody has ruled on, in the order in which they were raised.
    pub open: Vec<OpenFinding>,
    /// Those that were disposed of or superseded, in that order.
    pub past: Vec<PastFinding>,
}

impl Findings {
    /// The open finding with that id.
    #[must_use]
    pub fn get_open(&self, id: FindingId) -> Option<&OpenFinding> {
        self.open.iter().find(|finding| finding.id == id)
    }

    /// Ids for new findings, none of them ever used. A log has room for far fewer findings than there are ids.
    pub(super) fn fresh_ids(&self) -> impl Iterator<Item = FindingId> {
        let open = self.open.iter().map(|finding| finding.id);
        let used = open.chain(self.past.iter().map(|finding| finding.id)).map(FindingId::number).max();
        (used.unwrap_or(0).saturating_add(1)..=u32::MAX).filter_map(NonZeroU32::new).map(FindingId)
    }

    /// Takes over what a reopen says: `set` replaces the open findings unless it is empty, `superseded` ends.
    ///
    /// Whatever is replaced without being named counts as superseded too: nothing lapses in silence.
    pub(super) fn replace(
        &mut self,
        set: &[OpenFinding],
        superseded: &[FindingId],
        actor: &Actor,
        at: Timestamp,
    ) {
        let stays = |finding: &OpenFinding| {
            !superseded.contains(&finding.id)
                && (set.is_empty() || set.iter().any(|other| other.id == finding.id))
        };
        let (staying, ending): (Vec<_>, Vec<_>) = self.open.drain(..).partition(stays);
        self.past
            .extend(ending.into_iter().map(|finding| finding.end(PastOutcome::Superseded, None, actor, at)));
        self.open = if set.is_empty() { staying } else { set.to_vec() };
    }

    /// Takes over what an acceptance says.
    pub(super) fn dispose(&mut self, dispositions: &[Disposition], actor: &Actor, at: Timestamp) {
        for disposition in dispositions {
            let Some(index) = self.open.iter().position(|finding| finding.id == disposition.id) else {
                continue;
            };
            let outcome = match disposition.outcome {
                Ruling::Fixed => PastOutcome::Fixed,
                Ruling::Deferred => PastOutcome::Deferred,
            };
            let finding = self.open.remove(index);
            self.past.push(finding.end(outcome, disposition.reason.clone(), actor, at));
        }
    }
}

impl OpenFinding {
    fn end(self, outcome: PastOutcome, reason: Option<String>, by: &Actor, at: Timestamp) -> PastFinding {
        let Self { id, actor, statement } = self;
        PastFinding { id, actor, statement, outcome, reason, closed_by: by.clone(), closed_at: at }
    }
}

impl FromStr for FindingId {
    type Err = InvalidFindingId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('f').and_then(|digits| digits.parse().ok());
        number.map(Self).filter(|id| id.to_string() == text).ok_or_else(|| InvalidFindingId(text.to_owned()))
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

impl Serialize for FindingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Reads `<id>=fixed`, `<id>=fixed:<reason>` or `<id>=deferred:<reason>`. A missing reason is for the decision to
/// refuse, with the finding's name.
impl FromStr for Disposition {
    type Err = InvalidDisposition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (id, ruling) =
            text.split_once('=').ok_or_else(|| InvalidDisposition::Form { text: text.to_owned() })?;
        let (word, reason) = ruling.split_once(':').map_or((ruling, None), |(word, rest)| (word, Some(rest)));
        let outcome = match word.trim() {
            "fixed" => Ruling::Fixed,
            "deferred" => Ruling::Deferred,
            word => return Err(InvalidDisposition::Ruling { word: word.to_owned() }),
        };
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
        Ok(Self { id: id.trim().parse()?, outcome, reason })
    }
}

impl InvalidDisposition {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Form { .. } => "disposition_form",
            Self::Id(_) => "finding_id",
            Self::Ruling { .. } => "disposition_ruling",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_written_form() {
        for good in ["f1", "f20", "f4294967295"] {
            assert_eq!(good.parse::<FindingId>().map(|id| id.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", "f", "f0", "f01", "f+1", "F1", "1", "f1 ", "f4294967296"] {
            assert_eq!(bad.parse::<FindingId>(), Err(InvalidFindingId(bad.to_owned())));
        }
    }

    #[test]
    fn dispositions_as_they_are_typed() {
        let read = |text: &str| {
            text.parse::<Disposition>()
                .map(|it| (it.id.number(), it.outcome, it.reason))
                .map_err(|error| error.code())
        };
        let deferred = |reason: &str| Ok((1, Ruling::Deferred, Some(reason.to_owned())));
        assert_eq!(read("f1=fixed"), Ok((1, Ruling::Fixed, None)));
        assert_eq!(read(" f2 = fixed : in 3f2a "), Ok((2, Ruling::Fixed, Some("in 3f2a".to_owned()))));
        assert_eq!(read("f1=deferred:tracked: out of scope"), deferred("tracked: out of scope"));
        assert_eq!(read("f1=deferred:a=b"), deferred("a=b"));
        assert_eq!(read("f1=deferred"), Ok((1, Ruling::Deferred, None)));
        assert_eq!(read("f1=deferred: "), Ok((1, Ruling::Deferred, None)));
        assert_eq!(read("fixed"), Err("disposition_form"));
        assert_eq!(read("=fixed"), Err("finding_id"));
        assert_eq!(read("f1=wontfix"), Err("disposition_ruling"));
        assert_eq!(read("f1=fixed=deferred"), Err("disposition_ruling"));
    }
}
