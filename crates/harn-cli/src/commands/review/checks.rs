//! `harn review record-check` and `harn review fix-check`

use harn_review::FindingId;
use harn_review::State;
use harn_review::check::{Check, CheckResult};
use serde_json::json;

use super::super::Context;
use super::{changed, finding_id, refuse_child, with_controller};
use crate::args::{FixCheckArgs, RecordCheckArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::text::safe_line;

pub(super) fn record(context: &mut Context<'_, '_>, args: &RecordCheckArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let finding = args.finding.as_deref().map(finding_id).transpose()?;
    let regression = match finding {
        Some(id) => {
            Some((id, regression(&review.state().map_err(harn_ledger::StreamError::from)?, id, args)?))
        }
        None if args.command.is_empty() => None,
        None => {
            let message = "the command of a combined check or of a task stands in the plan";
            return Err(Failure::new(Exit::Usage, "command_in_plan", message)
                .hint("name the finding that it shows with `--finding` and `--name`"));
        }
    };
    let task = args.task.clone();
    let results = with_controller(context, args.actor.as_deref(), |controller, say| {
        let mut told = |result: &CheckResult| say(&render::check_line(result));
        match (&regression, &task) {
            (Some((id, check)), _) => Ok(vec![controller.run_regression(&review, *id, check)?]),
            (None, Some(task)) => controller.run_task(&review, task, &mut told),
            (None, None) => controller.run_combined(&review, &mut told),
        }
    })?;
    for result in &results {
        context.output.text(&format!("{}\n", render::check_line(result)));
        if !result.passed() {
            for line in result.tail.lines().rev().take(6).collect::<Vec<_>>().into_iter().rev() {
                context.output.text(&format!("  {}\n", safe_line(line)));
            }
        }
    }
    context.output.document(json!({"schema_version": 1, "results": results}));
    Ok(if results.iter().all(CheckResult::passed) { Exit::Done } else { Exit::WorkFailed })
}

/// The regression check that is meant: given, or recorded before.
fn regression(state: &State, id: FindingId, args: &RecordCheckArgs) -> Result<Check, Failure> {
    let name = args.name.clone().unwrap_or_default();
    if !args.command.is_empty() {
        return Ok(Check { name, argv: args.command.clone(), cwd: None, timeout_seconds: args.timeout });
    }
    let recorded = state.checks_of(id).filter(|result| result.check.name == name).last();
    recorded.map(|result| result.check.clone()).ok_or_else(|| {
        let message = format!("{id} has no check `{}` yet, so its command is needed", safe_line(&name));
        Failure::new(Exit::Usage, "command_missing", message).hint("add the command after `--`")
    })
}

pub(super) fn fix(context: &mut Context<'_, '_>, args: &FixCheckArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let actor = args.actor.as_deref();
    let Some(name) = args.check.clone() else {
        let repaired = args.repaired;
        with_controller(context, actor, |controller, _| controller.end_fix_check(&review, repaired))?;
        context.output.text(if repaired {
            "every combined check has to be run again\n"
        } else {
            "it stays failed; nothing is tried again by itself\n"
        });
        context.output.document(json!({"schema_version": 1, "id": review.id(), "repaired": repaired}));
        return Ok(Exit::Done);
    };
    refuse_child(context, "give a failed check back")?;
    let asked = name.clone();
    let state = with_controller(context, actor, |controller, _| controller.begin_fix_check(&review, asked))?;
    let failed = state.checks().iter().rfind(|result| result.check.name == name && !result.passed());
    if let Some(fix) = state.fix_check() {
        context.output.text(&format!("`{}` goes back to {}\n", safe_line(&fix.name), safe_line(&fix.task)));
        if let Some(failed) = failed {
            context.output.text(&format!("  {}\n", safe_line(&failed.check.argv.join(" "))));
            for line in failed.tail.lines() {
                context.output.text(&format!("  {}\n", safe_line(line)));
            }
        }
        context.output.document(json!({
            "schema_version": 1,
            "id": review.id(),
            "task": fix.task,
            "failed": failed,
        }));
    }
    Ok(Exit::Done)
}
