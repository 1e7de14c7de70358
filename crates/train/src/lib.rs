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
//! | [`adversarial`] | training against an inference network, without a guarantee |
//! | [`Layout`] | the names and places of weights |
//! | [`clip`] | how much of each unit's gradient enters the sum |
//! | [`PrivacyPlan`] | sampling, clipping, noise and steps as one checked object |
//! | [`sampler`] | privacy units, and which of them enter a step |
//! | [`Trainer`] | training step by step, with or without a guarantee |
//! | [`Contribution`], [`Aggregation`] | the same in parts: what each party computes, and what makes it private |
//! | [`federated`] | parties that train together: FedSGD and FedAvg, and what each of them sees |
//! | [`NoiseLaw`], [`Denoising`] | Gaussian or Student-t noise; what becomes of a noisy gradient before the optimizer |
//! | [`CyclicBatches`] | training without sampling: batches that come round in every epoch, correlated noise |
//! | [`BatchGrowth`], [`Stage`] | batches that grow during a run, stage by stage |
//! | [`steps`] | the private half of a training whose gradients are computed by another framework |
//! | [`Team`] | threads that another framework lends |
//! | [`optimizer`], [`schedule`], [`average`] | from noisy gradients to weights |
//! | [`product`] | matrix products |
//! | [`tensors`], [`digest`] | arrays as checked files, short names for contents |
//! | [`checkpoint`] | a run on disk, and the ledger of what may have been seen |
#![doc = include_str!("proof.md")]

pub mod adversarial;
mod augment;
pub mod average;
pub mod checkpoint;
pub mod clip;
pub mod cuda;
mod cyclic;
mod denoise;
pub mod describe;
pub mod digest;
pub mod engine;
mod error;
mod evaluate;
mod examples;
pub mod features;
pub mod federated;
pub mod gradients;
pub mod graph;
mod growth;
pub mod inspect;
mod layout;
pub mod load;
mod native;
pub mod noise;
pub mod optimizer;
mod plan;
mod quantile;
pub mod sampler;
pub mod schedule;
pub mod steps;
mod store;
mod team;
pub mod tensors;
mod trainer;
mod warm;

pub use adversarial::AdversarialSettings;
pub use augment::Augmentation;
pub use checkpoint::RunLock;
pub use clip::{Clipping, MagnitudeProfile, RoundingMargin};
pub use cyclic::CyclicBatches;
pub use denoise::Denoising;
pub use describe::Description;
pub use engine::{Device, Engine, Resources, Weights, engine, model_engine};
pub use error::TrainError;
pub use evaluate::{Evaluation, evaluate, scores};
pub use examples::{Examples, Inputs, Selection, Targets, UNSCORED};
pub use features::FixedFeatures;
pub use federated::{FederatedTerms, Federation, LocalTraining, PartyUpdate};
pub use gradients::{ClippedSum, Gradients};
pub use growth::{BatchGrowth, Stage};
pub use layout::{Layout, Parameter};
pub use native::{ConvGradients, ConvLengths, ConvPass, product};
pub use noise::NoiseLaw;
pub use optimizer::{Adam, OptimizerSettings};
pub use plan::{PlanSettings, PrivacyPlan};
pub use quantile::{QuantileClipping, Unclipped};
pub use sampler::Units;
pub use schedule::{Decay, Schedule};
pub use steps::PrivateSteps;
pub use store::{load_weights, save_weights};
pub use team::{Spread, Team};
pub use trainer::{
    Aggregation, Baseline, Batching, Contribution, Progress, Recipe, StopCause, Trainer, TrainingTerms,
};
pub use warm::{GivenWeights, Mapping, WarmStart};
