//! A lower bound on the ε of a mechanism, from samples on two neighbouring inputs.
//!
//! If a mechanism is (ε, δ)-private, every event E has P(E) ≤ e^ε·Q(E) + δ. Half of each sample
//! chooses events, by the likelihood ratio of their bins; the other half, untouched by that choice,
//! bounds P from below and Q from above (Clopper–Pearson), so ln((P − δ)/Q) is a bound on ε from
//! below. It errs, i.e. exceeds a true claim, with probability at most `alpha`: both bounds of every
//! event in both directions share `alpha` equally.

use reticent_core::special::clopper_pearson;

/// Events tried in each direction.
pub const EVENTS: usize = 4;

/// A histogram of outputs in two halves.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    choose: Vec<u64>,
    check: Vec<u64>,
}

impl Counts {
    /// Sorts outputs, given as bin numbers below `bins`, into the two halves in turn.
    pub fn gather(bins: usize, outputs: impl IntoIterator<Item = usize>) -> Self {
        let mut counts = Self { choose: vec![0; bins], check: vec![0; bins] };
        for (index, bin) in outputs.into_iter().enumerate() {
            let half = if index % 2 == 0 { &mut counts.choose } else { &mut counts.check };
            half[bin.min(bins - 1)] += 1;
        }
        counts
    }

    fn totals(&self) -> (u64, u64) {
        (self.choose.iter().sum(), self.check.iter().sum())
    }
}

/// The bin of a real output: `width` wide, from `low` up, the ends open.
pub fn bin(value: f64, low: f64, width: f64, bins: usize) -> usize {
    (((value - low) / width).floor().max(0.0) as usize).min(bins - 1)
}

/// The largest ε proven by the samples at this δ; 0 when none is.
pub fn epsilon_lower(a: &Counts, b: &Counts, delta: f64, alpha: f64) -> f64 {
    let side = alpha / (2 * 2 * EVENTS) as f64;
    one_way(a, b, delta, side).max(one_way(b, a, delta, side)).max(0.0)
}

fn one_way(a: &Counts, b: &Counts, delta: f64, side: f64) -> f64 {
    let ((a_total, a_checks), (b_total, b_checks)) = (a.totals(), b.totals());
    let mut order: Vec<usize> = (0..a.choose.len()).filter(|bin| a.choose[*bin] > 0).collect();
    let ratio = |bin: usize| (a.choose[bin] as f64 + 0.5) / (b.choose[bin] as f64 + 0.5);
    order.sort_by(|x, y| ratio(*y).total_cmp(&ratio(*x)));

    // Every set of the best bins, scored by rough bounds on the choosing half.
    let (mut hits, mut misses) = (0, 0);
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for (index, bin) in order.iter().enumerate() {
        hits += a.choose[*bin];
        misses += b.choose[*bin];
        let low = rough(hits, a_total, -1.0);
        scored.push(((low - delta).max(1e-300) / rough(misses, b_total, 1.0), index + 1));
    }
    scored.sort_by(|x, y| y.0.total_cmp(&x.0));

    let bound = |bins: &[usize]| {
        let count = |half: &[u64]| bins.iter().map(|bin| half[*bin]).sum::<u64>();
        let (low, _) = clopper_pearson(count(&a.check), a_checks, side);
        let (_, high) = clopper_pearson(count(&b.check), b_checks, side);
        if low > delta { libm::log((low - delta) / high) } else { f64::NEG_INFINITY }
    };
    scored.iter().take(EVENTS).map(|(_, size)| bound(&order[..*size])).fold(f64::NEG_INFINITY, f64::max)
}

/// A share moved five standard errors and a bit up or down: good enough to rank events.
fn rough(count: u64, total: u64, sign: f64) -> f64 {
    let (n, share) = (total.max(1) as f64, count as f64 / total.max(1) as f64);
    (share + sign * (5.0 * (share * (1.0 - share) / n).sqrt() + 14.0 / n)).max(0.5 / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins in exact proportion to `weights`.
    fn counts(weights: &[usize]) -> Counts {
        let outputs = weights.iter().enumerate().flat_map(|(bin, n)| std::iter::repeat_n(bin, 2 * n));
        Counts::gather(weights.len(), outputs)
    }

    #[test]
    fn the_bound_approaches_the_truth_from_below() {
        let (a, b) = (counts(&[731_059, 268_941]), counts(&[268_941, 731_059]));
        let bound = epsilon_lower(&a, &b, 0.0, 1e-7);
        assert!(bound < 1.0 && bound > 0.97, "{bound}");
        assert_eq!(epsilon_lower(&a, &a, 0.0, 1e-7), 0.0);
    }

    #[test]
    fn delta_pays_for_a_rare_event() {
        // Bin 2 happens for one input only, with probability 1/100.
        let (a, b) = (counts(&[495_000, 495_000, 10_000]), counts(&[500_000, 500_000, 0]));
        assert!(epsilon_lower(&a, &b, 0.0, 1e-7) > 5.0);
        assert!(epsilon_lower(&a, &b, 0.011, 1e-7) < 0.01);
    }

    #[test]
    fn bins_have_open_ends() {
        assert_eq!([-9.0, -0.1, 0.0, 0.9, 1.0, 9.0].map(|v| bin(v, -1.0, 1.0, 3)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(bin(f64::NAN, 0.0, 1.0, 4), 0);
    }
}
