//! A receipt: what was done, what came of it, and what it says about the work.

use harn_env::command::Outcome;
use harn_env::compare::{Comparison, Verdict};
use harn_env::fingerprint::Difference;
use harn_env::key::Key;
use harn_env::prepare::Progress;
use harn_env::receipt::{CommandResult, Intent, Output, Purpose, Receipt, Resolution, Stage, State};
use harn_env::recipe::Origin;
use harn_ledger::Stream;
use serde_json::{Value, json};

use super::item::to_the_second;
use super::log::{seconds, word};
use super::page::Page;
use crate::text::{Palette, columns, safe_line};

/// The receipt in sections.
pub(crate) fn receipt(intent: &Intent, state: &State, width: usize, palette: Palette) -> String {
    let summary = state.summary();
    let mut page = Page::new(width, palette);
    let what = match &intent.purpose {
        Purpose::Prepare {} => "preparation".to_owned(),
        Purpose::Tools { receipt } => format!("tools of {receipt}, checked again"),
        Purpose::Check { receipt } => format!("check against {receipt}"),
    };
    page.title(intent.id.as_str(), &what);
    let style = match summary.status {
        "ready" | "checked" => palette.good,
        _ => palette.waiting,
    };
    page.word("status", summary.status, style);
    if let Some(hold) = summary.hold {
        page.line("hold", hold);
    }
    if let Some(reason) = &summary.reason {
        page.field("reason", reason);
    }
    match summary.resolved {
        Some(Resolution::Keep) => page.line("resolved", "the edits were kept"),
        Some(Resolution::Restore) => page.line("resolved", "the files were put back"),
        None if state.waits_for_a_person() => {
            page.line("try", &format!("harn env resolve {} --keep --reason TEXT", summary.id));
            page.line("try", &format!("harn env resolve {} --restore --reason TEXT", summary.id));
        }
        None => {}
    }
    page.line("recipe", &recipe_line(intent));
    if let Some(reused) = &summary.reused_from {
        page.line("set-up reused from", reused.as_str());
    }
    if summary.retry > 0 {
        page.line("set-up done again", "once");
    }
    for stage in [Stage::Setup, Stage::Tools, Stage::Baseline, Stage::Final] {
        let done: Vec<_> = state.done().iter().filter(|done| done.stage == stage).collect();
        let of_stage = summary.results.iter().filter(|(of, ..)| *of == stage);
        let was_run = |name: &String| done.iter().any(|done| done.result.name == *name);
        let not_run: Vec<_> = of_stage.filter(|(_, name, _)| !was_run(name)).collect();
        if done.is_empty() && not_run.is_empty() {
            continue;
        }
        page.section(stage.as_str());
        for done in done {
            let again = if done.round > 1 { ", again" } else { "" };
            command(&mut page, &done.result, again);
        }
        for (_, name, _) in not_run {
            page.item("  ", &format!("{name}: not run"));
        }
    }
    changes(&mut page, state);
    if !state.comparisons().is_empty() {
        page.section("what that says");
        let names = intent.recipe.iter().flat_map(|recipe| &recipe.baseline);
        for (command, comparison) in names.zip(state.comparisons()) {
            page.item("  ", &format!("{}: {}", command.name, comparison.verdict));
            let tests = tests_line(comparison);
            if !tests.is_empty() {
                page.item("     ", &tests);
            }
        }
    }
    page.section("record");
    page.token("  source ", &intent.source.digest.to_string());
    page.token("  key ", &intent.key.digest().to_string());
    page.item("  ", &format!("begun {}", to_the_second(intent.created_at)));
    page.into_text()
}

/// The paths in which the source differed.
fn changes(page: &mut Page, state: &State) {
    for (after, changed) in state.changes() {
        changed_paths(page, &format!("changed by {after}"), changed);
    }
}

fn changed_paths(page: &mut Page, what: &str, changed: &Difference) {
    if changed.paths.is_empty() {
        return;
    }
    page.section(what);
    for (path, change) in &changed.paths {
        page.token(&format!("  {:8} ", word(*change)), path);
    }
    if changed.left_out > 0 {
        page.item("  ", &format!("and {} more", changed.left_out));
    }
}

/// The paths in which the sources of two receipts differ.
pub(crate) fn changed_source(changed: &Difference, palette: Palette) -> String {
    let mut page = Page::new(usize::MAX, palette);
    changed_paths(&mut page, "changed source", changed);
    page.into_text()
}

fn recipe_line(intent: &Intent) -> String {
    match &intent.origin {
        Some(Origin::Plan) => "from the plan".to_owned(),
        Some(Origin::Project { path }) => path.clone(),
        None => "none, so nothing was checked".to_owned(),
    }
}

fn command(page: &mut Page, result: &CommandResult, again: &str) {
    let took = seconds(result.duration_ms);
    let limit = if result.outcome == Outcome::Timeout {
        format!(" of {} s", result.limit_seconds)
    } else {
        String::new()
    };
    page.item("  ", &format!("{}: {}{again}, {took}{limit}", result.name, result.outcome));
    for words in result.error.iter().chain(&result.note) {
        page.item("     ", words);
    }
    if !result.passed() {
        for output in result.stderr.iter().chain(&result.stdout) {
            page.item("     ", last_lines(output));
        }
    }
}

/// The last lines of an output: enough to see why.
fn last_lines(output: &Output) -> &str {
    let text = output.tail.trim_end();
    let start = text.rmatch_indices('\n').nth(9).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

/// The tests that a comparison is about.
pub(crate) fn tests_line(comparison: &Comparison) -> String {
    let list = |what: &str, tests: &std::collections::BTreeSet<String>| {
        let named: Vec<_> = tests.iter().take(5).map(|test| safe_line(test).into_owned()).collect();
        let more = tests.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!tests.is_empty()).then(|| format!("{what}: {}{more}", named.join(", ")))
    };
    let broken = list("broken", &comparison.broken).filter(|_| comparison.verdict != Verdict::PreExisting);
    [broken, list("mended", &comparison.mended)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `{schema_version, receipt, intent, results, comparisons}`
pub(crate) fn receipt_document(intent: &Intent, state: &State) -> Value {
    let results: Vec<Value> = state
        .done()
        .iter()
        .map(|done| json!({ "stage": done.stage, "index": done.index, "round": done.round, "result": done.result }))
        .collect();
    json!({
        "schema_version": 1,
        "receipt": state.summary(),
        "intent": intent,
        "results": results,
    })
}

/// What a set-up depends on, and what differs from the last one.
pub(crate) fn key(key: &Key, last: Option<(&Stream<Receipt>, &[String])>, palette: Palette) -> String {
    let mut page = Page::new(usize::MAX, palette);
    page.line("key", &key.digest().to_string());
    let rows: Vec<[String; 2]> =
        key.files().iter().map(|file| [file.sha256.to_string(), file.path.to_string()]).collect();
    page.rows(&columns(&rows, None));
    match last {
        None => page.line("last set-up", "none"),
        Some((last, [])) => page.line("last set-up", &format!("{} has the same key", last.id())),
        Some((last, misses)) => {
            page.line("last set-up", &format!("{} has another key", last.id()));
            for miss in misses {
                page.token("  ", miss);
            }
        }
    }
    page.into_text()
}

/// What happens in a preparation or a check, for a person who waits.
pub(crate) fn preparing(progress: &Progress<'_>) -> Option<String> {
    Some(match progress {
        Progress::Waiting(None) => {
            "another preparation of this project is under way; waiting for it".to_owned()
        }
        Progress::Waiting(Some((receipt, actor))) => format!("waiting for {receipt}, which {actor} began"),
        Progress::Reused(receipt) => format!("the set-up of {receipt} still holds"),
        Progress::Begins(stage, name) => format!("{stage}: {name}"),
        Progress::Ended(stage, result) => format!("{stage}: {} {}", result.name, result.outcome),
        Progress::Retried(reason) => format!("the set-up is done again: {reason}"),
        _ => return None,
    })
}
