//! Models of ours under attack.

mod case;
mod target;

pub use case::{Case, Chosen, Wanted};
pub use target::canary_training;
