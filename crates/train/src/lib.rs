//! Networks trained with a privacy guarantee.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Examples`], [`Selection`] | labelled examples in memory, and which of them a step uses |
//! | [`Model`], [`Layout`] | what the trainer asks of a model |
//! | [`describe`] | networks in words, presets |
//! | [`clip`] | how much of each unit's gradient enters the sum |

pub mod clip;
pub mod describe;
mod error;
mod examples;
mod model;
pub mod native;

pub use clip::Clipping;
pub use describe::Description;
pub use error::TrainError;
pub use examples::{Examples, Inputs, Selection, Targets};
pub use model::{Layout, Model, Parameter};
pub use native::{Effort, Network};
