//! The progress of long work on a terminal.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use reticent::curator::watch::{Activity, Watch, Work};
use reticent::data::TableFile;
use std::sync::atomic::AtomicBool;

/// The terminal as the one who watches: bars on standard error, and Ctrl-C.
pub(crate) struct Terminal {
    wanted: bool,
}

impl Terminal {
    /// With bars where they are `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { wanted }
    }
}

impl Watch for Terminal {
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_> {
        match work {
            Work::Reading { bytes, .. } => Box::new(Bar::of(bytes, self.wanted)),
            Work::Steps(steps) => Box::new(StepBar::new(steps, self.wanted)),
            Work::Thinking => Box::new(Stage::new(self.wanted)),
        }
    }

    fn halt(&self) -> &AtomicBool {
        interrupt::flag()
    }

    fn listen(&self) {
        interrupt::listen();
    }
}

impl Activity for Bar {
    fn at(&self, bytes: u64) {
        Self::at(self, bytes);
    }

    fn say(&self, _: &str) {}
}

impl Activity for StepBar {
    fn at(&self, step: u64) {
        Self::at(self, step);
    }

    fn say(&self, words: &str) {
        Self::say(self, words);
    }
}

impl Activity for Stage {
    fn at(&self, _: u64) {}

    fn say(&self, words: &str) {
        Self::say(self, words);
    }
}

/// Files above this size get a bar on a terminal.
const WORTH_A_BAR: u64 = 64 << 20;

/// A bar that vanishes when dropped, or none.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    /// The bar of a pass over `table`, where one is `wanted` and worth it.
    pub(crate) fn new(table: &TableFile, wanted: bool) -> Self {
        Self::of(table.size_bytes(), wanted)
    }

    /// The bar of a pass over so many bytes.
    fn of(size: u64, wanted: bool) -> Self {
        Self((wanted && size > WORTH_A_BAR).then(|| {
            let style = ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar} {eta}");
            ProgressBar::new(size).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }))
    }

    /// So many bytes have been read.
    pub(crate) fn at(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The progress of a training: a bar that vanishes when dropped, or none.
pub(crate) struct StepBar(Option<ProgressBar>);

impl StepBar {
    /// The bar of so many steps, where one is `wanted`.
    pub(crate) fn new(steps: u64, wanted: bool) -> Self {
        Self(wanted.then(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
            let bar = ProgressBar::new(steps)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_message("training");
            bar.tick();
            bar
        }))
    }

    /// So many steps have been taken.
    pub(crate) fn at(&self, step: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(step);
        }
    }

    /// What stands before the bar from now on.
    pub(crate) fn say(&self, words: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(words.to_owned());
        }
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// What a long computation is at: one line that vanishes when dropped, or none.
pub(crate) struct Stage(Option<ProgressBar>);

impl Stage {
    /// The line, where one is `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        Self(wanted.then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            let bar = ProgressBar::new_spinner()
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar
        }))
    }

    /// What it is at now.
    pub(crate) fn say(&self, words: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(words.to_owned());
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
