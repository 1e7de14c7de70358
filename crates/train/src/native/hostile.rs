//! Units that try to move a sum by more than the clipping norm.

use super::*;
use crate::describe::{Kind, Layer, Loss};

/// The clipped sum of these units and what it was without the last one.
struct Case {
    network: Network,
    weights: Vec<f32>,
    examples: Examples,
}

impl Case {
    fn new(
        description: Description,
        weight: impl Fn(usize) -> f32,
        inputs: Inputs,
        targets: Vec<f32>,
    ) -> Self {
        let description = Description { loss: Loss::Squared, ..description };
        let examples = Examples::new(&description.input, inputs, Targets::Numbers(targets)).unwrap();
        let network = Network::new(description, Effort { threads: 1, chunk: Some(1000) }).unwrap();
        let weights = (0..network.layout().weights()).map(weight).collect();
        Self { network, weights, examples }
    }

    fn sum(&mut self, units: &[Vec<usize>], rule: &Clipping) -> Vec<f64> {
        let mut selection = Selection::default();
        units.iter().for_each(|unit| selection.push(unit.iter().copied()));
        let mut sum = vec![0.0; self.network.layout().gradients()];
        self.network
            .accumulate(&self.weights, &self.examples, &selection, Some(rule), &|| (), &mut sum)
            .unwrap();
        sum.into_iter().map(f64::from).collect()
    }

    /// How far the last unit moves the sum of the others, in clipping norms.
    fn moved(&mut self, units: &[Vec<usize>], rule: &Clipping) -> f64 {
        let (with, without) = (self.sum(units, rule), self.sum(&units[..units.len() - 1], rule));
        with.iter().zip(&without).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() / rule.norm()
    }
}

fn linear(out: usize) -> Kind {
    Kind::Linear { out, bias: true }
}

/// Fifty ordinary examples, then two with opposite targets.
fn opposed(huge: f32) -> Vec<f32> {
    (0..50).map(|i| 0.3 + 0.01 * i as f32).chain([huge, -huge]).collect()
}

/// One unit for each of fifty examples, and one of the last two.
fn users() -> Vec<Vec<usize>> {
    (0..50).map(|i| vec![i]).chain([vec![50, 51]]).collect()
}

#[test]
fn examples_of_a_user_that_cancel_do_not_wipe_out_others() {
    let rule = Clipping::Flat { norm: 1.0 };
    for huge in [1e4, 1e8, 1e10, 1e15] {
        let mut inputs: Vec<f32> = (0..50 * 4).map(|i| ((i * 7919) % 13) as f32 / 13.0).collect();
        inputs.extend([0.5; 8]);
        let mut case = Case::new(
            Description::reading(&[4]).then(linear(1)),
            |_| 0.0,
            Inputs::Real(inputs),
            opposed(huge),
        );
        let moved = case.moved(&users(), &rule);
        assert!(moved <= 1.001, "{huge:e}: {moved}");
        let tokens = Inputs::Tokens((0..50).map(|i| i % 5).chain([3, 3]).collect());
        let network = Description::reading(&[1])
            .then(Kind::Embedding { vocabulary: 5, out: 3 })
            .then(Kind::Flatten)
            .then(linear(1));
        let mut case = Case::new(network, |i| 0.1 * i as f32, tokens, opposed(huge));
        let moved = case.moved(&users(), &rule);
        assert!(moved <= 1.001, "tokens, {huge:e}: {moved}");
    }
}

#[test]
fn places_of_an_example_that_cancel_do_not_wipe_out_others() {
    let frozen = Layer { frozen: true, ..Kind::Linear { out: 1, bias: false }.into() };
    let network = Description::reading(&[2, 2]).then(linear(1)).then(Kind::Flatten).then(frozen);
    for huge in [1e8f32, 1e10, 1e14] {
        let mut inputs: Vec<f32> = (0..50 * 4).map(|i| ((i * 7919) % 13) as f32 / 13.0).collect();
        inputs.extend([0.5; 4]);
        let targets = opposed(huge)[..51].to_vec();
        let weight = |i: usize| if i == 4 { -1.0 } else { 1.0 };
        let mut case = Case::new(network.clone(), weight, Inputs::Real(inputs), targets);
        let units: Vec<Vec<usize>> = (0..51).map(|i| vec![i]).collect();
        let moved = case.moved(&units, &Clipping::Flat { norm: 1.0 });
        assert!(moved <= 1.001, "{huge:e}: {moved}");
    }
}

#[test]
fn squares_that_are_too_small_for_single_precision_still_count() {
    let width = 400;
    for (rule, input, gradient) in [
        (Clipping::Flat { norm: 1e-3 }, 9e17f32, 2.5e-23f32),
        (Clipping::Automatic { norm: 1.0, stability: 1e-3 }, 9e17, 2.5e-23),
        (Clipping::Flat { norm: 1e-9 }, 1e12, 1e-20),
        (Clipping::Flat { norm: 1e-9 }, 1.0, 2e-23),
    ] {
        let frozen = Layer { frozen: true, ..Kind::Linear { out: 1, bias: false }.into() };
        let network = Description::reading(&[width]).then(linear(width)).then(frozen);
        let first = width * width + width;
        let weight = |i: usize| if i < first { 0.0 } else { gradient };
        let mut case = Case::new(network, weight, Inputs::Real(vec![input; width]), vec![-1.0]);
        let moved = case.moved(&[vec![0]], &rule);
        assert!(moved <= 1.0, "{rule:?}: {moved}");
    }
}

#[test]
fn activations_in_a_row_have_the_slope_of_both() {
    let kinds = [
        [Kind::Relu, Kind::Sigmoid],
        [Kind::Tanh, Kind::Tanh],
        [Kind::Tanh, Kind::Sigmoid],
        [Kind::Sigmoid, Kind::Relu],
    ];
    for [first, second] in kinds {
        let name = format!("{first:?} {second:?}");
        let network = Description::reading(&[1]).then(linear(1)).then(first).then(second).then(linear(1));
        for x in [-0.8f32, 0.8] {
            let mut case = Case::new(network.clone(), |_| 0.5, Inputs::Real(vec![x]), vec![0.0]);
            let gradient = case.sum(&[vec![0]], &Clipping::Flat { norm: 1e6 });
            let mut loss = |step: f32| {
                let mut weights = case.weights.clone();
                weights[0] += step;
                0.5 * f64::from(case.network.outputs(&weights, &case.examples, &[0]).unwrap()[0]).powi(2)
            };
            let slope = (loss(1e-2) - loss(-1e-2)) / 2e-2;
            assert!((gradient[0] - slope).abs() < 1e-3, "{name} at {x}: {} {slope}", gradient[0]);
        }
    }
}
