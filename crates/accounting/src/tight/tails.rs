//! How much of a privacy loss lies above and below a point, under either of its two laws.

use super::loss::{Direction, PrivacyLoss};
use super::replaced;
use reticent_core::special::{normal_cdf, normal_tail};

/// P(L > t), P(L ≤ t), Q(L > t) and Q(L ≤ t), each to a few units in the last place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tails {
    pub(super) p_above: f64,
    pub(super) p_below: f64,
    pub(super) q_above: f64,
    pub(super) q_below: f64,
}

const ALL_ABOVE: Tails = Tails { p_above: 1.0, p_below: 0.0, q_above: 1.0, q_below: 0.0 };
const ALL_BELOW: Tails = Tails { p_above: 0.0, p_below: 1.0, q_above: 0.0, q_below: 1.0 };

impl Tails {
    /// The same with the two laws exchanged.
    fn exchanged(self) -> Self {
        Self { p_above: self.q_above, p_below: self.q_below, q_above: self.p_above, q_below: self.p_below }
    }

    /// The first law mixed with the second: (1 − rate)·Q + rate·P in place of P.
    fn diluted(self, rate: f64) -> Self {
        Self {
            p_above: (1.0 - rate) * self.q_above + rate * self.p_above,
            p_below: (1.0 - rate) * self.q_below + rate * self.p_below,
            ..self
        }
    }
}

/// A grid is laid through atoms where there are no more than this; more of them are split between its points.
const MOST_ALIGNED: usize = 20_000;

/// Atoms with their sums from either end.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// (loss, P-mass), the losses increasing.
    atoms: Vec<(f64, f64)>,
    /// Sums over the atoms from here on, of P and of Q.
    above: Vec<(f64, f64)>,
    /// Sums over the atoms before this one, of P and of Q.
    below: Vec<(f64, f64)>,
    /// Every loss is a multiple of this; none where the atoms are anywhere.
    spacing: Option<f64>,
    /// The mass of the last atom where that stands for what is revealed: no grid need reach it.
    far: f64,
}

impl Atoms {
    /// From (loss, P-mass), the losses increasing, and all of them multiples of `spacing` where there is one.
    pub(super) fn new(atoms: Vec<(f64, f64)>, spacing: Option<f64>) -> Self {
        let masses = |&(loss, p): &(f64, f64)| (p, p * libm::exp(-loss));
        let running = |iterator: &mut dyn Iterator<Item = (f64, f64)>| {
            let mut sums = vec![(0.0, 0.0)];
            let (mut p_sum, mut q_sum) = (0.0, 0.0);
            for (p, q) in iterator {
                (p_sum, q_sum) = (p_sum + p, q_sum + q);
                sums.push((p_sum, q_sum));
            }
            sums
        };
        let below = running(&mut atoms.iter().map(masses));
        let mut above = running(&mut atoms.iter().rev().map(masses));
        above.reverse();
        Self { atoms, above, below, spacing, far: 0.0 }
    }

    /// The same, its last atom standing for what is revealed.
    pub(super) fn with_far(self, far: f64) -> Self {
        Self { far, ..self }
    }

    fn tails(&self, t: f64) -> Tails {
        let first = self.atoms.partition_point(|(loss, _)| *loss <= t);
        let ((p_above, q_above), (p_below, q_below)) = (self.above[first], self.below[first]);
        Tails { p_above, p_below, q_above, q_below }
    }

    fn last_loss(&self) -> f64 {
        self.atoms.last().map_or(0.0, |(loss, _)| *loss)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(f64, f64)> + Clone {
        self.atoms.iter()
    }
}

impl PrivacyLoss {
    pub(super) fn tails(&self, t: f64) -> Tails {
        match self {
            Self::Gaussian(sigma) => {
                // L is N(s²/2, s²) under P and N(−s²/2, s²) under Q, s = 1/σ.
                let (p, q) = (t * sigma - 0.5 / sigma, t * sigma + 0.5 / sigma);
                Tails {
                    p_above: normal_tail(p),
                    p_below: normal_cdf(p),
                    q_above: normal_tail(q),
                    q_below: normal_cdf(q),
                }
            }
            Self::Laplace(epsilon) => laplace(*epsilon, t),
            Self::Response { epsilon, plus, minus } => {
                let unmoved = (1.0 - plus - minus).max(0.0);
                if t >= *epsilon {
                    ALL_BELOW
                } else if t >= 0.0 {
                    Tails {
                        p_above: *plus,
                        p_below: unmoved + minus,
                        q_above: *minus,
                        q_below: unmoved + plus,
                    }
                } else if t >= -epsilon {
                    Tails {
                        p_above: unmoved + plus,
                        p_below: *minus,
                        q_above: unmoved + minus,
                        q_below: *plus,
                    }
                } else {
                    ALL_ABOVE
                }
            }
            Self::Atoms(atoms) => atoms.tails(t),
            Self::Mixture { shifts, weights, sigma, direction } => {
                // The ratio grows with x, so L > t is x above (or below) a point.
                let sign = if *direction == Direction::Remove { 1.0 } else { -1.0 };
                match mixture_point(shifts, weights, *sigma, sign * t) {
                    None => {
                        if *direction == Direction::Remove {
                            ALL_ABOVE
                        } else {
                            ALL_BELOW
                        }
                    }
                    Some(x) => {
                        let mut tails = Tails {
                            p_above: 0.0,
                            p_below: 0.0,
                            q_above: normal_tail(sign * x / sigma),
                            q_below: normal_cdf(sign * x / sigma),
                        };
                        for (s, p) in shifts.iter().zip(weights) {
                            tails.p_above += p * normal_tail(sign * (x - s) / sigma);
                            tails.p_below += p * normal_cdf(sign * (x - s) / sigma);
                        }
                        if *direction == Direction::Remove { tails } else { tails.exchanged() }
                    }
                }
            }
            Self::Sampled { rate, inner, direction } => sampled(*rate, inner, *direction, t),
            Self::Swapped { rate, inner } => {
                let direction = if t >= 0.0 { Direction::Remove } else { Direction::Add };
                sampled(*rate, inner, direction, t)
            }
            Self::Replaced { rate, sigma } => replaced::tails(*rate, *sigma, t),
            Self::Blend(parts) => {
                let mut sum = Tails { p_above: 0.0, p_below: 0.0, q_above: 0.0, q_below: 0.0 };
                for (weight, part) in parts {
                    let tails = part.tails(t);
                    sum.p_above += weight * tails.p_above;
                    sum.p_below += weight * tails.p_below;
                    sum.q_above += weight * tails.q_above;
                    sum.q_below += weight * tails.q_below;
                }
                sum
            }
            Self::Envelope { leak, branches } => envelope(*leak, branches, t),
        }
    }

    /// Where the loss has all its atoms at multiples of one number: that number.
    pub(super) fn spacing(&self) -> Option<f64> {
        match self {
            Self::Laplace(epsilon) | Self::Response { epsilon, .. } => Some(*epsilon),
            Self::Atoms(atoms) => atoms.spacing.filter(|_| atoms.atoms.len() <= MOST_ALIGNED),
            _ => None,
        }
    }

    /// All of the loss as atoms, in any order, where these lie anywhere; none where they lie on a grid or there is more.
    pub(super) fn scattered(&self) -> Option<Vec<(f64, f64)>> {
        match self {
            Self::Atoms(atoms) if atoms.spacing.is_none() => Some(atoms.atoms.clone()),
            Self::Sampled { rate, inner, direction } => {
                let Self::Atoms(atoms) = &**inner else { return None };
                if atoms.spacing.is_some() {
                    return None;
                }
                // ln(1 − q + q e^ℓ), and the same with the other sign under the other law.
                let sampled = |loss: f64| {
                    let rise = rate * libm::expm1(loss);
                    if rise.is_finite() { libm::log1p(rise) } else { loss + libm::log(*rate) }
                };
                let each = |(loss, p): &(f64, f64)| {
                    let q = p * libm::exp(-loss);
                    match direction {
                        Direction::Remove => (sampled(*loss), (1.0 - rate) * q + rate * p),
                        Direction::Add => (-sampled(*loss), q),
                    }
                };
                Some(atoms.atoms.iter().map(each).collect())
            }
            _ => None,
        }
    }

    /// Whether it is that of a law that is known from above only.
    pub(super) fn is_from_above(&self) -> bool {
        match self {
            Self::Atoms(atoms) => atoms.far > 0.0,
            Self::Sampled { inner, .. } | Self::Swapped { inner, .. } => inner.is_from_above(),
            _ => false,
        }
    }

    /// P(L > t) that is left however large t is, as far as a grid should reach: what counts as revealed, from above.
    pub(super) fn far(&self) -> f64 {
        match self {
            Self::Atoms(atoms) => atoms.far * (1.0 + 1e-9),
            Self::Sampled { rate, inner, direction: Direction::Remove } | Self::Swapped { rate, inner } => {
                let last = if let Self::Atoms(atoms) = &**inner { atoms.last_loss() } else { 0.0 };
                (rate + libm::exp(-last)) * inner.far()
            }
            _ => 0.0,
        }
    }

    /// The largest shift in standard deviations of the noise.
    pub(super) fn sharpness(&self) -> f64 {
        match self {
            Self::Gaussian(sigma) => 1.0 / sigma,
            Self::Replaced { sigma, .. } => 2.0 / sigma,
            Self::Mixture { shifts, sigma, .. } => shifts.iter().copied().fold(0.0, f64::max) / sigma,
            Self::Sampled { inner, .. } | Self::Swapped { inner, .. } => inner.sharpness(),
            Self::Blend(parts) | Self::Envelope { branches: parts, .. } => {
                parts.iter().map(|(_, part)| part.sharpness()).fold(0.0, f64::max)
            }
            Self::Laplace(_) | Self::Response { .. } | Self::Atoms(_) => 0.0,
        }
    }

    /// Whether there is nothing between atoms at multiples of one number.
    pub(super) fn is_discrete(&self) -> bool {
        match self {
            Self::Response { .. } => true,
            Self::Atoms(atoms) => atoms.spacing.is_some(),
            _ => false,
        }
    }
}

/// Atoms at ±ε and density e^{(L − ε)/2}/4 between them, under P; mirrored under Q.
fn laplace(epsilon: f64, t: f64) -> Tails {
    if t >= epsilon {
        return ALL_BELOW;
    }
    if t < -epsilon {
        return ALL_ABOVE;
    }
    let half = |sign: f64| 0.5 * libm::exp(0.5 * (sign * t - epsilon));
    // P(L ≤ t) and Q(L > t), and their complements without cancellation near ±ε.
    let (p_below, q_above) = (half(1.0), half(-1.0));
    let rest = |sign: f64| 0.5 - 0.5 * libm::expm1(0.5 * (sign * t - epsilon));
    Tails { p_above: rest(1.0), p_below, q_above, q_below: rest(-1.0) }
}

/// The x at which ln Σ pᵢ e^{(2sᵢx − sᵢ²)/2σ²} = loss, or none when the loss is below all of them.
fn mixture_point(shifts: &[f64], weights: &[f64], sigma: f64, loss: f64) -> Option<f64> {
    let scale = 0.5 / (sigma * sigma);
    let mass = |moved: bool| -> f64 {
        shifts.iter().zip(weights).filter(|(s, _)| (**s > 0.0) == moved).map(|(_, p)| p).sum()
    };
    // ln(e^loss − the part that does not move).
    let target = if mass(false) == 0.0 || loss > 600.0 {
        loss
    } else {
        let rest = libm::expm1(loss) + mass(true);
        if rest <= 0.0 {
            return None;
        }
        libm::log(rest)
    };
    // ln of the moved part alone, and its slope.
    let moved = |x: f64| {
        let exponent = |s: f64| s * (2.0 * x - s) * scale;
        let parts = || shifts.iter().zip(weights).filter(|(s, p)| **s > 0.0 && **p > 0.0);
        let top = parts().map(|(s, _)| exponent(*s)).fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut slope) = (0.0, 0.0);
        for (s, p) in parts() {
            let part = p * libm::exp(exponent(*s) - top);
            total += part;
            slope += part * s;
        }
        (top + libm::log(total), slope / total * 2.0 * scale)
    };
    if let [(unmoved, _), (s, p)] =
        [(shifts[0], weights[0]), (shifts[shifts.len() - 1], weights[weights.len() - 1])]
        && shifts.len() == 2
        && unmoved == 0.0
        && s > 0.0
    {
        // ln(rest/p), without a difference of logarithms where the loss is small.
        let ratio = libm::expm1(loss) / p;
        let log = if ratio.is_finite() && ratio > -1.0 { libm::log1p(ratio) } else { target - libm::log(p) };
        return Some(0.5 * s + log * sigma * sigma / s);
    }
    // Convex and increasing: Newton's method from the right never overshoots.
    let mut x = 0.0;
    for _ in 0..200 {
        let (value, slope) = moved(x);
        let step = (target - value) / slope;
        x += step;
        if step.abs() <= 4.0 * f64::EPSILON * (x.abs() + sigma) {
            break;
        }
    }
    x.is_finite().then_some(x)
}

/// An inner loss that is the same both ways, on a random part of the data: (1 − q)Q + qP against Q.
fn sampled(rate: f64, inner: &PrivacyLoss, direction: Direction, t: f64) -> Tails {
    // L = ln(1 − q + q e^ℓ) one way; the other way, mirrored, L = −ln(1 − q + q e^{−ℓ}).
    let sign = if direction == Direction::Remove { 1.0 } else { -1.0 };
    let rest = libm::expm1(sign * t) + rate;
    let at = if rest <= 0.0 {
        f64::NEG_INFINITY
    } else if rest.is_finite() {
        libm::log(rest / rate)
    } else {
        sign * t - libm::log(rate)
    };
    match direction {
        Direction::Remove if at == f64::NEG_INFINITY => ALL_ABOVE,
        Direction::Remove => inner.tails(at).diluted(rate),
        Direction::Add if at == f64::NEG_INFINITY => ALL_BELOW,
        Direction::Add => inner.tails(-at).exchanged().diluted(rate).exchanged(),
    }
}

/// Where one of the pairs has the largest δ around t, the tails are that pair's own: δ(t) = P(L > t) − e^t·Q(L > t) and
/// δ′(t) = −e^t·Q(L > t). They are divided by the probability 1 − leak of not being revealed.
fn envelope(leak: f64, branches: &[(f64, PrivacyLoss)], t: f64) -> Tails {
    let whole = |(own, loss): &(f64, PrivacyLoss)| {
        let tails = loss.tails(t);
        let kept = 1.0 - own;
        // Differences of the common part are taken before the rest is added.
        Tails {
            p_above: (own - leak) + kept * tails.p_above,
            p_below: kept * tails.p_below,
            q_above: kept * tails.q_above,
            q_below: (own - leak) + kept * tails.q_below,
        }
    };
    // δ(t) but for a common term, on the side where the numbers are small.
    let height = |tails: &Tails| {
        if t >= 0.0 {
            tails.p_above - libm::exp(t) * tails.q_above
        } else {
            libm::exp(t) * tails.q_below - tails.p_below
        }
    };
    let worst = branches.iter().map(whole).max_by(|a, b| height(a).total_cmp(&height(b)));
    let share = |mass: f64| (mass / (1.0 - leak)).clamp(0.0, 1.0);
    match worst {
        None => ALL_BELOW,
        Some(tails) => Tails {
            p_above: share(tails.p_above),
            p_below: share(tails.p_below),
            q_above: share(tails.q_above),
            q_below: share(tails.q_below),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::End;
    use super::super::lattice::{discrete_gaussian, discrete_laplace};
    use super::*;

    fn losses() -> Vec<PrivacyLoss> {
        let mixture = |direction| PrivacyLoss::Mixture {
            shifts: vec![0.0, 1.0, 2.0],
            weights: vec![0.7, 0.2, 0.1],
            sigma: 1.3,
            direction,
        };
        let sampled =
            |inner, direction| PrivacyLoss::Sampled { rate: 0.3, inner: Box::new(inner), direction };
        vec![
            PrivacyLoss::Gaussian(0.8),
            PrivacyLoss::Laplace(0.7),
            PrivacyLoss::Response { epsilon: 0.9, plus: 0.5, minus: 0.5 * libm::exp(-0.9) },
            PrivacyLoss::Atoms(discrete_gaussian(1.7, 1.0, End::Ceiling).unwrap()),
            PrivacyLoss::Atoms(discrete_gaussian(0.9, 2.0, End::Floor).unwrap()),
            PrivacyLoss::Atoms(discrete_gaussian(2.1, 3.0, End::Floor).unwrap()),
            discrete_laplace(1.4, 3),
            mixture(Direction::Remove),
            mixture(Direction::Add),
            sampled(PrivacyLoss::Gaussian(0.8), Direction::Remove),
            sampled(PrivacyLoss::Gaussian(0.8), Direction::Add),
            sampled(PrivacyLoss::Laplace(0.7), Direction::Remove),
            sampled(PrivacyLoss::Laplace(0.7), Direction::Add),
            PrivacyLoss::Swapped { rate: 0.3, inner: Box::new(PrivacyLoss::Gaussian(0.8)) },
            PrivacyLoss::Envelope {
                leak: 0.0,
                branches: vec![(0.0, PrivacyLoss::Gaussian(1.6)), (0.0, PrivacyLoss::Laplace(0.7))],
            },
            PrivacyLoss::Replaced { rate: 0.3, sigma: 0.8 },
            PrivacyLoss::Replaced { rate: 0.01, sigma: 0.3 },
        ]
    }

    #[test]
    fn tails_are_complements_and_decrease() {
        for loss in losses() {
            let mut last = ALL_ABOVE;
            for i in -400..400 {
                let here = loss.tails(f64::from(i) * 0.017);
                assert!((here.p_above + here.p_below - 1.0).abs() < 1e-12, "{loss:?} {here:?}");
                assert!((here.q_above + here.q_below - 1.0).abs() < 1e-12, "{loss:?} {here:?}");
                assert!(here.p_above <= last.p_above + 1e-15 && here.q_above <= last.q_above + 1e-15);
                last = here;
            }
        }
    }

    /// The ratio of the masses of a small cell is e^loss: that is what a privacy loss is.
    #[test]
    fn masses_of_cells_have_their_loss_as_ratio() {
        for loss in losses() {
            for i in -300..300 {
                let (low, high) = (f64::from(i) * 0.017, f64::from(i + 1) * 0.017);
                let (a, b) = (loss.tails(low), loss.tails(high));
                let (p, q) = (a.p_above - b.p_above, a.q_above - b.q_above);
                if p > 1e-6 && q > 1e-6 {
                    let ratio = libm::log(p / q);
                    assert!(ratio >= low - 1e-8 && ratio <= high + 1e-8, "{loss:?} {low} {ratio}");
                }
            }
        }
    }

    #[test]
    fn mixtures_agree_with_sampled_gaussians() {
        for direction in [Direction::Remove, Direction::Add] {
            let mixture = PrivacyLoss::Mixture {
                shifts: vec![0.0, 1.0],
                weights: vec![0.9, 0.1],
                sigma: 0.7,
                direction,
            };
            let sampled =
                PrivacyLoss::Sampled { rate: 0.1, inner: Box::new(PrivacyLoss::Gaussian(0.7)), direction };
            for i in -50..80 {
                let (a, b) = (mixture.tails(f64::from(i) * 0.05), sampled.tails(f64::from(i) * 0.05));
                assert!((a.p_above - b.p_above).abs() < 1e-13 && (a.q_below - b.q_below).abs() < 1e-13);
            }
        }
    }
}
