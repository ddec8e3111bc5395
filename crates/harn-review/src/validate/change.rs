//! What becomes of findings by a report that passed every test.

use std::collections::BTreeMap;

use super::{Account, Anchor, Case, Cite, Finding, FindingId, Kind, NewFinding, SourcePath, normal_title};
use crate::event::Change;
use crate::finding::{Evidence, Opening, Place, Standing};
use crate::report::Verdict;
use crate::source::Source;
use crate::state::State;

/// The changes, accounts first in the order of their findings.
pub(super) fn changes(case: &Case<'_>) -> Vec<Change> {
    let mut accounts: Vec<(&Account, &Finding)> = case.accounts().collect();
    accounts.sort_by_key(|(_, finding)| finding.id);
    let mut changes: Vec<Change> = Vec::new();
    // What stays open comes first: evidence is copied to where it stays.
    let (open, closed): (Vec<_>, Vec<_>) =
        accounts.into_iter().partition(|(account, _)| account.verdict.stays_open());
    for (account, finding) in open.into_iter().chain(closed) {
        changes.extend(of_account(case, account, finding));
    }
    let mut opened = 0;
    for new in &case.report.new {
        let change = of_new(case, new, FindingId::after(case.state.findings.len() + opened));
        opened += usize::from(matches!(change, Change::Opened { .. }));
        changes.push(change);
    }
    changes
}

fn of_account(case: &Case<'_>, account: &Account, finding: &Finding) -> Vec<Change> {
    let id = finding.id;
    let reason = trimmed(account.reason.as_ref());
    let evidence = Evidence { text: trimmed(account.evidence.as_ref()), cites: account.cites.clone() };
    let mut changes = Vec::new();
    match account.verdict {
        Verdict::Open | Verdict::Confirmed | Verdict::Uncertain => {
            let kind = match account.verdict {
                Verdict::Confirmed => Kind::Defect,
                Verdict::Uncertain if finding.standing != Standing::Fixed => Kind::Uncertain,
                _ => finding.kind,
            };
            changes.push(Change::Seen { id, kind, evidence, place: moved_place(case.source, finding) });
        }
        Verdict::Fixed if finding.is_open() => {
            let recorded = case.state.checks_of(id).map(|result| result.check.name.clone());
            let names: std::collections::BTreeSet<String> =
                recorded.chain(account.checks.iter().cloned()).collect();
            changes.push(Change::Fixed { id, checks: names.into_iter().collect() });
        }
        Verdict::Dismissed if finding.is_open() => {
            changes.push(Change::Dismissed { id, reason: reason.clone(), evidence });
        }
        Verdict::Merged if finding.is_open() => {
            let into = account.into.as_deref().and_then(|into| into.parse().ok());
            changes.extend(into.map(|into| Change::Merged { id, into, reason: reason.clone() }));
        }
        // It is said again of what is closed already.
        Verdict::Fixed | Verdict::Dismissed | Verdict::Merged | Verdict::Note => {}
    }
    if let Some(to) = account.priority.filter(|to| *to != finding.priority) {
        changes.push(Change::Reprioritised {
            id,
            to,
            reason: Some(reason).filter(|reason| !reason.is_empty()),
        });
    }
    changes
}

fn of_new(case: &Case<'_>, new: &NewFinding, next: FindingId) -> Change {
    let evidence = Evidence { text: new.evidence.trim().to_owned(), cites: new.cites.clone() };
    let place = place_of(case.source, new);
    let again = same_as(case, new).and_then(|id| case.state.finding(id));
    let Some(finding) = again else {
        let finding = Opening {
            kind: new.kind,
            owner: new.owner.clone(),
            place,
            priority: new.priority,
            title: new.title.trim().to_owned(),
            evidence,
            fix: new.fix.as_ref().map(|fix| fix.trim().to_owned()),
            rule: None,
            partial_fingerprints: BTreeMap::new(),
        };
        return Change::Opened { id: next, finding: Box::new(finding) };
    };
    let id = finding.id;
    let news = brings_news(case.source, finding, &new.cites, place.as_ref());
    match finding.standing {
        Standing::Noted => Change::SeenAgain { id },
        Standing::Dismissed if !news || new.kind == Kind::Note => Change::SeenAgain { id },
        Standing::Fixed if new.kind == Kind::Note => Change::SeenAgain { id },
        Standing::Open => {
            // One that the same report confirmed does not become less by being listed again.
            let confirmed =
                case.accounts().any(|(account, it)| it.id == id && account.verdict == Verdict::Confirmed);
            let kind = if confirmed || new.kind == Kind::Note {
                finding.kind
            } else {
                stronger(finding.kind, new.kind)
            };
            let kind = if confirmed { Kind::Defect } else { kind };
            Change::Seen { id, kind, evidence, place }
        }
        // What was a defect and fixed is a defect when it is there again.
        Standing::Fixed => Change::Seen { id, kind: stronger(finding.kind, new.kind), evidence, place },
        _ => Change::Seen { id, kind: new.kind, evidence, place },
    }
}

/// The finding of before that a new one is.
pub(super) fn same_as(case: &Case<'_>, new: &NewFinding) -> Option<FindingId> {
    let place = place_of(case.source, new);
    let candidate = Candidate { kind: new.kind, title: &new.title, place: place.as_ref() };
    known(case.state, case.source, &candidate)
}

fn stronger(one: Kind, other: Kind) -> Kind {
    if one == Kind::Defect || other == Kind::Defect { Kind::Defect } else { Kind::Uncertain }
}

/// A finding that may be one of before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) kind: Kind,
    pub(crate) title: &'a str,
    pub(crate) place: Option<&'a Place>,
}

/// The finding that a new one is, under another name: the same content at the same place, or the same title there; followed
/// to where it was merged.
pub(crate) fn known(state: &State, source: &Source, new: &Candidate<'_>) -> Option<FindingId> {
    let title = normal_title(new.title);
    // What is open comes first, then what was opened last.
    let all: Vec<&Finding> =
        state.findings().filter(|finding| is_same(source, finding, &title, new)).collect();
    let best = all.iter().find(|finding| finding.is_open()).or(all.last())?;
    let mut best: &Finding = best;
    while let Some(into) = best.merged_into.and_then(|into| state.finding(into)) {
        best = into;
    }
    // A note is no ruling on a defect.
    (best.kind != Kind::Note || new.kind == Kind::Note).then_some(best.id)
}

fn is_same(source: &Source, finding: &Finding, title: &str, new: &Candidate<'_>) -> bool {
    let same_title = normal_title(&finding.title) == title;
    let (Some(was), Some(is)) = (&finding.place, new.place) else {
        return same_title && finding.place.is_none() && new.place.is_none();
    };
    let same_file = was.file == is.file;
    let same_content = was.anchor.is_same(&is.anchor);
    // The file of before is gone: it was renamed.
    let renamed = !same_file && source.text(was.file.as_str()).is_none();
    // What stood there is gone, so that this is what became of it. What still stands there is another place.
    let rewritten =
        same_file && source.text(was.file.as_str()).is_some_and(|text| was.anchor.locate(text).is_none());
    let located =
        same_file && source.text(was.file.as_str()).and_then(|text| was.anchor.locate(text)) == Some(is.line);
    (same_content && (same_file || renamed && same_title))
        || located
        || (same_title && (rewritten || same_file && was.line == is.line))
}

/// Whether something is cited, or stands at its place, that was not weighed when a finding was closed.
pub(crate) fn brings_news(source: &Source, finding: &Finding, cites: &[Cite], place: Option<&Place>) -> bool {
    let weighed = |cite: &Cite| {
        let at_place = finding.place.as_ref().is_some_and(|place| {
            cite.file.as_deref() == Some(place.file.as_str()) && cite.line == Some(u64::from(place.line))
        });
        at_place || finding.cited().any(|old| old == cite)
    };
    let rewritten = match (&finding.place, place) {
        (Some(was), Some(is)) => was.anchor.content != is.anchor.content,
        (Some(was), None) => {
            source.text(was.file.as_str()).is_some_and(|text| was.anchor.locate(text).is_none())
        }
        _ => false,
    };
    rewritten || cites.iter().any(|cite| !weighed(cite))
}

/// Where a finding is now, if its lines moved.
fn moved_place(source: &Source, finding: &Finding) -> Option<Place> {
    let place = finding.place.as_ref()?;
    let text = source.text(place.file.as_str())?;
    let line = place.anchor.locate(text)?;
    let anchor = Anchor::of(text, line)?;
    let now = Place { file: place.file.clone(), line, anchor };
    (now != *place).then_some(now)
}

fn place_of(source: &Source, new: &NewFinding) -> Option<Place> {
    let file = SourcePath::new(new.file.as_deref()?).ok()?;
    let line = u32::try_from(new.line?).ok()?;
    let anchor = Anchor::of(source.text(file.as_str())?, line)?;
    Some(Place { file, line, anchor })
}

fn trimmed(text: Option<&String>) -> String {
    text.map(|text| text.trim().to_owned()).unwrap_or_default()
}
