//! The error that noise will have, from public numbers, and the noise for a wanted error.

use super::super::limits::ContributionLimits;
use super::super::moments::{WHOLE, place_weights};
use super::super::part::Part;
use super::super::release::{Law, PartMechanism, PartNoise};
use super::cells::margin_weights;
use super::unavailable;
use crate::NoiseError;
use crate::query::NoiseKind;
use reticent_core::special::bisect;
use reticent_core::{Confidence, Epsilon, Neighboring, NoiseMultiplier};

/// The figure whose error is meant, with the number of rows where the error depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorOf {
    /// A count that is fixed before the noise is seen: rows, people, a cell of a histogram or table, a distinct count.
    Count,
    /// The count of a cell that is chosen by the noisy counts: of the most frequent categories. It holds for all cells at once.
    ChosenCount,
    /// Any one of the cells, margins and the total of a table: the largest of their errors.
    TableTotals,
    /// A sum, in the unit of the column.
    Sum,
    /// The mean of so many rows, in the unit of the column.
    Mean {
        /// Rows with a value, in the group.
        rows: u64,
    },
    /// The variance of so many rows, in the squared unit of the column.
    Variance {
        /// Rows with a value, in the group.
        rows: u64,
    },
    /// The share of one cell among so many rows.
    Proportion {
        /// Rows in the histogram.
        rows: u64,
    },
    /// The number of rows by which the rank of a quantile may be off, at any level.
    Rank,
}

/// Stretches that unknown true values are divided into; the worst one counts.
const STRETCHES: usize = 32;

impl Part {
    /// The error that a figure of one group exceeds with probability at most 1 − confidence, whatever the data are, rounded up;
    /// infinite where nothing can be promised.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the part does not have the figure, or the noise does not fit.
    pub fn error(
        &self,
        limits: &ContributionLimits,
        neighboring: Neighboring,
        groups: usize,
        noise: &PartNoise,
        of: ErrorOf,
        confidence: Confidence,
    ) -> Result<f64, NoiseError> {
        let mechanism = PartMechanism::new(self, limits, neighboring, noise, groups)?;
        self.error_of(mechanism.law(), of, confidence.beta())
    }

    fn error_of(&self, law: &Law, of: ErrorOf, beta: f64) -> Result<f64, NoiseError> {
        let width = self.width();
        let missing = |figure| Err(unavailable(self, figure));
        Ok(match (self, of) {
            (
                Self::Rows | Self::People | Self::Cells(_) | Self::Contingency { .. } | Self::Distinct(_),
                ErrorOf::Count,
            ) => law.pointwise(&[(1.0, 1)], beta),
            (Self::Cells(_) | Self::Contingency { .. }, ErrorOf::ChosenCount) => {
                let cells = match self {
                    Self::Contingency { sizes, .. } => sizes.iter().product(),
                    _ => width,
                };
                law.pointwise(&[(1.0, 1)], beta / cells as f64)
            }
            (Self::Contingency { sizes, margins }, ErrorOf::TableTotals) => {
                let cells: usize = sizes.iter().product();
                let of_margins = sizes.iter().map(|size| {
                    let in_each = (cells / size) as u64;
                    law.pointwise(&margin_weights(in_each, *margins), beta)
                });
                let all = law.pointwise(&[(1.0, cells as u64)], beta);
                of_margins.fold(law.pointwise(&[(1.0, 1)], beta).max(all), f64::max)
            }
            (Self::Moments { .. } | Self::Joint(..), ErrorOf::Count) => {
                law.pointwise(&[(1.0 / WHOLE as f64, width as u64)], beta)
            }
            (Self::Sum(column) | Self::PersonSum(column), ErrorOf::Sum) => {
                law.pointwise(&[(column.step(), 1)], beta)
            }
            (Self::Moments { column, .. }, ErrorOf::Sum) => {
                let weights = place_weights(width).iter();
                let weights: Vec<(f64, u64)> = weights
                    .map(|place| ((column.low() + column.width() * place) / WHOLE as f64, 1))
                    .collect();
                law.pointwise(&weights, beta)
            }
            (Self::Moments { column, .. }, ErrorOf::Mean { rows }) => {
                let place = |mean: f64| place_weights(width).iter().map(|w| (w - mean).abs()).collect();
                column.width() * ratio_error(law, rows, width as u64, beta, 2.0, &place)
            }
            (Self::Moments { column, order: 2 }, ErrorOf::Variance { rows }) => {
                let square = |m: f64| {
                    let v = m * (1.0 - m);
                    vec![(m * m).max(v), 2.0 * v, ((1.0 - m) * (1.0 - m)).max(v)]
                };
                let mean = |m: f64| place_weights(3).iter().map(|w| (w - m).abs()).collect();
                let off = ratio_error(law, rows, 3, beta, 3.0, &mean);
                let error = ratio_error(law, rows, 3, beta, 3.0, &square);
                column.width() * column.width() * (error + off * off).min(0.25)
            }
            (Self::Cells(count), ErrorOf::Proportion { rows }) => {
                let rest = *count as u64 - 1;
                let whole = law.pointwise(&[(1.0, 1 + rest)], beta / 2.0);
                let worst = (0..STRETCHES).map(|i| {
                    let (from, to) = stretch(i);
                    law.pointwise(&[(1.0 - from, 1), (to, rest)], beta / 2.0)
                });
                (worst.fold(0.0, f64::max) / (rows as f64 - whole).max(0.0)).min(1.0)
            }
            (Self::Tree(tree), ErrorOf::Rank) => {
                // The answer is the first candidate whose smoothed count reaches a share of the total. If the noise of (count −
                // share of the total) is within e for every candidate, so is that of the smoothed counts, and the ranks beside
                // the answer are within e of the share. One more statement is about the total, for tables that seem empty.
                let shape = tree.shape();
                // Nodes of the highest level are in the total, with or without being in the count; those below it in the count.
                let lower = (shape.levels().saturating_sub(1) * (shape.branching() - 1) + 1) as u64;
                let mut highest = 0;
                shape.parts(shape.leaves() - 1, |_, is_below| highest += u64::from(is_below));
                law.pointwise(&[(1.0, lower + highest)], beta / (tree.candidates().len() as f64 + 1.0))
            }
            (_, ErrorOf::Count | ErrorOf::ChosenCount) => return missing("count"),
            (_, ErrorOf::TableTotals) => return missing("totals of a table"),
            (_, ErrorOf::Sum) => return missing("sum"),
            (_, ErrorOf::Mean { .. }) => return missing("mean"),
            (_, ErrorOf::Variance { .. }) => return missing("variance"),
            (_, ErrorOf::Proportion { .. }) => return missing("share of a cell"),
            (_, ErrorOf::Rank) => return missing("ranks"),
        })
    }

    /// The most noise with which the [error](Self::error) of a figure is at most `error`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the part does not have the figure, or no noise from ε = 10⁻⁶ to 10⁴ (noise multiplier 0.1 to 10⁷)
    /// has so small an error.
    #[allow(clippy::too_many_arguments)]
    pub fn noise_for_error(
        &self,
        limits: &ContributionLimits,
        neighboring: Neighboring,
        groups: usize,
        kind: NoiseKind,
        of: ErrorOf,
        error: f64,
        confidence: Confidence,
    ) -> Result<PartNoise, NoiseError> {
        NoiseError::check_error(error)?;
        let noise = |log: f64| -> Result<PartNoise, NoiseError> {
            Ok(match kind {
                NoiseKind::Laplace => PartNoise::Laplace { epsilon: Epsilon::new(libm::exp(log))? },
                NoiseKind::Gaussian | NoiseKind::DiscreteGaussian => {
                    PartNoise::Gaussian { noise_multiplier: NoiseMultiplier::new(libm::exp(-log))? }
                }
            })
        };
        let at = |log: f64| self.error(limits, neighboring, groups, &noise(log)?, of, confidence);
        let (low, high) = match kind {
            NoiseKind::Laplace => (libm::log(1e-6), libm::log(1e4)),
            NoiseKind::Gaussian | NoiseKind::DiscreteGaussian => (libm::log(1e-7), libm::log(5.0)),
        };
        if at(high)? > error {
            return Err(NoiseError::invalid(
                "error",
                error,
                format!("give a larger error: the least that noise within reach has is {:.3e}", at(high)?),
            ));
        }
        let log = bisect(low, high, |log| at(log).is_ok_and(|found| found > error));
        noise(log)
    }
}

/// The error of a ratio of `rows` rows, in units of the weights, whatever the true ratio is. `weights` are the sizes of the weights
/// at a true mean, `misses` the number of statements that the error probability is divided among.
fn ratio_error(
    law: &Law,
    rows: u64,
    entries: u64,
    beta: f64,
    misses: f64,
    weights: &dyn Fn(f64) -> Vec<f64>,
) -> f64 {
    let whole = law.pointwise(&[(1.0, entries)], beta / misses);
    let worst = (0..STRETCHES).map(|i| {
        let (from, to) = stretch(i);
        let far: Vec<(f64, u64)> =
            weights(from).iter().zip(weights(to)).map(|(a, b)| (a.max(b), 1)).collect();
        law.pointwise(&far, beta / misses)
    });
    let sums = (rows as f64 * WHOLE as f64 - whole).max(0.0);
    worst.fold(0.0, f64::max) / sums
}

/// The ends of a stretch of [0, 1].
fn stretch(index: usize) -> (f64, f64) {
    (index as f64 / STRETCHES as f64, (index as f64 + 1.0) / STRETCHES as f64)
}
