//! The median of measurements, with an interval that needs no distribution.

use crate::findings::Estimate;

/// The median of measurements, each between two bounds.
///
/// # Guarantee
/// For independent draws of any distribution, or draws without repetition from a finite population, the interval covers a median of it
/// with the stated confidence at least: its ends are order statistics, and a bound where there are too few measurements for one. An
/// empty list gives both bounds.
///
/// # Reference
/// David, Nagaraja, *Order statistics* (2003), section 7.1: x₍ₖ₎ lies above the median only if fewer than k draws are at most the median,
/// which has at most the probability Pr[Bin(n, ½) < k].
pub fn median(values: &[f64], bounds: [f64; 2], confidence: f64) -> Estimate {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let [lowest, highest] = bounds;
    if count == 0 {
        return Estimate { value: 0.5 * (lowest + highest), lower: lowest, upper: highest, confidence };
    }
    let value = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    let cut = outside(count, 0.5 * (1.0 - confidence));
    let (lower, upper) = match cut {
        0 => (lowest, highest),
        _ => (sorted[cut - 1], sorted[count - cut]),
    };
    Estimate { value, lower, upper, confidence }
}

/// The largest k with Pr[Bin(n, ½) < k] ≤ α.
fn outside(count: usize, alpha: f64) -> usize {
    let n = count as f64;
    let log_half = -n * std::f64::consts::LN_2;
    // Rounding of the sum stays far below this.
    let alpha = alpha * (1.0 - 1e-9);
    let (mut term, mut total, mut k) = (log_half, 0.0, 0);
    while k <= count / 2 {
        total += libm::exp(term);
        if total > alpha {
            break;
        }
        k += 1;
        term += libm::log((n - k as f64 + 1.0) / k as f64);
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_known_order_statistics() {
        // Tables of the sign test at 95 %: n = 6 takes the extremes, n = 20 the 6th and the 15th.
        for (count, cut) in [(0, 0), (5, 0), (6, 1), (8, 1), (9, 2), (20, 6), (100, 40)] {
            assert_eq!(outside(count, 0.025), cut, "{count}");
        }
        let values: Vec<f64> = (1..=20).map(f64::from).rev().collect();
        let found = median(&values, [0.0, 100.0], 0.95);
        assert_eq!((found.value, found.lower, found.upper), (10.5, 6.0, 15.0));
        let few = median(&[3.0, 1.0], [0.0, 9.0], 0.95);
        assert_eq!((few.value, few.lower, few.upper), (2.0, 0.0, 9.0));
    }

    #[test]
    fn it_covers_the_median_as_often_as_it_says() {
        // All 2ⁿ outcomes of "below or above": the interval misses when at most k - 1 are on one side.
        for count in 1..16_usize {
            let cut = outside(count, 0.025);
            let missed = (0..1_u32 << count)
                .filter(|signs| {
                    (signs.count_ones() as usize) < cut || count - (signs.count_ones() as usize) < cut
                })
                .count();
            assert!(missed as f64 / f64::from(1_u32 << count) <= 0.05);
        }
    }
}
