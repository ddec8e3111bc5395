//! `harn review open`, `begin`, `submit` and `import`

use std::fmt::Write as _;

use harn_engine::review::Open;
use harn_ledger::Decider as _;
use harn_review::check::Check;
use harn_review::event::{Change, Event, Moved};
use harn_review::{Plan, brief};
use harn_workflow::work::Work;
use serde_json::json;

use super::super::Context;
use super::{changed, read, refuse_child, with_controller};
use crate::args::{BeginArgs, OpenArgs, SubmitArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ids::resolve;
use crate::text::safe_line;

pub(super) fn open(context: &mut Context<'_, '_>, args: &OpenArgs) -> Result<Exit, Failure> {
    refuse_child(context, "open a review")?;
    let work_item = match &args.work_item {
        Some(item) => Some(resolve(context.session.works.ledger(), Work::KIND, item, false)?),
        None => None,
    };
    let request = match (&args.request, &work_item) {
        (Some(request), _) => request.clone(),
        (None, Some(item)) => {
            let item = context.session.works.get(item)?;
            format!("{}\n\n{}", item.intent().title, item.intent().objective)
        }
        (None, None) => {
            return Err(Failure::new(Exit::Usage, "request_missing", "nothing says what was asked for")
                .hint("add `--request TEXT` or `--work-item WORK-ID`"));
        }
    };
    let plan = match &args.plan {
        Some(path) => Plan::read(&read(context, path, harn_review::bounds::PLAN)?)?,
        None => Plan::undivided(args.check.iter().map(|check| named_check(check)).collect::<Result<_, _>>()?),
    };
    if plan.combined.is_empty() {
        context.warn(
            "the plan names no combined check, so the gate stays closed until another plan is accepted",
        );
    }
    let open = Open {
        id: context.session.works.new_id("review"),
        request,
        plan,
        base: args.base.clone(),
        remote: args.remote.clone(),
        work_item,
        require_coverage: args.require_coverage,
        now: context.session.works.now(),
    };
    let stream = with_controller(context, args.actor.as_deref(), |controller, _| controller.open(open))?;
    context.output.text(&format!("{}\n", stream.id()));
    context.output.document(json!({
        "schema_version": 1,
        "id": stream.id(),
        "base": stream.intent().base,
        "plan": stream.intent().plan.digest(),
    }));
    Ok(Exit::Done)
}

/// `NAME=COMMAND`
fn named_check(text: &str) -> Result<Check, Failure> {
    let unreadable = || {
        let message = format!("`{}` is no check, expected `NAME=COMMAND`", text.escape_debug());
        Failure::new(Exit::Usage, "check_unreadable", message).hint("quote the command as for a shell")
    };
    let (name, command) = text.split_once('=').ok_or_else(unreadable)?;
    let argv = shlex::split(command).filter(|argv| !argv.is_empty()).ok_or_else(unreadable)?;
    Ok(Check { name: name.trim().to_owned(), argv, cwd: None, timeout_seconds: None })
}

pub(super) fn begin(context: &mut Context<'_, '_>, args: &BeginArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let reviewer = args.reviewer.clone();
    let begun =
        with_controller(context, args.actor.as_deref(), |controller, _| controller.begin(&review, reviewer))?;
    context.output.text(&brief::prompt(&begun.brief));
    context.output.document(json!({
        "schema_version": 1,
        "instructions": brief::instructions(),
        "brief": begun.brief,
    }));
    Ok(Exit::Done)
}

pub(super) fn submit(context: &mut Context<'_, '_>, args: &SubmitArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let bytes = read(context, &args.file, harn_review::bounds::REPORT)?;
    let submitted =
        with_controller(context, args.actor.as_deref(), |controller, _| controller.submit(&review, bytes))?;
    let live = submitted.state.live_turn().map(|turn| turn.id);
    let (said, exit, result) = match &submitted.event {
        None => {
            let waits = live.map_or("none is waited for".to_owned(), |turn| format!("{turn} is waited for"));
            (
                format!("nothing was recorded: the report answers no turn that is waited for; {waits}\n"),
                Exit::Done,
                "ignored",
            )
        }
        Some(Event::ReportRejected { step, problems, .. }) => {
            let mut said = format!("the report is refused at {step}:\n");
            for problem in problems {
                let _ = writeln!(said, "  - {}", safe_line(problem));
            }
            said.push_str(if live.is_some() {
                "it may be corrected once: hand it in again for the same turn\n"
            } else {
                "it was refused twice: begin another turn\n"
            });
            (said, Exit::Refused, "rejected")
        }
        Some(Event::ReportStale { moved, .. }) => {
            let moved: Vec<&str> = moved
                .iter()
                .map(|moved| match moved {
                    Moved::Source { .. } => "the source was edited",
                    Moved::Plan { .. } => "another plan was accepted",
                    Moved::Queued { .. } => "something waits for the agents",
                })
                .collect();
            let said =
                format!("the report came too late, and nothing follows from it: {}\n", moved.join(", "));
            (said, Exit::Waiting, "stale")
        }
        Some(event) => (changes_text(event), Exit::Done, "accepted"),
    };
    context.output.text(&said);
    context.output.document(json!({
        "schema_version": 1,
        "result": result,
        "live_turn": live,
        "event": submitted.event,
        "open": submitted.state.open().map(|finding| finding.id).collect::<Vec<_>>(),
    }));
    Ok(exit)
}

pub(super) fn import(context: &mut Context<'_, '_>, args: &SubmitArgs) -> Result<Exit, Failure> {
    let review = changed(context, &args.id)?;
    let bytes = read(context, &args.file, harn_review::sarif::LOG)?;
    let imported =
        with_controller(context, args.actor.as_deref(), |controller, _| controller.import(&review, &bytes))?;
    context.output.text(&imported.event.as_ref().map(changes_text).unwrap_or_default());
    context.output.document(json!({
        "schema_version": 1,
        "event": imported.event,
        "open": imported.state.open().map(|finding| finding.id).collect::<Vec<_>>(),
    }));
    Ok(Exit::Done)
}

fn changes_text(event: &Event) -> String {
    let (head, changes) = match event {
        Event::ReportAccepted { turn, status, changes, .. } => {
            (format!("{turn}: {}", status.as_str()), changes)
        }
        Event::FindingsImported { tool, changes, skipped, .. } => {
            (format!("{}: {skipped} left out", safe_line(tool)), changes)
        }
        _ => return String::new(),
    };
    let mut text = format!("{head}\n");
    for change in changes {
        let id = change.id();
        let line = match change {
            Change::Opened { finding, .. } => {
                format!("{id} new, {}: {}", finding.kind.as_str(), safe_line(&finding.title))
            }
            Change::Seen { kind, .. } => format!("{id} open, {}", kind.as_str()),
            Change::SeenAgain { .. } => format!("{id} raised again with nothing new: the ruling stands"),
            Change::Fixed { checks, .. } => format!("{id} fixed, shown by {}", safe_line(&checks.join(", "))),
            Change::Dismissed { reason, .. } => format!("{id} dismissed: {}", safe_line(reason)),
            Change::Merged { into, .. } => format!("{id} merged into {into}"),
            Change::Reprioritised { to, .. } => format!("{id} priority {}", to.as_str()),
        };
        let _ = writeln!(text, "  {line}");
    }
    if let Event::ReportAccepted { unread, unread_more, read: Some(_), .. } = event
        && !unread.is_empty()
    {
        let named: Vec<_> = unread.iter().take(10).map(ToString::to_string).collect();
        let more = unread.len() - named.len() + usize::try_from(*unread_more).unwrap_or(0);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "  changed and not read: {}{more}", safe_line(&named.join(", ")));
    }
    text
}
