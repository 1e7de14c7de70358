//! How a model is trained on some of the records and queried on all of them.

mod artifact;
mod author;
mod background;
mod gradients;
mod labels;
mod linear;
mod network;
mod slopes;
mod tokens;

pub use artifact::{Artifact, ArtifactPart, LOSS_TRAJECTORY, Snapshot, Wanted, activations_of};
pub use author::{AuthorLearner, AuthorUnit, Authors, COMPARED_SAMPLES};
pub use background::WithBackground;
pub use linear::{LinearLearner, LinearSettings};
pub(crate) use network::{ALONE, permit_without_limit, start, take_steps};
pub use network::{NetworkLearner, NetworkTraining, network_outputs};
pub(crate) use slopes::softmax;
pub(crate) use tokens::scores_of;
pub use tokens::{SampleScore, sample_scores};

use crate::AttackError;

/// Whether to stop; checked between steps.
pub type Halt<'a> = &'a (dyn Fn() -> bool + Sync);

/// A way to train a model on some of the records and to query it on all of them.
pub trait Learner: Sync {
    /// How many records there are.
    fn records(&self) -> usize;

    /// A short name for everything that determines a model apart from the records it is trained on and its key: data,
    /// kind of model, settings.
    fn identity(&self) -> String;

    /// Whether the same records and the same key give the same model. Models with a guarantee never do: their noise
    /// comes from the operating system. Neither do networks with dropout.
    fn is_repeatable(&self) -> bool;

    /// The kind of model in words, for messages: "linear models".
    fn kind(&self) -> &'static str;

    /// Whether it can give a part of an artifact besides the outputs.
    fn offers(&self, part: ArtifactPart) -> bool;

    /// What a white-box audit wants of its models besides their outputs: all that it offers of gradients.
    fn white_box(&self) -> Wanted {
        Wanted { gradients: self.offers(ArtifactPart::Gradients), ..Wanted::default() }
    }

    /// Trains on the records `inside`, in increasing order, queries the model on all records, and returns its outputs and what
    /// else is wanted.
    ///
    /// # Errors
    /// [`AttackError::NotOffered`] for a part that it cannot give; [`AttackError::Interrupted`] when `halt` says so; what the
    /// model refuses.
    fn fit(
        &self,
        inside: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError>;

    /// As [`fit`](Self::fit), but queries the model on the records `asked` alone.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    fn fit_about(
        &self,
        inside: &[usize],
        asked: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        Ok(self.fit(inside, key, wanted, halt)?.some(asked))
    }
}
