//! What every engine and every [`Gradients`](reticent_train::Gradients) must hold: sums of gradients to which no unit adds more than
//! the clipping norm.
//!
//! A suite takes a [`Subject`] and says what it violates, if anything. The same suites must find [`Twin`]s, subjects with one
//! mistake each.
//!
//! | file | contents |
//! |---|---|
//! | `tape`, `loss`, `network` | the reference: described networks in double precision |
//! | `cases` | small networks with every kind of layer, and examples for them |
//! | `subject` | networks and models as subjects |
//! | `sums` | clipped sums against the reference, for all rules and selections |
//! | `hostile` | units that try to move a sum by more than the norm |
//! | `twins` | subjects with a mistake |

mod cases;
mod hostile;
mod loss;
pub mod network;
mod subject;
mod sums;
pub mod tape;
mod twins;

pub use cases::{Case, cases, examples, uniform};
pub use hostile::{cancelling, hostile, hostile_under};
pub use subject::{Described, Modelled};
pub use sums::sums;
pub use twins::{Fault, Twin};

use reticent_train::{Clipping, Examples, Layout, Selection, TrainError};
use thiserror::Error;

/// Something that sums up the clipped gradients of units, at weights of its own.
pub trait Subject {
    /// The names and places of its weights.
    fn layout(&self) -> Layout;

    /// The sum of the selected units' gradients, each clipped; without a rule as they are.
    ///
    /// # Errors
    /// Whatever the subject says.
    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
    ) -> Result<Vec<f32>, TrainError>;
}

/// What a subject does not hold.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{promise}: {detail}")]
pub struct Violation {
    /// What was promised.
    pub promise: &'static str,
    /// What was found.
    pub detail: String,
}

impl Violation {
    /// A promise that was not kept.
    pub fn new(promise: &'static str, detail: impl Into<String>) -> Self {
        Self { promise, detail: detail.into() }
    }
}

/// The clipping rules of the suites, around a norm that some gradients exceed and others do not.
fn rules(norm: f64) -> [Clipping; 4] {
    [
        Clipping::Flat { norm },
        Clipping::Flat { norm: 1e-3 * norm },
        Clipping::PerLayer { norm },
        Clipping::Automatic { norm, stability: 0.01 },
    ]
}

/// ‖x‖ in double precision.
fn length(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖a − b‖.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    length(a.iter().zip(b).map(|(a, b)| f64::from(*a) - f64::from(*b)))
}

/// Units of these examples.
fn units<'a>(units: impl IntoIterator<Item = &'a [usize]>) -> Selection {
    let mut selection = Selection::default();
    units.into_iter().for_each(|unit| selection.push(unit.iter().copied()));
    selection
}
