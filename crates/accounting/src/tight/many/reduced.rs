//! A long list with its sampled Gaussian events brought together where they are too many.

use super::super::contour::Sum;
use super::super::loss::{Direction, PrivacyLoss};
use super::dots::{Dots, is_dotted};
use crate::cells::{Cells, Step};
use std::borrow::Cow;

/// Sampled Gaussian events that are each looked at on their own.
const MOST_ALONE: usize = 1500;

/// Losses without a cumulant in closed form, at most.
const MOST_DOTTED: usize = 4000;

/// A sampled Gaussian event as a revealed mixture of others.
pub(super) struct Blended {
    pub(super) count: f64,
    pub(super) step: Step,
    pub(super) corners: [(usize, f64); 4],
}

/// Losses on their own, and mixtures of corners.
pub(super) struct Reduced<'a> {
    pub(super) alone: Cow<'a, Sum>,
    pub(super) corners: Vec<PrivacyLoss>,
    pub(super) blended: Vec<Blended>,
    pub(super) direction: Direction,
    /// Losses without a cumulant in closed form.
    pub(super) dotted: Vec<Dots>,
    /// How many different losses there were.
    pub(super) losses: usize,
}

fn step(loss: &PrivacyLoss) -> Option<(Step, Direction)> {
    match loss {
        PrivacyLoss::Mixture { shifts, weights, sigma, direction } if shifts[..] == [0.0, 1.0] => {
            Some((Step { rate: weights[1], sigma: *sigma }, *direction))
        }
        _ => None,
    }
}

impl<'a> Reduced<'a> {
    /// None where too many losses have no cumulant in closed form.
    pub(super) fn new(sum: &'a Sum) -> Option<Self> {
        Self::with_alone(sum, MOST_ALONE)
    }

    /// Brings sampled Gaussian events together where there are more than so many.
    pub(super) fn with_alone(sum: &'a Sum, most: usize) -> Option<Self> {
        let losses = sum.parts.len();
        let mut alone = Cow::Borrowed(sum);
        let dotted: Vec<&(f64, PrivacyLoss)> = sum.parts.iter().filter(|(_, loss)| is_dotted(loss)).collect();
        if dotted.len() > MOST_DOTTED {
            return None;
        }
        let dotted: Option<Vec<Dots>> = dotted.into_iter().map(|(n, loss)| Dots::new(*n, loss)).collect();
        let dotted = dotted?;
        if !dotted.is_empty() {
            alone = Cow::Owned(sum.without(is_dotted));
        }
        let sampled: Vec<(f64, Step)> =
            sum.parts.iter().filter_map(|(count, loss)| Some((*count, step(loss)?.0))).collect();
        let direction = sum.parts.iter().find_map(|(_, loss)| step(loss)).map(|(_, direction)| direction);
        let direction = direction.unwrap_or(Direction::Remove);
        if sampled.len() <= most {
            let (corners, blended) = (Vec::new(), Vec::new());
            return Some(Self { alone, corners, blended, direction, dotted, losses });
        }
        let cells = Cells::new(&sampled);
        let loss = |step: Step| PrivacyLoss::Mixture {
            shifts: vec![0.0, 1.0],
            weights: vec![1.0 - step.rate, step.rate],
            sigma: step.sigma,
            direction,
        };
        let mut alone = alone.without(|loss| step(loss).is_some());
        alone.parts.extend(cells.alone.iter().map(|i| (sampled[*i].0, loss(sampled[*i].1))));
        let blended = cells.mixed.into_iter().map(|mixed| {
            let (count, step) = sampled[mixed.index];
            Blended { count, step, corners: mixed.corners }
        });
        Some(Self {
            alone: Cow::Owned(alone),
            blended: blended.collect(),
            corners: cells.corners.into_iter().map(loss).collect(),
            direction,
            dotted,
            losses,
        })
    }

    /// About the same list without mixtures, for the guide.
    pub(super) fn pooled(&self) -> Cow<'_, Sum> {
        if self.blended.is_empty() && self.dotted.is_empty() {
            return Cow::Borrowed(&*self.alone);
        }
        let mut counts = vec![0.0; self.corners.len()];
        for Blended { count, corners, .. } in &self.blended {
            for (corner, share) in corners {
                counts[*corner] += count * share;
            }
        }
        let mut pooled = self.alone.clone().into_owned();
        pooled.parts.extend(counts.into_iter().zip(self.corners.iter().cloned()));
        for dots in &self.dotted {
            pooled.parts.push((dots.count, dots.stand_in.clone()));
        }
        Cow::Owned(pooled)
    }
}

/// ln E[e^{cL}] of a sampled Gaussian loss less `scale`, as a factor: from below, to a relative 10⁻¹⁰.
pub(super) fn moment_down(step: Step, direction: Direction, c: f64, scale: f64) -> f64 {
    let Step { rate, sigma } = step;
    let precision = 1.0 / (sigma * sigma);
    let power = if direction == Direction::Remove { 1.0 + c } else { -c };
    // As for a contour, with the errors of the sum and of its ends at e^{−26}.
    let strip = (sigma * sigma).min(6.0 * sigma);
    let negative = if direction == Direction::Add { 0.62 * c } else { 0.0 };
    let exponent = 26.0 + 0.5 * strip * strip * precision + negative;
    let width = 2.0 * std::f64::consts::PI * strip / exponent;
    let (from, to) = (power.min(0.0) - 8.0 * sigma, power.max(1.0) + 8.0 * sigma);
    let points = ((to - from) / width).ceil();
    if points.is_nan() || points > 1e5 {
        return 0.0;
    }
    let log_rate = libm::log(rate);
    let sum: f64 = (0..=points as u32)
        .map(|i| {
            let x = from + width * f64::from(i);
            let rise = (x - 0.5) * precision;
            let log_ratio =
                if rise < 500.0 { libm::log1p(rate * libm::expm1(rise)) } else { log_rate + rise };
            libm::exp(power * log_ratio - 0.5 * x * x * precision - scale)
        })
        .sum();
    sum * width / (sigma * (2.0 * std::f64::consts::PI).sqrt()) * (1.0 - 1e-10)
}
