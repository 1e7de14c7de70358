use super::guess::play;
use super::{BoundSettings, finding, largest_rejected};
use crate::findings::EpsilonLower;
use crate::{AuditError, Membership, interval};
use reticent_core::special::{deviance, stirling_error};
use std::f64::consts::PI;

/// The premise of both one-run methods.
pub(super) fn premise(inclusion: f64) -> String {
    format!(
        "one run of the mechanism, in which each record was put in with probability {inclusion} by a coin of its own, tossed \
         independently of everything else; scores are computed from the output of the run without looking at the coins"
    )
}

pub(super) fn lower(membership: &Membership, settings: &BoundSettings) -> Result<EpsilonLower, AuditError> {
    let rounds = play(membership, settings)?;
    let alpha = settings.alpha() / rounds.tried.len() as f64;
    let mut best = (f64::NEG_INFINITY, rounds.tried[0]);
    for guesses in &rounds.tried {
        let epsilon = largest_rejected(700.0, |epsilon| {
            let p = p_value(epsilon, settings.delta, rounds.randomised, guesses.made(), guesses.correct);
            Ok(p < alpha)
        })?;
        if epsilon > best.0 {
            best = (epsilon, *guesses);
        }
    }
    let (value, guesses) = best;
    let counts = [
        ("randomised", rounds.randomised),
        ("open", rounds.open),
        ("guesses", guesses.made()),
        ("guesses_in", guesses.inside),
        ("guesses_out", guesses.outside),
        ("correct", guesses.correct),
    ];
    Ok(finding(settings, value, "one-run", rounds.correction, premise(settings.inclusion), &counts))
}

/// The chance, at most, that an (ε, δ)-private mechanism lets `correct` or more of `guesses` be right, when `randomised`
/// records were put in by fair coins: Pr(B ≥ v) + 2mδ·max over i of Pr(v − i ≤ B < v)/i, with B ~ Binomial(r, e^ε/(1 + e^ε)).
///
/// # Guarantee
/// Rounded up, never below the formula and never decreasing in ε, so that all ε below a rejected one are rejected. At most 1.
///
/// # Reference
/// Steinke, Nasr, Jagielski, *Privacy auditing with one (1) training run* (2023), theorem 5.2 and its corollaries.
pub fn p_value(epsilon: f64, delta: f64, randomised: u64, guesses: u64, correct: u64) -> f64 {
    let (r, v) = (guesses, correct);
    if v == 0 || v > r {
        return 1.0;
    }
    // The odds of a right guess to a wrong one, and their chances; up so that the tail is.
    let wrong = 1.0 / (1.0 + libm::exp(epsilon)) * (1.0 - 4.0 * f64::EPSILON);
    let right = 1.0 - wrong;
    let tail = interval::upper_tail(v, r, right);
    let failures = 2.0 * randomised as f64 * delta;
    if tail >= 1.0 || failures == 0.0 || wrong <= 0.0 {
        return tail;
    }
    // Masses from v − 1 downwards. Their running mean rises to its largest value and falls from there on.
    let mut mass = point(v - 1, r, wrong);
    let (mut sum, mut worst) = (0.0, tail);
    for i in 1..=v {
        if (i as f64) > failures && mass * ((i - 1) as f64) < sum {
            break;
        }
        sum += mass;
        let weight = failures / i as f64;
        // A weight above 1 would not be monotone in ε; the larger form is.
        let term = if weight > 1.0 { weight * (tail + sum) } else { tail + weight * sum };
        worst = f64::max(worst, term);
        let k = (v - i) as f64;
        mass *= k / (r as f64 - k + 1.0) * wrong / right;
    }
    (worst * (1.0 + 1e-9)).min(1.0)
}

/// Pr(Binomial(r, 1 − wrong) = k), by Loader's saddle-point form.
fn point(k: u64, r: u64, wrong: f64) -> f64 {
    let n = r as f64;
    if k == 0 {
        return libm::exp(n * libm::log(wrong));
    }
    let (k, rest) = (k as f64, n - k as f64);
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(rest)
        - deviance(k, n * (1.0 - wrong))
        - deviance(rest, n * wrong);
    (n / (2.0 * PI * k * rest)).sqrt() * libm::exp(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula term by term, from binomial coefficients.
    fn plainly(epsilon: f64, delta: f64, m: u64, r: u64, v: u64) -> f64 {
        let q = epsilon.exp() / (1.0 + epsilon.exp());
        let mut masses = vec![(1.0 - q).powi(r as i32)];
        for k in 1..=r {
            let before = masses[k as usize - 1];
            masses.push(before * (r - k + 1) as f64 / k as f64 * q / (1.0 - q));
        }
        let sum = |from: u64, to: u64| masses[from as usize..to as usize].iter().sum::<f64>();
        let worst = (1..=v).map(|i| sum(v - i, v) / i as f64).fold(0.0, f64::max);
        (sum(v, r + 1) + 2.0 * m as f64 * delta * worst).min(1.0)
    }

    #[test]
    fn the_value_is_the_formula() {
        for (epsilon, delta, m, r, v) in [
            (0.0, 0.0, 100, 60, 40),
            (1.0, 1e-5, 5000, 60, 52),
            (0.3, 1e-3, 400, 200, 140),
            (2.0, 1e-4, 1000, 40, 40),
            (0.5, 1e-5, 1000, 10, 1),
            (0.1, 1e-5, 1000, 300, 130),
        ] {
            let (got, exact) = (p_value(epsilon, delta, m, r, v), plainly(epsilon, delta, m, r, v));
            assert!(got >= exact * (1.0 - 1e-12) && got <= exact * (1.0 + 1e-8) + 1e-11, "{got} for {exact}");
        }
        // Many expected failures: the monotone form lies above.
        assert!(p_value(0.5, 0.01, 1000, 50, 49) >= plainly(0.5, 0.01, 1000, 50, 49));
    }

    #[test]
    fn larger_epsilons_explain_more() {
        for delta in [0.0, 1e-5, 1e-3] {
            let values: Vec<f64> =
                (0..80).map(|i| p_value(f64::from(i) * 0.1, delta, 3000, 200, 170)).collect();
            assert!(values.windows(2).all(|w| w[0] <= w[1]), "{delta}");
        }
        assert_eq!(p_value(1.0, 1e-5, 10, 5, 0), 1.0);
    }
}
