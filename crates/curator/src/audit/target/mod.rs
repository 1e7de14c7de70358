//! Stored models as targets of an audit: `open` reads what is public of a folder, `case` the records.

mod linear;
mod network;
mod repeats;

use super::case::{Case, RecordChoice};
use crate::folder::is_network;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::train::Computing;
use crate::watch::Work;
use linear::LinearTarget;
use reticent_attack::NetworkTraining;
use reticent_train::Examples;
use std::path::Path;

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

    /// Reads the records.
    pub(super) fn case(self, choice: &RecordChoice, session: &mut Session) -> Result<Case, Refusal> {
        match self {
            Self::Linear(target) => target.case(choice, session),
            Self::Network(target) => target.case(choice, session),
        }
    }
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

    /// What it was trained on, how many classes it has, and how it was trained.
    pub(super) fn training(self, session: &mut Session) -> Result<(Examples, u32, NetworkTraining), Refusal> {
        let classes = self.0.classes();
        let stage = session.watch().begin(Work::Thinking);
        stage.say("reading the data");
        let examples = self.0.examples(session.watch())?;
        drop(stage);
        let trained = self.0.trained(examples)?;
        Ok((trained.examples, classes, trained.training))
    }
}
