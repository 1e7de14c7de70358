//! A short list that stands for a long one: it only says where to look.

use super::super::contour::Sum;
use super::super::first_guess;
use super::super::loss::PrivacyLoss;
use super::lines;

/// Losses of the short list: about so many.
const STRATA: usize = 24;

/// The tilt at which losses are first weighed.
const FIRST_TILT: f64 = 3.0;

/// What sets losses of the same weight apart: rare large ones or frequent small ones.
fn shape(loss: &PrivacyLoss) -> (u8, f64) {
    match loss {
        PrivacyLoss::Gaussian(_) | PrivacyLoss::Atoms(_) => (0, 0.0),
        PrivacyLoss::Laplace(_) => (1, 0.0),
        PrivacyLoss::Response { .. } => (2, 0.0),
        PrivacyLoss::Mixture { sigma, .. } => (3, (libm::log(*sigma) / 0.25).round()),
        _ => (4, 0.0),
    }
}

/// The list in strata of equal weight, one loss standing for each: K is the same at c.
fn strata(sum: &Sum, c: f64) -> Sum {
    let weigh = |loss: &PrivacyLoss| {
        let weight = lines::one(loss, c);
        if weight.is_finite() { weight.clamp(1e-290, 1e290) } else { 1e290 }
    };
    let mut order: Vec<((u8, f64), f64, usize)> =
        sum.parts.iter().enumerate().map(|(i, (_, loss))| (shape(loss), weigh(loss), i)).collect();
    order.sort_by(|a, b| {
        let shapes = (a.0.0).cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1));
        shapes.then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    });
    let whole = |(_, weight, i): &((u8, f64), f64, usize)| weight * sum.parts[*i].0;
    let total: f64 = order.iter().map(whole).sum();
    let mut short = Sum::default();
    let (mut gathered, mut first) = (0.0, 0);
    for end in 1..=order.len() {
        gathered += whole(&order[end - 1]);
        let full = gathered >= total / STRATA as f64;
        if full || end == order.len() || order[end].0.0 != order[end - 1].0.0 {
            // The one in the middle by weight.
            let mut half = 0.5 * gathered;
            let middle = order[first..end].iter().find(|part| {
                half -= whole(part);
                half <= 0.0
            });
            let (_, weight, i) = middle.unwrap_or(&order[end - 1]);
            push(&mut short, gathered / weight, *weight / (0.5 * c * (c + 1.0)), &sum.parts[*i].1);
            (gathered, first) = (0.0, end);
        }
    }
    short
}

/// Losses without a cumulant in closed form are stood for by Gaussian ones of the same variance.
fn push(short: &mut Sum, count: f64, variance: f64, loss: &PrivacyLoss) {
    match loss {
        PrivacyLoss::Gaussian(sigma) => short.push(1.0, PrivacyLoss::Gaussian(sigma / count.sqrt())),
        loss if loss.slope_and_curvature(1.0).is_some() => short.parts.push((count, loss.clone())),
        _ => short.push(1.0, PrivacyLoss::Gaussian(1.0 / (count * variance).sqrt())),
    }
}

/// A short list for questions near ε.
pub(super) fn near_epsilon(sum: &Sum, epsilon: f64) -> Sum {
    let first = strata(sum, FIRST_TILT);
    strata(sum, first.saddle(epsilon))
}

/// A short list for questions about δ, and the ε at which its own δ is about this.
pub(super) fn near_delta(sum: &Sum, delta: f64) -> Option<(Sum, f64)> {
    let first = strata(sum, FIRST_TILT);
    let guess = settle(&first, delta)?;
    let second = strata(sum, first.saddle(guess));
    let guess = settle(&second, delta)?;
    Some((second, guess))
}

fn settle(guide: &Sum, delta: f64) -> Option<f64> {
    let (mut guess, goal) = (first_guess(guide, delta), libm::log(delta));
    for _ in 0..12 {
        let (log_delta, slope) = guide.short_contour(guide.place(guess)?)?.estimate(guess);
        let step = (goal - log_delta) / slope;
        if !step.is_finite() {
            break;
        }
        let next = (guess + step).clamp(0.3 * guess, 2.0 * guess + 1e-6).max(1e-9);
        let settled = (next - guess).abs() <= 1e-3 * guess;
        guess = next;
        if settled {
            break;
        }
    }
    Some(guess)
}
