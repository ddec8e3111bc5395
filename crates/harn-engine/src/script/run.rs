//! Runs a workflow: the engine on a thread of its own, the host on the caller's.

use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;

use super::bridge::{Bridge, serve};
use super::engine_thread::{self, ThreadFailed};
use super::host::{Host, StopFlag};
use super::interpreter::interpret;
use super::{Bundle, Contexts, Options, ScriptEnd};

/// Evaluates `bundle`, calls its default export with `ctx`, and drives it until it ends.
///
/// Returns how the script ended, or the host's own failure, which ends the script at once. When the host fails or
/// panics its stop flag is set.
pub fn run<H: Host>(
    bundle: &Bundle,
    contexts: &Contexts,
    options: &Options,
    host: &mut H,
) -> Result<ScriptEnd, H::Fatal> {
    let stop = host.stop_flag();
    thread::scope(|scope| {
        let (requests, inbox) = mpsc::channel();
        let bridge_stop = stop.clone();
        let script = move || interpret(bundle, contexts, options, Bridge::new(requests, bridge_stop));
        let script = match engine_thread::spawn(scope, options.granted_stack(), script) {
            Ok(script) => script,
            Err(ThreadFailed(error)) => return Ok(ScriptEnd::EngineFailed { message: error.to_string() }),
        };
        // The script may be in an endless loop when the host fails: stop it before waiting for it.
        let mut on_failure = StopOnDrop(Some(stop));
        let served = serve(host, &inbox);
        if served.is_ok() {
            on_failure.0 = None;
        }
        drop(on_failure);
        drop(inbox);
        let end = script.join().unwrap_or_else(|panic| resume_unwind(panic));
        served.map(|()| end)
    })
}

/// Sets the flag when it is dropped, also by a panic.
struct StopOnDrop(Option<StopFlag>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(stop) = &self.0 {
            stop.set();
        }
    }
}
