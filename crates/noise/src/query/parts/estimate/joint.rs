//! Covariance, correlation and linear trend of two columns.

use super::super::column::PartColumn;
use super::super::moments::{centered_ranges, products, square_ranges};
use super::super::part::Part;
use super::super::release::NoisyPart;
use super::moments::{ROUNDING, in_units, spread, widened};
use super::{Figure, Sums, ends, unavailable};
use crate::NoiseError;
use reticent_core::Confidence;
use serde::{Deserialize, Serialize};

/// The straight line that predicts the second column from the first with the least squared error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// How much the second column rises for each unit of the first; without an interval where the first may be constant.
    pub slope: Figure,
    /// The prediction where the first column is 0.
    pub intercept: Figure,
}

/// Shares of the error probability; those that a figure uses add up to 1 at most.
pub(in super::super) mod shares {
    /// Of the mean of each column.
    pub(crate) const MEAN: f64 = 0.05;
    /// Of a covariance by itself.
    pub(crate) const COVARIANCE: f64 = 0.9;
    /// Of the covariance in a correlation.
    pub(crate) const PRODUCT: f64 = 0.4;
    /// Of each variance in a correlation.
    pub(crate) const VARIANCE: f64 = 0.25;
    /// Of the sum of products, and of squares, of a slope.
    pub(crate) const SUM: f64 = 0.15;
    /// Of the number of rows of a slope.
    pub(crate) const ROWS: f64 = 0.01;
    /// Of the slope itself.
    pub(crate) const SLOPE: f64 = 0.59;
}

const ONES: [[f64; 2]; 3] = [[1.0; 2]; 3];
const PLACE: [[f64; 2]; 3] = [[0.0; 2], [0.5; 2], [1.0; 2]];

/// The noisy sums of a group and where the means lie, in units of the ranges.
struct Pair<'a> {
    sums: Sums<'a>,
    columns: [&'a PartColumn; 2],
    means: [Figure; 2],
    beta: f64,
}

impl NoisyPart {
    fn pair(
        &self,
        group: usize,
        confidence: Confidence,
        figure: &'static str,
    ) -> Result<Pair<'_>, NoiseError> {
        let Part::Joint(first, second) = self.part() else {
            return Err(unavailable(self.part(), figure));
        };
        let (sums, beta) = (Sums::of(self, group)?, confidence.beta());
        let mean = |ranges: [[f64; 2]; 9]| sums.fixed_ratio(&ranges.map(|[low, _]| low), shares::MEAN * beta);
        let means = [mean(products(&PLACE, &ONES)), mean(products(&ONES, &PLACE))];
        Ok(Pair { sums, columns: [first, second], means, beta })
    }

    /// The covariance of two columns: the mean product of their distances from their means.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part is not joint.
    pub fn covariance(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let pair = self.pair(group, confidence, "covariance")?;
        let covariance = pair.covariance(shares::COVARIANCE);
        Ok(covariance.mapped(pair.columns[0].width() * pair.columns[1].width(), 0.0))
    }

    /// Pearson's correlation of two columns, from −1 to 1.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance).
    pub fn correlation(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let pair = self.pair(group, confidence, "correlation")?;
        let covariance = pair.covariance(shares::PRODUCT);
        let [first, second] = [0, 1].map(|axis| pair.variance(axis));
        let ([low, high], [first_low, first_high]) = (ends(&covariance), ends(&first));
        let [second_low, second_high] = ends(&second);
        let (least, most) = ((first_low * second_low).sqrt(), (first_high * second_high).sqrt());
        // Away from 0 the quotient is largest with the least spread, towards 0 with the most.
        let outward = |cov: f64| if least > 0.0 { cov / least } else { cov.signum() * f64::INFINITY };
        let inward = |cov: f64| if most > 0.0 { cov / most } else { 0.0 };
        let interval = [
            if low < 0.0 { outward(low) } else { inward(low) } - 1e-12,
            if high > 0.0 { outward(high) } else { inward(high) } + 1e-12,
        ];
        let spread = (first.value * second.value).sqrt();
        let value = if spread > 0.0 { covariance.value / spread } else { 0.0 };
        Ok(Figure { value, interval: Some(interval) }.within(-1.0, 1.0))
    }

    /// The linear trend of the second column on the first.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance).
    pub fn trend(&self, group: usize, confidence: Confidence) -> Result<Trend, NoiseError> {
        let pair = self.pair(group, confidence, "trend")?;
        let [first, second] = pair.columns;
        let slope = pair.slope();
        // In units of the ranges the line goes through the two means.
        let at_zero = -first.low() / first.width();
        let [mean_first, mean_second] = pair.means.map(|mean| widened(mean, ROUNDING));
        let gap = Figure {
            value: at_zero - mean_first.value,
            interval: mean_first.interval.map(|[low, high]| [at_zero - high, at_zero - low]),
        };
        let rise = times(&slope, &gap);
        let intercept = Figure {
            value: mean_second.value + rise.value,
            interval: match (mean_second.interval, rise.interval) {
                (Some([a, b]), Some([c, d])) => Some([a + c, b + d]),
                _ => None,
            },
        };
        Ok(Trend {
            slope: slope.mapped(second.width() / first.width(), 0.0),
            intercept: intercept.mapped(second.width(), second.low()),
        })
    }

    /// The mean of the first (0) or second (1) column.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance).
    pub fn mean_of(&self, group: usize, axis: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let Part::Joint(first, second) = self.part() else {
            return Err(unavailable(self.part(), "means of two columns"));
        };
        let (column, weights) =
            if axis == 0 { (first, products(&PLACE, &ONES)) } else { (second, products(&ONES, &PLACE)) };
        let place = Sums::of(self, group)?.fixed_ratio(&weights.map(|[low, _]| low), confidence.beta());
        Ok(in_units(column, widened(place, ROUNDING)))
    }
}

impl Pair<'_> {
    /// Weights of (x − c)(y − d), for means that are anywhere in these intervals.
    fn product(first: [f64; 2], second: [f64; 2]) -> [[f64; 2]; 9] {
        products(&centered_ranges(first), &centered_ranges(second))
    }

    /// Weights of (x − c)² for the column of this axis.
    fn square(axis: usize, mean: [f64; 2]) -> [[f64; 2]; 9] {
        let square = square_ranges(mean);
        if axis == 0 { products(&square, &ONES) } else { products(&ONES, &square) }
    }

    /// The noisy sum with the weights at one point.
    fn at(&self, weights: [[f64; 2]; 9]) -> f64 {
        self.sums.dot(&weights.map(|[low, _]| low)).0
    }

    /// The range of the noisy sum of products while the means go over their intervals: it is linear in each of them.
    fn product_range(&self) -> [f64; 2] {
        let [first, second] = [ends(&self.means[0]), ends(&self.means[1])];
        let corners = first.into_iter().flat_map(|c| second.map(|d| self.at(Self::product([c; 2], [d; 2]))));
        corners.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(at), high.max(at)])
    }

    /// The same for a sum of squares, which is least at the estimated mean.
    fn square_range(&self, axis: usize) -> [f64; 2] {
        let [low, high] = ends(&self.means[axis]);
        let at = |mean: f64| self.at(Self::square(axis, [mean; 2]));
        [at(self.means[axis].value).min(at(low)).min(at(high)), at(low).max(at(high))]
    }

    fn covariance(&self, share: f64) -> Figure {
        let [first, second] = [ends(&self.means[0]), ends(&self.means[1])];
        let value = self.at(Self::product([self.means[0].value; 2], [self.means[1].value; 2]));
        let ranges = Self::product(first, second);
        let around =
            self.sums.ranged_ratio(&ranges, self.product_range(), value, [-0.3, 0.3], share * self.beta);
        widened(around, ROUNDING).within(-0.25, 0.25)
    }

    fn variance(&self, axis: usize) -> Figure {
        let value = self.at(Self::square(axis, [self.means[axis].value; 2]));
        let ranges = Self::square(axis, ends(&self.means[axis]));
        spread(self.sums.ranged_ratio(
            &ranges,
            self.square_range(axis),
            value,
            [-0.01, 0.3],
            shares::VARIANCE * self.beta,
        ))
    }

    /// The slope in units of the ranges: the quotient of the two sums; then all b for which the sum of (x − c)(y − d) − b(x − c)² could
    /// be noise.
    fn slope(&self) -> Figure {
        let [first, second] = [ends(&self.means[0]), ends(&self.means[1])];
        let (products, squares) = (Self::product(first, second), Self::square(0, first));
        let ([product_low, product_high], [square_low, square_high]) =
            (self.product_range(), self.square_range(0));
        let square = self.at(Self::square(0, [self.means[0].value; 2]));
        let product = self.at(Self::product([self.means[0].value; 2], [self.means[1].value; 2]));
        let value = if square > 0.0 { product / square } else { 0.0 };
        let error = |ranges: &[[f64; 2]; 9], share: f64| self.sums.ranged_error(ranges, share * self.beta);
        let (rows, slack) = self.sums.dot(&[1.0; 9]);
        let rounding = ROUNDING * (rows + slack + error(&[[1.0; 2]; 9], shares::ROWS)).max(0.0);
        let [by_products, by_squares] =
            [error(&products, shares::SUM) + rounding, error(&squares, shares::SUM) + rounding];
        if square_low <= by_squares {
            return Figure { value, interval: None };
        }
        let [mut low, mut high] = quotient(
            [product_low - by_products, product_high + by_products],
            [square_low - by_squares, square_high + by_squares],
        );
        for _ in 0..8 {
            // The weights of (x − c)(y − d) − b(x − c)².
            let weights = std::array::from_fn(|i| {
                let rises =
                    [low * squares[i][0], low * squares[i][1], high * squares[i][0], high * squares[i][1]];
                let (least, most) = rises
                    .into_iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), r| (least.min(r), most.max(r)));
                [products[i][0] - most, products[i][1] - least]
            });
            let error = error(&weights, shares::SLOPE) + rounding * (1.0 + low.abs().max(high.abs()));
            let [from, to] = quotient([product_low - error, product_high + error], [square_low, square_high]);
            (low, high) = (low.max(from.min(high)), high.min(to.max(low)));
        }
        Figure { value, interval: Some([low - low.abs() * 1e-12, high + high.abs() * 1e-12]) }
    }
}

/// The range of a/b for b in an interval above 0.
fn quotient([low, high]: [f64; 2], [least, most]: [f64; 2]) -> [f64; 2] {
    [low / if low < 0.0 { least } else { most }, high / if high > 0.0 { least } else { most }]
}

/// The product of two figures whose intervals hold together.
fn times(a: &Figure, b: &Figure) -> Figure {
    let interval = match (a.interval, b.interval) {
        (Some(a), Some(b)) => {
            let products = a.iter().flat_map(|x| b.iter().map(move |y| x * y));
            let (low, high) =
                products.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
            Some([low.next_down(), high.next_up()])
        }
        _ => None,
    };
    Figure { value: a.value * b.value, interval }
}
