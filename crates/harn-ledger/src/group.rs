//! Group commit: one sync of a log stands for all appends that were waiting for it.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How often whoever is about to sync lets others run without any of them joining in, before it stops waiting for them.
const PATIENCE: usize = 300;

/// What of a log this process knows to be on stable storage, and who is bringing more of it there.
///
/// Syncs take turns. Those who come while one runs wait for it and then need one more between them, because it may have
/// begun before they wrote. Whoever runs that one first waits a moment for those who were there the last time: threads
/// that append again and again would otherwise fall into two groups, each waiting for the sync of the other.
#[derive(Debug, Default)]
pub(crate) struct Group {
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of the log that are on stable storage.
    synced: u64,
    /// Bytes of the log that somebody waits for.
    wanted: u64,
    /// Whether somebody has the turn.
    taken: bool,
    /// How many wait for the next sync, whoever will run it included.
    waiting: usize,
    /// How many are likely to join in.
    expected: usize,
}

/// Something is not known to be on stable storage: the sync that was to bring it there failed with this error, or an
/// earlier one did.
#[derive(Debug)]
pub(crate) struct NotSynced(pub(crate) Option<io::Error>);

/// The right to sync, given back when this is dropped.
pub(crate) struct Turn<'a>(&'a Group);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().taken = false;
        self.0.turn.notify_all();
    }
}

impl Group {
    /// Returns once the first `end` bytes are on stable storage, which `sync` is to bring there if nobody else has. It is
    /// told how many bytes are there. Nothing is synced once `refused`.
    pub(crate) fn sync_up_to(
        &self,
        end: u64,
        refused: impl Fn() -> bool,
        sync: impl FnOnce(u64) -> io::Result<()>,
    ) -> Result<(), NotSynced> {
        let mut state = self.lock();
        if state.synced >= end {
            return Ok(());
        }
        state.wanted = state.wanted.max(end);
        state.waiting += 1;
        while state.taken && state.synced < end {
            state = self.wait(state);
        }
        if state.synced >= end {
            return Ok(());
        }
        let _turn = self.take_turn(&mut state);
        // After a failed sync another one would succeed over bytes that were never written.
        if refused() {
            state.waiting -= 1;
            drop(state);
            return Err(NotSynced(None));
        }
        state = self.gather(state);
        let (synced, wanted, group) = (state.synced, state.wanted, std::mem::take(&mut state.waiting));
        drop(state);
        let result = sync(synced);
        let mut state = self.lock();
        state.expected = group + state.waiting;
        if result.is_ok() {
            state.synced = wanted;
        }
        drop(state);
        result.map_err(|source| NotSynced(Some(source)))
    }

    /// Waits for the turn, for a sync that concerns more than the end of the log.
    pub(crate) fn turn(&self) -> (Turn<'_>, u64) {
        let mut state = self.lock();
        while state.taken {
            state = self.wait(state);
        }
        let synced = state.synced;
        (self.take_turn(&mut state), synced)
    }

    fn take_turn(&self, state: &mut State) -> Turn<'_> {
        state.taken = true;
        Turn(self)
    }

    /// Lets others join in, if there were others the last time.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let mut left = PATIENCE;
        while state.waiting < state.expected && left > 0 {
            let before = state.waiting;
            drop(state);
            thread::yield_now();
            state = self.lock();
            left = if state.waiting > before { PATIENCE } else { left - 1 };
        }
        state
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.turn.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing panics while the state is half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// Lets others run until so many wait for the next sync.
    fn until_waiting(group: &Group, count: usize) {
        while group.lock().waiting < count {
            thread::yield_now();
        }
    }

    #[test]
    fn one_sync_stands_for_all_that_waited() {
        let (group, syncs) = (Group::default(), AtomicUsize::new(0));
        let join = |end, others: usize| {
            group.sync_up_to(
                end,
                || false,
                |_| {
                    syncs.fetch_add(1, Ordering::Relaxed);
                    until_waiting(&group, others);
                    Ok(())
                },
            )
        };
        thread::scope(|scope| {
            let first = scope.spawn(|| join(10, 3));
            while !group.lock().taken {
                thread::yield_now();
            }
            let rest = [20, 30, 40].map(|end| scope.spawn(move || join(end, 0)));
            assert!(first.join().unwrap().is_ok());
            for other in rest {
                assert!(other.join().unwrap().is_ok());
            }
        });
        assert_eq!(syncs.load(Ordering::Relaxed), 2);
        assert_eq!(group.turn().1, 40);
        // What is there needs no sync.
        assert!(join(40, 0).is_ok());
        assert_eq!(syncs.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_sync_that_came_too_early_does_not_count() {
        let group = Group::default();
        let told = Mutex::new(Vec::new());
        for end in [10, 20] {
            let sync = |synced| {
                told.lock().unwrap().push(synced);
                Ok(())
            };
            group.sync_up_to(end, || false, sync).unwrap();
        }
        assert_eq!(*told.lock().unwrap(), [0, 10]);
    }

    #[test]
    fn nobody_syncs_after_a_sync_failed() {
        let (group, failed, syncs) = (&Group::default(), AtomicBool::new(false), &AtomicUsize::new(0));
        let failed = &failed;
        let refused = move || failed.load(Ordering::Relaxed);
        let fail = move |_| {
            syncs.fetch_add(1, Ordering::Relaxed);
            until_waiting(group, 2);
            failed.store(true, Ordering::Relaxed);
            Err(io::Error::other("broken"))
        };
        let results = thread::scope(|scope| {
            let threads =
                [10, 20, 30].map(|end| scope.spawn(move || group_result(group, end, refused, fail)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(syncs.load(Ordering::Relaxed), 1);
        assert_eq!(results.iter().filter(|told| told.as_deref() == Some("broken")).count(), 1);
        assert_eq!(results.iter().filter(|told| told.is_none()).count(), 2);
    }

    /// What the machine said, of a sync that failed.
    fn group_result(
        group: &Group,
        end: u64,
        refused: impl Fn() -> bool,
        sync: impl FnOnce(u64) -> io::Result<()>,
    ) -> Option<String> {
        group.sync_up_to(end, refused, sync).unwrap_err().0.map(|error| error.to_string())
    }

    #[test]
    fn a_panic_gives_the_turn_back() {
        let group = Group::default();
        let panics = || group.sync_up_to(10, || false, |_| panic!("at the sync"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        group.sync_up_to(10, || false, |_| Ok(())).unwrap();
        drop(group.turn());
        assert_eq!(group.turn().1, 10);
    }
}
