//! What a learned attack sees of every record at one model, in components.

use crate::perceptron::PerceptronComponent;
use libm::{exp, log};
use reticent_audit::attacks::{AccessLevel, PRIOR};
use reticent_audit::{
    GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM, Outputs, OutputsKind, SignalSource,
    SignalView, Study,
};

/// The most classes that have a column each.
const MOST_CLASSES: usize = 128;
/// The most activations of a layer that are seen of one of many models.
const MOST_SORTED: usize = 32;
/// Columns of gradients per layer that go through an encoder together.
const ENCODED: usize = 16;
/// The most standard deviations that a record may be from what references say of it.
const FAR: f64 = 10.0;

/// Which features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sight {
    /// Whether outputs are seen, and signals that follow from them.
    pub(super) outputs: bool,
    /// The most that is seen of the model.
    pub(super) reach: AccessLevel,
    /// Whether the model is one of many: what has no order in common with the others is sorted.
    pub(super) sorted: bool,
    /// Whether the true class is seen as such.
    pub(super) label: bool,
    /// Whether signals are compared with what references with and without the record say.
    pub(super) calibrated: bool,
}

impl Sight {
    /// Whether a signal is seen.
    pub(super) fn sees(self, view: &SignalView<'_>) -> bool {
        match AccessLevel::of(view.provenance()) {
            None => false,
            Some(AccessLevel::Predictions) => self.outputs,
            Some(level) => level <= self.reach,
        }
    }
}

/// A model of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    Target,
    Reference(usize),
}

/// What is seen of records: columns in components, record by record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) columns: usize,
    pub(super) components: Vec<PerceptronComponent>,
    pub(super) values: Vec<f32>,
}

/// Columns of one component, record by record.
struct Part {
    width: usize,
    encoder: Vec<usize>,
    values: Vec<f64>,
}

impl Part {
    fn new(width: usize, encoder: usize, values: Vec<f64>) -> Self {
        Self { width, encoder: vec![encoder], values }
    }
}

/// The features of all records at a model.
pub(super) fn seen(study: &Study, model: Model, sight: Sight) -> Seen {
    let mut parts = Vec::new();
    let outputs = match model {
        Model::Target => study.parts().target.as_ref(),
        Model::Reference(place) => study.parts().references[place].outputs.as_ref(),
    };
    parts.extend(outputs.filter(|_| sight.outputs).map(|outputs| of_outputs(outputs, sight.sorted)));
    if let (Some(labels), true) = (&study.parts().labels, sight.label) {
        parts.extend(of_labels(labels));
    }
    for view in study.signals() {
        let is_shared = !(sight.sorted || sight.calibrated) || view.is_of_all();
        if is_shared && sight.sees(&view) {
            parts.extend(of_signal(&view, model, sight));
        }
    }
    if sight.calibrated {
        parts.extend(calibrated(study, model, sight));
    }
    joined(parts, study.len())
}

/// All parts side by side.
fn joined(parts: Vec<Part>, records: usize) -> Seen {
    let columns = parts.iter().map(|part| part.width).sum();
    let mut values = Vec::with_capacity(columns * records);
    for record in 0..records {
        for part in &parts {
            values.extend(part.values[record * part.width..][..part.width].iter().map(|value| *value as f32));
        }
    }
    let mut start = 0;
    let component = |part: Part| {
        start += part.width;
        PerceptronComponent { columns: start - part.width..start, widths: part.encoder }
    };
    Seen { columns, components: parts.into_iter().map(component).collect(), values }
}

/// Log-probabilities of all classes, sorted where models have no order of classes in common with the attack.
fn of_outputs(outputs: &Outputs, sorted: bool) -> Part {
    let classes = outputs.classes();
    let mut values = Vec::with_capacity(classes * outputs.len());
    for record in 0..outputs.len() {
        let row: Vec<f64> = outputs.record(record).iter().map(|value| f64::from(*value)).collect();
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = log(row.iter().map(|value| exp(value - most)).sum::<f64>()) + most;
        let mut logs: Vec<f64> = match outputs.kind() {
            OutputsKind::Logits => row.iter().map(|value| (value - total).max(-100.0)).collect(),
            OutputsKind::Probabilities => row.iter().map(|value| log(value.max(1e-12))).collect(),
        };
        if sorted {
            logs.sort_unstable_by(|a, b| b.total_cmp(a));
        }
        values.extend(logs);
    }
    Part::new(classes, ENCODED, values)
}

/// A column per class; none where there are too many.
fn of_labels(labels: &[u32]) -> Option<Part> {
    let classes =
        labels.iter().map(|label| *label as usize + 1).max().filter(|classes| *classes <= MOST_CLASSES)?;
    let mut values = vec![0.0; classes * labels.len()];
    labels.iter().enumerate().for_each(|(record, label)| values[record * classes + *label as usize] = 1.0);
    Some(Part::new(classes, ENCODED / 2, values))
}

/// The values of a signal at a model.
fn values_of<'a>(view: &SignalView<'a>, model: Model) -> Option<&'a [f64]> {
    match model {
        Model::Target => Some(view.target()),
        Model::Reference(place) => view.reference(place),
    }
}

/// Whether a signal is a negated norm, which is seen on a logarithmic scale.
fn is_norm(name: &str) -> bool {
    [GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM].contains(&name)
}

/// A value as the attack sees it.
fn scaled(name: &str, value: f64) -> f64 {
    if is_norm(name) { -log((-value).max(f64::from(f32::MIN_POSITIVE))) } else { value }
}

/// The columns of a signal at a model. Activations have no order of units in common with those of other models: of these, some are
/// seen from the largest to the smallest, evenly spaced by rank.
fn of_signal(view: &SignalView<'_>, model: Model, sight: Sight) -> Option<Part> {
    let (values, width) = (values_of(view, model)?, view.width());
    if sight.sorted && view.provenance() == SignalSource::Activations {
        let some = width.min(MOST_SORTED);
        let sorted = values.chunks_exact(width).flat_map(|row| {
            let mut row = row.to_vec();
            row.sort_unstable_by(|a, b| b.total_cmp(a));
            (0..some).map(move |rank| row[rank * (width - 1) / (some - 1).max(1)])
        });
        return Some(Part::new(some, ENCODED, sorted.collect()));
    }
    let values = values.iter().map(|value| scaled(view.name(), *value)).collect();
    Some(Part::new(width, ENCODED.min(4 * width), values))
}

/// What of a signal is compared with references, of a width: logarithms of norms, lengths of activations, other values as they are.
fn comparable(view: &SignalView<'_>, model: Model) -> Option<(usize, Vec<f64>)> {
    let (values, width) = (values_of(view, model)?, view.width());
    if view.provenance() == SignalSource::Activations {
        let length =
            |row: &[f64]| log(row.iter().map(|value| value * value).sum::<f64>().max(f64::MIN_POSITIVE));
        return Some((1, values.chunks_exact(width).map(length).collect()));
    }
    Some((width, values.iter().map(|value| scaled(view.name(), *value)).collect()))
}

/// How far every signal is from what other references with and without the record say of it, in standard deviations, and the
/// likelihood ratio of the two normal distributions. References that had exactly the same records or exactly the others are left out,
/// so that a model in the place of the target has as many others on either side of a record, whether it had the record or not.
fn calibrated(study: &Study, model: Model, sight: Sight) -> Vec<Part> {
    let references = &study.parts().references;
    let is_other = |place: usize| match model {
        Model::Target => true,
        Model::Reference(own) => {
            let pairs = references[own].inside.iter().zip(&references[place].inside);
            let alike = pairs.filter(|(a, b)| a == b).count();
            place != own && alike != 0 && alike != study.len()
        }
    };
    let others: Vec<usize> = (0..references.len()).filter(|place| is_other(*place)).collect();
    let is_seen = |view: &SignalView<'_>| {
        let is_feature = [GRADIENT_ROWS, "gradient-features"].contains(&view.name());
        !is_feature && view.is_of_all() && sight.sees(view)
    };
    let mut parts = Vec::new();
    for view in study.signals().filter(is_seen) {
        let models: Option<Vec<(usize, Vec<f64>)>> =
            others.iter().map(|place| comparable(&view, Model::Reference(*place))).collect();
        let (Some((width, own)), Some(models)) = (comparable(&view, model), models) else { continue };
        let mut values = vec![0.0; own.len() * 3];
        for column in 0..width {
            let at = |values: &[f64], record: usize| values[record * width + column];
            let each = others.iter().zip(&models);
            let each =
                each.map(|(place, (_, own))| (&references[*place].inside[..], move |record| at(own, record)));
            let sides = Sides::of(study.len(), each);
            for record in 0..study.len() {
                let into = &mut values[(record * width + column) * 3..][..3];
                into.copy_from_slice(&sides.compared(record, at(&own, record)));
            }
        }
        parts.push(Part::new(3 * width, ENCODED, values));
    }
    parts
}

/// What references without every record, and with it, say of it.
struct Sides {
    /// Of references without the record, then with it.
    sides: [Vec<Tally>; 2],
    /// The mean difference between the sides.
    gap: f64,
    /// The variance around the means of all records, by side.
    pooled: [f64; 2],
}

/// Values of one side of a record.
#[derive(Clone, Copy, Default)]
struct Tally {
    sum: f64,
    square: f64,
    count: f64,
}

impl Tally {
    fn mean(self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// The squared distances from the mean.
    fn squares(self) -> f64 {
        (self.square - self.sum * self.mean()).max(0.0)
    }
}

impl Sides {
    fn of<'a>(records: usize, models: impl Iterator<Item = (&'a [bool], impl Fn(usize) -> f64)>) -> Self {
        let mut sides = [vec![Tally::default(); records], vec![Tally::default(); records]];
        for (inside, value) in models {
            for record in 0..records {
                let (own, value) = (&mut sides[usize::from(inside[record])][record], value(record));
                *own = Tally {
                    sum: own.sum + value,
                    square: own.square + value * value,
                    count: own.count + 1.0,
                };
            }
        }
        let both = sides[0].iter().zip(&sides[1]).filter(|(out, own)| out.count > 0.0 && own.count > 0.0);
        let gaps: Vec<f64> = both.map(|(out, own)| own.mean() - out.mean()).collect();
        let pooled = [0, 1].map(|side: usize| {
            let freedom: f64 = sides[side].iter().map(|own| (own.count - 1.0).max(0.0)).sum();
            let squares: f64 = sides[side].iter().map(|own| own.squares()).sum();
            if squares > 0.0 && freedom > 0.0 { squares / freedom } else { 1.0 }
        });
        Self { gap: gaps.iter().sum::<f64>() / gaps.len().max(1) as f64, sides, pooled }
    }

    /// How far a value is from references without the record and with it, and the logarithm of the ratio of likelihoods. Variances
    /// are drawn towards those of all records, as LiRA's are.
    fn compared(&self, record: usize, value: f64) -> [f64; 3] {
        let [out, own] = [0, 1].map(|side: usize| {
            let (tally, other) = (self.sides[side][record], self.sides[1 - side][record]);
            let shift = if side == 1 { self.gap } else { -self.gap };
            let mean = if tally.count > 0.0 { tally.mean() } else { other.mean() + shift };
            let freedom = PRIOR + (tally.count - 1.0).max(0.0);
            let variance =
                (PRIOR * self.pooled[side] + tally.squares()) / freedom * (1.0 + 1.0 / tally.count.max(1.0));
            let deviation = variance.sqrt();
            (((value - mean) / deviation).clamp(-FAR, FAR), log(deviation))
        });
        [out.0, own.0, 0.5 * (out.0 * out.0 - own.0 * own.0) + out.1 - own.1]
    }
}
