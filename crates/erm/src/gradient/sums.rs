//! Exact sums of per-record gradients over all rows or a Poisson sample.

use super::{DescentSchedule, Reach};
use crate::ErmError;
use crate::problem::Problem;
use crate::rows::MOST_ROWS;
use reticent_core::InvalidValue;
use reticent_core::rounding::{add_up, mul_up, sqrt_up};
use reticent_noise::entropy::Bits;

/// log₂ of the largest integer that is summed: the sum over every allowed number of rows is then a double.
const SUMMAND_BITS: i32 = 21;

const _: () = assert!(MOST_ROWS << SUMMAND_BITS <= 1 << f64::MANTISSA_DIGITS);

/// Adding 1.5·2⁵² to a number below 2⁵¹ leaves the nearest integer, ties to even, in the last bits.
const ROUNDER: f64 = 3.0 * (1u64 << 51) as f64;

/// Bits of a sampling rate.
const RATE_BITS: u32 = 32;

/// Which rows enter a step.
pub(super) enum Sample {
    All,
    /// Each row with probability threshold/2³².
    Poisson {
        threshold: u64,
    },
}

impl Sample {
    pub(super) fn new(schedule: &DescentSchedule) -> Result<Self, ErmError> {
        Ok(match schedule.sampling_rate {
            None => Self::All,
            Some(rate) => Self::Poisson { threshold: threshold(rate)? },
        })
    }
}

/// The numerator of a rate over 2³².
fn threshold(rate: f64) -> Result<u64, InvalidValue> {
    let threshold = (rate * (2f64).powi(RATE_BITS as i32)).round();
    if rate > 0.0 && rate <= 1.0 && threshold >= 1.0 {
        Ok(threshold as u64)
    } else {
        Err(InvalidValue::new("sampling_rate", rate, "give a number above 2^-32 and at most 1"))
    }
}

/// The rate that is really drawn with.
pub(super) fn exact_rate(rate: f64) -> Result<f64, InvalidValue> {
    Ok(threshold(rate)? as f64 / (2f64).powi(RATE_BITS as i32))
}

/// The power of two that summands are multiples of: between L·2⁻²¹ and L·2⁻²⁰.
pub(super) fn step(lipschitz: f64) -> f64 {
    libm::scalbn(1.0, libm::ilogb(lipschitz) + 1 - SUMMAND_BITS)
}

#[inline]
pub(super) fn rounded(value: f64) -> i64 {
    (value + ROUNDER).to_bits() as i64 - ROUNDER.to_bits() as i64
}

/// A bound on the norm of one record's summand, rounded up: L and half a step a coordinate, doubled for the
/// rounding of the products themselves.
pub(super) fn record_norm_up(reach: Reach) -> f64 {
    let Reach { lipschitz, width } = reach;
    add_up(lipschitz, mul_up(sqrt_up(width as f64), step(lipschitz)))
}

/// Σ ∂ℓ/∂m·x over the sampled rows. Every summand is rounded to the step by itself, and the sum is exact. Slopes
/// are clamped to their bound: no weights can make a summand larger than [`record_norm_up`].
pub(super) fn gradient_sum<B: Bits>(
    problem: &Problem<'_>,
    weights: &[f64],
    sample: &Sample,
    bits: &mut B,
) -> Vec<f64> {
    let (rows, loss) = (&problem.rows, problem.loss);
    let (given, intercept) = problem.unscaled(weights);
    let (scale, constant) = problem.factors();
    let unit = 1.0 / step(loss.constants().lipschitz);
    let mut sums = vec![0i64; problem.width()];
    let mut random = Coins::default();
    for (row, label) in rows.labels().iter().enumerate() {
        if !random.takes(sample, bits) {
            continue;
        }
        let (columns, values) = rows.row(row);
        let dot: f64 = columns.iter().zip(values).map(|(c, x)| given[*c as usize] * x).sum();
        let slope = loss.bounded_slope(dot + intercept, *label);
        let factor = slope * scale * unit;
        for (column, value) in columns.iter().zip(values) {
            sums[*column as usize] += rounded(factor * value);
        }
        if let Some(last) = sums.get_mut(rows.dimension()) {
            *last += rounded(slope * constant * unit);
        }
    }
    sums.iter().map(|sum| *sum as f64 / unit).collect()
}

/// Coins of 32 random bits each.
#[derive(Default)]
pub(super) struct Coins {
    kept: Option<u64>,
}

impl Coins {
    /// Whether the next row is in the sample.
    #[inline]
    pub(super) fn takes<B: Bits>(&mut self, sample: &Sample, bits: &mut B) -> bool {
        match sample {
            Sample::All => true,
            Sample::Poisson { threshold } => self.next(bits) < *threshold,
        }
    }

    #[inline]
    fn next<B: Bits>(&mut self, bits: &mut B) -> u64 {
        match self.kept.take() {
            Some(half) => half,
            None => {
                let word = bits.word();
                self.kept = Some(word >> RATE_BITS);
                word & ((1 << RATE_BITS) - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MarginLoss;
    use crate::tests::Table;
    use reticent_noise::Entropy;

    #[test]
    fn no_weights_make_a_record_larger_than_its_bound() {
        let mut entropy = Entropy::new().unwrap();
        let table = Table::dense(2, &[(vec![0.6, 0.8], 1.0)]);
        for loss in [MarginLoss::Logistic, MarginLoss::SVM, MarginLoss::Squared { radius: 2.0 }] {
            let problem = Problem::new(table.rows(), loss, 0.3).unwrap();
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e300] {
                for weights in [[bad; 3], [bad, -bad, 0.0], [0.0, 0.0, bad]] {
                    let sum = gradient_sum(&problem, &weights, &Sample::All, &mut entropy);
                    let norm = sum.iter().map(|s| s * s).sum::<f64>().sqrt();
                    let lipschitz = loss.constants().lipschitz;
                    assert!(norm <= lipschitz + 2.0 * step(lipschitz), "{loss:?} {weights:?} {sum:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_sums_are_doubles() {
        // One more or one less step must still be told apart by exactly that.
        let largest = (crate::rows::MOST_ROWS as i64) << SUMMAND_BITS;
        for sum in [largest, largest - 1, 1 - largest] {
            assert_eq!(sum as f64 as i64, sum);
        }
    }
}
