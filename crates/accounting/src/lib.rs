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
//! | [`tight`] | the distribution of the privacy loss, with certified upper and lower bounds |
//! | [`account`] | one accountant over all of these: compose, ask, budget left |
//! | [`filter`] | plans chosen by earlier answers: filters, an odometer, a budget |
//! | [`correlated`] | the sensitivity of banded matrix factorization |
//! | [`calibrate`] | the noise, steps or sampling rate for a budget |
//! | [`certify()`] | the certificate of events that were fixed beforehand |
//! | [`verify()`] | whether a certificate's claim follows from its events |
//! | [`tradeoff`] | what an attacker can achieve |
//! | [`reconstruction`] | how often a record or an attribute can be recovered |
//! | [`posterior`] | how far an output can move a belief |
//! | [`textbook`] | closed formulas of the textbooks, in their ranges |
//! | [`words`] | events in words |
//!
//! What is known of a kind of event (its curve, its loss, what it becomes for a group, its words) stands in one file under
//! `src/kind/`; the rooms above ask it there.
//!
//! Everything here knows nothing of data, tensors or files.

pub mod account;
pub mod amplification;
pub mod calibrate;
mod cells;
mod certify;
mod clipped;
pub mod composition;
pub mod correlated;
mod error;
pub mod filter;
pub mod group;
mod kind;
pub mod moments;
pub mod optimal;
pub mod posterior;
pub mod rdp;
pub mod reconstruction;
pub mod textbook;
pub mod tight;
pub mod tradeoff;
mod verify;
pub mod words;

pub use account::{Accountant, CertifiedBounds, CompositionMethod, Standing};
pub use certify::certify;
pub use error::AccountingError;
pub use verify::{Verdict, verify};

#[cfg(test)]
mod tests;
