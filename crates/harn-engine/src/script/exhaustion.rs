//! Notices that a script ran out of memory or stack, also when the script catches the error.
//!
//! Where the limit lies depends on the machine, so a script that goes on after it would not replay. The engine
//! throws ordinary, catchable errors for both, and `null` when not even the error object fits into memory. Two of its
//! hooks let us see them first:
//!
//! - Before an exception reaches a `catch`, the engine asks `Error.prepareStackTrace` for the text of the stack. The
//!   prelude puts [`observe`] there and takes the name away, so that a script cannot replace it. It is native code,
//!   which the engine calls without using more of its own stack or memory.
//! - Memory that ends inside the engine's own promise code rejects a promise without passing a `catch`, and may be
//!   free again before anyone can look. So [`watch`] looks whether some is left when a promise is made or acted on.

use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::object::Property;
use rquickjs::promise::PromiseHookType;
use rquickjs::{Array, ArrayBuffer, Ctx, Exception, Function, Object, Runtime, Value};

use super::bridge::{Bridge, Exhausted};

/// A script that could not get this many bytes more is out of memory. The engine's limit is this much above the
/// script's, and no single step of its promise code needs as much.
pub(super) const RESERVE: usize = 64 * 1024;

static PAD: [u8; RESERVE] = [0; RESERVE];

/// Module names that are ours; their lines are left out of stacks.
const OWN_NAMES: &str = "harn:";

/// Looks at the memory whenever a promise is made, and before its reactions run.
pub(super) fn watch(runtime: &Runtime, bridge: Rc<Bridge>) {
    runtime.set_promise_hook(Some(Box::new(move |ctx, step, _, _| {
        let looks = matches!(step, PromiseHookType::Init | PromiseHookType::Before);
        if looks && bridge.end().is_none() && !has_reserve(&ctx) {
            // The engine collects cycles by growth, not by need: what is left may be garbage.
            ctx.run_gc();
            if !has_reserve(&ctx) {
                bridge.exhaust(Exhausted::Memory);
            }
        }
    })));
}

/// Looks at an exception before the script can catch it: notes exhaustion, and gives an error its `stack`.
///
/// It returns nothing, and that matters: only then does the engine call it again for an exception that is not an
/// error object, such as that `null`.
pub(super) fn observe<'js>(bridge: &Bridge, ctx: &Ctx<'js>, thrown: &Value<'js>, frames: &Value<'js>) {
    if bridge.end().is_some() {
        return;
    }
    note(bridge, ctx, thrown);
    if let Some(error) = thrown.as_object().filter(|_| thrown.is_error())
        && add_stack(error, frames).is_err()
    {
        ctx.catch();
    }
}

/// Notes exhaustion if `thrown` is a sign of it.
pub(super) fn note<'js>(bridge: &Bridge, ctx: &Ctx<'js>, thrown: &Value<'js>) {
    let message =
        thrown.as_object().cloned().and_then(Exception::from_object).and_then(|error| error.message());
    match message.as_deref() {
        Some("Maximum call stack size exceeded") => bridge.exhaust(Exhausted::Stack),
        Some("out of memory") => bridge.exhaust(Exhausted::Memory),
        _ => {
            if !has_reserve(ctx) {
                bridge.exhaust(Exhausted::Memory);
            }
        }
    }
}

fn has_reserve(ctx: &Ctx<'_>) -> bool {
    let got = ArrayBuffer::new_copy(ctx.clone(), PAD).is_ok();
    if !got {
        ctx.catch();
    }
    got
}

fn add_stack<'js>(error: &Object<'js>, frames: &Value<'js>) -> rquickjs::Result<()> {
    // The prelude removes the inherited accessor, so this is about the error itself.
    if error.contains_key("stack")? {
        return Ok(());
    }
    let Some(frames) = frames.as_array() else { return Ok(()) };
    error.prop("stack", Property::from(stack(frames)?).writable().configurable())
}

fn stack(frames: &Array<'_>) -> rquickjs::Result<String> {
    let mut lines = Vec::new();
    for frame in frames.iter::<Object<'_>>() {
        let frame = frame?;
        let Some(file) = ask::<Option<String>>(&frame, "getFileName")? else { continue };
        if file.starts_with(OWN_NAMES) {
            continue;
        }
        let name = ask::<Option<String>>(&frame, "getFunctionName")?.filter(|name| !name.is_empty());
        let line: i32 = ask(&frame, "getLineNumber")?;
        let column: i32 = ask(&frame, "getColumnNumber")?;
        lines.push(format!("at {} ({file}:{line}:{column})", name.as_deref().unwrap_or("<anonymous>")));
    }
    Ok(lines.join("\n"))
}

fn ask<'js, T: rquickjs::FromJs<'js>>(frame: &Object<'js>, method: &str) -> rquickjs::Result<T> {
    frame.get::<_, Function<'js>>(method)?.call((This(frame.clone()),))
}
