//! Doing the same with many things on a few threads, with the results in the order of the things.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Each thread keeps memory of its own, and more than these soon wait for the disk.
pub(crate) const THREADS_MAX: NonZero<usize> = NonZero::new(4).expect("4 is not zero");

/// As many threads as the machine runs at once, within reason.
pub(crate) fn threads() -> NonZero<usize> {
    thread::available_parallelism().map_or(NonZero::<usize>::MIN, |machine| machine.min(THREADS_MAX))
}

/// How many threads each of so many items may use itself, while as many as may be are worked on at once.
pub(crate) fn for_each_of(items: usize, threads: NonZero<usize>) -> NonZero<usize> {
    let at_once = threads.get().min(items).max(1);
    NonZero::new(threads.get() / at_once).unwrap_or(NonZero::<usize>::MIN)
}

/// Does `work` with every item on at most `threads` threads, this one included, and returns all that it yields, in the
/// order of the items. What is kept meanwhile is only what was yielded.
pub(crate) fn flat_map<T, I>(
    items: &[T],
    threads: NonZero<usize>,
    work: impl Fn(&T) -> I + Sync,
) -> Vec<I::Item>
where
    T: Sync,
    I: IntoIterator<Item: Send>,
{
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut yielded = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return yielded };
            yielded.extend(work(item).into_iter().map(|result| (index, result)));
        }
    };
    let helpers = threads.get().min(items.len()).saturating_sub(1);
    let mut yielded = thread::scope(|scope| {
        // A machine that gives no more threads makes it slower, not wrong.
        let helpers: Vec<_> =
            (0..helpers).filter_map(|_| thread::Builder::new().spawn_scoped(scope, worker).ok()).collect();
        let mut yielded = worker();
        for helper in helpers {
            yielded.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        yielded
    });
    yielded.sort_by_key(|(index, _)| *index);
    yielded.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let expected: Vec<usize> = items.iter().flat_map(|&item| vec![item; item % 3]).collect();
        for threads in [1, 2, 7, 2000] {
            let threads = NonZero::new(threads).unwrap();
            assert_eq!(flat_map(&items, threads, |&item| vec![item; item % 3]), expected, "{threads}");
            assert_eq!(flat_map(&[0; 0], threads, |&item| Some(item)), [0; 0]);
        }
    }

    #[test]
    fn threads_are_shared_out() {
        for (items, threads, each) in
            [(0, 8, 8), (1, 8, 8), (2, 8, 4), (3, 8, 2), (5, 8, 1), (100, 8, 1), (7, 1, 1)]
        {
            let found = for_each_of(items, NonZero::new(threads).unwrap());
            assert_eq!(found.get(), each, "{items} items, {threads} threads");
        }
    }

    #[test]
    fn a_panic_goes_on() {
        let work = |&item: &usize| if item == 3 { panic!("three") } else { None::<()> };
        for threads in [1, 4] {
            let threads = NonZero::new(threads).unwrap();
            let caught = std::panic::catch_unwind(|| flat_map(&[0, 1, 2, 3, 4], threads, work));
            assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "three");
        }
    }
}
