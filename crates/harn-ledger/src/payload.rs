//! Events of a domain as the pair that a line holds: a name, and an object as compact JSON.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};
use serde::{Deserializer, Serialize, forward_to_deserialize_any};

use crate::blob_ref::citations;
use crate::compact;
use crate::id::is_event_name;

/// An event, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// Why an event cannot be stored: written and read back it would not be the same, or not have the form that the
/// format requires. It is a mistake in the domain's types, not in the data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventNotCanonical {
    /// It does not serialize as `{"name":{…}}`.
    #[error("the event serializes as `{json}`, expected a struct variant such as `Created {{}}`")]
    NotAStructVariant {
        /// Start of what it serializes as.
        json: String,
    },
    /// Its name is not of the form `area.verb`.
    #[error(
        "`{name}` is not an event name, expected lower-case words such as `work.created`, at most 64 bytes"
    )]
    Name {
        /// The name found.
        name: String,
    },
    /// The data holds a `null`.
    #[error("the data of `{name}` holds a `null`, expected absent members to be left out")]
    Null {
        /// The event's name.
        name: String,
    },
    /// It could not be serialized, or not be read back.
    #[error("`{name}` cannot be read back: {reason}")]
    NotReadable {
        /// The event's name, empty if not even that is known.
        name: String,
        /// What serialization says.
        reason: String,
    },
    /// The data has a member `blob` that is not a citation, so that the stream would never verify.
    #[error("the data of `{name}` has a member `blob` that is not a citation of a blob")]
    FalseCitation {
        /// The event's name.
        name: String,
    },
    /// It reads back as something that is written differently.
    #[error("`{name}` is written differently after it was read back")]
    NotStable {
        /// The event's name.
        name: String,
    },
}

/// Encodes an event and proves that it reads back as itself.
pub(crate) fn encode<E: Serialize + DeserializeOwned>(event: &E) -> Result<Payload, EventNotCanonical> {
    let payload = split(event)?;
    let reread: E = decode(&payload.name, &payload.data).map_err(|error| EventNotCanonical::NotReadable {
        name: payload.name.clone(),
        reason: error.to_string(),
    })?;
    if split(&reread)? == payload {
        Ok(payload)
    } else {
        Err(EventNotCanonical::NotStable { name: payload.name })
    }
}

/// Serializes `{"name":{…}}` and takes it apart.
fn split<E: Serialize>(event: &E) -> Result<Payload, EventNotCanonical> {
    let json = serde_json::to_vec(event)
        .map_err(|error| EventNotCanonical::NotReadable { name: String::new(), reason: error.to_string() })?;
    let Some((name, data)) = take_apart(&json) else {
        let json = String::from_utf8_lossy(&json).chars().take(80).collect();
        return Err(EventNotCanonical::NotAStructVariant { json });
    };
    if !is_event_name(name.as_bytes()) {
        return Err(EventNotCanonical::Name { name: name.to_owned() });
    }
    if !compact::is_object(data) {
        let name = name.to_owned();
        return Err(if holds_null_or_space(data) {
            EventNotCanonical::Null { name }
        } else {
            EventNotCanonical::NotReadable { name, reason: "objects or arrays lie too deep".to_owned() }
        });
    }
    if citations(data).is_none() {
        return Err(EventNotCanonical::FalseCitation { name: name.to_owned() });
    }
    Ok(Payload { name: name.to_owned(), data: data.to_owned() })
}

fn take_apart(json: &[u8]) -> Option<(&str, &[u8])> {
    let inner = json.strip_prefix(b"{\"")?.strip_suffix(b"}")?;
    let end = inner.iter().position(|&byte| byte == b'"')?;
    let data = inner[end..].strip_prefix(b"\":")?;
    (data.first() == Some(&b'{')).then_some((std::str::from_utf8(&inner[..end]).ok()?, data))
}

/// Reads an event from its name and its data, which is known to be compact JSON without `null`. Only struct variants are
/// accepted.
pub(crate) fn decode<E: DeserializeOwned>(name: &str, data: &[u8]) -> Result<E, serde_json::Error> {
    E::deserialize(PayloadDeserializer { name, data })
}

/// Whether JSON has a `null` or white space outside its strings. Of all that JSON allows there, only `null` has an `n`.
pub(crate) fn holds_null_or_space(json: &[u8]) -> bool {
    let (mut in_string, mut escaped) = (false, false);
    json.iter().any(|&byte| {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            false
        } else {
            in_string = byte == b'"';
            matches!(byte, b'n' | b' ' | b'\t' | b'\n' | b'\r')
        }
    })
}

/// Presents a name and an object as an enum with one struct variant.
struct PayloadDeserializer<'a> {
    name: &'a str,
    data: &'a [u8],
}

impl<'de> Deserializer<'de> for PayloadDeserializer<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for PayloadDeserializer<'de> {
    type Error = serde_json::Error;
    type Variant = Data<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Data<'de>), Self::Error> {
        let name: StrDeserializer<'_, Self::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Data(self.data)))
    }
}

struct Data<'a>(&'a [u8]);

/// The refusal of every variant that is not a struct variant.
fn not_a_struct_variant(unexpected: de::Unexpected<'_>) -> serde_json::Error {
    struct StructVariant;
    impl de::Expected for StructVariant {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a struct variant")
        }
    }
    de::Error::invalid_type(unexpected, &StructVariant)
}

impl<'de> VariantAccess<'de> for Data<'de> {
    type Error = serde_json::Error;

    fn unit_variant(self) -> Result<(), Self::Error> {
        Err(not_a_struct_variant(de::Unexpected::UnitVariant))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Self::Error> {
        Err(not_a_struct_variant(de::Unexpected::NewtypeVariant))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Self::Error> {
        Err(not_a_struct_variant(de::Unexpected::TupleVariant))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let mut json = serde_json::Deserializer::from_slice(self.0);
        let value = (&mut json).deserialize_map(visitor)?;
        json.end()?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    enum Event {
        #[serde(rename = "it.made")]
        Made {},
        #[serde(rename = "it.said")]
        Said {
            text: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            note: Option<u64>,
        },
        #[serde(rename = "it.nulled")]
        Nulled {
            note: Option<u64>,
        },
        #[serde(rename = "it.unit")]
        Unit,
        #[serde(rename = "it.newtype")]
        Newtype(Inner),
        #[serde(rename = "it.tuple")]
        Tuple(u64, u64),
        NoName {},
        #[serde(rename = "it.lossy")]
        Lossy {
            #[serde(skip_deserializing)]
            kept: u64,
        },
        #[serde(rename = "it.blob")]
        Blob {
            blob: String,
        },
        #[serde(rename = "it.drifts")]
        Drifts {
            #[serde(deserialize_with = "one_more")]
            count: u64,
        },
    }

    fn one_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        u64::deserialize(deserializer).map(|count| count + 1)
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        a: u64,
    }

    #[test]
    fn an_event_is_a_name_and_an_object() {
        let said = Event::Said { text: "a \"null\" b\\".to_owned(), note: None };
        let payload = encode(&said).unwrap();
        assert_eq!(payload.name, "it.said");
        assert_eq!(payload.data, br#"{"text":"a \"null\" b\\"}"#);
        assert_eq!(decode::<Event>(&payload.name, &payload.data).unwrap(), said);
        assert_eq!(encode(&Event::Made {}).unwrap().data, b"{}");
    }

    #[test]
    fn what_is_not_a_closed_struct_variant_is_refused_on_writing() {
        use EventNotCanonical as E;
        let kind = |event: &Event| match encode(event).unwrap_err() {
            E::NotAStructVariant { .. } => "not a struct variant",
            E::Name { .. } => "name",
            E::Null { .. } => "null",
            E::NotReadable { .. } => "not readable",
            E::FalseCitation { .. } => "false citation",
            E::NotStable { .. } => "not stable",
        };
        let cases = [
            (Event::Nulled { note: None }, "null"),
            (Event::Unit, "not a struct variant"),
            (Event::Newtype(Inner { a: 1 }), "not readable"),
            (Event::Tuple(1, 2), "not a struct variant"),
            (Event::NoName {}, "name"),
            (Event::Lossy { kept: 1 }, "not readable"),
            (Event::Blob { blob: "x".to_owned() }, "false citation"),
            (Event::Drifts { count: 1 }, "not stable"),
        ];
        for (event, expected) in cases {
            assert_eq!(kind(&event), expected, "{event:?}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused_on_reading() {
        for (name, data) in [
            ("it.made", r#"{"more":1}"#),
            ("it.made", "[]"),
            ("it.made", "{}{}"),
            ("it.said", r#"{"text":"a","text":"b"}"#),
            ("it.said", r#"{"text":1}"#),
            ("it.unit", "{}"),
            ("it.newtype", r#"{"a":1}"#),
            ("it.other", "{}"),
        ] {
            assert!(decode::<Event>(name, data.as_bytes()).is_err(), "{name} {data}");
        }
    }
}
