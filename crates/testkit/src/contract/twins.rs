//! Subjects with one mistake each, which the suites must find.

use super::{Subject, length};
use reticent_train::{Clipping, Examples, Layout, Selection, TrainError};

/// A mistake in clipping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The mean of the gradients is clipped in place of each of them.
    ClipsTheMean,
    /// Gradients are not clipped.
    IgnoresTheRule,
    /// The first unit is added twice.
    AddsTheFirstTwice,
    /// The last unit is left out.
    DropsTheLast,
    /// Examples are clipped in place of units.
    ClipsExamples,
    /// A gradient that is not finite is added as it is.
    PassesOnWhatIsNotFinite,
    /// Gradients are cut to a thousandth above the norm.
    ClipsTooLate,
    /// Every call adds to the sum of the last one.
    Remembers,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ClipsTheMean,
        Self::IgnoresTheRule,
        Self::AddsTheFirstTwice,
        Self::DropsTheLast,
        Self::ClipsExamples,
        Self::PassesOnWhatIsNotFinite,
        Self::ClipsTooLate,
        Self::Remembers,
    ];
}

/// A subject with a mistake.
#[derive(Debug)]
pub struct Twin<S> {
    inner: S,
    fault: Fault,
    before: Vec<f32>,
}

impl<S: Subject> Twin<S> {
    /// The subject with this mistake.
    pub fn new(inner: S, fault: Fault) -> Self {
        Self { inner, fault, before: Vec::new() }
    }

    fn of_units(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        keep: impl Fn(usize, &[f32]) -> bool,
    ) -> Result<Vec<f32>, TrainError> {
        let mut sum = vec![0.0; self.inner.layout().gradients()];
        for unit in 0..selection.units() {
            let mut own = Selection::default();
            own.push(selection.unit(unit).iter().copied());
            let raw = self.inner.sum(examples, &own, None)?;
            let rule = if keep(unit, &raw) { clipping } else { None };
            let own = self.inner.sum(examples, &own, rule)?;
            sum.iter_mut().zip(&own).for_each(|(sum, g)| *sum += g);
        }
        Ok(sum)
    }
}

impl<S: Subject> Subject for Twin<S> {
    fn layout(&self) -> Layout {
        self.inner.layout()
    }

    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
    ) -> Result<Vec<f32>, TrainError> {
        let Some(rule) = clipping else { return self.inner.sum(examples, selection, None) };
        match self.fault {
            Fault::ClipsTheMean => {
                let mut sum = self.inner.sum(examples, selection, None)?;
                let count = selection.units().max(1) as f64;
                let mean = length(sum.iter().map(|g| f64::from(*g))) / count;
                let factor = (rule.norm() / mean).min(1.0);
                sum.iter_mut().for_each(|g| *g *= factor as f32);
                Ok(sum)
            }
            Fault::IgnoresTheRule => self.inner.sum(examples, selection, None),
            Fault::AddsTheFirstTwice => {
                let mut twice = selection.clone();
                if selection.units() > 0 {
                    twice.push(selection.unit(0).iter().copied());
                }
                self.inner.sum(examples, &twice, clipping)
            }
            Fault::DropsTheLast => {
                let mut fewer = Selection::default();
                for unit in 0..selection.units().saturating_sub(1) {
                    fewer.push(selection.unit(unit).iter().copied());
                }
                self.inner.sum(examples, &fewer, clipping)
            }
            Fault::ClipsExamples => {
                let single = Selection::of_examples(selection.examples().to_vec());
                self.inner.sum(examples, &single, clipping)
            }
            Fault::PassesOnWhatIsNotFinite => {
                self.of_units(examples, selection, clipping, |_, raw| raw.iter().all(|g| g.is_finite()))
            }
            Fault::ClipsTooLate => {
                let mut sum = self.inner.sum(examples, selection, clipping)?;
                sum.iter_mut().for_each(|g| *g *= 1.001);
                Ok(sum)
            }
            Fault::Remembers => {
                let mut sum = self.inner.sum(examples, selection, clipping)?;
                sum.iter_mut().zip(&self.before).for_each(|(sum, before)| *sum += before);
                self.before.clone_from(&sum);
                Ok(sum)
            }
        }
    }
}
