//! Attacks on our own models: what they say about records that were or were not in their training data.
//!
//! This crate trains models and asks them. Scores, error rates and bounds are made of its tables by `reticent-audit`.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Population`] | the records, apart from any model |
//! | [`learner`] | how a model is made of some records and asked about all: networks and linear models |
//! | [`reference`](mod@reference) | many such models on known halves, in jobs that can be split, stopped and resumed |
//! | [`target_study`], [`as_target`] | a model under attack beside its references, as a [`Study`](reticent_audit::Study) |
//! | [`canary`] | records planted by coin flips, for audits of a single run |

pub mod canary;
mod error;
pub mod learner;
mod population;
pub mod reference;
mod target;

pub use error::AttackError;
pub use learner::{
    Learner, LinearLearner, LinearSettings, NetworkLearner, NetworkTraining, WithBackground, network_outputs,
};
pub use population::Population;
pub use reference::{Design, Fitted, Job, Progress, ReferencePlan, ReferenceSettings, Run, Store};
pub use target::{as_target, target_study};
