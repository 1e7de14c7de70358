//! The threads of an engine.

use crate::TrainError;

/// Settings that cannot change what is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Examples in a chunk of one thread, at least 1; chosen by memory if absent.
    pub chunk: Option<usize>,
}

impl Default for Resources {
    fn default() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get), chunk: None }
    }
}

impl Resources {
    /// One thread.
    pub const SINGLE: Self = Self { threads: 1, chunk: None };

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for no threads, more than 4096, or an empty chunk.
    pub fn check(&self) -> Result<(), TrainError> {
        if self.threads == 0 || self.threads > 4096 {
            return Err(TrainError::invalid("threads", self.threads, "give a number from 1 to 4096"));
        }
        if self.chunk == Some(0) {
            return Err(TrainError::invalid("chunk", 0, "give at least 1"));
        }
        Ok(())
    }
}

/// The threads that an engine computes on: a pool of its own, or the caller's thread alone.
pub(crate) struct Threads(Option<rayon::ThreadPool>);

impl Threads {
    /// As many threads as asked for; one is the caller's own.
    pub(crate) fn new(count: usize) -> Result<Self, TrainError> {
        if count == 1 { Ok(Self(None)) } else { Self::pool(count) }
    }

    /// A pool, also for one thread: work that is divided inside stays in it.
    pub(crate) fn pool(count: usize) -> Result<Self, TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("engine-{i}"));
        let pool = pool.build().map_err(|error| TrainError::Device(format!("no threads: {error}")))?;
        Ok(Self(Some(pool)))
    }

    /// Whether there is only the caller's thread.
    pub(crate) fn is_single(&self) -> bool {
        self.0.as_ref().is_none_or(|pool| pool.current_num_threads() == 1)
    }

    /// Runs work on these threads: whatever it divides by rayon's means is divided among them.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Lets up to `tasks` threads call `work` at once.
    pub(crate) fn spread(&self, tasks: usize, work: &(dyn Fn() + Sync)) {
        match &self.0 {
            Some(pool) if tasks > 1 => pool.scope(|scope| {
                for _ in 1..tasks.min(pool.current_num_threads()) {
                    scope.spawn(|_| work());
                }
                work();
            }),
            _ => work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    #[test]
    fn work_stays_on_the_threads_it_was_given() {
        let here = std::thread::current().id();
        let seen = |threads: &Threads, tasks: usize| {
            let seen = Mutex::new(BTreeSet::new());
            threads.spread(tasks, &|| {
                seen.lock().unwrap().insert(format!("{:?}", std::thread::current().id()));
                std::thread::sleep(std::time::Duration::from_millis(5));
            });
            seen.into_inner().unwrap()
        };
        let single = Threads::new(1).unwrap();
        assert_eq!(seen(&single, 8), BTreeSet::from([format!("{here:?}")]));
        assert_eq!(single.run(|| std::thread::current().id()), here);
        let three = Threads::new(3).unwrap();
        assert!(seen(&three, 8).len() <= 3 && !three.is_single());
        assert_eq!(three.run(rayon::current_num_threads), 3);
    }
}
