//! Stored models as targets of an audit: `open` reads what is public of a folder, `case` the records.

mod author;
mod federated;
mod linear;
mod network;
mod repeats;

pub(super) use federated::{FederatedCase, FederatedTarget};
pub(super) use linear::FittedRows;
pub(super) use network::TrainedExamples;

use super::case::{Case, RecordChoice};
use crate::folder::{Content, is_network};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::train::{Computing, Device};
use crate::watch::{Watch, Work};
use linear::LinearTarget;
use reticent_attack::federated::FederatedSetup;
use reticent_attack::{AttackError, AuthorUnit, NetworkTraining};
use reticent_audit::Signals;
use reticent_core::Code;
use reticent_data::text::Vocabulary;
use reticent_train::Examples;
use std::path::{Path, PathBuf};

/// A stored model, with what it was trained on and what it was not.
pub(super) enum Target {
    /// From a table, by one set of weights a class.
    Linear(Box<LinearTarget>),
    /// By layers.
    Network(Box<network::Compared>),
}

impl Target {
    /// The model of a folder; `others` are data that it was not trained on.
    pub(super) fn open(folder: &Path, others: Option<&Path>, computing: Computing) -> Result<Self, Refusal> {
        Ok(match is_network(folder) {
            true => Self::Network(Box::new(network::Compared::open(folder, others, computing)?)),
            false => {
                let target = LinearTarget::open(folder, others)?;
                computing.check_linear()?;
                Self::Linear(Box::new(target))
            }
        })
    }

    /// The column whose values are the units that are audited; none where a row is one.
    pub(super) fn unit_column(&self) -> Option<&str> {
        match self {
            Self::Linear(_) => None,
            Self::Network(target) => target.target.unit_column(),
        }
    }

    /// Reads the records.
    pub(super) fn case(self, choice: &RecordChoice, session: &mut Session) -> Result<Case, Refusal> {
        match self {
            Self::Linear(target) => target.case(choice, session),
            Self::Network(target) => target.case(choice, session),
        }
    }
}

/// Signals of attackers who know all other training records; none where the model is not of a kind that has them.
fn informed(found: Result<Signals, AttackError>) -> Result<Signals, Refusal> {
    match found {
        Err(AttackError::Invalid(_)) => Ok(Signals::none()),
        found => Ok(found?),
    }
}

/// A stored model whose training records are looked at, and others where they are known.
pub(super) struct Opened {
    kind: OpenedKind,
    others: Option<PathBuf>,
}

enum OpenedKind {
    Linear(Box<LinearTarget>),
    Network(Box<network::NetworkTarget>),
}

/// A model with its records.
pub(super) enum WithRecords {
    /// From a table, by one set of weights a class.
    Linear(Box<FittedRows>),
    /// By layers.
    Network(Box<TrainedExamples>),
}

impl Opened {
    /// The model of a folder; `others` are data that it was not trained on.
    pub(super) fn open(folder: &Path, others: Option<&Path>) -> Result<Self, Refusal> {
        let kind = match is_network(folder) {
            true => {
                let computing = Computing::new(Device::Cpu, None, None);
                OpenedKind::Network(Box::new(network::NetworkTarget::open(folder, computing)?))
            }
            false => OpenedKind::Linear(Box::new(LinearTarget::alone(folder, others)?)),
        };
        Ok(Self { kind, others: others.map(Path::to_owned) })
    }

    /// Reads the records.
    pub(super) fn with_records(self, watch: &dyn Watch) -> Result<WithRecords, Refusal> {
        let stage = watch.begin(Work::Thinking);
        stage.say("reading the data");
        Ok(match self.kind {
            OpenedKind::Linear(target) => WithRecords::Linear(Box::new(target.fitted(watch)?)),
            OpenedKind::Network(target) => {
                WithRecords::Network(Box::new(target.with_examples(self.others.as_deref(), watch)?))
            }
        })
    }
}

/// Which records have the content of another one, so that it is not known who is a member: members first, then others.
pub(super) fn repeated(members: Content<'_>, others: Content<'_>) -> Result<Vec<bool>, Refusal> {
    Ok(repeats::Repeats::of(members, others)?.is_repeated)
}

/// The refusal of members as non-members.
fn same_data(name: &str) -> Refusal {
    let remedy = "the training data themselves are in there: give data that the model was not trained on";
    Refusal::conflict("non_members", name, remedy)
}

/// A stored network whose training is repeated.
pub(super) struct Repeated(network::NetworkTarget);

impl Repeated {
    /// The network of a folder.
    pub(super) fn open(folder: &Path, computing: Computing) -> Result<Self, Refusal> {
        Ok(Self(network::NetworkTarget::open(folder, computing)?))
    }

    /// Whether parties trained by averages of their models, so that canaries are parties.
    pub(super) fn is_averaged(&self) -> bool {
        self.0.is_averaged()
    }

    /// The federation that the run was.
    pub(super) fn federation(self, key: &str, session: &mut Session) -> Result<FederatedSetup, Refusal> {
        let (examples, holders) = self.0.held(session.watch())?;
        let setup = match &holders {
            Some(holders) => self.0.setup(&examples, holders, key)?,
            None => None,
        };
        setup.ok_or_else(|| Refusal::internal("a federation without parties"))
    }

    /// What it was trained on, how many classes it has, and how it was trained.
    pub(super) fn training(self, session: &mut Session) -> Result<(Examples, u32, NetworkTraining), Refusal> {
        let classes = self.0.classes();
        let stage = session.watch().begin(Work::Thinking);
        stage.say("reading the data");
        let examples = self.0.examples(session.watch())?;
        drop(stage);
        let units = examples.0.len();
        let trained = self.0.trained(examples, units)?;
        if trained.references.is_some() {
            let text = "the run was trained with ⟦adversarial⟧, which canaries are not planted into: audit it with reference models";
            return Err(Refusal::new(Code::Premise, text));
        }
        Ok((trained.examples, classes, trained.training))
    }
}

/// A stored language model whose training is repeated.
pub(super) struct RepeatedTexts(network::NetworkTarget, Vocabulary);

/// What a language model was trained on, and how.
pub(super) struct TextsToRepeat {
    pub(super) examples: Examples,
    /// The unit of every example, and how many of its examples enter a step; none where every example is a unit.
    pub(super) owners: Option<(Vec<u32>, AuthorUnit)>,
    /// Whether the unit is an author with all samples.
    pub(super) is_by_author: bool,
    pub(super) training: NetworkTraining,
}

impl RepeatedTexts {
    /// The language model of a folder.
    pub(super) fn open(folder: &Path, computing: Computing) -> Result<Self, Refusal> {
        let target = network::NetworkTarget::open_any(folder, computing)?;
        let vocabulary = target.stored.reader.vocabulary.clone();
        match vocabulary.filter(|_| target.stored.reader.is_language()) {
            Some(vocabulary) => Ok(Self(target, vocabulary)),
            None => {
                let why = "not a language model: secrets are planted in texts whose next token is predicted";
                Err(Refusal::new(Code::Premise, format!("{}: {why}", folder.display())))
            }
        }
    }

    /// Its vocabulary.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.1
    }

    /// Reads the texts, and settles the terms as the run did.
    pub(super) fn training(self, session: &mut Session) -> Result<TextsToRepeat, Refusal> {
        let stage = session.watch().begin(Work::Thinking);
        stage.say("reading the data");
        let loaded = self.0.loaded(session.watch())?;
        drop(stage);
        let (most, is_private) = (self.0.run.examples_per_user, self.0.run.is_private());
        let units = loaded.units(most, is_private)?.len();
        let cap = most.map(|most| most as usize);
        let is_by_author = loaded.users.is_some();
        // As the units of the training are.
        let owners = match (loaded.users, loaded.rows) {
            (Some(users), _) => Some((users, AuthorUnit { samples_per_step: cap })),
            (None, Some(rows)) if is_private || cap.is_some() => {
                Some((rows, AuthorUnit { samples_per_step: cap.or(Some(1)) }))
            }
            _ => None,
        };
        let trained = self.0.trained((loaded.examples, None), units)?;
        Ok(TextsToRepeat { examples: trained.examples, owners, is_by_author, training: trained.training })
    }
}
