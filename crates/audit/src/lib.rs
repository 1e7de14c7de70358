//! From scores to statements: how strongly a model leaks who was in its training data, and what that proves.
//!
//! This crate trains no models. A [`Study`] holds what models said about records, whichever tool trained them.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Study`], [`Outputs`], [`Reference`] | what is known of a target model, its reference models and the records |
//! | [`Signals`], [`SignalView`], [`SignalSource`] | named numbers per record, and what an attacker must see to have them |
//! | [`Membership`] | scores of one attack beside the truth |
//! | [`Draw`], [`Game`], [`AuditUnit`] | how members were drawn, and whom a bound is about |
//! | [`overfitting`] | accuracy on both sides beside the simplest attack |
//! | [`bound`] | lower bounds on ε |
//! | [`comparison`] | a lower bound beside a certificate |
//! | [`interval`] | confidence limits for proportions |
//! | [`metrics`] | how well scores tell members from non-members |
//! | [`signal`], [`boost`] | from outputs to signals; boosted trees |
//! | [`Attack`], [`Registry`], [`attacks`] | from signals to scores: one file and one line of the registry per attack |
//! | [`table`] | studies from files |
//! | [`baseline`](mod@baseline) | what is told without a model |
//! | [`vulnerability`] | who is at risk |
//! | [`examine`] | a whole audit |
//! | [`Findings`] | everything an audit says that may be shared, as it is written to JSON |
//! | [`disclosure`] | findings about attributes, whole records and the course of a training |
//! | [`exposure`] | how far a planted secret is preferred to all others of its format |
//! | [`private`] | what gives away who is a member |

pub mod attacks;
pub mod baseline;
pub mod boost;
pub mod bound;
pub mod comparison;
pub mod defence;
pub mod disclosure;
mod draw;
mod encode;
mod error;
mod examine;
pub mod exposure;
pub mod findings;
pub mod interval;
mod median;
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

pub use attacks::{Attack, AttackScores, AttackSettings, Registry};
pub use draw::{AuditUnit, Draw, Game};
pub use error::AuditError;
pub use examine::{Examination, ExamineSettings, examine};
pub use findings::Findings;
pub use median::median;
pub use membership::Membership;
pub use overfitting::{Overfitting, overfitting};
pub use signal::Signal;
pub use study::{
    Features, GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM,
    INVERSE_HESSIAN, LABEL_ROBUSTNESS, OUTPUTS, Outputs, OutputsKind, Reference, SCORE, SELF_INFLUENCE,
    SignalSource, SignalValues, SignalView, Signals, Study, StudyParts,
};
