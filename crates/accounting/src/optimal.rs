//! Optimal composition of (ε, δ) mechanisms of which nothing else is known.
//!
//! The worst such mechanism reveals everything with probability δ and is otherwise randomized
//! response with loss ±ε, + with probability p = e^ε/(1 + e^ε). So k of them lose Σ ±εᵢ, and the exact
//! curve is 1 − Π(1 − δᵢ)·(1 − E[(1 − e^{ε − Σ±εᵢ})₊]).

use crate::AccountingError;
use reticent_core::rounding::{add_up, exp_up, mul_up};
use reticent_core::{Delta, Epsilon, Guarantee};

/// Terms further than this many standard deviations out weigh less than e^{−800}.
const WINDOW: f64 = 40.0;

/// Unequal mechanisms are enumerated while 2^k stays below this.
const ENUMERATED: usize = 16;

/// The finest grid for many unequal mechanisms, and points times mechanisms at most.
const GRID_POINTS: f64 = 1_048_576.0;
const GRID_WORK: f64 = 1e8;

/// More equal mechanisms than this are not summed term by term.
const MOST_SUMMED: u64 = 1_000_000_000;

/// ln of a binomial probability, to about 1e-13 of its size.
fn log_binomial(k: f64, successes: f64, log_p: f64, log_rest: f64) -> f64 {
    libm::lgamma(k + 1.0) - libm::lgamma(successes + 1.0) - libm::lgamma(k - successes + 1.0)
        + successes * log_p
        + (k - successes) * log_rest
}

/// P(everything is revealed) or more: 1 − Π(1 − δᵢ)·(1 − inner), rounded up.
fn with_deltas(log_kept: f64, inner: f64) -> f64 {
    // 1 − e^{log_kept}(1 − inner) = −expm1(log_kept) + e^{log_kept}·inner
    let revealed = -libm::expm1(log_kept);
    add_up(revealed * (1.0 + 1e-14), mul_up(exp_up(log_kept), inner)).min(1.0)
}

/// The δ of `count` equal mechanisms at a total ε, rounded up.
///
/// # Guarantee
/// Either neighbouring relation, adaptive choice included. Exact but for rounding up to 10⁹ mechanisms; beyond
/// that by the Rényi curve of the worst mechanism.
///
/// # Reference
/// Kairouz, Oh, Viswanath, *The composition theorem for differential privacy* (2015), theorem 3.3.
pub fn equal_delta_up(part: Guarantee, count: u64, total: Epsilon) -> f64 {
    let (e, k) = (part.epsilon.get(), count as f64);
    let log_kept = k * libm::log1p(-part.delta.get()) * (1.0 + 1e-15);
    if e == 0.0 || count == 0 {
        return with_deltas(log_kept, 0.0);
    }
    if count > MOST_SUMMED {
        // ε-private is ε²/2-zCDP, and pure.
        let rho = mul_up(mul_up(k.next_up(), 0.5), mul_up(e, e));
        let at = |order: f64| crate::rdp::delta_at_order(mul_up(rho, order), order, total);
        let order = 1.0 + (total.get() / rho - 1.0).max(1e-3) / 2.0;
        let inner = [0.8, 0.9, 1.0, 1.1, 1.2].map(|f| at(1.0 + f * (order - 1.0)));
        let basic = if total.get() >= mul_up(k.next_up(), e) { 0.0 } else { 1.0 };
        return with_deltas(log_kept, inner.into_iter().fold(basic, f64::min));
    }
    // ln p and ln(1 − p), p = 1/(1 + e^{−ε}).
    let log_p = -libm::log1p(libm::exp(-e));
    let log_rest = -e + log_p;
    let mean = k * libm::exp(log_p);
    let spread = (k * libm::exp(log_p + log_rest)).sqrt();
    // Losses (2s − k)ε above the total, s successes.
    let first = ((total.get() / e + k) / 2.0 - 1.0).floor().max(mean - WINDOW * spread - 50.0).max(0.0);
    let last = (mean + WINDOW * spread + 50.0).min(k);
    let mut inner = 0.0;
    let mut s = first.floor();
    while s <= last.ceil().min(k) {
        // A little more than the loss, for its rounding.
        let beyond = (2.0 * s - k) * e - total.get() + 4.0 * f64::EPSILON * k * e;
        if beyond > 0.0 {
            let mass = libm::exp(log_binomial(k, s, log_p, log_rest));
            inner += mass * -libm::expm1(-beyond);
            // Past the mean the masses fall: what is left is at most so many of the last.
            let left = mass * (last - s);
            if s > mean && left < 1e-17 * inner {
                inner += left;
                break;
            }
        }
        s += 1.0;
    }
    // lgamma loses about log2(k) digits; terms left out of the window weigh nothing.
    let error = 1e-15 * (k * libm::log(k + 2.0)).max(16.0) + 1e-13;
    with_deltas(log_kept, mul_up(inner, 1.0 + error) + 1e-300)
}

/// The δ of unequal mechanisms at a total ε, rounded up.
///
/// Up to 16 different mechanisms are enumerated; beyond that each ε is rounded up to a grid, which only
/// makes the mechanisms worse, and the sums are convolved.
///
/// # Guarantee
/// Either neighbouring relation, adaptive choice included. Exact but for rounding up to 16 mechanisms.
///
/// # Reference
/// Murtagh, Vadhan, *The complexity of computing the optimal composition of differential privacy*
/// (2016), theorem 1.5.
pub fn unequal_delta_up(parts: &[Guarantee], total: Epsilon) -> f64 {
    Losses::new(parts).delta_up(total.get())
}

/// Every value of the total loss with its probability, ready for any ε.
struct Losses {
    log_kept: f64,
    /// (loss, probability).
    outcomes: Vec<(f64, f64)>,
    relative: f64,
    absolute: f64,
}

impl Losses {
    fn new(parts: &[Guarantee]) -> Self {
        let log_kept: f64 = parts.iter().map(|part| libm::log1p(-part.delta.get())).sum();
        let epsilons: Vec<f64> = parts.iter().map(|part| part.epsilon.get()).filter(|e| *e > 0.0).collect();
        let sum: f64 = epsilons.iter().sum();
        let (outcomes, relative) = if epsilons.len() <= ENUMERATED {
            (enumerate(&epsilons), 1e-11)
        } else {
            (convolve(&epsilons), 1e-14 * epsilons.len() as f64 + 1e-9)
        };
        let log_kept = log_kept * (1.0 + f64::EPSILON * parts.len() as f64);
        Self { log_kept, outcomes, relative, absolute: 1e-14 * sum }
    }

    fn delta_up(&self, total: f64) -> f64 {
        let inner: f64 = self
            .outcomes
            .iter()
            .map(|(loss, weight)| weight * -libm::expm1((total - loss - self.absolute).min(0.0)))
            .sum();
        with_deltas(self.log_kept, inner * (1.0 + self.relative))
    }
}

fn enumerate(epsilons: &[f64]) -> Vec<(f64, f64)> {
    let mut outcomes = vec![(0.0, 1.0)];
    for e in epsilons {
        let plus = 1.0 / (1.0 + libm::exp(-e));
        let minus = 1.0 / (1.0 + libm::exp(*e));
        outcomes = outcomes
            .into_iter()
            .flat_map(|(loss, weight)| [(loss - e, weight * minus), (loss + e, weight * plus)])
            .collect();
    }
    outcomes
}

fn convolve(epsilons: &[f64]) -> Vec<(f64, f64)> {
    let largest = epsilons.iter().copied().fold(0.0, f64::max);
    let sum: f64 = epsilons.iter().sum();
    // Fewer points for more mechanisms, so that the work stays the same.
    let points = (GRID_WORK / epsilons.len() as f64).clamp(4096.0, GRID_POINTS);
    let step = (2.0 * sum / points).max(largest * 1e-9);
    let steps: Vec<usize> = epsilons.iter().map(|e| (e / step).ceil().max(1.0) as usize).collect();
    let reach: usize = steps.iter().sum();
    // masses[i] is the probability of the loss (i − reach so far)·step; it is extended one mechanism at a time.
    let mut masses = vec![1.0];
    for n in steps {
        let plus = 1.0 / (1.0 + libm::exp(-(n as f64) * step));
        let mut next = vec![0.0; masses.len() + 2 * n];
        for (i, mass) in masses.iter().enumerate() {
            next[i] += mass * (1.0 - plus);
            next[i + 2 * n] += mass * plus;
        }
        masses = next;
    }
    masses.into_iter().enumerate().map(|(i, mass)| ((i as f64 - reach as f64) * step, mass)).collect()
}

/// The least total ε of equal mechanisms at δ, rounded up; not below 0.
///
/// # Guarantee
/// (returned, δ), by [`equal_delta_up`].
///
/// # Reference
/// As [`equal_delta_up`].
///
/// # Errors
/// [`AccountingError::Invalid`] when no ε reaches δ because the mechanisms' own δ already exceed it.
pub fn equal_epsilon_up(part: Guarantee, count: u64, delta: Delta) -> Result<Epsilon, AccountingError> {
    let most = mul_up(count as f64, part.epsilon.get());
    solve(most, part.delta.get() == 0.0, delta, |total| equal_delta_up(part, count, total))
}

/// The least total ε of unequal mechanisms at δ, rounded up; not below 0.
///
/// # Guarantee
/// (returned, δ), by [`unequal_delta_up`].
///
/// # Reference
/// As [`unequal_delta_up`].
///
/// # Errors
/// As [`equal_epsilon_up`].
pub fn unequal_epsilon_up(parts: &[Guarantee], delta: Delta) -> Result<Epsilon, AccountingError> {
    let most = parts.iter().fold(0.0, |sum, part| add_up(sum, part.epsilon.get()));
    let pure = parts.iter().all(|part| part.delta.get() == 0.0);
    let losses = Losses::new(parts);
    solve(most, pure, delta, |total| losses.delta_up(total.get()))
}

fn solve(
    most: f64,
    pure: bool,
    delta: Delta,
    delta_up: impl Fn(Epsilon) -> f64,
) -> Result<Epsilon, AccountingError> {
    let exceeds = |e: f64| Epsilon::new(e).is_ok_and(|e| delta_up(e) > delta.get());
    // The full sum of losses is always enough, but for the deltas and what rounding adds.
    let high = most * (1.0 + 1e-12) + f64::MIN_POSITIVE;
    if pure && delta.get() == 0.0 {
        return Ok(Epsilon::new(most)?);
    }
    if exceeds(high) {
        if pure {
            return Ok(Epsilon::new(most)?);
        }
        return Err(AccountingError::invalid(
            "delta",
            delta,
            "give a larger delta: the mechanisms' own deltas already add up to more",
        ));
    }
    if !exceeds(0.0) {
        return Ok(Epsilon::new(0.0)?);
    }
    let found = bisect_coarse(0.0, high, exceeds);
    Ok(Epsilon::new(if pure { found.min(most) } else { found })?)
}

/// Bisection to a relative 1e-12, returning the upper end.
fn bisect_coarse(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    while high - low > 1e-12 * high {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
