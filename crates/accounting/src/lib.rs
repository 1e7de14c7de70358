//! What events add up to. The theorems of the courses stand here each under its own name, and the
//! Rényi accountant composes a curve per event in one place.
//!
//! | room | what is in it |
//! |---|---|
//! | [`composition`] | basic, advanced, the Rényi-derived form, parallel |
//! | [`optimal`] | optimal composition of (ε, δ) mechanisms, equal and unequal |
//! | [`amplification`] | subsampling of an (ε, δ) mechanism |
//! | [`group`] | group privacy |
//! | [`rdp`] | Rényi curves of events, conversion to (ε, δ), bad outcomes |
//! | [`moments`] | the moments accountant, for comparison |
//!
//! Everything here knows nothing of data, tensors or files.

pub mod amplification;
pub mod composition;
mod error;
pub mod group;
pub mod moments;
pub mod optimal;
pub mod rdp;
pub mod tight;

pub use error::AccountingError;

#[cfg(test)]
mod tests;
