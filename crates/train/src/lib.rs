//! Networks trained with a privacy guarantee.
//!
//! | room | contents |
//! |---|---|
//! | [`Examples`], [`Selection`] | labelled examples in memory, and which of them a step uses |
//! | [`load`] | images, tables and texts to examples |
//! | [`describe`] | networks as layers, presets |
//! | [`graph`] | a description as operations over buffers: what engines compile |
//! | [`engine()`], [`Engine`] | where a network is computed, with its weights and the state of its training |
//! | [`cuda`] | described networks on a GPU, and on anything else that runs its kernels |
//! | [`gradients`] | models that are not described, and the sum that clips their gradients |
//! | [`inspect`] | gradients, losses and activations of single examples, for attacks on one's own models |
//! | [`Layout`] | the names and places of weights |
//! | [`clip`] | how much of each unit's gradient enters the sum |
//! | [`PrivacyPlan`] | sampling, clipping, noise and steps as one checked object |
//! | [`sampler`] | privacy units, and which of them enter a step |
//! | [`Trainer`] | training step by step, with or without a guarantee |
//! | [`Contribution`], [`Aggregation`] | the same in parts: what each party computes, and what makes it private |
//! | [`federated`] | parties that train together: FedSGD and FedAvg, and what each of them sees |
//! | [`optimizer`], [`schedule`], [`average`] | from noisy gradients to weights |
//! | [`product`] | matrix products |
//! | [`tensors`], [`digest`] | arrays as checked files, short names for contents |
//! | [`checkpoint`] | a run on disk, and the ledger of what may have been seen |
#![doc = include_str!("proof.md")]

pub mod average;
pub mod checkpoint;
pub mod clip;
pub mod cuda;
pub mod describe;
pub mod digest;
pub mod engine;
mod error;
mod evaluate;
mod examples;
pub mod federated;
pub mod gradients;
pub mod graph;
pub mod inspect;
mod layout;
pub mod load;
mod native;
pub mod noise;
pub mod optimizer;
mod plan;
pub mod sampler;
pub mod schedule;
mod store;
pub mod tensors;
mod trainer;

pub use checkpoint::RunLock;
pub use clip::{Clipping, RoundingMargin};
pub use describe::Description;
pub use engine::{Device, Engine, Resources, Weights, engine, model_engine};
pub use error::TrainError;
pub use evaluate::{Evaluation, evaluate};
pub use examples::{Examples, Inputs, Selection, Targets, UNSCORED};
pub use federated::{FederatedTerms, Federation, LocalTraining, PartyUpdate};
pub use gradients::{ClippedSum, Gradients};
pub use layout::{Layout, Parameter};
pub use native::product;
pub use optimizer::{Adam, OptimizerSettings};
pub use plan::{PlanSettings, PrivacyPlan};
pub use sampler::Units;
pub use schedule::{Decay, Schedule};
pub use store::{load_weights, save_weights};
pub use trainer::{
    Aggregation, Baseline, Batching, Contribution, Progress, Recipe, StopCause, Trainer, TrainingTerms,
};
