use crate::networks::{Dense, Image, Sequence, Tied};
use crate::reference::{clipped, distance, drawn, examples, gradient};
use burn::module::Param;
use burn::nn::conv::{Conv1dConfig, Conv2dConfig};
use burn::nn::{
    EmbeddingConfig, GroupNormConfig, LayerNormConfig, LinearConfig, PaddingConfig1d, PaddingConfig2d,
};
use proptest::prelude::*;
use reticent_burn::{BurnModel, Cpu, ModuleInput, Trainable};
use reticent_testkit::contract::{Modelled, cancelling, hostile, sums};
use reticent_train::{Clipping, Examples, Gradients, Inputs, Selection, Targets};

/// The contract of gradient sums, tapped, in small chunks and one by one.
fn conforms<M: Trainable<Cpu>>(module: M, accepts: ModuleInput, scores: usize, seed: u64) {
    let module = drawn(module);
    let examples = examples(&accepts, 7, scores, seed);
    let truth = |examples: &Examples, example: usize| gradient(&module, &accepts, examples, example);
    let tapped = || BurnModel::tapped(module.clone(), accepts.clone()).unwrap();
    let looped = BurnModel::looped(module.clone(), accepts.clone()).unwrap();
    for (model, name) in [(tapped(), "tapped"), (tapped().with_chunk(2), "small chunks"), (looped, "looped")]
    {
        let weights = model.initial_weights().unwrap();
        let mut subject = Modelled { model, weights };
        assert_eq!(sums(&mut subject, &truth, &examples), Ok(()), "{name}");
    }
}

/// No unit adds more than the norm, whatever it holds.
fn bounds<M: Trainable<Cpu>>(module: M, accepts: ModuleInput, scores: usize) {
    let examples = examples(&accepts, 6, scores, 5);
    let tapped = || BurnModel::tapped(module.clone(), accepts.clone()).unwrap();
    let looped = BurnModel::looped(module.clone(), accepts.clone()).unwrap();
    for (model, name) in [(tapped(), "tapped"), (tapped().with_chunk(2), "small chunks"), (looped, "looped")]
    {
        let weights = model.initial_weights().unwrap();
        let mut subject = Modelled { model, weights };
        assert_eq!(hostile(&mut subject, &examples), Ok(()), "{name}");
        assert_eq!(cancelling(&mut subject, &examples), Ok(()), "{name}");
    }
}

fn few() -> ProptestConfig {
    ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn linear_layers(inputs in 1..9usize, hidden in 1..9usize, scores in 1..5usize, bias: bool, seed: u64) {
        let device = Default::default();
        let module = Dense {
            first: LinearConfig::new(inputs, hidden).with_bias(bias).init(&device),
            second: LinearConfig::new(hidden, scores).init(&device),
        };
        conforms(module, ModuleInput::Numbers(vec![inputs]), scores, seed);
    }

    #[test]
    fn images(
        (groups, each) in (1..3usize, 1..3usize),
        (height, width) in (7..10usize, 7..10usize),
        kernel in (1..4usize, 1..4usize),
        stride in (1..3usize, 1..3usize),
        dilation in (1..3usize, 1..3usize),
        padding in 0..3usize,
        seed: u64,
    ) {
        let device = Default::default();
        let channels = [groups * each, groups * 2];
        let padding = match padding {
            0 => PaddingConfig2d::Valid,
            1 => PaddingConfig2d::Explicit(1, 0, 2, 1),
            _ => PaddingConfig2d::Explicit(1, 2, 1, 2),
        };
        let convolution = Conv2dConfig::new(channels, [kernel.0, kernel.1])
            .with_stride([stride.0, stride.1])
            .with_dilation([dilation.0, dilation.1])
            .with_groups(groups)
            .with_padding(padding)
            .init::<Cpu>(&device);
        let sample = burn::tensor::Tensor::zeros([1, channels[0], height, width], &device);
        let size: usize = convolution.forward(sample).dims().iter().product();
        let module = Image {
            convolution,
            norm: GroupNormConfig::new(groups, channels[1]).init(&device),
            output: LinearConfig::new(size, 3).init(&device),
        };
        conforms(module, ModuleInput::Numbers(vec![channels[0], height, width]), 3, seed);
    }

    #[test]
    fn sequences(
        (vocabulary, length) in (2..7usize, 3..7usize),
        (width, groups) in (3..6usize, 1..3usize),
        (kernel, stride) in (1..4usize, 1..3usize),
        same: bool,
        seed: u64,
    ) {
        let device = Default::default();
        let width = width * groups;
        // Burn's own gradient of a grouped convolution is wrong where strides leave places over.
        let stride = if groups > 1 { 1 } else { stride };
        let padding = if same { PaddingConfig1d::Same } else { PaddingConfig1d::Explicit(0, 1) };
        let module = Sequence {
            table: EmbeddingConfig::new(vocabulary, width).init(&device),
            mix: LinearConfig::new(width, width).init(&device),
            norm: LayerNormConfig::new(width).init(&device),
            convolution: Conv1dConfig::new(width, 2 * groups, kernel)
                .with_stride(stride)
                .with_groups(groups)
                .with_padding(padding)
                .init(&device),
            output: LinearConfig::new(2 * groups, 3).init(&device),
        };
        conforms(module, ModuleInput::Tokens { length, vocabulary }, 3, seed);
    }

    #[test]
    fn parameters_used_more_than_once(vocabulary in 4..8usize, length in 2..5usize, width in 3..7usize, seed: u64) {
        let device = Default::default();
        let module = Tied {
            table: EmbeddingConfig::new(vocabulary, width).init(&device),
            step: LinearConfig::new(width, width).init(&device),
            norm: LayerNormConfig::new(width).init(&device),
        };
        conforms(module, ModuleInput::Tokens { length, vocabulary }, vocabulary, seed);
    }
}

#[test]
fn wide_layers_along_time_take_the_norms_from_inner_products() {
    let device = Default::default();
    let module = Sequence {
        table: EmbeddingConfig::new(11, 24).init(&device),
        mix: LinearConfig::new(24, 24).init(&device),
        norm: LayerNormConfig::new(24).init(&device),
        convolution: Conv1dConfig::new(24, 20, 3).init(&device),
        output: LinearConfig::new(20, 4).init(&device),
    };
    conforms(module, ModuleInput::Tokens { length: 5, vocabulary: 11 }, 4, 3);
}

#[test]
fn no_example_adds_more_than_the_norm() {
    let device = Default::default();
    let image = drawn(Image {
        convolution: Conv2dConfig::new([1, 2], [3, 3]).init::<Cpu>(&device),
        norm: GroupNormConfig::new(1, 2).init(&device),
        output: LinearConfig::new(18, 3).init(&device),
    });
    bounds(image, ModuleInput::Numbers(vec![1, 5, 5]), 3);
    // Which of the hidden units saturate depends on the weights.
    for _ in 0..4 {
        let number = drawn(Dense {
            first: LinearConfig::new(3, 4).init::<Cpu>(&device),
            second: LinearConfig::new(4, 1).init(&device),
        });
        bounds(number, ModuleInput::Numbers(vec![3]), 1);
    }
}

#[test]
fn one_score_is_the_logit_of_class_1() {
    let device = Default::default();
    let accepts = ModuleInput::Numbers(vec![3]);
    let module = drawn(Dense {
        first: LinearConfig::new(3, 4).init::<Cpu>(&device),
        second: LinearConfig::new(4, 2).init(&device),
    });
    // The same network with the difference of the two scores as its only one.
    let mut single = module.clone();
    let difference = |tensor: burn::tensor::Tensor<Cpu, 2>| {
        let rows = tensor.dims()[0];
        tensor.clone().slice([0..rows, 1..2]) - tensor.slice([0..rows, 0..1])
    };
    single.second.weight = Param::from_tensor(difference(module.second.weight.val()).detach());
    single.second.bias = module
        .second
        .bias
        .as_ref()
        .map(|bias| Param::from_tensor(difference(bias.val().reshape([1, 2])).detach().reshape([1])));
    let examples = examples(&accepts, 5, 2, 8);
    let all = Selection::of_examples((0..5).collect());
    let mut pair = BurnModel::tapped(module, accepts.clone()).unwrap();
    let mut single = BurnModel::tapped(single, accepts).unwrap();
    let expected: Vec<f64> = clipped(&mut pair, &examples, &all, None).into_iter().map(f64::from).collect();
    let seen = clipped(&mut single, &examples, &all, None);
    assert!(distance(&seen[..16], &expected[..16]) < 1e-5);
}

#[test]
fn no_units_give_no_gradient_and_numbers_are_learnt_with_one_output() {
    let device = Default::default();
    let module = Dense {
        first: LinearConfig::new(2, 3).init::<Cpu>(&device),
        second: LinearConfig::new(3, 1).init(&device),
    };
    let mut model = BurnModel::tapped(module, ModuleInput::Numbers(vec![2])).unwrap();
    let targets = Targets::Numbers(vec![1.0]);
    let examples = Examples::new(&[2], Inputs::Real(vec![0.5, 1.0]), targets).unwrap();
    let rule = Clipping::Flat { norm: 1.0 };
    let nothing = clipped(&mut model, &examples, &Selection::default(), Some(&rule));
    assert!(nothing.iter().all(|g| *g == 0.0));
    let something = clipped(&mut model, &examples, &Selection::of_examples(vec![0]), Some(&rule));
    assert!(something.iter().any(|g| *g != 0.0));
}
