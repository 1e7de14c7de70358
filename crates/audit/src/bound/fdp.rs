use super::family::{Approximate, Family, Gaussian, Tradeoff};
use super::guess::play;
use super::{BoundSettings, ThresholdSelection, finding, largest_rejected};
use crate::findings::EpsilonLower;
use crate::{AuditError, Membership};

/// What sums of rounded terms may be off by, relative to the threshold.
const SLACK: f64 = 1e-9;

pub(super) fn lower(
    membership: &Membership,
    tradeoff: Tradeoff<'_>,
    settings: &BoundSettings,
) -> Result<EpsilonLower, AuditError> {
    let (approximate, gaussian) = (Approximate { delta: settings.delta }, Gaussian);
    let (family, method): (&dyn Family, _) = match tradeoff {
        Tradeoff::Approximate => (&approximate, "f-dp one-run"),
        Tradeoff::Gaussian => (&gaussian, "f-dp one-run, gaussian"),
        Tradeoff::Declared(family) => (family, "f-dp one-run, declared family"),
    };
    if let ThresholdSelection::HeldOut { share } = settings.selection {
        let remedy = "declare the share of guesses in advance, such as 0.05, or use a grid: for trade-off curves the number of \
                      guesses may not hang on the scores";
        return Err(AuditError::invalid("selection", format!("held out, {share}"), remedy));
    }
    // What the family cannot answer is said before anything is computed.
    family.epsilon(0.0, settings.delta)?;
    let rounds = play(membership, settings)?;
    let mut best = (f64::NEG_INFINITY, rounds.tried[0]);
    for guesses in &rounds.tried {
        let alpha = settings.alpha() * guesses.weight;
        let size = largest_rejected(family.most(), |size| {
            let curve = family.curve(size)?;
            Ok(rejects(&*curve, rounds.open, guesses.made(), guesses.correct, alpha))
        })?;
        if size > best.0 {
            best = (size, *guesses);
        }
    }
    let (size, guesses) = best;
    let value = if size > 0.0 { family.epsilon(size, settings.delta)? } else { 0.0 };
    let counts = [
        ("randomised", rounds.randomised),
        ("open", rounds.open),
        ("guesses", guesses.made()),
        ("guesses_in", guesses.inside),
        ("guesses_out", guesses.outside),
        ("correct", guesses.correct),
    ];
    let premise = format!("{}; {}", settings.game.premise(settings.inclusion), family.about());
    Ok(finding(settings, value, method, rounds.correction, premise, &counts))
}

/// Whether a trade-off curve is refuted: `correct` or more right ones of `guesses`, among `open` records put in by fair coins,
/// would have a chance below `alpha`.
///
/// `curve` gives, for a true-positive rate, the least false-positive rate that goes with it, rounded down.
///
/// # Guarantee
/// When the mechanism's own curve is not below the given one, this is true with probability at most `alpha`.
///
/// # Reference
/// Mahloujifar, Melis, Chaudhuri, *Auditing f-differential privacy in one run* (2024), algorithm 3; derived in [`super`].
pub fn rejects(curve: &dyn Fn(f64) -> f64, open: u64, guesses: u64, correct: u64, alpha: f64) -> bool {
    if correct == 0 || correct > guesses || guesses > open {
        return false;
    }
    let (m, made) = (open as f64, guesses as f64);
    let most = made / m * (1.0 + SLACK);
    let mut right = alpha * correct as f64 / m;
    let mut wrong = alpha * (guesses - correct) as f64 / m;
    for i in (0..correct).rev() {
        let needed = curve(right);
        if needed <= wrong {
            // Nothing more is asked for: all later steps see the same numbers.
            break;
        }
        right += i as f64 / (made - i as f64) * (needed - wrong);
        wrong = needed;
        if right + wrong > most {
            return true;
        }
    }
    right + wrong > most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest chance that a curve allows, by bisection.
    fn chance(family: &dyn Family, size: f64, open: u64, guesses: u64, correct: u64) -> f64 {
        let curve = family.curve(size).unwrap();
        reticent_core::special::bisect(0.0, 1.0, |alpha| !rejects(&*curve, open, guesses, correct, alpha))
    }

    /// Optima of the linear programme of the proof, by an independent solver.
    #[test]
    fn the_recursion_solves_the_linear_programme() {
        for (epsilon, delta, open, guesses, correct, optimum) in PROGRAMMES {
            let found = chance(&Approximate { delta: *delta }, *epsilon, *open, *guesses, *correct);
            assert!((found - optimum).abs() < 2e-7, "{found} for {optimum}");
        }
    }

    const PROGRAMMES: &[(f64, f64, u64, u64, u64, f64)] = &[
        (1.0, 0.0, 20, 20, 18, 0.069677324),
        (0.5, 0.001, 40, 20, 15, 0.211308847),
        (2.0, 0.01, 60, 12, 12, 0.257125706),
        (0.0, 0.0, 30, 25, 18, 0.023400389),
        (1.5, 0.0001, 25, 24, 22, 0.180203147),
    ];

    #[test]
    fn one_guess_is_one_test() {
        // Of one record that is always guessed, the chance of being right is Φ(μ/2).
        let found = chance(&Gaussian, 1.0, 1, 1, 1);
        assert!((found - reticent_core::special::normal_cdf(0.5)).abs() < 1e-8);
        let found = chance(&Approximate { delta: 0.0 }, 1.0, 1, 1, 1);
        assert!((found - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-8);
    }

    #[test]
    fn binomial_guessers_are_allowed() {
        // Randomised response on every record: the number of right guesses is binomial, and within what (ε, 0) allows.
        for (epsilon, guesses, correct) in [(0.5, 30, 22), (1.0, 100, 82), (2.0, 12, 12)] {
            let found = chance(&Approximate { delta: 0.0 }, epsilon, guesses, guesses, correct);
            let truth = crate::interval::upper_tail(correct, guesses, 1.0 / (1.0 + (-epsilon).exp()));
            assert!(found >= truth * (1.0 - 1e-7), "{found} below {truth}");
        }
    }
}
