use super::*;
use crate::Parameter;

fn layout() -> Layout {
    let parameter = |name: &str, size, trainable| Parameter {
        name: name.to_owned(),
        shape: vec![size],
        group: 0,
        trainable,
    };
    Layout::new(vec![
        parameter("a", 1, true),
        parameter("b", 2, true),
        parameter("c", 2, false),
        parameter("d", 1, true),
    ])
}

fn input(rate: f64) -> StepInput {
    StepInput { rate, scale: 0.5, noise_variance: None }
}

fn run(settings: OptimizerSettings, inputs: &[StepInput]) -> Vec<f32> {
    let layout = layout();
    let segments = Segments::of(&layout);
    let mut optimizer = Optimizer::new(settings, layout.gradients()).unwrap();
    let mut weights = vec![1.0f32; layout.weights()];
    for (step, input) in inputs.iter().enumerate() {
        let sum: Vec<f32> = (0..4).map(|i| (i as f32 - 1.0) * (1.0 + step as f32)).collect();
        optimizer.step(&mut weights, &segments, &sum, *input);
    }
    assert_eq!(weights[3..5], [1.0, 1.0], "frozen weights stay");
    weights
}

/// The trained weights after two steps with mean gradients g and 2g, by a formula for one weight.
fn expect(weights: &[f32], formula: impl Fn(f64) -> f64) {
    for (place, own) in [(0, 0), (1, 1), (2, 2), (5, 3)] {
        let gradient = 0.5 * (f64::from(own) - 1.0);
        let wanted = formula(gradient);
        assert!((f64::from(weights[place]) - wanted).abs() < 1e-5, "{own}: {} {wanted}", weights[place]);
    }
}

#[test]
fn segments_join_neighbours_and_skip_frozen_ones() {
    let segments: Vec<_> = Segments::of(&layout()).iter().collect();
    assert_eq!(segments, [(0..3, 0..3), (5..6, 3..4)]);
}

#[test]
fn descent_follows_its_formulas() {
    let two = [input(0.1), input(0.1)];
    expect(&run(OptimizerSettings::sgd(0.0), &two), |g| 1.0 - 0.1 * 3.0 * g);
    expect(&run(OptimizerSettings::sgd(0.9), &two), |g| 1.0 - 0.1 * (g + 2.9 * g));
    let nesterov = OptimizerSettings::Sgd { momentum: 0.9, nesterov: true, weight_decay: 0.0 };
    expect(&run(nesterov, &two), |g| 1.0 - 0.1 * (1.9 * g) - 0.1 * (2.0 * g + 0.9 * 2.9 * g));
    let decay = OptimizerSettings::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.1 };
    expect(&run(decay, &two), |g| 0.99 * (0.99 - 0.1 * g) - 0.2 * g);
}

fn adam_by_formula(g: f64, adam: Adam, noise: f64, rate: f64) -> f64 {
    let (mut w, mut m, mut v) = (1.0f64, 0.0, 0.0);
    for t in 1..=2 {
        let pull = adam.weight_decay * w;
        let g = g * f64::from(t) + if adam.decoupled { 0.0 } else { pull };
        m = adam.beta1 * m + (1.0 - adam.beta1) * g;
        v = adam.beta2 * v + (1.0 - adam.beta2) * g * g;
        let (mh, vh) = (m / (1.0 - adam.beta1.powi(t)), v / (1.0 - adam.beta2.powi(t)));
        let size = (vh - noise).max(adam.noise_floor * noise).sqrt() + adam.stability;
        w -= rate * (mh / size + if adam.decoupled { pull } else { 0.0 });
    }
    w
}

#[test]
fn adam_follows_its_formulas_with_and_without_the_noise() {
    let adam = Adam::default();
    for adam in
        [adam, Adam { weight_decay: 0.1, ..adam }, Adam { weight_decay: 0.1, decoupled: true, ..adam }]
    {
        for noise in [None, Some(0.2), Some(100.0)] {
            let input = StepInput { noise_variance: noise, ..input(0.01) };
            let weights = run(OptimizerSettings::Adam(adam), &[input, input]);
            expect(&weights, |g| adam_by_formula(g, adam, noise.unwrap_or(0.0), 0.01));
            let plain = Adam { subtract_noise: false, ..adam };
            let weights = run(OptimizerSettings::Adam(plain), &[input, input]);
            expect(&weights, |g| adam_by_formula(g, adam, 0.0, 0.01));
        }
    }
}

#[test]
fn long_vectors_in_pieces_equal_short_ones() {
    let size = 3 * PIECE + 17;
    let parameter = Parameter { name: "w".to_owned(), shape: vec![size], group: 0, trainable: true };
    let segments = Segments::of(&Layout::new(vec![parameter]));
    let mut optimizer = Optimizer::new(OptimizerSettings::adam(), size).unwrap();
    let (mut weights, sum) = (vec![1.0f32; size], vec![2.0f32; size]);
    optimizer.step(&mut weights, &segments, &sum, input(0.1));
    assert!(weights.iter().all(|w| *w == weights[0]) && (weights[0] - 0.9).abs() < 1e-6);
}

#[test]
fn numbers_without_meaning_are_refused() {
    let adam = Adam::default();
    let bad = [
        OptimizerSettings::sgd(1.0),
        OptimizerSettings::sgd(f64::NAN),
        OptimizerSettings::Sgd { momentum: 0.0, nesterov: true, weight_decay: 0.0 },
        OptimizerSettings::Sgd { momentum: 0.0, nesterov: false, weight_decay: -1.0 },
        OptimizerSettings::Adam(Adam { beta1: 1.0, ..adam }),
        OptimizerSettings::Adam(Adam { beta2: -0.1, ..adam }),
        OptimizerSettings::Adam(Adam { stability: 0.0, ..adam }),
        OptimizerSettings::Adam(Adam { noise_floor: 0.0, ..adam }),
        OptimizerSettings::adamw(f64::INFINITY),
    ];
    for settings in bad {
        assert!(Optimizer::new(settings, 1).is_err(), "{settings:?}");
    }
}

#[test]
fn settings_have_a_short_written_form() {
    let text = serde_json::to_string(&OptimizerSettings::sgd(0.9)).unwrap();
    assert_eq!(serde_json::from_str::<OptimizerSettings>(&text).unwrap(), OptimizerSettings::sgd(0.9));
    let adam: OptimizerSettings = serde_json::from_str(r#"{"adam": {"beta1": 0.5}}"#).unwrap();
    assert_eq!(adam, OptimizerSettings::Adam(Adam { beta1: 0.5, ..Adam::default() }));
    assert!(serde_json::from_str::<OptimizerSettings>(r#"{"adam": {"beta3": 0.5}}"#).is_err());
}
