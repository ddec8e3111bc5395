//! The work context: the definition of the work, the same for every attempt.

use harn_ledger::StreamId;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::canonical::{ContextError, check_block, check_count, check_line};
use super::node::{Field, Node};

/// Longest title, in characters.
pub const TITLE_MAX: usize = 200;
/// Longest objective, in characters.
pub const OBJECTIVE_MAX: usize = 4_000;
/// Most acceptance texts of one item.
pub const ACCEPTANCE_MAX: usize = 50;
/// Longest acceptance text, and longest statement of a criterion, in characters.
pub const CRITERION_MAX: usize = 500;

const MEMBERS: &[&str] = &["schema_version", "id", "title", "objective", "acceptance"];

/// The frozen definition of the work: `schema_version`, `id`, `title`, `objective`, `acceptance`, in this order and
/// nothing else.
///
/// Its JSON form must be read from JSON text: a reader that sorts members, such as `serde_json::from_value`, loses the
/// order that is part of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkContext {
    id: StreamId,
    title: String,
    objective: String,
    acceptance: Vec<String>,
}

impl WorkContext {
    /// Trims the texts and checks them: a title of one line and 1 to 200 characters, an objective of 1 to 4,000, and at
    /// most 50 acceptance texts of 1 to 500.
    pub fn new<T: AsRef<str>>(
        id: StreamId,
        title: &str,
        objective: &str,
        acceptance: impl IntoIterator<Item = T>,
    ) -> Result<Self, ContextError> {
        let context = Self {
            id,
            title: title.trim().to_owned(),
            objective: objective.trim().to_owned(),
            acceptance: acceptance.into_iter().map(|text| text.as_ref().trim().to_owned()).collect(),
        };
        context.check()?;
        Ok(context)
    }

    /// Reads a context that must be in canonical form. White space between the members is free.
    pub fn from_json(json: &[u8]) -> Result<Self, ContextError> {
        let node = serde_json::from_slice(json).map_err(|source| ContextError::NotJson { source })?;
        Self::read(&node)
    }

    /// The work item.
    #[must_use]
    pub const fn id(&self) -> &StreamId {
        &self.id
    }

    /// The title: one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is to be achieved.
    #[must_use]
    pub fn objective(&self) -> &str {
        &self.objective
    }

    /// When it is achieved, in the words of whoever made the item.
    #[must_use]
    pub fn acceptance(&self) -> &[String] {
        &self.acceptance
    }

    fn read(node: &Node) -> Result<Self, ContextError> {
        let members = Field::root(node).document(MEMBERS)?;
        let acceptance = members.required("acceptance")?.array()?;
        let context = Self {
            id: members.required("id")?.id()?,
            title: members.required("title")?.string()?.to_owned(),
            objective: members.required("objective")?.string()?.to_owned(),
            acceptance: acceptance.map(|text| text.string().map(str::to_owned)).collect::<Result<_, _>>()?,
        };
        context.check()?;
        Ok(context)
    }

    fn check(&self) -> Result<(), ContextError> {
        check_line("title", "title", &self.title, TITLE_MAX)?;
        check_block("objective", "objective", &self.objective, OBJECTIVE_MAX)?;
        check_count("acceptance", self.acceptance.len(), ACCEPTANCE_MAX)?;
        for (index, text) in self.acceptance.iter().enumerate() {
            check_block(&format!("acceptance[{index}]"), "acceptance", text, CRITERION_MAX)?;
        }
        Ok(())
    }
}

impl Serialize for WorkContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("WorkContext", MEMBERS.len())?;
        members.serialize_field("schema_version", &1)?;
        members.serialize_field("id", &self.id)?;
        members.serialize_field("title", &self.title)?;
        members.serialize_field("objective", &self.objective)?;
        members.serialize_field("acceptance", &self.acceptance)?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for WorkContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        Self::read(&node).map_err(|error| D::Error::custom(error.in_one_line()))
    }
}
