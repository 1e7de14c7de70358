use super::counts::checked_rows;
use super::{Answer, QueryTerms, Reach, release_integers, share_of};
use crate::grid::Grid;
use crate::{NoiseError, Releaser};
use reticent_core::rounding::{mul_up, sqrt_up};
use reticent_core::{Code, MergeError, Neighboring, Partial, Scale};

/// Fineness of the grid for real columns: bounds are this many bits of steps.
const GRID_BITS: u32 = 44;

/// A running sum of values clamped to public bounds, as integers on a grid.
///
/// The sum does not depend on the order of the values, and sums of parts [merge](Partial::merge) exactly. It cannot overflow below
/// 2⁵⁰ values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedSum {
    low: f64,
    high: f64,
    grid: Grid,
    low_point: i128,
    high_point: i128,
    total: i128,
    rows: u64,
}

impl BoundedSum {
    /// An empty sum over [low, high]. Whole-number bounds with `integers` use steps of 1, so that
    /// sums of integers are exact.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] naming `bounds` unless low < high, both finite.
    pub fn new(low: f64, high: f64, integers: bool) -> Result<Self, NoiseError> {
        let text = || format!("{low},{high}");
        if !(low.is_finite() && high.is_finite() && (high - low).is_finite()) {
            return Err(NoiseError::coded(Code::Bounds, "bounds", text(), "give two finite numbers"));
        }
        if low >= high {
            return Err(NoiseError::coded(
                Code::Bounds,
                "bounds",
                text(),
                "give the lower bound first, below the upper one",
            ));
        }
        let whole = |v: f64| v == v.trunc() && v.abs() <= (1u64 << 52) as f64;
        let grid = if integers && whole(low) && whole(high) {
            Grid::INTEGERS
        } else {
            Grid::for_scale(Scale::new(low.abs().max(high.abs()))?, GRID_BITS)?
        };
        let (low_point, high_point) = (grid.round(low), grid.round(high));
        if low_point == high_point {
            return Err(NoiseError::coded(
                Code::Bounds,
                "bounds",
                text(),
                "give bounds further apart: they are the same to 13 digits",
            ));
        }
        Ok(Self { low, high, grid, low_point, high_point, total: 0, rows: 0 })
    }

    /// Adds one value, clamped to the bounds; not-a-number counts as the lower bound.
    pub fn add(&mut self, value: f64) {
        let value = if value.is_nan() { self.low } else { value.clamp(self.low, self.high) };
        self.add_point(self.grid.round(value));
    }

    /// Adds the finite ones of some values, each clamped to the bounds, and returns how many there are. Value i is looked at if bit
    /// i % 64 of word i / 64 of `rows` is set. The sum is that of [`add`](Self::add) for each, bit for bit.
    pub fn add_rows<T: Copy + Into<f64>>(&mut self, values: &[T], rows: &[u64]) -> u64 {
        // 2^−exponent, by which a value is multiplied without rounding.
        let steps = self.grid.steps(1.0);
        let largest = self.low_point.unsigned_abs().max(self.high_point.unsigned_abs());
        let before = self.rows;
        if steps.is_normal() && largest <= 1 << 50 {
            for (values, word) in values.chunks(64).zip(rows) {
                let (total, count) = self.round_and_add(steps, values, *word);
                // Up to 64 points of at most 2⁵⁰ in size.
                self.total = self.total.saturating_add(i128::from(total));
                self.rows = self.rows.saturating_add(count);
            }
        } else {
            for (values, word) in values.chunks(64).zip(rows) {
                let is_in = |(place, value): &(usize, f64)| word >> place & 1 == 1 && value.is_finite();
                let values = values.iter().map(|value| (*value).into()).enumerate();
                values.filter(is_in).for_each(|(_, value)| self.add(value));
            }
        }
        self.rows - before
    }

    /// The sum of the grid points of up to 64 values, and the number of values.
    ///
    /// A double of at most 2⁵¹ in size plus 3·2⁵¹ is rounded to a whole number, ties to even, which is then the difference of the two
    /// bit patterns: so the loop has no branch and no conversion, and is computed in vectors.
    fn round_and_add<T: Copy + Into<f64>>(&self, steps: f64, values: &[T], word: u64) -> (i64, u64) {
        const SHIFT: f64 = (3u64 << 51) as f64;
        let (low, high) = (self.low, self.high);
        let point = |value: f64| {
            let clamped = if value < low { low } else { value };
            let clamped = if clamped > high { high } else { clamped };
            (clamped * steps + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits())
        };
        let finite = |value: f64| if value.abs() < f64::INFINITY { u64::MAX } else { 0 };
        let (mut total, mut count) = (0u64, 0u64);
        if word == u64::MAX {
            for value in values {
                let value = (*value).into();
                let keep = finite(value);
                total = total.wrapping_add(point(value) & keep);
                count = count.wrapping_sub(keep);
            }
        } else {
            for (place, value) in values.iter().enumerate() {
                let value = (*value).into();
                let keep = finite(value) & 0u64.wrapping_sub(word >> place & 1);
                total = total.wrapping_add(point(value) & keep);
                count = count.wrapping_sub(keep);
            }
        }
        (total.cast_signed(), count)
    }

    /// Adds the middle of the bounds, for a missing value where the number of rows is public.
    pub fn add_middle(&mut self) {
        self.add_middles(1);
    }

    /// Adds the middle of the bounds so many times.
    pub fn add_middles(&mut self, count: u64) {
        let middle = self.low_point + (self.high_point - self.low_point) / 2;
        self.total = self.total.saturating_add(middle.saturating_mul(i128::from(count)));
        self.rows = self.rows.saturating_add(count);
    }

    fn add_point(&mut self, point: i128) {
        self.total = self.total.saturating_add(point.clamp(self.low_point, self.high_point));
        self.rows = self.rows.saturating_add(1);
    }

    /// The number of values added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn width(&self) -> i128 {
        self.high_point - self.low_point
    }
}

/// The bounds and the grid must be the same.
impl Partial for BoundedSum {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let question = |sum: &Self| (sum.low.to_bits(), sum.high.to_bits(), sum.grid);
        if question(self) != question(other) {
            return Err(MergeError::Mismatch { what: "bounds" });
        }
        // A grid point is below 2⁵³ in size and the rows fit 64 bits, so the total cannot overflow.
        self.rows = self.rows.checked_add(other.rows).ok_or(MergeError::Overflow)?;
        self.total = self.total.saturating_add(other.total);
        Ok(())
    }
}

fn steps(value: i128) -> Result<u64, NoiseError> {
    u64::try_from(value)
        .map_err(|_| NoiseError::coded(Code::Bounds, "bounds", value, "give bounds of at most 2^52 in size"))
}

/// The sum of a column clamped to public bounds.
///
/// # Guarantee
/// Under add-remove the sensitivity is the larger of |low| and |high|; under replace-one the largest of
/// |low|, |high| and high − low, so that a row may also come in or drop out by a filter. Rounding to
/// the grid happens before, so both are exact in grid steps.
///
/// # Reference
/// Dwork, Roth (2014), section 3.3; integer sums answer Casacuberta et al., *Widespread
/// Underestimation of Sensitivity in Differentially Private Libraries* (2022).
///
/// # Errors
/// [`NoiseError::Invalid`] when the terms cannot be met.
pub fn sum(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    gathered: &BoundedSum,
) -> Result<Answer<f64>, NoiseError> {
    let moved = match terms.neighboring {
        Neighboring::AddRemove => gathered.low_point.abs().max(gathered.high_point.abs()),
        // A row may also begin or cease to count, by a filter or a missing value.
        Neighboring::ReplaceOne => {
            gathered.width().max(gathered.low_point.abs()).max(gathered.high_point.abs())
        }
    };
    let moved = steps(moved)?;
    let noisy = release_integers(source, terms, Reach { l1: moved, l2: moved as f64 }, &[gathered.total])?;
    let [low, high] = noisy.interval(0);
    let scaled = |v: f64| (v * gathered.grid.step()).clamp(f64::MIN, f64::MAX);
    Ok(Answer {
        value: gathered.grid.value(noisy.values[0], 0.0),
        interval: vec![[scaled(low), scaled(high)]],
        events: vec![noisy.event],
        guarantee: noisy.guarantee,
    })
}

/// The mean of a column clamped to public bounds.
///
/// With `rows_public` (replace-one, no filter) the noisy sum of x − low is divided by it. Otherwise
/// the sums of x − low and of high − x are released as one vector: every row contributes exactly
/// high − low to the two together, so one budget serves both, and the mean is
/// low + (high − low)·A/(A + B).
///
/// # Guarantee
/// With w = high − low in grid steps. Known number of rows, replace-one: sensitivity w. Private
/// number of rows: ℓ1 and ℓ2 sensitivity w under add-remove, 2w and √2·w under replace-one.
///
/// # Reference
/// The sum of x − low and its complement is derived in the proof.
///
/// # Errors
/// [`NoiseError::Invalid`] when `rows_public` is set under add-remove, is not the number of values
/// gathered, or the terms cannot be met.
pub fn mean(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    gathered: &BoundedSum,
    rows_public: Option<u64>,
) -> Result<Answer<f64>, NoiseError> {
    let width = steps(gathered.width())?;
    let rows = i128::from(gathered.rows);
    let above_low = gathered.total - rows * gathered.low_point;
    let place = |share: f64| {
        (gathered.low + (gathered.high - gathered.low) * share).clamp(gathered.low, gathered.high)
    };
    if let Some(public) = checked_rows(terms, rows_public)? {
        if public != gathered.rows {
            return Err(NoiseError::coded(
                Code::Relation,
                "rows_public",
                public,
                format!("give the number of values gathered: {}", gathered.rows),
            ));
        }
        let noisy = release_integers(source, terms, Reach { l1: width, l2: width as f64 }, &[above_low])?;
        let full = width as f64 * public as f64;
        let [low, high] = noisy.interval(0);
        return Ok(Answer {
            value: place(noisy.values[0] as f64 / full),
            interval: vec![[place(low / full), place(high / full)]],
            events: vec![noisy.event],
            guarantee: noisy.guarantee,
        });
    }
    let below_high = rows * gathered.high_point - gathered.total;
    let reach = match terms.neighboring {
        Neighboring::AddRemove => Reach { l1: width, l2: width as f64 },
        Neighboring::ReplaceOne => Reach { l1: 2 * width, l2: mul_up(sqrt_up(2.0), width as f64) },
    };
    let noisy = release_integers(source, &terms.surer(2.0)?, reach, &[above_low, below_high])?;
    let (share, [low, high]) = share_of(noisy.values[0] as f64, noisy.values[1] as f64, noisy.error);
    Ok(Answer {
        value: place(share),
        interval: vec![[place(low), place(high)]],
        events: vec![noisy.event],
        guarantee: noisy.guarantee,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum by single values.
    fn one_by_one(mut sum: BoundedSum, values: &[f64], rows: &[u64]) -> BoundedSum {
        for (place, value) in values.iter().enumerate() {
            if rows[place / 64] >> (place % 64) & 1 == 1 && value.is_finite() {
                sum.add(*value);
            }
        }
        sum
    }

    fn check(sum: BoundedSum, values: &[f64], rows: &[u64]) {
        let expected = one_by_one(sum, values, rows);
        let mut together = sum;
        assert_eq!(together.add_rows(values, rows), expected.rows);
        assert_eq!(together, expected);
    }

    #[test]
    fn values_halfway_between_grid_points_go_to_the_even_one() {
        let values: Vec<f64> = (-40..40).map(|half| f64::from(half) / 2.0).collect();
        let mut sum = BoundedSum::new(-30.0, 30.0, true).unwrap();
        check(sum, &values, &[u64::MAX, u64::MAX >> 48]);
        sum.add_rows(&[0.5, 1.5, 2.5, -0.5, -1.5], &[0b11111]);
        assert_eq!(sum.total, 2);
    }

    #[test]
    fn the_largest_sums_of_a_word_are_exact() {
        for high in [2f64.powi(50), 2f64.powi(50) + 1.0, 2f64.powi(52)] {
            let sum = BoundedSum::new(-high, high, true).unwrap();
            for values in [[high; 64], [-high; 64], [f64::MAX; 64], [high - 0.5; 64]] {
                check(sum, &values, &[u64::MAX]);
            }
        }
    }

    #[test]
    fn narrow_numbers_are_added_as_doubles() {
        let sum = BoundedSum::new(-40.0, 55.0, true).unwrap();
        let integers: Vec<i32> = (0..64).map(|row| row * 7 - 200).collect();
        let singles: Vec<f32> = (0..64u8).map(|row| f32::from(row) / 0.3).chain([f32::NAN]).collect();
        let (mut narrow, mut wide) = (sum, sum);
        narrow.add_rows(&integers, &[u64::MAX]);
        narrow.add_rows(&singles, &[u64::MAX, 1]);
        wide.add_rows(&integers.iter().map(|value| f64::from(*value)).collect::<Vec<_>>(), &[u64::MAX]);
        wide.add_rows(&singles.iter().map(|value| f64::from(*value)).collect::<Vec<_>>(), &[u64::MAX, 1]);
        assert_eq!(narrow, wide);
    }

    #[test]
    fn middles_are_added_by_their_number() {
        let mut sum = BoundedSum::new(-3.0, 10.0, true).unwrap();
        let mut one_by_one = sum;
        sum.add_middles(5);
        (0..5).for_each(|_| one_by_one.add_middle());
        assert_eq!(sum, one_by_one);
    }

    proptest! {
        #[test]
        fn a_sum_of_rows_is_the_sum_of_their_values(
            low in prop_oneof![any::<f64>(), -100.0f64..100.0, (-100i32..100).prop_map(f64::from)],
            width in prop_oneof![Just(1.0), 0.001f64..1e6, (1u64..1 << 53).prop_map(|width| width as f64)],
            integers: bool,
            shift in -1100i32..1000,
            wild in proptest::collection::vec(any::<f64>(), 0..150),
            inside in proptest::collection::vec(-0.2f64..1.2, 0..150),
            rows in proptest::array::uniform5(prop_oneof![Just(u64::MAX), any::<u64>()]),
        ) {
            let low = libm::scalbn(low, if integers { 0 } else { shift.clamp(-1000, 900) });
            let high = low + width * low.abs().max(1e-300);
            if let Ok(sum) = BoundedSum::new(low, high, integers) {
                let inside = inside.iter().map(|share| low + share * (high - low));
                let values: Vec<f64> = wild.iter().copied().chain(inside).collect();
                check(sum, &values, &rows);
            }
            if let Ok(sum) = BoundedSum::new(low.round(), low.round() + width.round(), integers) {
                check(sum, &wild, &rows);
            }
        }
    }
}
