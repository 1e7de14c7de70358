//! The vocabulary every other crate speaks: checked quantities ([`Epsilon`], [`Delta`], …),
//! the neighbouring relation, the [`Event`] language between mechanisms and accountants, the
//! [`Certificate`] a release leaves behind, and arithmetic with a stated rounding side.
//!
//! Nothing here draws randomness, reads files or knows about data.

mod certificate;
mod error;
mod event;
mod neighboring;
pub mod profile;
mod quantity;
pub mod rounding;
pub mod special;

pub use certificate::{Certificate, Guarantee};
pub use error::InvalidValue;
pub use event::{Event, EventLog};
pub use neighboring::Neighboring;
pub use quantity::{
    Confidence, Delta, Epsilon, Mu, NoiseMultiplier, Order, Probability, Rho, SamplingRate, Scale,
    Sensitivity,
};
