//! A training that several parties contribute to.

use crate::model::{self, examples, permit, recipe};
use reticent_train::engine::{FixedGrid, FixedSum};
use reticent_train::graph::Graph;
use reticent_train::{
    Aggregation, Clipping, Contribution, Description, Device, Engine, Examples, Inputs, PlanSettings,
    PrivacyPlan, Resources, Selection, Targets, TrainError, Trainer, Units, engine,
};
use std::sync::Arc;

/// Units in all tests of sums.
const COUNT: usize = 42;

fn description() -> Description {
    Description::from_toml(
        "input = [1, 6, 6]\n\
         [[layer]]\nkind = \"conv2d\"\nout = 3\nkernel = [3, 3]\n\
         [[layer]]\nkind = \"tanh\"\n[[layer]]\nkind = \"flatten\"\n\
         [[layer]]\nkind = \"linear\"\nout = 5\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 3\n",
        "model.toml",
    )
    .unwrap()
}

/// Two examples for every unit.
fn data(units: usize) -> Examples {
    let value =
        |i: usize| ((i * 7919 % 1013) as f32 / 400.0 - 1.2) * if i.is_multiple_of(5) { 3.0 } else { 1.0 };
    let inputs = (0..units * 2 * 36).map(value).collect();
    let classes = (0..units as u32 * 2).map(|example| example * 5 % 3).collect();
    Examples::new(&[1, 6, 6], Inputs::Real(inputs), Targets::Classes(classes)).unwrap()
}

fn plan(clipping: Clipping) -> PrivacyPlan {
    let dimension = Graph::new(&description()).unwrap().layout().gradients();
    let settings = PlanSettings {
        clipping,
        dimension,
        unit: "user".to_owned(),
        ..model::settings(COUNT as u64, 1.0, 3)
    };
    PrivacyPlan::new(settings, 2.0, 1e-5).unwrap()
}

fn network(threads: usize) -> Box<dyn Engine> {
    engine(&description(), Device::Cpu, Resources { threads, chunk: None }).unwrap()
}

fn weights() -> Vec<f32> {
    let count = Graph::new(&description()).unwrap().layout().weights();
    (0..count).map(|i| (i * 31 % 97) as f32 / 97.0 - 0.5).collect()
}

/// The examples of these units, in their order.
fn examples_of(units: &[usize]) -> Vec<usize> {
    units.iter().flat_map(|unit| [2 * unit, 2 * unit + 1]).collect()
}

/// The integers of a party with these units.
fn party(units: &[usize], clipping: &Clipping, threads: usize) -> FixedSum {
    let plan = plan(clipping.clone());
    let own = Arc::new(data(COUNT).subset(&examples_of(units)));
    let users: Vec<usize> = units.iter().enumerate().flat_map(|(place, _)| [place, place]).collect();
    let (users, grid) = (Units::users(&users, None).unwrap(), FixedGrid::of(&plan).unwrap());
    let mut party = Contribution::new(network(threads), own, users, &plan, grid, 1 << 20).unwrap();
    party.sum(&weights()).unwrap()
}

/// The same units added up in single precision.
fn float_sum(units: &[usize], clipping: &Clipping) -> Vec<f32> {
    let mut network = network(1);
    network.load_weights(&weights()).unwrap();
    let mut selection = Selection::default();
    units.iter().for_each(|unit| selection.push(examples_of(&[*unit])));
    network.sum(&data(COUNT), &selection, Some(clipping), &|| ()).unwrap();
    network.read_sum().unwrap()
}

/// All units divided among 1 to 7 parties, in runs and in turns, each in several orders.
fn divisions() -> Vec<Vec<Vec<usize>>> {
    let mut divisions = Vec::new();
    for parties in 1..=7 {
        let size = COUNT.div_ceil(parties);
        let runs: Vec<Vec<usize>> =
            (0..COUNT).collect::<Vec<_>>().chunks(size).map(<[usize]>::to_vec).collect();
        let turns: Vec<Vec<usize>> =
            (0..parties).map(|party| (party..COUNT).step_by(parties).collect()).collect();
        for division in [runs, turns] {
            let reversed =
                division.iter().rev().map(|units| units.iter().rev().copied().collect()).collect::<Vec<_>>();
            divisions.extend([division, reversed]);
        }
    }
    divisions
}

/// Whether the parties' sums add up to the same integers however the units are divided.
fn is_independent(mut sum_of: impl FnMut(&[usize]) -> Vec<i64>) -> bool {
    let mut total = |division: &[Vec<usize>]| {
        let mut total: Vec<i64> = Vec::new();
        for units in division {
            let own = sum_of(units);
            total.resize(own.len(), 0);
            total.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        total
    };
    let whole = total(&[(0..COUNT).collect()]);
    divisions().iter().all(|division| total(division) == whole)
}

#[test]
fn any_number_of_parties_in_any_order_has_the_same_sum() {
    for clipping in [
        Clipping::Flat { norm: 0.8 },
        Clipping::PerLayer { norm: 3.0 },
        Clipping::Automatic { norm: 1.0, stability: 0.01 },
    ] {
        assert!(is_independent(|units| party(units, &clipping, 1).integers().to_vec()), "{clipping:?}");
        let all: Vec<usize> = (0..COUNT).collect();
        let whole = party(&all, &clipping, 1);
        for threads in [2, 3, 5] {
            assert_eq!(party(&all, &clipping, threads), whole, "{threads} threads");
        }
        let floats = float_sum(&all, &clipping);
        let step = whole.grid().step();
        for (sum, float) in whole.integers().iter().zip(floats) {
            let sum = *sum as f64 * step;
            assert!((sum - f64::from(float)).abs() < 1e-5 * COUNT as f64, "{sum} {float}");
        }
    }
}

/// A party that rounds its sum instead of its units: the same test tells.
#[test]
fn rounding_after_the_sum_is_caught() {
    let clipping = Clipping::Flat { norm: 0.8 };
    let step = FixedGrid::of(&plan(clipping.clone())).unwrap().step();
    let broken = |units: &[usize]| {
        float_sum(units, &clipping)
            .iter()
            .map(|x| (f64::from(*x) / step).round() as i64)
            .collect::<Vec<i64>>()
    };
    assert!(!is_independent(broken));
}

#[test]
fn a_unit_adds_at_most_the_norm_and_a_poisoned_one_nothing() {
    let clipping = Clipping::Flat { norm: 0.8 };
    let (all, plan) = ((0..COUNT).collect::<Vec<usize>>(), plan(clipping.clone()));
    let whole = party(&all, &clipping, 1);
    let mut most = 0.0f64;
    for left_out in 0..COUNT {
        let others: Vec<usize> = all.iter().copied().filter(|unit| *unit != left_out).collect();
        let rest = party(&others, &clipping, 1);
        let pairs = whole.integers().iter().zip(rest.integers());
        let square: f64 = pairs.map(|(a, b)| ((a - b) as f64).powi(2)).sum();
        let moved = square.sqrt() * whole.grid().step();
        assert!(moved <= 0.8, "{moved}");
        most = most.max(moved);
    }
    assert!(most > 0.79, "no unit is clipped: {most}");
    let mut inputs = vec![0.5f32; 3 * 36];
    inputs[40] = f32::NAN;
    let sum = |inputs: Vec<f32>| {
        let count = inputs.len() / 36;
        let examples =
            Examples::new(&[1, 6, 6], Inputs::Real(inputs), Targets::Classes(vec![1; count])).unwrap();
        let (units, grid) = (Units::examples(count), FixedGrid::of(&plan).unwrap());
        let mut party = Contribution::new(network(1), Arc::new(examples), units, &plan, grid, 3).unwrap();
        party.sum(&weights()).unwrap()
    };
    assert_eq!(sum(inputs).integers(), sum(vec![0.5; 2 * 36]).integers());
}

#[test]
fn parties_together_train_with_the_certificate_of_one_process() {
    let plan = model::plan(900, 0.2, 40);
    let grid = FixedGrid::of(&plan).unwrap();
    let all = examples(900);
    let mut parties: Vec<Contribution> = (0..3)
        .map(|party| {
            let own = Arc::new(all.subset(&(party..900).step_by(3).collect::<Vec<_>>()));
            Contribution::new(model::model(), own, Units::examples(300), &plan, grid, 1000).unwrap()
        })
        .collect();
    let mut server = Aggregation::private(model::model(), plan.clone(), recipe(), permit(&plan)).unwrap();
    while !server.is_finished() {
        let weights = server.weights().unwrap();
        let sums: Vec<FixedSum> = parties.iter_mut().map(|party| party.sum(&weights).unwrap()).collect();
        server.step_with(&sums).unwrap();
    }
    let mut alone =
        Trainer::private(model::model(), all, Units::examples(900), plan.clone(), recipe(), permit(&plan))
            .unwrap();
    while !alone.is_finished() {
        alone.step().unwrap();
    }
    assert_eq!(server.certificate().unwrap(), alone.certificate().unwrap());
    for run in [&mut server, &mut *alone] {
        let accuracy = run.evaluate(&examples(300)).unwrap().accuracy.unwrap();
        assert!(accuracy > 0.8, "{accuracy}");
    }
    let sum = FixedSum::new(grid, 1).unwrap();
    assert_eq!(server.step_with(&[sum]), Err(TrainError::Finished { steps: 40 }));
}

#[test]
fn sums_of_other_plans_and_too_many_units_are_refused() {
    let plan = model::plan(90, 0.5, 2);
    let grid = FixedGrid::of(&plan).unwrap();
    let mut server = Aggregation::private(model::model(), plan.clone(), recipe(), permit(&plan)).unwrap();
    let before = server.weights().unwrap();
    let sum = |grid: FixedGrid, most: u64| FixedSum::new(grid, most).unwrap();
    let full = grid.most_units();
    for sums in [
        vec![],
        vec![sum(FixedGrid::new(2.0, 9, 10).unwrap(), 1)],
        vec![sum(FixedGrid::new(1.0, 8, 10).unwrap(), 1)],
        vec![sum(grid, 1), sum(FixedGrid::new(1.0, 9, 10).unwrap(), 1)],
        vec![sum(grid, full), sum(grid, 1)],
    ] {
        assert!(server.step_with(&sums).is_err());
    }
    assert_eq!((server.weights().unwrap(), server.progress().counted), (before.clone(), 0));
    // Nobody was sampled: a step all the same, and noise moves every trained weight.
    server.step_with(&[sum(grid, 1)]).unwrap();
    let after = server.weights().unwrap();
    assert!(before.iter().zip(&after).skip(3).all(|(before, after)| before != after));
    let other = model::plan(90, 0.5, 3);
    let (units, party) = (Units::examples(30), model::model());
    assert!(Contribution::new(party, examples(30), units, &plan, grid, 29).is_err());
    assert!(Aggregation::private(model::model(), other, recipe(), permit(&plan)).is_err(), "not paid for");
}

#[test]
fn runs_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Trainer>();
    is_send::<Aggregation>();
    is_send::<Contribution>();
    is_send::<Box<dyn Engine>>();
}
