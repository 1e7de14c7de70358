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
//! | `recipe` | the defaults of trainings on images |
//! | `augment` | copies of images that are trained on together |
//! | `settings` | its numbers checked, before data are read |
//! | `plan` | a request to a checked [`TrainPlan`]; opens files, reads no examples |
//! | `source`, `reader` | where data are, and how they become examples |
//! | `describe`, `computing` | the network; what computes it |
//! | `prepare` | examples as the network reads them: the features of images |
//! | `start` | public weights, word vectors and public data to start from |
//! | `text` | the defaults of texts |
//! | `cyclic` | batches that come round in every epoch, with correlated noise |
//! | `growth` | batches that grow during a run |
//! | `terms` | size, steps and noise; the certificate around the trainer's |
//! | `held_out` | units that are not trained on, and the noisy score on them |
//! | `evaluations` | noisy scores on them during a run, which may end it |
//! | `reference` | the reference records of an adversarial training |
//! | `federated` | parties that train together, and who holds what |
//! | `course` | the steps |
//! | `stored`, `kept` | the files of a run; its request, and whether it is the same |
//! | `run` | the whole of it, in order |
//! | `budgeted` | what a stored budget is charged for |
//! | `outcome` | the outcome |
//! | `steps` | samples, noise and count for another framework's gradients |

mod augment;
mod budgeted;
mod choice;
mod computing;
mod course;
mod cyclic;
mod describe;
mod encoding;
mod evaluations;
mod federated;
mod growth;
mod held_out;
mod kept;
mod outcome;
mod plan;
mod prepare;
mod reader;
mod recipe;
mod reference;
mod request;
mod resume;
mod run;
mod settings;
mod source;
mod start;
mod steps;
mod stored;
mod terms;
mod text;

pub use crate::bill::Sizing;
pub use augment::augmentation;
pub use computing::device;
pub use evaluations::HeldOutEvaluation;
pub use federated::{Federated, FederatedMethod, FederatedUnit, PartyData, PartySplit, SplitRule};
pub use held_out::HeldOutScore;
pub use outcome::{
    AdversarialSummary, FederatedSummary, Finished, GrowthSummary, InitSummary, InterruptedTraining,
    NoiseSummary, PretrainSummary, StageSummary, StartSummary, Trained, VectorsSummary,
};
pub use plan::TrainPlan;
pub use reader::token_kind;
pub use request::{ClassNames, NoisyCount, OneOrMore, Train};
pub use resume::{Resume, stop_cause};
pub use reticent_data::text::TokenKind;
pub use reticent_train::cuda::{GuestJob, GuestJobs, GuestSums};
pub use reticent_train::graph::{Geometry, Window};
pub use reticent_train::{
    Augmentation, ConvGradients, ConvLengths, ConvPass, CyclicBatches, Denoising, Device, NoiseLaw, Spread,
    Team,
};
pub use source::{GivenData, SourcePart, TrainData};
pub use steps::{StepCourse, StepStanding, TrainSteps};

pub(crate) use computing::Computing;
pub(crate) use federated::{Holders, read as read_parties, sources, terms as federated_terms};
pub(crate) use held_out::{HeldOut, HeldOutTest, divide as hold_out};
pub(crate) use plan::found;
pub(crate) use prepare::{ExampleSets, prepare};
pub(crate) use reader::{Input, Loaded, Reader};
pub(crate) use recipe::fill;
pub(crate) use reference::{divide, source as reference_source};
pub(crate) use run::{map_facts, network};
pub(crate) use settings::{Budget, Settings, settle};
pub(crate) use source::{DataSources, Source, find, part_source};
pub(crate) use start::Start;
pub(crate) use stored::{Stored, finish, snapshots, verify, write_certificate, write_public, write_run};
pub(crate) use terms::{AgreedTerms, Size, agree, agree_by, counting, size};
pub(crate) use text::recipe as text_recipe;
