use crate::{AuditError, Draw};
use std::collections::BTreeSet;

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
    /// [`AuditError::Invalid`] for fewer than 2 classes, a number of values that is no multiple of the classes, values that
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

    /// The smallest probability above 0 of these outputs or, within a study, of those of all its models: what their numbers can
    /// tell from 0, such as one tree of a forest or one unit of the last decimal place.
    pub fn resolution(&self) -> f32 {
        self.resolution
    }

    /// What was said about some records.
    pub(crate) fn some(&self, records: &[usize]) -> Self {
        let values = records.iter().flat_map(|record| self.record(*record)).copied().collect();
        Self { kind: self.kind, classes: self.classes, values, resolution: self.resolution }
    }

    /// What was said about one record.
    pub fn record(&self, record: usize) -> &[f32] {
        &self.values[record * self.classes..(record + 1) * self.classes]
    }
}

/// A model trained like the target, on records of which it is known who was in.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// For messages.
    pub name: String,
    /// What it said about every record, if that is known.
    pub outputs: Option<Outputs>,
    /// Its score of every record, larger for members, where there are no outputs.
    pub scores: Option<Vec<f64>>,
    /// Which records it was trained on.
    pub inside: Vec<bool>,
}

/// Numbers known about every record without any model: what the baseline looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// How many numbers a record has.
    pub columns: usize,
    /// Record by record.
    pub values: Vec<f32>,
}

impl Features {
    /// Columns of equal length, side by side.
    pub(crate) fn from_columns(columns: &[Vec<f32>]) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        let values = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        Self { columns: columns.len(), values }
    }
}

/// The parts of a [`Study`] before they are checked. All lists have one entry per record.
#[derive(Debug, Clone, Default)]
pub struct StudyParts {
    /// Unique names of the records; empty for their numbers from 0.
    pub ids: Vec<String>,
    /// Who was in the target's training data.
    pub members: Vec<bool>,
    /// The true class.
    pub labels: Option<Vec<u32>>,
    /// Whose record it is.
    pub users: Option<Vec<String>>,
    /// Declared groups: the name of a column, and the group of every record.
    pub groups: Vec<(String, Vec<String>)>,
    /// What is known without a model.
    pub features: Option<Features>,
    /// A score the caller computed, larger for members.
    pub scores: Option<Vec<f64>>,
    /// What the target said.
    pub target: Option<Outputs>,
    /// The reference models.
    pub references: Vec<Reference>,
    /// How records came to be members.
    pub draw: Draw,
    /// Which pair a record belongs to, where one of each pair was put in.
    pub pairs: Option<Vec<String>>,
    /// Columns behind the features that are mostly different texts, of which features show some sides only.
    pub free_text: Vec<String>,
    /// Columns of the table it was read from that nothing uses.
    pub unused: Vec<String>,
}

/// Gives all outputs the finest resolution among them, so that a 0 means the same in each.
fn share_resolution(parts: &mut StudyParts) {
    let all = || parts.target.iter().chain(parts.references.iter().filter_map(|r| r.outputs.as_ref()));
    let of_probabilities = all().filter(|outputs| outputs.kind == OutputsKind::Probabilities);
    let finest = of_probabilities.map(Outputs::resolution).fold(f32::INFINITY, f32::min);
    let references = parts.references.iter_mut().filter_map(|r| r.outputs.as_mut());
    for outputs in parts.target.iter_mut().chain(references) {
        if outputs.kind == OutputsKind::Probabilities {
            outputs.resolution = finest;
        }
    }
}

/// Everything that is known about a target model, the records and the reference models; checked.
#[derive(Debug, Clone)]
pub struct Study {
    parts: StudyParts,
}

impl Study {
    /// Checks that all parts speak of the same records and classes.
    ///
    /// # Errors
    /// [`AuditError::Invalid`], naming the part and the first record that does not fit; [`AuditError::NotMeasurable`] when
    /// there is neither a score nor an output.
    pub fn new(mut parts: StudyParts) -> Result<Self, AuditError> {
        let records = parts.members.len();
        if parts.ids.is_empty() {
            parts.ids = (0..records).map(|record| record.to_string()).collect();
        }
        let fits = |field: &'static str, len: usize| {
            if len == records {
                return Ok(());
            }
            Err(AuditError::invalid(
                field,
                format!("{len} records"),
                format!("give all {records} of `member`"),
            ))
        };
        fits("id", parts.ids.len())?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = parts.ids.iter().find(|id| !seen.insert(id.as_str())) {
            return Err(AuditError::invalid("id", twice, "give every record once"));
        }
        parts.labels.iter().try_for_each(|labels| fits("label", labels.len()))?;
        parts.users.iter().try_for_each(|users| fits("user", users.len()))?;
        parts.pairs.iter().try_for_each(|pairs| fits("pair", pairs.len()))?;
        parts.groups.iter().try_for_each(|(_, groups)| fits("group", groups.len()))?;
        parts.scores.iter().try_for_each(|scores| fits("score", scores.len()))?;
        parts.target.iter().try_for_each(|target| fits("outputs", target.len()))?;
        if let Some(features) = &parts.features {
            if !features.values.len().is_multiple_of(features.columns.max(1)) {
                let remedy = format!("give {} for every record", features.columns);
                return Err(AuditError::invalid(
                    "features",
                    format!("{} values", features.values.len()),
                    remedy,
                ));
            }
            fits("features", features.values.len() / features.columns.max(1))?;
            if let Some(odd) = features.values.iter().find(|v| !v.is_finite()) {
                return Err(AuditError::invalid("features", odd, "give finite numbers"));
            }
        }
        for reference in &parts.references {
            fits("reference", reference.inside.len())?;
            reference.outputs.iter().try_for_each(|outputs| fits("reference", outputs.len()))?;
            reference.scores.iter().try_for_each(|scores| fits("reference", scores.len()))?;
            if reference.outputs.is_none() && reference.scores.is_none() {
                let remedy = "give its outputs or its scores";
                return Err(AuditError::invalid("reference", &reference.name, remedy));
            }
            if let (Some(own), Some(target)) = (&reference.outputs, &parts.target)
                && own.classes() != target.classes()
            {
                let remedy = format!("give as many as the target has: {}", target.classes());
                let value = format!("{} classes of {}", own.classes(), reference.name);
                return Err(AuditError::invalid("reference", value, remedy));
            }
        }
        let classes = parts.target.iter().chain(parts.references.iter().filter_map(|r| r.outputs.as_ref()));
        if let (Some(labels), Some(classes)) = (&parts.labels, classes.map(Outputs::classes).min())
            && let Some(odd) = labels.iter().find(|label| **label as usize >= classes)
        {
            return Err(AuditError::invalid("label", odd, format!("give a class from 0 to {}", classes - 1)));
        }
        if parts.scores.is_none() && parts.target.is_none() {
            let reason = "there is neither a score nor an output of the target: give a column `score`, or \
                          probabilities or logits per class";
            return Err(AuditError::not_measurable(reason));
        }
        share_resolution(&mut parts);
        Ok(Self { parts })
    }

    /// The parts, which fit each other; ids are never empty unless there are no records.
    pub fn parts(&self) -> &StudyParts {
        &self.parts
    }

    /// The same study, with how records came to be members.
    pub fn drawn(mut self, draw: Draw) -> Self {
        self.parts.draw = draw;
        self
    }

    /// The same study without reference models.
    pub(crate) fn without_references(&self) -> Self {
        let mut parts = self.parts.clone();
        parts.references.clear();
        Self { parts }
    }

    /// The parts by themselves.
    pub fn into_parts(self) -> StudyParts {
        self.parts
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.parts.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.members.is_empty()
    }
}
