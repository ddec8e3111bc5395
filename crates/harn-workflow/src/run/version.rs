//! The version that a document states, as a type that reads no other.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `schema_version` of a document of version `N`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Version<const N: u32>;

impl<const N: u32> Serialize for Version<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(N)
    }
}

impl<'de, const N: u32> Deserialize<'de> for Version<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = u64::deserialize(deserializer)?;
        if found == u64::from(N) {
            Ok(Self)
        } else {
            Err(de::Error::custom(format_args!("`schema_version` is {found}, expected {N}")))
        }
    }
}
