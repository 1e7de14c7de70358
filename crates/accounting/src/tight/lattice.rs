//! The losses of noise on the integers, as atoms.
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `multiplier` | z | scale over sensitivity |
//! | `sensitivity` | s | how far the integers move: ℓ1 for Laplace, ℓ2 for Gaussian noise |
//! | `squares` | m | the largest Σvⱼ² of integers vⱼ that move no further than s |
//! | | σ, b | the scale itself, z·s |

use super::events::End;
use super::loss::PrivacyLoss;
use super::tails::Atoms;

/// Atoms of one loss at most.
const MOST_ATOMS: f64 = 400_000.0;

/// Discrete Laplace noise of scale z·s on integers that move by s in all.
pub(crate) fn discrete_laplace(multiplier: f64, sensitivity: u64) -> PrivacyLoss {
    if sensitivity == 1 {
        // Two losses: the worst that is 1/z-private.
        let minus = 1.0 / (1.0 + libm::exp(1.0 / multiplier));
        return PrivacyLoss::Response { epsilon: 1.0 / multiplier, plus: 1.0 - minus, minus };
    }
    // Integers in groups of k, the sensitivity rounded up to a multiple of k: never better, see the proof.
    let group = (sensitivity as f64 / MOST_ATOMS).ceil().max(1.0);
    let groups = (sensitivity as f64 / group).ceil();
    let scale = multiplier * sensitivity as f64 / group;
    // At 0 or before, at 1, …, groups − 1, and from there on.
    let shrink = libm::exp(-1.0 / scale);
    let end = 1.0 / (1.0 + shrink);
    let inner = -libm::expm1(-1.0 / scale) * end;
    let mass = |j: f64| {
        if j == 0.0 {
            end
        } else if j == groups {
            libm::exp(-groups / scale) * end
        } else {
            inner * libm::exp(-j / scale)
        }
    };
    let count = groups as usize;
    let atoms = (0..=count).rev().map(|j| j as f64).map(|j| ((groups - 2.0 * j) / scale, mass(j)));
    PrivacyLoss::Atoms(Atoms::new(atoms.filter(|(_, p)| *p > 0.0).collect(), Some(1.0 / scale)))
}

/// From here on z the mass of Σvⱼxⱼ is that of a discrete Gaussian to 10⁻²⁰: see the proof.
const SMOOTH: f64 = 2.0;

/// Below it, vectors are listed up to this Σvⱼ².
const MOST_LISTED: u64 = 16;

/// Discrete Gaussian noise on integers that move by `sensitivity` in all: the worst over all such moves, or one of them.
/// None where there are too many.
pub(crate) fn discrete_gaussian(multiplier: f64, sensitivity: f64, end: End) -> Option<Atoms> {
    let squares = (sensitivity * sensitivity * (1.0 + 1e-12)).floor();
    let sigma = multiplier * sensitivity;
    let spread = sigma * squares.sqrt();
    let reach = libm::ceil(40.0 * spread) + squares;
    if !(1.0..=MOST_ATOMS).contains(&squares) || reach > 0.5 * MOST_ATOMS {
        return None;
    }
    let m = squares as u64;
    let periods: Vec<Vec<f64>> = if m == 1 || sigma >= SMOOTH * squares.sqrt() {
        // Common divisors of the moves.
        let divisors = (1..=m).take_while(|g| g * g <= m).filter(|g| m.is_multiple_of(g * g));
        divisors.map(|g| (0..g).map(|c| if c == 0 { 1.0 } else { 0.0 }).collect()).collect()
    } else if m <= MOST_LISTED && squares / (8.0 * sigma * sigma) < 500.0 {
        partitions(m).iter().map(|parts| period(parts, m, sigma)).collect()
    } else {
        return None;
    };
    let law = |period: &Vec<f64>| Law::new(period, reach as i64, spread);
    let laws: Vec<Law> = match end {
        End::Ceiling => periods.iter().map(law).collect(),
        End::Floor => periods.iter().take(1).map(law).collect(),
    };
    let (masses, idle) = envelope(&laws, m as i64, reach as i64, 1.0 / (sigma * sigma));
    let scale = 0.5 / (sigma * sigma);
    let loss = |i: usize| (squares + 2.0 * (i as f64 - reach)) * scale;
    let mut atoms: Vec<(f64, f64)> = masses.iter().enumerate().map(|(i, p)| (loss(i), *p)).collect();
    if idle > 0.0 {
        match atoms.iter_mut().find(|(at, _)| *at == 0.0) {
            Some((_, mass)) => *mass += idle,
            None => atoms.insert(atoms.partition_point(|(at, _)| *at < 0.0), (0.0, idle)),
        }
    }
    atoms.retain(|(_, p)| *p > 0.0);
    Some(Atoms::new(atoms, Some(scale)))
}

/// All ways to write m as a sum of squares, by their roots from the largest.
fn partitions(m: u64) -> Vec<Vec<u64>> {
    fn extend(left: u64, most: u64, parts: &mut Vec<u64>, found: &mut Vec<Vec<u64>>) {
        if left == 0 {
            found.push(parts.clone());
        }
        for root in (1..=most).filter(|root| root * root <= left) {
            parts.push(root);
            extend(left - root * root, root, parts, found);
            parts.pop();
        }
    }
    let mut found = Vec::new();
    extend(m, m, &mut Vec::new(), &mut found);
    found
}

/// θ(c) for c = 0, …, m − 1: the mass of Σvⱼxⱼ = k is proportional to e^{−k²/2mσ²}·θ(k mod m).
fn period(parts: &[u64], m: u64, sigma: f64) -> Vec<f64> {
    let reach = libm::ceil(9.0 * sigma) as i64 + 6;
    let mut law = vec![1.0];
    for part in parts {
        let step = *part as usize;
        let mut next = vec![0.0; law.len() + 2 * reach as usize * step];
        for x in -reach..=reach {
            let weight = libm::exp(-0.5 * (x as f64 / sigma).powi(2));
            let at = (x + reach) as usize * step;
            for (i, mass) in law.iter().enumerate() {
                next[i + at] += weight * mass;
            }
        }
        law = next;
    }
    let (middle, m) = (law.len() / 2, m as usize);
    (0..m)
        .map(|c| {
            // The law is the same on both sides of 0: the nearer of c and m − c.
            let c = c.min(m - c);
            law[middle + c] * libm::exp(0.5 * (c * c) as f64 / (m as f64 * sigma * sigma))
        })
        .collect()
}

/// The masses of k = −reach, …, reach under one move.
struct Law(Vec<f64>);

impl Law {
    fn new(period: &[f64], reach: i64, spread: f64) -> Self {
        let weight = |k: i64| {
            libm::exp(-0.5 * (k as f64 / spread).powi(2)) * period[k.rem_euclid(period.len() as i64) as usize]
        };
        let mut masses: Vec<f64> = (-reach..=reach).map(weight).collect();
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= total);
        Self(masses)
    }

    /// V(k) = Σ_{j>k} p(j)e^{−(j−k−1)d} and δ(k) = Σ_{j>k} p(j)(1 − e^{−(j−k)d}), sums of positive terms.
    fn sums(&self, d: f64) -> (Vec<f64>, Vec<f64>) {
        let (shrink, kink) = (libm::exp(-d), -libm::expm1(-d));
        let count = self.0.len();
        let (mut tails, mut deltas) = (vec![0.0; count], vec![0.0; count]);
        for k in (0..count - 1).rev() {
            tails[k] = self.0[k + 1] + shrink * tails[k + 1];
            deltas[k] = deltas[k + 1] + kink * tails[k];
        }
        (tails, deltas)
    }
}

/// What an error of a sum may be, relative.
const ROUNDING: f64 = 1e-12;

/// Masses on the same points, and one more at loss 0, whose δ is at least that of every law at every ε. The laws are
/// those of L = (m + 2k)·d/2 for k = −reach, …, reach, and the same both ways.
fn envelope(laws: &[Law], m: i64, reach: i64, d: f64) -> (Vec<f64>, f64) {
    if let [one] = laws {
        return (one.0.clone(), 0.0);
    }
    let (shrink, kink) = (libm::exp(-d), -libm::expm1(-d));
    let sums: Vec<_> = laws.iter().map(|law| law.sums(d)).collect();
    // The law that is worst at a point: the one before it where that is as good as worst.
    let worst =
        |k: usize, before: usize| {
            (0..laws.len()).fold(before, |best, i| {
                if sums[i].1[k] > sums[best].1[k] * (1.0 + ROUNDING) { i } else { best }
            })
        };
    let count = laws.first().map_or(0, |law| law.0.len());
    let mut masses = vec![0.0; count];
    let (mut above, mut tail, mut pure) = (0, 0.0, true);
    // Positive losses, from the largest: V(k) is (δ(k) − δ(k + 1))/(1 − e^{−d}), rounded up.
    for k in (0..count.saturating_sub(1)).rev().take_while(|k| m + 2 * (*k as i64 + 1 - reach) > 0) {
        let here = worst(k, above);
        let same = here == above;
        let mass = if same && pure {
            laws[here].0[k + 1]
        } else {
            let wanted = if same {
                sums[here].0[k]
            } else {
                (sums[here].1[k] * (1.0 + ROUNDING) - sums[above].1[k + 1] * (1.0 - ROUNDING)) / kink
            };
            (wanted * (1.0 + ROUNDING) - shrink * tail).max(0.0)
        };
        masses[k + 1] = mass * (1.0 + 4.0 * ROUNDING);
        (above, tail, pure) = (here, mass + shrink * tail, same);
    }
    // The same the other way: P(L = −t) = e^{−t}P(L = t). What is left has no loss.
    let mut total = 0.0;
    for k in 0..count as i64 {
        let mirrored = 2 * reach - m - k;
        if m + 2 * (k - reach) > 0 {
            let t = (m + 2 * (k - reach)) as f64 * 0.5 * d;
            let back = libm::exp(-t) * masses[k as usize];
            if mirrored >= 0 {
                masses[mirrored as usize] = back;
            }
            total += masses[k as usize] + back;
        }
    }
    (masses, (1.0 - total).max(0.0))
}

#[cfg(test)]
#[path = "lattice_tests.rs"]
mod tests;
