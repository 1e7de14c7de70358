//! Confidence limits for proportions and distribution functions, directed to the outside.

use crate::findings::Estimate;
use reticent_core::special::{beta_inc, bisect, clopper_pearson, normal_tail_quantile};

/// What the incomplete beta function may be off by, several times over.
const SLACK: f64 = 1e-10;

/// The Clopper–Pearson lower limit: with `successes` of Binomial(trials, p), p lies below it with probability at most
/// `alpha`.
///
/// # Guarantee
/// One-sided and exact for independent trials of equal probability; rounded down. 0 without a success, and for `alpha`
/// outside of 0..1.
///
/// # Reference
/// Clopper, Pearson, *The use of confidence or fiducial limits illustrated in the case of the binomial* (1934).
pub fn lower(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes == 0 || trials == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return 0.0;
    }
    if successes >= trials {
        return (libm::exp(libm::log(alpha) / trials as f64) * (1.0 - 4.0 * f64::EPSILON)).max(0.0);
    }
    clopper_pearson(successes, trials, alpha).0
}

/// The Clopper–Pearson upper limit: p lies above it with probability at most `alpha`.
///
/// # Guarantee
/// As [`lower`], rounded up. 1 when every trial was a success, and for `alpha` outside of 0..1.
///
/// # Reference
/// As [`lower`].
pub fn upper(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes >= trials || !(alpha > 0.0 && alpha < 1.0) {
        return 1.0;
    }
    if successes == 0 {
        return (-libm::expm1(libm::log(alpha) / trials as f64) * (1.0 + 4.0 * f64::EPSILON)).min(1.0);
    }
    clopper_pearson(successes, trials, alpha).1
}

/// The two-sided Clopper–Pearson interval: both limits at half of `alpha`.
///
/// # Guarantee
/// It misses p with probability at most `alpha`.
///
/// # Reference
/// As [`lower`].
pub fn two_sided(successes: u64, trials: u64, alpha: f64) -> (f64, f64) {
    (lower(successes, trials, alpha / 2.0), upper(successes, trials, alpha / 2.0))
}

/// The median of a sample between two of its values that cover the median of its distribution; none for too few values.
///
/// # Guarantee
/// For independent values of one distribution, whatever it is, the interval misses a median with probability at most `alpha`: more than
/// half of the error on one side would need fewer than k of n values below a median.
///
/// # Reference
/// Thompson, *On confidence ranges for the median and other expectation distributions* (1936).
pub fn median(values: &[f64], alpha: f64) -> Option<(f64, f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    // Fewer than k successes in fair trials are as likely as more than n - k.
    let is_sure = |k: &usize| upper_tail((count - k + 1) as u64, count as u64, 0.5) <= alpha / 2.0;
    let k = (1..=count / 2).rev().find(is_sure)?;
    let middle = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    Some((sorted[k - 1], middle, sorted[count - k]))
}

/// A proportion with its two-sided interval.
pub fn proportion(successes: u64, trials: u64, confidence: f64) -> Estimate {
    let (lower, upper) = two_sided(successes, trials, 1.0 - confidence);
    Estimate { value: successes as f64 / trials as f64, lower, upper, confidence }
}

/// How much more often one of two guesses about the same records is right, with an interval: `gained` records are guessed
/// rightly by the first alone, `lost` by the second alone, out of `trials`.
///
/// The difference is d(2s − 1), d the probability that exactly one of them is right and s that it is then the first. The number of such
/// records is binomial, and so is, given that number, how often it is the first: an exact interval for each, at half of the error, gives one
/// for the product.
///
/// # Guarantee
/// For independent records it misses the true difference with probability at most 1 − `confidence`, however the two guesses depend
/// on each other. −1 to 1 without records.
///
/// # Reference
/// [`two_sided`] twice, and the union bound.
pub fn paired_difference(gained: u64, lost: u64, trials: u64, confidence: f64) -> Estimate {
    if trials == 0 {
        return Estimate { value: 0.0, lower: -1.0, upper: 1.0, confidence };
    }
    let alpha = 0.5 * (1.0 - confidence);
    let (least, most) = two_sided(gained + lost, trials, alpha);
    let (low, high) = two_sided(gained, gained + lost, alpha);
    let end = |share: f64, own: f64, other: f64| (2.0 * share - 1.0) * if share >= 0.5 { own } else { other };
    let value = (gained as f64 - lost as f64) / trials as f64;
    let (lower, upper) = (end(low, least, most).next_down(), end(high, most, least).next_up());
    Estimate { value, lower: lower.max(-1.0), upper: upper.min(1.0), confidence }
}

/// The difference of two proportions of different records, with an interval.
///
/// # Guarantee
/// For independent records it misses the true difference with probability at most 1 − `confidence`: each proportion has an exact
/// interval at half of the error.
///
/// # Reference
/// [`two_sided`] twice, and the union bound.
pub fn difference_of_proportions(first: (u64, u64), second: (u64, u64), confidence: f64) -> Estimate {
    let alpha = 0.5 * (1.0 - confidence);
    let share = |(successes, trials): (u64, u64)| successes as f64 / trials.max(1) as f64;
    let (own, other) = (two_sided(first.0, first.1, alpha), two_sided(second.0, second.1, alpha));
    let (lower, upper) = ((own.0 - other.1).next_down(), (own.1 - other.0).next_up());
    let value = share(first) - share(second);
    Estimate { value, lower: lower.max(-1.0), upper: upper.min(1.0), confidence }
}

/// Pr(Binomial(trials, p) ≥ successes), rounded up.
pub(crate) fn upper_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes == 0 {
        return 1.0;
    }
    if successes > trials {
        return 0.0;
    }
    effective_tail(successes as f64, trials as f64, p)
}

/// [`upper_tail`] for numbers that need not be whole: those of an effective sample.
pub(crate) fn effective_tail(successes: f64, trials: f64, p: f64) -> f64 {
    if successes <= 0.0 {
        return 1.0;
    }
    if successes > trials {
        return 0.0;
    }
    (beta_inc(successes, trials - successes + 1.0, p) * (1.0 + SLACK) + SLACK * 1e-2).min(1.0)
}

/// [`lower`] for numbers that need not be whole: those of an effective sample.
pub(crate) fn effective_lower(successes: f64, trials: f64, alpha: f64) -> f64 {
    if successes <= 0.0 {
        return 0.0;
    }
    let k = successes.min(trials);
    (bisect(0.0, 1.0, |p| beta_inc(k, trials - k + 1.0, p) < alpha) * (1.0 - SLACK)).max(0.0)
}

/// [`upper`] for numbers that need not be whole.
pub(crate) fn effective_upper(successes: f64, trials: f64, alpha: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    let k = successes.max(0.0);
    (bisect(0.0, 1.0, |p| beta_inc(trials - k, k + 1.0, 1.0 - p) > alpha) * (1.0 + SLACK)).min(1.0)
}

/// The t that a Student variable exceeds with probability `alpha` below ½.
pub(crate) fn student_quantile(alpha: f64, freedom: f64) -> f64 {
    if freedom > 1e6 {
        return normal_tail_quantile(alpha);
    }
    bisect(0.0, 1e9, |t| 0.5 * beta_inc(0.5 * freedom, 0.5, freedom / (freedom + t * t)) > alpha)
}

/// How far a distribution function may be from that of `samples` draws, everywhere at once, but for probability `alpha`.
///
/// # Guarantee
/// The Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant: √(ln(2/α) / 2n), rounded up; at most 1.
///
/// # Reference
/// Massart, *The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality* (1990).
pub fn band(samples: u64, alpha: f64) -> f64 {
    if samples == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return 1.0;
    }
    ((libm::log(2.0 / alpha) / (2.0 * samples as f64)).sqrt() * (1.0 + 8.0 * f64::EPSILON)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// References by mpmath with 50 digits.
    #[test]
    fn differences_of_paired_guesses_are_covered() {
        let found = paired_difference(30, 10, 400, 0.95);
        assert!(found.lower > 0.0 && found.value == 0.05 && found.upper < 0.12, "{found:?}");
        let none = paired_difference(20, 20, 400, 0.95);
        assert!(none.lower < -0.01 && none.upper > 0.01 && none.upper < 0.06, "{none:?}");
        let mirrored = paired_difference(10, 30, 400, 0.95);
        assert!((mirrored.lower + found.upper).abs() < 1e-9 && (mirrored.upper + found.lower).abs() < 1e-9);
        assert_eq!(paired_difference(0, 0, 0, 0.95).lower, -1.0);
        // Exactly: the sum of the probabilities of all outcomes whose interval misses the truth.
        for (first, second, trials) in [(0.3, 0.1, 12), (0.05, 0.05, 16), (0.5, 0.5, 10), (0.6, 0.01, 12)] {
            let both = 1.0 - first - second;
            let mut missed = 0.0;
            for gained in 0..=trials {
                for lost in 0..=trials - gained {
                    let rest = trials - gained - lost;
                    let factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
                    let ways = factorial(trials) - factorial(gained) - factorial(lost) - factorial(rest);
                    let power = |p: f64, n: u64| p.powi(n as i32);
                    let mass = ways.exp() * power(first, gained) * power(second, lost) * power(both, rest);
                    let Estimate { lower, upper, .. } = paired_difference(gained, lost, trials, 0.9);
                    let truth = first - second;
                    missed += if lower <= truth && truth <= upper { 0.0 } else { mass };
                }
            }
            assert!(missed <= 0.1, "{first} {second}: {missed}");
        }
        let apart = difference_of_proportions((90, 100), (50, 100), 0.95);
        assert!(apart.lower > 0.19 && apart.upper < 0.6 && (apart.value - 0.4).abs() < 1e-12, "{apart:?}");
    }

    #[test]
    fn a_median_lies_between_order_statistics() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        // Of ten values the second and the ninth cover the median with probability 0.9785, the third and the eighth with 0.89.
        assert_eq!(median(&values, 0.05), Some((2.0, 5.5, 9.0)));
        assert_eq!(median(&values, 0.12), Some((3.0, 5.5, 8.0)));
        assert_eq!(median(&values[..5], 0.05), None);
        assert_eq!(median(&[], 0.05), None);
    }

    #[test]
    fn limits_are_those_of_the_beta_quantiles() {
        for (k, n, alpha, low, high) in REFERENCE {
            let (got_low, got_high) = (lower(*k, *n, *alpha), upper(*k, *n, *alpha));
            assert!(got_low <= *low && got_low >= low * (1.0 - 1e-9), "{k} {n}: {got_low} for {low}");
            assert!(got_high >= *high && got_high <= high * (1.0 + 1e-9), "{k} {n}: {got_high} for {high}");
        }
    }

    const REFERENCE: &[(u64, u64, f64, f64, f64)] = &[
        (1, 10, 0.05, 0.005116196891823701, 0.39416330243650477),
        (3, 7, 0.025, 0.09898827844250786, 0.815948432359917),
        (50, 100, 0.025, 0.39832112950330095, 0.601678870496699),
        (7, 2500, 0.05, 0.0013148405569653964, 0.005252779895541992),
        (1999, 2000, 0.001, 0.9953927841380357, 0.9999994997499583),
        (40, 400, 1e-06, 0.04310143071549788, 0.18775278396997921),
        (3, 100000, 0.025, 6.1867639589220315e-6, 8.767020256636202e-5),
    ];

    /// References by scipy, good to 12 digits or so.
    #[test]
    fn ten_million_trials_are_no_trouble() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(close(lower(12, 10_000_000, 0.025), 6.200_576_596_682_649e-7));
        assert!(close(upper(12, 10_000_000, 0.025), 2.096_157_565_676_928_5e-6));
        assert!(close(lower(5_000_000, 10_000_000, 0.025), 0.499_690_052_521_371_1));
        assert!(close(upper(5_000_000, 10_000_000, 0.025), 0.500_309_947_478_628_9));
    }

    #[test]
    fn effective_numbers_and_student_quantiles_are_right() {
        for (k, n, alpha, low, high) in REFERENCE {
            let (got_low, got_high) = (
                effective_lower(*k as f64, *n as f64, *alpha),
                effective_upper(*k as f64, *n as f64, *alpha),
            );
            assert!(got_low <= *low && got_low >= low * (1.0 - 1e-9), "{k} {n}: {got_low} for {low}");
            assert!(got_high >= *high && got_high <= high * (1.0 + 1e-9), "{k} {n}: {got_high} for {high}");
        }
        assert_eq!((effective_lower(0.0, 2.5, 0.1), effective_upper(2.5, 2.5, 0.1)), (0.0, 1.0));
        // References by scipy.
        for (freedom, t) in
            [(1.0, 12.706_204_736), (2.0, 4.302_652_730), (7.5, 2.333_039_63), (1e7, 1.959_964_2)]
        {
            assert!((student_quantile(0.025, freedom) - t).abs() < 1e-5 * t, "{freedom}");
        }
    }

    #[test]
    fn ends_are_exact() {
        assert_eq!(lower(0, 10, 0.05), 0.0);
        assert_eq!(upper(10, 10, 0.05), 1.0);
        assert!((upper(0, 10, 0.05) - (1.0 - 0.05_f64.powf(0.1))).abs() < 1e-14);
        assert!((lower(10, 10, 0.05) - 0.05_f64.powf(0.1)).abs() < 1e-14);
        assert_eq!(two_sided(3, 7, 0.1), (lower(3, 7, 0.05), upper(3, 7, 0.05)));
        assert_eq!((lower(3, 7, 0.0), upper(3, 7, f64::NAN), band(0, 0.1)), (0.0, 1.0, 1.0));
    }

    #[test]
    fn a_tail_is_the_sum_of_its_terms() {
        // Binomial(5, 0.3): 10·0.09·0.343 … for three and more successes.
        let exact = 10.0 * 0.027 * 0.49 + 5.0 * 0.0081 * 0.7 + 0.00243;
        let tail = upper_tail(3, 5, 0.3);
        assert!(tail >= exact && tail < exact + 1e-9);
        assert_eq!((upper_tail(0, 5, 0.3), upper_tail(6, 5, 0.3)), (1.0, 0.0));
    }
}
