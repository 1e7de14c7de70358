//! Canaries in a single run.

use crate::tiny::{auc, network, records, training};
use reticent_attack::canary::{Canaries, CanaryKind, CanaryRun, CanarySettings, Coins, run};
use reticent_attack::{AttackError, NetworkTraining};
use reticent_core::Neighboring;
use reticent_core::special::normal_cdf;
use reticent_train::{
    Baseline, Batching, Clipping, Description, Device, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe,
    Resources, Schedule, Targets, TrainingTerms,
};

const ALONE: Resources = Resources { threads: 1, chunk: None };

fn settings(kind: CanaryKind, count: usize) -> CanarySettings {
    CanarySettings { kind, count, key: "k".into(), coins: Coins::Fresh }
}

fn private(words: Description, clipping: Clipping, rate: f64, steps: u64, noise: f64) -> NetworkTraining {
    let dimension = reticent_train::graph::Graph::new(&words).unwrap().layout().gradients();
    let plan = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".into(),
        size: 1000,
        sampling_rate: rate,
        steps,
        clipping,
        dimension,
        cyclic: None,
        growth: None,
    };
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(0.1),
        average: None,
        denoise: None,
    };
    let terms = TrainingTerms::Private(PrivacyPlan::new(plan, noise, 1e-5).unwrap());
    NetworkTraining { description: words, terms, recipe }
}

fn auc_of(run: &CanaryRun) -> f64 {
    auc(run.membership.scores(), run.membership.members())
}

#[test]
fn gradient_canaries_reach_what_the_gaussian_mechanism_gives_away() {
    let data = records(10, 3);
    let words = network(12, 200, 3);
    let clippings = [
        (Clipping::Flat { norm: 1.0 }, 1.0),
        (Clipping::Automatic { norm: 0.5, stability: 0.01 }, 1.0),
        (Clipping::PerLayer { norm: 2.0 }, std::f64::consts::FRAC_1_SQRT_2),
    ];
    for (clipping, share) in clippings {
        for (steps, noise) in [(4, 4.0), (9, 3.0), (4, 1.0)] {
            let canaries = Canaries::plant(&data, 3, settings(CanaryKind::Dirac, 1500)).unwrap();
            let training = private(words.clone(), clipping.clone(), 1.0, steps, noise);
            let run = run(&canaries, &training, Device::Cpu, ALONE, &|| false).unwrap();
            assert_eq!(run.membership.members(), canaries.coins());
            // T steps of the Gaussian mechanism are one with a mean √T/z apart.
            let mu = share * (steps as f64).sqrt() / noise;
            let expected = normal_cdf(mu / std::f64::consts::SQRT_2);
            // 750 against 750: a standard deviation of at most 0.015.
            let found = auc_of(&run);
            assert!((found - expected).abs() < 0.06, "{clipping:?} {steps} {noise}: {found} {expected}");
            let certificate = run.certificate.unwrap();
            assert!(certificate.guarantee.epsilon.get() > 0.0);
            assert!(run.notes.is_empty());
        }
    }
}

#[test]
fn sampled_gradient_canaries_move_less_and_other_optimisers_say_so() {
    let data = records(10, 3);
    let canaries = Canaries::plant(&data, 3, settings(CanaryKind::Dirac, 800)).unwrap();
    let clipping = Clipping::Flat { norm: 1.0 };
    let sampled = private(network(12, 200, 3), clipping.clone(), 0.1, 4, 1.0);
    let whole = private(network(12, 200, 3), clipping, 1.0, 4, 1.0);
    let (sampled, all) = (
        run(&canaries, &sampled, Device::Cpu, ALONE, &|| false).unwrap(),
        run(&canaries, &whole, Device::Cpu, ALONE, &|| false).unwrap(),
    );
    assert!(auc_of(&sampled) < 0.75 && auc_of(&all) > 0.85, "{} {}", auc_of(&sampled), auc_of(&all));
    let adam = Recipe { optimizer: OptimizerSettings::adam(), ..whole.recipe };
    let adam =
        run(&canaries, &NetworkTraining { recipe: adam, ..whole }, Device::Cpu, ALONE, &|| false).unwrap();
    assert!(adam.notes[0].contains("weaker") && auc_of(&adam) > 0.6, "{}", auc_of(&adam));
}

#[test]
fn a_network_that_learns_by_heart_betrays_its_canaries() {
    let data = records(200, 3);
    for (kind, count) in [(CanaryKind::Mislabelled, 80), (CanaryKind::Blank, 60)] {
        let canaries = Canaries::plant(&data, 3, settings(kind, count)).unwrap();
        let included = canaries.included().len();
        let always = if kind == CanaryKind::Mislabelled { 120 } else { 200 };
        assert_eq!(canaries.training().unwrap().len(), always + included);
        let baseline = Baseline::new(Batching::Shuffled { size: 16 }, 1200);
        let how = NetworkTraining {
            description: network(12, 64, 3),
            terms: TrainingTerms::NonPrivate(baseline),
            ..training(3, 1)
        };
        let found = run(&canaries, &how, Device::Cpu, ALONE, &|| false).unwrap();
        assert!(found.certificate.is_none() && found.canaries == count);
        assert!(auc_of(&found) > 0.7, "{kind:?} {}", auc_of(&found));
    }
}

#[test]
fn canaries_are_what_they_say() {
    let data = records(50, 3);
    let Targets::Classes(labels) = data.targets() else { panic!() };
    let wrong = Canaries::plant(&data, 3, settings(CanaryKind::Mislabelled, 20)).unwrap();
    let Targets::Classes(given) = wrong.planted().targets() else { panic!() };
    let row = |examples: &reticent_train::Examples, place| {
        let mut row = [0.0; 12];
        examples.read(place, &mut row);
        row
    };
    for (canary, label) in given.iter().enumerate() {
        let own = (0..50).find(|record| row(&data, *record) == row(wrong.planted(), canary)).unwrap();
        assert_ne!(*label, labels[own]);
        assert!((0..30).all(|record| row(wrong.ordinary(), record) != row(&data, own)));
    }
    // 12 single marks, then pairs: all 72 are different.
    let blank = Canaries::plant(&data, 3, settings(CanaryKind::Blank, 72)).unwrap();
    let mut rows: Vec<Vec<u32>> =
        (0..72).map(|place| row(blank.planted(), place).map(|v| v as u32).to_vec()).collect();
    rows.sort();
    rows.dedup();
    assert_eq!(rows.len(), 72);
    assert!(Canaries::plant(&data, 3, settings(CanaryKind::Blank, 73)).is_err());
    assert!(Canaries::plant(&data, 3, settings(CanaryKind::Mislabelled, 51)).is_err());
    assert!(Canaries::plant(&data, 1, settings(CanaryKind::Blank, 5)).is_err());
    let keyed = |key: &str| {
        let settings =
            CanarySettings { key: key.into(), coins: Coins::Keyed, ..settings(CanaryKind::Dirac, 400) };
        Canaries::plant(&data, 3, settings).unwrap().coins().to_vec()
    };
    assert_eq!(keyed("a"), keyed("a"));
    let agree = keyed("a").iter().zip(keyed("b")).filter(|(a, b)| **a == *b).count();
    assert!((140..260).contains(&agree), "{agree}");
}

#[test]
fn runs_that_mean_nothing_are_refused() {
    let data = records(30, 3);
    let dirac = Canaries::plant(&data, 3, settings(CanaryKind::Dirac, 20)).unwrap();
    let refused = run(&dirac, &training(3, 5), Device::Cpu, ALONE, &|| false).unwrap_err().to_string();
    assert!(refused.contains("clipping norm"), "{refused}");
    let training = private(network(12, 8, 3), Clipping::Flat { norm: 1.0 }, 1.0, 3, 2.0);
    assert!(matches!(run(&dirac, &training, Device::Cpu, ALONE, &|| true), Err(AttackError::Interrupted)));
    let TrainingTerms::Private(plan) = &training.terms else { panic!() };
    let (size, neighboring) = (50, Neighboring::ReplaceOne);
    let replace = PlanSettings { size, neighboring, ..plan.settings().clone() };
    let replace = TrainingTerms::Private(PrivacyPlan::new(replace, 2.0, 1e-5).unwrap());
    let refused =
        run(&dirac, &NetworkTraining { terms: replace, ..training.clone() }, Device::Cpu, ALONE, &|| false);
    assert!(refused.unwrap_err().to_string().contains("add-remove"));
    let many = Canaries::plant(&data, 3, settings(CanaryKind::Dirac, 500)).unwrap();
    assert!(
        run(&many, &training, Device::Cpu, ALONE, &|| false)
            .unwrap_err()
            .to_string()
            .contains("trained weights")
    );
}
