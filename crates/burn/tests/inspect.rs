use crate::networks::{Dense, Sequence};
use crate::reference::{drawn, examples, gradient};
use burn::nn::conv::Conv1dConfig;
use burn::nn::{EmbeddingConfig, LayerNormConfig, LinearConfig};
use reticent_burn::{BurnModel, Cpu, ModuleInput};
use reticent_train::inspect::Inspection;
use reticent_train::{Examples, Gradients, Inputs, TrainError};

fn dense(scores: usize) -> Dense<Cpu> {
    let device = Default::default();
    drawn(Dense {
        first: LinearConfig::new(3, 4).init(&device),
        second: LinearConfig::new(4, scores).init(&device),
    })
}

#[test]
fn single_examples_show_their_gradients_and_losses() {
    let accepts = ModuleInput::Numbers(vec![3]);
    for scores in [1, 3] {
        let module = dense(scores);
        let examples = examples(&accepts, 5, scores, 4);
        for looped in [false, true] {
            let make = if looped { BurnModel::looped } else { BurnModel::tapped };
            let mut model = make(module.clone(), accepts.clone()).unwrap().with_chunk(2);
            let weights = model.initial_weights().unwrap();
            let which = [4, 0, 2];
            let seen = model.inspect(&weights, &examples, &which, &Inspection::everything()).unwrap();
            let gradients = seen.gradients.unwrap();
            for (row, example) in gradients.chunks(gradients.len() / 3).zip(which) {
                let expected = gradient(&module, &accepts, &examples, example);
                assert!(row.iter().zip(expected).all(|(g, e)| (f64::from(*g) - e).abs() < 1e-5));
            }
            assert_eq!(seen.layer_norms.unwrap().len(), 6);
            let losses = seen.losses.unwrap();
            let slopes = seen.input_gradients.unwrap();
            let Inputs::Real(values) = examples.inputs() else { unreachable!() };
            let only = Inspection { losses: true, ..Inspection::default() };
            for (i, example) in which.iter().enumerate() {
                for feature in 0..3 {
                    let mut at = |step: f32| {
                        let mut values = values.clone();
                        values[example * 3 + feature] += step;
                        let moved = Examples::new(&[3], Inputs::Real(values), examples.targets().clone());
                        model.inspect(&weights, &moved.unwrap(), &[*example], &only).unwrap().losses.unwrap()
                            [0]
                    };
                    assert!((at(0.0) - losses[i]).abs() < 1e-6);
                    let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
                    let found = f64::from(slopes[i * 3 + feature]);
                    assert!((slope - found).abs() < 1e-3, "{slope} {found}");
                }
            }
        }
    }
}

#[test]
fn tokens_and_activations_are_refused() {
    let device = Default::default();
    let module = Sequence::<Cpu> {
        table: EmbeddingConfig::new(5, 4).init(&device),
        mix: LinearConfig::new(4, 4).init(&device),
        norm: LayerNormConfig::new(4).init(&device),
        convolution: Conv1dConfig::new(4, 2, 2).init(&device),
        output: LinearConfig::new(2, 3).init(&device),
    };
    let accepts = ModuleInput::Tokens { length: 4, vocabulary: 5 };
    let examples = examples(&accepts, 2, 3, 1);
    let mut model = BurnModel::tapped(module, accepts).unwrap();
    let weights = model.initial_weights().unwrap();
    for inspection in [
        Inspection { input_gradients: true, ..Inspection::default() },
        Inspection { activations: vec!["mix".to_owned()], ..Inspection::default() },
    ] {
        let refused = model.inspect(&weights, &examples, &[0], &inspection);
        assert!(matches!(refused, Err(TrainError::Unsupported { .. })), "{refused:?}");
    }
    let losses = Inspection { losses: true, gradients: true, ..Inspection::default() };
    let seen = model.inspect(&weights, &examples, &[1], &losses).unwrap();
    assert!(seen.losses.unwrap()[0] > 0.0 && seen.gradients.unwrap().iter().any(|g| *g != 0.0));
}
