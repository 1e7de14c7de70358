//! Closed formulas of the textbooks on public numbers, beside what the library certifies.
//!
//! ```
//! use reticent_curator::account::{Formula, FormulaResult};
//!
//! let formula = Formula::Gaussian { epsilon: 0.5, delta: 1e-5, sensitivity: 1.0 };
//! let FormulaResult::Gaussian(found) = formula.evaluate()? else { unreachable!() };
//! assert_eq!(found.formulas[1].formula, "classical");
//! assert!((found.formulas[1].sigma.unwrap_or_default() - 9.6896).abs() < 1e-4);
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```

mod choice;
mod evaluate;
mod found;

pub use found::{
    CandidateProbability, CompositionFormulas, FormulaResult, GaussianFormula, GaussianFormulas,
    OutcomeFormula, OutputPerturbationFormulas, ProjectedSgdFormula, RandomRecordFormula, SampleSizeFormula,
    SelectionFormula, SensitivityFormulas, SensitivityRow,
};

use crate::Refusal;
use reticent_noise::mechanism::SelectionRule;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A formula with its public numbers. It reads no data and spends nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Formula {
    /// The probability of every candidate of a private choice, and the bound on the best one.
    Selection {
        /// The candidates with their scores, public or assumed.
        choices: Vec<(String, f64)>,
        /// The ε of the choice.
        epsilon: f64,
        /// How far one person can move a score.
        sensitivity: f64,
        /// How the choice is made.
        #[serde(default)]
        mechanism: ChoiceMechanism,
        /// Whether all scores move the same way between neighbours, as counts do under add-remove.
        #[serde(default)]
        monotone: bool,
        /// The shortfall of the bound; the gap between the best score and the next where nothing is given.
        #[serde(default)]
        shortfall: Option<f64>,
    },
    /// How far one person can move several counts, a sum or a mean.
    Sensitivity {
        /// The number of counts.
        #[serde(default)]
        counts: Option<u64>,
        /// In how many of the counts one person can be; in all of them where nothing is given.
        #[serde(default)]
        overlap: Option<u64>,
        /// The bounds of the values of a sum and a mean.
        #[serde(default)]
        bounds: Option<[f64; 2]>,
        /// The number of records of the mean.
        #[serde(default, alias = "dataset-size")]
        dataset_size: Option<u64>,
    },
    /// The standard deviation of Gaussian noise by three formulas.
    Gaussian {
        /// The ε of the claim.
        epsilon: f64,
        /// The δ of the claim.
        delta: f64,
        /// The ℓ2 sensitivity.
        sensitivity: f64,
    },
    /// Publishing one random record in full.
    RandomRecord {
        /// The number of records.
        #[serde(alias = "dataset-size")]
        dataset_size: u64,
    },
    /// Composition of pure mechanisms by the Rényi form, beside the other theorems.
    Composition {
        /// The ε of each mechanism.
        epsilon: f64,
        /// How many there are.
        count: u64,
        /// The δ of the claim about all.
        delta: f64,
        /// The probability of an outcome, to bound it on neighbouring data.
        #[serde(default)]
        probability: Option<f64>,
    },
    /// The sensitivity and the noise of output perturbation.
    OutputPerturbation {
        /// The ε of the claim.
        epsilon: f64,
        /// The δ of the claim.
        delta: f64,
        /// The number of records.
        #[serde(alias = "dataset-size")]
        dataset_size: u64,
        /// The weight of |w|²/2 beside the mean loss.
        regularization: f64,
        /// The Lipschitz constant of the loss.
        lipschitz: f64,
    },
    /// How many records output perturbation needs for an excess risk.
    SampleSize {
        /// The ε of the claim.
        epsilon: f64,
        /// The δ of the claim.
        delta: f64,
        /// How far the mean loss on the population may be above that of the best weights.
        excess: f64,
        /// Half of the probability with which the bound may fail.
        failure: f64,
        /// The number of weights.
        dimension: u64,
        /// The norm of the weights that the model is compared with.
        radius: f64,
        /// The Lipschitz constant of the loss.
        lipschitz: f64,
    },
    /// The noise of projected stochastic gradient descent.
    ProjectedSgd {
        /// The ε of the claim.
        epsilon: f64,
        /// The δ of the claim.
        delta: f64,
        /// The number of records.
        #[serde(alias = "dataset-size")]
        dataset_size: u64,
        /// The number of steps, each on one random record.
        steps: u64,
        /// The Lipschitz constant of the loss.
        lipschitz: f64,
    },
}

/// How a private choice is made, where the probabilities are known in closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceMechanism {
    /// The exponential mechanism.
    #[default]
    Exponential,
    /// Permute-and-flip.
    PermuteAndFlip,
}

impl ChoiceMechanism {
    /// The name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::PermuteAndFlip => "permute-and-flip",
        }
    }

    fn rule(self) -> SelectionRule {
        match self {
            Self::Exponential => SelectionRule::Exponential,
            Self::PermuteAndFlip => SelectionRule::PermuteAndFlip,
        }
    }
}

impl FromStr for ChoiceMechanism {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        match name {
            "exponential" => Ok(Self::Exponential),
            "permute-and-flip" => Ok(Self::PermuteAndFlip),
            _ => Err(Refusal::unknown("mechanism", name, "unknown: give exponential or permute-and-flip")),
        }
    }
}

impl Formula {
    /// Evaluates the formula, in the range in which it holds.
    ///
    /// # Guarantee
    /// What is called a bound or a σ holds under the relation that the result names, rounded to the safe side. A formula is refused
    /// outside its range; [`GaussianFormula::holds`] is false for a value that is shown though it does not hold.
    ///
    /// # Reference
    /// Each function of the libraries names its own: [`reticent_accounting::textbook`], [`reticent_accounting::composition`],
    /// [`reticent_erm::risk`], [`reticent_noise::query::QuerySensitivity`].
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy.
    pub fn evaluate(&self) -> Result<FormulaResult, Refusal> {
        match self {
            Self::Selection { choices, epsilon, sensitivity, mechanism, monotone, shortfall } => {
                choice::selection(choices, *epsilon, *sensitivity, *mechanism, *monotone, *shortfall)
                    .map(FormulaResult::Selection)
            }
            Self::Sensitivity { counts, overlap, bounds, dataset_size } => {
                evaluate::sensitivity(*counts, *overlap, *bounds, *dataset_size)
                    .map(FormulaResult::Sensitivity)
            }
            Self::Gaussian { epsilon, delta, sensitivity } => {
                evaluate::gaussian(*epsilon, *delta, *sensitivity).map(FormulaResult::Gaussian)
            }
            Self::RandomRecord { dataset_size } => {
                evaluate::random_record(*dataset_size).map(FormulaResult::RandomRecord)
            }
            Self::Composition { epsilon, count, delta, probability } => {
                evaluate::composition(*epsilon, *count, *delta, *probability).map(FormulaResult::Composition)
            }
            Self::OutputPerturbation { epsilon, delta, dataset_size, regularization, lipschitz } => {
                evaluate::output_perturbation(*epsilon, *delta, *dataset_size, *regularization, *lipschitz)
                    .map(FormulaResult::OutputPerturbation)
            }
            Self::SampleSize { epsilon, delta, excess, failure, dimension, radius, lipschitz } => {
                let target = evaluate::target(*excess, *failure, *dimension, *radius, *lipschitz)?;
                evaluate::sample_size(*epsilon, *delta, target).map(FormulaResult::SampleSize)
            }
            Self::ProjectedSgd { epsilon, delta, dataset_size, steps, lipschitz } => {
                evaluate::projected_sgd(*epsilon, *delta, *dataset_size, *steps, *lipschitz)
                    .map(FormulaResult::ProjectedSgd)
            }
        }
    }
}

#[cfg(test)]
mod tests;
