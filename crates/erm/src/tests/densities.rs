//! Exact output densities of objective perturbation on neighbours, integrated against the claims.

use super::Numbers;
use crate::loss::MarginLoss;
use crate::objective::Profile;
use reticent_core::{Epsilon, Neighboring};

type Record = ([f64; 2], f64);

/// b_D(w) and det ∇²F_D(w) in two dimensions.
fn linear_and_determinant(loss: MarginLoss, rows: &[Record], lambda: f64, w: [f64; 2]) -> ([f64; 2], f64) {
    let mut b = [-lambda * w[0], -lambda * w[1]];
    let (mut a, mut c, mut d) = (lambda, lambda, 0.0);
    for (x, y) in rows {
        let (slope, curvature) = loss.derivatives(x[0] * w[0] + x[1] * w[1], *y);
        b = [b[0] - slope * x[0], b[1] - slope * x[1]];
        a += curvature * x[0] * x[0];
        c += curvature * x[1] * x[1];
        d += curvature * x[0] * x[1];
    }
    (b, a * c - d * d)
}

fn record(numbers: &mut Numbers) -> Record {
    let (x, y) = numbers.row(2);
    ([x[0], x[1]], y)
}

/// Neighbours with the first record gone or replaced; opposite records half of the time.
fn neighbours(numbers: &mut Numbers, neighboring: Neighboring) -> (Vec<Record>, Vec<Record>) {
    let count = 1 + (3.0 * numbers.next()) as usize;
    let rows: Vec<Record> = (0..count).map(|_| record(numbers)).collect();
    let mut other = rows.clone();
    match neighboring {
        Neighboring::AddRemove => {
            other.remove(0);
        }
        Neighboring::ReplaceOne if numbers.next() < 0.5 => other[0].1 = -other[0].1,
        Neighboring::ReplaceOne => other[0] = record(numbers),
    }
    if numbers.next() < 0.5 { (rows, other) } else { (other, rows) }
}

const LOSSES: [MarginLoss; 3] =
    [MarginLoss::Logistic, MarginLoss::Huber { h: 0.5 }, MarginLoss::Squared { radius: 0.5 }];

#[test]
fn gaussian_profiles_hold_for_exact_densities() {
    let mut numbers = Numbers::new(31);
    let (mut tightest, mut checked): (f64, u32) = (0.0, 0);
    for round in 0..36 {
        let neighboring = if round % 2 == 0 { Neighboring::AddRemove } else { Neighboring::ReplaceOne };
        let loss = LOSSES[round % 3];
        let lambda = libm::exp(3.0 * numbers.next() - 0.5);
        let sigma = loss.constants().lipschitz * libm::exp(2.0 * numbers.next() - 0.5);
        let profile = Profile { constants: loss.constants(), lambda, sigma, neighboring };
        let (d, e) = neighbours(&mut numbers, neighboring);
        let epsilons = [0.05, 0.3, 1.0, 2.0];
        let (mut found, mut mass) = ([0.0; 4], 0.0);
        let (half, steps) = ((7.0 * sigma + 4.0 * loss.constants().lipschitz) / lambda, 500);
        let width = 2.0 * half / f64::from(steps);
        for i in 0..steps {
            for j in 0..steps {
                let w = [i, j].map(|k| (f64::from(k) + 0.5) * width - half);
                let density = |rows: &[Record]| {
                    let (b, determinant) = linear_and_determinant(loss, rows, lambda, w);
                    let square = (b[0] * b[0] + b[1] * b[1]) / (2.0 * sigma * sigma);
                    libm::exp(-square) * determinant / (2.0 * std::f64::consts::PI * sigma * sigma)
                };
                let (p, q) = (density(&d) * width * width, density(&e) * width * width);
                mass += p;
                for (delta, epsilon) in found.iter_mut().zip(epsilons) {
                    *delta += (p - libm::exp(epsilon) * q).max(0.0);
                }
            }
        }
        // The rounded losses have jumps of the determinant, which cost the sum some accuracy.
        assert!((mass - 1.0).abs() < 4e-3, "{mass} {loss:?} {lambda} {sigma}");
        for (delta, epsilon) in found.into_iter().zip(epsilons) {
            let bound = profile.delta_up(Epsilon::new(epsilon).unwrap());
            let slack = if loss == MarginLoss::Logistic { 1e-6 } else { 2e-3 };
            assert!(delta <= bound + slack, "{loss:?} {neighboring} {epsilon}: {delta} above {bound}");
            if bound > 0.01 && bound < 0.9 {
                tightest = tightest.max(delta / bound);
                checked += 1;
            }
        }
    }
    assert!(checked > 20 && tightest > 0.3, "{checked} {tightest}");
}

#[test]
fn the_profile_is_tight_for_a_saturated_record() {
    // A hinge far inside its straight part has slope -1 and no curvature: the pair is N(0, σ²) against N(1, σ²).
    let loss = MarginLoss::Huber { h: 0.5 };
    let profile =
        Profile { constants: loss.constants(), lambda: 1e6, sigma: 2.0, neighboring: Neighboring::AddRemove };
    let (steps, half) = (200_000, 20.0 / 1e6);
    let width = 2.0 * half / f64::from(steps);
    let mut delta = 0.0;
    for i in 0..steps {
        let w = (f64::from(i) + 0.5) * width - half;
        let (slope, curvature) = loss.derivatives(w, 1.0);
        let normal = |b: f64| libm::exp(-b * b / 8.0) / (8.0 * std::f64::consts::PI).sqrt();
        let p = normal(-1e6 * w - slope) * (1e6 + curvature);
        let q = normal(-1e6 * w) * 1e6;
        delta += (p - libm::exp(0.3) * q).max(0.0) * width;
    }
    let bound = profile.delta_up(Epsilon::new(0.3).unwrap());
    assert!(delta <= bound && delta > 0.99 * bound, "{delta} {bound}");
}

#[test]
fn pure_losses_hold_for_exact_densities() {
    let mut numbers = Numbers::new(32);
    let mut largest: f64 = 0.0;
    for round in 0..3000 {
        let neighboring = if round % 2 == 0 { Neighboring::AddRemove } else { Neighboring::ReplaceOne };
        let changes = if neighboring == Neighboring::AddRemove { 1.0 } else { 2.0 };
        let loss = LOSSES[round % 3];
        let (lambda, scale) = (libm::exp(4.0 * numbers.next() - 2.0), libm::exp(3.0 * numbers.next() - 1.0));
        let (d, e) = neighbours(&mut numbers, neighboring);
        let constants = loss.constants();
        let determinant = libm::log1p(constants.smoothness / lambda);
        for _ in 0..20 {
            let w = [0, 1].map(|_| (2.0 * numbers.next() - 1.0) * 6.0 / lambda);
            let (b, p) = linear_and_determinant(loss, &d, lambda, w);
            let (c, q) = linear_and_determinant(loss, &e, lambda, w);
            let l2 = libm::hypot(c[0], c[1]) - libm::hypot(b[0], b[1]);
            let l1 = c[0].abs() + c[1].abs() - b[0].abs() - b[1].abs();
            let spent = |norm: f64| norm / scale + libm::log(p / q);
            let claim = |shift: f64| changes * shift / scale + determinant;
            let (round_claim, corner_claim) =
                (claim(constants.lipschitz), claim(constants.lipschitz * std::f64::consts::SQRT_2));
            assert!(spent(l2) <= round_claim + 1e-9 && spent(l1) <= corner_claim + 1e-9);
            largest = largest.max(spent(l2) / round_claim);
        }
    }
    assert!(largest > 0.9, "{largest}");
}
