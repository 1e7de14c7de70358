//! From scores to statements: how strongly a model leaks who was in its training data, and what that proves.
//!
//! There are no models here. A [`Study`] holds what models said about records, whoever trained them.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Study`], [`Outputs`], [`Reference`] | what is known of a target model, its reference models and the records |
//! | [`Membership`] | scores of one attack beside the truth |
//! | [`bound`] | lower bounds on ε |
//! | [`interval`] | confidence limits for proportions |
//! | [`metrics`] | how well scores tell members from non-members |
//! | [`Findings`] | everything an audit says, as it is written to JSON |

pub mod bound;
mod error;
pub mod findings;
pub mod interval;
mod membership;
pub mod metrics;
mod study;

pub use error::AuditError;
pub use findings::Findings;
pub use membership::Membership;
pub use study::{Features, Outputs, OutputsKind, Reference, Study, StudyParts};
