//! A search for the settings of a private training, with its whole cost.
//!
//! A search draws a random number of trials. Each draws settings at random, trains with privacy and is scored; the best is kept, and
//! nothing of the others is shown or stored, not even how many there were. The certificate states the event `repeat_and_select`.
//!
//! ```
//! use reticent_curator::train::Train;
//! use reticent_curator::tune::Tune;
//! use reticent_curator::{Planned, Request, Session};
//!
//! // The bundled census records, a few steps.
//! let train = Train {
//!     model: Some("mlp".to_owned()),
//!     epsilon: Some(4.0),
//!     delta: Some(1e-6),
//!     dataset_size: Some(20_000),
//!     steps: Some(3),
//!     ..Train::default()
//! };
//! let search = "learning-rate=0.1..1 log, clip=0.5|1".to_owned();
//! let request = Tune { train, search, trials: Some(2.0), ..Tune::default() };
//! let tuned = request.check()?.run(&mut Session::without_limit()?)?;
//! assert!(tuned.certificate.guarantee.epsilon.get() <= 4.0 && tuned.chosen.len() == 2);
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `request` | what is asked for |
//! | `search` | the settings that are searched, and candidates drawn from them |
//! | `plan` | a request to a checked [`TunePlan`] |
//! | `price` | the noise of a trial, within the budget of all |
//! | `run` | the trials, and the best of them |
//! | `outcome` | the outcome |

mod outcome;
mod plan;
mod price;
mod request;
mod run;
mod search;

pub use outcome::Tuned;
pub use plan::TunePlan;
pub use request::Tune;

#[cfg(test)]
mod tests;
