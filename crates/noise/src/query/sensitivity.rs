//! How far one person can move several answers at once, worked out from public numbers.

use crate::NoiseError;
use reticent_core::Neighboring;
use reticent_core::rounding::{div_up, sqrt_up, sub_up};

/// The largest distance between the answers on neighbouring data, rounded up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuerySensitivity {
    /// The sum of the absolute changes: what Laplace noise is for.
    pub l1: f64,
    /// The root of the sum of their squares: what Gaussian noise is for.
    pub l2: f64,
}

impl QuerySensitivity {
    /// Of one number that moves by `change`.
    fn of_one(change: f64) -> Self {
        Self { l1: change, l2: change }
    }

    /// Of `counts` counts of which one person is in at most `most`: one colour (1 of 1), "males" and "blond" (2 of 2), four
    /// disjoint colours (1 of 4).
    ///
    /// # Guarantee
    /// Under add-remove a person changes at most `most` counts by 1. Under replace-one they may leave that many and enter as many
    /// others: at most 2·most counts, and no more than there are.
    ///
    /// # Reference
    /// Dwork, Roth (2014), definition 3.1 and its examples, for add-remove.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless 1 ≤ most ≤ counts ≤ 2⁵³.
    pub fn of_counts(counts: u64, most: u64, neighboring: Neighboring) -> Result<Self, NoiseError> {
        if counts == 0 || counts > 1 << 53 {
            return Err(NoiseError::invalid("counts", counts, "give a number from 1 to 2^53"));
        }
        if most == 0 || most > counts {
            let remedy = format!("give a number from 1 to counts = {counts}");
            return Err(NoiseError::invalid("overlap", most, remedy));
        }
        let changed = match neighboring {
            Neighboring::AddRemove => most,
            Neighboring::ReplaceOne => most.saturating_mul(2).min(counts),
        } as f64;
        Ok(Self { l1: changed, l2: sqrt_up(changed) })
    }

    /// Of a sum of values that are clamped to the bounds.
    ///
    /// # Guarantee
    /// Under add-remove one value comes or goes: max(|low|, |high|). Under replace-one it moves from one bound to the other at most:
    /// high − low.
    ///
    /// # Reference
    /// Dwork, Roth (2014), definition 3.1.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless low and high are finite and low < high.
    pub fn of_sum(bounds: [f64; 2], neighboring: Neighboring) -> Result<Self, NoiseError> {
        let [low, high] = checked(bounds)?;
        Ok(Self::of_one(match neighboring {
            Neighboring::AddRemove => low.abs().max(high.abs()),
            Neighboring::ReplaceOne => sub_up(high, low),
        }))
    }

    /// Of the mean of `rows` values that are clamped to the bounds: (high − low)/rows.
    ///
    /// # Guarantee
    /// Under replace-one, where the number of rows is public. Under add-remove it is private and no bound below high − low holds for
    /// every table; [`mean`](super::mean) therefore releases a noisy sum and a noisy count.
    ///
    /// # Reference
    /// Dwork, Roth (2014), definition 3.1.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless low and high are finite, low < high and there are rows.
    pub fn of_mean(bounds: [f64; 2], rows: u64) -> Result<Self, NoiseError> {
        let [low, high] = checked(bounds)?;
        if rows == 0 {
            return Err(NoiseError::invalid("dataset_size", rows, "give at least 1"));
        }
        // A count above 2⁵³ may be rounded up by the cast.
        let rows = if rows > 1 << 53 { (rows as f64).next_down() } else { rows as f64 };
        Ok(Self::of_one(div_up(sub_up(high, low), rows)))
    }
}

fn checked(bounds: [f64; 2]) -> Result<[f64; 2], NoiseError> {
    let [low, high] = bounds;
    if low.is_finite() && high.is_finite() && low < high && (high - low).is_finite() {
        Ok(bounds)
    } else {
        Err(NoiseError::invalid(
            "bounds",
            format!("{low},{high}"),
            "give two finite numbers, the lower first",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Neighboring::{AddRemove, ReplaceOne};

    /// The largest change over all memberships of one person, by trying each.
    fn tried(counts: u32, most: u32, neighboring: Neighboring) -> u32 {
        let allowed = || (0..1u32 << counts).filter(|set| set.count_ones() <= most);
        match neighboring {
            AddRemove => allowed().map(u32::count_ones).max().unwrap(),
            ReplaceOne => allowed().flat_map(|a| allowed().map(move |b| (a ^ b).count_ones())).max().unwrap(),
        }
    }

    #[test]
    fn counts_move_by_what_one_person_can_be_in() {
        for counts in 1..=6 {
            for most in 1..=counts {
                for relation in [AddRemove, ReplaceOne] {
                    let found =
                        QuerySensitivity::of_counts(u64::from(counts), u64::from(most), relation).unwrap();
                    let changed = f64::from(tried(counts, most, relation));
                    assert_eq!(found.l1, changed, "{counts} {most} {relation}");
                    assert!(found.l2 >= changed.sqrt() && found.l2 < changed.sqrt() * (1.0 + 1e-15));
                }
            }
        }
        for (counts, most) in [(0, 0), (3, 0), (3, 4)] {
            assert!(QuerySensitivity::of_counts(counts, most, AddRemove).is_err());
        }
    }

    #[test]
    fn sums_and_means_need_bounds() {
        let sum = |relation| QuerySensitivity::of_sum([-2.0, 5.0], relation).unwrap().l1;
        assert_eq!((sum(AddRemove), sum(ReplaceOne)), (5.0, 7.0));
        let mean = QuerySensitivity::of_mean([0.0, 10_000.0], 100).unwrap();
        assert_eq!((mean.l1, mean.l2), (100.0, 100.0));
        assert!(QuerySensitivity::of_mean([0.0, 1.0], 3).unwrap().l1 * 3.0 >= 1.0);
        for bounds in [[1.0, 1.0], [2.0, 1.0], [0.0, f64::INFINITY], [f64::NAN, 1.0], [-1e308, 1e308]] {
            assert!(QuerySensitivity::of_mean(bounds, 10).is_err(), "{bounds:?}");
        }
        assert!(QuerySensitivity::of_mean([0.0, 1.0], 0).is_err());
    }
}
