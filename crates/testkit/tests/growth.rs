//! Training with batches that grow, audited on neighbouring data sets: the released steps of many runs must not prove more than the list of
//! the stages' events says, and must come close to it. A twin that samples every step at the largest rate is caught by the same tester. One
//! whose stages begin a step early is too close for so few runs; the samples of every step are tested with the trainer.

use crate::training::Given;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Neighboring, SamplingRate, Scale, Sensitivity, Unlimited, charge};
use reticent_noise::Entropy;
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_noise::sampler::Inclusion;
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_train::{
    BatchGrowth, Clipping, Examples, Inputs, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe, Resources,
    Schedule, Targets, Trainer, Units, model_engine,
};
use std::sync::Arc;

const OTHERS: usize = 20;
const RUNS: usize = 10_000;
const DELTAS: [f64; 3] = [1e-3, 0.05, 0.2];
/// Stages of 4, 2 and 1 steps, the last one of all units in four of five.
const STEPS: u64 = 7;
const FIRST: f64 = 0.2;
const LAST: f64 = 0.8;

fn plan() -> PrivacyPlan {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: OTHERS as u64,
        sampling_rate: FIRST,
        steps: STEPS,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: 2,
        cyclic: None,
        growth: Some(BatchGrowth { factor: 4 }),
    };
    PrivacyPlan::new(settings, 0.7, 1e-5).unwrap()
}

/// The rate of every step, as the plan states it.
fn stated(plan: &PrivacyPlan) -> Vec<f64> {
    (0..STEPS).map(|step| plan.settings().rate(step)).collect()
}

/// The logarithm of how much likelier sums are with the canary than without, where steps have these rates.
fn score(sums: &[f64], rates: &[f64], sigma: f64) -> f64 {
    let one =
        |(x, rate): (&f64, &f64)| libm::log1p(rate * libm::expm1((2.0 * x - 1.0) / (2.0 * sigma * sigma)));
    sums.iter().zip(rates).map(one).sum()
}

/// The sums in the canary's direction of one training by the library.
fn honest(plan: &PrivacyPlan, has_canary: bool) -> Vec<f64> {
    let mut inputs: Vec<f32> = (0..OTHERS).flat_map(|place| [0.0, 0.3 * (place as f32).sin()]).collect();
    if has_canary {
        inputs.extend([1e6, 0.0]);
    }
    let count = inputs.len() / 2;
    let data = Examples::new(&[2], Inputs::Real(inputs), Targets::Classes(vec![0; count])).unwrap();
    let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(1.0));
    let recipe = Recipe { optimizer, schedule, average: None, denoise: None };
    let model = model_engine(Box::new(Given::new(2)), Resources::SINGLE).unwrap();
    let permit = charge(&mut Unlimited::new(), &plan.charges().unwrap()).unwrap();
    let units = Units::examples(count);
    let mut trainer = Trainer::private(model, Arc::new(data), units, plan.clone(), recipe, permit).unwrap();
    let (mut last, mut sums) = (0.0, Vec::new());
    for step in 0..STEPS {
        trainer.step().unwrap();
        let now = f64::from(trainer.weights().unwrap()[0]);
        sums.push((last - now) * plan.expected_batch(step));
        last = now;
    }
    sums
}

/// The same of a training that is written here, whose steps have these rates.
fn twin(rates: &[f64], sigma: f64, has_canary: bool) -> Vec<f64> {
    let (mut entropy, mut taken) = (Entropy::new().unwrap(), Vec::new());
    let mut sums: Vec<f32> = Vec::new();
    for rate in rates {
        Inclusion::new(SamplingRate::new(*rate).unwrap()).unwrap().draw(1, &mut entropy, &mut taken);
        sums.push(if has_canary && !taken.is_empty() { 1.0 } else { 0.0 });
    }
    let noise =
        BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(sigma).unwrap(), sums.len()).unwrap();
    let mut free = Free::new().unwrap();
    let mut draws = free.draws(&noise.event()).unwrap();
    noise.add_noise(&mut sums, &mut draws, Parallelism { threads: 1 }).unwrap();
    sums.into_iter().map(f64::from).collect()
}

/// (δ, ε claimed, ε proven) for every δ. Every number it proves is wrong with probability at most the next `alpha`.
fn audit(
    plan: &PrivacyPlan,
    score: impl Fn(bool) -> f64,
    mut alpha: impl FnMut() -> f64,
) -> Vec<(f64, f64, f64)> {
    let scores =
        |has_canary: bool| Counts::gather(240, (0..RUNS).map(|_| bin(score(has_canary), -12.0, 0.1, 240)));
    let (with, without) = (scores(true), scores(false));
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    for event in plan.events(STEPS) {
        account.compose(&event, 1).unwrap();
    }
    let claim = |delta: f64| account.epsilon(Delta::new(delta).unwrap()).unwrap().upper;
    DELTAS.map(|delta| (delta, claim(delta), epsilon_lower(&with, &without, delta, alpha()))).to_vec()
}

fn is_sound(found: &[(f64, f64, f64)]) -> bool {
    found.iter().all(|(_, claimed, proven)| proven <= claimed)
}

/// The share of the claimed ε that this many samples prove at least, at the largest δ. It is 0.55 to 0.62 in most audits: bounds on rare
/// events take the rest.
const STRENGTH: f64 = 0.35;

#[test]
fn the_canary() {
    let (mut ledger, plan) = (Ledger::open("growth::the_canary"), plan());
    let (rates, sigma) = (stated(&plan), plan.sigma());
    assert_eq!((rates[0], rates[STEPS as usize - 1]), (FIRST, LAST));
    let found = audit(&plan, |has| score(&honest(&plan, has), &rates, sigma), || ledger.alpha());
    println!("{found:?}");
    assert!(is_sound(&found), "{found:?}");
    assert!(found[2].2 >= STRENGTH * found[2].1, "the audit is too weak: {found:?}");
    // The twin with nothing wrong, and the largest rate in every step with the claim of the stages.
    let right = audit(&plan, |has| score(&twin(&rates, sigma, has), &rates, sigma), || ledger.alpha());
    println!("honest twin: {right:?}");
    assert!(is_sound(&right) && right[2].2 >= STRENGTH * right[2].1, "{right:?}");
    let wrong = vec![LAST; STEPS as usize];
    let found = audit(&plan, |has| score(&twin(&wrong, sigma, has), &wrong, sigma), || ALPHA_PER_TEST);
    println!("broken twin, the largest rate: {found:?}");
    assert!(!is_sound(&found), "not caught, {found:?}");
}
