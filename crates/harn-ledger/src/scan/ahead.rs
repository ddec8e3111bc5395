//! Taking the pieces of a long log apart on several threads, ahead of the one that needs them in order.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::piece::{Piece, Pieces};

/// How many pieces may wait for their turn, for each thread: enough to keep it busy, and little memory.
const AHEAD: usize = 4;

/// Pieces on their way from the log to the thread that needs them.
struct Belt<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
    opening: &'a str,
    room: usize,
}

struct State<'a> {
    pieces: Pieces<'a>,
    /// The pieces that were read and not yet used, in order; `None` while somebody takes one apart.
    waiting: VecDeque<Option<Piece>>,
    /// How many pieces were used.
    used: usize,
    /// Nothing is left to read, or nobody wants it any more.
    over: bool,
    failed: Option<io::Error>,
}

/// Calls `take` with every piece, in order and taken apart, until it says that this is enough; returns what it said.
/// Otherwise `take` returns the pieces that it is done with.
///
/// `threads` counts the calling thread, which lends a hand whenever it would have to wait.
pub(super) fn for_each_piece<'a, S>(
    pieces: Pieces<'a>,
    opening: &'a str,
    threads: usize,
    mut take: impl FnMut(Piece) -> Result<Vec<Piece>, S>,
) -> io::Result<(Pieces<'a>, Result<(), S>)> {
    let state = State { pieces, waiting: VecDeque::new(), used: 0, over: false, failed: None };
    let belt = Belt { state: Mutex::new(state), changed: Condvar::new(), opening, room: AHEAD * threads };
    let result = thread::scope(|scope| {
        // Also when `take` panics, so that nobody waits for ever.
        let _end = End(&belt);
        for _ in 1..threads {
            // Without another thread it only takes longer.
            drop(thread::Builder::new().spawn_scoped(scope, || belt.work()));
        }
        let mut done = Vec::new();
        while let Some(piece) = belt.next(done) {
            done = take(piece)?;
        }
        Ok(())
    });
    let state = belt.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.failed {
        Some(error) => Err(error),
        None => Ok((state.pieces, result)),
    }
}

struct End<'b, 'a>(&'b Belt<'a>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

impl<'a> Belt<'a> {
    /// Takes pieces apart as long as there are any.
    fn work(&self) {
        let mut state = self.lock();
        while !state.over {
            state =
                if state.waiting.len() < self.room { self.take_one_apart(state) } else { self.wait(state) };
        }
    }

    /// The next piece in order, in exchange for those that are done with.
    fn next(&self, done: Vec<Piece>) -> Option<Piece> {
        let mut state = self.lock();
        for piece in done {
            state.pieces.reuse(piece);
        }
        loop {
            if let Some(Some(_)) = state.waiting.front() {
                state.used += 1;
                // The front was waiting for this thread, and everybody else for room.
                self.changed.notify_all();
                return state.waiting.pop_front().flatten();
            }
            if !state.over && state.waiting.len() < self.room {
                state = self.take_one_apart(state);
            } else if state.waiting.is_empty() {
                return None;
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Reads the next piece and takes it apart, without keeping others from their pieces meanwhile.
    fn take_one_apart<'b>(&'b self, mut state: MutexGuard<'b, State<'a>>) -> MutexGuard<'b, State<'a>> {
        let mut piece = match state.pieces.next() {
            Ok(Some(piece)) => piece,
            ended => {
                state.over = true;
                state.failed = ended.err();
                self.changed.notify_all();
                return state;
            }
        };
        let number = state.used + state.waiting.len();
        state.waiting.push_back(None);
        drop(state);
        piece.take_apart(self.opening);
        let mut state = self.lock();
        // Nobody uses a piece before this one is put in its place.
        let place = number - state.used;
        state.waiting[place] = Some(piece);
        self.changed.notify_all();
        state
    }

    fn wait<'b>(&'b self, state: MutexGuard<'b, State<'a>>) -> MutexGuard<'b, State<'a>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// A panic while the lock is held is one of the machine's reads, and changes nothing by halves.
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
