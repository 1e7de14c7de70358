//! What a model said about records: one number per class.

use crate::AuditError;

/// Whether numbers per class are before or after the softmax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputsKind {
    /// Before: any finite numbers.
    Logits,
    /// After: between 0 and 1, and 1 in sum.
    Probabilities,
}

/// What one model said about every record: one number per class, record by record.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    kind: OutputsKind,
    classes: usize,
    values: Vec<f32>,
    /// The smallest probability above 0.
    resolution: f32,
}

impl Outputs {
    /// Checked outputs.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for fewer than 2 classes, a number of values that is not a multiple of the classes, values that
    /// are not finite, and probabilities outside of 0..1 or with a sum further than 1e-3 from 1.
    pub fn new(kind: OutputsKind, classes: usize, values: Vec<f32>) -> Result<Self, AuditError> {
        if classes < 2 {
            return Err(AuditError::invalid("classes", classes, "give outputs for at least 2"));
        }
        if !values.len().is_multiple_of(classes) {
            let remedy = format!("give {classes} for every record");
            return Err(AuditError::invalid("outputs", format!("{} values", values.len()), remedy));
        }
        for (record, row) in values.chunks_exact(classes).enumerate() {
            let odd = match kind {
                OutputsKind::Logits => row.iter().find(|v| !v.is_finite()),
                OutputsKind::Probabilities => row.iter().find(|v| !(0.0..=1.0).contains(*v)),
            };
            if let Some(odd) = odd {
                let remedy = match kind {
                    OutputsKind::Logits => "give finite logits",
                    OutputsKind::Probabilities => {
                        "give probabilities between 0 and 1, or name the columns logits"
                    }
                };
                return Err(AuditError::invalid(
                    "outputs",
                    format!("{odd} in record {}", record + 1),
                    remedy,
                ));
            }
            let sum: f32 = row.iter().sum();
            if kind == OutputsKind::Probabilities && (sum - 1.0).abs() > 1e-3 {
                let value = format!("probabilities that add up to {sum} in record {}", record + 1);
                return Err(AuditError::invalid(
                    "outputs",
                    value,
                    "give all classes, so that they add up to 1",
                ));
            }
        }
        let resolution = values.iter().filter(|v| **v > 0.0).fold(f32::INFINITY, |least, v| least.min(*v));
        Ok(Self { kind, classes, values, resolution })
    }

    /// Logits or probabilities.
    pub fn kind(&self) -> OutputsKind {
        self.kind
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.classes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All numbers, record by record.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The smallest probability above 0 of these outputs or, within a study, of those of all its models: what their numbers can
    /// tell from 0, such as one tree of a forest or one unit of the last decimal place.
    pub fn resolution(&self) -> f32 {
        self.resolution
    }

    /// Gives all outputs of one study the finest resolution among them, so that a 0 means the same in each.
    pub(super) fn share_resolution<'a>(all: impl Iterator<Item = &'a mut Self>) {
        let mut of_probabilities: Vec<&mut Self> =
            all.filter(|outputs| outputs.kind == OutputsKind::Probabilities).collect();
        let finest = of_probabilities.iter().map(|o| o.resolution).fold(f32::INFINITY, f32::min);
        of_probabilities.iter_mut().for_each(|outputs| outputs.resolution = finest);
    }

    /// What was said about some records, in the given order.
    pub fn some(&self, records: &[usize]) -> Self {
        let values = records.iter().flat_map(|record| self.record(*record)).copied().collect();
        Self { kind: self.kind, classes: self.classes, values, resolution: self.resolution }
    }

    /// What was said about one record.
    pub fn record(&self, record: usize) -> &[f32] {
        &self.values[record * self.classes..(record + 1) * self.classes]
    }
}
