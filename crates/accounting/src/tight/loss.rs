//! The privacy loss of one event in one direction: its cumulant function on a vertical line, and how
//! fast its characteristic function dies out.

use super::complex::Complex;
use super::replaced;
use super::tails::Atoms;

/// Which way neighbours differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The first data set has the record, the second has not.
    Remove,
    /// The first data set lacks the record.
    Add,
}

/// A privacy loss L = ln dP/dQ under P for which K(z) = ln E[e^{zL}] can be computed.
#[derive(Debug, Clone, PartialEq)]
pub enum PrivacyLoss {
    /// Gaussian noise of multiplier z.
    Gaussian(f64),
    /// Laplace noise with this ε.
    Laplace(f64),
    /// Two answers with loss ±ε and, between them, a share of answers without loss.
    Response {
        /// The size of the loss.
        epsilon: f64,
        /// Probability of loss +ε.
        plus: f64,
        /// Probability of loss −ε.
        minus: f64,
    },
    /// Σ pᵢ N(sᵢ, σ²) against N(0, σ²), in one direction.
    Mixture {
        /// The shifts, not negative.
        shifts: Vec<f64>,
        /// Their probabilities.
        weights: Vec<f64>,
        /// The noise multiplier.
        sigma: f64,
        /// Which of the two is P.
        direction: Direction,
    },
    /// A discrete law.
    Atoms(Atoms),
    /// (1 − rate)·Q + rate·P against Q, for an inner loss that is the same both ways.
    Sampled {
        /// The probability of being in the sample.
        rate: f64,
        /// The loss of what is run on the sample.
        inner: Box<PrivacyLoss>,
        /// Which of the two is P.
        direction: Direction,
    },
    /// The worst of sampling in either direction at every ε: what replacing a record costs.
    Swapped {
        /// The probability of being in the sample.
        rate: f64,
        /// The loss of what is run on the sample; the same both ways.
        inner: Box<PrivacyLoss>,
    },
    /// (1 − rate)·N(0, σ²) + rate·N(1, σ²) against (1 − rate)·N(0, σ²) + rate·N(−1, σ²), the same both ways.
    Replaced {
        /// The probability of being in the sample.
        rate: f64,
        /// The noise over what one record can add.
        sigma: f64,
    },
    /// One of several losses, which one being revealed.
    Blend(Vec<(f64, PrivacyLoss)>),
    /// The worst of several at every ε, given that not everything is revealed: what a record loses that is in one of
    /// several parts.
    Envelope {
        /// The largest of their probabilities to reveal everything.
        leak: f64,
        /// The probability of each to reveal everything, and its loss otherwise.
        branches: Vec<(f64, PrivacyLoss)>,
    },
}

/// K on a line: values at c + ikh for k = 0, 1, …, with a bound on the error of each.
pub(super) struct Line {
    pub(super) values: Vec<Complex>,
    pub(super) errors: Vec<f64>,
}

/// Parts of a distribution that are uniform over an interval of at least this width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uniform {
    width: f64,
    mass: f64,
}

/// How the tilted characteristic function φ(y) dies out: |φ(y)| ≤ e^{−decay(y)}.
#[derive(Debug, Clone)]
pub(super) enum Decay {
    /// Exactly e^{−y²·half}.
    Gaussian(f64),
    /// From uniform parts at several scales; see the proof.
    Layers(Vec<Uniform>),
}

impl Decay {
    /// Of Laplace noise, by its widest uniform parts only: enough beside many others.
    pub(super) fn few_layers(epsilon: f64, c: f64) -> Self {
        Self::Layers(laplace_layers(epsilon, c, 6))
    }

    /// A lower bound on −ln|φ(y)|, not decreasing in y.
    pub(super) fn at(&self, y: f64) -> f64 {
        match self {
            Self::Gaussian(half) => half * y * y,
            Self::Layers(layers) => {
                let share = |part: &Uniform| part.mass * (1.0 - largest_sinc(y * part.width / 2.0));
                -libm::log1p(-layers.iter().map(share).fold(0.0, f64::max))
            }
        }
    }
}

/// At least |sin s/s| for every s ≥ t: sin t/t until the first side lobe takes over, then the lobe, then 1/t.
fn largest_sinc(t: f64) -> f64 {
    const LOBE: f64 = 0.217_24;
    if t < 1e-4 {
        1.0 - t * t / 6.000_1
    } else if t < 2.7 {
        (libm::sin(t) / t).max(LOBE)
    } else {
        LOBE.min(1.0 / t)
    }
}

/// The sums below reach this many standard deviations beyond every mode.
pub(super) const TAILS: f64 = 12.5;

/// Quadratures of more points than this are refused, and lines of more than so many terms.
const MOST_POINTS: f64 = 40_000.0;
const MOST_TERMS: f64 = 3e7;

/// The most points of a quadrature for |y| ≤ reach.
pub(super) fn most_points(reach: f64) -> f64 {
    if reach == 0.0 { MOST_POINTS } else { 10.0 * MOST_POINTS }
}

/// A tilted mixture on a grid: where L is and how much weight is there.
pub(super) struct Tilted {
    losses: Vec<f64>,
    weights: Vec<f64>,
    /// dL/dx at every point.
    slopes: Vec<f64>,
    step: f64,
    dip: f64,
    log_scale: f64,
}

/// Points at once in the sums below.
const LANES: usize = 4;

/// One point's part of Σ wⱼe^{iyLⱼ}, by real and imaginary parts: phase, turn from one y to the next, and weight.
#[derive(Clone, Copy, Default)]
struct Spoke {
    phase: [[f64; LANES]; 2],
    turn: [[f64; LANES]; 2],
    weight: [f64; LANES],
}

/// All of them, in groups that are handled together; the last group is filled up with weights of 0.
struct Wheel(Vec<Spoke>);

impl Wheel {
    fn new(losses: &[f64], weights: &[f64], h: f64) -> Self {
        let mut spokes = vec![Spoke::default(); losses.len().div_ceil(LANES)];
        for (index, (loss, weight)) in losses.iter().zip(weights).enumerate() {
            let (spoke, lane) = (&mut spokes[index / LANES], index % LANES);
            let turn = Complex::unit(h * loss);
            (spoke.turn[0][lane], spoke.turn[1][lane]) = (turn.re, turn.im);
            spoke.weight[lane] = *weight;
        }
        Self(spokes)
    }

    /// Phases at y.
    fn set(&mut self, losses: &[f64], y: f64) {
        for (index, loss) in losses.iter().enumerate() {
            let (spoke, lane) = (&mut self.0[index / LANES], index % LANES);
            let phase = Complex::unit(y * loss);
            (spoke.phase[0][lane], spoke.phase[1][lane]) = (phase.re, phase.im);
        }
    }

    /// The sum here, and on to the next y.
    fn sum_and_turn(&mut self) -> Complex {
        let mut sums = [[0.0; LANES]; 2];
        for Spoke { phase: [re, im], turn: [cos, sin], weight } in &mut self.0 {
            for lane in 0..LANES {
                let (x, y) = (re[lane], im[lane]);
                sums[0][lane] += weight[lane] * x;
                sums[1][lane] += weight[lane] * y;
                re[lane] = x * cos[lane] - y * sin[lane];
                im[lane] = x * sin[lane] + y * cos[lane];
            }
        }
        Complex::new(sums[0].iter().sum(), sums[1].iter().sum())
    }
}

impl PrivacyLoss {
    /// K(c) for c > 0; infinite where the quadrature would be too long.
    pub(super) fn cumulant(&self, c: f64) -> f64 {
        self.line(c, 1.0, 1).map_or(f64::INFINITY, |line| line.values[0].re)
    }

    /// Whether every point of a contour takes a quadrature.
    pub(super) fn is_costly(&self) -> bool {
        matches!(self, Self::Mixture { .. } | Self::Replaced { .. } | Self::Blend(_))
    }

    /// K′(c) and K″(c): mean and variance of the loss under the law tilted by c.
    pub(super) fn slope_and_curvature(&self, c: f64) -> Option<(f64, f64)> {
        match self {
            Self::Gaussian(sigma) => Some(((c + 0.5) / (sigma * sigma), 1.0 / (sigma * sigma))),
            Self::Mixture { .. } | Self::Replaced { .. } => {
                let tilted = self.tilted(c, 0.0)?;
                let total: f64 = tilted.weights.iter().sum();
                let mean = tilted.weights.iter().zip(&tilted.losses).map(|(w, l)| w * l).sum::<f64>() / total;
                let spread = |l: &f64| (l - mean) * (l - mean);
                let variance =
                    tilted.weights.iter().zip(&tilted.losses).map(|(w, l)| w * spread(l)).sum::<f64>()
                        / total;
                Some((mean, variance))
            }
            Self::Atoms(_) | Self::Sampled { .. } | Self::Swapped { .. } | Self::Envelope { .. } => None,
            Self::Laplace(_) | Self::Response { .. } | Self::Blend(_) => {
                let gap = 1e-3 * c.min(1.0);
                let (below, at, above) = (self.cumulant(c - gap), self.cumulant(c), self.cumulant(c + gap));
                Some(((above - below) / (2.0 * gap), ((above - 2.0 * at + below) / (gap * gap)).max(0.0)))
            }
        }
    }

    /// K at c + ikh, k < count.
    pub(super) fn line(&self, c: f64, h: f64, count: usize) -> Option<Line> {
        // e^{zε}·rest with |rest| ≤ 1: the error of its logarithm grows as the rest vanishes.
        let closed = |epsilon: f64, rest: &dyn Fn(Complex) -> Complex| {
            let points = (0..count).map(|k| Complex::new(c, h * k as f64)).map(|z| (z, rest(z)));
            let (values, errors) = points
                .map(|(z, rest)| {
                    let shift = z * epsilon;
                    let error = 1e-15 * (4.0 + shift.abs() + z.abs() * epsilon) / rest.abs();
                    (shift + rest.ln(), error)
                })
                .unzip();
            Line { values, errors }
        };
        match self {
            Self::Gaussian(sigma) => {
                let values: Vec<Complex> = (0..count)
                    .map(|k| Complex::new(c, h * k as f64))
                    .map(|z| z * (z + Complex::new(1.0, 0.0)) * (0.5 / (sigma * sigma)))
                    .collect();
                let errors = values.iter().map(|v| v.abs() * 4.0 * f64::EPSILON).collect();
                Some(Line { values, errors })
            }
            Self::Laplace(epsilon) => Some(closed(*epsilon, &|z| {
                let one = Complex::new(1.0, 0.0);
                let below = one + z * 2.0;
                // (1+z)/(1+2z)·e^{zε} + z/(1+2z)·e^{−(1+z)ε}, with e^{zε} taken out.
                (one + z) / below + z / below * ((one + z * 2.0) * -*epsilon).exp()
            })),
            Self::Response { epsilon, plus, minus } => Some(closed(*epsilon, &|z| {
                let unmoved = (1.0 - plus - minus).max(0.0);
                Complex::new(*plus, 0.0)
                    + (z * (-2.0 * epsilon)).exp() * *minus
                    + (z * -*epsilon).exp() * unmoved
            })),
            Self::Mixture { .. } | Self::Replaced { .. } => self.mixture_line(c, h, count),
            Self::Blend(parts) => {
                let lines: Option<Vec<Line>> = parts.iter().map(|(_, loss)| loss.line(c, h, count)).collect();
                Some(blended(parts, &lines?, count))
            }
            Self::Atoms(_) | Self::Sampled { .. } | Self::Swapped { .. } | Self::Envelope { .. } => None,
        }
    }

    fn mixture_line(&self, c: f64, h: f64, count: usize) -> Option<Line> {
        let tilted = self.tilted(c, h * count as f64)?;
        if tilted.losses.len() as f64 * count as f64 > MOST_TERMS {
            return None;
        }
        let mut wheel = Wheel::new(&tilted.losses, &tilted.weights, h);
        let mut values = Vec::with_capacity(count);
        for k in 0..count {
            if k % 32 == 0 {
                // Rotation by products loses a digit in a thousand steps: start afresh now and then.
                wheel.set(&tilted.losses, h * k as f64);
            }
            values.push(wheel.sum_and_turn().ln() + Complex::new(tilted.log_scale, 0.0));
        }
        // Summation of the weights, the rotations, and the quadrature, all relative to the sum of the weights.
        let error = (tilted.losses.len() as f64 + 64.0) * f64::EPSILON + 1e-15;
        let errors = values.iter().map(|v| error * libm::exp(values[0].re - v.re)).collect();
        Some(Line { values, errors })
    }

    /// The mixture's points with weights proportional to the tilted law, fine enough for |y| ≤ reach.
    fn tilted(&self, c: f64, reach: f64) -> Option<Tilted> {
        let (shifts, weights, sigma, direction) = match self {
            Self::Mixture { shifts, weights, sigma, direction } => (shifts, weights, sigma, direction),
            Self::Replaced { rate, sigma } => return replaced::tilted(*rate, *sigma, c, reach),
            _ => return None,
        };
        let largest = shifts.iter().copied().fold(0.0, f64::max);
        let power = match direction {
            Direction::Remove => 1.0 + c,
            Direction::Add => -c,
        };
        // Strip half-width a with phase θ = a·largest/σ² ≤ 1: the error e^{a²/2σ² + reach·θ − 2πa/h}, with 0.62c more in
        // the exponent the other way round, is brought below e^{−38}.
        let strip = (sigma * sigma / largest).min(6.0 * sigma);
        let phase = strip * largest / (sigma * sigma);
        let negative = if *direction == Direction::Add { 0.62 * c } else { 0.0 };
        let exponent = 38.0 + 0.5 * (strip / sigma).powi(2) + reach * phase + negative;
        let step = 2.0 * std::f64::consts::PI * strip / exponent;
        let from = power.min(0.0) * largest - TAILS * sigma;
        let to = power.max(1.0) * largest + TAILS * sigma;
        let points = ((to - from) / step).ceil();
        if points.is_nan() || points > most_points(reach) {
            return None;
        }
        let sign = if *direction == Direction::Remove { 1.0 } else { -1.0 };
        let scale = 1.0 / (2.0 * sigma * sigma);
        let count = points as usize + 1;
        let (mut losses, mut logs, mut slopes) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
        for i in 0..count {
            let x = from + step * i as f64;
            let (mut rise, mut weighted, mut total) = (0.0, 0.0, 0.0);
            // Everything relative to the largest exponent, so that nothing overflows.
            let exponent = |s: f64| s * (2.0 * x - s) * scale;
            let top = shifts.iter().map(|s| exponent(*s)).fold(f64::NEG_INFINITY, f64::max);
            for (s, p) in shifts.iter().zip(weights) {
                let part = p * libm::exp(exponent(*s) - top);
                rise += p * libm::expm1(exponent(*s).min(30.0));
                total += part;
                weighted += part * s;
            }
            let small = top < 30.0 && rise > -0.5;
            let log_ratio = if small { libm::log1p(rise) } else { top + libm::log(total) };
            losses.push(sign * log_ratio);
            logs.push(power * log_ratio - x * x * scale);
            slopes.push(weighted / total / (sigma * sigma));
        }
        // The density between two points is at least this share of the lesser one: see the proof.
        let dip = libm::exp(-(c + 6.0) * (step * largest / (sigma * sigma)).powi(2) / 32.0);
        Some(Tilted::new(losses, &logs, slopes, step, *sigma, dip))
    }

    /// How the characteristic function dies out under the law tilted by c.
    pub(super) fn decay(&self, c: f64) -> Decay {
        match self {
            Self::Gaussian(sigma) => Decay::Gaussian(0.5 / (sigma * sigma)),
            Self::Response { .. } => Decay::Layers(Vec::new()),
            Self::Laplace(epsilon) => Decay::Layers(laplace_layers(*epsilon, c, 30)),
            Self::Mixture { .. } | Self::Replaced { .. } => {
                Decay::Layers(self.tilted(c, 0.0).map_or(Vec::new(), |t| t.layers()))
            }
            Self::Blend(parts) => {
                // |φ| ≤ 1 − share·(1 − |φ₁|) for the share of the first part under the tilted law.
                let Some((weight, first)) = parts.first() else { return Decay::Layers(Vec::new()) };
                let share = weight * libm::exp(first.cumulant(c) - self.cumulant(c)) * (1.0 - 1e-9);
                match first.decay(c) {
                    Decay::Layers(layers) => Decay::Layers(
                        layers.into_iter().map(|l| Uniform { mass: l.mass * share, ..l }).collect(),
                    ),
                    Decay::Gaussian(_) => Decay::Layers(Vec::new()),
                }
            }
            Self::Atoms(_) | Self::Sampled { .. } | Self::Swapped { .. } | Self::Envelope { .. } => {
                Decay::Layers(Vec::new())
            }
        }
    }
}

/// ln Σ pᵢ e^{zLᵢ} of atoms along a line.
pub(super) fn atoms_line(
    atoms: impl Iterator<Item = (f64, f64)> + Clone,
    c: f64,
    h: f64,
    count: usize,
) -> Line {
    let exponents = atoms.map(|(loss, p)| (loss, libm::log(p) + c * loss));
    let top = exponents.clone().map(|(_, exponent)| exponent).fold(f64::NEG_INFINITY, f64::max);
    // All atoms left out weigh less than the least of a rounding, and are counted among the errors.
    let mut lost = 0.0;
    let (mut losses, mut weights) = (Vec::new(), Vec::new());
    for (loss, exponent) in exponents {
        let weight = libm::exp(exponent - top);
        if weight > 1e-22 {
            losses.push(loss);
            weights.push(weight);
        } else {
            lost += weight;
        }
    }
    let mut wheel = Wheel::new(&losses, &weights, h);
    let mut values: Vec<Complex> = Vec::with_capacity(count);
    for k in 0..count {
        if k % 32 == 0 {
            wheel.set(&losses, h * k as f64);
        }
        values.push(wheel.sum_and_turn().ln() + Complex::new(top, 0.0));
    }
    let reach = losses.iter().fold(0.0, |most: f64, loss| most.max(loss.abs()));
    let errors = (0..count)
        .map(|k| {
            let phases = (losses.len() as f64 + 64.0 + (c + h * k as f64) * reach + top.abs()) * f64::EPSILON;
            // An error of d·|φ| in φ is a factor of at most 1 + d.
            libm::log1p((2.0 * phases + lost) * libm::exp(values[0].re - values[k].re))
        })
        .collect();
    Line { values, errors }
}

/// ln Σ wᵢ e^{Kᵢ} along a line.
fn blended(parts: &[(f64, PrivacyLoss)], lines: &[Line], count: usize) -> Line {
    let top = lines.iter().map(|line| line.values[0].re).fold(f64::NEG_INFINITY, f64::max);
    let (mut values, mut errors) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for k in 0..count {
        let (mut sum, mut error) = (Complex::new(0.0, 0.0), 0.0);
        for ((weight, _), line) in parts.iter().zip(lines) {
            let term = (line.values[k] - Complex::new(top, 0.0)).exp() * *weight;
            sum = sum + term;
            error += term.abs() * (line.errors[k] + (line.values[k].abs() + top.abs()) * 4.0 * f64::EPSILON);
        }
        values.push(sum.ln() + Complex::new(top, 0.0));
        errors.push((error + 1e-15) / sum.abs() + top.abs() * 4.0 * f64::EPSILON);
    }
    Line { values, errors }
}

impl Tilted {
    /// From ln of the tilted density over that of N(0, σ²) without its factor 1/(σ√2π).
    pub(super) fn new(
        losses: Vec<f64>,
        logs: &[f64],
        slopes: Vec<f64>,
        step: f64,
        sigma: f64,
        dip: f64,
    ) -> Self {
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = logs.iter().map(|l| libm::exp(l - top)).collect();
        let log_scale = top + libm::log(step / (sigma * (2.0 * std::f64::consts::PI).sqrt()));
        Self { losses, weights, slopes, step, dip, log_scale }
    }

    /// For a range of widths: the interval of losses is cut into pieces of at least that width, and on
    /// each piece the density is at least its smallest value.
    fn layers(&self) -> Vec<Uniform> {
        let total: f64 = self.weights.iter().sum();
        let density: Vec<f64> =
            self.weights.iter().zip(&self.slopes).map(|(w, s)| w / (total * self.step * s)).collect();
        let span = (self.losses[self.losses.len() - 1] - self.losses[0]).abs();
        (0..60)
            .map(|i| span * libm::exp(-0.35 * f64::from(i)))
            .map(|width| self.pieces(width, &density))
            .filter(|part| part.mass > 0.0)
            .collect()
    }

    fn pieces(&self, width: f64, density: &[f64]) -> Uniform {
        let (mut mass, mut start, mut least) = (0.0, 0, f64::INFINITY);
        for (i, (loss, here)) in self.losses.iter().zip(density).enumerate() {
            least = least.min(*here);
            let reached = (loss - self.losses[start]).abs();
            if reached >= width {
                mass += 0.99 * self.dip * reached * least;
                (start, least) = (i, *here);
            }
        }
        Uniform { width, mass: mass.min(0.999_999) }
    }
}

/// The continuous part of a tilted Laplace loss has density e^{(c + ½)L − ε/2}/(4M) on (−ε, ε).
fn laplace_layers(epsilon: f64, c: f64, layers: u32) -> Vec<Uniform> {
    let loss = PrivacyLoss::Laplace(epsilon);
    let log_moment = loss.cumulant(c);
    (0..layers)
        .map(|i| {
            let width = 2.0 * epsilon * libm::exp(-0.35 * f64::from(i));
            let pieces = (2.0 * epsilon / width).floor() as u32;
            let mass: f64 = (0..pieces)
                .map(|p| -epsilon + width * f64::from(p))
                .map(|low| width * 0.25 * libm::exp((c + 0.5) * low - 0.5 * epsilon - log_moment))
                .sum();
            Uniform { width, mass: (mass * 0.999).min(0.999_999) }
        })
        .collect()
}
