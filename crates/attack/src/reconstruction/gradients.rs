//! Records from gradients of batches: which conditions are tried, and how what was found is judged.

use super::first_layer::FirstLayer;
use super::inversion::{Inversion, InversionSettings};
use super::labels::{apportioned, last_offsets, recovered, share};
use super::observed::{GradientRelease, observed};
use super::space::{MOST_DECIBELS, RecordSpace, squared_distance};
use super::{Reconstructed, Reconstruction, threat};
use crate::AttackError;
use crate::learner::{Halt, network_outputs};
use crate::population::classes_of;
use reticent_audit::Signal;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_data::keyed_hash;
use reticent_train::inspect::Inspector;
use reticent_train::{Description, Device, Examples, Resources};
use std::collections::BTreeMap;

/// How records are reconstructed from gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientSettings {
    /// Batch sizes, with the exact gradient.
    pub batches: Vec<usize>,
    /// Releases besides the exact gradient, for batches of one record.
    pub releases: Vec<GradientRelease>,
    /// How many batches of every size are attacked.
    pub repeats: usize,
    /// How gradients are inverted.
    pub inversion: InversionSettings,
    /// The confidence of intervals.
    pub confidence: f64,
    /// What the choice of records depends on.
    pub key: String,
}

impl Default for GradientSettings {
    fn default() -> Self {
        Self {
            batches: vec![1, 4, 16],
            releases: Vec::new(),
            repeats: 12,
            inversion: InversionSettings::default(),
            confidence: 0.95,
            key: "reticent".to_owned(),
        }
    }
}

/// What was seen of one batch by one attack.
#[derive(Debug, Clone, Default)]
struct Judged {
    decibels: [f64; 2],
    similarity: Option<[f64; 2]>,
    labels: Option<[f64; 2]>,
}

/// The conditions of one attack, in order, each with its batches.
type Conditions = Vec<(String, Vec<Judged>)>;

/// Recovers training records from gradients of batches, by the first layer where it is linear and by inversion.
///
/// An attacker sees the gradient of a batch at known weights and knows how many records it has and the mean and the range of records
/// like them, here of all training records that are not attacked. As many records as the batch has are given back; they are compared
/// with those of the batch in the order that fits best, and so is the guess without the gradient: the mean.
///
/// # Errors
/// [`AttackError::Invalid`] for records that are not numbers or images with classes and for too few of them; [`AttackError::Train`] for
/// a network that does not fit; [`AttackError::Interrupted`] when `halt` says so.
pub fn from_gradients(
    description: &Description,
    weights: &[f32],
    records: &Examples,
    settings: &GradientSettings,
    halt: Halt<'_>,
) -> Result<Vec<Reconstruction>, AttackError> {
    let plan = Plan::of(records, settings)?;
    let others = records.subset(&plan.others);
    let space = RecordSpace::of(&others)?;
    let mut inspector = Inspector::new(description, Resources::SINGLE)?;
    let first = FirstLayer::of(description, inspector.layout());
    let offsets = last_offsets(description, inspector.layout());
    let probabilities = mean_probabilities(description, weights, &others)?;
    let (mut exact, mut inverted): (Conditions, Conditions) = (Vec::new(), Vec::new());
    let (mut exact_shown, mut inverted_shown) = (Vec::new(), Vec::new());
    for (size, release, batches) in &plan.conditions {
        let condition = format!("batch of {size}, {release}");
        exact.push((condition.clone(), Vec::new()));
        inverted.push((condition.clone(), Vec::new()));
        for (place, which) in batches.iter().enumerate() {
            let batch = records.subset(which);
            let truth = read(&batch, &space);
            let labels = classes_of(&batch)?;
            let gradient = observed(&mut inspector, description, weights, &batch, *release)?;
            let guessed =
                offsets.as_ref().map(|offsets| recovered(&gradient[offsets.clone()], &probabilities, *size));
            let judged = |found: &[f32]| Judged {
                labels: guessed.as_ref().map(|guessed| {
                    [share(labels, guessed), share(labels, &apportioned(space.classes(), *size))]
                }),
                ..judge(&space, &truth, found)
            };
            let shown = |found: &[f32], all: &mut Vec<Reconstructed>| {
                if place == 0 {
                    all.push(Reconstructed::new(
                        &condition,
                        &space,
                        truth.clone(),
                        matched(&space, &truth, found),
                    ));
                }
            };
            if let Some(first) = &first {
                let (found, _) = first.recover(&gradient, *size, &space);
                last(&mut exact).push(judged(&found));
                shown(&found, &mut exact_shown);
            }
            // Without offsets of the last layer the classes count as known.
            let own = guessed.clone().unwrap_or_else(|| labels.to_vec());
            let key = format!("{}, {condition}, batch {place}", settings.inversion.key);
            let own_settings = InversionSettings { key, ..settings.inversion.clone() };
            let mut inversion = Inversion { inspector: &mut inspector, weights, space: &space };
            let found = inversion.records(&gradient, &own, &own_settings, halt)?;
            last(&mut inverted).push(judged(&found));
            shown(&found, &mut inverted_shown);
        }
    }
    let knows = |more: &str| {
        format!(
            "the weights at which the gradient was taken, how many records the batch has{more}, and mean and range of {} other records",
            plan.others.len()
        )
    };
    let classes = if offsets.is_some() { "" } else { ", their classes" };
    let disclosure = |name: &str,
                      about: &str,
                      more: &str,
                      inversion: Option<&InversionSettings>,
                      found: &Conditions| {
        Disclosure {
        name: name.to_owned(),
        kind: AttackKind::Reconstruction,
        about: about.to_owned(),
        settings: stated(settings, inversion),
        threat: threat("the gradient of one batch, as one step of training releases it", &knows(more)),
        records: plan.attacked(),
        measures: measures(found, settings.confidence, space.image().is_some()),
        bound: None,
        warnings: vec![
            "the gradients are those of this audit at the model's final weights: whether an attacker sees such gradients depends on how \
             the model is trained and shared"
                .to_owned(),
        ],
    }
    };
    let mut all = Vec::new();
    if first.is_some() {
        let about = "divides the gradient of the first layer's weights by that of its offsets";
        let disclosure = disclosure("first-layer", about, "", None, &exact);
        all.push(Reconstruction { disclosure, shown: exact_shown });
    }
    let about = "searches for records whose gradient points in the direction of the one that was seen";
    let disclosure = disclosure("gradient-inversion", about, classes, Some(&settings.inversion), &inverted);
    all.push(Reconstruction { disclosure, shown: inverted_shown });
    Ok(all)
}

fn last(conditions: &mut Conditions) -> &mut Vec<Judged> {
    let place = conditions.len() - 1;
    &mut conditions[place].1
}

/// Which records are attacked, in which batches, and which an attacker has.
struct Plan {
    conditions: Vec<(usize, GradientRelease, Vec<Vec<usize>>)>,
    others: Vec<usize>,
}

impl Plan {
    /// Every batch of exact gradients has records of its own; private releases are of the batches of one record.
    fn of(records: &Examples, settings: &GradientSettings) -> Result<Self, AttackError> {
        let GradientSettings { batches, releases, repeats, key, .. } = settings;
        if batches.is_empty() || batches.contains(&0) || *repeats == 0 {
            let value = format!("{batches:?}, {repeats} times");
            return Err(AttackError::invalid(
                "batches",
                value,
                "give sizes of batches of at least 1, at least once",
            ));
        }
        let single = if releases.is_empty() || batches.contains(&1) { None } else { Some(1) };
        let needed = repeats * (batches.iter().sum::<usize>() + single.unwrap_or(0));
        if records.len() < 2 * needed {
            let remedy = format!(
                "give at least {} training records, or fewer or smaller batches: half of them are what the attacker has",
                2 * needed
            );
            return Err(AttackError::invalid("records", records.len(), remedy));
        }
        let mut order: Vec<usize> = (0..records.len()).collect();
        order
            .sort_by_cached_key(|record| (keyed_hash(key, format!("attacked {record}").as_bytes()), *record));
        let mut left = order.as_slice();
        let mut take = |size: usize| -> Vec<Vec<usize>> {
            let (own, rest) = left.split_at(size * repeats);
            left = rest;
            own.chunks(size).map(<[usize]>::to_vec).collect()
        };
        let mut conditions: Vec<_> =
            batches.iter().map(|size| (*size, GradientRelease::Exact, take(*size))).collect();
        let singles = match conditions.iter().find(|(size, _, _)| *size == 1) {
            Some((_, _, own)) => own.clone(),
            None if single.is_some() => take(1),
            None => Vec::new(),
        };
        conditions.extend(releases.iter().map(|release| (1, *release, singles.clone())));
        Ok(Self { conditions, others: left.to_vec() })
    }

    fn attacked(&self) -> u64 {
        let exact = self.conditions.iter().filter(|(_, release, _)| *release == GradientRelease::Exact);
        exact.map(|(size, _, batches)| (size * batches.len()) as u64).sum()
    }
}

/// The mean of the model's probabilities on some records.
fn mean_probabilities(
    description: &Description,
    weights: &[f32],
    records: &Examples,
) -> Result<Vec<f64>, AttackError> {
    let outputs = network_outputs(description, weights, records, Device::Cpu, Resources::SINGLE)?;
    let classes = outputs.classes() as u32;
    (0..classes)
        .map(|class| {
            let logs = Signal::Loss.compute(&outputs, &vec![class; records.len()])?;
            Ok(logs.iter().map(|log| libm::exp(*log)).sum::<f64>() / logs.len().max(1) as f64)
        })
        .collect()
}

/// The records of a batch from 0 to 1.
pub(super) fn read(batch: &Examples, space: &RecordSpace) -> Vec<f32> {
    let mut rows = vec![0.0; batch.len() * space.size()];
    rows.chunks_exact_mut(space.size()).enumerate().for_each(|(record, row)| batch.read(record, row));
    space.unit(&rows)
}

/// What was found in the order of the records: the nearest pair first, then the nearest of the rest.
fn matched(space: &RecordSpace, truth: &[f32], found: &[f32]) -> Vec<f32> {
    let size = space.size();
    let (records, guesses) = (truth.chunks_exact(size), found.chunks_exact(size));
    let mut pairs: Vec<(f64, usize, usize)> = records
        .enumerate()
        .flat_map(|(a, record)| {
            guesses.clone().enumerate().map(move |(b, guess)| (squared_distance(record, guess), a, b))
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = truth.len() / size;
    let (mut places, mut used) = (vec![None; count], vec![false; count]);
    for (_, record, guess) in pairs {
        if places[record].is_none() && !used[guess] {
            (places[record], used[guess]) = (Some(guess), true);
        }
    }
    places.into_iter().flatten().flat_map(|guess| &found[guess * size..][..size]).copied().collect()
}

/// The means over a batch of the attack and of the guess without it.
fn judge(space: &RecordSpace, truth: &[f32], found: &[f32]) -> Judged {
    let size = space.size();
    let (count, matched) = (truth.len() / size, matched(space, truth, found));
    let guess = space.mean().repeat(count);
    let mean = |of: &dyn Fn(&[f32], &[f32]) -> f64, guess: &[f32]| {
        let pairs = truth.chunks_exact(size).zip(guess.chunks_exact(size));
        pairs.map(|(record, guess)| of(record, guess)).sum::<f64>() / count as f64
    };
    let decibels = |a: &[f32], b: &[f32]| space.decibels(a, b);
    let similarity = |a: &[f32], b: &[f32]| space.similarity(a, b).unwrap_or(0.0);
    Judged {
        decibels: [mean(&decibels, &matched), mean(&decibels, &guess)],
        similarity: space.image().map(|_| [mean(&similarity, &matched), mean(&similarity, &guess)]),
        labels: None,
    }
}

/// Medians over batches, condition by condition.
fn measures(found: &Conditions, confidence: f64, are_images: bool) -> Vec<DisclosureMeasure> {
    let mut measures = Vec::new();
    for (condition, batches) in found {
        let mut add = |what: &str, bounds: [f64; 2], pairs: Vec<[f64; 2]>| {
            measures.push(super::measure(what, condition, bounds, &pairs, true, confidence));
        };
        add(super::DECIBELS, [0.0, MOST_DECIBELS], batches.iter().map(|own| own.decibels).collect());
        if are_images {
            let pairs = batches.iter().filter_map(|own| own.similarity).collect();
            add(super::SIMILARITY, [-1.0, 1.0], pairs);
        }
        let labels: Vec<[f64; 2]> = batches.iter().filter_map(|own| own.labels).collect();
        if !labels.is_empty() {
            add("median share of classes recovered", [0.0, 1.0], labels);
        }
    }
    measures
}

/// The settings in words.
fn stated(settings: &GradientSettings, inversion: Option<&InversionSettings>) -> BTreeMap<String, String> {
    let mut stated = BTreeMap::from([
        ("batches of every size".to_owned(), settings.repeats.to_string()),
        (
            "figures".to_owned(),
            format!("medians over batches of the mean of a batch; PSNR at most {MOST_DECIBELS} dB"),
        ),
    ]);
    if let Some(inversion) = inversion {
        stated.extend([
            ("steps".to_owned(), inversion.steps.to_string()),
            ("learning rate".to_owned(), inversion.rate.to_string()),
            ("total variation".to_owned(), inversion.variation.to_string()),
            ("starts".to_owned(), inversion.starts.to_string()),
        ]);
    }
    stated
}
