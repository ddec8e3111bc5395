//! V3 to V5: what a report says is in its bounds, and about something that is there.

use harn_ledger::text::{TextError, check_block, check_line};

use super::{Case, Cite, Kind, NewFinding, Problem, SourcePath, Status, normal_title, problem};
use crate::bounds;

/// V3: status, summary and lists.
pub(super) fn form(case: &Case<'_>) -> Vec<Problem> {
    let report = case.report;
    let mut found = Vec::new();
    if let Err(error) = text("summary", &report.summary) {
        found.push(problem("summary", error.to_string()));
    }
    if report.fingerprint != case.turn.fingerprint.to_string() {
        let given = case.turn.fingerprint;
        let text = format!("`fingerprint` is not that of the turn, expected `{given}`");
        found.push(problem("fingerprint", text));
    }
    if report.new.len() > bounds::NEW {
        let count = report.new.len();
        let most = bounds::NEW;
        let text = format!(
            "there are {count} new findings, expected at most {most}: leave the rest to the next turn"
        );
        found.push(problem("too_many_findings", text));
    }
    let all = case.state.findings.len();
    if report.accounts.len() > all {
        let text = format!("there are {} accounts for {all} findings", report.accounts.len());
        found.push(problem("too_many_accounts", text));
    }
    if let Some(read) = report.read.as_ref().filter(|read| read.len() > bounds::READ) {
        let text = format!("`read` has {} paths, expected at most {}", read.len(), bounds::READ);
        found.push(problem("too_many_paths", text));
    }
    if case.state.findings.len() + report.new.len() > bounds::FINDINGS {
        found.push(problem("review_full", format!("a review holds at most {} findings", bounds::FINDINGS)));
    }
    let open = report.accounts.iter().any(|it| it.verdict.stays_open());
    let raised = report.new.iter().any(|it| it.kind != Kind::Note);
    match report.status {
        Status::Blocked if !report.new.is_empty() || !report.accounts.is_empty() => found.push(problem(
            "blocked_with_findings",
            "`blocked` says that the inspection was not completed, so it carries neither accounts nor new findings"
                .to_owned(),
        )),
        Status::Findings if !open && !raised => found.push(problem(
            "findings_without_any",
            "`findings` needs a finding that stays open or a new one; use `clean` or `blocked` otherwise".to_owned(),
        )),
        _ => {}
    }
    found
}

/// V4: each owner is a task.
pub(super) fn owners(case: &Case<'_>) -> Vec<Problem> {
    if case.is_of_other_plan() {
        // It was written for another plan, and nothing follows from it.
        return Vec::new();
    }
    let unknown = case.report.new.iter().filter_map(|new| {
        let owner = new.owner.as_deref()?;
        if case.state.plan().task(owner).is_some() {
            return None;
        }
        let tasks: Vec<_> = case.state.plan().tasks.iter().map(|task| format!("`{}`", task.id)).collect();
        let text = format!(
            "the owner `{}` of \u{201c}{}\u{201d} is not a task of the plan, expected {}",
            owner.escape_debug(),
            new.title.escape_debug(),
            tasks.join(", ")
        );
        Some(problem("unknown_owner", text))
    });
    unknown.collect()
}

/// V5: texts, paths and lines.
pub(super) fn places(case: &Case<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for new in &case.report.new {
        if let Err(error) = check_line("title", new.title.trim(), bounds::TITLE) {
            found.push(problem("title", format!("{}: {error}", named(new))));
        }
        let texts = [("evidence", Some(&new.evidence)), ("fix", new.fix.as_ref())];
        for (field, value) in texts.into_iter().filter_map(|(field, value)| Some((field, value?))) {
            if let Err(error) = text(field, value) {
                found.push(problem("text", format!("{}: {error}", named(new))));
            }
        }
        found.extend(place(case, new));
        found.extend(cites(case, &named(new), &new.cites));
    }
    let mut seen = std::collections::BTreeSet::new();
    for new in &case.report.new {
        if !seen.insert((&new.file, new.line, normal_title(&new.title))) {
            found.push(problem("new_twice", format!("{} stands there twice", named(new))));
        }
    }
    for account in &case.report.accounts {
        let texts = [("evidence", &account.evidence), ("reason", &account.reason)];
        for (field, value) in texts {
            // That a ruling lacks its reason is told by V9.
            let blank = value.as_deref().is_none_or(|value| value.trim().is_empty());
            if blank {
                continue;
            }
            if let Err(error) = text(field, value.as_deref().unwrap_or_default()) {
                found.push(problem("text", format!("{}: {error}", account.id.escape_debug())));
            }
        }
        let silent = account.evidence.as_deref().is_none_or(|text| text.trim().is_empty());
        if account.verdict.stays_open() && silent {
            let text = format!(
                "{}: `{}` needs evidence in the present source",
                account.id.escape_debug(),
                account.verdict.as_str()
            );
            found.push(problem("evidence_missing", text));
        }
        found.extend(cites(case, &account.id.escape_debug().to_string(), &account.cites));
    }
    found
}

fn named(new: &NewFinding) -> String {
    let place = match (&new.file, new.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        _ => String::new(),
    };
    format!("{}\u{201c}{}\u{201d}", place.escape_debug(), new.title.escape_debug())
}

fn place(case: &Case<'_>, new: &NewFinding) -> Option<Problem> {
    let (Some(file), Some(line)) = (&new.file, new.line) else {
        return if new.owner.is_some() || new.file.is_some() != new.line.is_some() {
            let text = format!(
                "{}: needs `file` and `line`; only a finding without owner does without both",
                named(new)
            );
            Some(problem("place_missing", text))
        } else {
            None
        };
    };
    let path = match SourcePath::new(file) {
        Ok(path) => path,
        Err(error) => return Some(problem("path", format!("{}: {error}", named(new)))),
    };
    if line == 0 || u32::try_from(line).is_err() {
        return Some(problem("line", format!("{}: the line is {line}, expected 1 or more", named(new))));
    }
    let owner = new.owner.as_deref().and_then(|owner| case.state.plan().task(owner));
    if let Some(task) = owner.filter(|task| !case.is_of_other_plan() && !task.owns(&path)) {
        let text = format!(
            "{}: `{file}` is not among the files of the task `{}`, which are {}",
            named(new),
            task.id,
            task.files.join(", ")
        );
        return Some(problem("out_of_scope", text));
    }
    line_is_there(case, &named(new), file, line)
}

fn line_is_there(case: &Case<'_>, of: &str, file: &str, line: u64) -> Option<Problem> {
    if !case.is_current() || case.source.has_line(file, line) {
        return None;
    }
    let why = match case.source.text(file) {
        None => format!("there is no file `{}` in the source", file.escape_debug()),
        Some(text) => format!("`{}` has {} lines", file.escape_debug(), text.lines().count()),
    };
    Some(problem("no_such_line", format!("{of}: {why}")))
}

fn cites(case: &Case<'_>, of: &str, cites: &[Cite]) -> Vec<Problem> {
    let mut found = Vec::new();
    if cites.len() > bounds::CITES {
        found.push(problem(
            "too_many_cites",
            format!("{of}: there are {} citations, expected at most {}", cites.len(), bounds::CITES),
        ));
    }
    for cite in cites {
        match (&cite.check, &cite.file, cite.line) {
            (Some(name), None, None) => {
                let at = &case.turn.fingerprint;
                let is_it = |it: &crate::check::CheckResult| it.check.name == *name && it.fingerprint == *at;
                if case.is_current() && !case.state.checks().iter().any(is_it) {
                    let text =
                        format!("{of}: no check `{}` was recorded on this source", name.escape_debug());
                    found.push(problem("no_such_run", text));
                }
            }
            (None, Some(file), Some(line)) => found.extend(line_is_there(case, of, file, line)),
            _ => {
                let text = format!("{of}: a citation has either `check`, or `file` and `line`");
                found.push(problem("citation", text));
            }
        }
    }
    found
}

fn text(field: &'static str, text: &str) -> Result<(), TextError> {
    check_block(field, text.trim(), bounds::TEXT)
}
