//! The progress of a pass over a large file.

use indicatif::{ProgressBar, ProgressStyle};
use reticent::data::TableFile;

/// Files above this size get a bar on a terminal.
const WORTH_A_BAR: u64 = 64 << 20;

/// A bar that vanishes when dropped, or none.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    /// The bar of a pass over `table`, where one is `wanted` and worth it.
    pub(crate) fn new(table: &TableFile, wanted: bool) -> Self {
        Self((wanted && table.size_bytes() > WORTH_A_BAR).then(|| {
            let style = ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar} {eta}");
            ProgressBar::new(table.size_bytes())
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
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
