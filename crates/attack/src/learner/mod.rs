//! How a model is made of some of the records and asked about all of them.

mod background;
mod linear;
mod network;

pub use background::WithBackground;
pub use linear::{LinearLearner, LinearSettings};
pub use network::{NetworkLearner, NetworkTraining, network_outputs};
pub(crate) use network::{permit_without_limit, take_steps};

use crate::AttackError;
use reticent_audit::Outputs;

/// Says whether to stop; asked between steps.
pub type Halt<'a> = &'a (dyn Fn() -> bool + Sync);

/// A way to train a model on some of the records, and to ask it about all of them.
pub trait Learner: Sync {
    /// How many records there are.
    fn records(&self) -> usize;

    /// A short name for everything that determines a model apart from the records it is trained on and its key: data,
    /// kind of model, settings.
    fn identity(&self) -> String;

    /// Whether the same records and the same key give the same model. Models with a guarantee never do: their noise
    /// comes from the operating system. Neither do networks with dropout.
    fn is_repeatable(&self) -> bool;

    /// Trains on the records `inside`, in rising order, and says what the model says about all records.
    ///
    /// # Errors
    /// [`AttackError::Interrupted`] when `halt` says so; what the model refuses.
    fn fit(&self, inside: &[usize], key: &str, halt: Halt<'_>) -> Result<Outputs, AttackError>;
}
