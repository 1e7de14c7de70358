//! Named signals: numbers per record that a model or its training gives an attacker.

use crate::AuditError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of a score that the caller computed.
pub const SCORE: &str = "score";

/// The name by which attacks ask for the outputs of all classes, beside the true class.
pub const OUTPUTS: &str = "outputs";

/// The name of the signal with the norm of the gradient of the loss in all trained weights, negated: larger for members.
pub const GRADIENT_NORM: &str = "gradient-norm";

/// The name of the signal with the same norms layer by layer.
pub const GRADIENT_NORMS: &str = "gradient-norms";

/// The name of the signal with sorted norms of the gradient's rows in every layer, negated; a row belongs to one output of its layer.
pub const GRADIENT_ROWS: &str = "gradient-rows";

/// The name of the signal with the cosine between a record's gradient and the mean gradient of all audited records, negated: what
/// training has balanced for members points against nobody, what it has not points along the mean.
pub const GRADIENT_COSINE: &str = "gradient-cosine";

/// The name of the signal with the log-likelihood ratio of the weights between training with and without the record, for somebody who
/// knows all other training records, up to a factor.
pub const INVERSE_HESSIAN: &str = "inverse-hessian";

/// The name of the signal with how much the record's loss would rise if it were left out of the training, or would have fallen had it been
/// in, negated.
pub const SELF_INFLUENCE: &str = "self-influence";

/// The name of the signal with the norm of the gradient of the loss in the input, negated.
pub const INPUT_GRADIENT_NORM: &str = "input-gradient-norm";

/// The name of the signal with the share of noisy copies of a record whose class is predicted right.
pub const LABEL_ROBUSTNESS: &str = "label-robustness";

/// What of a model a signal is computed from: what the attacker must be able to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignalSource {
    /// A number that the caller computed; what it is made of is not known here.
    Given,
    /// The predicted class alone.
    LabelOnly,
    /// The outputs of all classes.
    Outputs,
    /// The loss of the record.
    Loss,
    /// The weights, by the gradient of the loss at the record.
    Gradients,
    /// The weights, by what inner layers compute on the record.
    Activations,
    /// The model at several steps of its training.
    Snapshots,
}

impl SignalSource {
    /// All of them, from what an attacker sees most easily.
    pub const ALL: [Self; 7] = [
        Self::Given,
        Self::LabelOnly,
        Self::Outputs,
        Self::Loss,
        Self::Gradients,
        Self::Activations,
        Self::Snapshots,
    ];

    /// What the attacker sees of the model, in words.
    pub fn access(self) -> &'static str {
        match self {
            Self::Given => "a score of each record, supplied by the auditor",
            Self::LabelOnly => "the predicted class of each record",
            Self::Outputs => "probabilities of all classes for each record",
            Self::Loss => "the loss of each record",
            Self::Gradients => "the weights, and with them the gradient of the loss at each record",
            Self::Activations => "the weights, and with them the activations of inner layers on each record",
            Self::Snapshots => "the model at several steps of its training",
        }
    }

    /// Whether the attacker needs the weights, not only answers to queries.
    pub fn is_white_box(self) -> bool {
        matches!(self, Self::Gradients | Self::Activations | Self::Snapshots)
    }
}

/// One signal of one model: the same number of values for every record. A single value is larger for members, so that a threshold
/// on it is an attack; several values are features for an attack that learns what to make of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalValues {
    provenance: SignalSource,
    width: usize,
    values: Vec<f64>,
}

impl SignalValues {
    /// One value per record.
    pub fn scalar(provenance: SignalSource, values: Vec<f64>) -> Self {
        Self { provenance, width: 1, values }
    }

    /// Several values per record, record by record, such as one per layer or per snapshot.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a width of 0, and for a number of values that is not a multiple of it.
    pub fn rows(provenance: SignalSource, width: usize, values: Vec<f64>) -> Result<Self, AuditError> {
        if width == 0 || !values.len().is_multiple_of(width) {
            let value = format!("{} values of width {width}", values.len());
            return Err(AuditError::invalid(
                "signal",
                value,
                "give the same number of values for every record",
            ));
        }
        Ok(Self { provenance, width, values })
    }

    /// What it is computed from.
    pub fn provenance(&self) -> SignalSource {
        self.provenance
    }

    /// How many values a record has; at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values, record by record.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of some records, in the given order.
    pub fn some(&self, records: &[usize]) -> Self {
        let row = |record: &usize| &self.values[record * self.width..(record + 1) * self.width];
        let values = records.iter().flat_map(row).copied().collect();
        Self { provenance: self.provenance, width: self.width, values }
    }

    /// One value of every record.
    pub(crate) fn column(&self, column: usize) -> Vec<f64> {
        self.values.iter().skip(column).step_by(self.width).copied().collect()
    }
}

/// The signals of one model, by name, in the order of their names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signals {
    named: BTreeMap<String, SignalValues>,
}

impl Signals {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// The caller's own score of every record, under the name [`SCORE`].
    pub fn of_scores(scores: Vec<f64>) -> Self {
        Self::default().with(SCORE, SignalValues::scalar(SignalSource::Given, scores))
    }

    /// The same signals and one more; it replaces one of the same name.
    pub fn with(mut self, name: impl Into<String>, values: SignalValues) -> Self {
        self.insert(name, values);
        self
    }

    /// Adds a signal; it replaces one of the same name.
    pub fn insert(&mut self, name: impl Into<String>, values: SignalValues) {
        self.named.insert(name.into(), values);
    }

    /// The same signals and others; they replace those of the same names.
    pub fn and(mut self, others: Self) -> Self {
        self.named.extend(others.named);
        self
    }

    /// The signal of a name.
    pub fn get(&self, name: &str) -> Option<&SignalValues> {
        self.named.get(name)
    }

    /// The caller's own score of every record.
    pub fn score(&self) -> Option<&[f64]> {
        self.get(SCORE).map(SignalValues::values)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SignalValues)> {
        self.named.iter().map(|(name, values)| (name.as_str(), values))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The signals of some records, in the given order.
    pub fn some(&self, records: &[usize]) -> Self {
        Self { named: self.named.iter().map(|(name, v)| (name.clone(), v.some(records))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_rows() {
        let wide =
            SignalValues::rows(SignalSource::Gradients, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((wide.len(), wide.width()), (3, 2));
        assert_eq!(wide.some(&[2, 0]).values(), [5.0, 6.0, 1.0, 2.0]);
        assert_eq!(wide.column(1), [2.0, 4.0, 6.0]);
        assert!(SignalValues::rows(SignalSource::Loss, 2, vec![0.0; 3]).is_err());
        assert!(SignalValues::rows(SignalSource::Loss, 0, Vec::new()).is_err());
        let signals = Signals::of_scores(vec![0.5, 0.25, 0.75]).with("gradient-norms", wide);
        let names: Vec<&str> = signals.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["gradient-norms", SCORE]);
        assert_eq!(signals.some(&[1]).score(), Some(&[0.25][..]));
    }

    #[test]
    fn access_is_said_of_every_provenance() {
        let said: std::collections::BTreeSet<&str> = SignalSource::ALL.iter().map(|p| p.access()).collect();
        assert_eq!(said.len(), SignalSource::ALL.len());
        assert!(SignalSource::Gradients.is_white_box() && !SignalSource::Outputs.is_white_box());
    }
}
