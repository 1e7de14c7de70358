//! What is known of a target model, of the records and of reference models.

mod outputs;
mod signals;
mod view;

pub use outputs::{Outputs, OutputsKind};
pub use signals::{
    GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM, INVERSE_HESSIAN,
    LABEL_ROBUSTNESS, OUTPUTS, SCORE, SELF_INFLUENCE, SignalSource, SignalValues, Signals,
};
pub use view::SignalView;

use crate::{AuditError, Draw, Signal};
use std::collections::BTreeSet;
use view::Derived;

/// A model trained like the target, on records of which it is known who was in.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// For messages.
    pub name: String,
    /// What it said about every record, if that is known.
    pub outputs: Option<Outputs>,
    /// Its signals besides those that follow from outputs.
    pub signals: Signals,
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
    /// Where every row is a user with all their records, as in an audit of authors: the most records that one of them has.
    pub user_records: Option<u64>,
    /// Declared groups: the name of a column, and the group of every record.
    pub groups: Vec<(String, Vec<String>)>,
    /// What is known without a model.
    pub features: Option<Features>,
    /// The target's signals besides those that follow from outputs: the caller's own score, larger for members, is [`SCORE`].
    pub signals: Signals,
    /// What the target said about every record, class by class.
    pub target: Option<Outputs>,
    /// The reference models.
    pub references: Vec<Reference>,
    /// How records came to be members.
    pub draw: Draw,
    /// Which pair a record belongs to, where one of each pair was included.
    pub pairs: Option<Vec<String>>,
    /// Columns behind the features that are mostly different texts, of which features show some sides only.
    pub free_text: Vec<String>,
    /// Columns of the table it was read from that nothing uses.
    pub unused: Vec<String>,
}

/// Refuses signals of other records, of a name that is taken, and references whose values are not of the target's kind.
fn check_signals(
    signals: &Signals,
    whose: &str,
    records: usize,
    target: Option<&Signals>,
) -> Result<(), AuditError> {
    for (name, values) in signals.iter() {
        let field = if name == SCORE { "score" } else { "signal" };
        if name == OUTPUTS || Signal::by_name(name).is_some() {
            let remedy = "this name is for what follows from outputs: choose another";
            return Err(AuditError::invalid(field, name, remedy));
        }
        if values.len() != records {
            let value = format!("{} records", values.len());
            return Err(AuditError::invalid(field, value, format!("give all {records} of `member`")));
        }
        if name == SCORE && values.width() != 1 {
            let value = format!("{} per record", values.width());
            return Err(AuditError::invalid(field, value, "give one per record"));
        }
        if let Some(own) = target.and_then(|target| target.get(name))
            && (own.width(), own.provenance()) != (values.width(), values.provenance())
        {
            let value = format!("{name} of {whose}");
            let remedy = "give it with the target's width and provenance, so that both are on one scale";
            return Err(AuditError::invalid(field, value, remedy));
        }
    }
    Ok(())
}

/// Everything that is known about a target model, the records and the reference models; checked.
///
/// An attack asks for [signals](Study::signal) by their names. Those of [`Signal`] are computed from outputs and labels when
/// they are first asked for.
#[derive(Debug, Clone)]
pub struct Study {
    parts: StudyParts,
    derived: Derived,
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
        check_signals(&parts.signals, "the target", records, None)?;
        parts.target.iter().try_for_each(|target| fits("outputs", target.len()))?;
        if parts.user_records.is_some() && parts.users.is_some() {
            let remedy = "every row is a user already: leave the column out";
            return Err(AuditError::invalid("user", "a column", remedy));
        }
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
            check_signals(&reference.signals, &reference.name, records, Some(&parts.signals))?;
            if reference.outputs.is_none() && reference.signals.is_empty() {
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
        if parts.signals.is_empty() && parts.target.is_none() {
            let reason = "there is neither a score nor an output of the target: give a column `score`, or \
                          probabilities or logits per class";
            return Err(AuditError::not_measurable(reason));
        }
        let of_references = parts.references.iter_mut().filter_map(|r| r.outputs.as_mut());
        Outputs::share_resolution(parts.target.iter_mut().chain(of_references));
        Ok(Self::of(parts))
    }

    /// A study of checked parts.
    fn of(parts: StudyParts) -> Self {
        let derived = Derived::new(1 + parts.references.len());
        Self { parts, derived }
    }

    /// The signal of a name, if the target has it: one that was given, or one of [`Signal`] where outputs and labels are known.
    pub fn signal(&self, name: &str) -> Option<SignalView<'_>> {
        SignalView::of(self, name)
    }

    /// All signals that the target has, the given ones first.
    pub fn signals(&self) -> impl Iterator<Item = SignalView<'_>> {
        let given = self.parts.signals.iter().map(|(name, _)| name);
        given.chain(Signal::ALL.iter().map(|signal| signal.name())).filter_map(|name| self.signal(name))
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
        Self::of(parts)
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
