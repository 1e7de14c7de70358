//! How far an output can move a belief about one person.

use crate::account::revealed;
use crate::rdp::{OutcomeRange, largest_loss};
use crate::{Accountant, AccountingError};
use reticent_core::{Delta, Epsilon, InvalidValue, Probability};

/// Shares of the failure probability at which the account is asked.
const SHARES: [f64; 15] =
    [0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.85, 0.95, 0.99];
/// Covers the rounding of the few operations here.
const SLACK: f64 = 1e-14;

/// Where a belief may lie after an output, when it was `prior` before and odds move by at most e^ε.
///
/// upper = p e^ε / (1 − p + p e^ε); lower the same with −ε.
///
/// # Guarantee
/// By Bayes' rule, for a belief about which of two neighbouring data sets was used, in every output whose privacy loss is
/// at most ε either way. It does not hold for an attacker who believes that other records come or go with this one: that attacker
/// compares data sets that are further apart. Rounded outwards.
///
/// # Reference
/// Kasiviswanathan, Smith, *On the semantics of differential privacy* (2014).
pub fn posterior(epsilon: Epsilon, prior: Probability) -> OutcomeRange {
    let (e, p) = (epsilon.get(), prior.get());
    if p == 0.0 || p == 1.0 {
        return OutcomeRange { lower: p, upper: p };
    }
    let odds = (1.0 - p) / p;
    // A product that overflows means a belief of 0; one that underflows, a belief of 1.
    let lower = (1.0 - SLACK) / (1.0 + odds * libm::exp(e * (1.0 + SLACK)));
    let upper = match odds.is_finite() {
        true => (1.0 + SLACK) / (1.0 + odds * libm::exp(-e * (1.0 + SLACK))),
        // So small a belief grows by e^ε at most.
        false => (p * libm::exp(e * (1.0 + SLACK)) * (1.0 + SLACK)).next_up(),
    };
    OutcomeRange { lower: lower.min(p), upper: upper.min(1.0).max(p) }
}

/// A loss that an output exceeds with at most this probability, rounded up.
///
/// δ(ε) alone does not bound the probability of a loss above ε. The whole curve does: for ε′ < ε,
/// δ(ε′) ≥ (1 − e^{ε′−ε}) P(loss > ε), so P(loss > ε) ≤ β for ε = ε′ − ln(1 − δ(ε′)/β).
///
/// # Guarantee
/// For any two neighbouring data sets D, D′ under the account's relation: an output on D has ln(P(output on D) / P(output on
/// D′)) above the number returned with probability at most `failure`.
///
/// # Reference
/// Markov's inequality for (1 − e^{ε′−loss})₊, whose mean is δ(ε′): Balle, Wang, *Improving the Gaussian mechanism* (2018),
/// theorem 5.
///
/// # Errors
/// As [`Accountant::epsilon`]; a refused δ is `failure` itself.
pub fn loss_quantile(accountant: &Accountant, failure: Delta) -> Result<Epsilon, AccountingError> {
    let beta = failure.get();
    let mut best = greatest_loss(accountant).map_or(f64::INFINITY, Epsilon::get);
    let mut refusal = None;
    for share in SHARES {
        let asked = Delta::new(beta * share)?;
        match accountant.epsilon(asked) {
            Ok(answer) => {
                let more = -libm::log1p(-(asked.get() / beta) * (1.0 + SLACK));
                best = best.min((answer.upper + more) * (1.0 + SLACK));
            }
            Err(error) => refusal = Some(error),
        }
    }
    match refusal {
        // The account was asked at shares of the failure probability; the refusal names the probability that was given.
        Some(AccountingError::Impossible(_)) if best.is_infinite() => {
            let revealed = revealed(accountant.tally(), accountant.neighboring());
            let remedy = format!(
                "give a larger probability: the events reveal everything with probability {revealed:.4e}, and the bound needs \
                 more than that"
            );
            Err(AccountingError::Impossible(InvalidValue::new("delta", beta, remedy)))
        }
        Some(AccountingError::Invalid(invalid)) if best.is_infinite() && invalid.field == "delta" => {
            Err(InvalidValue::new("delta", beta, invalid.remedy).into())
        }
        Some(error) if best.is_infinite() => Err(error),
        _ => Ok(Epsilon::new(best)?),
    }
}

/// The loss that no output exceeds, rounded up; none where outputs of any loss are possible.
///
/// # Guarantee
/// Under the account's relation, in both directions.
pub fn greatest_loss(accountant: &Accountant) -> Option<Epsilon> {
    let sum = accountant.tally().parts().iter().try_fold(0.0, |sum: f64, (count, event)| {
        largest_loss(event).map(|loss| (sum + *count as f64 * loss).next_up())
    });
    sum.ok().filter(|loss| loss.is_finite()).and_then(|loss| Epsilon::new(loss).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CompositionMethod;
    use reticent_core::special::normal_cdf;
    use reticent_core::{Event, Neighboring, NoiseMultiplier};

    fn account(event: Event) -> Accountant {
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(&event, 1).unwrap();
        account
    }

    #[test]
    fn beliefs_follow_bayes_rule() {
        let found = posterior(Epsilon::new(3f64.ln()).unwrap(), Probability::new(0.5).unwrap());
        assert!(found.upper >= 0.75 && found.upper < 0.75 + 1e-12, "{found:?}");
        assert!(found.lower <= 0.25 && found.lower > 0.25 - 1e-12, "{found:?}");
        let none = posterior(Epsilon::new(0.0).unwrap(), Probability::new(0.3).unwrap());
        assert!(none.lower <= 0.3 && none.upper >= 0.3 && none.upper - none.lower < 1e-12);
        for prior in [0.0, 1.0] {
            let sure = posterior(Epsilon::new(40.0).unwrap(), Probability::new(prior).unwrap());
            assert_eq!((sure.lower, sure.upper), (prior, prior));
        }
        for tiny in [1e-309, f64::from_bits(1)] {
            let found = posterior(Epsilon::new(1.0).unwrap(), Probability::new(tiny).unwrap());
            assert!(found.upper >= 2.7 * tiny && found.lower <= tiny / 2.7, "{tiny:e}: {found:?}");
        }
        let huge = posterior(Epsilon::new(5000.0).unwrap(), Probability::new(1e-300).unwrap());
        assert_eq!((huge.lower, huge.upper), (0.0, 1.0));
    }

    #[test]
    fn the_quantile_of_a_gaussian_loss_is_bounded_closely() {
        for (sigma, beta) in [(1.0, 1e-6), (3.0, 1e-3), (0.7, 1e-9)] {
            let event = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(sigma).unwrap() };
            let bound = loss_quantile(&account(event.clone()), Delta::new(beta).unwrap()).unwrap().get();
            // The loss is normal with mean μ²/2 and deviation μ = 1/σ.
            let mu = 1.0 / sigma;
            let exceeded = |loss: f64| normal_cdf(-(loss - 0.5 * mu * mu) / mu);
            assert!(exceeded(bound) <= beta, "σ = {sigma}: {bound}");
            // The broken twin that takes δ for the probability of a larger loss is caught.
            let twin = account(event).epsilon(Delta::new(beta).unwrap()).unwrap().upper;
            assert!(exceeded(twin) > beta, "σ = {sigma}: {twin}");
            assert!(exceeded(0.85 * bound) > beta, "σ = {sigma}: {bound} is loose");
        }
    }

    #[test]
    fn a_pure_guarantee_never_fails() {
        let event = Event::Pure { epsilon: Epsilon::new(0.5).unwrap() };
        assert!(greatest_loss(&account(event.clone())).unwrap().get() - 0.5 < 1e-12);
        assert!(loss_quantile(&account(event), Delta::new(1e-9).unwrap()).unwrap().get() < 0.5 + 1e-9);
        let unbounded = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0).unwrap() };
        assert!(greatest_loss(&account(unbounded)).is_none());
    }

    #[test]
    fn a_claim_alone_allows_no_smaller_failure() {
        let claim =
            Event::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
        let bound = loss_quantile(&account(claim.clone()), Delta::new(1e-3).unwrap()).unwrap().get();
        assert!(bound > 1.0 && bound < 1.03, "{bound}");
        for failure in [1e-6, 1e-5] {
            let refused = loss_quantile(&account(claim.clone()), Delta::new(failure).unwrap()).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("delta = {failure}: ")), "{refused}");
        }
        assert!(loss_quantile(&account(claim), Delta::new(1.1e-5).unwrap()).is_ok());
    }
}
