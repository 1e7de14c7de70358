//! The learning task of a label.

use super::request::LinearModel;
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::Schema;
use reticent_data::schema::{Bounds, LabelKind};
use reticent_erm::MarginLoss;

/// The radius of weights for which the squared loss is exact: predictions from -1 to 1 are well inside.
const RIDGE: MarginLoss = MarginLoss::Squared { radius: 1.0 };

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
    pub(crate) fn of(schema: &Schema) -> Result<Self, Refusal> {
        let Some(label) = schema.label() else {
            return Err(Refusal::missing("[label]", "the schema has no label: add the column to predict")
                .coded(Code::Schema));
        };
        Ok(match &label.target {
            LabelKind::Binary { positive } => Self::Binary { positive: positive.clone() },
            LabelKind::Classes { categories, .. } => Self::Classes { labels: categories.labels().to_vec() },
            LabelKind::Number(bounds) => Self::Number(*bounds),
        })
    }

    /// The loss of a model; of the usual one where none is named.
    pub(crate) fn loss(&self, model: Option<LinearModel>) -> Result<MarginLoss, Refusal> {
        let refuse = |model: LinearModel, remedy: &str| Err(Refusal::conflict("model", model.name(), remedy));
        match (model, self) {
            (None | Some(LinearModel::Logistic), Self::Binary { .. } | Self::Classes { .. }) => {
                Ok(MarginLoss::Logistic)
            }
            (Some(LinearModel::Svm), Self::Binary { .. } | Self::Classes { .. }) => Ok(MarginLoss::SVM),
            (None | Some(LinearModel::Ridge), Self::Number(_))
            | (Some(LinearModel::Ridge), Self::Binary { .. }) => Ok(RIDGE),
            (Some(model), Self::Number(_)) => {
                refuse(model, "the label is a number: give ridge, or a label with positive or categories")
            }
            (Some(model @ LinearModel::Ridge), Self::Classes { .. }) => {
                refuse(model, "the label has several classes: give logistic or svm")
            }
        }
    }

    /// Whether labels are classes.
    pub(crate) fn is_classification(&self) -> bool {
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
    pub(crate) fn class_of(&self, label: f64) -> usize {
        match self {
            Self::Binary { .. } => usize::from(label > 0.0),
            // The encoder wrote the position.
            _ => label as usize,
        }
    }
}

/// The model of a loss.
pub(crate) fn model_of(loss: MarginLoss) -> LinearModel {
    match loss {
        MarginLoss::Logistic => LinearModel::Logistic,
        MarginLoss::Huber { .. } => LinearModel::Svm,
        MarginLoss::Squared { .. } => LinearModel::Ridge,
    }
}
