//! What the label makes of the problem.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::data::Schema;
use reticent::data::schema::{Bounds, Target};
use reticent::erm::Loss;

/// The radius of weights for which the squared loss is exact: predictions from -1 to 1 are well inside.
const RIDGE: Loss = Loss::Squared { radius: 1.0 };

/// What is predicted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Task {
    /// One label against every other.
    Binary { positive: String },
    /// One of several labels.
    Classes { labels: Vec<String> },
    /// A number between bounds, which are -1 and 1 to the model.
    Number(Bounds),
}

impl Task {
    /// The task of a schema; its label is needed.
    pub(crate) fn of(schema: &Schema) -> Result<Self, Fail> {
        let Some(label) = schema.label() else {
            return Err(Fail::missing("[label]", "the schema names none: say which column to predict")
                .coded(Code::Schema));
        };
        Ok(match &label.target {
            Target::Binary { positive } => Self::Binary { positive: positive.clone() },
            Target::Classes { categories, .. } => Self::Classes { labels: categories.labels().to_vec() },
            Target::Number(bounds) => Self::Number(*bounds),
        })
    }

    /// The loss of a model by name.
    pub(super) fn loss(&self, model: Option<&str>) -> Result<Loss, Fail> {
        let refuse = |name: &str, remedy: &str| Err(Fail::conflict("--model", name, remedy));
        match (model, self) {
            (None | Some("logistic"), Self::Binary { .. } | Self::Classes { .. }) => Ok(Loss::Logistic),
            (Some("svm"), Self::Binary { .. } | Self::Classes { .. }) => Ok(Loss::SVM),
            (None | Some("ridge"), Self::Number(_)) | (Some("ridge"), Self::Binary { .. }) => Ok(RIDGE),
            (Some(name @ ("logistic" | "svm")), Self::Number(_)) => {
                refuse(name, "the label is a number: give ridge, or a label with positive or categories")
            }
            (Some("ridge"), Self::Classes { .. }) => {
                refuse("ridge", "the label has several classes: give logistic or svm")
            }
            (Some(name), _) => Err(Fail::unknown("--model", name, "unknown: give logistic, svm or ridge")),
        }
    }

    /// Whether labels are classes.
    pub(super) fn is_classification(&self) -> bool {
        !matches!(self, Self::Number(_))
    }

    /// The names of the classes; none for a number.
    pub(crate) fn classes(&self) -> Vec<String> {
        match self {
            Self::Binary { positive } => vec![format!("not {positive}"), positive.clone()],
            Self::Classes { labels } => labels.clone(),
            Self::Number(_) => Vec::new(),
        }
    }

    /// The class of a label as the encoder writes it.
    pub(super) fn class_of(&self, label: f64) -> usize {
        match self {
            Self::Binary { .. } => usize::from(label > 0.0),
            // The encoder wrote the position.
            _ => label as usize,
        }
    }
}

/// The name of a loss on the command line.
pub(super) fn model_name(loss: Loss) -> &'static str {
    match loss {
        Loss::Logistic => "logistic",
        Loss::Huber { .. } => "svm",
        Loss::Squared { .. } => "ridge",
    }
}
