//! Training with encoded gradients and Student-t noise, audited by a canary that fills the whole profile: the samples must not prove
//! more than the accountant says, and must come close to it. Trainings that encode wrongly are caught by the same tester.

use crate::training::Given;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Neighboring, SamplingRate, Unlimited, charge};
use reticent_noise::Entropy;
use reticent_noise::bulk::{BulkNoise, Parallelism};
use reticent_noise::sampler::Inclusion;
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_train::{
    Clipping, Examples, Inputs, MagnitudeProfile, NoiseLaw, OptimizerSettings, PlanSettings, PrivacyPlan,
    Recipe, Resources, Schedule, Targets, Trainer, Units, model_engine,
};
use std::sync::Arc;

/// Numbers of a gradient: those of the canary, and one for all others.
const WIDTH: usize = 7;
const FREEDOM: u32 = 5;
const OTHERS: usize = 20;
const RUNS: usize = 10_000;
const DELTAS: [f64; 3] = [1e-3, 0.05, 0.2];

/// What the canary's gradient points to, before it is encoded.
const CANARY: [f64; WIDTH] = [1.0, -0.9, 0.8, -0.7, 0.6, -0.5, 0.0];

fn profile() -> MagnitudeProfile {
    // The last level is for the coordinate of the others, which the canary leaves at 0: a profile bounds every weight.
    MagnitudeProfile::new(vec![0.6, 0.35, 1e-3], vec![1, 5, 1]).unwrap()
}

/// What the canary adds when it is encoded as it should be.
fn encoded() -> [f64; WIDTH] {
    let mut own = CANARY.map(|x| 0.35 * x.signum());
    (own[0], own[WIDTH - 1]) = (0.6, 0.0);
    own
}

/// The canary's gradient shortened to the norm and multiplied by the gain.
fn scaled(gain: f64) -> [f64; WIDTH] {
    let length = CANARY.iter().map(|x| x * x).sum::<f64>().sqrt();
    CANARY.map(|x| gain * x / length)
}

fn plan(rate: f64, steps: u64, multiplier: f64) -> PrivacyPlan {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: OTHERS as u64,
        sampling_rate: rate,
        steps,
        clipping: Clipping::Encoded { norm: 1.0, gain: 4.0, profile: profile() },
        dimension: WIDTH,
        cyclic: None,
        growth: None,
    };
    let law = NoiseLaw::StudentT { degrees_of_freedom: FREEDOM };
    PrivacyPlan::with_law(settings, law, multiplier, 1e-5).unwrap()
}

/// The logarithm of how much likelier the sums of all steps are with the canary, as it should be encoded, than without.
fn score(plan: &PrivacyPlan, steps: &[[f64; WIDTH]]) -> f64 {
    let (rate, scale, freedom) = (plan.settings().sampling_rate, plan.noise().scale(), f64::from(FREEDOM));
    let log_density = |x: f64| -(freedom + 1.0) / 2.0 * libm::log1p((x / scale).powi(2) / freedom);
    let step = |sums: &[f64; WIDTH]| {
        let ratio: f64 =
            sums.iter().zip(encoded()).map(|(x, own)| log_density(x - own) - log_density(*x)).sum();
        libm::log1p(rate * libm::expm1(ratio))
    };
    steps.iter().map(step).sum()
}

/// The noisy sums of every step of one training by the library.
fn honest(plan: &PrivacyPlan, has_canary: bool) -> Vec<[f64; WIDTH]> {
    let mut inputs: Vec<f32> = Vec::new();
    for other in 0..OTHERS {
        inputs.extend([0.0; WIDTH - 1]);
        inputs.push(0.3 * (other as f32).sin());
    }
    if has_canary {
        inputs.extend(CANARY.map(|x| 1e6 * x as f32));
    }
    let count = inputs.len() / WIDTH;
    let data = Examples::new(&[WIDTH], Inputs::Real(inputs), Targets::Classes(vec![0; count])).unwrap();
    let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(1.0));
    let recipe = Recipe { optimizer, schedule, average: None, denoise: None };
    let model = model_engine(Box::new(Given::new(WIDTH)), Resources::SINGLE).unwrap();
    let permit = charge(&mut Unlimited::new(), &plan.charges().unwrap()).unwrap();
    let units = Units::examples(count);
    let mut trainer = Trainer::private(model, Arc::new(data), units, plan.clone(), recipe, permit).unwrap();
    let (mut last, mut sums) = (vec![0.0f32; WIDTH], Vec::new());
    while !trainer.is_finished() {
        trainer.step().unwrap();
        let now = trainer.weights().unwrap();
        let moved = |place: usize| f64::from(last[place] - now[place]) * plan.expected_batch(0);
        // What others add says nothing about the canary.
        sums.push(std::array::from_fn(|place| if place + 1 < WIDTH { moved(place) } else { 0.0 }));
        last = now;
    }
    sums
}

/// The noisy sums of a training that is written here, to which the canary adds this vector.
fn twin(plan: &PrivacyPlan, canary: [f64; WIDTH], has_canary: bool) -> Vec<[f64; WIDTH]> {
    let BulkNoise::Student(noise) = plan.noise() else { panic!("Student-t noise") };
    let (rate, steps) = (plan.settings().sampling_rate, plan.steps() as usize);
    let mut taken = Vec::new();
    Inclusion::new(SamplingRate::new(rate).unwrap()).unwrap().draw(
        steps,
        &mut Entropy::new().unwrap(),
        &mut taken,
    );
    let mut free = Free::new().unwrap();
    let mut draws = free.draws(&noise.event()).unwrap();
    let step = |step: usize| {
        let is_in = has_canary && (rate == 1.0 || taken.contains(&step));
        let mut sums = canary.map(|x| if is_in { x as f32 } else { 0.0 });
        noise.add_noise(&mut sums, &mut draws, Parallelism { threads: 1 }).unwrap();
        sums[WIDTH - 1] = 0.0;
        sums.map(f64::from)
    };
    (0..steps).map(step).collect()
}

/// (δ, ε claimed, ε proven) for every δ. Every number it proves is wrong with probability at most the next `alpha`.
fn audit(
    plan: &PrivacyPlan,
    run: impl Fn(bool) -> Vec<[f64; WIDTH]>,
    mut alpha: impl FnMut() -> f64,
) -> Vec<(f64, f64, f64)> {
    let scores = |has_canary: bool| {
        let outputs = (0..RUNS).map(|_| bin(score(plan, &run(has_canary)), -8.0, 0.1, 160));
        Counts::gather(160, outputs)
    };
    let (with, without) = (scores(true), scores(false));
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    account.compose(plan.event().unwrap(), plan.steps()).unwrap();
    let claim = |delta: f64| account.epsilon(Delta::new(delta).unwrap()).unwrap().upper;
    DELTAS.map(|delta| (delta, claim(delta), epsilon_lower(&with, &without, delta, alpha()))).to_vec()
}

fn is_sound(found: &[(f64, f64, f64)]) -> bool {
    found.iter().all(|(_, claimed, proven)| proven <= claimed)
}

/// The share of the claimed ε that this many samples prove at least, at the largest δ: bounds on rare events take the rest.
const STRENGTH: f64 = 0.45;

/// The real trainer: nothing proven beyond the account, and not much less.
fn check_honest(ledger: &mut Ledger, plan: &PrivacyPlan) {
    let found = audit(plan, |has| honest(plan, has), || ledger.alpha());
    println!("{found:?}");
    assert!(is_sound(&found), "{found:?}");
    let (_, claimed, proven) = found[2];
    assert!(proven >= STRENGTH * claimed, "the audit is too weak: {found:?}");
}

#[test]
fn full_batches() {
    let mut ledger = Ledger::open("encoded::full_batches");
    check_honest(&mut ledger, &plan(1.0, 4, 1.0));
}

#[test]
fn poisson_batches() {
    let mut ledger = Ledger::open("encoded::poisson_batches");
    check_honest(&mut ledger, &plan(0.8, 6, 1.0));
}

#[test]
fn wrong_encodings_are_caught() {
    let cut_first = scaled(1.0).map(|x| 4.0 * x.signum() * x.abs().min(0.35));
    for plan in [plan(1.0, 4, 1.0), plan(0.8, 6, 1.0)] {
        for (what, canary) in [("not cut by rank", scaled(4.0)), ("cut before it is scaled", cut_first)] {
            let found = audit(&plan, |has| twin(&plan, canary, has), || ALPHA_PER_TEST);
            println!("broken twin, {what}: {found:?}");
            assert!(!is_sound(&found), "{what}: not caught, {found:?}");
        }
    }
}

#[test]
fn the_twin_with_nothing_wrong_is_not_caught() {
    let mut ledger = Ledger::open("encoded::honest_twin");
    let plan = plan(0.8, 6, 1.0);
    let found = audit(&plan, |has| twin(&plan, encoded(), has), || ledger.alpha());
    assert!(is_sound(&found) && found[2].2 >= STRENGTH * found[2].1, "{found:?}");
}
