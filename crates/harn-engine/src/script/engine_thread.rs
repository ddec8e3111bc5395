//! A thread whose stack is large enough for the engine's own stack limit.

use std::io;
use std::panic::resume_unwind;
use std::thread;

/// What our own frames and the engine's native code may use beyond the limit that the engine watches.
const MARGIN: usize = 2 * 1024 * 1024;

/// The thread could not be started.
pub(super) struct ThreadFailed(pub(super) io::Error);

/// Runs `work` on a fresh thread with room for `stack_limit` bytes of engine stack, and waits for it.
///
/// A panic in `work` goes on in the caller.
pub(super) fn run<T: Send>(stack_limit: usize, work: impl FnOnce() -> T + Send) -> Result<T, ThreadFailed> {
    thread::scope(|scope| {
        let started = spawn(scope, stack_limit, work)?;
        Ok(started.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Starts `work` on such a thread.
pub(super) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    stack_limit: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<thread::ScopedJoinHandle<'scope, T>, ThreadFailed> {
    thread::Builder::new()
        .name("workflow".to_owned())
        .stack_size(stack_limit + MARGIN)
        .spawn_scoped(scope, work)
        .map_err(ThreadFailed)
}
