use super::{ReferencePlan, Store};
use crate::AttackError;
use rayon::ThreadPoolBuilder;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// One of several independent jobs, each with the references whose number leaves the remainder `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Below `of`.
    pub index: usize,
    /// How many jobs there are.
    pub of: usize,
}

impl Job {
    /// All references in one job.
    pub const WHOLE: Self = Self { index: 0, of: 1 };
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobProgress {
    /// References of the job that are on disk.
    pub finished: usize,
    /// References of the job.
    pub total: usize,
    /// The reference that was just begun or finished.
    pub current: usize,
}

/// How a job runs. None of it changes a repeatable reference.
#[derive(Clone, Copy)]
pub struct JobSettings<'a> {
    /// Models at a time, each on a thread of its own.
    pub threads: usize,
    /// Called at the beginning and end of every reference, on the calling thread.
    pub progress: &'a dyn Fn(JobProgress),
    /// Once set, the job stops before the next step of every model.
    pub halt: &'a AtomicBool,
}

/// What a job did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// The references that it trained, in order.
    pub trained: Vec<usize>,
    /// How many were there already.
    pub present: usize,
    /// How many are left, after an interruption.
    pub left: usize,
}

enum News {
    Begun(usize),
    Done(usize),
    Failed(usize, AttackError),
}

impl ReferencePlan<'_> {
    /// Trains the references of a job that are missing, many at once. Files that cannot be used are replaced.
    ///
    /// A reference that is interrupted begins again next time; those that are finished stay.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for a job or threads without meaning; [`AttackError::Reference`] when one cannot be
    /// trained or stored. What was finished before is kept.
    pub fn fit(&self, store: &Store, job: Job, run: JobSettings<'_>) -> Result<JobReport, AttackError> {
        if job.index >= job.of {
            let remedy = format!("give a number below the number of jobs, {}", job.of);
            return Err(AttackError::invalid("job", job.index, remedy));
        }
        if run.threads == 0 || run.threads > 4096 {
            return Err(AttackError::invalid("threads", run.threads, "give a number from 1 to 4096"));
        }
        let own: Vec<usize> = (job.index..self.len()).step_by(job.of).collect();
        let todo: Vec<usize> =
            own.iter().copied().filter(|index| !matches!(store.load(self, *index), Ok(Some(_)))).collect();
        let present = own.len() - todo.len();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (mut trained, mut failure) = (Vec::new(), None);
        std::thread::scope(|scope| {
            let (sender, news) = channel();
            let (todo, next, failed) = (&todo, &next, &failed);
            for _ in 0..run.threads.min(todo.len()) {
                let sender = sender.clone();
                let halt = move || run_is_over(run.halt, failed);
                let spawned = std::thread::Builder::new()
                    .spawn_scoped(scope, move || self.work(store, todo, next, &halt, &sender));
                if let Err(error) = spawned {
                    failed.store(true, Ordering::Relaxed);
                    failure = Some(AttackError::Thread(error));
                }
            }
            drop(sender);
            for item in news {
                let current = match item {
                    News::Begun(index) => index,
                    News::Done(index) => {
                        trained.push(index);
                        index
                    }
                    News::Failed(_, AttackError::Interrupted) => continue,
                    News::Failed(index, error) => {
                        failed.store(true, Ordering::Relaxed);
                        failure.get_or_insert(AttackError::Reference { index, error: Box::new(error) });
                        continue;
                    }
                };
                let finished = present + trained.len();
                (run.progress)(JobProgress { finished, total: own.len(), current });
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        trained.sort_unstable();
        let left = todo.len() - trained.len();
        Ok(JobReport { trained, present, left })
    }

    /// One thread: a reference after the other. All parallel work inside a model stays on this thread's own pool of
    /// one, so that models do not wait for each other.
    fn work(
        &self,
        store: &Store,
        todo: &[usize],
        next: &AtomicUsize,
        halt: &(dyn Fn() -> bool + Sync),
        news: &Sender<News>,
    ) {
        // Nobody listens only when the job is over.
        let tell = |item: News| news.send(item).unwrap_or(());
        let pool = match ThreadPoolBuilder::new().num_threads(1).build() {
            Ok(pool) => pool,
            Err(error) => {
                let first = todo.first().copied().unwrap_or(0);
                return tell(News::Failed(first, AttackError::Thread(io::Error::other(error))));
            }
        };
        while !halt() {
            let Some(index) = todo.get(next.fetch_add(1, Ordering::Relaxed)).copied() else { return };
            tell(News::Begun(index));
            match pool.install(|| self.train(store, index, halt)) {
                Ok(()) => tell(News::Done(index)),
                Err(error) => return tell(News::Failed(index, error)),
            }
        }
    }

    fn train(
        &self,
        store: &Store,
        index: usize,
        halt: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), AttackError> {
        let mask = self.mask(index);
        let inside: Vec<usize> = (0..mask.len()).filter(|record| mask[*record]).collect();
        let artifact = self.learner.fit(&inside, &self.training_key(index), &self.settings.wanted, halt)?;
        artifact.check(mask.len())?;
        store.save(self, index, &mask, &artifact)
    }
}

fn run_is_over(halt: &AtomicBool, failed: &AtomicBool) -> bool {
    halt.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed)
}
