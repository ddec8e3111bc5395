//! What the present source shows to a decision.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use harn_env::fingerprint::{self, Fingerprint, Mode};
use harn_ledger::{Digest, Stream};
use harn_review::{Base, Report, Review, Source, SourcePath, State};

use super::{Controller, ReviewError};

/// Longest file that is looked into, in bytes. Of a longer one no line is known.
const FILE_MAX: u64 = 8 << 20;
/// How often the source is looked at again when it was edited meanwhile.
const TRIES: usize = 3;

/// The present source.
#[derive(Debug, Clone)]
pub struct Looked {
    /// All of it.
    pub fingerprint: Fingerprint,
    /// As far as a decision looks at it.
    pub source: Source,
}

impl Controller<'_> {
    /// Looks at the source, and into the files that are named.
    pub(super) fn look(
        &self,
        review: &Stream<Review>,
        named: impl IntoIterator<Item = String>,
    ) -> Result<Looked, ReviewError> {
        let named: BTreeSet<SourcePath> =
            named.into_iter().filter_map(|path| SourcePath::new(&path).ok()).collect();
        let intent = review.intent();
        let queued = self.queued(intent.work_item.as_ref())?;
        for _ in 0..TRIES {
            let now = self.fingerprint()?;
            let files = files(self.root, &now, &named);
            // What was read must be what the fingerprint is of.
            if !named.is_empty() && self.fingerprint()?.digest() != now.digest() {
                continue;
            }
            let changed = match &intent.base {
                Some(base) => fingerprint::changed_since(self.root, &now, &base.commit)?,
                None => now.entries().iter().map(|entry| entry.path.clone()).collect(),
            };
            let source = Source {
                fingerprint: now.digest(),
                files,
                changed: changed.iter().filter_map(|path| SourcePath::new(&exact(path)).ok()).collect(),
                queued,
            };
            return Ok(Looked { fingerprint: now, source });
        }
        Err(ReviewError::Unstable)
    }

    /// What waits for the agents of a work item: the findings of its operator that nobody has disposed of.
    fn queued(&self, item: Option<&harn_ledger::StreamId>) -> Result<Vec<String>, ReviewError> {
        let Some(item) = item else { return Ok(Vec::new()) };
        let projection = self.works.get(item)?.projection;
        Ok(projection
            .findings
            .open
            .iter()
            .map(|finding| format!("finding {} of {item}", finding.id))
            .collect())
    }

    /// The change from the base to the present source as text, with excerpts where it is long.
    pub(crate) fn diff(&self, base: Option<&Base>, now: &Fingerprint) -> Result<Option<String>, ReviewError> {
        let Some(base) = base else { return Ok(None) };
        let Some(tree) = fingerprint::store_tree(self.root, now)? else { return Ok(None) };
        let arguments = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--find-renames",
            &base.commit,
            &tree,
            "--",
        ];
        let diff = self.git().answer(&arguments, b"")?;
        Ok(Some(harn_review::brief::excerpts(&String::from_utf8_lossy(&diff))))
    }

    /// The digest of a check's script: its command, and the files of the project that it names.
    pub(super) fn script(&self, check: &harn_review::check::Check, now: &Fingerprint) -> Digest {
        let below = check.cwd.as_ref().map_or(String::new(), |cwd| format!("{cwd}/"));
        let is_entry =
            |path: &String| now.entries().binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok();
        let words =
            check.argv.iter().flat_map(|word| [Some(&**word), word.split_once('=').map(|(_, value)| value)]);
        let named = words.flatten().filter_map(|word| {
            let word = word.strip_prefix("./").unwrap_or(word);
            let path = format!("{below}{word}");
            is_entry(&path).then_some(path)
        });
        let digests: Vec<(String, Digest)> = named
            .filter_map(|path| fs::read(self.root.join(&path)).ok().map(|bytes| (path, Digest::of(&bytes))))
            .collect();
        check.script(digests.iter().map(|(path, digest)| (path.as_str(), *digest)))
    }
}

/// The places of every finding.
pub(super) fn of_findings(state: &State) -> impl Iterator<Item = String> + use<> {
    let places: Vec<String> =
        state.findings().filter_map(|finding| Some(finding.place.as_ref()?.file.to_string())).collect();
    places.into_iter()
}

/// The paths that a report names, if it is one.
pub(super) fn of_report(bytes: &[u8]) -> Vec<String> {
    let report: Option<Report> = serde_json::from_slice(bytes).ok();
    report.map(|report| report.paths().map(str::to_owned).collect()).unwrap_or_default()
}

/// The texts of the files that are named and are in the source.
fn files(root: &Path, now: &Fingerprint, named: &BTreeSet<SourcePath>) -> BTreeMap<SourcePath, String> {
    let read = |path: &SourcePath| {
        let at = now.entries().binary_search_by(|entry| entry.path.as_str().cmp(path.as_str())).ok()?;
        let is_file = matches!(now.entries()[at].mode, Mode::File | Mode::Executable);
        let place = root.join(path.as_str());
        let fits = is_file
            && fs::symlink_metadata(&place).is_ok_and(|found| found.is_file() && found.len() <= FILE_MAX);
        let bytes = if fits { fs::read(&place).ok()? } else { return None };
        Some((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    named.iter().filter_map(read).collect()
}

/// The path of an entry as a path that can be named in a report: what is not allowed there is percent-encoded.
fn exact(path: &str) -> String {
    path.replace("\\\\", "%5C").replace("\\x", "%").replace('*', "%2A").replace('?', "%3F")
}
