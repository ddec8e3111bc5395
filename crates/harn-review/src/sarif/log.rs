//! As much of a SARIF log as is interpreted.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// A log.
#[derive(Debug, Deserialize)]
pub(super) struct Log {
    pub(super) version: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) runs: Vec<Run>,
}

/// One run of a program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) results: Vec<Hit>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) artifacts: Vec<Artifact>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) original_uri_base_ids: BTreeMap<String, ArtifactLocation>,
    #[serde(default, deserialize_with = "or_default")]
    external_property_file_references: External,
}

#[derive(Debug, Default, Deserialize)]
struct External {
    #[serde(default, deserialize_with = "or_default")]
    results: Vec<IgnoredAny>,
}

/// The program, and what extends it.
#[derive(Debug, Deserialize)]
pub(super) struct Tool {
    pub(super) driver: Component,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) extensions: Vec<Component>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Component {
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) rules: Vec<Rule>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) global_message_strings: BTreeMap<String, Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    pub(super) id: String,
    #[serde(default)]
    pub(super) short_description: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) default_configuration: Configuration,
    #[serde(default)]
    pub(super) help_uri: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) message_strings: BTreeMap<String, Text>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) properties: Properties,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Configuration {
    #[serde(default)]
    pub(super) level: Option<Level>,
    #[serde(default)]
    pub(super) rank: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Text {
    #[serde(default)]
    pub(super) text: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Properties {
    /// A number, or a text that is one.
    #[serde(default, rename = "security-severity")]
    security_severity: Option<Value>,
}

/// A result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hit {
    #[serde(default)]
    pub(super) rule_id: Option<String>,
    #[serde(default)]
    pub(super) rule_index: Option<Number>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) rule: Reference,
    #[serde(default)]
    kind: Option<HitKind>,
    #[serde(default)]
    pub(super) level: Option<Level>,
    #[serde(default)]
    pub(super) rank: Option<f64>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) message: Message,
    #[serde(default, deserialize_with = "or_default")]
    locations: Vec<Location>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) partial_fingerprints: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) fingerprints: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "or_default")]
    suppressions: Vec<Suppression>,
    #[serde(default)]
    baseline_state: Option<BaselineState>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) fixes: Vec<Fix>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) properties: Properties,
}

/// Where a rule stands.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reference {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) index: Option<Number>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) tool_component: ComponentReference,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ComponentReference {
    #[serde(default)]
    pub(super) index: Option<Number>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) markdown: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) arguments: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(default)]
    physical_location: Option<PhysicalLocation>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    #[serde(default)]
    artifact_location: Option<ArtifactLocation>,
    #[serde(default, deserialize_with = "or_default")]
    region: Region,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(default)]
    start_line: Option<Number>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Artifact {
    #[serde(default)]
    pub(super) location: Option<ArtifactLocation>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    #[serde(default)]
    pub(super) uri: Option<String>,
    #[serde(default)]
    pub(super) uri_base_id: Option<String>,
    #[serde(default)]
    pub(super) index: Option<Number>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Fix {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) description: Message,
}

#[derive(Debug, Deserialize)]
struct Suppression {
    #[serde(default)]
    status: Option<SuppressionStatus>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Level {
    None,
    Note,
    Warning,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum HitKind {
    NotApplicable,
    Pass,
    Fail,
    Review,
    Open,
    Informational,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SuppressionStatus {
    Accepted,
    UnderReview,
    Rejected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum BaselineState {
    New,
    Unchanged,
    Updated,
    Absent,
}

impl Run {
    /// Whether the results are in other files.
    pub(super) fn is_external(&self) -> bool {
        !self.external_property_file_references.results.is_empty()
    }
}

impl Hit {
    /// Whether it is a finding: a failure that is still there and that nobody suppressed. One suppression that is under review
    /// or rejected leaves it alive, as the standard has it.
    pub(super) fn is_live(&self) -> bool {
        let fails = self.kind.is_none_or(|kind| kind == HitKind::Fail);
        let accepted = |it: &Suppression| it.status.is_none_or(|it| it == SuppressionStatus::Accepted);
        let suppressed = !self.suppressions.is_empty() && self.suppressions.iter().all(accepted);
        fails && !suppressed && self.baseline_state != Some(BaselineState::Absent)
    }

    /// The file of its first location.
    pub(super) fn artifact(&self) -> Option<&ArtifactLocation> {
        self.locations.first()?.physical_location.as_ref()?.artifact_location.as_ref()
    }

    /// The line of its first location, from 1.
    pub(super) fn line(&self) -> Option<u32> {
        let number = self.locations.first()?.physical_location.as_ref()?.region.start_line.as_ref()?;
        u32::try_from(number.as_u64()?).ok().filter(|line| *line > 0)
    }
}

impl Properties {
    pub(super) fn security_severity(&self) -> Option<f64> {
        match self.security_severity.as_ref()? {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_f64(),
        }
    }
}

/// The version that something says it is of, if it can be told.
pub(super) fn version(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        version: String,
    }
    serde_json::from_slice(bytes).ok().map(|head: Head| head.version)
}

/// An index into a list; the standard writes -1 for none.
pub(super) fn at<'a, T>(list: &'a [T], index: Option<&Number>) -> Option<&'a T> {
    list.get(usize::try_from(index?.as_u64()?).ok()?)
}

/// Some programs write `null` for what they leave out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
