//! One signal of a study by its name, of the target and of every reference.

use super::{Outputs, SCORE, SignalSource, SignalValues, Study};
use crate::Signal;
use std::sync::OnceLock;

/// Signals that were computed from outputs: of the target first, then of the references, each when it was first asked for.
#[derive(Debug, Clone)]
pub(super) struct Derived {
    models: Vec<[OnceLock<Vec<f64>>; Signal::ALL.len()]>,
}

impl Derived {
    pub(super) fn new(models: usize) -> Self {
        Self { models: (0..models).map(|_| Default::default()).collect() }
    }

    fn of(&self, model: usize, signal: Signal, outputs: &Outputs, labels: &[u32]) -> &[f64] {
        self.models[model][signal as usize].get_or_init(|| signal.values(outputs, labels))
    }
}

/// Where the values of a signal are.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Given(&'a SignalValues),
    Derived { signal: Signal, outputs: &'a Outputs, labels: &'a [u32] },
}

/// A signal of a study that the target has.
#[derive(Debug, Clone, Copy)]
pub struct SignalView<'a> {
    study: &'a Study,
    name: &'a str,
    source: Source<'a>,
}

impl<'a> SignalView<'a> {
    pub(super) fn of(study: &'a Study, name: &str) -> Option<Self> {
        let parts = &study.parts;
        if let Some((name, values)) = parts.signals.iter().find(|(known, _)| *known == name) {
            return Some(Self { study, name, source: Source::Given(values) });
        }
        let signal = Signal::by_name(name)?;
        let (outputs, labels) = (parts.target.as_ref()?, parts.labels.as_deref()?);
        Some(Self { study, name: signal.name(), source: Source::Derived { signal, outputs, labels } })
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its name for readers of findings.
    pub(crate) fn label(&self) -> &'a str {
        if self.name == SCORE { "given score" } else { self.name }
    }

    /// What it is computed from.
    pub fn provenance(&self) -> SignalSource {
        match self.source {
            Source::Given(values) => values.provenance(),
            Source::Derived { .. } => SignalSource::Outputs,
        }
    }

    /// How many values a record has.
    pub fn width(&self) -> usize {
        match self.source {
            Source::Given(values) => values.width(),
            Source::Derived { .. } => 1,
        }
    }

    /// The target's values, record by record.
    pub fn target(&self) -> &'a [f64] {
        match self.source {
            Source::Given(values) => values.values(),
            Source::Derived { signal, outputs, labels } => self.study.derived.of(0, signal, outputs, labels),
        }
    }

    /// Whether a reference has it too.
    pub fn is_of(&self, reference: usize) -> bool {
        self.study.parts.references.get(reference).is_some_and(|reference| match self.source {
            Source::Given(_) => reference.signals.get(self.name).is_some(),
            Source::Derived { .. } => reference.outputs.is_some(),
        })
    }

    /// The values of a reference, record by record; none where they are not known.
    pub fn reference(&self, reference: usize) -> Option<&'a [f64]> {
        let model = self.study.parts.references.get(reference)?;
        match self.source {
            Source::Given(_) => model.signals.get(self.name).map(SignalValues::values),
            Source::Derived { signal, labels, .. } => {
                let outputs = model.outputs.as_ref()?;
                Some(self.study.derived.of(1 + reference, signal, outputs, labels))
            }
        }
    }

    /// Whether every reference has it.
    pub fn is_of_all(&self) -> bool {
        (0..self.study.parts.references.len()).all(|reference| self.is_of(reference))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{OUTPUTS, OutputsKind, Reference, Signals, StudyParts};
    use super::*;

    fn parts() -> StudyParts {
        let outputs = |shift: f32| {
            Some(Outputs::new(OutputsKind::Logits, 2, vec![1.0 + shift, 0.0, 0.0, 2.0]).unwrap())
        };
        StudyParts {
            members: vec![true, false],
            labels: Some(vec![0, 1]),
            target: outputs(0.0),
            signals: Signals::of_scores(vec![3.0, 4.0]),
            references: vec![
                Reference {
                    name: "a".into(),
                    outputs: outputs(1.0),
                    signals: Signals::none(),
                    inside: vec![true, false],
                },
                Reference {
                    name: "b".into(),
                    outputs: None,
                    signals: Signals::of_scores(vec![5.0, 6.0]),
                    inside: vec![false, true],
                },
            ],
            ..StudyParts::default()
        }
    }

    #[test]
    fn signals_are_found_by_name_and_computed_when_asked_for() {
        let study = Study::new(parts()).unwrap();
        let names: Vec<&str> = study.signals().map(|signal| signal.name()).collect();
        assert_eq!(names, ["score", "loss", "confidence", "logit", "entropy", "modified-entropy", "hinge"]);
        let logit = study.signal("logit").unwrap();
        assert_eq!((logit.provenance(), logit.width()), (SignalSource::Outputs, 1));
        assert!((logit.target()[0] - 1.0).abs() < 1e-12 && (logit.target()[1] - 2.0).abs() < 1e-12);
        assert!((logit.reference(0).unwrap()[0] - 2.0).abs() < 1e-12);
        assert!(logit.is_of(0) && !logit.is_of(1) && !logit.is_of_all() && logit.reference(1).is_none());
        let score = study.signal(SCORE).unwrap();
        assert_eq!((score.target(), score.reference(1)), (&[3.0, 4.0][..], Some(&[5.0, 6.0][..])));
        assert!(score.provenance() == SignalSource::Given && score.reference(0).is_none());
        assert!(study.signal("gradient-norm").is_none() && study.signal(OUTPUTS).is_none());
        let unlabelled = Study::new(StudyParts { labels: None, ..parts() }).unwrap();
        assert!(unlabelled.signal("logit").is_none());
    }

    #[test]
    fn names_widths_and_lengths_are_checked() {
        let refusal = |change: &dyn Fn(&mut StudyParts)| {
            let mut parts = parts();
            change(&mut parts);
            Study::new(parts).unwrap_err().to_string()
        };
        let scalar = |values: Vec<f64>| SignalValues::scalar(SignalSource::Loss, values);
        let taken = refusal(&|parts| parts.signals.insert("logit", scalar(vec![0.0; 2])));
        assert!(taken.contains("choose another"), "{taken}");
        let short = refusal(&|parts| parts.signals.insert("own", scalar(vec![0.0])));
        assert!(short.contains("1 records"), "{short}");
        let apart = refusal(&|parts| {
            parts.signals.insert("own", scalar(vec![0.0; 2]));
            let wide = SignalValues::rows(SignalSource::Loss, 2, vec![0.0; 4]).unwrap();
            parts.references[1].signals.insert("own", wide);
        });
        assert!(apart.contains("own of b"), "{apart}");
    }
}
