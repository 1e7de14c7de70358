//! The progress of long work on a terminal.

use crate::digits;
use crate::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use reticent::curator::watch::{Activity, Metrics, Watch, Work};
use std::sync::atomic::AtomicBool;

/// Shows the work of requests, where that is wanted, and hands on Ctrl-C.
pub(crate) struct Terminal {
    /// Whether bars are shown.
    pub(crate) progress: bool,
}

impl Watch for Terminal {
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_> {
        Box::new(match work {
            _ if !self.progress => Bar(None),
            Work::Reading { bytes, .. } => Bar::of_bytes(bytes),
            Work::Steps(steps) => Bar::of_steps(steps),
            Work::Thinking => Bar::stage(true),
        })
    }

    fn halt(&self) -> &AtomicBool {
        interrupt::flag()
    }

    fn listen(&self) {
        interrupt::listen();
    }
}

/// Files above this size get a bar on a terminal.
const WORTH_A_BAR: u64 = 64 << 20;

/// A bar or line that vanishes when dropped, or nothing.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(bar: ProgressBar, template: &str) -> Self {
        let style = ProgressStyle::with_template(template);
        Self(Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))))
    }

    /// The bar of a pass over so many bytes, where that is worth it.
    fn of_bytes(bytes: u64) -> Self {
        match bytes > WORTH_A_BAR {
            true => Self::new(ProgressBar::new(bytes), "{bytes} of {total_bytes} {wide_bar} {eta}"),
            false => Self(None),
        }
    }

    /// The bar of so many steps.
    fn of_steps(steps: u64) -> Self {
        let bar = ProgressBar::new(steps).with_message("training");
        let bar = Self::new(bar, "{msg} {wide_bar} {pos}/{len} {eta}");
        bar.0.iter().for_each(ProgressBar::tick);
        bar
    }

    /// What a long computation is at, in one line, where it is `wanted`.
    pub(crate) fn stage(wanted: bool) -> Self {
        if !wanted {
            return Self(None);
        }
        let bar = Self::new(ProgressBar::new_spinner(), "{spinner} {msg}");
        bar.0.iter().for_each(|bar| bar.enable_steady_tick(std::time::Duration::from_millis(120)));
        bar
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Activity for Bar {
    fn at(&self, done: u64) {
        self.0.iter().for_each(|bar| bar.set_position(done));
    }

    fn say(&self, words: &str) {
        self.0.iter().for_each(|bar| bar.set_message(words.to_owned()));
    }

    fn report(&self, metrics: &Metrics) {
        self.say(&standing(metrics));
    }
}

/// How a training stands, before its bar.
fn standing(metrics: &Metrics) -> String {
    let mut words = format!("epoch {:.0}/{:.0}", metrics.epoch, metrics.epochs);
    if let Some(loss) = metrics.validation_loss {
        words += &format!(", loss {loss:.3}");
    }
    if let Some(accuracy) = metrics.validation_accuracy {
        words += &format!(", accuracy {:.1} %", 100.0 * accuracy);
    }
    words += &format!(", {:.0}/s", metrics.pace);
    if let Some(epsilon) = metrics.epsilon {
        words += &format!(", ε {}", digits::spent(epsilon));
    }
    words
}
