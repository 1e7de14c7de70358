//! A clipping norm that follows a quantile of the gradients' norms.

use crate::model::{examples, model, private, recipe, settings};
use reticent_core::Neighboring;
use reticent_train::describe::preset;
use reticent_train::{
    Clipping, Device, Engine, PlanSettings, PrivacyPlan, QuantileClipping, Resources, Selection, Trainer,
    Unclipped, Units, engine,
};

fn plan(norm: f64, steps: u64) -> PrivacyPlan {
    let clipping = Clipping::Quantile(QuantileClipping::new(norm));
    PrivacyPlan::new(PlanSettings { clipping, ..settings(3000, 0.2, steps) }, 1.5, 1e-5).unwrap()
}

fn trainer(plan: PrivacyPlan) -> Trainer {
    private(model(), examples(3000), Units::examples(3000), plan, recipe()).unwrap()
}

fn norm_after(start: f64, steps: u64) -> f64 {
    let mut trainer = trainer(plan(start, steps));
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    assert!(trainer.weights().unwrap().iter().all(|weight| weight.is_finite()));
    trainer.clipping_norm().unwrap().unwrap()
}

#[test]
fn a_step_costs_what_it_costs_with_a_fixed_norm() {
    let clipping = Clipping::Flat { norm: 1.0 };
    let fixed = PlanSettings { clipping, ..settings(3000, 0.2, 9) };
    let fixed = PrivacyPlan::at_least(fixed, 1.5, 1e-5).unwrap().claiming(1.5).unwrap();
    let follows = PrivacyPlan::at_least(plan(3.0, 9).settings().clone(), 1.5, 1e-5).unwrap();
    let follows = follows.claiming(1.5).unwrap();
    assert_eq!(fixed.event(), follows.event());
    assert_eq!(fixed.epsilon(9).unwrap(), follows.epsilon(9).unwrap());
    // One coordinate more than there are weights.
    assert_eq!(follows.settings().dimension, fixed.settings().dimension);
    assert!(follows.clone().claiming(2.0).is_err());
}

#[test]
fn the_norm_follows_the_gradients() {
    // The noise of a count is a twentieth of the batch: the logarithm moves by 0.1 a step, give or take 0.01.
    let fallen = norm_after(1e4, 60);
    assert!((1e4 * (-8.0f64).exp()..1e4 * (-4.0f64).exp()).contains(&fallen), "{fallen}");
    let risen = norm_after(1e-5, 60);
    assert!((1e-5 * 4.0f64.exp()..1e-5 * 8.0f64.exp()).contains(&risen), "{risen}");
}

#[test]
fn a_resumed_run_keeps_its_norm() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = trainer(plan(100.0, 20));
    first.begin_in(folder.path()).unwrap();
    for _ in 0..7 {
        first.step().unwrap();
    }
    first.save().unwrap();
    let norm = first.clipping_norm().unwrap();
    drop(first);
    let mut second = trainer(plan(100.0, 20));
    assert_eq!(second.clipping_norm().unwrap(), Some(100.0));
    second.resume_from(folder.path()).unwrap();
    assert_eq!(second.clipping_norm().unwrap(), norm);
    assert!(norm.unwrap() < 90.0);
    assert!(trainer(plan(50.0, 20)).resume_from(folder.path()).is_err());
}

/// The last coordinate of a sum at this threshold.
fn count(engine: &mut dyn Engine, threshold: f64, units: usize) -> f32 {
    let unclipped = Unclipped::default();
    let clipping = Clipping::Threshold { threshold, length: 0.9, weight: 0.5, unclipped };
    let mut selection = Selection::default();
    (0..units).for_each(|unit| selection.push([3 * unit, 3 * unit + 1]));
    engine.sum(&examples(300), &selection, Some(&clipping), &|| ()).unwrap();
    let length = engine.layout().gradients();
    assert_eq!(engine.read_sum().unwrap().len(), length);
    engine.read_count().unwrap().unwrap()
}

#[test]
fn every_unit_is_counted_once() {
    let network = preset("mlp", &[2], None, 3).unwrap();
    let described = |threads| engine(&network, Device::Cpu, Resources { threads, chunk: Some(7) }).unwrap();
    for mut engine in [model(), described(1), described(3)] {
        let weights = engine.initial_weights().unwrap();
        engine.load_weights(&weights).unwrap();
        for units in [0, 1, 40, 99] {
            let half = 0.25 * units as f32;
            assert_eq!(count(&mut *engine, 1e6, units), half);
            assert_eq!(count(&mut *engine, 1e-6, units), -half);
        }
    }
}

#[test]
fn other_relations_are_refused() {
    let plan = plan(1.0, 3);
    let neighboring = Neighboring::ReplaceOne;
    let other = PrivacyPlan::new(PlanSettings { neighboring, ..plan.settings().clone() }, 1.5, 1e-5);
    assert!(other.unwrap_err().to_string().contains("add-remove"));
}
