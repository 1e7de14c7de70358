//! Findings of attacks that recover attributes or whole records, and of attacks that watch a training.

use crate::attacks::AttackKind;
use crate::findings::{Estimate, Threat};
use reticent_accounting::reconstruction::ReconstructionBound;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};
use reticent_core::{Certificate, Neighboring, Probability};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an attack on attributes or on whole records recovered. It holds no record and no attribute of anyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disclosure {
    /// A stable name, e.g. `gradient-inversion`.
    pub name: String,
    /// The question it answers.
    pub kind: AttackKind,
    /// One line about what it does.
    pub about: String,
    /// Settings that were chosen, and how.
    pub settings: BTreeMap<String, String>,
    /// Who could run it.
    pub threat: Threat,
    /// How many records were attacked.
    pub records: u64,
    /// What was measured; a row for each condition, such as a batch size or a noise level.
    pub measures: Vec<DisclosureMeasure>,
    /// What the certificate allows at most; none without a certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<DisclosureBound>,
    /// What a reader should know before believing a number.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// One figure of a disclosure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisclosureMeasure {
    /// What was measured and in which unit, e.g. `peak signal-to-noise ratio (dB)`.
    pub what: String,
    /// Under which condition, e.g. `batch of 4`.
    pub condition: String,
    /// Whether more of it means more leakage.
    pub rises: bool,
    /// With the model, the gradient or the release.
    pub attack: Estimate,
    /// The same without it: what a guess by public knowledge achieves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Estimate>,
    /// The attack less the baseline: what the model adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Estimate>,
}

/// What a certificate says about the success of any attack on one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisclosureBound {
    /// The probability of success against a release without the unit; not a population rate.
    pub prior: f64,
    /// The most that the probability of success can be against the release, rounded up.
    pub success: f64,
    /// The privacy unit of the certificate.
    pub unit: String,
    /// The neighboring relation of the certificate.
    pub neighboring: Neighboring,
}

impl DisclosureBound {
    /// What a certificate allows an attack that succeeds with probability `prior` against a release without the unit.
    ///
    /// # Guarantee
    /// As [`ReconstructionBound::success`], by the events of the certificate where their trade-off is known, and in any case by its claim:
    /// success ≤ δ + e^ε·prior. Rounded up. A prior outside of 0 to 1 counts as the nearer end.
    ///
    /// # Reference
    /// Hayes, Mahloujifar, Balle, *Bounding training data reconstruction in DP-SGD* (2023).
    pub fn of(certificate: &Certificate, prior: f64) -> Self {
        let Certificate { unit, neighboring, events, guarantee, .. } = certificate;
        let prior = if prior.is_nan() { 1.0 } else { prior.clamp(0.0, 1.0) };
        let by_events = || -> Result<f64, AccountingError> {
            let mut account = Accountant::new(*neighboring, CompositionMethod::Pld);
            events.iter().try_for_each(|event| account.compose(event, 1))?;
            ReconstructionBound::of(&account)?.success(Probability::new(prior)?)
        };
        let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
        let by_claim =
            if prior == 0.0 { delta } else { (delta + libm::exp(epsilon) * prior) * (1.0 + 1e-15) };
        let success = by_events().unwrap_or(1.0).min(by_claim).min(1.0);
        Self { prior, success, unit: unit.clone(), neighboring: *neighboring }
    }
}

/// How well somebody who saw some rounds of a federation tells members from non-members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedRounds {
    /// The rounds whose models the observer saw, increasing.
    pub rounds: Vec<u64>,
    /// The name of the attack.
    pub attack: String,
    /// How many records it was judged by, half of them members.
    pub records: u64,
    /// The share of records that it was right about; guessing gives 0.5.
    pub accuracy: Estimate,
    /// The area under its curve.
    pub auc: Estimate,
}

/// How a signal develops over a training, for members and for non-members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// What is shown, e.g. `loss of target records while the server ascends it`.
    pub about: String,
    /// The unit of `at`, e.g. `round`.
    pub unit: String,
    /// What is on the vertical axis, e.g. `median loss`.
    pub what: String,
    /// Rounds or steps, increasing.
    pub at: Vec<f64>,
    /// One line for each group of records.
    pub lines: Vec<TrajectoryLine>,
}

/// One line of a trajectory: a statistic of a group of records, with an interval each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryLine {
    /// Who, e.g. `members`.
    pub label: String,
    /// How many records.
    pub records: u64,
    /// One value for each entry of `at`, of the statistic that [`Trajectory::what`] names.
    pub value: Vec<f64>,
    /// Lower ends of the intervals; the values where there is nothing to estimate.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Delta, Epsilon, Event, Guarantee, NoiseMultiplier};

    #[test]
    fn the_events_of_a_certificate_bound_success_better_than_its_claim() {
        let guarantee = Guarantee { epsilon: Epsilon::new(5.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
        let gaussian = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0).unwrap() };
        let certificate = |events| {
            Certificate::compose("row", Neighboring::AddRemove, events, guarantee, "pld", Vec::new())
        };
        // Φ(Φ⁻¹(0.01) + 1), by mpmath; e⁵ · 0.01 says nothing.
        let found = DisclosureBound::of(&certificate(vec![gaussian]), 0.01);
        assert!(found.success >= 0.092_362_248 && found.success < 0.092_363, "{}", found.success);
        // Events of which little is known leave the claim.
        let claimed = Event::Approximate { epsilon: guarantee.epsilon, delta: guarantee.delta };
        let found = DisclosureBound::of(&certificate(vec![claimed]), 1e-6);
        let claim = 1e-5 + 5f64.exp() * 1e-6;
        assert!(found.success >= claim && found.success < claim * (1.0 + 1e-6), "{}", found.success);
        assert_eq!(DisclosureBound::of(&certificate(Vec::new()), f64::NAN).success, 1.0);
    }
}
