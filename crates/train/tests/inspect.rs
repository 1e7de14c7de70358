//! What an inspection shows against the reference in double precision, for every kind of layer.

use crate::model::Softmax;
use reticent_noise::entropy::SeededForTests;
use reticent_testkit::contract::{Case, cases, network, uniform};
use reticent_train::describe::LayerKind;
use reticent_train::inspect::{GradientSummary, Inspected, Inspection, Inspector};
use reticent_train::{Description, Examples, Gradients, Inputs, Layout, Resources, Targets, TrainError};

fn weights(layout: &Layout) -> Vec<f32> {
    let mut bits = SeededForTests::new(11);
    (0..layout.weights()).map(|_| 0.7 * uniform(&mut bits)).collect()
}

fn inspector(description: &Description, threads: usize, chunk: usize) -> Inspector {
    Inspector::new(description, Resources { threads, chunk: Some(chunk) }).unwrap()
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let length = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let apart = length(&mut found.iter().zip(expected).map(|(f, e)| f - e));
    let scale = length(&mut expected.iter().copied());
    assert!(apart <= 3e-5 * (scale + 0.1), "{what}: {apart:.2e} beside {scale:.2e}");
}

fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|x| f64::from(*x)).collect()
}

/// What the reference sees, in the form of an inspection's arrays.
fn compare(case: &Case, which: &[usize], layers: &[String], layout: &Layout, seen: &Inspected) {
    let weights = weights(layout);
    let passes: Vec<network::Passed> = which
        .iter()
        .map(|example| network::pass(&case.description, layout, &weights, &case.examples, *example))
        .collect();
    let name = case.name;
    let losses: Vec<f64> = passes.iter().map(|pass| pass.loss).collect();
    close(seen.losses.as_ref().unwrap(), &losses, &format!("{name}: losses"));
    let gradients: Vec<f64> = passes.iter().flat_map(|pass| pass.gradient.clone()).collect();
    if let Some(found) = &seen.gradients {
        close(&wide(found), &gradients, &format!("{name}: gradients"));
    }
    let mut norms = vec![0.0; which.len() * layout.groups()];
    for (pass, norms) in passes.iter().zip(norms.chunks_mut(layout.groups())) {
        for (number, parameter) in layout.parameters().iter().enumerate() {
            let own = &pass.gradient[layout.gradient_range(number)];
            norms[parameter.group] += own.iter().map(|g| g * g).sum::<f64>();
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    }
    close(seen.layer_norms.as_ref().unwrap(), &norms, &format!("{name}: norms"));
    if let Some(found) = &seen.input_gradients {
        let expected: Vec<f64> = passes.iter().flat_map(|pass| pass.input_gradient.clone()).collect();
        close(&wide(found), &expected, &format!("{name}: input gradients"));
    }
    for (layer, found) in layers.iter().zip(&seen.activations) {
        let place: usize = layer.parse().unwrap();
        let expected: Vec<f64> = passes.iter().flat_map(|pass| pass.activations[place].clone()).collect();
        assert_eq!(found.layer, *layer);
        assert_eq!(found.shape.iter().product::<usize>() * which.len(), found.values.len());
        close(&wide(&found.values), &expected, &format!("{name}: output of layer {layer}"));
    }
}

#[test]
fn every_kind_of_layer_shows_what_the_reference_computes() {
    for case in cases() {
        let tokens = matches!(case.examples.inputs(), Inputs::Tokens(_));
        // Pooling layers and residual connections hold layers and buffers of their own: all outermost ones are looked at.
        let layers: Vec<String> = (0..case.description.layers.len()).rev().map(|i| i.to_string()).collect();
        let which = [3, 0, 7, 4, 5];
        for (threads, chunk, gradients) in [(1, 10, true), (2, 2, true), (1, 10, false), (2, 2, false)] {
            let mut inspector = inspector(&case.description, threads, chunk);
            let layout = inspector.layout().clone();
            let inspection = Inspection {
                gradients,
                input_gradients: !tokens,
                activations: layers.clone(),
                ..Inspection::everything()
            };
            let seen = inspector.inspect(&weights(&layout), &case.examples, &which, &inspection).unwrap();
            assert_eq!((seen.gradients.is_some(), seen.input_gradients.is_some()), (gradients, !tokens));
            compare(&case, &which, &layers, &layout, &seen);
        }
    }
}

#[test]
fn summaries_and_means_are_those_of_the_gradients() {
    let of = |row: &[f32], into: &mut [f64]| {
        into[0] = f64::from(row[0]);
        into[1] = row.iter().map(|slope| f64::from(*slope).powi(2)).sum();
    };
    for case in cases() {
        let which = [3, 0, 7, 4, 5];
        let mut inspector = inspector(&case.description, 2, 2);
        let (layout, wanted) =
            (inspector.layout().clone(), Inspection { gradients: true, ..Inspection::default() });
        let (weights, summary) = (weights(&layout), Some(GradientSummary { width: 2, of: &of }));
        let seen = inspector.inspect_with(&weights, &case.examples, &which, &wanted, summary).unwrap();
        let rows = seen.gradients.unwrap();
        let expected = rows.chunks_exact(layout.gradients()).flat_map(|row| {
            let mut own = [0.0; 2];
            of(row, &mut own);
            own
        });
        assert_eq!(seen.summaries.unwrap(), expected.collect::<Vec<_>>(), "{}", case.name);
        let mean = inspector.mean_gradient(&weights, &case.examples, &which).unwrap();
        let expected: Vec<f64> = (0..layout.gradients())
            .map(|place| {
                rows.iter().skip(place).step_by(layout.gradients()).map(|g| f64::from(*g)).sum::<f64>() / 5.0
            })
            .collect();
        close(&wide(&mean), &expected, &format!("{}: mean gradient", case.name));
    }
}

/// Where the network is nearly certain, one less the probability of the true class has no digits left in single precision.
#[test]
fn small_gradients_keep_their_digits() {
    let description = Description::reading(&[1]).then(LayerKind::Linear { out: 2, bias: false });
    let examples = Examples::new(&[1], Inputs::Real(vec![1.0]), Targets::Classes(vec![0])).unwrap();
    let wanted = Inspection { layer_norms: true, ..Inspection::default() };
    let seen = inspector(&description, 1, 1).inspect(&[40.0, 0.0], &examples, &[0], &wanted).unwrap();
    let expected = 2.0_f64.sqrt() * (-40.0_f64).exp();
    assert!((seen.layer_norms.unwrap()[0] / expected - 1.0).abs() < 1e-4);
}

/// The reference's gradients of inputs are the slopes of its loss.
#[test]
fn input_gradients_are_slopes() {
    for case in cases() {
        let Inputs::Real(values) = case.examples.inputs() else { continue };
        let layout = inspector(&case.description, 1, 1).layout().clone();
        let weights = weights(&layout);
        let size = case.examples.size();
        let loss = |place: usize, step: f32| {
            let mut values = values.clone();
            values[place] += step;
            let at = f64::from(values[place]);
            let targets: Targets = case.examples.targets().clone();
            let moved = Examples::new(case.examples.shape(), Inputs::Real(values), targets).unwrap();
            (network::pass(&case.description, &layout, &weights, &moved, 1).loss, at)
        };
        let gradient = network::pass(&case.description, &layout, &weights, &case.examples, 1).input_gradient;
        for i in (0..size).step_by(1 + size / 6) {
            let ((up, high), (down, low)) = (loss(size + i, 1e-4), loss(size + i, -1e-4));
            let slope = (up - down) / (high - low);
            let apart = (slope - gradient[i]).abs();
            assert!(apart <= 1e-4 * (1.0 + gradient[i].abs()), "{}: {slope} {}", case.name, gradient[i]);
        }
    }
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let all = cases();
    let text = all.iter().find(|case| case.name == "embedding").unwrap();
    let mut inspector = inspector(&text.description, 1, 1);
    let weights = weights(inspector.layout());
    let mut refused = |which: &[usize], inspection: &Inspection, weights: &[f32]| {
        inspector.inspect(weights, &text.examples, which, inspection).unwrap_err()
    };
    let input = Inspection { input_gradients: true, ..Inspection::default() };
    assert!(matches!(refused(&[0], &input, &weights), TrainError::Unsupported { .. }));
    let layer = Inspection { activations: vec!["9".to_owned()], ..Inspection::default() };
    assert!(refused(&[0], &layer, &weights).to_string().contains("give one of 0, 1, 2, 3"));
    let losses = Inspection { losses: true, ..Inspection::default() };
    assert!(matches!(refused(&[8], &losses, &weights), TrainError::Example { example: 8, .. }));
    assert!(matches!(refused(&[0], &losses, &weights[1..]), TrainError::Shape(_)));
    for resources in [Resources { threads: 0, chunk: None }, Resources { threads: 1, chunk: Some(0) }] {
        assert!(Inspector::new(&text.description, resources).is_err());
    }
}

#[test]
fn a_model_that_is_not_described_shows_its_gradients() {
    let mut model = Softmax::new(2, 3);
    let examples = crate::model::examples(6);
    let weights: Vec<f32> = (0..Gradients::layout(&model).weights()).map(|i| 0.1 * i as f32).collect();
    let inspection = Inspection { gradients: true, layer_norms: true, ..Inspection::default() };
    let seen = model.inspect(&weights, &examples, &[4, 1], &inspection).unwrap();
    let (gradients, norms) = (seen.gradients.unwrap(), seen.layer_norms.unwrap());
    assert_eq!((gradients.len(), norms.len()), (18, 2));
    for (row, norm) in gradients.chunks(9).zip(&norms) {
        let length = row.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        assert!((length - norm).abs() < 1e-9 && *norm > 0.1);
    }
    for inspection in [
        Inspection { losses: true, ..Inspection::default() },
        Inspection { input_gradients: true, ..Inspection::default() },
        Inspection { activations: vec!["0".to_owned()], ..Inspection::default() },
    ] {
        let refused = model.inspect(&weights, &examples, &[0], &inspection);
        assert!(matches!(refused, Err(TrainError::Unsupported { .. })), "{refused:?}");
    }
}
