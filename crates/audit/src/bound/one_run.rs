use super::guess::play;
use super::{BoundSettings, finding, largest_rejected};
use crate::findings::EpsilonLower;
use crate::{AuditError, Membership, interval};
use reticent_core::special::{deviance, stirling_error};
use std::f64::consts::PI;

/// The share of the error that failures of probability δ get where the number of guesses hangs on the scores: a fifth at most, and
/// less where few are expected. It hangs on nothing but the number of records and δ.
fn failure_share(randomised: u64, delta: f64) -> f64 {
    (10.0 * randomised as f64 * delta).min(0.2)
}

pub(super) fn lower(membership: &Membership, settings: &BoundSettings) -> Result<EpsilonLower, AuditError> {
    let rounds = play(membership, settings)?;
    let mut best = (f64::NEG_INFINITY, rounds.tried[0]);
    for guesses in &rounds.tried {
        let (m, made, correct) = (rounds.randomised, guesses.made(), guesses.correct);
        let alpha = settings.alpha() * guesses.weight;
        let epsilon = largest_rejected(700.0, |epsilon| {
            // Without failures a number of guesses that hangs on the scores costs nothing.
            Ok(if rounds.is_adaptive && settings.delta > 0.0 {
                let (tail, failures) = parts(epsilon, settings.delta, m, made, correct);
                let share = failure_share(m, settings.delta);
                tail < alpha * (1.0 - share) && failures < alpha * share
            } else {
                p_value(epsilon, settings.delta, m, made, correct) < alpha
            })
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
    let premise = settings.game.premise(settings.inclusion);
    Ok(finding(settings, value, "one-run", rounds.correction, premise, &counts))
}

/// The chance, at most, that an (ε, δ)-private mechanism lets `correct` or more of `guesses` be right, when `randomised`
/// records were put in by fair coins and the number of guesses was fixed in advance: Pr(B ≥ v) + 2mδ·max over i of
/// Pr(v − i ≤ B < v)/i, with B ~ Binomial(r, e^ε/(1 + e^ε)).
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
    let (tail, wrong) = upper_tail(epsilon, r, v);
    let failures = 2.0 * randomised as f64 * delta;
    let mut worst = tail;
    if tail < 1.0 && failures > 0.0 && wrong > 0.0 {
        masses_below(v, r, wrong, |i, mass, sum| {
            let weight = failures / i as f64;
            // A weight above 1 would not be monotone in ε; the larger form is.
            let term = if weight > 1.0 { weight * (tail + sum) } else { tail + weight * sum };
            worst = f64::max(worst, term);
            i as f64 > failures && mass * (i as f64) < sum
        });
    }
    (worst * (1.0 + 1e-9)).min(1.0)
}

/// Pr(B ≥ v), and 2mδ·max over i of Pr(B ≥ v − i)/i: what the tail and what failures add to it, apart. Neither decreases in ε.
fn parts(epsilon: f64, delta: f64, randomised: u64, guesses: u64, correct: u64) -> (f64, f64) {
    let (r, v) = (guesses, correct);
    if v == 0 || v > r {
        return (1.0, 1.0);
    }
    let (tail, wrong) = upper_tail(epsilon, r, v);
    let failures = 2.0 * randomised as f64 * delta;
    if failures == 0.0 {
        return (tail, 0.0);
    }
    if tail >= 1.0 || wrong <= 0.0 {
        return (tail, 1.0);
    }
    let mut worst = 0.0;
    masses_below(v, r, wrong, |i, mass, sum| {
        worst = f64::max(worst, failures * (tail + sum) / i as f64);
        mass * (i as f64) < sum
    });
    (tail, (worst * (1.0 + 1e-9)).min(1.0))
}

/// Pr(B ≥ v), rounded up, and the chance of a wrong guess.
fn upper_tail(epsilon: f64, r: u64, v: u64) -> (f64, f64) {
    // Down, so that the tail is up.
    let wrong = 1.0 / (1.0 + libm::exp(epsilon)) * (1.0 - 4.0 * f64::EPSILON);
    (interval::upper_tail(v, r, 1.0 - wrong), wrong)
}

/// Goes down from v − 1: for i = 1, 2, … the mass at v − i and the sum of masses from there to v − 1, until the visitor has
/// seen enough beyond the most likely number, or nothing is left. Masses too small for a float are passed over: together
/// they are less than what rounding up adds.
fn masses_below(v: u64, r: u64, wrong: f64, mut is_done: impl FnMut(u64, f64, f64) -> bool) {
    const LEAST: f64 = -650.0;
    let right = 1.0 - wrong;
    let mode = ((r as f64 + 1.0) * right).floor() as u64;
    let mut k = v - 1;
    if log_point(k, r, wrong) < LEAST && mode < k {
        // Masses rise towards the most likely number: the first that a float can hold.
        let (mut low, mut high) = (mode, k);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if log_point(middle, r, wrong) < LEAST {
                high = middle;
            } else {
                low = middle;
            }
        }
        k = low;
    }
    let mut mass = libm::exp(log_point(k, r, wrong));
    let mut sum = 0.0;
    loop {
        sum += mass;
        if (is_done(v - k, mass, sum) && k <= mode) || k == 0 {
            return;
        }
        let from = k as f64;
        mass *= from / (r as f64 - from + 1.0) * wrong / right;
        k -= 1;
    }
}

/// ln Pr(Binomial(r, 1 − wrong) = k), by Loader's saddle-point form.
fn log_point(k: u64, r: u64, wrong: f64) -> f64 {
    let n = r as f64;
    if k == 0 {
        return n * libm::log(wrong);
    }
    if k == r {
        return n * libm::log1p(-wrong);
    }
    let (k, rest) = (k as f64, n - k as f64);
    stirling_error(n)
        - stirling_error(k)
        - stirling_error(rest)
        - deviance(k, n * (1.0 - wrong))
        - deviance(rest, n * wrong)
        + 0.5 * libm::log(n / (2.0 * PI * k * rest))
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

    /// Masses that a float cannot hold do not make failures vanish.
    #[test]
    fn many_right_guesses_do_not_outrun_failures() {
        // Whoever publishes v of m memberships is (0, v/m)-private.
        for (delta, m, v) in [(1e-4, 1_000_000, 1100), (0.013, 100_000, 1300), (1e-5, 400_000, 2000)] {
            let found = p_value(0.0, delta, m, v, v);
            let failures = 2.0 * m as f64 * delta;
            // B is half of v: an i of half of v and a few deviations catches all of its mass.
            let wanted = (failures / (v as f64 / 2.0 + 3.5 * (v as f64).sqrt() / 2.0)).min(1.0);
            assert!(found >= 0.99 * wanted, "{found} for {wanted}");
            assert!(parts(0.0, delta, m, v, v).1 >= 0.99 * wanted);
        }
        // All right at a large ε: the mass just below is the one that counts.
        assert!(p_value(6.0, 1e-5, 5000, 1200, 1200) > 0.05);
    }

    #[test]
    fn the_parts_are_no_less_than_the_whole() {
        for (epsilon, delta, m, r, v) in
            [(0.3, 1e-3, 400, 200, 140), (1.0, 1e-5, 5000, 60, 52), (2.0, 1e-4, 1000, 40, 40)]
        {
            let (tail, failures) = parts(epsilon, delta, m, r, v);
            assert!(tail + failures >= p_value(epsilon, delta, m, r, v) * (1.0 - 1e-8));
        }
        for delta in [1e-5, 1e-3] {
            let values: Vec<f64> =
                (0..80).map(|i| parts(f64::from(i) * 0.1, delta, 3000, 200, 170).1).collect();
            assert!(values.windows(2).all(|w| w[0] <= w[1] * (1.0 + 1e-12)), "{delta}");
        }
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
