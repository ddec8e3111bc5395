//! What a person decides: `harn review repair`, `decide`, `waive` and `plan`

use std::fmt::Write as _;
use std::path::Path;

use harn_ledger::Stream;
use harn_review::event::Decision;
use harn_review::finding::Priority;
use harn_review::{Command, Plan, Review, State};
use serde_json::json;

use super::super::Context;
use super::{changed, finding_id, read, refuse_child, with_controller};
use crate::args::{DecideArgs, ReviewRepairArgs, ReviewWhyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::text::safe_line;

pub(super) fn repair(context: &mut Context<'_, '_>, args: &ReviewRepairArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let state = if args.attempted {
        let note = args.note.clone();
        with_controller(context, args.actor.as_deref(), |controller, _| controller.attempted(&review, note))?
    } else {
        refuse_child(context, "start a repair pass")?;
        with_controller(context, args.actor.as_deref(), |controller, _| controller.begin_repair(&review))?
    };
    let under_way = state.pass_under_way();
    let mut text = match under_way {
        Some((pass, owner)) => {
            format!("repair pass {}: it is the turn of {}\n", pass.number, safe_line(owner))
        }
        None => "the pass is over: run the checks, then begin another turn\n".to_owned(),
    };
    if let Some((pass, owner)) = under_way {
        for finding in pass.findings.iter().filter_map(|id| state.finding(*id)) {
            if finding.owner.as_deref() == Some(owner) {
                let _ = writeln!(text, "  {} {}", finding.id, safe_line(&finding.title));
            }
        }
        if !pass.rechecks.is_empty() {
            let _ = writeln!(text, "checked again afterwards: {}", safe_line(&pass.rechecks.join(", ")));
        }
    }
    context.output.text(&text);
    context.output.document(json!({
        "schema_version": 1,
        "pass": state.passes().last().map(|pass| json!({
            "number": pass.number,
            "findings": pass.findings,
            "owners": pass.owners,
            "rechecks": pass.rechecks,
            "attempted": pass.attempted,
        })),
        "owner": under_way.map(|(_, owner)| owner),
    }));
    Ok(Exit::Done)
}

pub(super) fn decide(context: &mut Context<'_, '_>, args: &DecideArgs) -> Result<Exit, Failure> {
    refuse_child(context, "decide about a finding")?;
    let review = changed(context, &args.id)?;
    let id = finding_id(&args.finding)?;
    let decision = if args.close {
        Decision::Close {}
    } else if args.confirm {
        Decision::Confirm {}
    } else if args.reopen {
        Decision::Reopen {}
    } else if args.not_reproduced {
        Decision::NotReproduced {}
    } else if let Some(priority) = &args.priority {
        let to = match priority.as_str() {
            "P0" => Priority::P0,
            "P1" => Priority::P1,
            _ => Priority::P2,
        };
        Decision::Priority { to }
    } else {
        Decision::Owner { to: args.owner.clone() }
    };
    let command = Command::Decide { id, decision, reason: args.why.reason.trim().to_owned(), evidence: None };
    let state = act(context, &review, args.why.actor.as_deref(), command)?;
    if let Some(finding) = state.finding(id) {
        context.output.text(&render::review_finding(&state, finding, context.prose_width(), context.palette));
        context.output.document(render::review_finding_document(&state, finding));
    }
    Ok(Exit::Done)
}

pub(super) fn waive(
    context: &mut Context<'_, '_>,
    id: &str,
    check: &str,
    why: &ReviewWhyArgs,
) -> Result<Exit, Failure> {
    refuse_child(context, "let a check pass")?;
    let review = changed(context, id)?;
    let command = Command::Waive { name: check.to_owned(), reason: why.reason.trim().to_owned() };
    act(context, &review, why.actor.as_deref(), command)?;
    context.output.text(&format!("`{}` may fail; whatever is published says so\n", safe_line(check)));
    context.output.document(json!({"schema_version": 1, "id": review.id(), "waived": check}));
    Ok(Exit::Done)
}

pub(super) fn plan(
    context: &mut Context<'_, '_>,
    id: &str,
    file: &Path,
    why: &ReviewWhyArgs,
) -> Result<Exit, Failure> {
    refuse_child(context, "accept a plan")?;
    let review = changed(context, id)?;
    let plan = Plan::read(&read(context, file, harn_review::bounds::PLAN)?)?;
    let command = Command::AcceptPlan { plan: Box::new(plan), reason: why.reason.trim().to_owned() };
    let state = act(context, &review, why.actor.as_deref(), command)?;
    context.output.text(&format!("the plan {} governs; repair passes start anew\n", state.plan_digest()));
    context.output.document(json!({"schema_version": 1, "id": review.id(), "plan": state.plan_digest()}));
    Ok(Exit::Done)
}

fn act(
    context: &mut Context<'_, '_>,
    review: &Stream<Review>,
    actor: Option<&str>,
    command: Command,
) -> Result<State, Failure> {
    Ok(with_controller(context, actor, |controller, _| controller.execute(review, command))?.0)
}
