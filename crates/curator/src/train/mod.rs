//! Networks by private descent.
//!
//! ```
//! use reticent_curator::train::{Train, Trained};
//! use reticent_curator::{Planned, Request, Session};
//!
//! // The bundled census records, a few steps.
//! let request = Train { epsilon: Some(1.0), delta: Some(1e-6), steps: Some(3), ..Train::default() };
//! let trained = request.check()?.run(&mut Session::without_limit()?)?;
//! let Trained::Finished(run) = trained else { panic!("nobody stopped it") };
//! assert!(run.steps == 3 && run.certificate.is_some());
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `request`, `resume` | what is asked for: the keys of `run.toml`; a run that goes on |
//! | `choice` | whether a network is meant, or a linear model |
//! | `settings` | its numbers checked, before data are read |
//! | `plan` | a request to a checked [`TrainPlan`]; opens files, reads no examples |
//! | `source`, `reader` | where data are, and how they become examples |
//! | `describe`, `computing` | the network; what computes it |
//! | `terms` | size, steps and noise; the certificate around the trainer's |
//! | `reference` | the reference records of an adversarial training |
//! | `federated` | parties that train together, and who holds what |
//! | `course` | the steps |
//! | `stored`, `kept` | the files of a run; its request, and whether it is the same |
//! | `run` | the whole of it, in order |
//! | `budgeted` | what a stored budget is charged for |
//! | `outcome` | the outcome |

mod budgeted;
mod choice;
mod computing;
mod course;
mod describe;
mod federated;
mod kept;
mod outcome;
mod plan;
mod reader;
mod reference;
mod request;
mod resume;
mod run;
mod settings;
mod source;
mod stored;
mod terms;

pub use crate::bill::Sizing;
pub use computing::device;
pub use federated::{Federated, FederatedMethod, FederatedUnit, PartyData, PartySplit, SplitRule};
pub use outcome::{
    AdversarialSummary, FederatedSummary, Finished, InterruptedTraining, NoiseSummary, Trained,
};
pub use plan::TrainPlan;
pub use reader::token_kind;
pub use request::{ClassNames, NoisyCount, OneOrMore, Train};
pub use resume::{Resume, stop_cause};
pub use reticent_data::text::TokenKind;
pub use reticent_train::Device;
pub use source::{GivenData, SourcePart, TrainData};

pub(crate) use computing::Computing;
pub(crate) use federated::{Holders, read as read_parties, sources, terms as federated_terms};
pub(crate) use plan::found;
pub(crate) use reader::{Input, Loaded, Reader};
pub(crate) use reference::{divide, source as reference_source};
pub(crate) use settings::{Settings, settle};
pub(crate) use source::{DataSources, Source, find, part_source};
pub(crate) use stored::{Stored, snapshots, verify};
pub(crate) use terms::{agree, size};
