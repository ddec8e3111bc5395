//! The attempt context: which attempt this is, what the one before left unresolved, and what a person found wrong.

use harn_ledger::Actor;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::canonical::{ContextError, check_block, check_count, check_short_id};
use super::node::{Field, Node};
use super::prior::Prior;

/// Largest attempt number. A work item's log ends long before it, so no item ever runs out of numbers.
pub const NUMBER_MAX: u32 = 10_000;
/// Most open findings.
pub const FINDINGS_MAX: usize = 20;
/// Longest statement of a finding, in characters.
pub const FINDING_MAX: usize = 1_000;

const MEMBERS: &[&str] = &["schema_version", "number", "trigger", "prior", "findings"];
const FINDING_MEMBERS: &[&str] = &["id", "actor", "statement"];

/// Why an attempt was started. Closed: a third trigger would be a new version of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The first attempt since the item was created or reopened.
    Initial,
    /// An explicit retry after an attempt that did not pass.
    Retry,
}

const TRIGGERS: &[&str] = &["initial", "retry"];

/// An open finding, as an attempt is told about it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ContextFinding {
    /// Its id, unique for the life of the item: 1 to 64 characters of a stream id.
    pub id: String,
    /// Who raised it.
    pub actor: Actor,
    /// What is wrong: 1 to 1,000 characters.
    pub statement: String,
}

/// Which attempt this is: `schema_version`, `number`, `trigger`, `prior`?, `findings`?, in this order and nothing else.
///
/// `prior` is there exactly on a retry, which is never the first attempt. `findings` holds every open finding on either
/// trigger and is left out when there are none.
///
/// Its JSON form must be read from JSON text: a reader that sorts members, such as `serde_json::from_value`, loses the
/// order that is part of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptContext {
    number: u32,
    trigger: Trigger,
    prior: Option<Prior>,
    findings: Vec<ContextFinding>,
}

impl AttemptContext {
    /// Trims the texts, orders the causes and checks the whole. `number` counts from 1 to 10,000; no findings means
    /// that the context has no such member.
    pub fn new(
        number: u32,
        trigger: Trigger,
        prior: Option<Prior>,
        findings: Vec<ContextFinding>,
    ) -> Result<Self, ContextError> {
        let trimmed = |finding: ContextFinding| ContextFinding {
            id: finding.id.trim().to_owned(),
            statement: finding.statement.trim().to_owned(),
            ..finding
        };
        let context = Self {
            number,
            trigger,
            prior: prior.map(Prior::normalised),
            findings: findings.into_iter().map(trimmed).collect(),
        };
        context.check()?;
        Ok(context)
    }

    /// Reads a context that must be in canonical form. White space between the members is free.
    pub fn from_json(json: &[u8]) -> Result<Self, ContextError> {
        let node = serde_json::from_slice(json).map_err(|source| ContextError::NotJson { source })?;
        Self::read(&node)
    }

    /// Which attempt of the item it is, counted from 1 over its whole life.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Why it was started.
    #[must_use]
    pub const fn trigger(&self) -> Trigger {
        self.trigger
    }

    /// What the attempt before left behind; there exactly on a retry.
    #[must_use]
    pub const fn prior(&self) -> Option<&Prior> {
        self.prior.as_ref()
    }

    /// Every open finding.
    #[must_use]
    pub fn findings(&self) -> &[ContextFinding] {
        &self.findings
    }

    fn read(node: &Node) -> Result<Self, ContextError> {
        let members = Field::root(node).document(MEMBERS)?;
        let number = members.required("number")?.number(1, NUMBER_MAX)?;
        let trigger = match members.required("trigger")?.word(TRIGGERS)? {
            0 => Trigger::Initial,
            _ => Trigger::Retry,
        };
        let prior = members.optional("prior").map(Prior::read).transpose()?;
        let findings = match members.optional("findings") {
            Some(field) => field.array()?.map(read_finding).collect::<Result<Vec<_>, _>>()?,
            None => Vec::new(),
        };
        if members.optional("findings").is_some() && findings.is_empty() {
            return Err(ContextError::Empty { member: "findings" });
        }
        let context = Self { number, trigger, prior, findings };
        context.check()?;
        Ok(context)
    }

    fn check(&self) -> Result<(), ContextError> {
        let least = match self.trigger {
            Trigger::Initial => 1,
            Trigger::Retry => 2,
        };
        if !(least..=NUMBER_MAX).contains(&self.number) {
            return Err(ContextError::OutOfRange {
                member: "number".to_owned(),
                found: self.number.into(),
                min: least.into(),
                max: NUMBER_MAX.into(),
            });
        }
        match (self.trigger, &self.prior) {
            (Trigger::Initial, Some(_)) => return Err(ContextError::PriorOnInitial),
            (Trigger::Retry, None) => return Err(ContextError::PriorMissing),
            (Trigger::Retry, Some(prior)) => prior.check()?,
            (Trigger::Initial, None) => {}
        }
        self.check_findings()
    }

    fn check_findings(&self) -> Result<(), ContextError> {
        check_count("findings", self.findings.len(), FINDINGS_MAX)?;
        for (index, finding) in self.findings.iter().enumerate() {
            check_short_id(&format!("findings[{index}].id"), &finding.id)?;
            check_block(
                &format!("findings[{index}].statement"),
                "statement",
                &finding.statement,
                FINDING_MAX,
            )?;
            if self.findings[..index].iter().any(|other| other.id == finding.id) {
                return Err(ContextError::RepeatedId { member: "findings", id: finding.id.clone() });
            }
        }
        Ok(())
    }
}

fn read_finding(field: Field<'_>) -> Result<ContextFinding, ContextError> {
    let members = field.object(FINDING_MEMBERS)?;
    Ok(ContextFinding {
        id: members.required("id")?.string()?.to_owned(),
        actor: members.required("actor")?.actor()?,
        statement: members.required("statement")?.string()?.to_owned(),
    })
}

impl Serialize for AttemptContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("AttemptContext", MEMBERS.len())?;
        members.serialize_field("schema_version", &1)?;
        members.serialize_field("number", &self.number)?;
        members.serialize_field("trigger", &self.trigger)?;
        match &self.prior {
            Some(prior) => members.serialize_field("prior", prior)?,
            None => members.skip_field("prior")?,
        }
        if self.findings.is_empty() {
            members.skip_field("findings")?;
        } else {
            members.serialize_field("findings", &self.findings)?;
        }
        members.end()
    }
}

impl<'de> Deserialize<'de> for AttemptContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        Self::read(&node).map_err(|error| D::Error::custom(error.in_one_line()))
    }
}
