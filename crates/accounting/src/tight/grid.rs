//! The distribution of the total loss on a grid, by powers of a Fourier transform.
//!
//! The law is tilted towards the ε in question before it is transformed, so that what the transform rounds
//! off is small beside δ however small δ is.

use super::contour::{Bounds, Sum};
use super::loss::PrivacyLoss;
use super::uses;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;

/// Points of the transform at most: 2^20, 16 MiB of them.
const MOST_POINTS: f64 = 1_048_576.0;

/// Points of one event's own law at most.
const MOST_CELLS: f64 = 600_000.0;

/// What is cut off the ends of one law, relative to δ and to the wanted width, all uses together.
const CUT: f64 = 0.01;

/// The upper end is closer than the gap that can be certified, by at least this factor: where the lower end says nothing, a
/// gap that is wider by it will do.
const FROM_ABOVE: f64 = 64.0;

/// The relative error of a transform of length 2^k is below k times this (in the ℓ2 norm).
const TRANSFORM: f64 = 2e-15;

/// One event's loss on the grid i·step: never better than the event itself.
pub(super) struct Law {
    pub(super) first: i64,
    pub(super) masses: Vec<f64>,
    logs: Vec<f64>,
    /// What cancellation may have done to each mass.
    doubts: Vec<f64>,
    /// P(L beyond the grid): counted as revealed.
    pub(super) revealed: f64,
    /// P(L below the grid): moved up to its first point.
    raised: f64,
}

/// Laws, each with its number of uses.
struct Laws {
    step: f64,
    parts: Vec<(f64, Law)>,
    /// Uses whose losses are moved to grid points at random, within a step.
    moved: f64,
    /// How far rounding of the points themselves may move the total.
    drift: f64,
}

/// The least t with P(L > t) ≤ share, or the largest with P(L ≤ t) ≤ share, from outside; none beyond 10⁹. What counts as
/// revealed in any case may lie beyond.
pub(super) fn end(loss: &PrivacyLoss, share: f64, above: bool) -> Option<f64> {
    let share = if above { share.max(loss.far()) } else { share };
    let sign = if above { 1.0 } else { -1.0 };
    let outside = |reach: f64| {
        let tails = loss.tails(sign * reach);
        (if above { tails.p_above } else { tails.p_below }) <= share
    };
    let mut reach = 1e-9;
    while !outside(reach) || outside(-reach) {
        reach *= 2.0;
        if reach > 1e9 {
            return None;
        }
    }
    let (mut low, mut high) = (-reach, reach);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if outside(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(sign * high)
}

impl Law {
    /// Mass in (a, a + step] is split between the ends so that its P-mass and its Q-mass are both kept:
    /// of all laws on the grid that are never better, the least bad one.
    pub(super) fn new(loss: &PrivacyLoss, step: f64, from: f64, to: f64) -> Option<Self> {
        let (first, last) = ((from / step).floor() - 1.0, (to / step).ceil() + 1.0);
        if last - first > MOST_CELLS {
            return None;
        }
        let count = (last - first) as usize + 1;
        let (mut masses, mut doubts) = (vec![0.0; count], vec![0.0; count]);
        let at = |i: usize| (first + i as f64) * step;
        let shrink = -libm::expm1(-step);
        let mut low = loss.tails(at(0));
        let raised = low.p_below;
        masses[0] = raised;
        for i in 1..count {
            let high = loss.tails(at(i));
            // Differences on the side where the numbers are small.
            let difference = |above: (f64, f64), below: (f64, f64)| {
                if above.0 < below.1 { (above.0 - above.1, above.0) } else { (below.1 - below.0, below.1) }
            };
            let (p, doubt) = difference((low.p_above, high.p_above), (low.p_below, high.p_below));
            let (q, _) = difference((low.q_above, high.q_above), (low.q_below, high.q_below));
            let p = p.max(0.0);
            if p > 0.0 {
                let left_loss = at(i - 1);
                let right = if left_loss.abs() < 600.0 {
                    ((p - libm::exp(left_loss) * q.max(0.0)) / shrink).clamp(0.0, p)
                } else {
                    p
                };
                masses[i] += right;
                masses[i - 1] += p - right;
            }
            doubts[i] += 4.0 * f64::EPSILON * doubt;
            low = high;
        }
        Some(Self::of(first as i64, masses, doubts).with_ends(low.p_above, raised))
    }

    /// The same for atoms that lie anywhere, one by one.
    fn scattered(atoms: &[(f64, f64)], step: f64, from: f64, to: f64) -> Option<Self> {
        let (first, last) = ((from / step).floor() - 1.0, (to / step).ceil() + 1.0);
        if last - first > MOST_CELLS {
            return None;
        }
        let mut masses = vec![0.0; (last - first) as usize + 1];
        let (mut revealed, mut raised) = (0.0, 0.0);
        let shrink = libm::expm1(-step);
        for (loss, mass) in atoms {
            let place = loss / step - first;
            if place <= 0.0 {
                raised += mass;
                masses[0] += mass;
            } else if place >= last - first {
                revealed += mass;
            } else {
                let cell = place as usize;
                let above = loss - (first + cell as f64) * step;
                let right = (libm::expm1(-above) / shrink).clamp(0.0, 1.0);
                masses[cell] += mass * (1.0 - right);
                masses[cell + 1] += mass * right;
            }
        }
        let doubts = masses.iter().map(|mass| mass * 64.0 * f64::EPSILON).collect();
        Some(
            Self::of(first as i64, masses, doubts)
                .with_ends(revealed * (1.0 + 1e-12), raised * (1.0 + 1e-12)),
        )
    }

    /// Discrete losses that lie on the grid: every atom on its own point.
    fn on_points(loss: &PrivacyLoss, step: f64) -> Option<Self> {
        let atoms: Vec<(f64, f64)> = match loss {
            PrivacyLoss::Response { epsilon, plus, minus } => {
                vec![(-epsilon, *minus), (0.0, (1.0 - plus - minus).max(0.0)), (*epsilon, *plus)]
            }
            PrivacyLoss::Atoms(atoms) => atoms.iter().copied().collect(),
            _ => return None,
        };
        let first = (atoms.first()?.0 / step).round();
        let last = (atoms.last()?.0 / step).round();
        if last - first > MOST_CELLS {
            return None;
        }
        let mut masses = vec![0.0; (last - first) as usize + 1];
        for (at, mass) in atoms {
            masses[((at / step).round() - first) as usize] += mass;
        }
        let doubts = masses.iter().map(|mass| mass * 64.0 * f64::EPSILON).collect();
        Some(Self::of(first as i64, masses, doubts))
    }

    fn of(first: i64, masses: Vec<f64>, doubts: Vec<f64>) -> Self {
        let logs = masses.iter().map(|mass| libm::log(*mass)).collect();
        Self { first, masses, logs, doubts, revealed: 0.0, raised: 0.0 }
    }

    fn with_ends(self, revealed: f64, raised: f64) -> Self {
        Self { revealed, raised, ..self }
    }

    /// ln Σ pᵢ e^{λ i step}, and the mean and variance of the tilted law.
    fn tilted(&self, lambda: f64, step: f64) -> (f64, f64, f64) {
        let exponent = |i: usize| lambda * (self.first + i as i64) as f64 * step + self.logs[i];
        let top = (0..self.logs.len()).map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for i in 0..self.logs.len() {
            let below = exponent(i) - top;
            // What is e^{−60} of the largest does not count.
            if below > -60.0 {
                let (weight, at) = (libm::exp(below), (self.first + i as i64) as f64 * step);
                total += weight;
                mean += weight * at;
                square += weight * at * at;
            }
        }
        let mean = mean / total;
        (top + libm::log(total), mean, (square / total - mean * mean).max(0.0))
    }

    /// The doubts' share of the tilted law.
    fn doubt(&self, lambda: f64, step: f64, log_moment: f64) -> f64 {
        let exponent = |i: usize| lambda * (self.first + i as i64) as f64 * step - log_moment;
        let doubts = self.doubts.iter().enumerate().filter(|(_, doubt)| **doubt > 0.0);
        doubts.map(|(i, doubt)| libm::exp(exponent(i)) * doubt).sum()
    }
}

/// What may be cut off either end of one use where the total has this δ.
fn share(sum: &Sum, delta: f64) -> f64 {
    (CUT * sum.width * delta / uses(sum)).max(1e-290)
}

impl Laws {
    fn new(sum: &Sum, step: f64, delta: f64) -> Option<Self> {
        let share = share(sum, delta);
        let (mut parts, mut moved, mut drift) = (Vec::new(), 0.0, 0.0);
        for (count, loss) in &sum.parts {
            let aligned = loss.is_discrete() && loss.spacing().is_some_and(|s| is_whole(s / step));
            let law = if aligned {
                Law::on_points(loss, step)?
            } else {
                moved += count;
                let (from, to) = (end(loss, share, false)?, end(loss, share, true)?);
                match loss.scattered() {
                    Some(atoms) => Law::scattered(&atoms, step, from, to)?,
                    None => Law::new(loss, step, from, to)?,
                }
            };
            let reach =
                step * (law.first.unsigned_abs() as f64).max((law.first + law.masses.len() as i64) as f64);
            drift += count * 1e-14 * reach.max(step);
            parts.push((*count, law));
        }
        Some(Self { step, parts, moved, drift })
    }

    fn tilted(&self, lambda: f64) -> (f64, f64, f64) {
        self.parts.iter().fold((0.0, 0.0, 0.0), |(log, mean, variance), (count, law)| {
            let (l, m, v) = law.tilted(lambda, self.step);
            (log + count * l, mean + count * m, variance + count * v)
        })
    }

    /// The λ at which the tilted law has its δ-weighted middle at ε.
    fn saddle(&self, epsilon: f64) -> f64 {
        let (mut low, mut high) = (-12.0f64, 12.0f64);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            let lambda = libm::exp(middle);
            let (_, mean, _) = self.tilted(lambda);
            if mean - epsilon - 1.0 / lambda - 1.0 / (1.0 + lambda) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
            if high - low < 0.02 {
                break;
            }
        }
        // The lesser end: where one rare loss outweighs many small ones, the mean leaps past ε within a hair's breadth.
        libm::exp(low)
    }

    /// The ε at which Chernoff's bound is δ, roughly.
    fn chernoff_epsilon(&self, delta: f64) -> f64 {
        let at = |log_lambda: f64| {
            let lambda = libm::exp(log_lambda);
            let (log, _, _) = self.tilted(lambda);
            (log - libm::log(delta) - libm::log1p(lambda) + lambda * libm::log(lambda / (1.0 + lambda)))
                / lambda
        };
        let (mut low, mut high) = (-10.0, 10.0);
        while high - low > 0.2 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if at(a) <= at(b) {
                high = b;
            } else {
                low = a;
            }
        }
        at(0.5 * (low + high)).max(0.0)
    }
}

fn is_whole(ratio: f64) -> bool {
    ratio >= 0.5 && (ratio - ratio.round()).abs() <= 4e-15 * ratio
}

/// A law with few points and what it says about a finer one.
struct Coarse {
    laws: Laws,
    tilt: Tilt,
    epsilon: f64,
    lambda: f64,
    /// The δ for which the tails were cut, and the one found.
    cut: f64,
    delta: f64,
}

/// What is known of the tilted law before it is worked out.
struct Tilt {
    log_moment: f64,
    mean: f64,
    spread: f64,
    step: f64,
    /// s with K(λ + s) − K(λ) and K(λ − s) − K(λ).
    rises: Vec<(f64, f64, f64)>,
}

impl Tilt {
    fn new(laws: &Laws, lambda: f64) -> Self {
        let (log_moment, mean, variance) = laws.tilted(lambda);
        let spread = variance.sqrt();
        let rises = [0.05, 0.15, 0.4, 1.0, 2.5, 6.0]
            .iter()
            .map(|f| f / spread.max(laws.step))
            .map(|s| (s, laws.tilted(lambda + s).0 - log_moment, laws.tilted(lambda - s).0 - log_moment))
            .collect();
        Self { log_moment, mean, spread, step: laws.step, rises }
    }

    /// ln P(S > at) ≤ K(λ + s) − K(λ) − s·at under the tilted law.
    fn log_above(&self, at: f64) -> f64 {
        self.rises.iter().map(|(s, up, _)| up - s * at).fold(0.0, f64::min)
    }

    /// ln P(S < at) ≤ K(λ − s) − K(λ) + s·at.
    fn log_below(&self, at: f64) -> f64 {
        self.rises.iter().map(|(s, _, down)| down + s * at).fold(0.0, f64::min)
    }

    /// Where nearly all of the tilted law and ε lie.
    fn window(&self, epsilon: f64) -> (f64, f64) {
        let far = 1e3 * (self.spread + self.step);
        let reach = |outside: &dyn Fn(f64) -> bool| {
            let mut reach = 4.0 * (self.spread + self.step);
            while !outside(reach) && reach < far {
                reach *= 1.1;
            }
            reach
        };
        let (low, high) = (epsilon.min(self.mean), epsilon.max(self.mean));
        let up = reach(&|d| self.log_above(high + d) <= -34.0);
        let down = reach(&|d| self.log_below(low - d) <= -34.0);
        (low - down, high + up)
    }
}

/// The tilted law of the total loss, ready for any ε near the one it was made for.
pub(super) struct Grid {
    step: f64,
    lambda: f64,
    /// Index of the first point.
    first: i64,
    /// Tilted masses.
    masses: Vec<f64>,
    /// Σ_{i ≥ j} mᵢ e^{−(λ+1)(i−j)·step}.
    discounted: Vec<f64>,
    /// Σ_{i ≥ j} mᵢ e^{−λ(i−j)·step}(1 − e^{−(i−j)·step}).
    kinked: Vec<f64>,
    /// ln of the moment the law was divided by.
    log_moment: f64,
    /// ℓ2 error of the masses.
    error: f64,
    /// ln of the factor by which doubts about the masses may change everything.
    doubt: f64,
    /// Tilted mass that may have come round from either end, and ln of the δ beyond the last point.
    wrapped: f64,
    log_beyond: f64,
    revealed: f64,
    raised: f64,
    moved: f64,
    drift: f64,
}

impl Sum {
    /// The law of the total around an ε, a δ or both. None when it would take too many points.
    pub(super) fn grid(&self, near: Near) -> Option<Grid> {
        // A coarse law settles where to tilt.
        let coarse = self.coarse(near)?;
        let Coarse { epsilon, lambda, cut, .. } = coarse;
        let (coarse, tilt) = (&coarse.laws, &coarse.tilt);
        // A relative width on ε, or on δ where that is asked for. The gap between law and grid law is about
        // 4·uses·step²·(1 + λ): see the proof.
        let width = if near.rough { self.width.max(0.04) } else { self.width };
        let width = if self.is_from_above() { FROM_ABOVE * width } else { width };
        let width = 0.5 * width * 0.125f64.powi(near.missed);
        let tolerance = width * if near.delta.is_some() { epsilon.max(1e-9) } else { 1.0 / lambda };
        let goal = (tolerance / (4.0 * coarse.moved.max(1.0) * (1.0 + lambda))).sqrt();
        let (low, high) = tilt.window(epsilon);
        let longest = coarse.parts.iter().map(|(_, law)| law.masses.len()).max()? as f64 * coarse.step;
        let floor = (1.2 * (high - low) / MOST_POINTS).max(1.1 * longest / MOST_CELLS);
        let step = self.lattice(floor).unwrap_or_else(|| self.aligned(goal.max(floor)));
        // The finer law may reach further than the coarse one let expect.
        let mut step = step;
        for _ in 0..3 {
            let laws = Laws::new(self, step, cut);
            match laws.and_then(|laws| Grid::new(&laws, epsilon, lambda)) {
                Some(grid) => return Some(grid),
                None => step = self.aligned(4.0 * step),
            }
        }
        None
    }

    /// Whether the lower end says nothing, as a loss is known from above only.
    pub(super) fn is_from_above(&self) -> bool {
        self.parts.iter().any(|(_, loss)| loss.is_from_above())
    }

    /// A law with few points, tilted for an ε, and cut where its tail does not matter beside the δ there. The cut decides
    /// where the saddle is, so where δ is not given the two are brought together: a deeper cut has a larger δ.
    fn coarse(&self, near: Near) -> Option<Coarse> {
        let at = |cut: f64| -> Option<Coarse> {
            let laws = Laws::new(self, self.coarse_step(cut)?, cut)?;
            let epsilon = near.epsilon.or_else(|| near.delta.map(|delta| laws.chernoff_epsilon(delta)))?;
            let lambda = laws.saddle(epsilon);
            let tilt = Tilt::new(&laws, lambda);
            let delta = near.delta.unwrap_or_else(|| {
                let width = libm::log((1.0 + lambda) * (1.0 + lambda * tilt.spread));
                libm::exp((tilt.log_moment - lambda * epsilon - width).clamp(-660.0, -1.0))
            });
            Some(Coarse { laws, tilt, epsilon, lambda, cut, delta })
        };
        let first = near.delta.unwrap_or(1e-12);
        let mut found = at(first)?;
        let (mut low, mut high) = (libm::log(found.delta.min(first)), libm::log(found.delta.max(first)));
        while high - low > 4.0 {
            let middle = 0.5 * (low + high);
            found = at(libm::exp(middle))?;
            if libm::log(found.delta) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(found)
    }

    /// The step of a law with some thousands of points when its tails are cut for this δ.
    fn coarse_step(&self, cut: f64) -> Option<f64> {
        let share = share(self, cut);
        let width = |loss: &PrivacyLoss| Some(end(loss, share, true)? - end(loss, share, false)?);
        let widths = self.parts.iter().map(|(_, loss)| width(loss)).collect::<Option<Vec<f64>>>()?;
        let widest = widths.iter().copied().fold(0.0, f64::max);
        let narrowest = widths.iter().copied().fold(f64::INFINITY, f64::min);
        Some(self.aligned((widest / 3000.0).min(narrowest / 20.0).max(widest / 200_000.0)))
    }

    /// The step itself, or the next smaller one of which the atoms' spacing is a multiple.
    fn aligned(&self, step: f64) -> f64 {
        match self.spacing() {
            Some(spacing) => spacing / (spacing / step).ceil().max(1.0),
            None => step,
        }
    }

    /// The largest number of which all atoms are multiples, if there is one not too small.
    fn spacing(&self) -> Option<f64> {
        let spacings = || self.parts.iter().filter_map(|(_, loss)| loss.spacing());
        let least = spacings().fold(f64::INFINITY, f64::min);
        if !least.is_finite() {
            return None;
        }
        (1..=64).map(|k| least / f64::from(k)).find(|base| spacings().all(|s| is_whole(s / base)))
    }

    /// Where the atoms lie when nothing else does and the grid may be as coarse as they are.
    fn lattice(&self, floor: f64) -> Option<f64> {
        let discrete = self.parts.iter().all(|(_, loss)| loss.is_discrete());
        self.spacing().filter(|spacing| discrete && *spacing >= floor)
    }
}

/// What a grid is wanted for: at least one of the two.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Near {
    pub(super) epsilon: Option<f64>,
    pub(super) delta: Option<f64>,
    /// Whether a rough answer will do.
    pub(super) rough: bool,
    /// How often the wanted width was missed before; each time asks for an eighth of it.
    pub(super) missed: i32,
}

impl Grid {
    fn new(laws: &Laws, epsilon: f64, lambda: f64) -> Option<Self> {
        let step = laws.step;
        let tilt = Tilt::new(laws, lambda);
        let (low, high) = tilt.window(epsilon);
        let points = ((high - low) / step).ceil() + 2.0;
        if points > MOST_POINTS {
            return None;
        }
        let length = (points as usize).next_power_of_two().max(16);
        let first = ((0.5 * (low + high)) / step).floor() as i64 - (length / 2) as i64;
        let (bottom, top) = (first as f64 * step, (first + length as i64 - 1) as f64 * step);
        let log_moment = tilt.log_moment;

        let mut planner = FftPlanner::<f64>::new();
        let (forward, back) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
        let mut product = vec![Complex64::new(0.0, 0.0); length];
        let mut buffer = vec![Complex64::new(0.0, 0.0); length];
        let log_length = (length as f64).log2();
        let (mut error, mut doubt) = (0.0, 0.0);
        let mut offset = 0.0;
        for (count, law) in &laws.parts {
            let (log, mean, _) = law.tilted(lambda, step);
            // Each law is moved by its mean, so that phases stay small when they are multiplied by the count.
            let centre = (mean / step).round() as i64;
            buffer.fill(Complex64::new(0.0, 0.0));
            for (i, mass) in law.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let index = law.first + i as i64;
                let weight = libm::exp(lambda * index as f64 * step - log) * mass;
                buffer[(index - centre).rem_euclid(length as i64) as usize].re += weight;
            }
            let norm: f64 = buffer.iter().map(|x| x.re * x.re).sum::<f64>().sqrt();
            forward.process(&mut buffer);
            for (total, factor) in product.iter_mut().zip(&buffer) {
                *total += Complex64::new(0.5 * factor.norm_sqr().ln(), factor.im.atan2(factor.re)) * *count;
            }
            error += count * norm * (log_length * TRANSFORM + 1e-15);
            doubt += count * (law.doubt(lambda, step, log) + 8.0 * f64::EPSILON);
            offset += count * centre as f64;
        }
        // The phase that moves the total back, reduced exactly: it is a whole number of points.
        let shift = (offset - first as f64).rem_euclid(length as f64);
        for (k, log) in product.iter_mut().enumerate() {
            let turn = (k as f64 * shift).rem_euclid(length as f64) / length as f64;
            let size = if log.re.is_finite() { libm::exp(log.re.min(0.0)) } else { 0.0 };
            let (sin, cos) = libm::sincos(log.im - 2.0 * std::f64::consts::PI * turn);
            *log = Complex64::new(size * cos, size * sin);
        }
        back.process(&mut product);
        let masses: Vec<f64> = product.iter().map(|x| x.re / length as f64).collect();
        let norm: f64 = masses.iter().map(|m| m * m).sum::<f64>().sqrt();
        let uses: f64 = laws.parts.iter().map(|(count, _)| count).sum();
        error += norm * (log_length * TRANSFORM + uses * 4e-15 + 1e-14);
        let (mut discounted, mut kinked) = (vec![0.0; length + 1], vec![0.0; length + 1]);
        let (by_lambda, by_both) = (libm::exp(-lambda * step), libm::exp(-(lambda + 1.0) * step));
        let kink = -libm::expm1(-step);
        for i in (0..length).rev() {
            kinked[i] = by_lambda * (kinked[i + 1] + kink * discounted[i + 1]);
            discounted[i] = masses[i] + by_both * discounted[i + 1];
        }
        Some(Self {
            step,
            lambda,
            first,
            masses,
            discounted,
            kinked,
            log_moment,
            error,
            doubt,
            wrapped: libm::exp(tilt.log_below(bottom)) + libm::exp(tilt.log_above(top)),
            log_beyond: log_moment - lambda * top + tilt.log_above(top),
            revealed: laws.parts.iter().map(|(count, law)| count * law.revealed).sum(),
            raised: laws.parts.iter().map(|(count, law)| count * law.raised).sum(),
            moved: laws.moved,
            drift: laws.drift,
        })
    }

    /// The ε it can speak of: not too close to either end.
    pub(super) fn range(&self) -> (f64, f64) {
        let at = |share: f64| (self.first as f64 + share * self.masses.len() as f64) * self.step;
        (at(0.15), at(0.85))
    }

    /// δ at ε of the grid law, and what the transform may have done to it.
    fn value(&self, epsilon: f64) -> (f64, f64) {
        let scale = libm::exp(self.log_moment - self.lambda * epsilon);
        let at = (epsilon / self.step - self.first as f64).floor() + 1.0;
        let j = (at.max(0.0) as usize).min(self.masses.len());
        let ahead = (self.first + j as i64) as f64 * self.step - epsilon;
        let inner =
            libm::exp(-self.lambda * ahead) * (self.kinked[j] - libm::expm1(-ahead) * self.discounted[j]);
        let l = self.lambda;
        // ‖e^{−λt}(1 − e^{−t})‖₂ over the points t > 0.
        let weight = (1.0 / (self.step * l * (2.0 * l + 1.0) * (2.0 * l + 2.0))
            + 1.0 / ((1.0 + l) * (1.0 + l)))
            .sqrt();
        let rounding = inner.abs() * (2.0 * f64::EPSILON * self.masses.len() as f64 + 1e-13);
        (scale * inner, scale * (self.error * weight + rounding))
    }

    /// Upper and lower bounds on δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> Bounds {
        let (early, late) = (epsilon - self.drift, epsilon + self.drift);
        let (value, error) = self.value(early);
        let upper = (value + error) * libm::exp(self.doubt) + libm::exp(self.log_beyond) + self.revealed;
        let (value, error) = self.value(late);
        let scale = libm::exp(self.log_moment - self.lambda * late);
        let lower = (value - error) * libm::exp(-self.doubt)
            - self.wrapped * scale
            - self.gap(late)
            - self.revealed
            - self.raised;
        if upper.is_nan() || lower.is_nan() {
            return Bounds { lower: 0.0, upper: 1.0 };
        }
        Bounds { lower: lower.clamp(0.0, 1.0), upper: (upper + f64::MIN_POSITIVE).clamp(0.0, 1.0) }
    }

    /// How much worse than the truth the grid law may be at ε.
    fn gap(&self, epsilon: f64) -> f64 {
        if self.moved == 0.0 {
            return 0.0;
        }
        // Squared ranges of the random moves, and the deviation exceeded with probability e^{−tail}.
        let squares = self.moved * self.step * self.step;
        let tail = 20.0 - (self.log_moment - self.lambda * epsilon).min(0.0);
        let w = (0.5 * squares * tail).sqrt() + squares / 8.0;
        let rare = libm::exp(-tail);
        let variance = libm::expm1(0.25 * self.moved * libm::expm1(self.step).powi(2));
        let near = self.near(epsilon, 2.0 * w) + 2.0 * rare;
        (near * 0.5 * libm::exp(w) * variance.sqrt() + rare).min(1.0)
    }

    /// P(|S − ε| ≤ reach) of the grid law, from above.
    fn near(&self, epsilon: f64, reach: f64) -> f64 {
        let at = |x: f64| x / self.step - self.first as f64;
        let (from, to) = (at(epsilon - reach).floor(), at(epsilon + reach).ceil());
        if from < 0.0 || to >= self.masses.len() as f64 {
            return 1.0;
        }
        let (from, to) = (from as usize, to as usize);
        let scale = libm::exp(self.log_moment - self.lambda * epsilon);
        let back = libm::exp(-self.lambda * self.step);
        let most = libm::exp(self.lambda * (reach + self.step));
        let (mut weight, mut total) = (most, 0.0);
        for mass in &self.masses[from..=to] {
            total += mass * weight;
            weight *= back;
        }
        let count = (to - from + 1) as f64;
        let wrapped = self.wrapped * most;
        (scale * (total * (1.0 + 1e-9) + most * self.error * count.sqrt() + wrapped) * libm::exp(self.doubt))
            .clamp(0.0, 1.0)
    }
}
