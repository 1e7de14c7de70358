//! Exact samplers: every decision is a comparison of integers.
//!
//! Probabilities are ratios of integers, and a uniform real is a stream of 64-bit digits that is
//! read only as far as the comparison needs. Machine integers carry the common case; [`big`] is the
//! same algorithms on big integers, used when a parameter is too wide and as a cross-check in tests.
//!
//! These are raw laws. They take randomness from any [`Bits`](crate::entropy::Bits), know no sensitivity and no event, and charge
//! nothing: a number that is published with their noise has no guarantee. [Mechanisms](crate::mechanism) give one.
#![doc = include_str!("proof.md")]

mod bernoulli;
pub mod big;
mod dyadic;
mod gaussian;
mod inclusion;
mod laplace;
pub(crate) mod normal;
pub(crate) mod normal_big;
mod student;
mod trials;
mod uniform;

pub(crate) use bernoulli::INVERSE_E;
pub use bernoulli::{bernoulli, bernoulli_exp};
pub use dyadic::Dyadic;
pub use gaussian::DiscreteGaussianSampler;
pub use inclusion::Inclusion;
pub use laplace::{DiscreteLaplaceSampler, geometric};
pub(crate) use normal::normal_cells;
pub use normal::{CELL_BITS, NORMAL_DISTANCE_LOG2, Normal, normal_cell, rounded_normal};
pub use student::StudentSampler;
pub use trials::{TrialCount, TrialLaw};
pub use uniform::uniform_below;

#[cfg(test)]
mod tests;
