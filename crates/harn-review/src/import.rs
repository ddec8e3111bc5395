//! What becomes of the results of another program.

use crate::event::Change;
use crate::finding::{Finding, Kind, Opening, Standing};
use crate::id::FindingId;
use crate::source::Source;
use crate::state::State;
use crate::validate::{Candidate, brings_news, known};

/// What another program found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The program, one line of up to 100 characters.
    pub tool: String,
    /// Its findings, in its order.
    pub findings: Vec<Opening>,
    /// How many results were left out, because they are suppressed or no findings.
    pub skipped: u32,
}

/// What becomes of findings by an import. What is in the ledger already is known again, by the program's own fingerprints
/// first; a ruling stands until its place holds something else.
pub(crate) fn changes(state: &State, source: &Source, findings: Vec<Opening>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut opened = 0;
    for opening in findings {
        let candidate =
            Candidate { kind: opening.kind, title: &opening.title, place: opening.place.as_ref() };
        let again = by_fingerprint(state, &opening)
            .or_else(|| known(state, source, &candidate).and_then(|id| state.finding(id)));
        let Some(finding) = again else {
            let twin = changes.iter().any(|change| match change {
                Change::Opened { finding, .. } => is_twin(finding, &opening),
                _ => false,
            });
            if !twin {
                changes.push(Change::Opened {
                    id: FindingId::after(state.findings.len() + opened),
                    finding: Box::new(opening),
                });
                opened += 1;
            }
            continue;
        };
        if changes.iter().all(|change| change.id() != finding.id) {
            changes.push(of_known(source, finding, opening));
        }
    }
    changes
}

fn of_known(source: &Source, finding: &Finding, opening: Opening) -> Change {
    let id = finding.id;
    let news = brings_news(source, finding, &opening.evidence.cites, opening.place.as_ref());
    match finding.standing {
        Standing::Noted => Change::SeenAgain { id },
        Standing::Dismissed if !news => Change::SeenAgain { id },
        Standing::Fixed | Standing::Dismissed if opening.kind == Kind::Note => Change::SeenAgain { id },
        // What was fixed is what it was when it is there again.
        Standing::Open | Standing::Fixed => {
            let (kind, evidence) = (finding.kind, opening.evidence);
            Change::Seen { id, kind, evidence, place: opening.place }
        }
        _ => Change::Seen { id, kind: opening.kind, evidence: opening.evidence, place: opening.place },
    }
}

/// The last finding of the same rule with an equal fingerprint, followed to where it was merged.
fn by_fingerprint<'a>(state: &'a State, opening: &Opening) -> Option<&'a Finding> {
    let is_it = |finding: &&Finding| {
        finding.rule == opening.rule && share(&finding.partial_fingerprints, &opening.partial_fingerprints)
    };
    let mut found = state.findings.values().rfind(is_it)?;
    while let Some(into) = found.merged_into.and_then(|into| state.finding(into)) {
        found = into;
    }
    Some(found)
}

fn is_twin(one: &Opening, other: &Opening) -> bool {
    let same_print = share(&one.partial_fingerprints, &other.partial_fingerprints);
    one.rule == other.rule && (same_print || one.place == other.place && one.title == other.title)
}

fn share(
    one: &std::collections::BTreeMap<String, String>,
    other: &std::collections::BTreeMap<String, String>,
) -> bool {
    one.iter().any(|(key, value)| other.get(key) == Some(value))
}
