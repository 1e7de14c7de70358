//! The vocabulary of all other crates: checked quantities ([`Epsilon`], [`Delta`], …),
//! the neighbouring relation, the [`Event`] language between mechanisms and accountants, the
//! [`Certificate`] a release leaves behind, and arithmetic with a stated rounding side.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Epsilon`], [`Delta`], [`Confidence`], … | numbers that were checked once, when they were made |
//! | [`Neighboring`] | what is hidden: that a record is there, or what it holds |
//! | [`Event`], [`EventLog`] | what happened to private data, with a stable JSON form |
//! | [`event`] | the one list of kinds, their keys, the walk through them, the reader of files |
//! | [`Plan`], [`Ledger`], [`Permit`] | what is to be drawn, the record of it, and the right to draw that follows |
//! | [`Guarantee`], [`Certificate`], [`Fact`], [`GradientPremise`] | what it adds up to, and all that the claim rests on |
//! | [`rounding`] | sums, products and roots that err on a stated side |
//! | [`special`] | the error function, normal tails and others, each with its accuracy |
//! | [`profile`] | δ as a function of ε for Gaussian noise, and back |
//! | [`Partial`] | summaries of parts of a table that merge exactly |
//! | [`InvalidValue`] | a refused number: field, value, remedy |
//! | [`Code`], [`Coded`] | what kind of mistake an error is, for scripts and for `reticent explain` |
//!
//! Nothing here draws randomness, reads files or knows about data.

mod certificate;
mod code;
mod error;
pub mod event;
mod fact;
mod ledger;
mod neighboring;
mod partial;
mod premise;
pub mod profile;
mod quantity;
pub mod rounding;
pub mod special;

pub use certificate::{Certificate, Guarantee};
pub use code::{Code, Coded, Explanation};
pub use error::{Cause, InvalidValue};
pub use event::{Event, EventKey, EventLog};
pub use fact::{Fact, PublicFile};
pub use ledger::{
    Ledger, LedgerError, Permit, Plan, SessionId, ShareError, Unlimited, Unpaid, charge, charge_in,
};
pub use neighboring::Neighboring;
pub use partial::{MergeError, Partial};
pub use premise::{GradientPremise, LossReduction, MixingCheck};
pub use quantity::{
    Confidence, Delta, Epsilon, Mu, NoiseMultiplier, Order, Probability, Rho, SamplingRate, Scale,
    Sensitivity,
};
