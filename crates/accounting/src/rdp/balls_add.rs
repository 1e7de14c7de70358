//! The add direction of balls in bins: E[R^{−β}], R the mean of T independent likelihood ratios r.
//!
//! E[R^{−β}] = 1 + E[e^{N(s)} − 1] over s ~ Gamma(β), with N(s) = s + T·ln E[e^{−sr/T}]. N is worked out once
//! on a grid of ln s; each cell's integral is bounded by the lesser of two bounds, as the proof says.

/// Distance of grid points in ln s.
const STEP: f64 = 0.02;
const FIRST: f64 = 0.01;

/// E[e^{−ur}] is not followed below this.
const LEAST_TRANSFORM: f64 = 1e-17;

struct Point {
    log_s: f64,
    s: f64,
    /// N(s), rounded up.
    gain: f64,
    /// ln(e^N − 1).
    log_excess: f64,
    /// What N may be too large by, with the rounding of s.
    slack: f64,
}

pub(super) struct AddDirection {
    points: Vec<Point>,
}

impl AddDirection {
    /// For β up to `largest`.
    pub(super) fn new(bins: f64, sigma: f64, largest: f64) -> Self {
        let w = 1.0 / (sigma * sigma);
        let last = largest * libm::exp(4.0 + 0.5 * w.min(6.0));
        let count = (libm::log(last / FIRST) / STEP).ceil() as u32;
        let lattice = Lattice::new(sigma);
        let mut points = Vec::new();
        for i in 0..=count {
            let log_s = libm::log(FIRST) + STEP * f64::from(i);
            let s = libm::exp(log_s);
            let Some((share, slack)) = lattice.gain(s / bins) else { break };
            let gain = bins * share;
            let log_excess = if gain > 30.0 { gain } else { libm::log(libm::expm1(gain)) };
            points.push(Point { log_s, s, gain, log_excess, slack: bins * slack + 1e-14 * (s + gain) });
        }
        Self { points }
    }

    /// ln E[R^{−β}], rounded up; infinite where the grid does not reach far enough.
    pub(super) fn log_moment(&self, beta: f64) -> f64 {
        let p = &self.points;
        let (Some(first), [.., before, last]) = (p.first(), p.as_slice()) else { return f64::INFINITY };
        // ln of the whole integrand s^β·E[e^{−sr/T}]^T, which is concave in ln s.
        let level = |p: &Point| beta * p.log_s + (p.gain - p.s);
        // How much it rises at most from one point to the next.
        let rise = |a: &Point, b: &Point| level(b) - level(a) + 2.0 * (a.slack + b.slack);
        let fall = rise(before, last);
        if fall >= 0.0 {
            return f64::INFINITY;
        }
        // Below the grid e^N − 1 is at most (s/s₀) times what it is at s₀, by convexity.
        let below = first.log_excess + beta * first.log_s - libm::log(beta + 1.0);
        let above = level(last) + last.slack + libm::log(STEP / -fall);
        let log_gamma = libm::lgamma(beta);
        let mut sum = libm::exp(below - log_gamma) + libm::exp(above - log_gamma);
        for (k, pair) in p.windows(2).enumerate() {
            let (low, high) = (&pair[0], &pair[1]);
            let concave = match k.checked_sub(1).and_then(|i| p.get(i)) {
                Some(left) => level(low) + low.slack + log_mean_exp(rise(left, low)),
                None => f64::INFINITY,
            };
            let cell = concave.min(tangent_and_chord(beta, low, high));
            sum += libm::exp(cell + libm::log(STEP) - log_gamma);
        }
        libm::log1p(sum * (1.0 + 1e-9))
    }
}

/// ln of the mean over a cell of (e^{N} − 1)·s^β·e^{−s}: the concave exponent βy − e^y is below its tangent
/// at the middle, the convex e^N − 1 below its chord.
fn tangent_and_chord(beta: f64, low: &Point, high: &Point) -> f64 {
    let middle = 0.5 * (low.log_s + high.log_s);
    let s = libm::exp(middle);
    let x = 0.5 * STEP * (beta - s);
    if x.abs() > 30.0 {
        return f64::INFINITY;
    }
    let ratio = libm::exp(low.log_excess - high.log_excess);
    // Means over [−1, 1] of e^{xv} and of v·e^{xv}.
    let (even, odd) = if x.abs() < 1e-2 {
        let q = x * x;
        (1.0 + q / 6.0 * (1.0 + q / 20.0 * (1.0 + q)), x / 3.0 * (1.0 + q / 10.0 * (1.0 + q / 28.0)))
    } else {
        let even = libm::sinh(x) / x;
        (even, (libm::cosh(x) - even) / x)
    };
    let mean = 0.5 * (1.0 + ratio) * even + 0.5 * (1.0 - ratio) * odd;
    beta * middle - s + high.log_excess + libm::log(mean.max(f64::MIN_POSITIVE))
}

/// ln of the mean of e^{xv} over v from 0 to 1.
fn log_mean_exp(x: f64) -> f64 {
    if x.abs() < 1e-8 {
        return 0.5 * x.abs() + 1e-15;
    }
    if x > 600.0 { x - libm::log(x) } else { libm::log(libm::expm1(x) / x) }
}

/// Points and weights of the trapezoid rule for N(0, σ²), with the ratio r at each.
struct Lattice {
    /// (r, weight)
    points: Vec<(f64, f64)>,
    second: f64,
}

impl Lattice {
    fn new(sigma: f64) -> Self {
        let w = 1.0 / (sigma * sigma);
        // On Im x = a ≤ 1.5σ² the ratio keeps a positive real part; e^{−60 + a²/2σ²} is at most e^{−52}.
        let strip = (1.5 * sigma * sigma).min(4.0 * sigma);
        let step = 2.0 * std::f64::consts::PI * strip / 60.0;
        let (from, to) = (-13.0 * sigma, 2.0 + 13.0 * sigma);
        let norm = step / (sigma * (2.0 * std::f64::consts::PI).sqrt());
        let count = ((to - from) / step).ceil() as u32;
        let points = (0..=count)
            .map(|i| from + step * f64::from(i))
            .map(|x| (libm::exp(w * (x - 0.5)), norm * libm::exp(-0.5 * w * x * x)))
            .collect();
        Self { points, second: libm::exp(w) }
    }

    /// u + ln E[e^{−ur}] rounded up, and by how much at most; nothing when the transform is too small.
    fn gain(&self, u: f64) -> Option<(f64, f64)> {
        if u >= 0.5 {
            let transform: f64 = self.points.iter().map(|(r, p)| p * libm::exp(-u * r)).sum();
            if transform < LEAST_TRANSFORM {
                return None;
            }
            let slack = 1e-12 + 1e-21 / transform + 1e-15 * u;
            let gain = u + libm::log(transform) + slack;
            return Some((gain.max(f64::MIN_POSITIVE), 2.0 * slack));
        }
        // E[e^{−ur} − 1 + ur]: no term is negative.
        let curved: f64 = self.points.iter().map(|(r, p)| p * remainder(u * r)).sum();
        let slack = 1e-13 * curved + 1e-20 * u * u * self.second;
        let x = u - curved;
        // ln(1 − x) + x = −(x²/2 + x³/3 + …), cut where the rest is below 10⁻¹⁴x² and negative.
        let bent = if x < 3e-3 {
            -x * x * (0.5 + x * (1.0 / 3.0 + x * (0.25 + x * (0.2 + x * (1.0 / 6.0 + x / 7.0)))))
        } else {
            libm::log1p(-x) + x
        };
        // 0 ≤ x < ½, so the logarithm at most doubles the error of its argument.
        let slack = 4.0 * slack + 1e-14 * x * x;
        let gain = curved + bent + slack;
        Some((gain.max(f64::MIN_POSITIVE), 2.0 * slack))
    }
}

/// e^{−z} − 1 + z for z ≥ 0, to a relative 1e-13.
fn remainder(z: f64) -> f64 {
    if z < 1e-2 {
        let tail = 1.0 - z / 5.0 * (1.0 - z / 6.0 * (1.0 - z / 7.0 * (1.0 - z / 8.0)));
        return z * z / 2.0 * (1.0 - z / 3.0 * (1.0 - z / 4.0 * tail));
    }
    libm::expm1(-z) + z
}
