//! Threads that other frameworks lend.

use std::sync::{Mutex, PoisonError};

/// Calls work on up to so many threads at once, and returns when all of them are done.
pub type Spread = fn(usize, &(dyn Fn() + Sync));

/// Threads that work together, the caller's included.
///
/// Threads of a framework may spin while they wait for work. Others beside them would have to share the cores with those.
#[derive(Debug, Clone, Copy)]
pub struct Team {
    size: usize,
    spread: Spread,
}

impl Team {
    /// Threads of somebody else. Work that they leave is done by the caller.
    #[must_use]
    pub fn new(size: usize, spread: Spread) -> Self {
        Self { size: size.max(1), spread }
    }

    /// Threads that are begun for the work and end with it.
    #[must_use]
    pub fn own(size: usize) -> Self {
        Self::new(size, |threads, work| {
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        })
    }

    /// How many threads there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls work on as many of the threads as there are tasks, and once more by the caller.
    pub(crate) fn run(&self, tasks: usize, work: &(dyn Fn() + Sync)) {
        let threads = self.size.min(tasks);
        if threads > 1 {
            (self.spread)(threads, work);
        }
        work();
    }

    /// Has every item be taken by one of the threads.
    pub(crate) fn each<T: Send>(
        &self,
        items: impl ExactSizeIterator<Item = T> + Send,
        work: impl Fn(T) + Sync,
    ) {
        let tasks = items.len();
        let items = Mutex::new(items);
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        self.run(tasks, &|| {
            while let Some(item) = next() {
                work(item);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_item_is_taken_once_whatever_the_threads_do() {
        let spreads: [Spread; 3] =
            [|_, _| (), |_, work| work(), |threads, work| (0..2 * threads).for_each(|_| work())];
        let teams = spreads.map(|spread| Team::new(3, spread)).into_iter().chain([0, 1, 4].map(Team::own));
        for team in teams {
            let mut taken = [0usize; 10];
            let calls = AtomicUsize::new(0);
            team.each(taken.iter_mut(), |own| {
                *own += 1;
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!((taken, calls.into_inner()), ([1; 10], 10));
        }
    }

    #[test]
    fn own_threads_work_at_once() {
        let all = std::sync::Barrier::new(3);
        let waiting = AtomicUsize::new(3);
        Team::own(3).run(5, &|| {
            if waiting.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                all.wait();
            }
        });
        assert_eq!((waiting.into_inner(), Team::own(0).size()), (0, 1));
    }
}
