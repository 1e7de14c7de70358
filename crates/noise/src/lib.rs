//! Noise that can be trusted: the project's only entropy source, samplers whose decisions are made
//! in exact arithmetic, and the mechanisms built on them. Every release yields the value, the
//! [`Event`](reticent_core::Event) it costs and the guarantee it was calibrated to.
//!
//! | room | what is in it |
//! |---|---|
//! | [`NoiseSession`], [`Paid`], [`Draws`] | whose data it is; the right to draw, once a plan is charged |
//! | [`entropy`] | the generator, seeded by the operating system, safe across `fork` |
//! | [`sampler`] | Bernoulli, geometric, discrete Laplace and Gaussian, rounded normal, Student-t |
//! | [`mechanism`] | randomized response, Laplace, Gaussian, selection, Student-t, stable histogram |
//! | [`query`] | count, sum, mean, histograms, quantile, mode, best price, with their sensitivities |
//! | [`query::parts`] | sums over groups for units of several rows, and the figures of a page computed from them |
//! | [`bulk`] | Gaussian noise for vectors of 10⁵ to 10⁹ floats |
//! | [`grid`] | the power-of-two grids real values are rounded to |

pub mod bulk;
pub mod entropy;
mod error;
pub mod grid;
pub mod mechanism;
mod paid;
pub mod query;
pub mod sampler;
mod session;

pub use entropy::Entropy;
pub use error::NoiseError;
pub use mechanism::{Mechanism, PaidSource, Released, Releaser};
pub use paid::{Covering, Draws, Paid, PerRecord, Randomness};
pub use session::{Charging, NoiseSession, Payer};
