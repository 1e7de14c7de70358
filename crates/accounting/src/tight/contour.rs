//! δ(ε) as an integral along a vertical line, with bounds on everything left out.

use super::complex::Complex;
use super::loss::{Decay, PrivacyLoss};

/// A sum of independent privacy losses in one direction.
#[derive(Clone)]
pub(super) struct Sum {
    pub(super) parts: Vec<(f64, PrivacyLoss)>,
    /// The wanted width of brackets, relative.
    pub(super) width: f64,
    gaussian: Option<Merged>,
}

/// Where Gaussian losses are gathered: 1/σ² adds up, here with what each addition lost.
#[derive(Clone)]
struct Merged {
    place: usize,
    precision: f64,
    lost: f64,
}

impl Merged {
    fn add(&mut self, more: f64) {
        let sum = self.precision + more;
        let (large, small) =
            if self.precision > more { (self.precision, more) } else { (more, self.precision) };
        self.lost += small - (sum - large);
        self.precision = sum;
    }
}

/// A list is searched for equal losses up to this length.
const MOST_COMPARED: usize = 64;

/// The width of brackets unless another is asked for.
const USUAL_WIDTH: f64 = 1e-4;

impl Default for Sum {
    fn default() -> Self {
        Self { parts: Vec::new(), width: USUAL_WIDTH, gaussian: None }
    }
}

/// The integrand's cumulants along one line, ready for any ε near the one it was laid for.
pub(super) struct Contour {
    c: f64,
    h: f64,
    values: Vec<Complex>,
    /// Bounds on the errors of K.
    errors: Vec<f64>,
    /// ∫ e^{−decay(y)}/y² dy beyond the last point.
    tail: f64,
    /// Steps s ahead of c with K(c + s) − K(c), for Chernoff's bound on the aliases above.
    ahead: Vec<(f64, f64)>,
}

/// Where a contour crosses the real line, how far above the saddle, and the step it would start with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) c: f64,
    pub(super) excess: f64,
    pub(super) h: f64,
}

/// What rounding may become, relative, through terms that cancel.
const MOST_CANCELLED: f64 = 6e-6;

/// An estimate with certified ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

/// Aliases above ε are brought below e to this power, relative to the saddle's height.
const ALIAS_GOAL: f64 = -30.0;

/// What is left out is brought below this, relative to the saddle's own contribution.
const TAIL_GOAL: f64 = 1e-9;

/// Where so many points do not reach the goal, it gives way with the cube of their number, up to so many times.
const PATIENCE: f64 = 128.0;
const MOST_LENIENT: f64 = 1e4;

pub(super) const TWO_PI: f64 = 2.0 * std::f64::consts::PI;

/// Points of the trapezoid rule at most.
const MOST_STEPS: usize = 4096;

impl Sum {
    /// Whether a short contour answers: Gaussian noise, and nothing that takes a quadrature.
    pub(super) fn is_smooth(&self) -> bool {
        self.gaussian.is_some() && !self.parts.iter().any(|(_, loss)| loss.is_costly())
    }

    /// Adds so many uses of a loss. Gaussian losses are one Gaussian loss; equal ones are counted together while the list
    /// is short.
    pub(super) fn push(&mut self, times: f64, loss: PrivacyLoss) {
        if let PrivacyLoss::Gaussian(sigma) = loss {
            match self.gaussian {
                Some(Merged { place, .. }) if self.parts[place].1 == loss => self.parts[place].0 += times,
                Some(ref mut merged) => {
                    let (count, known) = &mut self.parts[merged.place];
                    if let PrivacyLoss::Gaussian(known) = known {
                        if *count != 1.0 || merged.precision == 0.0 {
                            (merged.precision, merged.lost) = (*count / (*known * *known), 0.0);
                        }
                        merged.add(times / (sigma * sigma));
                        (*count, *known) = (1.0, 1.0 / (merged.precision + merged.lost).sqrt());
                    }
                }
                None => {
                    self.gaussian = Some(Merged { place: self.parts.len(), precision: 0.0, lost: 0.0 });
                    self.parts.push((times, loss));
                }
            }
            return;
        }
        let short = self.parts.len() <= MOST_COMPARED;
        match self.parts.iter_mut().find(|(_, known)| short && *known == loss) {
            Some((total, _)) => *total += times,
            None => self.parts.push((times, loss)),
        }
    }

    /// The same list without some of its losses, none of which is Gaussian.
    pub(super) fn without(&self, left_out: impl Fn(&PrivacyLoss) -> bool) -> Self {
        let mut rest = Self { width: self.width, ..Self::default() };
        for (count, loss) in self.parts.iter().filter(|(_, loss)| !left_out(loss)) {
            rest.parts.push((*count, loss.clone()));
        }
        rest
    }

    pub(super) fn cumulant(&self, c: f64) -> f64 {
        self.parts.iter().map(|(count, loss)| count * loss.cumulant(c)).sum()
    }

    pub(super) fn slope_and_curvature(&self, c: f64) -> Option<(f64, f64)> {
        self.parts.iter().try_fold((0.0, 0.0), |(slope, curvature), (count, loss)| {
            let (s, k) = loss.slope_and_curvature(c)?;
            Some((slope + count * s, curvature + count * k))
        })
    }

    /// The c that makes e^{K(c) − cε}/(c(1 + c)) least, roughly: any c is valid, this one keeps the
    /// integrand smooth. The exponent is convex, so Newton's method in ln c, kept in a shrinking bracket.
    pub(super) fn saddle(&self, epsilon: f64) -> f64 {
        let (mut low, mut high) = (-14.0f64, 16.0f64);
        let mut log_c = 1.0f64;
        for _ in 0..60 {
            let c = libm::exp(log_c);
            let Some((slope, curvature)) = self.slope_and_curvature(c) else {
                high = log_c;
                log_c = 0.5 * (low + high);
                continue;
            };
            let force = slope - epsilon - 1.0 / c - 1.0 / (1.0 + c);
            if force > 0.0 {
                high = log_c;
            } else {
                low = log_c;
            }
            let stiffness = curvature + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
            let next = log_c + libm::log1p((-force / stiffness / c).max(-0.9)).clamp(-3.0, 3.0);
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - log_c).abs() < 0.01 || high - low < 0.01 {
                return libm::exp(next);
            }
            log_c = next;
        }
        libm::exp(log_c)
    }

    /// Where to cross the real line for an ε: the saddle, or to its left where the integrand is wider.
    ///
    /// Far out, a tilted law may be a rare large loss on top of many small ones; its transform then dies out
    /// slowly. To the left of the saddle the rare ones do not show, at the price of terms that cancel.
    pub(super) fn place(&self, epsilon: f64) -> Option<Place> {
        let saddle = self.saddle(epsilon);
        let start = self.start(saddle, epsilon, 0.0)?;
        let height = start.at_c - saddle * epsilon;
        // Every use brings an error of about 2·10⁻¹³, which cancellation multiplies by e^excess.
        let uses: f64 = self.parts.iter().map(|(count, _)| count).sum();
        let most = libm::log(MOST_CANCELLED / (2e-13 * uses.max(1.0))).min(12.0);
        let mut best = Place { c: saddle, excess: 0.0, h: start.h };
        let mut c = saddle;
        for _ in 0..8 {
            c *= 0.85;
            let excess = self.cumulant(c) - c * epsilon - height;
            let Some(start) = self.start(c, epsilon, excess.max(0.0)) else { break };
            if excess > most || start.h < 0.5 * best.h {
                break;
            }
            if start.h > 1.3 * best.h {
                best = Place { c, excess: excess.max(0.0), h: start.h };
            }
        }
        Some(best)
    }

    /// A few points through c: enough for an estimate of δ near ε, without any claim.
    pub(super) fn short_contour(&self, place: Place) -> Option<Contour> {
        self.lay(place.c, place.h, 48)
    }

    /// Lays a contour through c, fine and long enough for certified bounds on δ near ε.
    pub(super) fn contour(&self, place: Place, epsilon: f64) -> Option<Contour> {
        let c = place.c;
        let Start { at_c, spread, mut h } = self.start(c, epsilon, place.excess)?;
        // Aliases above are bounded by Chernoff at a few larger c, and h shrinks until they do not matter.
        let ahead: Vec<(f64, f64)> = [0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0]
            .map(|f| 9.0 * f / spread)
            .map(|step| (step, self.cumulant(c + step) - at_c))
            .to_vec();
        while log_alias_above(&ahead, h, epsilon) > ALIAS_GOAL - place.excess && h * spread > 1e-3 {
            h *= 0.8;
        }
        let decays: Vec<(f64, Decay)> =
            self.parts.iter().map(|(count, loss)| (*count, loss.decay(c))).collect();
        let decay = |y: f64| decays.iter().map(|(count, decay)| count * decay.at(y)).sum::<f64>();
        // What is left out after `count` points: the sum from there on lies below the integral from one before.
        let left_out = |count: usize| tail_beyond(h * (count as f64 - 1.0), &decay);
        let goal = TAIL_GOAL * libm::exp(-place.excess) / (c * (1.0 + c) * spread);
        let mut count = 8usize;
        let lenient = |count: usize| (count as f64 / PATIENCE).powi(3).clamp(1.0, MOST_LENIENT);
        while count < MOST_STEPS && left_out(count) > goal * lenient(count) {
            count = count * 5 / 4 + 1;
        }
        if left_out(count) > 1e5 * goal && self.parts.iter().any(|(_, loss)| loss.is_costly()) {
            // Too slow a decay for a bracket that is worth its time.
            return None;
        }
        let contour = self.lay(c, h, count)?;
        Some(Contour { tail: left_out(count), ahead, ..contour })
    }

    /// The step that the integrand's width and the aliases below ask for, e^excess above the saddle's height.
    fn start(&self, c: f64, epsilon: f64, excess: f64) -> Option<Start> {
        let at_c = self.cumulant(c);
        let (_, curvature) = self.slope_and_curvature(c)?;
        let spread = curvature.max(1e-12).sqrt();
        // ln δ by the saddle's height and width.
        let log_delta = (at_c - c * epsilon - excess - libm::log(c * (1.0 + c) * (1.0 + spread))).min(0.0);
        // Aliases lie 2π/h away; those below are discounted by e^{−2πc/h}.
        Some(Start { at_c, spread, h: (TWO_PI / (9.0 * spread)).min(TWO_PI * c / (25.0 - log_delta)) })
    }

    /// Cumulants at `count` points; nothing is known yet of what lies beyond them.
    fn lay(&self, c: f64, h: f64, count: usize) -> Option<Contour> {
        let mut values = vec![Complex::new(0.0, 0.0); count];
        let mut errors = vec![0.0; count];
        for (times, loss) in &self.parts {
            let line = loss.line(c, h, count)?;
            for k in 0..count {
                values[k] = values[k] + line.values[k] * *times;
                errors[k] += times * (line.errors[k] + line.values[k].abs() * 2.0 * f64::EPSILON);
            }
        }
        Some(Contour { c, h, values, errors, tail: f64::INFINITY, ahead: Vec::new() })
    }
}

/// ln of a bound on half of the aliases above ε, relative to e^{K(c) − cε}: term m is at most
/// e^{K(c + s) − K(c) − s(ε + 2πm/h)}, at least halved from one to the next.
pub(super) fn log_alias_above(ahead: &[(f64, f64)], h: f64, epsilon: f64) -> f64 {
    ahead
        .iter()
        .filter(|(step, _)| step * TWO_PI / h > 0.7)
        .map(|(step, rise)| rise - step * (epsilon + TWO_PI / h))
        .fold(f64::INFINITY, f64::min)
}

/// Where a contour begins: K(c), the standard deviation of the tilted loss, and a step.
struct Start {
    at_c: f64,
    spread: f64,
    h: f64,
}

/// ∫_Y^∞ e^{−decay(y)}/y² dy for a decay that does not fall, from above.
fn tail_beyond(from: f64, decay: &dyn Fn(f64) -> f64) -> f64 {
    let (mut y, mut total) = (from, 0.0);
    for _ in 0..80 {
        let weight = libm::exp(-decay(y));
        if weight < 1e-40 {
            return total + weight / y;
        }
        total += weight * (1.0 / y - 1.0 / (1.5 * y));
        y *= 1.5;
    }
    total + libm::exp(-decay(y)) / y
}

impl Contour {
    /// The trapezoid sum over e^{K(c) − cε}/π, and what rounding may have done to it.
    fn sums(&self, epsilon: f64) -> (f64, f64) {
        let base = self.values[0].re - self.c * epsilon;
        let (mut sum, mut doubt) = (0.0, 0.0);
        let common =
            self.errors[0] + (self.values[0].re.abs() + self.c * epsilon) * 4.0 * f64::EPSILON + 1e-14;
        for (k, value) in self.values.iter().enumerate() {
            let z = Complex::new(self.c, self.h * k as f64);
            let term =
                (*value - z * epsilon - Complex::new(base, 0.0)).exp() / (z * (z + Complex::new(1.0, 0.0)));
            let weight = if k == 0 { 0.5 } else { 1.0 };
            // |e^{a} − e^{a+d}| ≤ |e^a|·(e^{|d|} − 1).
            let error = common + self.errors[k] + (value.abs() + z.abs() * epsilon) * 4.0 * f64::EPSILON;
            sum += weight * term.re;
            doubt += weight * term.abs() * libm::expm1(error.min(700.0));
        }
        (sum * self.h, doubt * self.h)
    }

    /// ln δ at ε by the sum alone, and its derivative.
    pub(super) fn estimate(&self, epsilon: f64) -> (f64, f64) {
        let base = self.values[0].re - self.c * epsilon;
        let (mut sum, mut slope) = (0.0, 0.0);
        for (k, value) in self.values.iter().enumerate() {
            let z = Complex::new(self.c, self.h * k as f64);
            let term = (*value - z * epsilon - Complex::new(base, 0.0)).exp() / (z + Complex::new(1.0, 0.0));
            let weight = if k == 0 { 0.5 } else { 1.0 };
            sum += weight * (term / z).re;
            slope -= weight * term.re;
        }
        (base + libm::log(sum * self.h / std::f64::consts::PI), slope / sum)
    }

    /// Upper and lower bounds on δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> Bounds {
        let base = self.values[0].re - self.c * epsilon;
        let (sum, rounding) = self.sums(epsilon);
        let scale = libm::exp(base) / std::f64::consts::PI;
        let value = scale * sum;
        let slack = scale * (rounding + self.tail) + f64::MIN_POSITIVE;
        if !(value + slack).is_finite() {
            return Bounds { lower: 0.0, upper: 1.0 };
        }
        // Aliases only add. Below ε they are at most 1 each, discounted; above, Chernoff's bound.
        let discount = libm::exp(-2.0 * std::f64::consts::PI * self.c / self.h);
        let below = discount / (1.0 - discount);
        let above = 2.0 * libm::exp(base + log_alias_above(&self.ahead, self.h, epsilon));
        let lower = value - slack - below - above;
        Bounds {
            lower: if lower > 0.0 { lower.min(1.0) } else { 0.0 },
            upper: (value + slack).clamp(0.0, 1.0),
        }
    }
}
