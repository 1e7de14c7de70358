//! Training with cyclic batches and correlated noise, audited on neighbouring data sets: the released steps of many runs must not prove more
//! than the one event of the run says, and must come close to it. Runs with too little noise, and batches by position, are caught by the same
//! tester.

use crate::training::Given;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Neighboring, Scale, Sensitivity, Unlimited, charge};
use reticent_noise::bulk::{BulkGaussian, Parallelism};
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_train::{
    Clipping, CyclicBatches, Examples, Inputs, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe,
    Resources, Schedule, Targets, Trainer, Units, model_engine,
};
use std::sync::Arc;

/// The canary's coordinate, and one for all others.
const WIDTH: usize = 2;
const OTHERS: usize = 20;
const RUNS: usize = 10_000;
const DELTAS: [f64; 3] = [1e-3, 0.05, 0.2];
const BATCHES: CyclicBatches = CyclicBatches { per_epoch: 2, bands: 2 };
const STEPS: u64 = 6;

fn plan(multiplier: f64) -> PrivacyPlan {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: OTHERS as u64,
        sampling_rate: 1.0,
        steps: STEPS,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: WIDTH,
        cyclic: Some(BATCHES),
        growth: None,
    };
    PrivacyPlan::new(settings, multiplier, 1e-5).unwrap()
}

fn coefficients() -> Vec<f64> {
    BATCHES.factor(STEPS).unwrap().coefficients().to_vec()
}

/// What a unit of batch `batch` that adds 1 to its steps adds to every row of C·G.
fn signal(batch: u64) -> Vec<f64> {
    let own = |step: i64| if step >= 0 && step as u64 % BATCHES.per_epoch == batch { 1.0 } else { 0.0 };
    let row = |t: i64| coefficients().iter().enumerate().map(|(d, c)| c * own(t - d as i64)).sum();
    (0..STEPS as i64).map(row).collect()
}

/// The rows that noisy sums were made of.
fn rows(sums: &[f64]) -> Vec<f64> {
    let row = |t: usize| coefficients().iter().take(t + 1).enumerate().map(|(d, c)| c * sums[t - d]).sum();
    (0..sums.len()).map(row).collect()
}

/// The logarithm of how much likelier rows are with a canary in this batch than without.
fn evidence(rows: &[f64], sigma: f64, batch: u64) -> f64 {
    let own = signal(batch);
    rows.iter().zip(own).map(|(y, s)| (2.0 * y * s - s * s) / (2.0 * sigma * sigma)).sum()
}

/// The same for somebody who does not know the batch.
fn mixed_evidence(rows: &[f64], sigma: f64) -> f64 {
    let each = (0..BATCHES.per_epoch).map(|batch| libm::exp(evidence(rows, sigma, batch)));
    libm::log(each.sum::<f64>() / BATCHES.per_epoch as f64)
}

/// What the others hold: by turns 1 and −1, so that batches by position are all of one sign.
fn other(place: usize) -> f32 {
    if place.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The noisy sums of one training by the library, in both coordinates. The canary stands in front of all others.
fn honest(plan: &PrivacyPlan, has_canary: bool) -> [Vec<f64>; WIDTH] {
    let mut inputs: Vec<f32> = Vec::new();
    if has_canary {
        inputs.extend([1e6, 0.0]);
    }
    inputs.extend((0..OTHERS).flat_map(|place| [0.0, other(place)]));
    let count = inputs.len() / WIDTH;
    let data = Examples::new(&[WIDTH], Inputs::Real(inputs), Targets::Classes(vec![0; count])).unwrap();
    let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(1.0));
    let recipe = Recipe { optimizer, schedule, average: None, denoise: None };
    let model = model_engine(Box::new(Given::new(WIDTH)), Resources::SINGLE).unwrap();
    let permit = charge(&mut Unlimited::new(), &plan.charges().unwrap()).unwrap();
    let units = Units::examples(count);
    let mut trainer = Trainer::private(model, Arc::new(data), units, plan.clone(), recipe, permit).unwrap();
    let (mut last, mut sums) = (vec![0.0f32; WIDTH], [Vec::new(), Vec::new()]);
    while !trainer.is_finished() {
        trainer.step().unwrap();
        let now = trainer.weights().unwrap();
        for (place, sums) in sums.iter_mut().enumerate() {
            sums.push(f64::from(last[place] - now[place]) * plan.expected_batch(0));
        }
        last = now;
    }
    sums
}

/// Noisy rows of a training that is written here: these rows without noise, and noise of deviation σ.
fn noisy(rows: &[f64], sigma: f64) -> Vec<f64> {
    let noise = BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(sigma).unwrap(), rows.len());
    let (noise, mut free) = (noise.unwrap(), Free::new().unwrap());
    let mut draws = free.draws(&noise.event()).unwrap();
    let mut values: Vec<f32> = rows.iter().map(|value| *value as f32).collect();
    noise.add_noise(&mut values, &mut draws, Parallelism { threads: 1 }).unwrap();
    values.into_iter().map(f64::from).collect()
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
    account.compose(plan.event().unwrap(), 1).unwrap();
    let claim = |delta: f64| account.epsilon(Delta::new(delta).unwrap()).unwrap().upper;
    DELTAS.map(|delta| (delta, claim(delta), epsilon_lower(&with, &without, delta, alpha()))).to_vec()
}

fn is_sound(found: &[(f64, f64, f64)]) -> bool {
    found.iter().all(|(_, claimed, proven)| proven <= claimed)
}

/// The share of the claimed ε that this many samples prove at least, at the largest δ: bounds on rare events take the rest, and of the real
/// trainer also the random batch.
const STRENGTH: f64 = 0.45;

#[test]
fn the_canary() {
    let (mut ledger, plan) = (Ledger::open("cyclic::the_canary"), plan(1.2));
    let score = |has| mixed_evidence(&rows(&honest(&plan, has)[0]), plan.sigma());
    let found = audit(&plan, score, || ledger.alpha());
    println!("{found:?}");
    assert!(is_sound(&found), "{found:?}");
    assert!(found[2].2 >= STRENGTH * found[2].1, "the audit is too weak: {found:?}");
}

/// With the batch known and the worst one, the claim is tight.
#[test]
fn a_known_batch() {
    let (mut ledger, plan) = (Ledger::open("cyclic::a_known_batch"), plan(1.2));
    let nothing = vec![0.0; STEPS as usize];
    let run = |has: bool, sigma: f64| noisy(&if has { signal(0) } else { nothing.clone() }, sigma);
    let found = audit(&plan, |has| evidence(&run(has, plan.sigma()), plan.sigma(), 0), || ledger.alpha());
    println!("{found:?}");
    assert!(is_sound(&found) && found[2].2 >= 0.6 * found[2].1, "{found:?}");
    // Noise that is calibrated to one step, without the factor's sensitivity over the run.
    let sensitivity = BATCHES.factor(STEPS).unwrap().sensitivity(BATCHES.participation(STEPS)).unwrap();
    let less = plan.sigma() / sensitivity;
    let found = audit(&plan, |has| evidence(&run(has, less), less, 0), || ALPHA_PER_TEST);
    println!("broken twin, noise of one step: {found:?}");
    assert!(!is_sound(&found), "not caught, {found:?}");
}

/// How much the others' batches look as they do without the canary, where batches go by position.
fn order(rows: &[f64]) -> f64 {
    let sign = |t: usize| if t.is_multiple_of(2) { 1.0 } else { -1.0 };
    rows.iter().enumerate().map(|(t, y)| sign(t) * y).sum::<f64>() / 4.0
}

#[test]
fn the_others() {
    let (mut ledger, plan) = (Ledger::open("cyclic::the_others"), plan(1.2));
    let found = audit(&plan, |has| order(&rows(&honest(&plan, has)[1])), || ledger.alpha());
    println!("{found:?}");
    assert!(is_sound(&found), "{found:?}");
    // Batches by position: without the canary all others change their batches.
    let by_position = |has: bool| {
        let mut sums = [0.0; BATCHES.per_epoch as usize];
        for place in 0..OTHERS {
            sums[(place + usize::from(has)) % BATCHES.per_epoch as usize] += f64::from(other(place));
        }
        let exact: Vec<f64> = (0..STEPS as usize).map(|t| sums[t % BATCHES.per_epoch as usize]).collect();
        order(&noisy(&rows(&exact), plan.sigma()))
    };
    let found = audit(&plan, by_position, || ALPHA_PER_TEST);
    println!("broken twin, batches by position: {found:?}");
    assert!(!is_sound(&found), "not caught, {found:?}");
}
