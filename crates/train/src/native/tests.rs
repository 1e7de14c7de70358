//! Every layer against a loop of one-unit passes, and against differences of the loss.

use super::*;
use crate::describe::{Layer, LayerKind, Objective};
use crate::{Inputs, Targets};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use reticent_noise::entropy::Bits;
use reticent_noise::entropy::SeededForTests;

struct Case {
    network: Network,
    weights: Vec<f32>,
    examples: Examples,
}

/// Numbers of tests are the same in every run; this is their seed.
const SEED: u64 = 5;

fn uniform(bits: &mut SeededForTests) -> f32 {
    (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

fn case(description: Description, count: usize, resources: Resources) -> Case {
    let mut bits = SeededForTests::new(SEED + count as u64);
    let network = Network::new(description.clone(), resources).unwrap();
    assert_eq!(network.initial_weights().unwrap().len(), network.layout().weights());
    let weights = (0..network.layout().weights()).map(|_| 0.7 * uniform(&mut bits)).collect();
    let size: usize = description.input.iter().product();
    let inputs = match network.graph.vocabulary() {
        Some(vocabulary) => {
            Inputs::Tokens((0..count * size).map(|_| (bits.word() % vocabulary as u64) as u32).collect())
        }
        None => Inputs::Real((0..count * size).map(|_| uniform(&mut bits)).collect()),
    };
    let targets = match description.loss {
        Objective::CrossEntropy => {
            let classes = network.program.outputs as u64;
            Targets::Classes((0..count).map(|_| (bits.word() % classes) as u32).collect())
        }
        Objective::Squared => Targets::Numbers((0..count).map(|_| uniform(&mut bits)).collect()),
        Objective::NextToken => panic!("the suites of the contract have cases of their own"),
    };
    let examples = Examples::new(&description.input, inputs, targets).unwrap();
    network.check(&examples).unwrap();
    Case { network, weights, examples }
}

impl Case {
    fn sum(&mut self, selection: &Selection, clipping: Option<&Clipping>) -> Vec<f32> {
        let mut sum = vec![0.0; self.network.layout().gradients()];
        self.network
            .accumulate(&self.weights, &self.examples, selection, clipping, &|| (), &mut sum)
            .unwrap();
        sum
    }

    /// The gradient of one unit, by a pass of its own.
    fn alone(&mut self, unit: &[usize]) -> Vec<f32> {
        let mut selection = Selection::default();
        selection.push(unit.iter().copied());
        self.sum(&selection, None)
    }

    /// Which coordinates belong to which group.
    fn groups(&self) -> Vec<usize> {
        let layout = self.network.layout();
        let parameters = layout.parameters().iter().enumerate().filter(|(_, p)| p.trainable);
        parameters.flat_map(|(i, p)| vec![p.group; layout.gradient_range(i).len()]).collect()
    }

    /// Clipped sums equal those of a loop over units, in double precision, for every rule.
    fn conforms(&mut self, selection: &Selection) {
        let groups = self.groups();
        let alone: Vec<Vec<f32>> =
            (0..selection.units()).map(|unit| self.alone(selection.unit(unit))).collect();
        let square = |g: &[f32]| g.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let mut norms: Vec<f64> = alone.iter().map(|g| square(g).sqrt()).collect();
        norms.sort_by(f64::total_cmp);
        // Half of the units are longer than this.
        let norm = norms.get(norms.len() / 2).copied().unwrap_or(1.0).max(1e-6);
        let count = self.network.layout().groups();
        let rules = [
            Clipping::Flat { norm },
            Clipping::PerLayer { norm },
            Clipping::Automatic { norm, stability: 0.01 },
        ];
        for rule in rules {
            let mut expected = vec![0.0f64; groups.len()];
            for gradient in &alone {
                let mut squares = vec![0.0f64; count];
                gradient.iter().zip(&groups).for_each(|(g, group)| squares[*group] += f64::from(*g).powi(2));
                let mut factors = vec![0.0; count];
                rule.factors(crate::RoundingMargin::SINGLE_PRECISION, count, &squares, &mut factors);
                for ((sum, g), group) in expected.iter_mut().zip(gradient).zip(&groups) {
                    *sum += f64::from(*g) * f64::from(factors[*group]);
                }
            }
            let found = self.sum(selection, Some(&rule));
            let scale = norm * (selection.units().max(1) as f64).sqrt();
            let distance: f64 =
                found.iter().zip(&expected).map(|(f, e)| (f64::from(*f) - e).powi(2)).sum::<f64>().sqrt();
            // Norms from products count what rounding may hide: half a unit for each of at most 82 additions, over 0.05 of the whole.
            assert!(distance <= 6e-5 * scale, "{rule:?}: {distance:e} of {scale:e} in {:?}", self.network);
        }
    }

    fn loss(&mut self, shift: &[f32], step: f32) -> f64 {
        let layout = self.network.layout();
        let mut weights = self.weights.clone();
        for (i, _) in layout.parameters().iter().enumerate().filter(|(_, p)| p.trainable) {
            for (w, d) in weights[layout.weight_range(i)].iter_mut().zip(&shift[layout.gradient_range(i)]) {
                *w += step * d;
            }
        }
        let which: Vec<usize> = (0..self.examples.len()).collect();
        let outputs = self.network.program.outputs;
        let scores = self.network.outputs(&weights, &self.examples, &which).unwrap();
        let rows = scores.chunks(outputs);
        match self.examples.targets() {
            Targets::Classes(classes) => rows
                .zip(classes)
                .map(|(row, class)| {
                    let total: f64 = row.iter().map(|s| f64::from(*s).exp()).sum();
                    total.ln() - f64::from(row[*class as usize])
                })
                .sum(),
            Targets::Numbers(numbers) => {
                rows.zip(numbers).map(|(row, n)| 0.5 * (f64::from(row[0]) - f64::from(*n)).powi(2)).sum()
            }
            Targets::Next(_) => 0.0,
        }
    }

    /// The gradient is the slope of the loss along random directions.
    fn descends(&mut self) {
        let mut bits = SeededForTests::new(SEED);
        let all = Selection::of_examples((0..self.examples.len()).collect());
        let gradient = self.sum(&all, None);
        let length = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        for _ in 0..3 {
            let mut direction: Vec<f32> = (0..gradient.len()).map(|_| uniform(&mut bits)).collect();
            // Towards the gradient, so that the slope is not lost in rounding.
            direction
                .iter_mut()
                .zip(&gradient)
                .for_each(|(d, g)| *d = *d * 0.3 + g / length.max(1e-9) as f32);
            let step = 2e-3;
            let slope =
                (self.loss(&direction, step) - self.loss(&direction, -step)) / (2.0 * f64::from(step));
            let expected: f64 =
                direction.iter().zip(&gradient).map(|(d, g)| f64::from(*d) * f64::from(*g)).sum();
            assert!(
                (slope - expected).abs() < 0.03 * expected.abs() + 0.02 * length + 2e-3,
                "{slope} {expected} in {:?}",
                self.network
            );
        }
    }
}

fn resources(threads: usize, chunk: usize) -> Resources {
    Resources { threads, chunk: Some(chunk) }
}

/// Units of one to three examples, in order.
fn units(count: usize, sizes: usize) -> Selection {
    let mut selection = Selection::default();
    let mut next = 0;
    while next < count {
        let end = (next + 1 + (next * 7) % sizes).min(count);
        selection.push(next..end);
        next = end;
    }
    selection
}

/// Runs a description through all checks with random numbers of examples, threads and chunks.
fn check(cases: u32, smooth: bool, strategy: impl Strategy<Value = Description>) {
    let seed: [u8; 32] = std::array::from_fn(|i| SEED.to_le_bytes()[i % 8]);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::with_cases(cases), rng);
    let plan = (strategy, 0usize..9, 1usize..4, 1usize..6);
    runner
        .run(&plan, |(description, count, threads, chunk)| {
            prop_assume!(description.check().is_ok());
            let mut case = case(description, count, resources(threads, chunk));
            case.conforms(&Selection::of_examples((0..count).collect()));
            case.conforms(&units(count, 3));
            if smooth {
                case.descends();
            }
            Ok(())
        })
        .unwrap();
}

fn linear(out: usize) -> LayerKind {
    LayerKind::Linear { out, bias: true }
}

#[test]
fn linear_layers_conform() {
    let shapes = (1usize..40, 1usize..40, 2usize..5, any::<bool>());
    check(
        24,
        true,
        shapes.prop_map(|(inner, hidden, classes, bias)| {
            Description::reading(&[inner])
                .then(LayerKind::Linear { out: hidden, bias })
                .then(LayerKind::Tanh)
                .then(linear(classes))
        }),
    );
    let shapes = (1usize..12, 1usize..6, 1usize..20);
    check(
        24,
        true,
        shapes.prop_map(|(time, inner, hidden)| {
            Description::reading(&[time, inner])
                .then(linear(hidden))
                .then(LayerKind::Silu)
                .then(LayerKind::Flatten)
                .then(linear(3))
        }),
    );
}

#[test]
fn the_squared_loss_conforms() {
    check(
        8,
        true,
        (1usize..9).prop_map(|inner| {
            let mut network =
                Description::reading(&[inner]).then(linear(4)).then(LayerKind::Gelu).then(linear(1));
            network.loss = Objective::Squared;
            network
        }),
    );
}

#[test]
fn convolutions_conform() {
    let numbers = (1usize..4, 1usize..4, 4usize..12, 4usize..12, 1usize..5, 1usize..5);
    let geometry =
        ((1usize..4, 1usize..4), (0usize..3, 0usize..3), (1usize..3, 1usize..3), 1usize..3, any::<bool>());
    check(
        48,
        true,
        (numbers, geometry).prop_map(
            |((inner, out, h, w, kh, kw), (stride, padding, dilation, groups, bias))| {
                Description::reading(&[inner * groups, h, w])
                    .then(LayerKind::Conv2d {
                        out: out * groups,
                        kernel: [kh, kw],
                        stride: stride.into(),
                        padding: padding.into(),
                        dilation: dilation.into(),
                        groups,
                        bias,
                    })
                    .then(LayerKind::Tanh)
                    .then(LayerKind::Conv2d {
                        out: 2,
                        kernel: [1, 2],
                        stride: [1, 1],
                        padding: [1, 1],
                        dilation: [1, 1],
                        groups: 1,
                        bias: true,
                    })
                    .then(LayerKind::Flatten)
                    .then(linear(3))
            },
        ),
    );
    let numbers = (1usize..4, 1usize..20, 3usize..20, 1usize..4, 1usize..3, 0usize..2, 1usize..3);
    check(
        24,
        true,
        numbers.prop_map(|(inner, out, length, kernel, stride, padding, dilation)| {
            let conv = LayerKind::Conv1d { out, kernel, stride, padding, dilation, groups: 1, bias: true };
            Description::reading(&[inner, length])
                .then(conv.clone())
                .then(LayerKind::Tanh)
                .then(LayerKind::Transpose)
                .then(LayerKind::MeanTime)
                .then(linear(2))
        }),
    );
}

#[test]
fn embeddings_conform() {
    check(
        24,
        true,
        (1usize..12, 1usize..6, 1usize..9).prop_map(|(time, vocabulary, out)| {
            Description::reading(&[time])
                .then(LayerKind::Embedding { vocabulary, out })
                .then(LayerKind::Position)
                .then(LayerKind::Flatten)
                .then(linear(3))
        }),
    );
}

#[test]
fn normalisations_conform() {
    check(
        24,
        true,
        (1usize..6, 4usize..20).prop_map(|(time, width)| {
            Description::reading(&[time, width])
                .then(linear(width))
                .then(LayerKind::LayerNorm)
                .then(LayerKind::Flatten)
                .then(linear(3))
        }),
    );
    check(
        24,
        true,
        (1usize..4, 1usize..4, 2usize..5, 3usize..6).prop_map(|(groups, each, h, w)| {
            let conv = LayerKind::Conv2d {
                out: groups * each,
                kernel: [1, 1],
                stride: [1, 1],
                padding: [0, 0],
                dilation: [1, 1],
                groups: 1,
                bias: true,
            };
            Description::reading(&[2, h, w])
                .then(conv)
                .then(LayerKind::GroupNorm { groups })
                .then(LayerKind::Flatten)
                .then(linear(3))
        }),
    );
}

#[test]
fn attention_and_transformer_blocks_conform() {
    check(
        16,
        true,
        (1usize..8, 1usize..4, 1usize..5).prop_map(|(time, heads, each)| {
            Description::reading(&[time, heads * each])
                .then(LayerKind::Attention { heads, causal: false })
                .then(LayerKind::Flatten)
                .then(linear(3))
        }),
    );
    check(
        16,
        false,
        (1usize..8, 1usize..4, 1usize..5, any::<bool>()).prop_map(|(time, heads, each, norm_first)| {
            let block = LayerKind::Transformer { heads, hidden: 7, dropout: 0.0, norm_first, causal: false };
            Description::reading(&[time])
                .then(LayerKind::Embedding { vocabulary: 5, out: heads * each })
                .then(block)
                .then(LayerKind::MeanTime)
                .then(linear(3))
        }),
    );
}

#[test]
fn recurrent_layers_conform() {
    check(
        16,
        true,
        (1usize..9, 1usize..6, 1usize..20).prop_map(|(time, inner, hidden)| {
            Description::reading(&[time, inner])
                .then(linear(3))
                .then(LayerKind::Lstm { hidden })
                .then(LayerKind::LastTime)
                .then(linear(3))
        }),
    );
    check(
        16,
        true,
        (1usize..9, 1usize..6, 1usize..20).prop_map(|(time, inner, hidden)| {
            Description::reading(&[time, inner])
                .then(linear(3))
                .then(LayerKind::Gru { hidden })
                .then(LayerKind::MeanTime)
                .then(linear(3))
        }),
    );
}

#[test]
fn residual_and_pooled_networks_conform() {
    check(
        16,
        false,
        (2usize..5, 4usize..9, any::<bool>()).prop_map(|(channels, size, first)| {
            let conv = LayerKind::Conv2d {
                out: channels,
                kernel: [3, 3],
                stride: [1, 1],
                padding: [1, 1],
                dilation: [1, 1],
                groups: 1,
                bias: true,
            };
            let inner: Vec<Layer> = if first {
                vec![
                    LayerKind::Relu.into(),
                    conv.clone().into(),
                    Layer::from(LayerKind::Residual { layer: vec![LayerKind::Tanh.into()] }),
                ]
            } else {
                vec![
                    conv.clone().into(),
                    LayerKind::TemperedSigmoid { scale: 2.0, temperature: 1.0, offset: 1.0 }.into(),
                ]
            };
            let pool = if first {
                LayerKind::MaxPool { kernel: [2, 2], stride: Some([1, 2]) }
            } else {
                LayerKind::AveragePool { kernel: [2, 3], stride: None }
            };
            Description::reading(&[1, size, size])
                .then(conv)
                .then(LayerKind::Residual { layer: inner })
                .then(pool)
                .then(LayerKind::GlobalPool)
                .then(linear(3))
        }),
    );
}

#[test]
fn frozen_layers_have_no_gradient_and_pass_theirs_on() {
    let frozen = |kind: LayerKind| Layer { frozen: true, ..kind.into() };
    let description = Description::reading(&[5])
        .then(frozen(linear(6)))
        .then(LayerKind::Tanh)
        .then(linear(4))
        .then(LayerKind::Tanh)
        .then(frozen(linear(4)))
        .then(linear(3));
    let mut case = case(description, 5, resources(2, 2));
    assert_eq!(case.network.layout().gradients(), 6 * 4 + 4 + 4 * 3 + 3);
    assert_eq!(case.network.layout().groups(), 2);
    case.conforms(&Selection::of_examples(vec![0, 1, 2, 3, 4]));
    case.descends();
}

#[test]
fn one_bad_example_does_not_poison_the_sum() {
    let description = |kind: Option<LayerKind>| {
        let start = Description::reading(&[3, 4]);
        let start = match kind {
            Some(kind) => start.then(kind),
            None => start,
        };
        start.then(linear(4)).then(LayerKind::Tanh).then(LayerKind::Flatten).then(linear(3))
    };
    for kind in [
        None,
        Some(LayerKind::LayerNorm),
        Some(LayerKind::Lstm { hidden: 3 }),
        Some(LayerKind::Gru { hidden: 3 }),
        Some(LayerKind::Attention { heads: 2, causal: false }),
    ] {
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            let mut case = case(description(kind.clone()), 4, resources(1, 4));
            let rule = Clipping::Flat { norm: 1.0 };
            let good = case.sum(&Selection::of_examples(vec![0, 1, 3]), Some(&rule));
            let Inputs::Real(mut values) = case.examples.inputs().clone() else { panic!() };
            values[2 * 12..3 * 12].fill(bad);
            let targets = case.examples.targets().clone();
            case.examples = Examples::new(&[3, 4], Inputs::Real(values), targets).unwrap();
            let all = case.sum(&Selection::of_examples(vec![0, 1, 2, 3]), Some(&rule));
            assert!(all.iter().all(|x| x.is_finite()), "{kind:?} {bad}");
            let moved: f32 = all.iter().zip(&good).map(|(a, g)| (a - g).powi(2)).sum::<f32>().sqrt();
            assert!(moved <= 1.0, "{kind:?} {bad}: {moved}");
        }
    }
}

#[test]
fn wrong_examples_are_named() {
    let network = Network::new(Description::reading(&[2]).then(linear(3)), Resources::default()).unwrap();
    let of = |classes: Vec<u32>| {
        let inputs = Inputs::Real(vec![0.0; classes.len() * 2]);
        Examples::new(&[2], inputs, Targets::Classes(classes)).unwrap()
    };
    assert_eq!(network.check(&of(vec![0, 2])), Ok(()));
    let error = network.check(&of(vec![0, 3])).unwrap_err().to_string();
    assert_eq!(error, "example 1: its label is 3: the network has the classes 0 to 2");
    let numbers = Examples::new(&[2], Inputs::Real(vec![0.0; 2]), Targets::Numbers(vec![1.0])).unwrap();
    assert!(network.check(&numbers).unwrap_err().to_string().contains("needs classes"));
    let wide = Examples::new(&[3], Inputs::Real(vec![0.0; 3]), Targets::Classes(vec![0])).unwrap();
    assert!(network.check(&wide).unwrap_err().to_string().contains("reads [2]"));
    let text = Examples::new(&[2], Inputs::Tokens(vec![0; 2]), Targets::Classes(vec![0])).unwrap();
    assert!(network.check(&text).unwrap_err().to_string().contains("no embedding"));
    for resources in [Resources { threads: 0, chunk: None }, Resources { threads: 1, chunk: Some(0) }] {
        assert!(Network::new(Description::reading(&[2]).then(linear(3)), resources).is_err());
    }
}

#[test]
fn a_logical_batch_of_any_size_takes_the_memory_of_one_chunk() {
    let mut case = case(
        Description::reading(&[5]).then(linear(4)).then(LayerKind::Tanh).then(linear(3)),
        7,
        resources(2, 64),
    );
    let rule = Clipping::Flat { norm: 1.0 };
    let all = Selection::of_examples((0..100_000).map(|i| i % 7).collect());
    let sum = case.sum(&all, Some(&rule));
    let most = case.network.workers.iter().map(Worker::rows).max().unwrap();
    assert!(most <= 64, "{most} examples at a time");
    // 14 285 times all seven, and five of them once more.
    let once = case.sum(&Selection::of_examples((0..7).collect()), Some(&rule));
    let rest = case.sum(&Selection::of_examples((0..5).collect()), Some(&rule));
    for ((sum, once), rest) in sum.iter().zip(&once).zip(&rest) {
        assert!((sum - (14_285.0 * once + rest)).abs() < 1.0, "{sum} {once}");
    }
}

/// Networks of all kinds of layers.
fn networks() -> Vec<Description> {
    let conv = LayerKind::Conv2d {
        out: 6,
        kernel: [3, 3],
        stride: [1, 1],
        padding: [1, 1],
        dilation: [1, 1],
        groups: 1,
        bias: true,
    };
    let mut found = vec![
        Description::reading(&[1568]).then(linear(2)),
        Description::reading(&[70])
            .then(linear(65))
            .then(LayerKind::Relu)
            .then(linear(40))
            .then(LayerKind::Tanh)
            .then(linear(10)),
        Description::reading(&[2, 7, 7])
            .then(conv)
            .then(LayerKind::Relu)
            .then(LayerKind::Flatten)
            .then(linear(5)),
        Description::reading(&[6, 9])
            .then(linear(12))
            .then(LayerKind::LayerNorm)
            .then(LayerKind::Attention { heads: 2, causal: false })
            .then(LayerKind::MeanTime)
            .then(linear(3)),
    ];
    for kind in [LayerKind::Lstm { hidden: 33 }, LayerKind::Gru { hidden: 33 }] {
        let last = Description::reading(&[7]).then(LayerKind::Embedding { vocabulary: 20, out: 9 });
        found.push(last.then(kind).then(LayerKind::LastTime).then(linear(4)));
    }
    found
}

#[test]
fn gradients_of_an_example_do_not_depend_on_others() {
    for description in networks() {
        let case = case(description, 130, resources(1, 130));
        let task = Task {
            program: &case.network.program,
            weights: &case.weights,
            examples: &case.examples,
            slopes: None,
        };
        let mut worker = Worker::default();
        let all: Vec<usize> = (0..130).collect();
        let alone: Vec<Vec<f32>> = all.iter().map(|one| worker.gradients(task, &[*one]).remove(0)).collect();
        for which in [&all[..2], &all[3..34], &all[..64], &all[..127], &all[..128], &all[..129], &all] {
            for (example, found) in which.iter().zip(worker.gradients(task, which)) {
                let same = found.iter().zip(&alone[*example]).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{} examples: {:?}", which.len(), case.network);
            }
        }
    }
}
