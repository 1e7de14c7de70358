//! Sums of many different losses.
//!
//! Every loss keeps its own cumulants. Where the contour goes is settled on a short list that stands for the long one and
//! carries no claim; one contour, sometimes a second, is then laid for the whole list.

mod dots;
mod guide;
mod lines;
mod long;
mod reduced;

use super::contour::{Bounds, Sum};
use super::{Round, crossing, solve};
use long::Long;
use reduced::Reduced;

/// Sums of more different losses than this are long.
pub(super) const FEW: usize = 32;

/// How often a contour is laid anew because ε turned out to lie elsewhere.
const MOST_CONTOURS: usize = 6;

impl Sum {
    /// Whether so many different losses are added up that each must be looked at as seldom as can be.
    pub(super) fn is_long(&self) -> bool {
        self.parts.len() > FEW
    }

    /// Whether a grid, which takes a transform for every different loss, is out of the question.
    pub(super) fn is_very_long(&self) -> bool {
        self.parts.len() > 3 * FEW
    }
}

/// Upper and lower bounds on δ at ε.
pub(super) fn delta(sum: &Sum, epsilon: f64) -> Option<Bounds> {
    let reduced = Reduced::new(sum)?;
    let guide = guide::near_epsilon(&reduced.pooled(), epsilon);
    Some(Long::new(&reduced, &guide, epsilon)?.delta(epsilon))
}

/// The ends of ε: upper(ε) ≤ δ_low and lower(ε) ≥ δ_high.
pub(super) fn epsilon(sum: &Sum, delta_low: f64, delta_high: f64) -> Option<Bounds> {
    epsilon_of(&Reduced::new(sum)?, delta_low, delta_high)
}

fn epsilon_of(reduced: &Reduced, delta_low: f64, delta_high: f64) -> Option<Bounds> {
    let pooled = reduced.pooled();
    let (mut guide, mut guess) = guide::near_delta(&pooled, delta_low)?;
    let mut found = None;
    for _ in 0..MOST_CONTOURS {
        let contour = Long::new(reduced, &guide, guess)?;
        let upper = solve(guess, delta_low, Round::Up, &|e| contour.delta(e).upper);
        if !upper.is_finite() || contour.delta(upper).upper > delta_low {
            return found;
        }
        let lower = crossing(upper, |e| contour.delta(e).lower >= delta_high) * (1.0 - 1e-12);
        let near = (upper - guess).abs() <= 0.02 * guess.abs() + 1e-9;
        guess = upper.max(1e-9);
        found = Some(Bounds { lower: lower.min(upper).max(0.0), upper: upper.next_up() });
        if near {
            break;
        }
        guide = guide::near_epsilon(&pooled, guess);
    }
    found
}

/// δ(ε) ≤ e^{K(c) − cε}·c^c/(1 + c)^{1+c} for every c: here one that is good for the short list.
pub(super) fn chernoff(sum: &Sum, epsilon: f64) -> f64 {
    let Some(reduced) = Reduced::new(sum) else { return 1.0 };
    let c = guide::near_epsilon(&reduced.pooled(), epsilon).saddle(epsilon);
    let exponent = lines::cumulant(&reduced, c) - c * epsilon - libm::log1p(c) - c * libm::log1p(1.0 / c);
    if exponent.is_nan() { 1.0 } else { libm::exp(exponent.min(0.0)) * (1.0 + 1e-9) }
}

#[cfg(test)]
mod tests;
