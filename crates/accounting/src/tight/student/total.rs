//! The sum of the losses of all coordinates, on a grid, by one Fourier transform.

use super::coordinate::log_moment;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;

/// The relative error of a transform of length 2^k is below k times this (in the ℓ2 norm).
const TRANSFORM: f64 = 2e-15;

/// Fourier coefficients below this count as nothing.
const DEAD: f64 = 1e-24;

/// Sines at most for the coefficients that are worked out term by term.
const MOST_TERMS: usize = 4_000_000;

/// Laws with which the coefficients that count are found.
const GUIDES: usize = 3;

/// Equal coordinates: how many, and the masses of each at step, 2·step, …, those at −step, −2·step, … being their mirror
/// images and the rest at 0.
pub(super) struct Equal {
    pub(super) count: f64,
    pub(super) masses: Vec<f64>,
}

impl Equal {
    /// ln E[e^{λL}] of all of them.
    fn log_moment(&self, step: f64, lambda: f64) -> f64 {
        let losses = self.masses.iter().enumerate().map(|(i, mass)| (step * (i + 1) as f64, *mass));
        self.count * log_moment(losses, lambda)
    }

    /// The law of one, around 0 on a circle of `length` points.
    fn circle(&self, step: f64, length: usize) -> Vec<Complex64> {
        let mut circle = vec![Complex64::new(0.0, 0.0); length];
        let mut total = 0.0;
        for (i, mass) in self.masses.iter().enumerate() {
            let back = mass * libm::exp(-step * (i + 1) as f64);
            circle[(i + 1) % length].re += mass;
            circle[length - 1 - i % length].re += back;
            total += mass + back;
        }
        circle[0].re += 1.0 - total;
        circle
    }

    /// φ − 1 at the k-th frequency of a circle, and the sum of the sizes of its terms.
    fn rise(&self, step: f64, length: usize, k: usize) -> (Complex64, f64) {
        let (mut real, mut imaginary, mut size) = (Kahan::default(), Kahan::default(), 0.0);
        for (i, mass) in self.masses.iter().enumerate() {
            // e^{−iθ} − 1 + e^{−ℓ}(e^{iθ} − 1), θ = 2πkj/length, from half the angle within ±π/2.
            let turns = (k * (i + 1)) % length;
            let turns = if 2 * turns > length { turns as f64 - length as f64 } else { turns as f64 };
            let (sin, cos) = libm::sincos(std::f64::consts::PI * turns / length as f64);
            let back = libm::expm1(-step * (i + 1) as f64);
            let (re, im) = (-2.0 * sin * sin * (2.0 + back) * mass, 2.0 * sin * cos * back * mass);
            real.add(re);
            imaginary.add(im);
            size += re.abs() + im.abs();
        }
        (Complex64::new(real.sum, imaginary.sum), size)
    }
}

/// A sum with what rounding took from it.
#[derive(Default)]
struct Kahan {
    sum: f64,
    lost: f64,
}

impl Kahan {
    fn add(&mut self, term: f64) {
        let term = term - self.lost;
        let next = self.sum + term;
        self.lost = (next - self.sum) - term;
        self.sum = next;
    }
}

/// The positive part of the law of the total.
pub(super) struct Total {
    /// Masses at step, 2·step, …
    pub(super) masses: Vec<f64>,
    /// By how much δ may be above that of the masses, at any ε that is not negative.
    pub(super) missed: f64,
}

/// The law of the total on a circle of `length` points.
pub(super) fn total(parts: &[Equal], step: f64, length: usize) -> Total {
    let mut planner = FftPlanner::<f64>::new();
    let (forward, back) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let log_length = (length as f64).log2();
    // The ones that matter most, first.
    let weight = |part: &Equal| {
        let square = |(i, mass): (usize, &f64)| mass * ((i + 1) * (i + 1)) as f64;
        part.count * part.masses.iter().enumerate().map(square).sum::<f64>()
    };
    let mut order: Vec<(f64, &Equal)> = parts.iter().map(|part| (weight(part), part)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    // ln of what every coefficient is at most: those of the laws that matter most, the others being at most 1.
    let mut most = vec![0.0; length / 2 + 1];
    for (_, part) in order.iter().take(GUIDES) {
        let mut circle = part.circle(step, length);
        forward.process(&mut circle);
        let doubt = log_length * TRANSFORM * (length as f64).sqrt();
        for (log, phi) in most.iter_mut().zip(&circle) {
            *log += part.count * libm::log((phi.norm() + doubt).min(1.0));
        }
    }
    let dead = libm::log(DEAD);
    let alive: Vec<usize> = (0..most.len()).filter(|k| most[*k] > dead).collect();
    let dropped: f64 = most.iter().filter(|log| **log <= dead).map(|log| 2.0 * libm::exp(*log)).sum();
    let terms: usize = parts.iter().map(|part| part.masses.len()).sum();
    let (mut product, rounding) = if alive.len().saturating_mul(terms) <= MOST_TERMS {
        by_terms(parts, step, length, &alive)
    } else {
        by_transforms(parts, step, length, forward.as_ref(), log_length)
    };
    back.process(&mut product);
    let all: Vec<f64> = product.iter().map(|x| x.re / length as f64).collect();
    let norm = all.iter().map(|mass| mass * mass).sum::<f64>().sqrt();
    let transform = norm * (log_length * TRANSFORM + 1e-15) * (length as f64).sqrt();
    let masses: Vec<f64> = all[1..length / 2].iter().map(|mass| mass.max(0.0)).collect();
    let beyond = beyond(parts, step, step * (length / 2) as f64);
    Total { masses, missed: (rounding + dropped + transform) * (1.0 + 1e-9) + beyond }
}

/// The coefficients that count, each as a product of powers of 1 + (φ − 1), and the ℓ1 error of the law.
fn by_terms(parts: &[Equal], step: f64, length: usize, alive: &[usize]) -> (Vec<Complex64>, f64) {
    let mut product = vec![Complex64::new(0.0, 0.0); length];
    let mut squares = 0.0;
    for &k in alive {
        let (mut real, mut imaginary, mut error) = (0.0, 0.0, 0.0);
        for part in parts {
            let (rise, size) = part.rise(step, length, k);
            let (x, y) = (rise.re, rise.im);
            let left = libm::hypot(1.0 + x, y).max(1e-300);
            let rest = 2.0 * x + x * x + y * y;
            let log = if rest > -0.5 { 0.5 * libm::log1p(rest) } else { libm::log(left) };
            real += part.count * log;
            imaginary += part.count * libm::atan2(y, 1.0 + x);
            // Sums and their terms to 20 roundings, the logarithm to 6 of what it is taken of.
            error += part.count * f64::EPSILON * (26.0 * size + 6.0 * (x * x + y * y)) / left;
        }
        error += f64::EPSILON * (4.0 + 2.0 * parts.len() as f64 * (real.abs() + imaginary.abs()));
        let size = libm::exp(real);
        let (sin, cos) = libm::sincos(imaginary);
        let value = Complex64::new(size * cos, size * sin);
        product[k] = value;
        if k > 0 {
            product[length - k] = value.conj();
        }
        let off = size * libm::expm1(error.min(600.0));
        squares += 2.0 * off * off;
    }
    (product, squares.sqrt())
}

/// All coefficients by transforms, and the ℓ1 error of the law.
fn by_transforms(
    parts: &[Equal],
    step: f64,
    length: usize,
    forward: &dyn rustfft::Fft<f64>,
    log_length: f64,
) -> (Vec<Complex64>, f64) {
    let mut logs = vec![Complex64::new(0.0, 0.0); length];
    let (mut error, mut uses) = (0.0, 0.0);
    for part in parts {
        let mut circle = part.circle(step, length);
        let norm = circle.iter().map(|x| x.re * x.re).sum::<f64>().sqrt();
        forward.process(&mut circle);
        for (log, phi) in logs.iter_mut().zip(&circle) {
            *log += Complex64::new(0.5 * phi.norm_sqr().ln(), phi.im.atan2(phi.re)) * part.count;
        }
        error += part.count * (norm * log_length * TRANSFORM + 1e-15);
        uses += part.count;
    }
    let product: Vec<Complex64> = logs
        .into_iter()
        .map(|log| {
            let size = if log.re.is_finite() { libm::exp(log.re.min(0.0)) } else { 0.0 };
            let (sin, cos) = libm::sincos(log.im);
            Complex64::new(size * cos, size * sin)
        })
        .collect();
    let norm = (product.iter().map(Complex64::norm_sqr).sum::<f64>() / length as f64).sqrt();
    error += norm * (uses * 4e-15 + 1e-14);
    (product, error * (length as f64).sqrt())
}

/// At least P(total ≥ at), by Chernoff's bound.
fn beyond(parts: &[Equal], step: f64, at: f64) -> f64 {
    let largest: f64 = parts.iter().map(|part| part.count * step * part.masses.len() as f64).sum();
    if at > largest * (1.0 + 1e-9) {
        return 0.0;
    }
    let exponent = |log_lambda: f64| {
        let lambda = libm::exp(log_lambda);
        let log: f64 = parts.iter().map(|part| part.log_moment(step, lambda)).sum();
        log * (1.0 + 1e-9 * log.signum()) + 1e-9 - lambda * at
    };
    libm::exp(valley(&exponent).1.min(0.0))
}

/// Where, between e^{−12} and e^{12}, a function of ln λ with one valley is least, roughly, and its value there.
pub(super) fn valley(value: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (-12.0, 12.0);
    while high - low > 0.02 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        // Whatever is not a number lies too far up.
        let (at_a, at_b) = (value(a), value(b));
        if at_b.is_nan() || at_a <= at_b {
            high = b;
        } else {
            low = a;
        }
    }
    let at = 0.5 * (low + high);
    let value = value(at);
    (at, if value.is_nan() { f64::INFINITY } else { value })
}
