//! The contour of a long list.

use super::super::complex::Complex;
use super::super::contour::{Bounds, Sum, TWO_PI, log_alias_above};
use super::super::loss::{Decay, PrivacyLoss};
use super::lines;
use super::reduced::Reduced;

/// Aliases above ε are brought below e to this power, relative to the saddle's height.
const ALIAS_GOAL: f64 = -30.0;

/// What is left out is brought below this share of the wanted width, relative to the saddle's own contribution.
const TAIL_GOAL: f64 = 0.02;

/// Points of a contour whose losses die out by themselves, and of any.
const NATURAL_POINTS: usize = 256;
const MOST_POINTS: usize = 4096;

/// A bracket is let grow by this with every different loss.
const WIDTH_EACH: f64 = 4e-8;

/// Cumulants of the smoothed total along one line.
pub(super) struct Long {
    c: f64,
    h: f64,
    values: Vec<Complex>,
    /// Bounds on the errors of K.
    errors: Vec<f64>,
    /// How far K of the list itself may be.
    gaps: Vec<lines::Gap>,
    /// P(a loss beyond its last atom).
    revealed: f64,
    /// ∫e^{−decay(y)}/y² dy and ∫e^{−decay(y)} dy beyond the last point.
    tail: f64,
    flat_tail: f64,
    /// Steps s ahead of c with K(c + s) − K(c).
    ahead: Vec<(f64, f64)>,
    /// The standard deviation of the Gaussian loss that was added.
    smoothing: f64,
}

/// How the whole list dies out, on a ladder of points.
struct Ladder {
    /// (y, decay at y), both increasing.
    rungs: Vec<(f64, f64)>,
}

impl Ladder {
    fn new(sum: &Sum, c: f64, h: f64) -> Self {
        let decays: Vec<(f64, Decay)> =
            sum.parts.iter().map(|(count, loss)| (*count, decay(loss, c))).collect();
        let (mut rungs, mut y) = (vec![(0.0, 0.0)], h);
        for _ in 0..120 {
            let total: f64 = decays.iter().map(|(count, decay)| count * decay.at(y)).sum();
            rungs.push((y, total));
            if total > 120.0 {
                break;
            }
            y *= 1.12;
        }
        Self { rungs }
    }

    /// (∫e^{−D}/y², ∫e^{−D}) from `from` on, with D = decay(y) + s²y²/2.
    fn beyond(&self, from: f64, smoothing: f64) -> (f64, f64) {
        let first = self.rungs.partition_point(|(y, _)| *y <= from).max(1) - 1;
        let (mut tail, mut flat) = (0.0, 0.0);
        let ends = self.rungs[first + 1..].iter().map(|(y, _)| *y).chain([f64::INFINITY]);
        let mut start = from;
        for ((_, natural), end) in self.rungs[first..].iter().zip(ends) {
            let weight = libm::exp(-natural - 0.5 * (smoothing * start).powi(2));
            tail += weight * (1.0 / start - 1.0 / end);
            // Over a rung, or over the normal tail: φ(x)/x bounds it.
            let normal = if smoothing > 0.0 { 1.0 / (smoothing * smoothing * start) } else { f64::INFINITY };
            flat += weight * (end - start).min(normal);
            start = end;
        }
        (tail, if smoothing > 0.0 { flat } else { 0.0 })
    }
}

fn decay(loss: &PrivacyLoss, c: f64) -> Decay {
    match loss {
        PrivacyLoss::Laplace(epsilon) => Decay::few_layers(*epsilon, c),
        other => other.decay(c),
    }
}

impl Long {
    /// A contour for δ near ε, placed by the short list.
    pub(super) fn new(reduced: &Reduced, guide: &Sum, epsilon: f64) -> Option<Self> {
        let sum = &*reduced.alone;
        let place = guide.place(epsilon)?;
        let (c, mut h) = (place.c, place.h);
        let (_, curvature) = guide.slope_and_curvature(c)?;
        let spread = curvature.max(1e-12).sqrt();
        let at_c = lines::cumulant(reduced, c);
        if !at_c.is_finite() {
            return None;
        }
        let ahead: Vec<(f64, f64)> = [0.02, 0.1, 0.35, 1.0]
            .map(|f| 9.0 * f / spread)
            .map(|step| (step, lines::cumulant(reduced, c + step) - at_c))
            .to_vec();
        while log_alias_above(&ahead, h, epsilon) > ALIAS_GOAL - place.excess && h * spread > 1e-3 {
            h *= 0.8;
        }
        let ladder = Ladder::new(sum, c, h);
        let goal = TAIL_GOAL * sum.width * libm::exp(-place.excess) / (c * (1.0 + c) * spread);
        let points = |smoothing: f64, most: usize| {
            let mut count = 8usize;
            while count < most && ladder.beyond(h * (count as f64 - 1.0), smoothing).0 > goal {
                count = (count * 9 / 8 + 1).min(most);
            }
            (count < most).then_some(count)
        };
        let (mut smoothing, mut count) = (0.0, points(0.0, NATURAL_POINTS));
        if count.is_none() {
            // Both ends move by about s²(1 + c) together.
            let width = sum.width.max(WIDTH_EACH * reduced.losses as f64).min(0.05);
            smoothing = (0.5 * width * epsilon.max(1e-6) / (1.0 + c)).sqrt().min(0.5);
            count = points(smoothing, MOST_POINTS);
            while count.is_none() && smoothing < 0.5 {
                smoothing *= 1.5;
                count = points(smoothing, MOST_POINTS);
            }
        }
        let count = count?;
        let mut line = lines::lay(reduced, c, h, count)?;
        if smoothing > 0.0 {
            for (k, (value, error)) in line.values.iter_mut().zip(&mut line.errors).enumerate() {
                let z = Complex::new(c, h * k as f64);
                let added = z * (z + Complex::new(1.0, 0.0)) * (0.5 * smoothing * smoothing);
                *value = *value + added;
                *error += 8.0 * f64::EPSILON * added.abs();
            }
        }
        let (tail, flat_tail) = ladder.beyond(h * (count as f64 - 1.0), smoothing);
        let rise = |s: f64| 0.5 * smoothing * smoothing * s * (s + 2.0 * c + 1.0);
        let ahead = ahead.into_iter().map(|(step, k)| (step, k + rise(step))).collect();
        Some(Self {
            c,
            h,
            values: line.values,
            errors: line.errors,
            gaps: line.gaps,
            revealed: reduced.dotted.iter().map(|dots| dots.revealed).sum(),
            tail,
            flat_tail,
            ahead,
            smoothing,
        })
    }

    /// Upper and lower bounds on δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> Bounds {
        let one = Complex::new(1.0, 0.0);
        let base = self.values[0].re - self.c * epsilon;
        let common =
            self.errors[0] + (self.values[0].re.abs() + self.c * epsilon) * 4.0 * f64::EPSILON + 1e-14;
        // The trapezoid sums of e^{K − zε}/(z(1 + z)) and of e^{K − zε}, with what rounding may have done.
        let (mut kink, mut bump) = ((0.0, 0.0), (0.0, 0.0));
        let mut missing = 0.0;
        for (k, value) in self.values.iter().enumerate() {
            let z = Complex::new(self.c, self.h * k as f64);
            let term = (*value - z * epsilon - Complex::new(base, 0.0)).exp();
            let weight = if k == 0 { 0.5 * self.h } else { self.h };
            let error = common + self.errors[k] + (value.abs() + z.abs() * epsilon) * 4.0 * f64::EPSILON;
            let (size, doubt) = (term.abs(), libm::expm1(error.min(700.0)));
            let kernel = z * (z + one);
            kink.0 += weight * (term / kernel).re;
            kink.1 += weight * size / kernel.abs() * doubt;
            bump.0 += weight * term.re;
            let gap = self.gaps[k].relative(error);
            missing += weight * size / kernel.abs() * gap;
            bump.1 += weight * size * doubt.max(gap);
        }
        let scale = libm::exp(base) / std::f64::consts::PI;
        let (value, slack) = (scale * kink.0, scale * (kink.1 + self.tail) + f64::MIN_POSITIVE);
        if !(value + slack).is_finite() {
            return Bounds { lower: 0.0, upper: 1.0 };
        }
        // Aliases only add. Below ε they are at most 1 each, discounted; above, Chernoff's bound.
        let discount = libm::exp(-TWO_PI * self.c / self.h);
        let below = discount / (1.0 - discount);
        let above = 2.0 * libm::exp(base + log_alias_above(&self.ahead, self.h, epsilon));
        // What the smoothing can have added.
        let s = self.smoothing;
        let added =
            s * s * (1.0 + s) * libm::exp(s * s / 8.0) * scale * (bump.0 + bump.1 + self.flat_tail).max(0.0);
        let lower = value - slack - scale * missing - below - above - added * (1.0 + 1e-12);
        Bounds {
            lower: if lower > 0.0 { lower.min(1.0) } else { 0.0 },
            upper: (value + slack + self.revealed * (1.0 + 1e-9)).clamp(0.0, 1.0),
        }
    }
}
