//! The functions that the prelude calls: each checks its arguments and asks the host.
//!
//! Once the script has ended ([`Bridge::end`]) they do nothing and return `undefined`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::function::{Func, IntoJsFunc};
use rquickjs::{Array, Ctx, Exception, Object, Value};

use super::bridge::{Bridge, Request};
use super::fields::{Fields, Read, ReadError, exact};
use super::host::{Blocked, CallId};
use super::random::Random;
use super::{AgentCall, CheckCall, EvidenceInput, describe, exhaustion, text};

const TITLE_LIMIT: usize = 200;
const REASON_LIMIT: usize = 2_000;
const DECISION_LIMIT: usize = 200;

/// What the native functions share with the rest of the engine's thread.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) bridge: Rc<Bridge>,
    /// Script time in milliseconds since 1970 UTC.
    pub(super) now_ms: Rc<Cell<i64>>,
}

/// The object that the prelude gets.
pub(super) fn natives<'js>(ctx: &Ctx<'js>, shared: &Shared, random: Random) -> rquickjs::Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    clocks(&natives, shared, random)?;
    records(&natives, shared)?;
    calls(&natives, shared)?;
    Ok(natives)
}

fn clocks<'js>(natives: &Object<'js>, shared: &Shared, random: Random) -> rquickjs::Result<()> {
    let now_ms = Rc::clone(&shared.now_ms);
    #[expect(
        clippy::cast_precision_loss,
        reason = "JavaScript times are floating point; dates are far below 2^53"
    )]
    let now = move || now_ms.get() as f64;
    define(natives, "now", now)?;
    let random = RefCell::new(random);
    define(natives, "random", move || random.borrow_mut().next_unit())?;
    let bridge = Rc::clone(&shared.bridge);
    let observe = move |ctx: Ctx<'js>, thrown: Value<'js>, frames: Value<'js>| {
        exhaustion::observe(&bridge, &ctx, &thrown, &frames);
    };
    define(natives, "observe", observe)
}

fn records<'js>(natives: &Object<'js>, shared: &Shared) -> rquickjs::Result<()> {
    let bridge = Rc::clone(&shared.bridge);
    let stage = move |ctx: Ctx<'js>, title: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let title = text::cut(exact("stage()", "title", &title)?.trim(), TITLE_LIMIT);
            bridge.ask(|reply| Request::Stage(title, reply));
            Ok(None::<()>)
        })
    };
    define(natives, "stage", stage)?;

    let bridge = Rc::clone(&shared.bridge);
    let log = move |ctx: Ctx<'js>, values: Array<'js>| {
        live(&ctx, &bridge, |bridge| {
            let values = values.iter().collect::<rquickjs::Result<Vec<Value<'js>>>>()?;
            let line = describe::logged(&ctx, &values);
            bridge.ask(|reply| Request::Log(line, reply));
            Ok(None::<()>)
        })
    };
    define(natives, "log", log)?;

    let bridge = Rc::clone(&shared.bridge);
    let evidence = move |ctx: Ctx<'js>, input: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let evidence = EvidenceInput::read(&input)?;
            accepted(&ctx, bridge.ask(|reply| Request::Evidence(evidence, reply)))
        })
    };
    define(natives, "evidence", evidence)?;

    let bridge = Rc::clone(&shared.bridge);
    let blocked = move |ctx: Ctx<'js>, input: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let blocked = read_blocked(&input)?;
            if bridge.ask(|reply| Request::Blocked(blocked, reply)).is_some() {
                bridge.stop();
            }
            Ok(None::<()>)
        })
    };
    define(natives, "blocked", blocked)?;

    let bridge = Rc::clone(&shared.bridge);
    let parallel_item_failed = move |ctx: Ctx<'js>, index: u32, thrown: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let (message, _) = describe::thrown(&ctx, &thrown);
            bridge.ask(|reply| Request::ParallelItemFailed(index, message, reply));
            Ok(None::<()>)
        })
    };
    define(natives, "parallelItemFailed", parallel_item_failed)
}

fn calls<'js>(natives: &Object<'js>, shared: &Shared) -> rquickjs::Result<()> {
    let bridge = Rc::clone(&shared.bridge);
    let agent = move |ctx: Ctx<'js>, prompt: Value<'js>, options: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let call = AgentCall::read(&prompt, &options)?;
            let answer = accepted(&ctx, bridge.ask(|reply| Request::Agent(call, reply)))?;
            Ok(answer.map(|CallId(id)| id))
        })
    };
    define(natives, "agent", agent)?;

    let bridge = Rc::clone(&shared.bridge);
    let check = move |ctx: Ctx<'js>, input: Value<'js>| {
        live(&ctx, &bridge, |bridge| {
            let call = CheckCall::read(&input)?;
            let answer = accepted(&ctx, bridge.ask(|reply| Request::Check(call, reply)))?;
            Ok(answer.map(|CallId(id)| id))
        })
    };
    define(natives, "check", check)
}

fn read_blocked(input: &Value<'_>) -> Read<Blocked> {
    let fields = Fields::of("blocked()", input, &["reason", "decision"])?;
    Ok(Blocked {
        reason: fields.label("reason", REASON_LIMIT)?.ok_or_else(|| fields.missing("reason", "text"))?,
        decision: fields.text("decision", DECISION_LIMIT)?,
    })
}

/// Does `work` unless the script has ended, and throws its refusals into the script.
fn live<T>(
    ctx: &Ctx<'_>,
    bridge: &Bridge,
    work: impl FnOnce(&Bridge) -> Read<Option<T>>,
) -> rquickjs::Result<Option<T>> {
    if bridge.end().is_some() {
        return Ok(None);
    }
    work(bridge).map_err(|error| match error {
        ReadError::Input(input) => Exception::throw_message(ctx, &input.to_string()),
        ReadError::Thrown(thrown) => thrown,
    })
}

/// The host's answer; a refusal becomes an ordinary error.
fn accepted<T>(ctx: &Ctx<'_>, answer: Option<Result<T, String>>) -> Read<Option<T>> {
    answer.transpose().map_err(|message| ReadError::Thrown(Exception::throw_message(ctx, &message)))
}

fn define<'js, P, F>(natives: &Object<'js>, name: &str, function: F) -> rquickjs::Result<()>
where
    F: IntoJsFunc<'js, P> + 'js,
    P: 'js,
{
    natives.set(name, Func::new(function))
}
