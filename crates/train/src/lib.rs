//! Networks trained with a privacy guarantee.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Examples`], [`Selection`] | labelled examples in memory, and which of them a step uses |
//! | [`Model`], [`Layout`] | what the trainer asks of a model |
//! | `burn` (feature) | modules of the Burn framework as models |
//! | [`clip`] | how much of each unit's gradient enters the sum |

#[cfg(feature = "burn")]
pub mod burn;
pub mod clip;
mod error;
mod examples;
mod model;

pub use clip::Clipping;
pub use error::TrainError;
pub use examples::{Examples, Inputs, Selection, Targets};
pub use model::{Layout, Model, Parameter};
