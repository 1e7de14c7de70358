//! Attacks on our own models: what they reveal about records that were or were not in their training data.
//!
//! This crate trains models and queries them; `reticent-audit` turns the results into scores, error rates and bounds.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Population`] | the records, apart from any model |
//! | [`learner`] | how a model is trained on some records and queried on all: networks and linear models; [`Wanted`] in, [`Artifact`] out |
//! | [`reference`](mod@reference) | many such models on known halves, in jobs that can be split, stopped and resumed |
//! | [`target_study`], [`as_target`] | a model under attack beside its references, as a [`Study`](reticent_audit::Study) |
//! | [`learned`] | attacks that learn from gradients, and the registry of all attacks |
//! | [`perceptron`] | a small network that attacks learn with |
//! | [`reconstruction`] | whole records from gradients and models |
//! | [`federated`] | attacks on parties that train together: by the server, by a party, and canary parties |
//! | [`canary`] | records planted by coin flips, for audits of a single run |

pub mod attribute;
pub mod canary;
mod error;
pub mod federated;
mod influence;
pub mod learned;
pub mod learner;
pub mod perceptron;
mod population;
pub mod reconstruction;
pub mod reference;
mod target;

pub use error::AttackError;
pub use learner::{
    Artifact, ArtifactPart, AuthorLearner, AuthorUnit, Authors, COMPARED_SAMPLES, LOSS_TRAJECTORY, Learner,
    LinearLearner, LinearSettings, NetworkLearner, NetworkTraining, SampleScore, Snapshot, Wanted,
    WithBackground, activations_of, network_outputs, sample_scores,
};
pub use population::Population;
pub use reference::{
    Job, JobProgress, JobReport, JobSettings, ReferenceDesign, ReferencePlan, ReferenceSettings, Store,
};
pub use reticent_audit::{
    GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM,
};
pub use target::{as_target, target_study};
