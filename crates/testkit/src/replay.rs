//! Record and replay: does the data reach an answer only through its mechanisms?
//!
//! A query runs once on a data set through a [`Recorder`], which keeps the input and output of every
//! release. It runs again on a neighbouring data set through a [`Replayer`], which hands back the
//! same outputs. A private query then makes the same releases in the same order with the same
//! parameters, each input moves by at most the declared sensitivity, and the final answer is the
//! same to the last bit; anything else is a leak and is reported.
//!
//! The method is Re:cord-play's (2026).

use crate::free::Free;
use reticent_core::{Event, Guarantee};
use reticent_noise::{Mechanism, NoiseError, PaidSource, Released, Releaser};
use std::any::{Any, type_name};
use std::borrow::Borrow;
use std::fmt::Debug;

/// Rounding of the distance itself, a quotient of doubles, is forgiven up to this.
pub const SLACK: f64 = 1e-9;

/// One release as it was made.
struct Frame {
    mechanism: &'static str,
    event: Event,
    guarantee: Guarantee,
    input: Box<dyn Any>,
    output: Box<dyn Any>,
}

/// Runs mechanisms in earnest, without a limit, and keeps a trace.
pub struct Recorder {
    free: Free,
    frames: Vec<Frame>,
}

impl Recorder {
    /// A recorder with an empty trace.
    ///
    /// # Errors
    /// [`NoiseError::Entropy`] when the operating system gives no randomness.
    pub fn new() -> Result<Self, NoiseError> {
        Ok(Self { free: Free::new()?, frames: Vec::new() })
    }

    /// How many releases were made.
    pub fn releases(&self) -> usize {
        self.frames.len()
    }

    /// Turns the trace around: its outputs will be handed back in order.
    pub fn replay(self) -> Replayer {
        Replayer { free: self.free, frames: self.frames, next: 0, report: Report::default() }
    }
}

impl Releaser for Recorder {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let released = self.free.release(mechanism, input)?;
        self.frames.push(Frame {
            mechanism: type_name::<M>(),
            event: released.event.clone(),
            guarantee: released.guarantee,
            input: Box::new(input.to_owned()),
            output: Box::new(released.value.clone()),
        });
        Ok(released)
    }
}

/// The data of a tester belong to nobody.
impl PaidSource for Recorder {}

/// What a replay found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The releases of the replay.
    pub releases: usize,
    /// The largest Δ_actual / Δ_declared over all releases.
    pub worst_distance: f64,
    /// Everything that depended on the data and should not have; empty when all is well.
    pub leaks: Vec<String>,
}

impl Report {
    /// Whether nothing leaked.
    pub fn clean(&self) -> bool {
        self.leaks.is_empty()
    }
}

/// Hands recorded outputs back and compares what is asked with what was asked before.
pub struct Replayer {
    free: Free,
    frames: Vec<Frame>,
    next: usize,
    report: Report,
}

impl Replayer {
    fn leak(&mut self, text: String) {
        self.report.leaks.push(format!("release {}: {text}", self.next));
    }

    /// The findings, once the query has returned.
    pub fn finish(mut self) -> Report {
        if self.next < self.frames.len() {
            let text = format!("missing: {} were recorded", self.frames.len());
            self.leak(text);
        }
        self.report.releases = self.next;
        self.report
    }

    /// The recorded output, if the recorded release was of the same kind.
    fn frozen<M: Mechanism>(&mut self, mechanism: &M, input: &M::Input) -> Option<M::Output>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let Some(frame) = self.frames.get(self.next) else {
            self.leak(format!("{} was not recorded", type_name::<M>()));
            return None;
        };
        let recorded = frame.input.downcast_ref::<<M::Input as ToOwned>::Owned>();
        let (Some(recorded), Some(output)) = (recorded, frame.output.downcast_ref::<M::Output>()) else {
            let text = format!("{} instead of {}", type_name::<M>(), frame.mechanism);
            self.leak(text);
            return None;
        };
        let mut texts = Vec::new();
        if frame.mechanism != type_name::<M>() {
            texts.push(format!("{} instead of {}", type_name::<M>(), frame.mechanism));
        }
        if frame.event != mechanism.event() {
            texts.push(format!("event {:?} instead of {:?}", mechanism.event(), frame.event));
        }
        if frame.guarantee != mechanism.guarantee() {
            texts.push(format!("claim {} instead of {}", mechanism.guarantee(), frame.guarantee));
        }
        let distance = mechanism.distance(recorded.borrow(), input);
        // A distance that is not a number is no distance.
        if distance.is_nan() || distance > 1.0 + SLACK {
            texts.push(format!("moved {distance} times the declared sensitivity"));
        }
        let output = output.clone();
        self.report.worst_distance = self.report.worst_distance.max(distance);
        texts.into_iter().for_each(|text| self.leak(text));
        Some(output)
    }
}

impl Releaser for Replayer {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let value = match self.frozen(mechanism, input) {
            Some(output) => output,
            // The traces have parted already and that is in the report; go on with a real draw.
            None => self.free.draw(mechanism, input)?,
        };
        self.next += 1;
        Ok(Released { value, event: mechanism.event(), guarantee: mechanism.guarantee() })
    }
}

/// The data of a tester belong to nobody.
impl PaidSource for Replayer {}

/// A query that can be recorded and replayed: from a data set and a source of releases to an answer.
pub trait Query {
    /// The data.
    type Data: ?Sized;
    /// What is published, an error included.
    type Answer: PartialEq + Debug;

    /// Runs the query.
    fn run(&self, data: &Self::Data, source: &mut impl PaidSource) -> Self::Answer;
}

/// Runs the query on both data sets and reports every difference that is not the mechanisms' noise.
///
/// # Errors
/// [`NoiseError::Entropy`] when the operating system gives no randomness.
pub fn compare<Q: Query>(query: &Q, data: &Q::Data, neighbour: &Q::Data) -> Result<Report, NoiseError> {
    let mut recorder = Recorder::new()?;
    let first = query.run(data, &mut recorder);
    let mut replayer = recorder.replay();
    let second = query.run(neighbour, &mut replayer);
    let mut report = replayer.finish();
    // Through Debug, so that an answer that is not a number equals itself.
    if first != second && format!("{first:?}") != format!("{second:?}") {
        report.leaks.push(format!("answer: {second:?} instead of {first:?}"));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::Epsilon;
    use reticent_noise::mechanism::DiscreteLaplace;

    /// Releases the length of the data, `times` times, and adds the data's length if told to.
    struct Length {
        sensitivity: u64,
        times_from_data: bool,
        adds_data: bool,
    }

    impl Query for Length {
        type Data = [u8];
        type Answer = i128;

        fn run(&self, data: &[u8], source: &mut impl PaidSource) -> i128 {
            let mechanism = DiscreteLaplace::new(self.sensitivity, Epsilon::new(1.0).unwrap()).unwrap();
            let times = if self.times_from_data { data.len() } else { 2 };
            let noisy = |_| source.release(&mechanism, &[data.len() as i128][..]).unwrap().value[0];
            let total: i128 = (0..times).map(noisy).sum();
            total + if self.adds_data { data.len() as i128 } else { 0 }
        }
    }

    #[test]
    fn an_honest_query_is_clean_and_leaks_are_named() {
        let honest = Length { sensitivity: 1, times_from_data: false, adds_data: false };
        let report = compare(&honest, &[1, 2, 3], &[1, 2]).unwrap();
        assert!(report.clean() && report.worst_distance == 1.0 && report.releases == 2, "{report:?}");
        // Two rows apart.
        let report = compare(&honest, &[1, 2, 3], &[1]).unwrap();
        assert_eq!(report.leaks.len(), 2, "{report:?}");
        let longer = compare(&Length { times_from_data: true, ..honest }, &[1, 2], &[1, 2, 3]).unwrap();
        assert!(longer.leaks.iter().any(|leak| leak.contains("not recorded")), "{longer:?}");
        let shorter = compare(&Length { times_from_data: true, ..honest }, &[1, 2, 3], &[1, 2]).unwrap();
        assert!(shorter.leaks.iter().any(|leak| leak.contains("missing")), "{shorter:?}");
        let added = compare(&Length { adds_data: true, ..honest }, &[1, 2, 3], &[1, 2]).unwrap();
        assert!(added.leaks.iter().any(|leak| leak.contains("answer")), "{added:?}");
    }
}
