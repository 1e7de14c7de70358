use crate::networks::Dense;
use crate::reference::{clipped, distance, drawn, examples};
use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use reticent_burn::{BurnModel, Cpu, ModuleInput, PrivateModule, Taps};
use reticent_train::gradients::clipped_sum;
use reticent_train::{Examples, Gradients, Inputs, Selection, Targets, TrainError};

#[derive(Module, Debug)]
struct Normed<B: Backend> {
    first: Linear<B>,
    norm: BatchNorm<B>,
}

impl<B: Backend> PrivateModule<B> for Normed<B> {
    type Inputs = Tensor<B, 2>;

    fn forward(&self, inputs: Tensor<B, 2>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        self.norm.forward(taps.linear(&self.first, inputs))
    }
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    MixesInputs,
    MixesHidden,
    UsesWeightTwice,
    Untapped,
    MergesAxes,
}

/// A module with one thing wrong.
#[derive(Module, Debug)]
struct Faulty<B: Backend> {
    first: Linear<B>,
    second: Linear<B>,
    #[module(skip)]
    fault: Fault,
}

impl<B: Backend> PrivateModule<B> for Faulty<B> {
    type Inputs = Tensor<B, 2>;

    fn forward(&self, inputs: Tensor<B, 2>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let inputs = match self.fault {
            Fault::MixesInputs => inputs.clone() - inputs.mean_dim(0),
            _ => inputs,
        };
        let mut hidden = match self.fault {
            Fault::MergesAxes => {
                let [examples, features] = inputs.dims();
                let inputs = Tensor::cat(vec![inputs.clone(), inputs], 0);
                taps.linear(&self.first, inputs).slice([0..examples, 0..features])
            }
            _ => taps.linear(&self.first, inputs).tanh(),
        };
        match self.fault {
            Fault::MixesHidden => hidden = hidden.clone() / hidden.square().sum_dim(0).sqrt(),
            Fault::UsesWeightTwice => hidden = hidden.matmul(self.first.weight.val()),
            _ => {}
        }
        match self.fault {
            Fault::Untapped => self.second.forward(hidden),
            _ => taps.linear(&self.second, hidden),
        }
    }
}

fn faulty(fault: Fault) -> Faulty<Cpu> {
    let device = Default::default();
    Faulty {
        first: LinearConfig::new(4, 4).init(&device),
        second: LinearConfig::new(4, 3).init(&device),
        fault,
    }
}

fn refused<M: reticent_burn::Trainable<Cpu>>(module: M) -> (String, String) {
    match BurnModel::tapped(module, ModuleInput::Numbers(vec![4])) {
        Err(TrainError::Layer { layer, why }) => (layer, why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn batch_norm_is_refused_with_the_fix_in_both_ways() {
    let device = Default::default();
    let module = || Normed {
        first: LinearConfig::new(4, 4).init::<Cpu>(&device),
        norm: BatchNormConfig::new(4).init(&device),
    };
    let (layer, why) = refused(module());
    assert_eq!(layer, "norm");
    assert!(why.contains("GroupNorm"), "{why}");
    let error = BurnModel::looped(module(), ModuleInput::Numbers(vec![4])).unwrap_err();
    assert!(error.to_string().contains("GroupNorm"), "{error}");
}

#[test]
fn only_a_loop_separates_units_to_the_last_bit() {
    let accepts = || ModuleInput::Numbers(vec![4]);
    assert!(!BurnModel::tapped(faulty(Fault::None), accepts()).unwrap().separates_units());
    assert!(BurnModel::looped(faulty(Fault::None), accepts()).unwrap().separates_units());
}

#[test]
fn modules_whose_taps_do_not_tell_the_whole_gradient_are_refused() {
    BurnModel::tapped(faulty(Fault::None), ModuleInput::Numbers(vec![4])).unwrap();
    let expected = [
        (Fault::MixesInputs, "inputs", "other examples"),
        (Fault::MixesHidden, "first.weight", "other examples"),
        (Fault::UsesWeightTwice, "first.weight", "only a part"),
        (Fault::Untapped, "second.weight", "without a tap"),
        (Fault::MergesAxes, "first.weight", "along the first axis"),
    ];
    for (fault, name, reason) in expected {
        let (layer, why) = refused(faulty(fault));
        assert!(layer == name && why.contains(reason), "{fault:?}: {layer}: {why}");
    }
    let mut module = faulty(Fault::None);
    module.second.weight = Param::from_tensor(Tensor::ones([4, 3], &Default::default()));
    module.second.weight.id = module.first.weight.id;
    let (layer, why) = refused(module);
    assert!(layer == "second.weight" && why.contains("clone of first.weight"), "{layer}: {why}");
}

#[test]
fn one_by_one_needs_no_taps() {
    for fault in [Fault::Untapped, Fault::UsesWeightTwice] {
        BurnModel::looped(faulty(fault), ModuleInput::Numbers(vec![4])).unwrap();
    }
}

#[test]
fn frozen_layers_have_no_gradient_and_keep_their_place_among_the_weights() {
    let device = Default::default();
    let module = drawn(Dense {
        first: LinearConfig::new(3, 5).init::<Cpu>(&device).no_grad(),
        second: LinearConfig::new(5, 2).init(&device),
    });
    let accepts = ModuleInput::Numbers(vec![3]);
    let mut tapped = BurnModel::tapped(module.clone(), accepts.clone()).unwrap();
    let mut looped = BurnModel::looped(module.clone(), accepts.clone()).unwrap();
    let layout = tapped.layout();
    assert_eq!((layout.weights(), layout.gradients(), layout.groups()), (32, 12, 1));
    let names: Vec<&str> = layout.parameters().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["first.weight", "first.bias", "second.weight", "second.bias"]);
    let examples = examples(&accepts, 4, 2, 1);
    let all = Selection::of_examples(vec![0, 1, 2, 3]);
    let expected: Vec<f64> = clipped(&mut looped, &examples, &all, None).into_iter().map(f64::from).collect();
    assert!(distance(&clipped(&mut tapped, &examples, &all, None), &expected) < 1e-5);
    let own = module.first.weight.val().into_data().to_vec::<f32>().unwrap();
    assert_eq!(tapped.initial_weights().unwrap()[..15], own);
}

#[test]
fn examples_that_do_not_fit_are_named() {
    let accepts = ModuleInput::Numbers(vec![4]);
    let mut model = BurnModel::tapped(faulty(Fault::None), accepts).unwrap();
    let weights = model.initial_weights().unwrap();
    let make = |shape: &[usize], inputs, targets| Examples::new(shape, inputs, targets).unwrap();
    let good = make(&[4], Inputs::Real(vec![0.5; 8]), Targets::Classes(vec![0, 2]));
    model.check(&good).unwrap();
    assert_eq!(model.outputs(&weights, &good, &[1, 0]).unwrap().len(), 6);
    let bad = [
        make(&[4], Inputs::Real(vec![0.5; 8]), Targets::Classes(vec![0, 3])),
        make(&[2, 2], Inputs::Real(vec![0.5; 8]), Targets::Classes(vec![0, 1])),
        make(&[4], Inputs::Tokens(vec![1; 8]), Targets::Classes(vec![0, 1])),
        make(&[4], Inputs::Real(vec![0.5; 8]), Targets::Numbers(vec![0.0, 1.0])),
    ];
    for examples in bad {
        assert!(model.check(&examples).is_err());
        let all = Selection::of_examples(vec![0, 1]);
        assert!(clipped_sum(&mut model, &weights, &examples, &all, None).is_err());
    }
    let beyond = Selection::of_examples(vec![2]);
    assert!(clipped_sum(&mut model, &weights, &good, &beyond, None).is_err());
    assert!(clipped_sum(&mut model, &weights[1..], &good, &beyond, None).is_err());
    assert!(BurnModel::tapped(faulty(Fault::None), ModuleInput::Numbers(vec![2, 2])).is_err());
    assert!(
        BurnModel::tapped(faulty(Fault::None), ModuleInput::Tokens { length: 4, vocabulary: 3 }).is_err()
    );
}
