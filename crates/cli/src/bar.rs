//! The progress of long work on standard error: bars on a terminal, plain lines elsewhere.

use crate::digits;
use crate::interrupt;
use crate::screen;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use reticent::curator::watch::{Activity, Metrics, Watch, Work};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shows the progress of requests, if wanted, and passes Ctrl-C on to them.
pub(crate) struct Terminal {
    /// Whether progress is shown.
    pub(crate) progress: bool,
}

impl Watch for Terminal {
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_> {
        if !self.progress {
            return Box::new(Silent);
        }
        match work {
            Work::Reading { bytes, .. } if bytes <= WORTH_A_BAR => Box::new(Silent),
            Work::Reading { bytes, .. } => shown(Length::Bytes(bytes), "reading"),
            Work::Steps(steps) => shown(Length::Steps(steps), "training"),
            Work::Thinking => shown(Length::Unknown, ""),
        }
    }

    fn halt(&self) -> &AtomicBool {
        interrupt::flag()
    }

    fn listen(&self) {
        interrupt::listen();
    }
}

/// Reading a file above this size shows progress.
const WORTH_A_BAR: u64 = 64 << 20;

/// How much work there is.
#[derive(Debug, Clone, Copy)]
enum Length {
    Bytes(u64),
    Steps(u64),
    Unknown,
}

/// The progress of one computation whose length is unknown, if it is `wanted`.
pub(crate) fn stage(wanted: bool) -> Box<dyn Activity> {
    if wanted { shown(Length::Unknown, "") } else { Box::new(Silent) }
}

/// A bar on a terminal, lines elsewhere.
fn shown(length: Length, words: &str) -> Box<dyn Activity> {
    match screen::has_bars() {
        true => Box::new(Bar::new(length, words)),
        false => Box::new(Lines::new(length, words, PAUSE, eprint_line)),
    }
}

/// No progress.
struct Silent;

impl Activity for Silent {
    fn at(&self, _: u64) {}
    fn say(&self, _: &str) {}
}

/// A bar or spinner that vanishes when dropped.
struct Bar(ProgressBar);

impl Bar {
    fn new(length: Length, words: &str) -> Self {
        let (bar, template) = match length {
            Length::Bytes(bytes) => (ProgressBar::new(bytes), "{bytes} of {total_bytes} {wide_bar} {eta}"),
            Length::Steps(steps) => (ProgressBar::new(steps), "{msg} {wide_bar} {pos}/{len} {eta}"),
            Length::Unknown => (ProgressBar::new_spinner(), "{spinner} {msg}"),
        };
        let style = ProgressStyle::with_template(template);
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(words.to_owned());
        match length {
            Length::Unknown => bar.enable_steady_tick(Duration::from_millis(120)),
            _ => bar.tick(),
        }
        Self(bar)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Activity for Bar {
    fn at(&self, done: u64) {
        self.0.set_position(done);
    }

    fn say(&self, words: &str) {
        self.0.set_message(words.to_owned());
    }

    fn report(&self, metrics: &Metrics) {
        self.say(&format!("{}, {:.0}/s", standing(metrics), metrics.pace));
    }
}

/// The time between two lines, and before the first one.
const PAUSE: Duration = Duration::from_secs(5);

fn eprint_line(line: &str) {
    use std::io::Write;
    // Progress that cannot be written is not worth ending the work.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Plain lines every few seconds, without control characters: for logs. Work that ends sooner prints none. A line does not
/// hold the pace of a training: how long private steps take is not covered by a certificate.
struct Lines {
    state: Arc<Mutex<(u64, String)>>,
    /// Dropped first: the thread then ends.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn new(length: Length, words: &str, pause: Duration, print: fn(&str)) -> Self {
        let state = Arc::new(Mutex::new((0, words.to_owned())));
        let (stop, stopped) = channel();
        let seen = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let (done, words) = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
                print(&line(length, done, &words));
            }
        });
        Self { state, stop: Some(stop), thread: thread.ok() }
    }

    fn set(&self, change: impl FnOnce(&mut (u64, String))) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Activity for Lines {
    fn at(&self, done: u64) {
        self.set(|state| state.0 = done);
    }

    fn say(&self, words: &str) {
        self.set(|state| state.1 = words.to_owned());
    }

    fn report(&self, metrics: &Metrics) {
        self.say(&standing(metrics));
    }
}

/// `progress: training: 120 of 600 steps (20 %)`.
fn line(length: Length, done: u64, words: &str) -> String {
    let share = |total: u64| 100 * done / total.max(1);
    let words = if words.is_empty() { "working" } else { words };
    match length {
        Length::Bytes(total) => {
            format!("progress: {words}: {} of {} ({} %)", HumanBytes(done), HumanBytes(total), share(total))
        }
        Length::Steps(total) => format!("progress: {words}: {done} of {total} ({} %)", share(total)),
        Length::Unknown => format!("progress: {words}"),
    }
}

/// The state of a training in a few words.
fn standing(metrics: &Metrics) -> String {
    let mut words = format!("epoch {:.0}/{:.0}", metrics.epoch, metrics.epochs);
    if let Some(loss) = metrics.validation_loss {
        words += &format!(", loss {loss:.3}");
    }
    if let Some(accuracy) = metrics.validation_accuracy {
        words += &format!(", accuracy {:.1} %", 100.0 * accuracy);
    }
    if let Some(accuracy) = metrics.held_out_accuracy {
        words += &format!(", held-out accuracy {:.1} %", 100.0 * accuracy);
        if let Some(doubt) = metrics.held_out_doubt {
            words += &format!(" ± {:.1} %", 100.0 * doubt);
        }
    }
    if let Some(rmse) = metrics.held_out_rmse {
        words += &format!(", held-out rmse {}", digits::brief(rmse));
        if let Some([low, high]) = metrics.held_out_rmse_interval {
            words += &format!(" ({} to {})", digits::brief(low), digits::brief(high));
        }
    }
    if let Some(epsilon) = metrics.epsilon {
        words += &format!(", ε {}", digits::spent(epsilon));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    #[test]
    fn lines_are_printed_while_the_work_lasts_and_not_after_it() {
        let lines = Lines::new(Length::Steps(600), "training", Duration::from_millis(5), |line| {
            PRINTED.lock().unwrap().push(line.to_owned());
        });
        lines.at(120);
        while PRINTED.lock().unwrap().len() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(lines);
        let printed = PRINTED.lock().unwrap().clone();
        assert_eq!(printed.last().unwrap(), "progress: training: 120 of 600 (20 %)");
        assert!(printed.iter().all(|line| !line.contains(char::is_control)), "{printed:?}");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(PRINTED.lock().unwrap().len(), printed.len());
    }

    #[test]
    fn short_work_prints_nothing() {
        drop(Lines::new(Length::Unknown, "", PAUSE, |line| panic!("{line}")));
        assert_eq!(line(Length::Unknown, 0, ""), "progress: working");
        assert_eq!(
            line(Length::Bytes(2048), 1024, "reading"),
            "progress: reading: 1.00 KiB of 2.00 KiB (50 %)"
        );
    }
}
