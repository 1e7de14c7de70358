//! Mechanisms on numbers that the caller has computed: additive noise, randomized response, private selection.
//!
//! ```
//! use reticent_curator::Session;
//! use reticent_curator::perturb::{AdditiveMechanism, Perturb};
//!
//! let noise = Perturb { epsilon: Some(0.5), ..Perturb::new(AdditiveMechanism::Laplace, 1.0) };
//! let noisy = noise.reals(&[120.0], &mut Session::without_limit()?)?;
//! assert_eq!((noisy.values.len(), noisy.guarantee.epsilon.get()), (1, 0.5));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//! | file | request |
//! |---|---|
//! | `additive` | [`Perturb`]: noise on numbers whose sensitivity is declared |
//! | `answers` | [`RandomizeAnswers`]: randomized response |
//! | `selection` | [`Choose`]: one of several candidates |
//! | `labels` | [`FindLabels`]: counts of labels that are found in the data |

mod additive;
mod answers;
mod labels;
mod selection;

pub use additive::{AdditiveMechanism, Perturb, Perturbed};
pub use answers::RandomizeAnswers;
pub use labels::{FindLabels, FoundLabels};
pub use selection::{ChoiceRule, Choose};

use crate::refusal::Refusal;
use reticent_core::Neighboring;

fn ninety_five() -> f64 {
    0.95
}

fn add_remove() -> Neighboring {
    Neighboring::AddRemove
}

fn no_epsilon() -> Refusal {
    Refusal::missing("epsilon", "give a privacy budget, such as 1")
}

#[cfg(test)]
mod tests;
