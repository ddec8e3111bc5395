//! `intent.json`: what an item is for.

use std::collections::HashSet;

use harn_ledger::{Digest, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::damage::{Damage, DamageKind};
use super::member::{at_most, digest, document, name, number, same, text, time, version};
use super::tree::File;
use crate::work::{SourceKind, bounds};

/// Longest intent that Harnery reads, in bytes.
pub(super) const MAX: u64 = 131_072;

/// An intent that Harnery would read.
#[derive(Debug)]
pub(super) struct OldIntent {
    pub(super) title: String,
    pub(super) objective: String,
    pub(super) acceptance: Vec<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) script: String,
    pub(super) sha256: Digest,
    pub(super) max_attempts: u32,
    pub(super) max_uncharged_attempts: u32,
    pub(super) source: (SourceKind, Option<String>),
    pub(super) created_at: Timestamp,
    /// What a run of the item is told about it.
    pub(super) work_context: Value,
}

#[derive(Deserialize)]
struct Form {
    schema_version: u64,
    id: String,
    title: String,
    objective: String,
    acceptance: Vec<String>,
    dependencies: Vec<String>,
    workflow: WorkflowForm,
    max_attempts: u64,
    max_uncharged_attempts: u64,
    source: Option<SourceForm>,
    created_at: String,
}

#[derive(Deserialize)]
struct WorkflowForm {
    path: String,
    sha256: String,
}

#[derive(Deserialize)]
struct SourceForm {
    kind: String,
    #[serde(rename = "ref")]
    reference: Option<String>,
}

impl OldIntent {
    pub(super) fn read(id: &str, file: &File) -> Result<Self, Damage> {
        Self::parse(id, &file.bytes).map_err(|kind| Damage::of(&file.path, kind))
    }

    fn parse(id: &str, bytes: &[u8]) -> Result<Self, DamageKind> {
        // The version comes first: another version may have another form.
        let value: Value = document(bytes)?;
        if let Some(found) = value["schema_version"].as_u64() {
            version(found, 2)?;
        }
        let form: Form =
            serde_json::from_value(value).map_err(|error| DamageKind::Form { why: error.to_string() })?;
        version(form.schema_version, 2)?;
        same("id", &form.id, id)?;
        text("title", &form.title, bounds::TITLE)?;
        text("objective", &form.objective, bounds::OBJECTIVE)?;
        at_most("acceptance texts", form.acceptance.len(), bounds::ACCEPTANCE_TEXTS)?;
        form.acceptance.iter().try_for_each(|it| text("acceptance", it, bounds::ACCEPTANCE))?;
        at_most("dependencies", form.dependencies.len(), bounds::DEPENDENCIES)?;
        let mut seen = HashSet::new();
        for dependency in &form.dependencies {
            name("dependencies", dependency, 100)?;
            if dependency == id || !seen.insert(dependency) {
                let expected = "each other item once".to_owned();
                return Err(DamageKind::Member { member: "dependencies", expected });
            }
        }
        if !form.workflow.path.starts_with('/') {
            return Err(DamageKind::Member {
                member: "workflow.path",
                expected: "an absolute path".to_owned(),
            });
        }
        let source =
            form.source.map_or(Ok((SourceKind::Human, None)), |source| -> Result<_, DamageKind> {
                let expected = "`human`, `workflow` or `external`".to_owned();
                let kind = source
                    .kind
                    .parse()
                    .map_err(|_| DamageKind::Member { member: "source.kind", expected })?;
                if let Some(reference) = &source.reference {
                    text("source.ref", reference, bounds::SOURCE_REF)?;
                }
                Ok((kind, source.reference))
            })?;
        Ok(Self {
            sha256: digest("workflow.sha256", &form.workflow.sha256)?,
            max_attempts: number("max_attempts", form.max_attempts, 1, bounds::ATTEMPTS)?,
            max_uncharged_attempts: number(
                "max_uncharged_attempts",
                form.max_uncharged_attempts,
                1,
                bounds::ATTEMPTS,
            )?,
            created_at: time("created_at", &form.created_at)?,
            work_context: json!({
                "schema_version": 1,
                "id": id,
                "title": form.title.trim(),
                "objective": form.objective.trim(),
                "acceptance": form.acceptance.iter().map(|it| it.trim()).collect::<Vec<_>>(),
            }),
            title: form.title,
            objective: form.objective,
            acceptance: form.acceptance,
            dependencies: form.dependencies,
            script: form.workflow.path,
            source,
        })
    }
}
