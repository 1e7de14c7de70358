use super::*;
use crate::learner::{Learner, LinearLearner, LinearSettings, NetworkLearner, NetworkTraining, Wanted};
use reticent_data::{FeatureMatrix, keyed_hash};
use reticent_erm::{FitMethod, Linear, MarginLoss, Settings};
use reticent_train::describe::LayerKind;
use reticent_train::{
    Baseline, Batching, Description, Examples, Inputs, OptimizerSettings, Recipe, Schedule, Targets,
    TrainingTerms,
};
use std::sync::Arc;

const COLUMNS: usize = 6;
const REGULARIZATION: f64 = 1e-3;

fn number(key: &str, place: usize) -> f64 {
    (keyed_hash(key, &place.to_le_bytes()) >> 40) as f64 / (1u64 << 23) as f64 - 1.0
}

fn learner(key: &str, count: usize, classes: u32) -> LinearLearner {
    let class = |row: usize| (keyed_hash(key, format!("class {row}").as_bytes()) % u64::from(classes)) as u32;
    let values: Vec<f64> = (0..count * COLUMNS)
        .map(|place| {
            let centre = f64::from(u8::from(class(place / COLUMNS) as usize == place % COLUMNS));
            0.2 * centre + 0.4 * number(key, place)
        })
        .collect();
    let label = |row| if classes == 2 { f64::from(class(row)) * 2.0 - 1.0 } else { f64::from(class(row)) };
    let rows = FeatureMatrix::dense(COLUMNS, &values, (0..count).map(label).collect(), 1.0).unwrap();
    let settings = Settings { regularization: Some(REGULARIZATION), ..Settings::default() };
    let how = LinearSettings {
        classes,
        loss: MarginLoss::Logistic,
        method: FitMethod::Exact,
        budget: None,
        settings,
        l1_bound: None,
    };
    LinearLearner::new(rows, how).unwrap()
}

fn models(learner: &LinearLearner, inside: &[usize]) -> Vec<Linear> {
    let wanted = Wanted { weights: true, ..Wanted::default() };
    let weights = learner.fit(inside, "k", &wanted, &|| false).unwrap().weights.unwrap();
    let model = |part: &[f32]| Linear {
        weights: part[..COLUMNS].iter().map(|weight| f64::from(*weight)).collect(),
        intercept: f64::from(part[COLUMNS]),
    };
    weights.chunks_exact(COLUMNS + 1).map(model).collect()
}

fn auc(scores: &[f64], members: usize) -> f64 {
    let (own, others) = scores.split_at(members);
    let wins = |score: &f64| {
        others
            .iter()
            .map(|other| if score > other { 1.0 } else { 0.5 * f64::from(u8::from(score == other)) })
            .sum::<f64>()
    };
    own.iter().map(wins).sum::<f64>() / (own.len() * others.len()) as f64
}

fn signal<'a>(signals: &'a Signals, name: &str) -> &'a [f64] {
    signals.get(name).unwrap().values()
}

#[test]
fn a_newton_step_is_close_to_retraining_without_the_record() {
    let learner = learner("retrained", 80, 2);
    let all: Vec<usize> = (0..80).collect();
    let whole = models(&learner, &all);
    let found = learner.influence(&whole, REGULARIZATION, &all, &all).unwrap();
    let influence = signal(&found, SELF_INFLUENCE);
    let loss = |models: &[Linear], record: usize| {
        let margin = f64::from(learner.outputs(models).unwrap().record(record)[1]);
        let label = if learner.labels()[record] == 1 { 1.0 } else { -1.0 };
        MarginLoss::Logistic.value(margin, label)
    };
    let (mut wrong, mut total) = (0.0, 0.0);
    for (record, influence) in influence.iter().enumerate().take(20) {
        let others: Vec<usize> = all.iter().copied().filter(|other| *other != record).collect();
        let rise = loss(&models(&learner, &others), record) - loss(&whole, record);
        wrong += (-influence - rise).abs();
        total += rise;
    }
    assert!(total > 0.05 && wrong < 0.1 * total, "{wrong} of {total}");
}

#[test]
fn a_record_that_is_left_in_its_own_sums_gives_itself_away() {
    let (records, width) = (400, 100);
    let features: Vec<f64> = (0..records * width).map(|place| number("x", place)).collect();
    let losses = LinearLosses {
        features: &features,
        width,
        outputs: 1,
        slopes: (0..records).map(|record| number("slope", record)).collect(),
        curvatures: vec![0.25; records],
        weights: vec![0.0; width],
        penalty: 0.1,
        share: 0.0,
        ridge: 0.0,
    };
    let inside: Vec<usize> = (0..records / 2).collect();
    let trained = Trained::of(&losses, &inside).unwrap();
    let scores = |is_left_in: bool| -> Vec<f64> {
        let moves = |record| trained.moves(record, !is_left_in && record < records / 2).unwrap();
        (0..records).map(|record| -moves(record).influence).collect()
    };
    // Slopes and features are alike in both halves: four standard deviations.
    let (own, twin) = (auc(&scores(false), records / 2), auc(&scores(true), records / 2));
    assert!((own - 0.5).abs() < 4.0 * 0.029 && twin > 0.5 + 4.0 * 0.029, "{own} {twin}");
}

#[test]
fn at_an_exact_minimum_the_sign_tells_who_was_there() {
    for classes in [2, 4] {
        let learner = learner("planted", 160, classes);
        let (inside, all): (Vec<usize>, Vec<usize>) = ((0..80).collect(), (0..160).collect());
        let found = learner.influence(&models(&learner, &inside), REGULARIZATION, &inside, &all).unwrap();
        let scores = signal(&found, INVERSE_HESSIAN);
        assert!(
            scores[..80].iter().all(|score| *score > 0.0) && scores[80..].iter().all(|score| *score < 0.0)
        );
        let plain = learner
            .artifact(&models(&learner, &inside), &Wanted { gradients: true, ..Wanted::default() })
            .unwrap();
        let loss = auc(signal(&plain.signals, reticent_audit::GRADIENT_NORM), 80);
        assert!(loss < 0.8, "{classes} classes: gradient norms alone {loss}");
    }
}

#[test]
fn nothing_is_found_in_a_model_of_other_records() {
    let learner = learner("others", 600, 2);
    let (inside, asked): (Vec<usize>, Vec<usize>) = ((0..200).collect(), (0..400).collect());
    let elsewhere = models(&learner, &(400..600).collect::<Vec<_>>());
    let found = learner.influence(&elsewhere, REGULARIZATION, &inside, &asked).unwrap();
    for name in [INVERSE_HESSIAN, SELF_INFLUENCE] {
        // Four standard deviations of 200 against 200.
        let auc = auc(signal(&found, name), 200);
        assert!((auc - 0.5).abs() < 4.0 * 0.029, "{name}: {auc}");
    }
}

/// Points around a centre a class, or with labels that have nothing to do with them, which a network can only learn by heart.
fn network(key: &str, is_random: bool) -> NetworkLearner {
    let of = |what: &str, place: usize| number(&format!("{key} {what}"), place);
    let labels: Vec<u32> = (0..600).map(|record| (1.5 * (of("label", record) + 1.0)) as u32).collect();
    let inputs = (0..600 * 8).map(|place| {
        let centre = if is_random { 0.0 } else { of("centre", labels[place / 8] as usize * 8 + place % 8) };
        (0.6 * centre + of("point", place)) as f32
    });
    let examples =
        Examples::new(&[8], Inputs::Real(inputs.collect()), Targets::Classes(labels.clone())).unwrap();
    let description = Description::reading(&[8])
        .then(LayerKind::Linear { out: 32, bias: true })
        .then(LayerKind::Relu)
        .then(LayerKind::Linear { out: 3, bias: true });
    let recipe = Recipe {
        optimizer: OptimizerSettings::adam(),
        schedule: Schedule::constant(0.01),
        average: None,
        denoise: None,
    };
    let terms = TrainingTerms::NonPrivate(Baseline::new(Batching::Shuffled { size: 16 }, 1200));
    NetworkLearner::new(Arc::new(examples), NetworkTraining { description, terms, recipe }).unwrap()
}

/// Areas of both attacks and of gradient norms, on average over four networks trained on `inside`.
fn areas(learner: &NetworkLearner, trained: &[usize]) -> [f64; 3] {
    let (inside, asked): (Vec<usize>, Vec<usize>) = ((0..200).collect(), (0..400).collect());
    let mut areas = [0.0; 3];
    for key in ["first", "second", "third", "fourth"] {
        let wanted = Wanted { weights: true, gradients: true, ..Wanted::default() };
        let artifact = learner.fit(trained, key, &wanted, &|| false).unwrap();
        let found = learner.influence(&artifact.weights.unwrap(), &inside, &asked).unwrap();
        let norms = &signal(&artifact.signals, reticent_audit::GRADIENT_NORM)[..400];
        let all = [signal(&found, INVERSE_HESSIAN), signal(&found, SELF_INFLUENCE), norms];
        areas.iter_mut().zip(all).for_each(|(sum, scores)| *sum += 0.25 * auc(scores, 200));
    }
    areas
}

#[test]
fn the_last_layer_of_a_network_tells_members() {
    let (inside, elsewhere): (Vec<usize>, Vec<usize>) = ((0..200).collect(), (400..600).collect());
    let [hessian, influence, _] = areas(&network("by heart", true), &inside);
    assert!(hessian > 0.65 && influence > 0.7, "{hessian} {influence}");
    let [hessian, _, norm] = areas(&network("judged", false), &inside);
    assert!(hessian > norm + 0.03, "weights tell more than losses: {hessian}, gradient norms {norm}");
    // The networks are of the same records: four standard deviations of one of them.
    for area in areas(&network("judged", false), &elsewhere) {
        assert!((area - 0.5).abs() < 4.0 * 0.029, "{area}");
    }
}
