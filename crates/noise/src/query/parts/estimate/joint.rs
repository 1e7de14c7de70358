//! Covariance, correlation and linear trend of two columns.

use super::super::column::PartColumn;
use super::super::moments::{centered_weights, place_weights, product_weights, square_weights};
use super::super::part::Part;
use super::super::release::NoisyPart;
use super::super::tail::Region;
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

const ONES: [f64; 3] = [1.0; 3];

/// What is known about one group, in units of the ranges, all at the confidence together.
struct Known<'a> {
    sums: Sums<'a>,
    region: Region,
    columns: [&'a PartColumn; 2],
    means: [Figure; 2],
    variances: [Figure; 2],
    covariance: Figure,
    /// Σ of products and of squares of the first column around the estimated means, as weights.
    product: [f64; 9],
    square: [f64; 9],
}

impl NoisyPart {
    fn known(
        &self,
        group: usize,
        confidence: Confidence,
        figure: &'static str,
    ) -> Result<Known<'_>, NoiseError> {
        let Part::Joint(first, second) = self.part() else {
            return Err(unavailable(self.part(), figure));
        };
        let sums = Sums::of(self, group)?;
        let region = sums.law.region(9, confidence.beta());
        let ratio = |weights: &[f64; 9]| sums.ratio(weights, |far| region.reach(far));
        let place: [f64; 3] = [place_weights(3)[0], place_weights(3)[1], place_weights(3)[2]];
        let means = [ratio(&product_weights(&place, &ONES)), ratio(&product_weights(&ONES, &place))];
        let [c, d] = [means[0].value, means[1].value];
        let square = product_weights(&square_weights(c), &ONES);
        let squares = [ratio(&square), ratio(&product_weights(&ONES, &square_weights(d)))];
        let variances = [spread(&means[0], &squares[0]), spread(&means[1], &squares[1])];
        let product = product_weights(&centered_weights(c), &centered_weights(d));
        let [off_first, off_second] = means.map(|mean| off(&mean));
        let around = ratio(&product);
        // cov = E[(x − c)(y − d)] − (E x − c)(E y − d).
        let covariance = widened(around, off_first * off_second + ROUNDING);
        let most = (ends(&variances[0])[1] * ends(&variances[1])[1]).sqrt() + ROUNDING;
        let covariance = covariance.within(-most, most);
        Ok(Known { sums, region, columns: [first, second], means, variances, covariance, product, square })
    }

    /// The covariance of two columns: the mean product of their distances from their means.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part is not joint.
    pub fn covariance(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let known = self.known(group, confidence, "covariance")?;
        Ok(known.covariance.mapped(known.columns[0].width() * known.columns[1].width(), 0.0))
    }

    /// Pearson's correlation of two columns, from −1 to 1.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance).
    pub fn correlation(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let known = self.known(group, confidence, "correlation")?;
        let ([low, high], [first, second]) = (ends(&known.covariance), known.variances);
        let ([first_low, first_high], [second_low, second_high]) = (ends(&first), ends(&second));
        let (least, most) = ((first_low * second_low).sqrt(), (first_high * second_high).sqrt());
        // Away from 0 the quotient is largest with the least spread, towards 0 with the most.
        let outward = |cov: f64| if least > 0.0 { cov / least } else { cov.signum() * f64::INFINITY };
        let inward = |cov: f64| if most > 0.0 { cov / most } else { 0.0 };
        let interval = [
            if low < 0.0 { outward(low) } else { inward(low) },
            if high > 0.0 { outward(high) } else { inward(high) },
        ];
        let spread = (first.value * second.value).sqrt();
        let value = if spread > 0.0 { known.covariance.value / spread } else { 0.0 };
        let interval = [interval[0] - 1e-12, interval[1] + 1e-12];
        Ok(Figure { value, interval: Some(interval) }.within(-1.0, 1.0))
    }

    /// The linear trend of the second column on the first.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance).
    pub fn trend(&self, group: usize, confidence: Confidence) -> Result<Trend, NoiseError> {
        let known = self.known(group, confidence, "trend")?;
        let [first, second] = known.columns;
        let slope = known.slope();
        // In units of the ranges the line goes through the two means.
        let at_zero = -first.low() / first.width();
        let [mean_first, mean_second] = known.means.map(|mean| widened(mean, ROUNDING));
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
        let place: [f64; 3] = [0.0, 0.5, 1.0];
        let (column, weights) = if axis == 0 {
            (first, product_weights(&place, &ONES))
        } else {
            (second, product_weights(&ONES, &place))
        };
        let place = Sums::of(self, group)?.fixed_ratio(&weights, confidence.beta());
        Ok(in_units(column, widened(place, ROUNDING)))
    }
}

impl Known<'_> {
    /// The slope in units of the ranges: all b for which Σ (x − c)(y − d) − b(x − c)² could be what noise and the errors of c and d
    /// leave of 0.
    fn slope(&self) -> Figure {
        let ((product, product_slack), (square, square_slack)) =
            (self.sums.dot(&self.product), self.sums.dot(&self.square));
        let value = if square > 0.0 { product / square } else { 0.0 };
        let ones = [1.0; 9];
        let (rows, slack) = self.sums.dot(&ones);
        let rows = (rows + slack + self.region.reach(&ones)).max(0.0);
        let [off_first, off_second] = self.means.map(|mean| off(&mean));
        let fixed =
            self.region.reach(&self.product) + product_slack + rows * (off_first * off_second + ROUNDING);
        let growing =
            self.region.reach(&self.square) + square_slack + rows * (off_first * off_first + ROUNDING);
        if square <= growing {
            return Figure { value, interval: None };
        }
        let over = |above: f64, away: bool| above / if away { square - growing } else { square + growing };
        let (low, high) = (product - fixed, product + fixed);
        let (from, to) = (over(low, low < 0.0), over(high, high > 0.0));
        Figure { value, interval: Some([from - from.abs() * 1e-12, to + to.abs() * 1e-12]) }
    }
}

/// How far the mean may be from its estimate.
fn off(mean: &Figure) -> f64 {
    let [low, high] = ends(mean);
    (mean.value - low).max(high - mean.value) + ROUNDING
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
