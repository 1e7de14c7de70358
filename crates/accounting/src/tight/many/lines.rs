//! Cumulants of a long list along a line.

use super::super::complex::Complex;
use super::super::loss::{Line, PrivacyLoss, atoms_line};
use super::dots::log_moment;
use super::reduced::{Blended, Reduced, moment_down};

/// How far the product of φ may be from the one of never better φ̃, relative to that: see the proof.
#[derive(Clone, Copy, Default)]
pub(super) struct Gap {
    log: f64,
    /// Whether a factor was bounded by its value at y = 0.
    capped: bool,
}

impl Gap {
    /// One factor of relative size `size`, `times` times, that may be off by x times that size.
    fn add(&mut self, times: f64, x: f64, size: f64) {
        if x <= 1.0 {
            self.log += times * gap(x);
            return;
        }
        self.log += times * libm::log1p(x).min(-libm::log(size.min(1.0)));
        self.capped = true;
    }

    /// A bound on the difference of the products, relative, with an error of K besides.
    pub(super) fn relative(self, error: f64) -> f64 {
        if self.log == 0.0 && !self.capped {
            return 0.0;
        }
        libm::expm1((self.log + error).min(700.0)) + if self.capped { 2.0 } else { 0.0 }
    }
}

/// ΣK on a line.
pub(super) struct Laid {
    pub(super) values: Vec<Complex>,
    /// Bounds on the errors.
    pub(super) errors: Vec<f64>,
    /// How far K of the list itself may be from that of the mixtures, which are never better.
    pub(super) gaps: Vec<Gap>,
}

/// ΣK(c) for a real c, from above but for rounding; infinite where a part has none.
pub(super) fn cumulant(reduced: &Reduced, c: f64) -> f64 {
    let alone: f64 = reduced.alone.parts.iter().map(|(count, loss)| count * one(loss, c)).sum();
    let corners: Vec<f64> = reduced.corners.iter().map(|loss| one(loss, c)).collect();
    let dotted: f64 = reduced.dotted.iter().map(|dots| dots.count * log_moment(&dots.upper, c)).sum();
    alone
        + dotted
        + reduced.blended.iter().map(|part| part.count * mixed(&part.corners, &corners).0).sum::<f64>()
}

/// ln Σ wⱼe^{Kⱼ}, and the shares of the corners in it.
fn mixed(corners: &[(usize, f64); 4], logs: &[f64]) -> (f64, [f64; 4]) {
    let top = corners.iter().map(|(corner, _)| logs[*corner]).fold(f64::NEG_INFINITY, f64::max);
    let shares = corners.map(|(corner, share)| share * libm::exp(logs[corner] - top));
    let total: f64 = shares.iter().sum();
    (top + libm::log(total), shares.map(|share| share / total))
}

/// K(c) of one loss.
pub(super) fn one(loss: &PrivacyLoss, c: f64) -> f64 {
    match loss {
        PrivacyLoss::Atoms(_) => line(loss, c, 1.0, 1).map_or(f64::INFINITY, |line| line.values[0].re),
        other => other.cumulant(c),
    }
}

fn line(loss: &PrivacyLoss, c: f64, h: f64, count: usize) -> Option<Line> {
    match loss {
        PrivacyLoss::Atoms(atoms) => Some(atoms_line(atoms.iter().copied(), c, h, count)),
        // An error of d·|φ| in φ is a factor of at most 1 + d.
        PrivacyLoss::Mixture { .. } => {
            let Line { values, errors } = loss.line(c, h, count)?;
            Some(Line { values, errors: errors.into_iter().map(libm::log1p).collect() })
        }
        other => other.line(c, h, count),
    }
}

/// ΣK at c + ikh, k < count.
pub(super) fn lay(reduced: &Reduced, c: f64, h: f64, count: usize) -> Option<Laid> {
    let mut values = vec![Complex::new(0.0, 0.0); count];
    let mut errors = vec![0.0; count];
    let mut answers = Answers::new(c, h, count);
    for (times, loss) in &reduced.alone.parts {
        if let (PrivacyLoss::Response { epsilon, plus, minus }, true) = (loss, *times <= MOST_FACTORS) {
            for _ in 0..*times as u64 {
                answers.multiply(*epsilon, *plus, *minus);
            }
            continue;
        }
        let line = line(loss, c, h, count)?;
        for k in 0..count {
            values[k] = values[k] + line.values[k] * *times;
            errors[k] += times * (line.errors[k] + line.values[k].abs() * 2.0 * f64::EPSILON);
        }
    }
    answers.add_to(&mut values, &mut errors);
    let mut gaps = blend(reduced, (c, h), &mut values, &mut errors)?;
    for dots in &reduced.dotted {
        let line = atoms_line(dots.upper.iter().copied(), c, h, count);
        let missing = -libm::expm1(log_moment(&dots.lower, c) - line.values[0].re) + MASSES;
        for k in 0..count {
            let shrunk = libm::exp(line.values[0].re - line.values[k].re);
            values[k] = values[k] + line.values[k] * dots.count;
            errors[k] += dots.count * (line.errors[k] + libm::log1p(MASSES * shrunk));
            gaps[k].add(dots.count, missing.max(0.0) * reach(c, h, k) * shrunk, 1.0 / shrunk);
        }
    }
    // Sums of so many numbers.
    let relative = reduced.losses as f64 * f64::EPSILON;
    for (value, error) in values.iter().zip(&mut errors) {
        *error += relative * value.abs();
    }
    Some(Laid { values, errors, gaps })
}

/// What rounding may have done to the masses of atoms, relative.
const MASSES: f64 = 1e-12;

/// |z(1 + z)|/(c(1 + c)) at point k: see the proof.
fn reach(c: f64, h: f64, k: usize) -> f64 {
    let z = Complex::new(c, h * k as f64);
    (z * (z + Complex::new(1.0, 0.0))).abs() / (c * (1.0 + c))
}

/// ln(1 + x): an error of x·|φ| in φ is a factor of at most 1 + x.
fn gap(x: f64) -> f64 {
    if x < 1e-9 { x } else { libm::log1p(x) }
}

/// Adds the mixtures of corners, and returns their gaps.
fn blend(
    reduced: &Reduced,
    (c, h): (f64, f64),
    values: &mut [Complex],
    errors: &mut [f64],
) -> Option<Vec<Gap>> {
    let count = values.len();
    let mut gaps = vec![Gap::default(); count];
    if reduced.blended.is_empty() {
        return Some(gaps);
    }
    let lines: Option<Vec<Line>> = reduced.corners.iter().map(|loss| line(loss, c, h, count)).collect();
    let lines = lines?;
    let logs: Vec<f64> = lines.iter().map(|line| line.values[0].re).collect();
    // Characteristic functions of the corners under their tilted laws, with their errors.
    let turns: Vec<Vec<(Complex, f64)>> = lines
        .iter()
        .map(|line| {
            let at = |k: usize| (line.values[k] - Complex::new(line.values[0].re, 0.0)).exp();
            let error =
                |k: usize| line.errors[k] + line.errors[0] + 4.0 * f64::EPSILON * line.values[k].abs();
            (0..count).map(|k| (at(k), at(k).abs() * error(k) * (1.0 + 1e-3))).collect()
        })
        .collect();
    let reach: Vec<f64> = (0..count).map(|k| reach(c, h, k)).collect();
    let mut real = 0.0;
    let mut product = vec![Complex::new(1.0, 0.0); count];
    let mut factors = 0;
    for Blended { count: times, step, corners } in &reduced.blended {
        let (log, shares) = mixed(corners, &logs);
        real += times * log;
        let missing = (1.0 - moment_down(*step, reduced.direction, c, log)).max(0.0);
        let parts = [0, 1, 2, 3].map(|j| (&turns[corners[j].0], shares[j]));
        let few = *times <= MOST_FACTORS;
        for k in 0..count {
            let (mut sum, mut doubt) = (Complex::new(0.0, 0.0), 4.0 * f64::EPSILON);
            for (turn, share) in &parts {
                sum = sum + turn[k].0 * *share;
                doubt += turn[k].1 * share;
            }
            let size = (sum.re * sum.re + sum.im * sum.im).sqrt();
            errors[k] += times * gap(doubt / size);
            gaps[k].add(*times, missing * reach[k] / size, size);
            if few {
                for _ in 0..*times as u32 {
                    product[k] = product[k] * sum;
                }
            } else {
                values[k] = values[k] + sum.ln() * *times;
            }
        }
        factors += 1;
        if factors % FACTORS == 0 {
            fold(&mut product, values);
        }
    }
    fold(&mut product, values);
    for value in values.iter_mut() {
        value.re += real;
    }
    for error in errors.iter_mut() {
        *error += reduced.blended.len() as f64 * f64::EPSILON * (real.abs() + 16.0);
    }
    Some(gaps)
}

/// Adds the logarithms of a running product and starts it anew.
fn fold(product: &mut [Complex], logs: &mut [Complex]) {
    for (log, product) in logs.iter_mut().zip(product) {
        *log = *log + product.ln();
        *product = Complex::new(1.0, 0.0);
    }
}

/// Uses of one answer that are multiplied one by one.
const MOST_FACTORS: f64 = 3.0;

/// Factors between two logarithms.
const FACTORS: usize = 8;

/// Phases are set afresh after so many rotations.
const ROTATIONS: usize = 32;

/// Answers with losses ±ε and 0, as a running product: e^{zε}·(plus + unmoved·e^{−zε} + minus·e^{−2zε}).
struct Answers {
    c: f64,
    h: f64,
    product: Vec<Complex>,
    factors: usize,
    logs: Vec<Complex>,
    errors: Vec<f64>,
    /// Σε and what was lost in summing it.
    shift: (f64, f64),
    sizes: f64,
}

impl Answers {
    fn new(c: f64, h: f64, count: usize) -> Self {
        Self {
            c,
            h,
            product: vec![Complex::new(1.0, 0.0); count],
            factors: 0,
            logs: vec![Complex::new(0.0, 0.0); count],
            errors: vec![0.0; count],
            shift: (0.0, 0.0),
            sizes: 0.0,
        }
    }

    fn multiply(&mut self, epsilon: f64, plus: f64, minus: f64) {
        let unmoved = (1.0 - plus - minus).max(0.0);
        let turn = Complex::unit(-self.h * epsilon);
        let size = libm::exp(-self.c * epsilon);
        let mut phase = Complex::new(size, 0.0);
        for (k, (product, error)) in self.product.iter_mut().zip(&mut self.errors).enumerate() {
            if k % ROTATIONS == 0 {
                phase = Complex::unit(-self.h * k as f64 * epsilon) * size;
            }
            let rest = phase * (phase * minus + Complex::new(unmoved, 0.0)) + Complex::new(plus, 0.0);
            *product = *product * rest;
            // The rest is at most 1 in size, and its phases are known to this.
            let doubt = 2e-14 + 1e-15 * self.h * k as f64 * epsilon;
            let relative = doubt / (rest.re * rest.re + rest.im * rest.im).sqrt();
            *error += gap(relative);
            phase = phase * turn;
        }
        let (sum, lost) = (self.shift.0 + epsilon, self.shift.1);
        self.shift = (sum, lost + (epsilon - (sum - self.shift.0)));
        self.sizes += 1.0;
        self.factors += 1;
        if self.factors == FACTORS {
            fold(&mut self.product, &mut self.logs);
            self.factors = 0;
        }
    }

    fn add_to(mut self, values: &mut [Complex], errors: &mut [f64]) {
        if self.sizes == 0.0 {
            return;
        }
        fold(&mut self.product, &mut self.logs);
        let shift = self.shift.0 + self.shift.1;
        for (k, log) in self.logs.iter().enumerate() {
            let moved = Complex::new(self.c, self.h * k as f64) * shift;
            values[k] = values[k] + *log + moved;
            errors[k] += self.errors[k]
                + 4.0 * f64::EPSILON * moved.abs()
                + self.sizes * f64::EPSILON * (log.abs() + 2.0);
        }
    }
}
