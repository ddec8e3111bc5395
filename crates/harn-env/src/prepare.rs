//! Preparing a project and checking it again: runs what a receipt says comes next, and records what came of it.
//!
//! What is to be done is decided by [`receipt::State::next`](crate::receipt::State::next); here is the part that touches
//! the machine.

mod error;
mod executed;
mod output;
mod saved;
mod source;
mod turn;

use std::path::Path;
use std::time::Duration;

use harn_ledger::{Ledger, Stream, StreamId, Timestamp};

use crate::command::{Cancel, Environment};
use crate::compare::{compare, needs_rerun};
use crate::fingerprint::{Fingerprint, take};
use crate::key::Key;
use crate::receipt::{
    CommandResult, End, Event, Hold, Intent, Owner, Purpose, Receipt, Record, Saved, Stage, State, Step,
};
use crate::recipe::{Chosen, Command, Recipe};
use crate::redact::Redactor;

pub use error::PrepareError;
pub use source::{home, recipe_of, sandbox_version};
pub use turn::Turn;

/// What preparing and checking need.
pub struct Request<'a> {
    /// Where receipts are kept.
    pub ledger: &'a Ledger,
    /// The project: an absolute path.
    pub root: &'a Path,
    /// The recipe that governs.
    pub recipe: &'a Chosen,
    /// What is stated of the machine; see [`sandbox_version`].
    pub sandbox: &'a str,
    /// The variables that the commands get.
    pub environment: &'a Environment,
    /// What identifies the home directory of the commands; see [`home`].
    pub home: &'a str,
    /// Masks what they print.
    pub redactor: &'a Redactor,
    /// Stops it.
    pub cancel: &'a Cancel,
    /// The attempt that it is for.
    pub owner: Option<Owner>,
    /// Who asks.
    pub actor: &'a str,
    /// The new receipt's id.
    pub id: StreamId,
    /// Tells the present moment. Asked when nobody else prepares the project any more.
    pub now: &'a dyn Fn() -> Timestamp,
    /// Is told what happens.
    pub progress: &'a mut dyn FnMut(Progress<'_>),
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Another preparation of the project is under way, and is waited for. Its receipt and who asked for it, unless it has none
    /// yet.
    Waiting(Option<(&'a StreamId, &'a str)>),
    /// The set-up of that receipt still holds.
    Reused(&'a StreamId),
    /// A command begins.
    Begins(Stage, &'a str),
    /// A command that runs printed something. It runs for so long, and printed that many bytes in all.
    Printed {
        /// Where it belongs.
        stage: Stage,
        /// What it is called.
        name: &'a str,
        /// How long it runs.
        elapsed: Duration,
        /// How many bytes it printed.
        bytes: u64,
    },
    /// A command ended.
    Ended(Stage, &'a CommandResult),
    /// A tool does not work, so the set-up is done once more.
    Retried(&'a str),
}

/// Prepares the project: set-up unless one of before still holds, tools, baseline. The receipt has an end when this returns
/// without an error, also when it is held.
pub fn prepare(request: Request<'_>) -> Result<Stream<Receipt>, PrepareError> {
    let _turn = turn::take(request.ledger, request.root, request.cancel, request.progress)?;
    check_resolved(request.ledger, request.root)?;
    let running = begin(request, Purpose::Prepare {}, None)?;
    running.go(&mut |_| None)
}

/// Waits until nobody else prepares the project.
pub(crate) fn wait_for_turn(ledger: &Ledger, root: &Path) -> Result<Turn, PrepareError> {
    turn::take(ledger, root, &Cancel::new(), &mut |_| {})
}

/// Sees whether the tools of `receipt` still work, before work goes on that was prepared. Nothing else is done again.
pub fn check_tools(request: Request<'_>, receipt: &StreamId) -> Result<Stream<Receipt>, PrepareError> {
    let before = prepared(&request, receipt)?;
    let _turn = turn::take(request.ledger, request.root, request.cancel, request.progress)?;
    let purpose = Purpose::Tools { receipt: receipt.clone() };
    let running = begin(request, purpose, Some(&recipe_in(before.intent())))?;
    running.go(&mut |_| None)
}

/// Runs the commands of the baseline of `receipt` again and compares. A regression and a repair are confirmed by one rerun.
pub fn check(request: Request<'_>, receipt: &StreamId) -> Result<Stream<Receipt>, PrepareError> {
    let before = prepared(&request, receipt)?;
    let state = before.state()?;
    let _turn = turn::take(request.ledger, request.root, request.cancel, request.progress)?;
    let purpose = Purpose::Check { receipt: receipt.clone() };
    let running = begin(request, purpose, Some(&recipe_in(before.intent())))?;
    running.go(&mut |index| state.baseline(index).map(CommandResult::seen))
}

/// The receipt of a preparation that is ready.
fn prepared(request: &Request<'_>, receipt: &StreamId) -> Result<Stream<Receipt>, PrepareError> {
    let before = request.ledger.stream::<Receipt>(receipt.as_str())?;
    let status = before.state()?.summary().status;
    if before.intent().purpose != (Purpose::Prepare {}) || status != "ready" {
        return Err(PrepareError::NoBaseline { id: receipt.clone(), status });
    }
    Ok(before)
}

/// What is compared is what was run before, whatever the project's recipe says by now.
fn recipe_in(intent: &Intent) -> Chosen {
    let recipe = intent.recipe.clone().zip(intent.origin.clone());
    recipe.map_or(Chosen::None, |(recipe, origin)| Chosen::Recipe { origin, recipe })
}

/// A receipt that is being written.
struct Running<'a> {
    request: Request<'a>,
    stream: Stream<Receipt>,
    recipe: Option<Recipe>,
    source: Fingerprint,
}

/// Looks at the source, and creates the receipt.
fn begin<'a>(
    request: Request<'a>,
    purpose: Purpose,
    recipe: Option<&Chosen>,
) -> Result<Running<'a>, PrepareError> {
    let (origin, recipe) = match recipe.unwrap_or(request.recipe) {
        Chosen::Recipe { origin, recipe } => (Some(origin.clone()), Some(recipe.clone())),
        Chosen::None => (None, None),
    };
    let inputs = recipe.as_ref().map_or(&[][..], |recipe| &recipe.inputs);
    let source = take(request.root, inputs)?;
    let (files, absent) = source.key_files();
    let digest = recipe.as_ref().map(Recipe::digest);
    let key = Key::new(digest, request.sandbox, request.home, files.to_vec(), absent.to_vec())?;
    let saved = match (&purpose, &recipe) {
        (Purpose::Prepare {}, Some(_)) => saved::keep(&request, &source)?,
        _ => Saved::default(),
    };
    let intent = Intent {
        schema_version: 1,
        id: request.id.clone(),
        purpose,
        root: request.root.to_string_lossy().into_owned(),
        origin,
        recipe: recipe.clone(),
        key,
        source: source::store(request.ledger, &source)?,
        saved,
        owner: request.owner.clone(),
        created_at: (request.now)(),
    };
    let stream = request.ledger.create::<Receipt>(
        request.id.as_str(),
        request.actor,
        &intent,
        &[Event::Started {}],
    )?;
    Ok(Running { request, stream, recipe, source })
}

/// The baseline's result of a command, by its place.
type Baseline<'a> = &'a mut dyn FnMut(u32) -> Option<crate::compare::Seen>;

impl Running<'_> {
    fn go(mut self, baseline: Baseline<'_>) -> Result<Stream<Receipt>, PrepareError> {
        if matches!(self.stream.intent().purpose, Purpose::Prepare {}) {
            self.reuse()?;
        }
        loop {
            let state = self.stream.state()?;
            let step = state.next();
            if step == Step::Nothing {
                return Ok(self.stream);
            }
            // A stop is looked for between commands; while one runs it ends it, and is no failure of its.
            let is_done = matches!(step, Step::End { end: End::Ready | End::Checked, .. });
            if self.request.cancel.is_cancelled() && !is_done {
                let reason = Some("it was stopped".to_owned());
                self.record(Event::Ended { end: End::Held(Hold::Cancelled), reason })?;
                continue;
            }
            self.take_step(&state, step, baseline)?;
        }
    }

    fn take_step(&mut self, state: &State, step: Step, baseline: Baseline<'_>) -> Result<(), PrepareError> {
        match step {
            Step::Nothing | Step::Start => Ok(()),
            Step::Run { stage, index, round } => self.run(stage, index, round).map(drop),
            Step::Retry { reason } => {
                (self.request.progress)(Progress::Retried(&reason));
                self.record(Event::SetupRetried { reason })
            }
            Step::CompareSource { after } => {
                let inputs = self.recipe.as_ref().map_or(&[][..], |recipe| &recipe.inputs);
                let now = take(self.request.root, inputs)?;
                let changed = now.difference(&self.source, crate::receipt::PATHS_MAX);
                let source = source::store(self.request.ledger, &now)?;
                self.record(Event::SourceCompared { after, source, changed })
            }
            Step::CompareResult { index } => {
                let before = baseline(index);
                let last = state.done().iter().rfind(|done| done.index == index && done.round == 1);
                let last = last.map(|done| done.result.seen());
                let Some(last) = last else { return Ok(()) };
                let rerun = if needs_rerun(before.as_ref(), &last) && !self.request.cancel.is_cancelled() {
                    Some(self.run(Stage::Final, index, 2)?.seen())
                } else {
                    None
                };
                if self.request.cancel.is_cancelled() {
                    // What was stopped confirms nothing.
                    return Ok(());
                }
                let comparison = compare(before.as_ref(), &last, rerun.as_ref());
                self.record(Event::ResultCompared { index, comparison })
            }
            Step::End { end, reason } => self.record(Event::Ended { end, reason }),
        }
    }

    /// Does without the set-up if the last one with this key still holds.
    fn reuse(&mut self) -> Result<(), PrepareError> {
        if !matches!(self.stream.state()?.next(), Step::Run { stage: Stage::Setup, .. }) {
            return Ok(());
        }
        let last = last_with(&self.stream, self.request.ledger)?;
        if let Some(receipt) = last {
            (self.request.progress)(Progress::Reused(&receipt));
            self.record(Event::SetupReused { receipt })?;
        }
        Ok(())
    }

    fn run(&mut self, stage: Stage, index: u32, round: u32) -> Result<CommandResult, PrepareError> {
        let recipe = self.recipe.as_ref().expect("without a recipe there is no command to run");
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let (command, expect): (&Command, _) = match stage {
            Stage::Setup => (&recipe.setup[place], None),
            Stage::Tools => (&recipe.tools[place].command, recipe.tools[place].expect.as_ref()),
            Stage::Baseline | Stage::Final => (&recipe.baseline[place], None),
        };
        let name = if stage == Stage::Tools { &recipe.tools[place].name } else { &command.name };
        (self.request.progress)(Progress::Begins(stage, name));
        let result = executed::run(&mut self.request, stage, name, command, expect)?;
        (self.request.progress)(Progress::Ended(stage, &result));
        self.record(Event::CommandEnded { stage, index, round, result: Box::new(result.clone()) })?;
        Ok(result)
    }

    fn record(&self, event: Event) -> Result<(), PrepareError> {
        self.stream.execute(self.request.actor, Record(event))?;
        Ok(())
    }
}

/// Whether a preparation of the project may begin: nobody has to say first what becomes of a source that the last one changed.
pub fn check_resolved(ledger: &Ledger, root: &Path) -> Result<(), PrepareError> {
    let root = root.to_string_lossy();
    let mut last: Option<(Timestamp, StreamId, bool)> = None;
    for stream in readable(ledger)? {
        let intent = stream.intent();
        let Ok(state) = stream.state() else { continue };
        let is_newer = last.as_ref().is_none_or(|(at, id, _)| (intent.created_at, stream.id()) > (*at, id));
        if intent.root == root && intent.purpose == (Purpose::Prepare {}) && is_newer {
            last = Some((intent.created_at, stream.id().clone(), state.waits_for_a_person()));
        }
    }
    match last {
        Some((_, id, true)) => Err(PrepareError::Unresolved { id }),
        _ => Ok(()),
    }
}

/// The preparation or check of the project that is under way: its receipt, and who asked for it.
fn under_way(ledger: &Ledger, root: &Path) -> Option<(StreamId, String)> {
    let root = root.to_string_lossy();
    let open = readable(ledger).ok()?.into_iter().filter(|stream| {
        stream.intent().root == root && stream.state().is_ok_and(|state| state.end().is_none())
    });
    let last = open.max_by_key(|stream| (stream.intent().created_at, stream.id().clone()))?;
    let history = last.history().ok()?;
    let actor = history.first()?.domain()?.actor.to_string();
    Some((last.id().clone(), actor))
}

/// The receipts that can be read. One that cannot says nothing about the others.
fn readable(ledger: &Ledger) -> Result<Vec<Stream<Receipt>>, PrepareError> {
    let ids = ledger.ids("env")?;
    Ok(ids.iter().filter_map(|id| ledger.stream::<Receipt>(id.as_str()).ok()).collect())
}

/// The last set-up of the project, if it has this key and holds. One that failed, was cut off, or was done by another recipe
/// stands in the way of those before it: what they left may be gone.
fn last_with(running: &Stream<Receipt>, ledger: &Ledger) -> Result<Option<StreamId>, PrepareError> {
    let (root, key) = (&running.intent().root, running.intent().key.digest());
    let mut last: Option<(Timestamp, StreamId, bool)> = None;
    for stream in readable(ledger)? {
        let (id, intent) = (stream.id(), stream.intent());
        let Ok(state) = stream.state() else { continue };
        let is_newer = last.as_ref().is_none_or(|(at, other, _)| (intent.created_at, id) > (*at, other));
        if id != running.id() && intent.root == *root && state.is_set_up() && is_newer {
            last = Some((intent.created_at, id.clone(), state.is_reusable_for(&key)));
        }
    }
    Ok(last.and_then(|(_, id, reusable)| reusable.then_some(id)))
}
