//! What a log comes to.

use std::collections::BTreeMap;

use super::log::{Component, Hit, Level, Log, Rule, Run, at};
use super::uri::Roots;
use super::{fill, prints, words};
use crate::bounds;
use crate::finding::{Evidence, Kind, Opening, Place, Priority};
use crate::identity::Anchor;
use crate::import::Imported;
use crate::path::SourcePath;
use crate::plan::Plan;
use crate::report::Cite;
use crate::source::Source;

/// Longest name of a rule, and longest address that is shown, in characters.
const LENGTH: usize = 200;
/// Longest address of a place in a title, in characters.
const SHOWN: usize = 80;
/// Rank from which a defect matters most, out of 100.
const RANK: f64 = 80.0;
/// Severity from which a defect matters most, out of 10.
const SEVERITY: f64 = 9.0;

pub(super) fn imported(log: &Log, root: Option<&str>, plan: &Plan, source: &Source) -> Imported {
    let mut findings = Vec::new();
    let mut skipped = 0u32;
    for run in &log.runs {
        let desk = Desk { run, rules: Rules::of(run), roots: Roots::of(run, root), plan, source };
        for hit in &run.results {
            if hit.is_live() {
                findings.push(desk.opening(hit));
            } else {
                skipped = skipped.saturating_add(1);
            }
        }
    }
    prints::keep_telling(&mut findings);
    Imported { tool: tool(log), findings, skipped }
}

/// The programs of all runs, each once.
fn tool(log: &Log) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in log.runs.iter().filter_map(|run| words::line(&run.tool.driver.name, bounds::NAME)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    words::line(&names.join(", "), bounds::NAME).unwrap_or_else(|| "a program without a name".to_owned())
}

/// The rules of a run, by id.
struct Rules<'a> {
    run: &'a Run,
    by_id: BTreeMap<&'a str, (&'a Component, &'a Rule)>,
}

impl<'a> Rules<'a> {
    fn of(run: &'a Run) -> Self {
        let mut by_id = BTreeMap::new();
        for component in std::iter::once(&run.tool.driver).chain(&run.tool.extensions) {
            for rule in &component.rules {
                by_id.entry(rule.id.as_str()).or_insert((component, rule));
            }
        }
        Self { run, by_id }
    }

    /// The rule of a result, and what it belongs to: by its index if the id agrees, else by its id, or by what the id is below.
    fn find(&self, hit: &'a Hit) -> (&'a Component, Option<&'a Rule>) {
        let tool = &self.run.tool;
        let component = at(&tool.extensions, hit.rule.tool_component.index.as_ref()).unwrap_or(&tool.driver);
        let id = id_of(hit);
        let is_it = |rule: &&Rule| {
            id.is_none_or(|id| {
                id.strip_prefix(&*rule.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let index = hit.rule_index.as_ref().or(hit.rule.index.as_ref());
        if let Some(rule) = at(&component.rules, index).filter(is_it) {
            return (component, Some(rule));
        }
        let mut name = id;
        while let Some(id) = name {
            if let Some((component, rule)) = self.by_id.get(id) {
                return (component, Some(rule));
            }
            name = id.rsplit_once('/').map(|(above, _)| above);
        }
        (component, None)
    }
}

fn id_of(hit: &Hit) -> Option<&str> {
    hit.rule_id.as_deref().or(hit.rule.id.as_deref())
}

/// What results of a run are read with.
struct Desk<'a> {
    run: &'a Run,
    rules: Rules<'a>,
    roots: Roots<'a>,
    plan: &'a Plan,
    source: &'a Source,
}

impl<'a> Desk<'a> {
    fn opening(&self, hit: &'a Hit) -> Opening {
        let (component, rule) = self.rules.find(hit);
        let id = id_of(hit).or(rule.map(|rule| rule.id.as_str())).and_then(|id| words::line(id, LENGTH));
        let path = hit.artifact().and_then(|artifact| self.roots.path(artifact));
        let place = path.as_ref().and_then(|path| self.place(path, hit.line()?));
        let message = message(hit, component, rule, id.as_deref());
        // A place that is not in the source is named in words, so that two of them stay two.
        let elsewhere = if place.is_none() { self.elsewhere(hit) } else { None };
        let owner = path.as_ref().and_then(|path| self.plan.owner_of(path)).map(|task| task.id.clone());
        let level = hit.level.or(rule.and_then(|rule| rule.default_configuration.level));
        let kind = match level.unwrap_or(Level::Warning) {
            Level::Error => Kind::Defect,
            Level::Warning => Kind::Uncertain,
            Level::Note | Level::None => Kind::Note,
        };
        let cites = place.as_ref().map(|place| Cite {
            check: None,
            file: Some(place.file.to_string()),
            line: Some(u64::from(place.line)),
        });
        let text = evidence(&message, id.as_deref(), rule, elsewhere.as_deref());
        let fix =
            hit.fixes.first().and_then(|fix| fill::message(&fix.description, rule, &self.run.tool.driver));
        Opening {
            kind,
            owner,
            place,
            priority: priority(kind, hit, rule),
            title: title(&message, elsewhere.as_deref()),
            evidence: Evidence { text, cites: cites.into_iter().collect() },
            fix: fix.and_then(|fix| words::block(&fix, bounds::TEXT)),
            rule: id,
            partial_fingerprints: prints::of(hit),
        }
    }

    fn place(&self, path: &SourcePath, line: u32) -> Option<Place> {
        let anchor = Anchor::of(self.source.text(path.as_str())?, line)?;
        Some(Place { file: path.clone(), line, anchor })
    }

    fn elsewhere(&self, hit: &Hit) -> Option<String> {
        let uri = words::line_end(self.roots.shown(hit.artifact()?)?, SHOWN)?;
        Some(hit.line().map_or_else(|| uri.clone(), |line| format!("{uri}:{line}")))
    }
}

/// What a result says; what its rule says where it says nothing.
fn message(hit: &Hit, component: &Component, rule: Option<&Rule>, id: Option<&str>) -> String {
    let of_rule = rule.and_then(|rule| rule.short_description.as_ref()?.text.as_deref());
    let said = fill::message(&hit.message, rule, component);
    let mut all = said.as_deref().into_iter().chain(of_rule).chain(id);
    let text = all.find_map(|text| words::block(text, bounds::TEXT));
    text.unwrap_or_else(|| "a result without a message".to_owned())
}

/// The title of a finding whose message begins so. Reader and writer both use it, so that what is written is known again.
pub(super) fn title_of(message: &str) -> Option<String> {
    words::line(message, bounds::TITLE)
}

fn title(message: &str, elsewhere: Option<&str>) -> String {
    let Some(elsewhere) = elsewhere else { return title_of(message).unwrap_or_default() };
    let suffix = format!(" ({elsewhere})");
    let room = bounds::TITLE.saturating_sub(suffix.chars().count());
    words::line(message, room).unwrap_or_default() + &suffix
}

/// The whole message, and what else there is to know of it.
fn evidence(message: &str, id: Option<&str>, rule: Option<&Rule>, elsewhere: Option<&str>) -> String {
    let help = rule.and_then(|rule| words::line(rule.help_uri.as_deref()?, LENGTH));
    let facts = [("rule", id), ("help", help.as_deref()), ("at", elsewhere)];
    let facts = facts.into_iter().filter_map(|(name, fact)| Some(format!("{name}: {}", fact?)));
    // What was read before and is read again does not grow.
    let new = facts.filter(|fact| !message.lines().any(|line| line == fact));
    let new = new.collect::<Vec<_>>().join("\n");
    if new.is_empty() {
        return message.to_owned();
    }
    let room = bounds::TEXT.saturating_sub(new.chars().count() + 2);
    format!("{}\n\n{new}", words::block(message, room).unwrap_or_default())
}

fn priority(kind: Kind, hit: &Hit, rule: Option<&Rule>) -> Priority {
    let rank = hit.rank.or(rule.and_then(|rule| rule.default_configuration.rank));
    let of_rule = || rule.and_then(|rule| rule.properties.security_severity());
    let severity = hit.properties.security_severity().or_else(of_rule);
    let most = rank.is_some_and(|rank| rank >= RANK) || severity.is_some_and(|severity| severity >= SEVERITY);
    match kind {
        Kind::Defect if most => Priority::P0,
        Kind::Defect => Priority::P1,
        Kind::Uncertain | Kind::Note => Priority::P2,
    }
}
