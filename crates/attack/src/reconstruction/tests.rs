use super::first_layer::FirstLayer;
use super::inversion::Inversion;
use super::observed::observed;
use super::*;
use crate::{Learner, NetworkLearner, NetworkTraining, Wanted};
use reticent_core::profile::gaussian_noise_multiplier_up;
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_data::{FeatureMatrix, keyed_hash};
use reticent_erm::{
    Classes, FitMethod, FitReport, Linear, MarginLoss, Settings, SparseRows, fit, fit_multiclass,
};
use reticent_noise::NoiseSession;
use reticent_train::describe::LayerKind;
use reticent_train::inspect::Inspector;
use reticent_train::{
    Baseline, Batching, Clipping, Description, Device, Examples, Inputs, OptimizerSettings, PlanSettings,
    PrivacyPlan, Recipe, Resources, Schedule, Targets, TrainingTerms, engine,
};
use std::sync::Arc;

fn uniform(key: &str, place: usize) -> f32 {
    (keyed_hash(key, &place.to_le_bytes()) >> 40) as f32 / (1u64 << 24) as f32
}

/// Pictures of a bright rectangle each, of 8 × 8 pixels; the class is the quadrant.
fn pictures(count: usize) -> Examples {
    let (mut values, mut classes) = (Vec::new(), Vec::new());
    for record in 0..count {
        let draw = |what: &str| (keyed_hash(what, &record.to_le_bytes()) >> 32) as usize;
        let (top, left) = (draw("top") % 2, draw("left") % 2);
        let (height, width) = (2 + draw("height") % 3, 2 + draw("width") % 3);
        let shade = 120 + (draw("shade") % 136) as u8;
        for pixel in 0..64 {
            let inside = |at: usize, side: usize, size: usize| (4 * side..4 * side + size).contains(&at);
            let is_bright = inside(pixel / 8, top, height) && inside(pixel % 8, left, width);
            values.push(if is_bright { shade } else { (draw("dark") % 20) as u8 });
        }
        classes.push((2 * top + left) as u32);
    }
    let inputs = Inputs::Pixels { values, shift: vec![0.5], scale: vec![0.5] };
    Examples::new(&[1, 8, 8], inputs, Targets::Classes(classes)).unwrap()
}

fn linear(out: usize) -> LayerKind {
    LayerKind::Linear { out, bias: true }
}

fn perceptron() -> Description {
    let start = Description::reading(&[1, 8, 8]).then(LayerKind::Flatten);
    start.then(linear(64)).then(LayerKind::Tanh).then(linear(4))
}

fn convolutions() -> Description {
    let conv = LayerKind::Conv2d {
        out: 8,
        kernel: [3, 3],
        stride: [1, 1],
        padding: [1, 1],
        dilation: [1, 1],
        groups: 1,
        bias: true,
    };
    let start = Description::reading(&[1, 8, 8]).then(conv).then(LayerKind::Tanh);
    start.then(LayerKind::Flatten).then(linear(4))
}

/// Random weights, a function of the key.
fn weights(description: &Description, key: &str) -> Vec<f32> {
    let engine = engine(description, Device::Cpu, Resources::SINGLE).unwrap();
    let mut bits = reticent_noise::entropy::Repeatable::new([keyed_hash(key, b"weights"), 0, 0, 0]);
    engine.repeatable_weights(&mut bits).unwrap()
}

fn settings(batches: &[usize], repeats: usize) -> GradientSettings {
    let inversion = InversionSettings { steps: 300, ..InversionSettings::default() };
    GradientSettings { batches: batches.to_vec(), repeats, inversion, ..GradientSettings::default() }
}

fn run(description: &Description, settings: &GradientSettings) -> Vec<Reconstruction> {
    let weights = weights(description, "network");
    from_gradients(description, &weights, &pictures(500), settings, &|| false).unwrap()
}

fn find<'a>(all: &'a [Reconstruction], name: &str, what: &str, condition: &str) -> &'a DisclosureMeasure {
    let own = all.iter().find(|own| own.disclosure.name == name).unwrap();
    let measures = &own.disclosure.measures;
    measures.iter().find(|own| own.what.contains(what) && own.condition.contains(condition)).unwrap()
}

#[test]
fn the_mixed_derivative_is_that_of_double_precision() {
    // One tanh layer by hand: ℓ = −ln softmax(V·tanh(W·x + b) + c) at the class, in f64 with a tiny step.
    let description = Description::reading(&[6]).then(linear(5)).then(LayerKind::Tanh).then(linear(3));
    let weights = weights(&description, "mixed");
    let rows: Vec<f32> = (0..12).map(|place| uniform("x", place)).collect();
    let examples = Examples::new(&[6], Inputs::Real(rows.clone()), Targets::Classes(vec![2, 0])).unwrap();
    let space = RecordSpace::of(&examples).unwrap();
    let mut inspector = Inspector::new(&description, Resources::SINGLE).unwrap();
    let direction: Vec<f64> = (0..weights.len()).map(|place| f64::from(uniform("v", place)) - 0.5).collect();
    let mut inversion = Inversion { inspector: &mut inspector, weights: &weights, space: &space };
    let found = inversion.mixed(&examples, &[0, 1], &direction).unwrap();
    let loss = |weights: &[f64], x: &[f64], class: usize| {
        let (first, second) = weights.split_at(35);
        let hidden: Vec<f64> = (0..5)
            .map(|j| libm::tanh((0..6).map(|i| first[6 * j + i] * x[i]).sum::<f64>() + first[30 + j]))
            .collect();
        let outputs: Vec<f64> = (0..3)
            .map(|k| (0..5).map(|j| second[5 * k + j] * hidden[j]).sum::<f64>() + second[15 + k])
            .collect();
        libm::log(outputs.iter().map(|own| libm::exp(*own)).sum()) - outputs[class]
    };
    let own: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
    let scale = found.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (record, class) in [2, 0].into_iter().enumerate() {
        let x: Vec<f64> = rows[6 * record..][..6].iter().map(|value| f64::from(*value)).collect();
        for place in 0..6 {
            // d²ℓ/dx ds by four evaluations.
            let h = 1e-4;
            let at = |s: f64, t: f64| {
                let moved: Vec<f64> = own.iter().zip(&direction).map(|(own, v)| own + s * v).collect();
                let mut x = x.clone();
                x[place] += t;
                loss(&moved, &x, class)
            };
            let exact = (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h);
            let error = (found[6 * record + place] - exact).abs();
            assert!(error < 2e-3 * scale, "{exact} {}", found[6 * record + place]);
        }
    }
}

#[test]
fn one_record_is_recovered_exactly_from_a_first_linear_layer() {
    let all = run(&perceptron(), &settings(&[1], 8));
    let exact = find(&all, "first-layer", "PSNR", "batch of 1");
    assert!(exact.attack.lower > 60.0, "{exact:?}");
    assert!(exact.baseline.unwrap().upper < 30.0 && exact.difference.unwrap().lower > 40.0);
    let labels = find(&all, "first-layer", "classes", "batch of 1");
    assert_eq!((labels.attack.value, labels.attack.lower), (1.0, 1.0));
    let inverted = find(&all, "gradient-inversion", "PSNR", "batch of 1");
    assert!(inverted.difference.unwrap().lower > 3.0, "{inverted:?}");
}

#[test]
fn inversion_finds_the_records_of_a_network_of_convolutions() {
    let all = run(&convolutions(), &settings(&[1, 4], 6));
    assert_eq!(all.len(), 1, "there is no first linear layer");
    for condition in ["batch of 1", "batch of 4"] {
        let found = find(&all, "gradient-inversion", "PSNR", condition);
        assert!(found.difference.unwrap().lower > 2.0, "{found:?}");
        let similar = find(&all, "gradient-inversion", "SSIM", condition);
        assert!(similar.difference.unwrap().value > 0.1, "{similar:?}");
    }
    assert_eq!(all[0].shown.len(), 2);
    assert_eq!(all[0].shown[1].records.len(), 4 * 64);
    assert_eq!(all[0].shown[1].recovered.len(), 4 * 64);
}

#[test]
fn a_gradient_that_is_only_noise_recovers_nothing() {
    let release = GradientRelease::Private { epsilon: 0.1, delta: 1e-5, norm: 1.0 };
    let settings = GradientSettings { releases: vec![release], ..settings(&[1], 8) };
    let all = run(&perceptron(), &settings);
    for name in ["first-layer", "gradient-inversion"] {
        let found = find(&all, name, "PSNR", "ε = 0.1");
        assert!(found.difference.unwrap().upper <= 0.5, "{name}: {found:?}");
    }
}

#[test]
fn a_private_step_releases_the_clipped_gradient_and_noise_of_its_plan() {
    let description = Description::reading(&[6]).then(linear(3));
    let weights = weights(&description, "private");
    let rows = (0..6).map(|place| 8.0 * uniform("x", place)).collect();
    let one = Examples::new(&[6], Inputs::Real(rows), Targets::Classes(vec![1])).unwrap();
    let mut inspector = Inspector::new(&description, Resources::SINGLE).unwrap();
    let mut seen = |release| observed(&mut inspector, &description, &weights, &one, release).unwrap();
    let exact = seen(GradientRelease::Exact);
    let length = exact.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    let (epsilon, norm) = (40.0, 0.5);
    let clipped: Vec<f64> = exact.iter().map(|value| f64::from(*value) * (norm / length).min(1.0)).collect();
    assert!(length > norm);
    let (mut squares, draws) = (0.0, 200);
    for _ in 0..draws {
        let noisy = seen(GradientRelease::Private { epsilon, delta: 1e-5, norm });
        squares += noisy.iter().zip(&clipped).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>();
    }
    let spread = (squares / (draws * exact.len()) as f64).sqrt();
    // That of the Gaussian mechanism; six deviations of 4200 squares.
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-5).unwrap());
    let expected = norm * gaussian_noise_multiplier_up(epsilon, delta).unwrap().get();
    assert!((spread / expected - 1.0).abs() < 0.07, "{spread} {expected}");
}

#[test]
fn too_few_records_and_empty_batches_are_refused() {
    let description = perceptron();
    let weights = weights(&description, "network");
    for settings in [settings(&[16], 20), settings(&[], 1), settings(&[0], 1), settings(&[1], 0)] {
        let refusal =
            from_gradients(&description, &weights, &pictures(100), &settings, &|| false).unwrap_err();
        assert!(matches!(refusal, crate::AttackError::Invalid(_)), "{refusal}");
    }
    let stopped = from_gradients(&description, &weights, &pictures(100), &settings(&[1], 1), &|| true);
    assert!(matches!(stopped.unwrap_err(), crate::AttackError::Interrupted));
}

/// Rows of norm at most 1 around one of two centres, and their side.
fn rows(count: usize, classes: usize) -> FeatureMatrix {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..count {
        let class = row % classes;
        let number = |place: usize| uniform("row", 8 * row + place) - 0.5;
        values.extend(
            (0..8).map(|place| f64::from(0.35 * number(place)) + if place == class { 0.2 } else { 0.0 }),
        );
        labels.push(if classes == 2 { 2.0 * class as f64 - 1.0 } else { class as f64 });
    }
    FeatureMatrix::dense(8, &values, labels, 1.0).unwrap()
}

fn fitted(rows: &FeatureMatrix, classes: u32, method: FitMethod, epsilon: f64) -> (Vec<Linear>, FitReport) {
    let own: Vec<f64> = if classes == 2 { rows.labels().to_vec() } else { vec![0.0; rows.rows()] };
    let sparse =
        SparseRows::new(rows.dimension(), rows.offsets(), rows.columns(), rows.values(), &own).unwrap();
    let settings = Settings { regularization: Some(1e-2), ..Settings::default() };
    let budget = Guarantee::pure(Epsilon::new(epsilon).unwrap());
    let mut session = NoiseSession::without_limit("row", settings.neighboring).unwrap();
    if classes == 2 {
        let fitted = fit(&sparse, MarginLoss::Logistic, method, budget, &settings, &mut session).unwrap();
        (vec![Linear { weights: fitted.weights, intercept: fitted.intercept }], fitted.report)
    } else {
        let of: Vec<u32> = rows.labels().iter().map(|label| *label as u32).collect();
        let of = Classes { of: &of, count: classes };
        let many = fit_multiclass(&sparse, of, MarginLoss::Logistic, method, budget, &settings, &mut session);
        let many = many.unwrap();
        (many.models, many.report)
    }
}

fn model_of<'a>(models: &'a [Linear], report: &FitReport, method: FitMethod) -> LinearTarget<'a> {
    let (regularization, size, intercept) = (report.regularization, report.size, report.intercept_feature);
    LinearTarget { models, loss: MarginLoss::Logistic, method, regularization, size, intercept }
}

fn attacked(rows: &FeatureMatrix, classes: u32, method: FitMethod, epsilon: f64) -> DisclosureMeasure {
    let (models, report) = fitted(rows, classes, method, epsilon);
    let model = model_of(&models, &report, method);
    let settings = InformedSettings { records: 60, confidence: 0.95, key: "k".to_owned() };
    let found = informed(rows, &model, &settings).unwrap().disclosure;
    let [recovered, error, labels] = &found.measures[..] else { panic!("three measures") };
    if method == FitMethod::Exact {
        assert!(error.attack.upper < 1e-3 && error.baseline.unwrap().lower > 0.3, "{error:?}");
        assert!(labels.attack.lower > 0.9, "{labels:?}");
    }
    recovered.clone()
}

#[test]
fn a_minimizer_gives_away_every_record_and_noise_hides_it() {
    let rows = rows(300, 2);
    let exact = attacked(&rows, 2, FitMethod::Exact, 1.0);
    assert!(exact.attack.lower > 0.9 && exact.difference.unwrap().lower > 0.8, "{exact:?}");
    let several = attacked(&self::rows(300, 3), 3, FitMethod::Exact, 1.0);
    assert!(several.attack.lower > 0.9, "{several:?}");
    for method in [FitMethod::Output, FitMethod::Objective] {
        let private = attacked(&rows, 2, method, 1.0);
        assert!(private.attack.upper < 0.1 && private.difference.unwrap().lower <= 0.0, "{private:?}");
    }
}

#[test]
fn descents_and_models_without_intercept_are_refused() {
    let models = [Linear { weights: vec![0.0; 8], intercept: 0.0 }];
    let (loss, regularization, size) = (MarginLoss::Logistic, 0.1, 300);
    let settings = InformedSettings { records: 5, confidence: 0.95, key: "k".to_owned() };
    for (method, intercept) in [(FitMethod::Sgd, 0.3), (FitMethod::Exact, 0.0)] {
        let model = LinearTarget { models: &models, loss, method, regularization, size, intercept };
        assert!(informed(&rows(300, 2), &model, &settings).is_err());
    }
}

/// A network of so many steps of full batches on pictures; with a plan, at a tiny ε.
fn recipe(is_private: bool) -> NetworkTraining {
    let description = perceptron_of(8);
    let dimension = Inspector::new(&description, Resources::SINGLE).unwrap().layout().gradients();
    let plan = || {
        let settings = PlanSettings {
            neighboring: Neighboring::AddRemove,
            unit: "example".to_owned(),
            size: 40,
            sampling_rate: 1.0,
            steps: 12,
            clipping: Clipping::Flat { norm: 1.0 },
            dimension,
            cyclic: None,
            growth: None,
        };
        PrivacyPlan::new(settings, 8.0, 1e-5).unwrap()
    };
    let baseline = Baseline::new(Batching::Shuffled { size: 1000 }, 12);
    NetworkTraining {
        description,
        terms: if is_private { TrainingTerms::Private(plan()) } else { TrainingTerms::NonPrivate(baseline) },
        recipe: Recipe {
            optimizer: OptimizerSettings::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 },
            schedule: Schedule::constant(0.5),
            average: None,
            denoise: None,
        },
    }
}

fn perceptron_of(hidden: usize) -> Description {
    let start = Description::reading(&[1, 8, 8]).then(LayerKind::Flatten);
    start.then(linear(hidden)).then(LayerKind::Tanh).then(linear(4))
}

#[test]
fn a_reconstruction_network_rebuilds_the_unknown_record_unless_noise_hides_it() {
    let settings = ShadowSettings { shadows: 400, targets: 40, confidence: 0.95, key: "k".to_owned() };
    let found = |is_private| {
        let all = informed_by_shadows(&pictures(480), &recipe(is_private), &settings, &|| false).unwrap();
        all.disclosure.measures[0].difference.unwrap()
    };
    let (open, hidden) = (found(false), found(true));
    assert!(open.lower > 2.0, "{open:?}");
    assert!(hidden.upper < 0.5, "{hidden:?}");
    let few = ShadowSettings { shadows: 5, ..settings.clone() };
    assert!(informed_by_shadows(&pictures(480), &recipe(false), &few, &|| false).is_err());
    assert!(settings.check(480, 50_000).is_ok());
    let refused = settings.check(480, 50_001).unwrap_err().to_string();
    assert!(refused.contains("train a smaller network"), "{refused}");
}

#[test]
fn the_difference_of_two_models_is_the_record_that_one_of_them_lacks() {
    for classes in [2, 3] {
        let all = rows(400, classes);
        let (without, one) = ((0..399).collect::<Vec<_>>(), [399]);
        let (fewer, added) = (all.subset(&without), all.subset(&one));
        let compared = |method: FitMethod| {
            let (first, report) = fitted(&fewer, classes as u32, method, 1.0);
            let (second, second_report) = fitted(&all, classes as u32, method, 1.0);
            let (first, second) =
                (model_of(&first, &report, method), model_of(&second, &second_report, method));
            let found = record_by_difference(&first, &second, &fewer, &added).unwrap().disclosure;
            assert!(record_by_difference(&first, &second, &fewer, &all).is_err());
            found.measures[0].clone()
        };
        let exact = compared(FitMethod::Exact);
        assert!(exact.attack.value < 0.05 && exact.baseline.unwrap().value > 0.3, "{exact:?}");
        assert!(exact.condition.contains("label recovered"));
        let private = compared(FitMethod::Output);
        assert!(private.attack.value > 0.3, "{private:?}");
    }
}

#[test]
fn a_falling_loss_tells_who_was_added_and_equal_models_tell_nothing() {
    let added: Vec<bool> = (0..200).map(|record| record < 100).collect();
    let noise = |key: &str| (0..200).map(|place| f64::from(uniform(key, place))).collect::<Vec<f64>>();
    let before = noise("before");
    let after: Vec<f64> =
        before.iter().zip(&added).map(|(loss, added)| loss + if *added { 0.2 } else { 0.0 }).collect();
    let found = added_by_difference(&before, &after, &added, 0.95).unwrap().disclosure;
    assert!(found.measures[0].attack.lower > 0.9 && found.measures[0].baseline.unwrap().value < 0.9);
    let found = added_by_difference(&before, &noise("after"), &added, 0.9999).unwrap().disclosure;
    assert!(found.measures[0].attack.lower < 0.5 && found.measures[0].attack.upper > 0.5);
}

#[test]
fn a_trained_model_shows_its_classes_and_a_random_one_does_not() {
    let (records, training) = (pictures(480), recipe(false));
    let learner = NetworkLearner::new(Arc::new(records.clone()), training.clone()).unwrap();
    let wanted = Wanted { weights: true, ..Wanted::default() };
    let all: Vec<usize> = (0..records.len()).collect();
    let trained = learner.fit(&all, "k", &wanted, &|| false).unwrap().weights.unwrap();
    let settings = InversionSettings { steps: 200, ..InversionSettings::default() };
    let recognized = |weights: &[f32]| {
        let found =
            typical_records(&training.description, weights, &records, &settings, 0.95, &|| false).unwrap();
        assert_eq!(found.disclosure.records, 4);
        found.disclosure.measures[0].attack.value
    };
    assert_eq!(recognized(&trained), 1.0);
    // Ten models that learned nothing: of 40 guesses among four classes more than 22 are right once in 10⁵.
    let blind = |model: usize| recognized(&weights(&training.description, &format!("model {model}")));
    assert!((0..10).map(blind).sum::<f64>() / 10.0 < 0.56);
}

#[test]
fn outputs_that_one_record_alone_changes_give_it_away_in_a_batch() {
    let space = RecordSpace::of(&pictures(50)).unwrap();
    let layout = Inspector::new(&perceptron_of(6), Resources::SINGLE).unwrap().layout().clone();
    let first = FirstLayer::of(&perceptron_of(6), &layout).unwrap();
    assert!(FirstLayer::of(&convolutions(), &layout).is_none());
    let batch = pictures(3);
    let mut rows = vec![0.0; 3 * 64];
    rows.chunks_exact_mut(64).enumerate().for_each(|(record, row)| batch.read(record, row));
    // Slopes of three records at six outputs: the first two outputs are the first record's, the last two the third's.
    let slopes = [
        [0.3, -0.2, 0.0, 0.1, 0.0, 0.0],
        [0.0, 0.0, 0.4, 0.2, 0.0, 0.0],
        [0.0, 0.0, 0.1, -0.5, 0.5, 0.2_f32],
    ];
    let mut gradient = vec![0.0; layout.gradients()];
    for (record, slopes) in slopes.iter().enumerate() {
        for (output, slope) in slopes.iter().enumerate() {
            let row = &mut gradient[64 * output..][..64];
            row.iter_mut().zip(&rows[64 * record..][..64]).for_each(|(sum, value)| *sum += slope * value);
            gradient[64 * 6 + output] += slope;
        }
    }
    let (found, count) = first.recover(&gradient, 3, &space);
    assert_eq!((found.len(), count), (3 * 64, 2));
    let nearest = |record: usize| {
        let truth = space.unit(&rows[64 * record..][..64]);
        found.chunks_exact(64).map(|found| space.decibels(&truth, found)).fold(0.0, f64::max)
    };
    assert!(nearest(0) > 80.0 && nearest(2) > 80.0 && nearest(1) < 60.0);
    assert_eq!(&found[128..], space.mean());
}
