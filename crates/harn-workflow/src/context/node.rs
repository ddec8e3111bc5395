//! JSON as it was written, members in document order, and the walk that holds it against a closed set.

use std::fmt;

use harn_ledger::{Actor, StreamId};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::canonical::ContextError;

/// A JSON value that keeps the order of members and members that stand there twice.
#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool,
    Integer(u64),
    OtherNumber,
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Bool)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Integer(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(u64::try_from(number).map_or(Node::OtherNumber, Node::Integer))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::OtherNumber)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = entries.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Array(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}

/// A value and the path that leads to it.
pub(super) struct Field<'a> {
    path: String,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// The whole document.
    pub(super) const fn root(node: &'a Node) -> Self {
        Self { path: String::new(), node }
    }

    /// An object with `members` and no others, in that order, each at most once.
    pub(super) fn object(self, members: &'static [&'static str]) -> Result<Object<'a>, ContextError> {
        let object = self.open()?;
        let mut allowed_from = 0;
        for (name, _) in object.members {
            let member = object.path_of(name);
            let Some(place) = members.iter().position(|known| known == name) else {
                return Err(ContextError::UnknownMember { member, known: members });
            };
            if place < allowed_from {
                let repeated = object.members.iter().filter(|(other, _)| other == name).count() > 1;
                return Err(if repeated {
                    ContextError::RepeatedMember { member }
                } else {
                    ContextError::MemberOrder { member, order: members }
                });
            }
            allowed_from = place + 1;
        }
        Ok(object)
    }

    /// Like [`Field::object`], for a document whose `schema_version` must be 1. The version is looked at first, since
    /// another version may have other members.
    pub(super) fn document(self, members: &'static [&'static str]) -> Result<Object<'a>, ContextError> {
        let version = Self { path: self.path.clone(), ..self };
        match version.open()?.required("schema_version")?.integer()? {
            1 => self.object(members),
            found => Err(ContextError::Version { found }),
        }
    }

    fn open(self) -> Result<Object<'a>, ContextError> {
        match self.node {
            Node::Object(members) => Ok(Object { path: self.path, members }),
            _ => Err(self.wrong_type("an object")),
        }
    }

    pub(super) fn array(self) -> Result<impl Iterator<Item = Field<'a>>, ContextError> {
        let Node::Array(nodes) = self.node else {
            return Err(self.wrong_type("an array"));
        };
        Ok(nodes
            .iter()
            .enumerate()
            .map(move |(index, node)| Field { path: format!("{}[{index}]", self.path), node }))
    }

    pub(super) fn string(self) -> Result<&'a str, ContextError> {
        match self.node {
            Node::String(text) => Ok(text),
            _ => Err(self.wrong_type("a string")),
        }
    }

    pub(super) fn integer(self) -> Result<u64, ContextError> {
        match self.node {
            Node::Integer(number) => Ok(*number),
            _ => Err(self.wrong_type("a whole number")),
        }
    }

    /// A number between `min` and `max`.
    pub(super) fn number(self, min: u32, max: u32) -> Result<u32, ContextError> {
        let member = self.path.clone();
        let found = self.integer()?;
        match u32::try_from(found) {
            Ok(number) if (min..=max).contains(&number) => Ok(number),
            _ => Err(ContextError::OutOfRange { member, found, min: min.into(), max: max.into() }),
        }
    }

    /// One of `words`, given as its place among them.
    pub(super) fn word(self, words: &'static [&'static str]) -> Result<usize, ContextError> {
        let member = self.path.clone();
        let found = self.string()?;
        words.iter().position(|word| *word == found).ok_or_else(|| ContextError::UnknownWord {
            member,
            found: found.to_owned(),
            expected: words,
        })
    }

    pub(super) fn id(self) -> Result<StreamId, ContextError> {
        let member = self.path.clone();
        StreamId::new(self.string()?).map_err(|source| ContextError::Id { member, source })
    }

    pub(super) fn actor(self) -> Result<Actor, ContextError> {
        let member = self.path.clone();
        Actor::new(self.string()?).map_err(|source| ContextError::Text { member, source })
    }

    fn wrong_type(self, expected: &'static str) -> ContextError {
        ContextError::WrongType { member: self.path, expected }
    }
}

/// An object whose members are known to belong to it.
pub(super) struct Object<'a> {
    path: String,
    members: &'a [(String, Node)],
}

impl<'a> Object<'a> {
    pub(super) fn required(&self, name: &str) -> Result<Field<'a>, ContextError> {
        self.optional(name).ok_or_else(|| ContextError::MissingMember { member: self.path_of(name) })
    }

    pub(super) fn optional(&self, name: &str) -> Option<Field<'a>> {
        let (_, node) = self.members.iter().find(|(known, _)| known == name)?;
        Some(Field { path: self.path_of(name), node })
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}
