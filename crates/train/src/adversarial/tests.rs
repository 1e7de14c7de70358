use super::*;
use crate::describe::LayerKind;
use crate::optimizer::OptimizerSettings;
use crate::{Description, Device, Inputs, Recipe, Resources, Schedule, Trainer, engine};
use reticent_noise::entropy::{Bits, SeededForTests};

const FEATURES: usize = 8;
const CLASSES: usize = 3;

fn unit(bits: &mut SeededForTests) -> f32 {
    (bits.word() >> 40) as f32 / (1u64 << 24) as f32
}

/// Records with labels that have nothing to do with them: whatever a model knows about these labels it has learned by heart.
fn records(count: usize, seed: u64) -> Arc<Examples> {
    let mut bits = SeededForTests::new(seed);
    let inputs = (0..count * FEATURES).map(|_| 2.0 * unit(&mut bits) - 1.0).collect();
    let labels = (0..count).map(|_| (bits.word() % CLASSES as u64) as u32).collect();
    Arc::new(Examples::new(&[FEATURES], Inputs::Real(inputs), Targets::Classes(labels)).unwrap())
}

fn network(hidden: usize) -> Description {
    Description::reading(&[FEATURES])
        .then(LayerKind::Linear { out: hidden, bias: true })
        .then(LayerKind::Tanh)
        .then(LayerKind::Linear { out: CLASSES, bias: true })
}

fn recipe() -> Recipe {
    Recipe {
        optimizer: OptimizerSettings::adam(),
        schedule: Schedule::constant(1e-2),
        average: None,
        denoise: None,
    }
}

fn against(strength: f64, steps: u64) -> Baseline {
    let adversarial = Some(AdversarialSettings::new(strength));
    Baseline { adversarial, ..Baseline::new(Batching::Shuffled { size: 20 }, steps) }
}

fn trainer(baseline: Baseline, members: &Arc<Examples>, references: &Arc<Examples>) -> Trainer {
    let engine = engine(&network(32), Device::Cpu, Resources::SINGLE).unwrap();
    let units = Units::examples(members.len());
    Trainer::adversarial(engine, members.clone(), units, baseline, recipe(), references.clone(), Some("k"))
        .unwrap()
}

fn finished(mut trainer: Trainer) -> Trainer {
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    trainer
}

/// h of one row of scores, with the label's class.
fn confidence(network: &mut InferenceNetwork, scores: &[f64], label: usize) -> f64 {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = scores.iter().map(|score| libm::exp(score - most)).sum();
    let mut seen: Vec<f32> = scores.iter().map(|score| (libm::exp(score - most) / total) as f32).collect();
    seen.resize(2 * scores.len(), 0.0);
    seen[scores.len() + label] = 1.0;
    let pair = network.scores(seen).unwrap();
    1.0 / (1.0 + libm::exp(f64::from(pair[0]) - f64::from(pair[1])))
}

#[test]
fn slopes_at_the_outputs_are_those_of_the_inference_network() {
    let mut network = InferenceNetwork::new(CLASSES, Some("slopes")).unwrap();
    // A few steps, so that it says different things about different rows.
    let mut bits = SeededForTests::new(3);
    for _ in 0..40 {
        let mut seen = Vec::new();
        for place in 0..30 {
            let sure = if place < 15 { 0.5 + 0.5 * unit(&mut bits) } else { 0.5 * unit(&mut bits) };
            seen.extend([sure, 0.7 * (1.0 - sure), 0.3 * (1.0 - sure), 1.0, 0.0, 0.0]);
        }
        network.learn(seen, (0..30).map(|place| u32::from(place < 15)).collect()).unwrap();
    }
    let (scores, label, strength) = ([0.3, -0.4, 0.9], 0, 2.5);
    let mut seen = scores.map(|score| score as f32).to_vec();
    softmax(&mut seen, CLASSES, 1.0);
    seen.extend([1.0, 0.0, 0.0]);
    let slopes = network.slopes(seen, strength).unwrap();
    let step = 1e-2;
    for class in 0..CLASSES {
        let mut at = |by: f64| {
            let mut moved = scores;
            moved[class] += by;
            confidence(&mut network, &moved, label)
        };
        let expected = strength * (at(step) - at(-step)) / (2.0 * step);
        let found = f64::from(slopes[class]);
        assert!((found - expected).abs() < 2e-3 * (1.0 + expected.abs()), "{class}: {found} {expected}");
    }
    assert!(slopes.iter().any(|slope| slope.abs() > 1e-3), "{slopes:?}");
    assert!(slopes.iter().sum::<f32>().abs() < 1e-5, "probabilities add up to 1: {slopes:?}");
}

#[test]
fn a_step_moves_the_weights_by_both_gradients() {
    // One linear layer: the gradient is the outer product of the slopes at the outputs and the input.
    let description = Description::reading(&[2]).then(LayerKind::Linear { out: 2, bias: false });
    let mut network = engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
    network.load_weights(&[0.0; 4]).unwrap();
    let inputs = vec![1.0, 2.0, -1.0, 0.5];
    let examples = Examples::new(&[2], Inputs::Real(inputs), Targets::Classes(vec![0, 1])).unwrap();
    let mut selection = Selection::default();
    selection.push([1]);
    selection.push([0]);
    let slopes = [0.25, -0.25, 0.1, 0.3];
    network.sum_steered(&examples, &selection, &slopes).unwrap();
    // Cross-entropy at equal scores: ½ less 1 for the own class. The slopes stand in the order of the selection.
    let (second, first) = ([0.5 + 0.25, -0.5 - 0.25], [-0.5 + 0.1, 0.5 + 0.3]);
    let expected: Vec<f32> =
        (0..2).flat_map(|out| [first[out] - second[out], second[out] * 0.5 + first[out] * 2.0]).collect();
    for (found, expected) in network.read_sum().unwrap().iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let error = network.sum_steered(&examples, &selection, &slopes[..3]).unwrap_err();
    assert!(error.to_string().contains("3 slopes"), "{error}");
}

#[test]
fn strength_0_is_ordinary_training() {
    let (members, references) = (records(60, 1), records(60, 2));
    let mut against_nobody = finished(trainer(against(0.0, 30), &members, &references));
    let engine = engine(&network(32), Device::Cpu, Resources::SINGLE).unwrap();
    let baseline = Baseline::new(Batching::Shuffled { size: 20 }, 30);
    let units = Units::examples(60);
    let plain = Trainer::repeatable(engine, members.clone(), units, baseline, recipe(), "k").unwrap();
    let plain = finished(plain).final_weights().unwrap();
    assert_eq!(against_nobody.final_weights().unwrap(), plain);
    let mut other = finished(trainer(against(3.0, 30), &members, &references));
    assert_ne!(other.final_weights().unwrap(), plain);
    let again = finished(trainer(against(3.0, 30), &members, &references)).final_weights().unwrap();
    assert_eq!(other.final_weights().unwrap(), again, "a function of the key");
    assert!(other.certificate().unwrap().is_none() && other.plan().is_none());
}

#[test]
fn the_attack_that_is_trained_against_loses() {
    let (members, references, fresh) = (records(60, 1), records(60, 2), records(60, 5));
    // Mean probability of the true class on members less that on records that no training has seen.
    let gap = |strength: f64| {
        let mut trained = finished(trainer(against(strength, 400), &members, &references));
        let weights = trained.final_weights().unwrap();
        let mut network = engine(&network(32), Device::Cpu, Resources::SINGLE).unwrap();
        network.load_weights(&weights).unwrap();
        let mut sure = |examples: &Examples| {
            let all: Vec<usize> = (0..examples.len()).collect();
            let seen = seen_of(&mut *network, examples, &all).unwrap();
            let rows = seen.chunks_exact(2 * CLASSES);
            rows.map(|row| row[..CLASSES].iter().zip(&row[CLASSES..]).map(|(p, y)| p * y).sum::<f32>())
                .sum::<f32>()
                / all.len() as f32
        };
        sure(&members) - sure(&fresh)
    };
    let (without, with) = (gap(0.0), gap(10.0));
    assert!(without > 0.4, "learned by heart: {without}");
    assert!(with < 0.5 * without, "{with} with the adversary, {without} without");
}

#[test]
fn bad_input_is_refused() {
    let (members, references) = (records(60, 1), records(60, 2));
    let made = |baseline: Baseline, references: &Arc<Examples>| {
        let engine = engine(&network(4), Device::Cpu, Resources::SINGLE).unwrap();
        let units = Units::examples(60);
        Trainer::adversarial(engine, members.clone(), units, baseline, recipe(), references.clone(), None)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    for strength in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(made(against(strength, 5), &references).contains("adversarial = "), "{strength}");
    }
    let none = Arc::new(references.subset(&[]));
    assert!(made(against(3.0, 5), &none).contains("references = 0"));
    assert!(made(Baseline::new(Batching::Shuffled { size: 4 }, 5), &references).contains("adversarial"));
    let steps = AdversarialSettings { inference_steps: 0, ..AdversarialSettings::new(1.0) };
    let baseline = Baseline { adversarial: Some(steps), ..against(1.0, 5) };
    assert!(made(baseline, &references).contains("inference_steps = 0"));
    let other = Examples::new(&[2], Inputs::Real(vec![0.0; 4]), Targets::Classes(vec![0, 1])).unwrap();
    assert!(!made(against(3.0, 5), &Arc::new(other)).is_empty(), "references of another shape");
    let engine = engine(&network(4), Device::Cpu, Resources::SINGLE).unwrap();
    let units = Units::examples(60);
    let plain = Trainer::non_private(engine, members.clone(), units, against(3.0, 5), recipe());
    assert!(plain.err().is_some_and(|error| error.to_string().contains("reference")));
    let stored = serde_json::to_string(&Baseline::new(Batching::Shuffled { size: 4 }, 5)).unwrap();
    assert!(!stored.contains("adversarial"), "runs from before keep their terms: {stored}");
}
