//! Small data and networks.
#![allow(dead_code)] // Every test target uses some of it.

use reticent_attack::NetworkTraining;
use reticent_data::keyed_hash;
use reticent_train::describe::LayerKind;
use reticent_train::{
    Baseline, Batching, Description, Examples, Inputs, OptimizerSettings, Recipe, Schedule, Targets,
    TrainingTerms,
};
use std::sync::Arc;

/// A number from -1 to 1.
pub(crate) fn number(key: &str, place: usize) -> f32 {
    (keyed_hash(key, &place.to_le_bytes()) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Records of 12 numbers around a centre a class, with much noise: a network learns them by heart.
pub(crate) fn records(count: usize, classes: u32) -> Arc<Examples> {
    let labels: Vec<u32> = (0..count).map(|record| record as u32 % classes).collect();
    let inputs = (0..count * 12).map(|place| {
        let (record, feature) = (place / 12, place % 12);
        0.5 * number("centre", labels[record] as usize * 12 + feature) + number("noise", place)
    });
    Arc::new(Examples::new(&[12], Inputs::Real(inputs.collect()), Targets::Classes(labels.clone())).unwrap())
}

/// One hidden layer.
pub(crate) fn network(inputs: usize, hidden: usize, classes: usize) -> Description {
    Description::reading(&[inputs])
        .then(LayerKind::Linear { out: hidden, bias: true })
        .then(LayerKind::Relu)
        .then(LayerKind::Linear { out: classes, bias: true })
}

pub(crate) fn training(classes: usize, steps: u64) -> NetworkTraining {
    NetworkTraining {
        description: network(12, 32, classes),
        terms: TrainingTerms::NonPrivate(Baseline::new(Batching::Shuffled { size: 16 }, steps)),
        recipe: Recipe {
            optimizer: OptimizerSettings::adam(),
            schedule: Schedule::constant(0.01),
            average: None,
            denoise: None,
        },
    }
}

/// The chance that a member's score is above a non-member's; ties count half.
pub(crate) fn auc(scores: &[f64], members: &[bool]) -> f64 {
    let side = |wanted: bool| scores.iter().zip(members).filter(move |(_, m)| **m == wanted).map(|(s, _)| *s);
    let (mut wins, mut pairs) = (0.0, 0.0);
    for own in side(true) {
        for other in side(false) {
            wins += if own > other {
                1.0
            } else if own == other {
                0.5
            } else {
                0.0
            };
            pairs += 1.0;
        }
    }
    wins / pairs
}
