//! Balls in bins with Gaussian noise: the ratio of the two laws is the mean of T independent ratios, and its law is
//! worked out on points that are never better.

use super::tails::Atoms;
use reticent_core::special::{normal_cdf, normal_tail};

/// More bins than this are left to the Rényi bound.
const MOST_BINS: u64 = 1024;

/// Noise multipliers for which the points suffice.
const SIGMAS: std::ops::RangeInclusive<f64> = 0.3..=1e3;

/// Points at most.
const MOST_NODES: usize = 4000;

/// How far the ratio's points reach, in standard deviations of the noise.
const REACH: f64 = 14.0;

/// What rounding may have done to the mean of the ratio, as a loss.
const DRIFT: f64 = 1e-10;

/// One epoch as a discrete loss each way, and the probability of what counts as revealed.
pub(crate) struct Epoch {
    pub(crate) remove: Atoms,
    pub(crate) add: Atoms,
    pub(crate) revealed: f64,
}

/// Values of a sum of ratios with their probabilities without the record; the first value is 0.
struct Law {
    nodes: Vec<f64>,
    masses: Vec<f64>,
    count: f64,
}

/// Points for the sum of `count` ratios: close where the mass is, relative ones far out and near 0.
fn nodes(count: f64, spread: f64, top: f64, fineness: f64) -> Vec<f64> {
    let near = spread * count.sqrt() * fineness;
    let least = 1e-5 * count;
    let mut nodes = vec![0.0, least];
    let mut at = least;
    while at < top && nodes.len() < MOST_NODES {
        let step = near.max(fineness * (at - count).abs()).min(fineness * at);
        at += step;
        nodes.push(at);
    }
    // Whatever the points do not reach goes to one last point far out.
    nodes.push(top.max(at) * 1.000_001);
    nodes
}

impl Law {
    /// One ratio r = e^{x/σ² − 1/(2σ²)}, x ~ N(0, σ²). A cell's mass is split between its ends so that the mean stays:
    /// every convex function of r then has a mean that is at least as large.
    fn one(sigma: f64, spread: f64, fineness: f64) -> Self {
        let (w, top) = (1.0 / (sigma * sigma), libm::exp(REACH / sigma + 0.5 / (sigma * sigma)));
        let nodes = nodes(1.0, spread, top, fineness);
        let score = |r: f64| (libm::log(r) + 0.5 * w) * sigma;
        // Masses between two values, without the record and with it.
        let between = |a: f64, b: f64, shift: f64| {
            let (a, b) = (a - shift, b - shift);
            if a > 0.0 { normal_tail(a) - normal_tail(b) } else { normal_cdf(b) - normal_cdf(a) }
        };
        let mut masses = vec![0.0; nodes.len()];
        let mut from = f64::NEG_INFINITY;
        for i in 1..nodes.len() {
            let to = score(nodes[i]);
            let (q, p) = (between(from, to, 0.0).max(0.0), between(from, to, 1.0 / sigma).max(0.0));
            let right = ((p - nodes[i - 1] * q) / (nodes[i] - nodes[i - 1])).clamp(0.0, q);
            masses[i] += right;
            masses[i - 1] += q - right;
            from = to;
        }
        Self { nodes, masses, count: 1.0 }
    }

    /// The sum of two independent ones, moved to new points in the same way.
    fn plus(&self, other: &Self, spread: f64, fineness: f64) -> Self {
        let count = self.count + other.count;
        let top = self.nodes[self.nodes.len() - 1] + other.nodes[other.nodes.len() - 1];
        let nodes = nodes(count, spread, top, fineness);
        let mut masses = vec![0.0; nodes.len()];
        for (a, p) in self.nodes.iter().zip(&self.masses).filter(|(_, p)| **p > 0.0) {
            // Sums grow with the second value: so does the cell they are in.
            let mut cell = 1;
            for (b, q) in other.nodes.iter().zip(&other.masses).filter(|(_, q)| **q > 0.0) {
                let (at, mass) = (a + b, p * q);
                while nodes[cell] < at && cell + 1 < nodes.len() {
                    cell += 1;
                }
                let (low, high) = (nodes[cell - 1], nodes[cell]);
                let right = mass * ((at - low) / (high - low)).clamp(0.0, 1.0);
                masses[cell] += right;
                masses[cell - 1] += mass - right;
            }
        }
        Self { nodes, masses, count }
    }
}

/// One epoch of `bins` batches with Gaussian noise of this multiplier; none where the points would not do.
pub(crate) fn epoch(bins: u64, sigma: f64) -> Option<Epoch> {
    if !(2..=MOST_BINS).contains(&bins) || !SIGMAS.contains(&sigma) {
        return None;
    }
    let w = 1.0 / (sigma * sigma);
    let spread = libm::expm1(w).sqrt();
    // Few bins take few sums, so their points may be closer.
    let fineness = if bins <= 16 { 0.01 } else { 0.02 };
    let (mut total, mut power, mut left): (Option<Law>, Law, u64) =
        (None, Law::one(sigma, spread, fineness), bins);
    loop {
        if left & 1 == 1 {
            total = Some(match total {
                None => Law { nodes: power.nodes.clone(), masses: power.masses.clone(), count: power.count },
                Some(law) => law.plus(&power, spread, fineness),
            });
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        power = power.plus(&power, spread, fineness);
    }
    let law = total?;
    let ratios =
        || law.nodes.iter().zip(&law.masses).filter(|(_, q)| **q > 0.0).map(|(at, q)| (at / bins as f64, *q));
    // Beyond the points a ratio is cut off: with the record in that bin, or in another.
    let last = REACH - 0.01;
    let beyond = normal_tail(last) + (bins as f64 - 1.0) * normal_tail(last + 1.0 / sigma);
    // A ratio of 0 reveals that the record is missing.
    let missing: f64 = ratios().filter(|(r, _)| *r == 0.0).map(|(_, q)| q).sum();
    let up = |mass: f64| mass * (1.0 + 1e-11);
    let remove = ratios()
        .filter(|(r, _)| *r > 0.0)
        .map(|(r, q)| (libm::log(r) + DRIFT, up(r * q)))
        .filter(|(_, p)| *p > 0.0)
        .collect();
    let mut add: Vec<(f64, f64)> =
        ratios().filter(|(r, _)| *r > 0.0).map(|(r, q)| (-libm::log(r) + DRIFT, up(q))).collect();
    add.reverse();
    let revealed = up(beyond + missing) + f64::MIN_POSITIVE;
    Some(Epoch { remove: Atoms::new(remove, None), add: Atoms::new(add, None), revealed })
}
