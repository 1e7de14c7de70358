//! Losses without a cumulant in closed form, as atoms that are never better and atoms that are never worse.

use super::super::grid::end;
use super::super::loss::{Direction, PrivacyLoss};

/// P(L) beyond the last atom: counted as revealed.
const CUT: f64 = 1e-40;

/// Cells far out are this wide relative to the loss, and near 0 relative to its usual size.
const FAR: f64 = 0.02;
const NEAR: f64 = 0.02;

/// Cells at most.
const MOST_CELLS: f64 = 20_000.0;

/// Atoms of a discrete law that are worth bringing together.
const MANY_ATOMS: usize = 400;

/// A loss as atoms (loss, mass).
pub(super) struct Dots {
    pub(super) count: f64,
    /// The mass of every cell split between its ends: never better.
    pub(super) upper: Vec<(f64, f64)>,
    /// The mass of every cell brought together: never worse.
    pub(super) lower: Vec<(f64, f64)>,
    /// P(L beyond the last atom), all uses together.
    pub(super) revealed: f64,
    /// For the guide only.
    pub(super) stand_in: PrivacyLoss,
}

/// Whether a loss is looked at through its atoms.
pub(super) fn is_dotted(loss: &PrivacyLoss) -> bool {
    match loss {
        PrivacyLoss::Gaussian(_)
        | PrivacyLoss::Laplace(_)
        | PrivacyLoss::Response { .. }
        | PrivacyLoss::Mixture { .. } => false,
        PrivacyLoss::Atoms(atoms) => atoms.iter().count() > MANY_ATOMS,
        other => !other.cumulant(1.0).is_finite(),
    }
}

impl Dots {
    pub(super) fn new(count: f64, loss: &PrivacyLoss) -> Option<Self> {
        let (from, to) = (end(loss, CUT, false)?, end(loss, CUT, true)?);
        let usual = end(loss, 0.05, true)?.abs().max(end(loss, 0.05, false)?.abs()).max(1e-12);
        // Points s·sinh(κi).
        let scale = NEAR * usual / FAR;
        let place = |t: f64| libm::asinh(t / scale) / FAR;
        let (first, last) = (place(from).floor() - 1.0, place(to).ceil() + 1.0);
        if last - first > MOST_CELLS {
            return None;
        }
        let point = |i: usize| scale * libm::sinh(FAR * (first + i as f64));
        let cells = (last - first) as usize;
        let (mut upper, mut lower) = (vec![(point(0), 0.0)], Vec::new());
        let mut low = loss.tails(point(0));
        upper[0].1 += low.p_below;
        for i in 0..cells {
            let (a, b) = (point(i), point(i + 1));
            let high = loss.tails(b);
            // Differences on the side where the numbers are small.
            let difference = |above: (f64, f64), below: (f64, f64)| {
                if above.0 < below.1 { above.0 - above.1 } else { below.1 - below.0 }.max(0.0)
            };
            let p = difference((low.p_above, high.p_above), (low.p_below, high.p_below));
            let q = difference((low.q_above, high.q_above), (low.q_below, high.q_below));
            low = high;
            upper.push((b, 0.0));
            if p == 0.0 {
                continue;
            }
            let shrink = -libm::expm1(a - b);
            let weighed = libm::exp(a.clamp(-600.0, 600.0)) * q;
            let right = if a.abs() < 600.0 && q > 0.0 {
                ((p - weighed + 8.0 * f64::EPSILON * (p + weighed)) / shrink).clamp(0.0, p)
            } else {
                p
            };
            upper[i + 1].1 += right;
            upper[i].1 += p - right;
            // ln(p/q), which lies within the cell.
            lower.push((if q > 0.0 { libm::log(p / q).clamp(a, b) } else { a }, p));
        }
        upper[cells].1 += low.p_above;
        upper.retain(|(_, mass)| *mass > 0.0);
        let stand_in = stand_in(loss, &lower);
        Some(Self { count, upper, lower, revealed: count * low.p_above, stand_in })
    }
}

/// A loss with a cumulant that is about the same, for the guide.
fn stand_in(loss: &PrivacyLoss, lower: &[(f64, f64)]) -> PrivacyLoss {
    match loss {
        PrivacyLoss::Sampled { rate, inner, .. } | PrivacyLoss::Swapped { rate, inner } => match **inner {
            PrivacyLoss::Gaussian(sigma) => PrivacyLoss::Mixture {
                shifts: vec![0.0, 1.0],
                weights: vec![1.0 - rate, *rate],
                sigma,
                direction: Direction::Remove,
            },
            _ => of_variance(lower),
        },
        _ => of_variance(lower),
    }
}

fn of_variance(atoms: &[(f64, f64)]) -> PrivacyLoss {
    let variance: f64 = atoms.iter().map(|(loss, mass)| mass * loss * loss).sum();
    PrivacyLoss::Gaussian(1.0 / variance.max(1e-200).sqrt())
}

/// ln Σ pᵢe^{cLᵢ}.
pub(super) fn log_moment(atoms: &[(f64, f64)], c: f64) -> f64 {
    let top = atoms.iter().map(|(loss, _)| c * loss).fold(0.0, f64::max);
    top + libm::log(atoms.iter().map(|(loss, p)| p * libm::exp(c * loss - top)).sum::<f64>())
}
