//! Networks trained with a privacy guarantee.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Examples`], [`Selection`] | labelled examples in memory, and which of them a step uses |
//! | [`load`] | images, tables and texts to examples |
//! | [`Model`], [`Layout`] | what the trainer asks of a model |
//! | [`describe`] | networks in words, presets |
//! | [`native`] | described networks on the CPU |
//! | `burn` (feature) | modules of the Burn framework as models |
//! | [`clip`] | how much of each unit's gradient enters the sum |
//! | [`PrivacyPlan`] | sampling, clipping, noise and steps as one checked object |
//! | [`sampler`] | privacy units, and which of them enter a step |
//! | [`Trainer`] | training step by step, with or without a guarantee |
//! | [`optimizer`], [`schedule`], [`average`] | from noisy gradients to weights |
//! | [`tensors`], [`digest`] | arrays as checked files, short names for contents |
//! | [`checkpoint`] | a run on disk, and the ledger of what may have been seen |
#![doc = include_str!("proof.md")]

pub mod average;
#[cfg(feature = "burn")]
pub mod burn;
pub mod checkpoint;
pub mod clip;
pub mod describe;
pub mod digest;
mod error;
mod evaluate;
mod examples;
pub mod load;
mod model;
pub mod native;
mod noise;
pub mod optimizer;
mod plan;
pub mod sampler;
pub mod schedule;
mod store;
pub mod tensors;
mod trainer;

pub use checkpoint::Claim;
pub use clip::Clipping;
pub use describe::Description;
pub use error::TrainError;
pub use evaluate::{Evaluation, evaluate};
pub use examples::{Examples, Inputs, Selection, Targets};
pub use model::{Beside, Layout, Model, Parameter};
pub use native::{Effort, Network};
pub use optimizer::{Adam, OptimizerSettings};
pub use plan::{PlanSettings, PrivacyPlan};
pub use sampler::Units;
pub use schedule::{Decay, Schedule};
pub use store::{load_weights, save_weights};
pub use trainer::{Baseline, Batches, Progress, Recipe, StopCause, Terms, Trainer};
