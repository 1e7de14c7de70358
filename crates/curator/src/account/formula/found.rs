//! What formulas give.

use super::ChoiceMechanism;
use reticent_core::Neighboring;
use serde::Serialize;

/// The numbers of a formula.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FormulaResult {
    /// Of [`Formula::Selection`](super::Formula::Selection).
    Selection(SelectionFormula),
    /// Of [`Formula::Sensitivity`](super::Formula::Sensitivity).
    Sensitivity(SensitivityFormulas),
    /// Of [`Formula::Gaussian`](super::Formula::Gaussian).
    Gaussian(GaussianFormulas),
    /// Of [`Formula::RandomRecord`](super::Formula::RandomRecord).
    RandomRecord(RandomRecordFormula),
    /// Of [`Formula::Composition`](super::Formula::Composition).
    Composition(CompositionFormulas),
    /// Of [`Formula::OutputPerturbation`](super::Formula::OutputPerturbation).
    OutputPerturbation(OutputPerturbationFormulas),
    /// Of [`Formula::SampleSize`](super::Formula::SampleSize).
    SampleSize(SampleSizeFormula),
    /// Of [`Formula::ProjectedSgd`](super::Formula::ProjectedSgd).
    ProjectedSgd(ProjectedSgdFormula),
}

/// A private choice on known scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionFormula {
    /// The candidates, as they were given.
    pub candidates: Vec<CandidateProbability>,
    /// The chosen score is less than the shortfall below the best with at least this probability, whatever the scores; rounded down.
    pub bound: f64,
    /// The shortfall of the bound.
    pub shortfall: f64,
    /// How the choice is made.
    pub mechanism: ChoiceMechanism,
    /// Whether the scores are monotone.
    pub monotone: bool,
    /// The ε of the choice.
    pub epsilon: f64,
    /// The sensitivity of the scores.
    pub sensitivity: f64,
}

/// A candidate of a private choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidateProbability {
    /// Its name.
    pub name: String,
    /// Its score.
    pub score: f64,
    /// The probability that it is chosen, exact to nine decimal places.
    pub probability: f64,
}

/// How far one person can move answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SensitivityFormulas {
    /// One for each query and relation.
    pub sensitivities: Vec<SensitivityRow>,
}

/// The sensitivity of a query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SensitivityRow {
    /// counts, sum or mean.
    pub query: &'static str,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// In the ℓ1 norm, rounded up.
    pub l1: f64,
    /// In the ℓ2 norm, rounded up.
    pub l2: f64,
}

/// Gaussian noise by three formulas.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GaussianFormulas {
    /// The ε of the claim.
    pub epsilon: f64,
    /// The δ of the claim.
    pub delta: f64,
    /// The ℓ2 sensitivity.
    pub sensitivity: f64,
    /// The formulas: analytic, classical, short.
    pub formulas: Vec<GaussianFormula>,
}

/// What one formula gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GaussianFormula {
    /// `analytic`, `classical` or `short`.
    pub formula: &'static str,
    /// σ, rounded up; nothing where the formula is refused.
    pub sigma: Option<f64>,
    /// The δ that this σ has at the ε of the claim, rounded up.
    pub delta: Option<f64>,
    /// Whether the claim holds.
    pub holds: bool,
    /// Why the formula is refused or does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The claim of one random record in full.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RandomRecordFormula {
    /// 0.
    pub epsilon: f64,
    /// 1 / number of records, rounded up.
    pub delta: f64,
    /// The number of records.
    pub dataset_size: u64,
    /// Replace-one.
    pub neighboring: Neighboring,
}

/// Pure mechanisms in sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompositionFormulas {
    /// The δ of the claim.
    pub delta: f64,
    /// 4ε√(2n ln(1/δ)), rounded up; nothing where its condition fails.
    pub renyi: Option<f64>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The advanced composition theorem, rounded up.
    pub advanced: f64,
    /// nε, rounded up.
    pub basic: f64,
    /// What the pld accountant certifies, rounded up.
    pub pld: f64,
    /// An outcome on neighbouring data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeFormula>,
}

/// The largest probability of an outcome on neighbouring data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OutcomeFormula {
    /// The probability Q that was given.
    pub probability: f64,
    /// exp(2ε√(n ln(1/Q)))·Q, rounded up, at most 1.
    pub renyi: f64,
    /// What the accountant certifies, rounded up.
    pub tight: f64,
}

/// Output perturbation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputPerturbationFormulas {
    /// 2L/(nΛ), rounded up.
    pub sensitivity: f64,
    /// The least σ, by the analytic calibration, rounded up.
    pub sigma: f64,
    /// The σ of the classical formula, rounded up; nothing where it is refused.
    pub classical_sigma: Option<f64>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Replace-one.
    pub neighboring: Neighboring,
}

/// Records for an excess risk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SampleSizeFormula {
    /// The number of records that is enough, rounded up.
    pub dataset_size: u64,
    /// The regularization to train with.
    pub regularization: f64,
    /// The excess risk.
    pub excess: f64,
    /// The probability with which the bound may fail: twice the failure that was given.
    pub failure_probability: f64,
    /// Replace-one.
    pub neighboring: Neighboring,
}

/// Projected stochastic gradient descent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProjectedSgdFormula {
    /// The σ of the formula, rounded up.
    pub sigma: f64,
    /// The ε that the pld accountant certifies for that σ at the same δ, rounded up.
    pub pld: f64,
    /// The ε of the claim.
    pub epsilon: f64,
    /// The δ of the claim.
    pub delta: f64,
    /// Replace-one.
    pub neighboring: Neighboring,
}
