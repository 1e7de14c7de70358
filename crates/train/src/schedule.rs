//! The learning rate of every step, from public numbers.

use crate::TrainError;
use serde::{Deserialize, Serialize};

/// How the rate falls after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decay {
    /// Not at all.
    #[default]
    Constant,
    /// On a straight line to `end` times the peak.
    Linear {
        /// From 0 to 1.
        end: f64,
    },
    /// On half a cosine to `end` times the peak.
    Cosine {
        /// From 0 to 1.
        end: f64,
    },
    /// By `factor` after every `every` steps.
    Step {
        /// At least 1.
        every: u64,
        /// Above 0, at most 1.
        factor: f64,
    },
    /// Evenly in its logarithm, to `end` times the peak.
    Exponential {
        /// Above 0, at most 1.
        end: f64,
    },
}

/// A learning rate with a warm-up and a decay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The largest rate.
    pub peak: f64,
    /// Steps on which the rate rises on a straight line to the peak.
    #[serde(default)]
    pub warm_up: u64,
    /// What happens then.
    #[serde(default)]
    pub decay: Decay,
}

impl Schedule {
    /// The same rate in every step.
    pub fn constant(rate: f64) -> Self {
        Self { peak: rate, warm_up: 0, decay: Decay::Constant }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming the one without meaning.
    pub fn check(&self) -> Result<(), TrainError> {
        if !(self.peak > 0.0 && self.peak <= 1e6) {
            return Err(TrainError::invalid(
                "learning_rate",
                self.peak,
                "give a number above 0 and at most 1e6",
            ));
        }
        let (end, least) = match self.decay {
            Decay::Constant => return Ok(()),
            Decay::Linear { end } | Decay::Cosine { end } => (end, 0.0),
            Decay::Exponential { end } => (end, f64::MIN_POSITIVE),
            Decay::Step { every: 0, .. } => {
                return Err(TrainError::invalid("every", 0, "give at least 1 step"));
            }
            Decay::Step { factor, .. } => (factor, f64::MIN_POSITIVE),
        };
        if (least..=1.0).contains(&end) {
            return Ok(());
        }
        Err(TrainError::invalid(
            "decay",
            end,
            "give a share of the peak up to 1, above 0 where it is a factor",
        ))
    }

    /// The rate of a step, counted from 0, of so many.
    pub fn rate(&self, step: u64, steps: u64) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let past = step - self.warm_up;
        let length = steps.saturating_sub(self.warm_up).max(1);
        let way = (past as f64 / length as f64).min(1.0);
        let share = match self.decay {
            Decay::Constant => 1.0,
            Decay::Linear { end } => 1.0 - way * (1.0 - end),
            Decay::Cosine { end } => end + (1.0 - end) * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * way)),
            Decay::Step { every, factor } => libm::pow(factor, (past / every.max(1)) as f64),
            Decay::Exponential { end } => libm::pow(end, way),
        };
        self.peak * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decay_ends_where_it_should() {
        let with = |warm_up, decay| Schedule { peak: 2.0, warm_up, decay };
        assert_eq!(Schedule::constant(0.1).rate(99, 100), 0.1);
        let warm = with(4, Decay::Constant);
        assert_eq!([0, 1, 3, 4, 50].map(|s| warm.rate(s, 100)), [0.5, 1.0, 2.0, 2.0, 2.0]);
        let linear = with(10, Decay::Linear { end: 0.0 });
        assert_eq!([10, 60, 110, 200].map(|s| linear.rate(s, 110)), [2.0, 1.0, 0.0, 0.0]);
        let cosine = with(0, Decay::Cosine { end: 0.1 });
        assert!((cosine.rate(50, 100) - 1.1).abs() < 1e-12 && (cosine.rate(100, 100) - 0.2).abs() < 1e-12);
        let step = with(0, Decay::Step { every: 30, factor: 0.5 });
        assert_eq!([0, 29, 30, 90].map(|s| step.rate(s, 100)), [2.0, 2.0, 1.0, 0.25]);
        let exponential = with(0, Decay::Exponential { end: 0.01 });
        assert!((exponential.rate(50, 100) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        for peak in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Schedule::constant(peak).check().is_err());
        }
        let decays = [
            Decay::Linear { end: -0.1 },
            Decay::Cosine { end: 1.1 },
            Decay::Exponential { end: 0.0 },
            Decay::Step { every: 0, factor: 0.5 },
            Decay::Step { every: 1, factor: f64::NAN },
        ];
        for decay in decays {
            assert!(Schedule { peak: 1.0, warm_up: 0, decay }.check().is_err(), "{decay:?}");
        }
        assert!(Schedule { peak: 1.0, warm_up: 5, decay: Decay::Linear { end: 0.0 } }.check().is_ok());
    }
}
