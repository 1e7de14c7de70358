//! Linear models from tables.
//!
//! ```
//! use reticent_curator::fit::Fit;
//! use reticent_curator::{Planned, Request, Session};
//!
//! // The bundled census records, at ε = 1.
//! let request = Fit { epsilon: Some(1.0), ..Fit::default() };
//! let fitted = request.check()?.run(&mut Session::without_limit()?)?;
//! assert!(fitted.accuracy.is_some_and(|accuracy| accuracy > 0.8));
//! assert!(fitted.certificate.is_some_and(|certificate| certificate.guarantee.epsilon.get() <= 1.0));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `request` | the request |
//! | `plan` | a request to a checked [`FitPlan`]; opens files, reads no rows |
//! | `task` | the learning task by the label: two classes, several, a number |
//! | `rows` | tables to rows |
//! | `model` | how many rows there are as far as is public; rows to a model |
//! | `held_out` | the accuracy on held-out rows, released with noise |
//! | `claim` | the certificate, and its caveats |
//! | `stored`, `kept` | the files of a model; its request |
//! | `run` | the whole of it, in order |
//! | `budgeted` | what a stored budget is charged for |
//! | `outcome` | the outcome |

mod budgeted;
mod claim;
mod held_out;
mod kept;
mod model;
mod outcome;
mod plan;
mod request;
mod rows;
mod run;
mod stored;
mod task;

pub use crate::bill::Sizing;
pub use outcome::{Fitted, Test};
pub use plan::{FitPlan, FitTables};
pub use request::{Fit, LinearModel, method};

pub(crate) use claim::public_warnings;
pub(crate) use held_out::{Score, Tally, Tested, unscaled};
pub(crate) use kept::read as read_request;
pub(crate) use model::reference_terms;
pub(crate) use rows::{encode, read, unlabelled};
pub(crate) use stored::{Stored, certificate as stored_certificate, verify};
pub(crate) use task::Task;

#[cfg(test)]
mod tests;
