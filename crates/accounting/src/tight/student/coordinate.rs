//! The loss of one coordinate: Student's t against its shift by u scales.
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `freedom` | ν | degrees of freedom |
//! | `kappa` | κ | u/√(4ν + u²) |
//! | | ψ | where the loss is (ν + 1)·artanh(κ·sin ψ), 0 < ψ < π/2 |

use std::f64::consts::FRAC_PI_2;

/// Masses of positive losses are larger by this than what was found: far more than rounding and quadrature can be off by.
const MARGIN: f64 = 1e-10;

/// Where the noise is so small that this is exceeded, nothing is worked out.
const LARGEST_KAPPA: f64 = 0.9999;
const LARGEST_LOSS: f64 = 300.0;

/// Cells of one law at most.
const MOST_CELLS: f64 = 2_000_000.0;

/// Nodes of the quadrature, and of the one for stretches that are shorter by this factor.
const NODES: usize = 8;
const FEW_NODES: usize = 4;
const SHORTER: f64 = 16.0;

/// The positive losses of one coordinate, the negative ones being their mirror image: P(−ℓ) = e^{−ℓ}·P(ℓ).
pub(super) struct Coordinate {
    freedom: f64,
    kappa: f64,
    /// The largest width over which the quadrature is sure of its digits.
    width: f64,
    rule: [(f64, f64); NODES],
    short_rule: [(f64, f64); FEW_NODES],
    /// What the density is divided by.
    total: f64,
    /// The largest loss, rounded up.
    pub(super) largest: f64,
    /// Losses and masses, for moments.
    pub(super) nodes: Vec<(f64, f64)>,
}

impl Coordinate {
    /// None where hardly any noise is left.
    pub(super) fn new(shift: f64, freedom: u64) -> Option<Self> {
        let nu = freedom as f64;
        let kappa = shift / (4.0 * nu + shift * shift).sqrt();
        let largest = (nu + 1.0) * libm::asinh(shift / (2.0 * nu.sqrt())) * (1.0 + 1e-12);
        if kappa.is_nan() || kappa > LARGEST_KAPPA || largest > LARGEST_LOSS {
            return None;
        }
        let width = 0.5 * (2.0 * (1.0 - kappa)).min(1.0).sqrt() / (nu + 3.0);
        let (rule, short_rule) = (rule(), rule());
        let mut found =
            Self { freedom: nu, kappa, width, rule, short_rule, total: 1.0, largest, nodes: Vec::new() };
        let mut nodes = Vec::new();
        found.each_node((0.0, FRAC_PI_2), &mut |loss, mass| nodes.push((loss, mass)));
        found.total = nodes.iter().map(|(loss, mass)| mass * (1.0 + libm::exp(-loss))).sum();
        nodes.iter_mut().for_each(|(_, mass)| *mass /= found.total);
        found.nodes = nodes;
        Some(found)
    }

    /// Calls `visit` with the loss and the mass of every node of a quadrature over (from, to).
    fn each_node(&self, (from, to): (f64, f64), visit: &mut dyn FnMut(f64, f64)) {
        let parts = ((to - from) / self.width).ceil().max(1.0);
        let half = 0.5 * (to - from) / parts;
        for part in 0..parts as usize {
            let middle = from + half * (2 * part + 1) as f64;
            let is_short = 2.0 * half <= self.width / SHORTER;
            for (at, weight) in if is_short { &self.short_rule[..] } else { &self.rule[..] } {
                let psi = middle + half * at;
                let (sin, cos) = libm::sincos(0.5 * psi);
                let x = self.kappa * (2.0 * sin * cos);
                let power = |base: f64| libm::exp((self.freedom - 1.0) * libm::log(base));
                // Relative to its largest value, so nothing overflows.
                let log = 0.5 * (self.freedom + 1.0) * (libm::log1p(-self.kappa) - libm::log1p(-x));
                let mass = (power(cos) + power(sin)) * libm::exp(log);
                visit((self.freedom + 1.0) * libm::atanh(x), weight * half * mass / self.total);
            }
        }
    }

    /// Masses at step, 2·step, …: every loss is split between the two points around it, with its P-mass and its Q-mass kept.
    /// What is left of the mass is at 0; none where nothing is.
    pub(super) fn law(&self, step: f64) -> Option<Vec<f64>> {
        let cells = (self.largest / step).ceil();
        if cells > MOST_CELLS {
            return None;
        }
        let place = |t: f64| {
            let sin = libm::tanh(t / (self.freedom + 1.0)) / self.kappa;
            if sin < 1.0 { libm::asin(sin) } else { FRAC_PI_2 }
        };
        let shrink = -libm::expm1(-step);
        let mut masses = vec![0.0; cells as usize + 1];
        let mut from = 0.0;
        for cell in 0..cells as usize {
            let (low, high) = (cell as f64 * step, (cell + 1) as f64 * step);
            let to = place(high);
            let (mut left, mut right) = (0.0, 0.0);
            self.each_node((from, to), &mut |loss, mass| {
                let loss = loss.clamp(low, high);
                right += mass * -libm::expm1(low - loss);
                left += mass * libm::exp(low - loss) * -libm::expm1(loss - high);
            });
            masses[cell] += left / shrink;
            masses[cell + 1] += right / shrink;
            from = to;
        }
        masses.remove(0);
        masses.iter_mut().for_each(|mass| *mass *= 1.0 + MARGIN);
        let weigh = |(i, mass): (usize, &f64)| mass * (1.0 + libm::exp(-step * (i + 1) as f64));
        let total: f64 = masses.iter().enumerate().map(weigh).sum();
        (total <= 1.0).then_some(masses)
    }

    /// The mean and the mean square of the loss.
    pub(super) fn moments(&self) -> (f64, f64) {
        self.nodes.iter().fold((0.0, 0.0), |(mean, square), (loss, mass)| {
            let back = libm::expm1(-loss);
            (mean - mass * loss * back, square + mass * loss * loss * (2.0 + back))
        })
    }
}

/// Places and weights of the Gauss–Legendre rule on (−1, 1).
fn rule<const N: usize>() -> [(f64, f64); N] {
    let n = N as f64;
    std::array::from_fn(|i| {
        let mut x = libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5));
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut before, mut here) = (1.0, x);
            for k in 2..=N {
                let k = k as f64;
                (before, here) = (here, ((2.0 * k - 1.0) * x * here - (k - 1.0) * before) / k);
            }
            slope = n * (x * here - before) / (x * x - 1.0);
            x -= here / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

/// ln E[e^{λL}] of masses at step, 2·step, … and their mirror images.
pub(super) fn log_moment(losses: impl Iterator<Item = (f64, f64)>, lambda: f64) -> f64 {
    let rise = |(loss, mass): (f64, f64)| {
        mass * (libm::expm1(lambda * loss) + libm::exp(-loss) * libm::expm1(-lambda * loss))
    };
    libm::log1p(losses.map(rise).sum())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use reticent_core::special::beta_inc;

    #[test]
    fn the_rule_integrates_polynomials() {
        fn check<const N: usize>() {
            for power in 0..2 * N as i32 {
                let found = rule::<N>().iter().map(|(x, w)| w * x.powi(power)).sum::<f64>();
                let truth = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
                assert!((found - truth).abs() < 1e-14, "{N} {power}");
            }
        }
        check::<NODES>();
        check::<FEW_NODES>();
    }

    /// P(|T| ≤ x).
    fn within(nu: f64, x: f64) -> f64 {
        1.0 - beta_inc(nu / 2.0, 0.5, nu / (nu + x * x))
    }

    /// δ at ε from the two ends of {L > ε}, which is an interval.
    pub(in super::super) fn delta(nu: f64, u: f64, epsilon: f64) -> f64 {
        let cdf = |x: f64| 0.5 + 0.5 * x.signum() * within(nu, x);
        if epsilon == 0.0 {
            return within(nu, 0.5 * u);
        }
        let (square, b) = (nu + 0.25 * u * u, u / libm::tanh(epsilon / (nu + 1.0)));
        if b * b <= 4.0 * square {
            return 0.0;
        }
        let root = (b * b - 4.0 * square).sqrt();
        let (low, high) = (2.0 * square / (b + root), 0.5 * (b + root));
        let mass = |moved: f64| cdf(high - moved) - cdf(low - moved);
        mass(0.5 * u) - libm::exp(epsilon) * mass(-0.5 * u)
    }

    /// At its points the law has the profile of the pair, and not less.
    #[test]
    fn a_law_has_the_profile_of_the_pair_at_its_points() {
        for (nu, u) in [(1, 0.3), (2, 1.0), (3, 0.01), (3, 5.0), (9, 0.02), (9, 2.0), (30, 0.5), (1000, 1.0)]
        {
            let coordinate = Coordinate::new(u, nu).unwrap();
            for cells in [1.0, 3.0, 40.0, 700.0] {
                let step = coordinate.largest / cells * 0.999;
                let law = coordinate.law(step).unwrap();
                let total: f64 =
                    law.iter().enumerate().map(|(i, m)| m * (1.0 + libm::exp(-step * (i + 1) as f64))).sum();
                assert!(total < 1.0 + 1e-9, "{nu} {u} {cells}: {total}");
                for at in 0..law.len() {
                    let epsilon = step * at as f64;
                    let above = law.iter().enumerate().skip(at);
                    let found: f64 =
                        above.map(|(i, mass)| mass * -libm::expm1(epsilon - step * (i + 1) as f64)).sum();
                    let truth =
                        if at == 0 { within(nu as f64, 0.5 * u) } else { delta(nu as f64, u, epsilon) };
                    assert!(
                        (found - truth).abs() < 2e-10 * found + 4e-13,
                        "{nu} {u} {cells} {at}: {found} {truth}"
                    );
                    assert!(found > truth - 4e-12, "{nu} {u} {cells} {at}: {found} {truth}");
                }
            }
        }
    }

    #[test]
    fn hardly_any_noise_is_left_alone() {
        assert!(Coordinate::new(1e9, 3).is_none());
        assert!(Coordinate::new(f64::NAN, 3).is_none());
        assert!(Coordinate::new(f64::INFINITY, 3).is_none());
        assert!(Coordinate::new(1e-30, 3).unwrap().law(1e-3).unwrap()[0] > 0.0);
    }
}
