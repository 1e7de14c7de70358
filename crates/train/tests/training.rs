//! Whole trainings of a small model.

use crate::model::{examples, model, permit, plan, private, recipe, settings};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, Plan, Unlimited, charge};
use reticent_noise::{NoiseError, NoiseSession};
use reticent_train::describe::{Layer, LayerKind, Lora};
use reticent_train::{
    Baseline, Batching, Description, Device, Examples, Inputs, OptimizerSettings, PlanSettings, PrivacyPlan,
    Recipe, Resources, Schedule, Targets, TrainError, Trainer, Units, engine,
};
use std::sync::Arc;

fn budget(epsilon: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(1e-5).unwrap() }
}

fn run(trainer: &mut Trainer) {
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
}

#[test]
fn private_training_learns_and_stops_at_its_budget() {
    let plan = PrivacyPlan::target(settings(3000, 0.05, 60), budget(2.0)).unwrap();
    for optimizer in [OptimizerSettings::sgd(0.9), OptimizerSettings::adam(), OptimizerSettings::adamw(0.01)]
    {
        let rate = if matches!(optimizer, OptimizerSettings::Sgd { .. }) { 0.5 } else { 0.05 };
        let recipe =
            Recipe { optimizer, schedule: Schedule::constant(rate), average: Some(0.8), denoise: None };
        let mut trainer =
            private(model(), examples(3000), Units::examples(3000), plan.clone(), recipe).unwrap();
        assert_eq!(trainer.certificate().unwrap().unwrap().guarantee.epsilon.get(), 0.0);
        run(&mut trainer);
        assert_eq!(trainer.step(), Err(TrainError::Finished { steps: 60 }));
        assert_eq!(trainer.progress().counted, 60);
        let spent = trainer.spent().unwrap().unwrap().get();
        assert!(spent <= 2.0 && spent > 1.99, "{spent}");
        assert_eq!(trainer.certificate().unwrap().unwrap().guarantee.epsilon.get(), spent);
        let found = trainer.evaluate(&examples(300)).unwrap();
        assert!(found.accuracy.unwrap() > 0.9 && found.loss < 1.0, "{optimizer:?} {found:?}");
        assert_eq!(trainer.weights().unwrap()[..3], [0.0; 3], "frozen");
    }
}

#[test]
fn the_baseline_learns_with_either_kind_of_batches() {
    for batches in [Batching::Shuffled { size: 32 }, Batching::Poisson { rate: 0.1 }] {
        let baseline = Baseline::new(batches, 60);
        let mut trainer =
            Trainer::non_private(model(), examples(300), Units::examples(300), baseline, recipe()).unwrap();
        run(&mut trainer);
        assert!(trainer.certificate().unwrap().is_none() && trainer.spent().unwrap().is_none());
        assert!(trainer.evaluate(&examples(300)).unwrap().accuracy.unwrap() > 0.95);
    }
}

#[test]
fn nothing_but_noise_moves_the_weights_of_an_empty_data_set() {
    let nothing = Arc::new(Examples::new(&[2], Inputs::Real(vec![]), Targets::Classes(vec![])).unwrap());
    let mut trainer = private(model(), nothing, Units::examples(0), plan(100, 0.1, 5), recipe()).unwrap();
    run(&mut trainer);
    assert!(trainer.weights().unwrap()[3..].iter().all(|w| w.is_finite() && *w != 0.0));
}

#[test]
fn one_example_that_is_not_finite_does_not_poison_the_model() {
    for odd in [f32::NAN, f32::INFINITY, 3e38] {
        let mut inputs: Vec<f32> = (0..60).map(|i| (i as f32).sin()).collect();
        inputs[7] = odd;
        let classes = Targets::Classes((0..30).map(|i| i % 3).collect());
        let examples = Arc::new(Examples::new(&[2], Inputs::Real(inputs), classes).unwrap());
        let settings = PlanSettings { neighboring: Neighboring::ReplaceOne, ..settings(30, 1.0, 3) };
        let plan = PrivacyPlan::new(settings, 2.0, 1e-5).unwrap();
        let mut trainer = private(model(), examples, Units::examples(30), plan, recipe()).unwrap();
        run(&mut trainer);
        assert!(trainer.final_weights().unwrap().iter().all(|w| w.is_finite()));
    }
}

/// The mean of what many first steps move the first trained weight by, and the spread.
fn first_move(count: usize, declared: u64) -> (f64, f64) {
    // All examples pull the bias of class 0 the same way, by ⅔ each.
    let data =
        Examples::new(&[2], Inputs::Real(vec![0.0; 2 * count]), Targets::Classes(vec![0; count])).unwrap();
    let (data, plan) = (Arc::new(data), plan(declared, 0.5, 1));
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(1.0),
        average: None,
        denoise: None,
    };
    let runs = 2000;
    let moves: Vec<f64> = (0..runs)
        .map(|_| {
            let units = Units::examples(count);
            let mut trainer = private(model(), data.clone(), units, plan.clone(), recipe).unwrap();
            trainer.step().unwrap();
            f64::from(trainer.weights().unwrap()[9])
        })
        .collect();
    let mean = moves.iter().sum::<f64>() / f64::from(runs);
    (mean, moves.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / f64::from(runs))
}

#[test]
fn sums_are_divided_by_a_constant_that_no_data_set_changes() {
    for count in [99, 100, 101] {
        let (mean, variance) = first_move(count, 100);
        // A sum over half of the examples, each ⅔, over 50; eight standard errors.
        let expected = 2.0 / 3.0 * 0.5 * count as f64 / 50.0;
        let spread = (count as f64 * 0.25 * 4.0 / 9.0 + 1.0) / 2500.0;
        assert!((mean - expected).abs() < 8.0 * (spread / 2000.0).sqrt(), "{count}: {mean} {expected}");
        assert!(
            (variance / spread - 1.0).abs() < 8.0 * (2.0 / 2000.0f64).sqrt(),
            "{count}: {variance} {spread}"
        );
    }
}

#[test]
fn a_user_counts_once_however_many_examples_it_has() {
    // One user with a thousand examples, every step, little noise: the weights move by about C/B and not a hundred times that.
    let count = 1000;
    let data =
        Examples::new(&[2], Inputs::Real(vec![0.3; 2 * count]), Targets::Classes(vec![0; count])).unwrap();
    let settings = PlanSettings { unit: "user".to_owned(), ..settings(1, 1.0, 1) };
    let plan = PrivacyPlan::new(settings, 0.2, 1e-5).unwrap();
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(1.0),
        average: None,
        denoise: None,
    };
    for most in [None, Some(10)] {
        let units = Units::users(&vec![5u8; count], most).unwrap();
        let mut trainer = private(model(), Arc::new(data.clone()), units, plan.clone(), recipe).unwrap();
        trainer.step().unwrap();
        let moved = trainer.weights().unwrap().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
        assert!(moved > 0.1 && moved < 2.8, "{moved}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let try_plan = |units: usize, plan: PrivacyPlan| {
        private(model(), examples(30), Units::examples(units), plan, recipe())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(try_plan(29, plan(30, 0.5, 1)).starts_with("units = 29"));
    let other = PlanSettings { dimension: 10, ..settings(30, 0.5, 1) };
    assert!(try_plan(30, PrivacyPlan::new(other, 1.0, 1e-5).unwrap()).starts_with("dimension = 10"));
    let replace = PlanSettings { neighboring: Neighboring::ReplaceOne, ..settings(31, 0.5, 1) };
    assert!(try_plan(30, PrivacyPlan::new(replace, 1.0, 1e-5).unwrap()).starts_with("size = 31"));
    let bad = Recipe { average: Some(1.0), ..recipe() };
    assert!(private(model(), examples(30), Units::examples(30), plan(30, 0.5, 1), bad).is_err());
    let classes = Targets::Classes(vec![0, 3]);
    let wrong = Arc::new(Examples::new(&[2], Inputs::Real(vec![0.0; 4]), classes).unwrap());
    let error = private(model(), wrong, Units::examples(2), plan(2, 0.5, 1), recipe()).map(|_| ());
    assert!(matches!(error, Err(TrainError::Example { example: 1, .. })));
    for (batches, steps) in [
        (Batching::Shuffled { size: 0 }, 1),
        (Batching::Poisson { rate: 1.5 }, 1),
        (Batching::Shuffled { size: 1 }, 0),
    ] {
        let baseline = Baseline::new(batches, steps);
        assert!(
            Trainer::non_private(model(), examples(30), Units::examples(30), baseline, recipe()).is_err()
        );
    }
    let mut trainer =
        private(model(), examples(30), Units::examples(30), plan(30, 0.5, 2), recipe()).unwrap();
    assert!(trainer.start_from(&[0.0; 3]).is_err() && trainer.start_from(&[f32::NAN; 12]).is_err());
    trainer.start_from(&[0.25; 12]).unwrap();
    assert_eq!(trainer.weights().unwrap(), [0.25; 12]);
    trainer.step().unwrap();
    assert!(trainer.start_from(&[0.25; 12]).is_err());
    assert!(trainer.save().unwrap_err().to_string().contains("no folder"));
}

#[test]
fn a_private_trainer_needs_a_permit_for_all_its_steps() {
    let (two, three) = (plan(30, 0.5, 2), plan(30, 0.5, 3));
    let tried = |plan: &PrivacyPlan, permit| {
        Trainer::private(model(), examples(30), Units::examples(30), plan.clone(), recipe(), permit)
    };
    let unpaid = |result: Result<Trainer, TrainError>| {
        assert!(matches!(result.map(drop), Err(TrainError::Noise(NoiseError::Unpaid))));
    };
    unpaid(tried(&three, permit(&two)));
    unpaid(tried(&two, charge(&mut Unlimited::new(), &Plan::default()).unwrap()));
    let mut session = NoiseSession::without_limit("example", Neighboring::AddRemove).unwrap();
    assert!(tried(&two, two.charge(&mut session).unwrap()).is_ok());
    let whole = two.charges().unwrap().events().to_vec();
    let larger = Plan::new(vec![Event::Parallel { events: whole }]).unwrap();
    assert!(tried(&two, session.charge(&larger).unwrap()).is_ok());
    let mut other = NoiseSession::without_limit("example", Neighboring::ReplaceOne).unwrap();
    assert!(matches!(two.charge(&mut other), Err(TrainError::Noise(NoiseError::Relation { .. }))));
    // The events are the same under both relations, and mean less under one of them.
    let foreign = tried(&two, other.charge(&two.charges().unwrap()).unwrap()).map(drop);
    assert!(matches!(foreign, Err(TrainError::Noise(NoiseError::Relation { .. }))));
}

#[test]
fn frozen_weights_stay_bit_for_bit_and_get_no_noise() {
    let linear = |out| LayerKind::Linear { out, bias: true };
    let adapted = Layer { lora: Some(Lora { rank: 2, alpha: Some(4.0) }), ..linear(3).into() };
    let description = Description { freeze: vec!["1".to_owned()], ..Description::reading(&[2]) }
        .then(linear(4))
        .then(linear(3))
        .then(adapted)
        .then(LayerKind::Tanh)
        .then(linear(3));
    let described = || engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
    let layout = described().layout().clone();
    let trained: Vec<&str> =
        layout.parameters().iter().filter(|own| own.trainable).map(|own| own.name.as_str()).collect();
    assert_eq!(trained, ["0.weight", "0.bias", "2.lora_a", "2.lora_b", "4.weight", "4.bias"]);
    // A plan for all weights would draw noise for frozen ones: it is refused.
    let of = |dimension| PlanSettings { dimension, ..settings(200, 0.2, 4) };
    let whole = PrivacyPlan::new(of(layout.weights()), 1.0, 1e-5).unwrap();
    let refused = private(described(), examples(200), Units::examples(200), whole, recipe());
    assert!(matches!(refused, Err(TrainError::Invalid(_))));
    let plan = PrivacyPlan::new(of(layout.gradients()), 1.0, 1e-5).unwrap();
    let mut trainer = private(described(), examples(200), Units::examples(200), plan, recipe()).unwrap();
    let before = trainer.weights().unwrap();
    run(&mut trainer);
    let after = trainer.weights().unwrap();
    for (place, parameter) in layout.parameters().iter().enumerate() {
        let own = |weights: &[f32]| -> Vec<u32> {
            weights[layout.weight_range(place)].iter().map(|weight| weight.to_bits()).collect()
        };
        // Noise moves every trained array; that it moves none of its numbers has a probability below 1e-6.
        assert_eq!(own(&before) == own(&after), !parameter.trainable, "{}", parameter.name);
    }
}
