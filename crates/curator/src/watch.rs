//! Progress of long work, and its cancellation.

use reticent_data::Table;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// A long piece of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work<'a> {
    /// A pass over a table of so many bytes.
    Reading {
        /// The table's name: its path, if it is a file.
        table: &'a str,
        /// Its size.
        bytes: u64,
    },
    /// A number of equal steps: of a training, or models to be trained.
    Steps(u64),
    /// Work of unknown length.
    Thinking,
}

/// Work in progress; it ends when this is dropped.
pub trait Activity {
    /// Sets the progress, in bytes or steps.
    fn at(&self, done: u64);

    /// Sets the label of the progress.
    fn say(&self, words: &str);

    /// Shows the state of a training.
    fn report(&self, _: &Metrics) {}
}

/// The state of a training: one line of its `metrics.jsonl`. None of it is computed from private data beyond what the
/// certificate covers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// Steps taken.
    pub step: u64,
    /// Expected epochs so far.
    pub epoch: f64,
    /// Expected epochs in total.
    #[serde(skip)]
    pub epochs: f64,
    /// The ε spent so far; none without privacy.
    pub epsilon: Option<f64>,
    /// The loss on public validation examples.
    pub validation_loss: Option<f64>,
    /// Accuracy on public validation examples.
    pub validation_accuracy: Option<f64>,
    /// Accuracy on held-out units with noise, which the certificate covers; none where the run does not end by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_accuracy: Option<f64>,
    /// What the noise may have added to it or taken from it, with 95 % confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_doubt: Option<f64>,
    /// The root mean squared error on held-out units with noise, in the label's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_rmse: Option<f64>,
    /// Where it lies without the noise, with 95 % confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_rmse_interval: Option<[f64; 2]>,
    /// The clipping norm of the next step, with quantile clipping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipping_norm: Option<f64>,
    /// Examples per second: the expected number, from the batch size and the clock. How long private steps take is not covered by
    /// a certificate: it is shown while they run and not stored.
    #[serde(skip)]
    pub pace: f64,
    /// The same, if it may be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_per_second: Option<f64>,
}

/// Displays the progress of long work and may cancel it.
pub trait Watch {
    /// Starts the display of a piece of work.
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_>;

    /// Set when the work should stop at the next safe point.
    fn halt(&self) -> &AtomicBool;

    /// From now on a request to stop (Ctrl-C) is answered by [`halt`](Self::halt) rather than by the end of the process.
    fn listen(&self) {}

    /// Whether the work should stop.
    fn is_halted(&self) -> bool {
        self.halt().load(Ordering::SeqCst)
    }
}

/// The activity of a pass over a table.
pub(crate) fn reading<'a>(watch: &'a dyn Watch, table: &dyn Table) -> Box<dyn Activity + 'a> {
    watch.begin(Work::Reading { table: table.name(), bytes: table.size_bytes() })
}

/// No display of progress.
#[derive(Debug, Default)]
pub struct Unwatched {
    halt: AtomicBool,
}

impl Unwatched {
    /// No display.
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
