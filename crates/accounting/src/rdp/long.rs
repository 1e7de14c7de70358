//! Sums of many different curves: where to look for the best order is settled on a few of them.

use super::curve::{RdpCurve, divided_finely};
use super::sampled::sampled_gaussian_log_moment;
use super::{RdpAccountant, convert};
use crate::cells::{Cells, Step};
use reticent_core::rounding::{add_up, mul_up};

/// Accounts of more different curves than this are long.
const FEW: usize = 32;

/// Sampled Gaussian events that each keep their own curve; more are mixtures of the corners of cells.
const MOST_ALONE: usize = 1500;

/// The order at which curves are weighed.
const WEIGHED_AT: f64 = 4.0;

/// Gaussian events on Poisson samples, with their numbers of uses.
pub(super) struct Steps {
    steps: Vec<(f64, Step)>,
    cells: std::sync::OnceLock<Cells>,
}

impl Steps {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), cells: std::sync::OnceLock::new() }
    }

    pub(super) fn push(&mut self, count: u64, rate: f64, sigma: f64) {
        self.steps.push((count as f64, Step { rate, sigma }));
        self.cells = std::sync::OnceLock::new();
    }

    fn cells(&self) -> Option<&Cells> {
        (self.steps.len() > MOST_ALONE).then(|| self.cells.get_or_init(|| Cells::new(&self.steps)))
    }

    /// D_α of all of them, rounded up.
    pub(super) fn divergence_up(&self, order: f64) -> f64 {
        let sum = |values: &mut dyn Iterator<Item = (f64, f64)>| {
            values.fold(0.0, |sum, (count, value)| add_up(sum, mul_up(count, value)))
        };
        let Some(cells) = self.cells() else {
            return sum(&mut self.steps.iter().map(|(count, step)| (*count, divergence(*step, order))));
        };
        let logs: Vec<f64> = cells.corners.iter().map(|step| log_moment(*step, order)).collect();
        // E[r^α] of a revealed mixture is the mixture of the corners' own.
        let mixed = |corners: &[(usize, f64); 4]| {
            let top = corners.iter().map(|(corner, _)| logs[*corner]).fold(0.0, f64::max);
            if !top.is_finite() {
                return f64::INFINITY;
            }
            // Relative to 1, so that small moments keep their digits.
            let log = if top < 30.0 {
                libm::log1p(corners.iter().map(|(corner, p)| p * libm::expm1(logs[*corner])).sum())
            } else {
                top + libm::log(corners.iter().map(|(corner, p)| p * libm::exp(logs[*corner] - top)).sum())
            };
            divided_finely(log * (1.0 + 1e-13), order)
        };
        let alone = cells.alone.iter().map(|i| (self.steps[*i].0, divergence(self.steps[*i].1, order)));
        let blended = cells.mixed.iter().map(|part| (self.steps[part.index].0, mixed(&part.corners)));
        sum(&mut alone.chain(blended))
    }
}

fn log_moment(step: Step, order: f64) -> f64 {
    let log = sampled_gaussian_log_moment(step.rate, step.sigma, order);
    if log.is_nan() { f64::INFINITY } else { log }
}

fn divergence(step: Step, order: f64) -> f64 {
    divided_finely(log_moment(step, order), order)
}

/// A curve that stands for others.
enum Piece<'a> {
    Curve(&'a RdpCurve),
    Step(Step),
}

impl Piece<'_> {
    fn at(&self, order: f64) -> f64 {
        match self {
            Self::Curve(curve) => curve.at(order),
            Self::Step(step) => divergence(*step, order),
        }
    }
}

impl RdpAccountant {
    /// The least value over orders of a bound that grows with the divergence.
    pub(super) fn least(&self, value: impl Fn(f64, f64) -> f64) -> f64 {
        let whole = |order: f64| value(self.divergence_up(order), order);
        if self.parts.len() + self.steps.steps.len() <= FEW {
            return convert::least_over_orders(whole).0;
        }
        let guide = self.guide();
        let short = |order: f64| guide.iter().map(|(count, piece)| count * piece.at(order)).sum();
        let (_, order) = convert::least_over_orders(|order| value(short(order), order));
        // Downhill from there on the curve itself.
        let at = |log_gap: f64| whole(1.0 + libm::exp(log_gap));
        let (mut here, mut step) = (libm::log(order - 1.0), 0.1);
        let mut best = at(here);
        if !best.is_finite() {
            return convert::least_over_orders(whole).0;
        }
        for _ in 0..8 {
            let next = at(here + step);
            if next < best {
                (best, here) = (next, here + step);
            } else {
                step *= -0.4;
            }
        }
        best
    }

    /// Curves in strata of equal weight, one standing for each. No claim rests on them.
    fn guide(&self) -> Vec<(f64, Piece<'_>)> {
        let curves = self.parts.iter().map(|(count, curve)| (0.0, *count as f64, Piece::Curve(curve)));
        let shape = |step: &Step| 1.0 + (libm::log(step.sigma) / 0.25).round().abs();
        let steps: Vec<(f64, f64, Piece)> = match self.steps.cells() {
            None => self.steps.steps.iter().map(|(n, s)| (shape(s), *n, Piece::Step(*s))).collect(),
            Some(cells) => {
                let mut counts = vec![0.0; cells.corners.len()];
                for part in &cells.mixed {
                    for (corner, p) in part.corners {
                        counts[corner] += p * self.steps.steps[part.index].0;
                    }
                }
                cells.corners.iter().zip(counts).map(|(s, n)| (shape(s), n, Piece::Step(*s))).collect()
            }
        };
        let mut pieces: Vec<(f64, f64, f64, Piece)> = curves
            .chain(steps)
            .map(|(shape, count, piece)| {
                let weight = piece.at(WEIGHED_AT);
                (shape, if weight.is_finite() { weight.max(1e-290) } else { 1e9 }, count, piece)
            })
            .collect();
        pieces.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = pieces.iter().map(|(_, weight, count, _)| weight * count).sum();
        let (mut found, mut gathered) = (Vec::new(), 0.0);
        let last = pieces.len().saturating_sub(1);
        for (i, (_, weight, count, piece)) in pieces.into_iter().enumerate() {
            gathered += weight * count;
            if gathered >= total / FEW as f64 || i == last {
                found.push((gathered / weight, piece));
                gathered = 0.0;
            }
        }
        found
    }
}
