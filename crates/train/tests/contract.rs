//! The contract of gradient sums on the CPU engine and on a model that is not described.

use crate::model::Softmax;
use reticent_noise::entropy::SeededForTests;
use reticent_testkit::contract::{
    self, Case, Described, Fault, Modelled, Subject, Twin, cancelling, cases, hostile, network, sums, uniform,
};
use reticent_train::describe::{Layer, LayerKind, Objective};
use reticent_train::{Description, Examples, Inputs, Layout, Resources, Selection, Targets, model_engine};

pub(crate) fn weights(layout: &Layout, seed: u64) -> Vec<f32> {
    let mut bits = SeededForTests::new(seed);
    (0..layout.weights()).map(|_| 0.7 * uniform(&mut bits)).collect()
}

pub(crate) fn layout(description: &Description) -> Layout {
    Described::new(description, Vec::new(), 1, 1).unwrap().layout()
}

fn described(case: &Case, threads: usize, chunk: usize) -> Described {
    let weights = weights(&layout(&case.description), 7);
    Described::new(&case.description, weights, threads, chunk).unwrap()
}

fn check_sums(case: &Case, subject: &mut dyn Subject) -> Result<(), contract::Violation> {
    let layout = subject.layout();
    let weights = weights(&layout, 7);
    let truth = |examples: &Examples, example: usize| {
        network::pass(&case.description, &layout, &weights, examples, example).gradient
    };
    sums(subject, &truth, &case.examples)
}

#[test]
fn sums_of_every_kind_of_layer_are_those_of_the_reference() {
    for case in cases() {
        for (threads, chunk) in [(1, 100), (2, 3), (3, 1)] {
            let held = check_sums(&case, &mut described(&case, threads, chunk));
            assert_eq!(held, Ok(()), "{}, {threads} threads, chunks of {chunk}", case.name);
        }
    }
}

#[test]
fn no_unit_of_any_network_adds_more_than_the_norm() {
    for case in cases() {
        for (threads, chunk) in [(1, 100), (2, 3)] {
            let mut subject = described(&case, threads, chunk);
            assert_eq!(hostile(&mut subject, &case.examples), Ok(()), "{}", case.name);
            assert_eq!(cancelling(&mut subject, &case.examples), Ok(()), "{}", case.name);
        }
    }
}

#[test]
fn what_cancels_in_a_unit_does_not_drown_others() {
    let frozen = Layer { frozen: true, ..LayerKind::Linear { out: 1, bias: false }.into() };
    let linear = LayerKind::Linear { out: 1, bias: true };
    let table = LayerKind::Embedding { vocabulary: 5, out: 3 };
    let networks = [
        Description::reading(&[4]).then(linear.clone()),
        Description::reading(&[2, 2]).then(linear.clone()).then(LayerKind::Flatten).then(frozen),
        Description::reading(&[1]).then(table).then(LayerKind::Flatten).then(linear),
    ];
    for description in networks {
        let description = Description { loss: Objective::Squared, ..description };
        let examples = contract::examples(&description, 50, 3);
        let layout = layout(&description);
        for weights in [vec![0.0; layout.weights()], weights(&layout, 5)] {
            let mut subject = Described::new(&description, weights, 1, 1000).unwrap();
            assert_eq!(cancelling(&mut subject, &examples), Ok(()), "{description:?}");
        }
    }
}

#[test]
fn squares_that_are_too_small_for_single_precision_still_count() {
    use reticent_train::Clipping;
    let width = 400;
    for (rule, input, gradient) in [
        (Clipping::Flat { norm: 1e-3 }, 9e17f32, 2.5e-23f32),
        (Clipping::Automatic { norm: 1.0, stability: 1e-3 }, 9e17, 2.5e-23),
        (Clipping::Flat { norm: 1e-9 }, 1e12, 1e-20),
        (Clipping::Flat { norm: 1e-9 }, 1.0, 2e-23),
    ] {
        let frozen = Layer { frozen: true, ..LayerKind::Linear { out: 1, bias: false }.into() };
        let linear = LayerKind::Linear { out: width, bias: true };
        let mut description = Description::reading(&[width]).then(linear).then(frozen);
        description.loss = Objective::Squared;
        let first = width * width + width;
        let weights = (0..first + width).map(|i| if i < first { 0.0 } else { gradient }).collect();
        let targets = Targets::Numbers(vec![-1.0]);
        let examples = Examples::new(&[width], Inputs::Real(vec![input; width]), targets).unwrap();
        let mut subject = Described::new(&description, weights, 1, 1).unwrap();
        let sum = subject.sum(&examples, &Selection::of_examples(vec![0]), Some(&rule)).unwrap();
        let norm = sum.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        assert!(norm <= rule.norm(), "{rule:?}: {norm}");
    }
}

#[test]
fn a_model_that_is_not_described_holds_the_contract() {
    let description = Description::reading(&[4]).then(LayerKind::Linear { out: 3, bias: true });
    let examples = contract::examples(&description, 8, 2);
    let layout = layout(&description);
    let weights = weights(&layout, 9);
    // The model has three frozen weights before those of the layer.
    let own: Vec<f32> = [0.0; 3].iter().chain(&weights).copied().collect();
    let mut subject = Modelled { model: Softmax::new(4, 3), weights: own };
    let truth = |examples: &Examples, example: usize| {
        network::pass(&description, &layout, &weights, examples, example).gradient
    };
    assert_eq!(sums(&mut subject, &truth, &examples), Ok(()));
    assert_eq!(hostile(&mut subject, &examples), Ok(()));
    let engine = model_engine(Box::new(Softmax::new(4, 3)), Resources { threads: 2, chunk: None }).unwrap();
    let mut subject = Described::on(engine, &subject.weights).unwrap();
    assert_eq!(sums(&mut subject, &truth, &examples), Ok(()));
    assert_eq!(hostile(&mut subject, &examples), Ok(()));
}

#[test]
fn the_suites_find_every_mistake() {
    let name = "linear, squared loss";
    let case = cases().into_iter().find(|case| case.name == name).unwrap();
    let twin = |fault| Twin::new(described(&case, 1, 100), fault);
    for fault in Fault::ALL {
        let (summed, attacked) =
            (check_sums(&case, &mut twin(fault)), hostile(&mut twin(fault), &case.examples));
        match fault {
            Fault::PassesOnWhatIsNotFinite => assert!(attacked.is_err(), "{fault:?}"),
            _ => assert!(summed.is_err(), "{fault:?}"),
        }
        let bounded = [Fault::DropsTheLast, Fault::Remembers, Fault::ClipsTheMean];
        if !bounded.contains(&fault) {
            assert!(attacked.is_err(), "{fault:?} passes as bounded");
        }
    }
}

/// The reference itself: its gradients are the slopes of its loss.
#[test]
fn the_reference_descends() {
    for case in cases() {
        let layout = layout(&case.description);
        let weights = weights(&layout, 7);
        let pass = |weights: &[f32], example: usize| {
            network::pass(&case.description, &layout, weights, &case.examples, example)
        };
        let gradient = pass(&weights, 1).gradient;
        let trained = layout.parameters().iter().enumerate().filter(|(_, p)| p.trainable);
        let places: Vec<usize> = trained.flat_map(|(number, _)| layout.weight_range(number)).collect();
        for (i, place) in places.iter().enumerate().step_by(1 + places.len() / 12) {
            let at = |step: f32| {
                let mut weights = weights.clone();
                weights[*place] += step;
                (pass(&weights, 1).loss, f64::from(weights[*place]))
            };
            let ((up, high), (down, low)) = (at(1e-4), at(-1e-4));
            let slope = (up - down) / (high - low);
            assert!(
                (slope - gradient[i]).abs() <= 1e-4 * (1.0 + gradient[i].abs()),
                "{}, weight {place}: {slope} {}",
                case.name,
                gradient[i]
            );
        }
    }
}
