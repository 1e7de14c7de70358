//! From scores to statements: how strongly a model leaks who was in its training data, and what that proves.
//!
//! There are no models here. A [`Study`] holds what models said about records, whoever trained them.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Study`], [`Outputs`], [`Reference`] | what is known of a target model, its reference models and the records |
//! | [`Membership`] | scores of one attack beside the truth |
//! | [`Draw`], [`Game`], [`Unit`] | how members were drawn, and whom a bound is about |
//! | [`overfitting`] | accuracy on both sides beside the simplest attack |
//! | [`bound`] | lower bounds on ε |
//! | [`comparison`] | a lower bound beside a certificate |
//! | [`interval`] | confidence limits for proportions |
//! | [`metrics`] | how well scores tell members from non-members |
//! | [`signal`], [`attacks`], [`boost`] | from outputs to scores |
//! | [`table`] | studies from files |
//! | [`baseline`](mod@baseline) | what is told without a model |
//! | [`vulnerability`] | who is at risk |
//! | [`examine`] | a whole audit |
//! | [`Findings`] | everything an audit says that may be shared, as it is written to JSON |
//! | [`private`] | what gives away who is a member |

pub mod attacks;
pub mod baseline;
pub mod boost;
pub mod bound;
pub mod comparison;
mod draw;
mod encode;
mod error;
mod examine;
pub mod findings;
pub mod interval;
mod membership;
pub mod metrics;
mod overfitting;
pub mod private;
mod rank;
mod rows;
pub mod signal;
mod study;
pub mod table;
pub mod vulnerability;

pub use attacks::{Attack, AttackScores, AttackSettings};
pub use draw::{Draw, Game, Unit};
pub use error::AuditError;
pub use examine::{Examination, ExamineSettings, examine};
pub use findings::Findings;
pub use membership::Membership;
pub use overfitting::{Overfitting, overfitting};
pub use signal::Signal;
pub use study::{Features, Outputs, OutputsKind, Reference, Study, StudyParts};
