//! The law of the noise on a step's sum.

use crate::TrainError;
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::{CELL_BITS, StudentSampler, normal_cell};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The least degrees of freedom with a finite variance.
const LEAST_FREEDOM: u32 = 3;

/// And the most that the accountant takes.
const MOST_FREEDOM: u32 = 1000;

/// The law of the noise on every number of a step's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NoiseLaw {
    /// Normal.
    #[default]
    Gaussian,
    /// Student-t, for encoded gradients.
    StudentT {
        /// ν, from 3 to 1000.
        degrees_of_freedom: u32,
    },
}

impl NoiseLaw {
    pub(crate) fn is_gaussian(&self) -> bool {
        *self == Self::Gaussian
    }

    /// Checks the degrees of freedom.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] outside 3 to 1000.
    pub fn check(&self) -> Result<(), TrainError> {
        match self {
            Self::StudentT { degrees_of_freedom: freedom }
                if !(LEAST_FREEDOM..=MOST_FREEDOM).contains(freedom) =>
            {
                let remedy = "give a whole number from 3 (below it the variance is infinite) to 1000";
                Err(TrainError::invalid("degrees_of_freedom", freedom, remedy))
            }
            _ => Ok(()),
        }
    }

    /// The variance of one number with this σ, or scale.
    pub fn variance(&self, scale: f64) -> f64 {
        match self {
            Self::Gaussian => scale.powi(2),
            Self::StudentT { degrees_of_freedom } => {
                let freedom = f64::from(*degrees_of_freedom);
                scale.powi(2) * freedom / (freedom - 2.0)
            }
        }
    }

    /// Appends numbers of this law, as rules for public numbers need them: they are nobody's noise and protect nothing.
    pub(crate) fn fill<B: Bits>(&self, scale: f64, count: usize, bits: &mut B, into: &mut Vec<f32>) {
        let step = scale / (1u64 << CELL_BITS) as f64;
        let number = |cell: f64| ((cell + 0.5) * step) as f32;
        match self {
            Self::Gaussian => into.extend((0..count).map(|_| number(f64::from(normal_cell(bits))))),
            Self::StudentT { degrees_of_freedom } => {
                let sampler = StudentSampler::new(1 << CELL_BITS, *degrees_of_freedom);
                into.extend((0..count).map(|_| number(sampler.sample(bits) as f64)));
            }
        }
    }
}

impl fmt::Display for NoiseLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian => f.write_str("Gaussian"),
            Self::StudentT { degrees_of_freedom } => {
                write!(f, "Student-t with {degrees_of_freedom} degrees of freedom")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_noise::Entropy;

    #[test]
    fn numbers_have_the_stated_variance() {
        let mut bits = Entropy::new().unwrap();
        for law in [NoiseLaw::Gaussian, NoiseLaw::StudentT { degrees_of_freedom: 9 }] {
            let mut values = Vec::new();
            law.fill(3.0, 100_000, &mut bits, &mut values);
            let n = values.len() as f64;
            let mean: f64 = values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / n;
            // The fourth moment is at most 4.2 times the squared variance: a standard error is below 1.8/√n of it.
            assert!((mean / law.variance(3.0) - 1.0).abs() < 7.0 * 1.8 / n.sqrt(), "{law}: {mean}");
        }
        assert_eq!(NoiseLaw::StudentT { degrees_of_freedom: 4 }.variance(1.0), 2.0);
        for degrees_of_freedom in [0, 2, 1001] {
            assert!(NoiseLaw::StudentT { degrees_of_freedom }.check().is_err());
        }
    }
}
