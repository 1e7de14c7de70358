//! Who watches long work, and may stop it.

use reticent_data::TableFile;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A piece of work that takes a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work<'a> {
    /// A pass over a file of so many bytes.
    Reading {
        /// The file.
        path: &'a Path,
        /// Its size.
        bytes: u64,
    },
    /// So many steps of the same kind: of a training, or models to be trained.
    Steps(u64),
    /// Something whose length is not known.
    Thinking,
}

/// A piece of work that has begun; it ends when this is dropped.
pub trait Activity {
    /// So much of it is done: bytes or steps.
    fn at(&self, done: u64);

    /// What it is at.
    fn say(&self, words: &str);

    /// How a training stands.
    fn report(&self, _: &Metrics) {}
}

/// How a training stands: one line of its `metrics.jsonl`. None of it is computed from private data beyond what the
/// certificate covers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// Steps taken.
    pub step: u64,
    /// Passes over the data so far, on average.
    pub epoch: f64,
    /// Passes over the data in all, on average.
    #[serde(skip)]
    pub epochs: f64,
    /// Spent so far; none without privacy.
    pub epsilon: Option<f64>,
    /// The loss on public validation examples.
    pub validation_loss: Option<f64>,
    /// Share of the public validation examples that are predicted right.
    pub validation_accuracy: Option<f64>,
    /// Examples per second: the expected number, from the batch size and the clock. How long private steps take is not covered by
    /// a certificate: then it is shown while they run and not stored.
    #[serde(skip)]
    pub pace: f64,
    /// The same where it may be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_per_second: Option<f64>,
}

/// Shows the progress of long work and may ask it to stop.
pub trait Watch {
    /// A piece of work begins.
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_>;

    /// Set when the work is asked to stop where nothing is lost.
    fn halt(&self) -> &AtomicBool;

    /// From now on a request to stop (Ctrl-C) is answered by [`halt`](Self::halt) rather than by the end of the process.
    fn listen(&self) {}

    /// Whether the work is asked to stop.
    fn is_halted(&self) -> bool {
        self.halt().load(Ordering::SeqCst)
    }
}

/// The activity of a pass over a table.
pub(crate) fn reading<'a>(watch: &'a dyn Watch, table: &TableFile) -> Box<dyn Activity + 'a> {
    watch.begin(Work::Reading { path: table.path(), bytes: table.size_bytes() })
}

/// Nobody watches.
#[derive(Debug, Default)]
pub struct Unwatched {
    halt: AtomicBool,
}

impl Unwatched {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }
}

struct Silent;

impl Activity for Silent {
    fn at(&self, _: u64) {}
    fn say(&self, _: &str) {}
}

impl Watch for Unwatched {
    fn begin(&self, _: Work<'_>) -> Box<dyn Activity + '_> {
        Box::new(Silent)
    }

    fn halt(&self) -> &AtomicBool {
        &self.halt
    }
}
