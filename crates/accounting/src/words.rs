//! Events in words.

use crate::kind::of;
use reticent_core::Event;

/// How numbers are written.
#[derive(Debug, Clone, Copy)]
pub struct Digits {
    /// With all the digits they were given with.
    pub exactly: fn(f64) -> String,
    /// With a few.
    pub brief: fn(f64) -> String,
}

impl Digits {
    pub(crate) fn exactly(&self, value: f64) -> String {
        (self.exactly)(value)
    }

    /// How far integers move, where that is known and not 1.
    pub(crate) fn moved(&self, sensitivity: Option<f64>) -> String {
        match sensitivity {
            Some(own) if own != 1.0 => format!(" (sensitivity {})", (self.brief)(own)),
            _ => String::new(),
        }
    }
}

/// Its name and numbers: `gaussian 1.1`, `poisson_sampled 0.01 (gaussian 1)`.
pub fn named(event: &Event, digits: &Digits) -> String {
    of(event, |kind| kind.named(digits))
}

/// One event as a sentence without a full stop.
pub fn sentence(event: &Event, digits: &Digits) -> String {
    of(event, |kind| kind.sentence(digits))
}

/// Several events as a sentence.
pub(crate) fn several(events: &[Event], how: &str, digits: &Digits) -> String {
    match events {
        [] => format!("nothing, {how}"),
        [first] => sentence(first, digits),
        [first, rest @ ..] => {
            format!("{} events {how}, the first: {}", rest.len() + 1, sentence(first, digits))
        }
    }
}
