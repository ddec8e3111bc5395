//! By what a program knows its results again, as far as it tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use harn_ledger::Digest;
use harn_ledger::text::check_line;

use super::log::Hit;
use super::write;
use crate::finding::Opening;

/// Most fingerprints of a finding.
const PRINTS: usize = 16;
/// Longest name of a fingerprint, and longest fingerprint that is kept as it is, in characters.
const LENGTH: usize = 200;

/// The fingerprints of a result, partial ones and others. One that is long is kept as its digest.
pub(super) fn of(hit: &Hit) -> BTreeMap<String, String> {
    let all = hit.fingerprints.iter().chain(&hit.partial_fingerprints);
    let mut prints = BTreeMap::new();
    for (key, value) in all.filter(|(key, value)| tells_apart(key, value)) {
        if prints.len() >= PRINTS {
            break;
        }
        let fits = check_line("fingerprint", value, LENGTH).is_ok();
        let value = if fits { value.clone() } else { Digest::of(value.as_bytes()).to_string() };
        prints.entry(key.clone()).or_insert(value);
    }
    prints
}

/// Whether a fingerprint can say that two results are the same. Some are only a part of one, and some programs write the same
/// for all.
fn tells_apart(key: &str, value: &str) -> bool {
    let is_part = matches!(key, write::CONTEXT | "primaryLocationStartColumnFingerprint");
    let is_blank = value.trim().is_empty() || value == "requires login";
    !is_part && !is_blank && check_line("name of a fingerprint", key, LENGTH).is_ok()
}

/// Takes away what results of one rule at several places share: it does not tell them apart.
pub(super) fn keep_telling(findings: &mut [Opening]) {
    let mut seen: BTreeMap<(Option<String>, String, String), BTreeSet<String>> = BTreeMap::new();
    for finding in &*findings {
        for (key, value) in &finding.partial_fingerprints {
            let of = (finding.rule.clone(), key.clone(), value.clone());
            seen.entry(of).or_default().insert(identity(finding));
        }
    }
    for finding in findings {
        let rule = finding.rule.clone();
        finding.partial_fingerprints.retain(|key, value| {
            seen.get(&(rule.clone(), key.clone(), value.clone())).is_none_or(|at| at.len() < 2)
        });
    }
}

fn identity(finding: &Opening) -> String {
    match &finding.place {
        Some(place) => format!("{}:{}", place.file, place.line),
        None => format!(":{}", finding.title),
    }
}
