//! Number of rows, sum, mean and variance from moments.

use super::super::column::PartColumn;
use super::super::moments::{WHOLE, place_weights, square_ranges};
use super::super::part::Part;
use super::super::release::NoisyPart;
use super::{Figure, Sums, ends, unavailable};
use crate::NoiseError;
use reticent_core::Confidence;

/// What rounding to integers moves a mean of the basis by, at most, in units of the range.
pub(super) const ROUNDING: f64 = 64.0 / WHOLE as f64;

/// What rounding moves the place of one row by, at most: one unit, and what its place itself was rounded by.
const ROW_ROUNDING: f64 = 2.0 / WHOLE as f64;

/// The share of the error probability of a sum that the number of rows has, by which rounding is bounded.
const ROWS_SHARE: f64 = 1e-3;

/// The share of the error probability of a variance that its mean has.
pub(in super::super) const MEAN_SHARE: f64 = 0.1;

impl NoisyPart {
    /// How many rows (for [`Part::People`]: how many privacy units) a group has; rows without a value are left out where the part
    /// is about values.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part does not count.
    pub fn rows(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let sums = Sums::of(self, group)?;
        let weights = self.weights_of_rows().ok_or_else(|| unavailable(self.part(), "number of rows"))?;
        Ok(sums.linear(&weights, confidence.beta()).counted())
    }

    /// The weights of the number of rows.
    fn weights_of_rows(&self) -> Option<Vec<f64>> {
        let width = self.part().width();
        match self.part() {
            Part::Rows | Part::People => Some(vec![1.0]),
            Part::Moments { .. } | Part::Joint(..) => Some(vec![1.0 / WHOLE as f64; width]),
            Part::Cells(_) => Some(vec![1.0; width]),
            Part::Contingency { sizes, .. } => {
                let cells: usize = sizes.iter().product();
                Some((0..width).map(|i| f64::from(u8::from(i < cells))).collect())
            }
            Part::Tree(tree) => {
                let mut weights = vec![0.0; width];
                tree.shape().parts(tree.shape().leaves() - 1, |node, _| weights[node] = 1.0);
                Some(weights)
            }
            Part::Sum(_) | Part::PersonSum(_) | Part::Distinct(_) => None,
        }
    }

    /// The sum of a column's values, or of people's totals.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no sum of one column.
    pub fn sum(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let sums = Sums::of(self, group)?;
        let beta = confidence.beta();
        match self.part() {
            Part::Sum(column) | Part::PersonSum(column) => {
                Ok(sums.linear(&[1.0], beta).mapped(column.step(), 0.0))
            }
            Part::Moments { column, .. } => {
                let weights: Vec<f64> = place_weights(sums.values.len())
                    .iter()
                    .map(|place| (column.low() + column.width() * place) / WHOLE as f64)
                    .collect();
                // Each row's place is rounded; how many rows there are is known up to noise.
                let in_all = vec![1.0 / WHOLE as f64; sums.values.len()];
                let [_, rows] = ends(&sums.linear(&in_all, ROWS_SHARE * beta));
                let rounded = rows.max(0.0) * ROW_ROUNDING * column.width();
                Ok(widened(sums.linear(&weights, (1.0 - ROWS_SHARE) * beta), rounded))
            }
            part => Err(unavailable(part, "sum")),
        }
    }

    /// The mean of a column's values.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no mean of one column.
    pub fn mean(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        match self.part() {
            Part::Moments { column, .. } => {
                let sums = Sums::of(self, group)?;
                let place = sums.fixed_ratio(place_weights(sums.values.len()), confidence.beta());
                Ok(in_units(column, widened(place, ROUNDING)))
            }
            part => Err(unavailable(part, "mean")),
        }
    }

    /// The variance of a column's values: the mean squared distance from their mean.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no variance of one column.
    pub fn variance(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        match self.part() {
            Part::Moments { column, order: 2 } => {
                let (sums, beta) = (Sums::of(self, group)?, confidence.beta());
                let mean = sums.fixed_ratio(place_weights(3), MEAN_SHARE * beta);
                let [low, high] = ends(&mean);
                let at = |c: f64| sums.dot(&square_ranges([c; 2]).map(|[low, _]| low)).0;
                // The sum of squares is least at the estimated mean.
                let value = at(mean.value);
                let range = [value.min(at(low)).min(at(high)), at(low).max(at(high))];
                let ranges = square_ranges([low, high]);
                let square =
                    sums.ranged_ratio(&ranges, range, value, [-0.01, 0.3], (1.0 - MEAN_SHARE) * beta);
                Ok(spread(square).mapped(column.width() * column.width(), 0.0).counted())
            }
            part => Err(unavailable(part, "variance")),
        }
    }

    /// The standard deviation: the root of the [`variance`](Self::variance).
    ///
    /// # Errors
    /// As [`variance`](Self::variance).
    pub fn standard_deviation(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let variance = self.variance(group, confidence)?;
        let root = |v: f64| v.max(0.0).sqrt();
        let interval =
            variance.interval.map(|[low, high]| [root(low).next_down().max(0.0), root(high).next_up()]);
        Ok(Figure { value: root(variance.value), interval })
    }
}

/// A variance in units of the squared range.
pub(super) fn spread(square: Figure) -> Figure {
    widened(square, ROUNDING).within(0.0, 0.25)
}

/// An interval widened on both sides.
pub(super) fn widened(figure: Figure, by: f64) -> Figure {
    Figure { interval: figure.interval.map(|[low, high]| [low - by, high + by]), ..figure }
}

/// A place between the bounds as a value of the column.
pub(super) fn in_units(column: &PartColumn, place: Figure) -> Figure {
    place.mapped(column.width(), column.low()).within(column.low(), column.high())
}
