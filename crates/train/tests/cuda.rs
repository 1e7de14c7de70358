//! The engine of GPUs: on an emulator of their kernels everywhere, and on a GPU where there is one.

use crate::contract::{layout, weights};
use crate::model::{private, recipe, settings};
use reticent_noise::entropy::SeededForTests;
use reticent_testkit::contract::{
    self, Described, Subject, cancelling, cases, hostile, network, sums, uniform,
};
use reticent_testkit::emulator::Emulator;
use reticent_train::cuda::engine_on;
use reticent_train::cuda::kernels::source;
use reticent_train::describe::{LayerKind, Objective};
use reticent_train::optimizer::OptimizerSettings;
use reticent_train::{
    Adam, BatchGrowth, Clipping, Description, Device, Engine, Examples, Inputs, PlanSettings, PrivacyPlan,
    Recipe, Resources, Selection, Targets, TrainError, Units, Weights, engine,
};
use std::sync::Arc;

/// Where the engine runs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Emulator,
    Gpu,
}

impl Place {
    fn engine(self, description: &Description, chunk: Option<usize>) -> Result<Box<dyn Engine>, TrainError> {
        let resources = Resources { threads: 1, chunk };
        match self {
            Self::Emulator => engine_on(Box::new(Emulator::new()), description, resources),
            Self::Gpu => engine(description, Device::Cuda, resources),
        }
    }
}

/// The emulator, and a GPU if there is one.
fn places() -> Vec<Place> {
    let description = Description::reading(&[1]).then(LayerKind::Linear { out: 2, bias: true });
    match engine(&description, Device::Cuda, Resources::SINGLE) {
        Ok(_) => vec![Place::Emulator, Place::Gpu],
        Err(error) => {
            eprintln!("SKIPPED on a GPU: {error}");
            assert!(std::env::var_os("RETICENT_NEEDS_GPU").is_none(), "a GPU was asked for");
            vec![Place::Emulator]
        }
    }
}

#[test]
fn sums_of_every_kind_of_layer_are_those_of_the_reference() {
    for place in places() {
        for case in cases() {
            let weights = weights(&layout(&case.description), 7);
            for chunk in [None, Some(3)] {
                let engine = place.engine(&case.description, chunk).unwrap();
                let mut subject = Described::on(engine, &weights).unwrap();
                let layout = subject.layout();
                let truth = |examples: &Examples, example: usize| {
                    network::pass(&case.description, &layout, &weights, examples, example).gradient
                };
                let held = sums(&mut subject, &truth, &case.examples);
                assert_eq!(held, Ok(()), "{}, {place:?}, chunks of {chunk:?}", case.name);
            }
        }
    }
}

#[test]
fn no_unit_of_any_network_adds_more_than_the_norm() {
    for place in places() {
        for case in cases() {
            let weights = weights(&layout(&case.description), 7);
            let mut subject =
                Described::on(place.engine(&case.description, None).unwrap(), &weights).unwrap();
            assert_eq!(hostile(&mut subject, &case.examples), Ok(()), "{}, {place:?}", case.name);
            assert_eq!(cancelling(&mut subject, &case.examples), Ok(()), "{}, {place:?}", case.name);
        }
    }
}

/// The sum of units of `copies` examples each.
fn sum_of_units(
    mut engine: Box<dyn Engine>,
    weights: &[f32],
    examples: &Examples,
    copies: usize,
    clipping: &Clipping,
) -> Vec<f32> {
    let mut selection = Selection::default();
    let numbers: Vec<usize> = (0..examples.len() / copies * copies).collect();
    numbers.chunks(copies).for_each(|unit| selection.push(unit.iter().copied()));
    engine.load_weights(weights).unwrap();
    engine.sum(examples, &selection, Some(clipping), &|| ()).unwrap();
    engine.read_sum().unwrap()
}

#[test]
fn units_of_as_many_examples_each_are_clipped_as_a_whole() {
    for place in places() {
        for case in cases() {
            let weights = weights(&layout(&case.description), 7);
            for (copies, chunk) in [(2, None), (3, Some(7)), (2, Some(1))] {
                for clipping in [
                    Clipping::Flat { norm: 0.3 },
                    Clipping::PerLayer { norm: 0.3 },
                    Clipping::Automatic { norm: 1.0, stability: 0.01 },
                ] {
                    let own = place.engine(&case.description, chunk).unwrap();
                    let other = engine(&case.description, Device::Cpu, Resources::SINGLE).unwrap();
                    let [own, other] = [own, other]
                        .map(|engine| sum_of_units(engine, &weights, &case.examples, copies, &clipping));
                    let length = other.iter().map(|x| x * x).sum::<f32>().sqrt();
                    let gap = own.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
                    assert!(
                        gap <= 1e-4 * length && length > 0.0,
                        "{}, {place:?}, {copies}, {chunk:?}, {clipping:?}: {gap} of {length}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_unit_that_is_not_finite_adds_nothing_with_its_copies() {
    let (description, examples, weights) = mlp();
    let Inputs::Real(values) = examples.inputs() else { panic!("numbers") };
    let clipping = Clipping::Flat { norm: 0.3 };
    for place in places() {
        let sum = |values: &[f32]| {
            let odd = Examples::new(&[5], Inputs::Real(values.to_vec()), examples.targets().clone()).unwrap();
            sum_of_units(place.engine(&description, None).unwrap(), &weights, &odd, 2, &clipping)
        };
        // The second example of the third unit is odd: the unit adds as much as one that moves nothing.
        let mut odd = values.clone();
        odd[5 * 5] = f32::NAN;
        let found = sum(&odd);
        assert!(found.iter().all(|value| value.is_finite()), "{place:?}");
        assert_ne!(found, sum(values), "{place:?}");
    }
}

#[test]
fn mistakes_in_kernels_are_found() {
    let mistakes = [
        ("linear", "rule == FLAT) return shortened(bound, total)", "rule == FLAT) return 1.0f"),
        ("linear", "a += (entry[5] ? 1.0 : 0.0);", ""),
        ("linear", "if (entry[0] != TOKENS && factor == 0.0f)", "if (false)"),
        (
            "convolution",
            "is_odd |= is_too_long(total, bound);\n        for (int e",
            "is_odd = 0;\n        for (int e",
        ),
        ("embedding", "if (tokens[s] == tokens[t]) row +=", "if (s == t) row +="),
        (
            "convolution",
            "kept_square(first + unit * inner * (i64)entry[7], inner)",
            "kept_square(first, inner)",
        ),
        ("linear", "square += (k == l ? 1.0 : 2.0) * a * b;", "if (k == l) square += a * b;"),
        ("convolution", "for (i64 k = 1; k < rows; k++) sum += own[k * size];", ""),
        ("embedding bag", "if (own[t] != 0.0f) sum += table", "sum += table"),
        ("embedding bag", "* token_share(own, places) : 0.0f;", "* token_share(own, places) : 1.0f;"),
        ("low-rank updates", "into[i] + factor * x[i] : factor * x[i];", "into[i] + x[i] : x[i];"),
    ];
    for (name, right, wrong) in mistakes {
        let source = source();
        assert_eq!(source.matches(right).count(), 1, "{right}");
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let weights = weights(&layout(&case.description), 7);
        let machine = Box::new(Emulator::with_source(&source.replace(right, wrong)));
        let engine = engine_on(machine, &case.description, Resources::SINGLE).unwrap();
        let mut subject = Described::on(engine, &weights).unwrap();
        let layout = subject.layout();
        let truth = |examples: &Examples, example: usize| {
            network::pass(&case.description, &layout, &weights, examples, example).gradient
        };
        let is_found = sums(&mut subject, &truth, &case.examples).is_err()
            || hostile(&mut subject, &case.examples).is_err();
        assert!(is_found, "{wrong} instead of {right}");
    }
}

fn mlp() -> (Description, Examples, Vec<f32>) {
    let description = Description::reading(&[5])
        .then(LayerKind::Linear { out: 6, bias: true })
        .then(LayerKind::Tanh)
        .then(LayerKind::Linear { out: 3, bias: true });
    let examples = contract::examples(&description, 20, 4);
    let weights = weights(&layout(&description), 3);
    (description, examples, weights)
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs()))
}

#[test]
fn optimizers_averages_and_outputs_are_those_of_the_cpu() {
    use reticent_train::optimizer::StepInput;
    let (description, examples, weights) = mlp();
    let optimizers = [
        OptimizerSettings::sgd(0.0),
        OptimizerSettings::Sgd { momentum: 0.9, nesterov: false, weight_decay: 0.01 },
        OptimizerSettings::Sgd { momentum: 0.9, nesterov: true, weight_decay: 0.0 },
        OptimizerSettings::adam(),
        OptimizerSettings::Adam(Adam { weight_decay: 0.1, decoupled: true, ..Adam::default() }),
    ];
    let clipping = Clipping::Flat { norm: 0.5 };
    let all: Vec<usize> = (0..examples.len()).collect();
    let selection = Selection::of_examples(all.clone());
    for place in places() {
        for optimizer in optimizers {
            let recipe = Recipe { optimizer, ..recipe() };
            let mut one = engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
            let mut two = place.engine(&description, None).unwrap();
            let mut resumed = place.engine(&description, None).unwrap();
            for engine in [&mut one, &mut two, &mut resumed] {
                engine.load_weights(&weights).unwrap();
                engine.begin(&recipe).unwrap();
            }
            for step in 0..6 {
                for engine in [&mut one, &mut two] {
                    engine.sum(&examples, &selection, Some(&clipping), &|| ()).unwrap();
                    let input = StepInput { rate: 0.1, scale: 0.05, noise_variance: Some(1e-4) };
                    engine.update(input).unwrap();
                }
                assert!(close(
                    &one.read_weights(Weights::Current).unwrap(),
                    &two.read_weights(Weights::Current).unwrap()
                ));
                if step == 2 {
                    // What a checkpoint holds is enough to go on.
                    resumed.load_state(two.read_state().unwrap()).unwrap();
                    resumed.load_weights(&two.read_weights(Weights::Current).unwrap()).unwrap();
                    std::mem::swap(&mut two, &mut resumed);
                }
            }
            for which in [Weights::Current, Weights::Averaged] {
                assert!(
                    close(&one.read_weights(which).unwrap(), &two.read_weights(which).unwrap()),
                    "{optimizer:?}"
                );
                let (a, b) = (one.outputs(which, &examples, &all), two.outputs(which, &examples, &all));
                assert!(close(&a.unwrap(), &b.unwrap()));
            }
            let (a, b) = (one.read_state().unwrap(), two.read_state().unwrap());
            assert!(close(&a.first, &b.first) && close(&a.second, &b.second));
            assert_eq!((a.optimizer_steps, a.average_steps), (b.optimizer_steps, b.average_steps));
        }
    }
}

#[test]
fn pixels_tokens_and_numbers_are_read_as_on_the_cpu() {
    let pixels = Inputs::Pixels {
        values: (0..24 * 9).map(|i| (i * 37 % 256) as u8).collect(),
        shift: vec![0.2, 0.5],
        scale: vec![0.3, 0.7],
    };
    let conv = LayerKind::Conv2d {
        out: 3,
        kernel: [2, 2],
        stride: [1, 1],
        padding: [0, 0],
        dilation: [1, 1],
        groups: 1,
        bias: true,
    };
    let image = Description::reading(&[2, 3, 4])
        .then(conv)
        .then(LayerKind::Flatten)
        .then(LayerKind::Linear { out: 3, bias: true });
    let number = Description {
        loss: Objective::Squared,
        ..Description::reading(&[24]).then(LayerKind::Linear { out: 1, bias: true })
    };
    let mut bits = SeededForTests::new(8);
    let real = Inputs::Real((0..24 * 9).map(|_| uniform(&mut bits)).collect());
    let classes = || Targets::Classes((0..9).map(|i| i % 3).collect());
    let cases = [
        (image, Examples::new(&[2, 3, 4], pixels, classes()).unwrap()),
        (number, Examples::new(&[24], real, classes()).unwrap()),
    ];
    for place in places() {
        for (description, examples) in &cases {
            let weights = weights(&layout(description), 5);
            let selection = Selection::of_examples((0..9).rev().collect());
            let mut sums = Vec::new();
            let cpu = engine(description, Device::Cpu, Resources::SINGLE).unwrap();
            for engine in [cpu, place.engine(description, Some(4)).unwrap()] {
                let mut subject = Described::on(engine, &weights).unwrap();
                sums.push(subject.sum(examples, &selection, Some(&Clipping::Flat { norm: 1.0 })).unwrap());
            }
            assert!(close(&sums[0], &sums[1]));
        }
    }
}

#[test]
fn a_small_machine_takes_smaller_chunks_or_says_which_to_take() {
    let description = Description::reading(&[5])
        .then(LayerKind::Linear { out: 4000, bias: true })
        .then(LayerKind::Tanh)
        .then(LayerKind::Linear { out: 3, bias: true });
    let examples = contract::examples(&description, 20, 4);
    let weights = weights(&layout(&description), 3);
    let selection = Selection::of_examples((0..20).collect());
    let on = |room: usize, chunk: Option<usize>| {
        let machine = Box::new(Emulator::new().with_room(room));
        let engine = engine_on(machine, &description, Resources { threads: 1, chunk })?;
        Described::on(engine, &weights)?.sum(&examples, &selection, Some(&Clipping::Flat { norm: 0.5 }))
    };
    let roomy = on(1 << 24, None).unwrap();
    let tight = on(1_000_000, None).unwrap();
    assert!(close(&roomy, &tight));
    let error = on(1_000_000, Some(1000)).unwrap_err().to_string();
    assert!(error.contains("--chunk"), "{error}");
}

#[test]
fn noise_is_drawn_on_the_device_and_only_as_often_as_was_paid_for() {
    let (description, examples, _) = mlp();
    for (place, growth) in
        places().into_iter().flat_map(|place| [(place, None), (place, Some(BatchGrowth { factor: 2 }))])
    {
        let engine = place.engine(&description, None).unwrap();
        let dimension = engine.layout().gradients();
        let settings = PlanSettings { dimension, growth, ..settings(examples.len() as u64, 0.5, 3) };
        let plan = PrivacyPlan::new(settings, 1.0, 1e-5).unwrap();
        let units = Units::examples(examples.len());
        let mut trainer = private(engine, Arc::new(examples.clone()), units, plan, recipe()).unwrap();
        let mut before = trainer.weights().unwrap();
        while !trainer.is_finished() {
            trainer.step().unwrap();
            let after = trainer.weights().unwrap();
            assert!(after.iter().all(|weight| weight.is_finite()));
            assert!(
                before.iter().zip(&after).all(|(before, after)| before != after),
                "noise on every weight"
            );
            before = after;
        }
        assert!(matches!(trainer.step(), Err(TrainError::Finished { .. })));
    }
}
