use crate::NoiseError;
use reticent_core::Code;

/// The most buckets: small enough to stay in a processor's cache.
const MOST_BUCKETS: usize = 1 << 16;

/// The most points of a bucket that are compared one after the other.
const FEW: usize = 4;

/// Public numbers in rising order, such as the edges of bins, among which values are placed.
///
/// The range of the points is divided into equal buckets. Finding the bucket of a value is a monotone function, computed for points
/// and values alike, so the points of lower buckets are below the value and those of higher ones above, whatever rounding does: only
/// the points of its own bucket, of which there are few, are compared.
///
/// ```
/// use reticent_noise::query::SortedPoints;
///
/// let edges = SortedPoints::new(vec![0.0, 10.0, 30.0])?;
/// assert_eq!((edges.below(10.0), edges.up_to(10.0)), (1, 2));
/// assert_eq!((edges.below(-7.5), edges.up_to(1e300)), (0, 3));
/// # Ok::<(), reticent_noise::NoiseError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SortedPoints {
    /// With infinities at the end, so that the points of a bucket can be compared without a look at their number.
    padded: Vec<f64>,
    len: usize,
    /// The number of points in lower buckets, and at the end that of all.
    before: Vec<u32>,
    /// Buckets per unit.
    scale: f64,
    /// The most points of one bucket.
    most: usize,
}

impl SortedPoints {
    /// These points.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless they are finite numbers in rising order, at least one and fewer than 2³².
    pub fn new(points: Vec<f64>) -> Result<Self, NoiseError> {
        let len = points.len();
        let is_sorted =
            points.iter().all(|point| point.is_finite()) && points.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_sorted || points.is_empty() || u32::try_from(len).is_err() {
            let remedy = "give finite numbers in rising order";
            return Err(NoiseError::coded(Code::List, "points", len, remedy));
        }
        let buckets = (8 * len).next_power_of_two().min(MOST_BUCKETS);
        let scale = buckets as f64 / (points[len - 1] - points[0]);
        // Points that are too close to each other or too far apart are in one bucket.
        let scale = if scale.is_normal() { scale } else { 0.0 };
        let mut sorted = Self { padded: points, len, before: vec![0; buckets + 1], scale, most: 0 };
        for place in 0..len {
            let bucket = sorted.bucket(sorted.padded[place]);
            sorted.before[bucket + 1] += 1;
        }
        sorted.most = sorted.before.iter().map(|count| *count as usize).max().unwrap_or(0);
        let mut sum = 0;
        for count in &mut sorted.before {
            sum += *count;
            *count = sum;
        }
        sorted.padded.extend([f64::INFINITY; FEW + 1]);
        Ok(sorted)
    }

    /// The points.
    pub fn points(&self) -> &[f64] {
        &self.padded[..self.len]
    }

    /// The number of points below a finite value.
    pub fn below(&self, value: f64) -> usize {
        self.place(value, |point| point < value)
    }

    /// The number of points at or below a finite value.
    pub fn up_to(&self, value: f64) -> usize {
        self.place(value, |point| point <= value)
    }

    /// The bucket of a finite value, which never falls as the value rises.
    fn bucket(&self, value: f64) -> usize {
        let last = (self.before.len() - 2) as f64;
        ((value - self.padded[0]) * self.scale).clamp(0.0, last) as usize
    }

    /// The number of points that are before the place of a value, as decided by `is_before` within its bucket.
    fn place(&self, value: f64, is_before: impl Fn(f64) -> bool) -> usize {
        let bucket = self.bucket(value);
        let start = self.before[bucket] as usize;
        if self.most <= FEW {
            // Points of higher buckets are above the value: to compare them too changes nothing.
            let near = &self.padded[start..start + self.most];
            return start + near.iter().filter(|point| is_before(**point)).count();
        }
        let own = &self.padded[start..self.before[bucket + 1] as usize];
        start + own.partition_point(|point| is_before(*point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(points: Vec<f64>, values: &[f64]) {
        let sorted = SortedPoints::new(points.clone()).unwrap();
        assert_eq!(sorted.points(), points);
        for value in values.iter().chain(&points) {
            assert_eq!(sorted.below(*value), points.partition_point(|point| point < value), "{value}");
            assert_eq!(sorted.up_to(*value), points.partition_point(|point| point <= value), "{value}");
        }
    }

    fn rising(mut points: Vec<f64>) -> Vec<f64> {
        points.retain(|point| point.is_finite());
        points.push(0.5);
        points.sort_by(f64::total_cmp);
        points.dedup();
        points
    }

    #[test]
    fn extreme_points_are_placed() {
        let values = [f64::MIN, -1e300, -1.0, -0.0, 0.0, 5e-324, 1e-300, 0.1, 1.0, 1e300, f64::MAX];
        for points in [
            vec![0.0],
            vec![-0.0],
            vec![f64::MIN, f64::MAX],
            vec![f64::MIN, 0.0, f64::MAX],
            vec![0.0, 5e-324, 1e-323],
            vec![1.0, 1.0 + f64::EPSILON, 2.0, 1e300],
            (0..3000).map(|i| 1.0 + f64::from(i) * f64::EPSILON).collect(),
            (0..100_000).map(|i| f64::from(i) * 0.1).collect(),
        ] {
            check(points, &values);
        }
    }

    #[test]
    fn points_that_are_not_sorted_are_refused() {
        for points in [vec![], vec![1.0, 1.0], vec![2.0, 1.0], vec![f64::NAN], vec![0.0, f64::INFINITY]] {
            assert!(SortedPoints::new(points).is_err());
        }
    }

    proptest! {
        #[test]
        fn values_are_placed_as_by_comparing_all_points(
            wild in proptest::collection::vec(any::<f64>(), 0..40),
            near in proptest::collection::vec(-3.0f64..3.0, 0..40),
            values in proptest::collection::vec(any::<f64>(), 0..20),
            close in proptest::collection::vec(-4.0f64..4.0, 0..20),
        ) {
            let values: Vec<f64> = values.into_iter().chain(close).filter(|value| value.is_finite()).collect();
            check(rising(wild), &values);
            check(rising(near), &values);
        }
    }
}
