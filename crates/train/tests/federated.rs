//! Parties that train together, with and without a guarantee.

use crate::model::{self, examples, permit};
use reticent_core::Fact;
use reticent_train::describe::preset;
use reticent_train::federated::{FederatedTerms, Federation, LocalTraining, PARTY, moved};
use reticent_train::{
    Baseline, Batching, Clipping, Device, Engine, Examples, OptimizerSettings, PlanSettings, PrivacyPlan,
    Recipe, Resources, Schedule, TrainError, Trainer, Units, engine,
};
use std::sync::Arc;

fn plain(rate: f64) -> Recipe {
    Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(rate),
        average: None,
        denoise: None,
    }
}

/// So many parties that divide 900 examples, in turns.
fn parties(count: usize) -> Vec<Arc<Examples>> {
    let all = examples(900);
    (0..count).map(|party| Arc::new(all.subset(&(party..900).step_by(count).collect::<Vec<_>>()))).collect()
}

fn local(epochs: u64) -> LocalTraining {
    LocalTraining { epochs, batch: 30, recipe: plain(0.5) }
}

fn baseline(batches: Batching, steps: u64) -> Baseline {
    Baseline::new(batches, steps)
}

/// A plan for parties of which each takes part with this probability.
fn party_plan(parties: u64, rate: f64, rounds: u64) -> PrivacyPlan {
    let settings = PlanSettings {
        unit: PARTY.to_owned(),
        clipping: Clipping::Flat { norm: 0.5 },
        ..model::settings(parties, rate, rounds)
    };
    PrivacyPlan::new(settings, 1.0, 1e-5).unwrap()
}

fn federation(terms: FederatedTerms, count: usize, recipe: Recipe, key: Option<&str>) -> Federation {
    let permit = terms.plan().map(permit);
    Federation::new(&|| Ok(model::model()), parties(count), terms, recipe, permit, key).unwrap()
}

fn run(federation: &mut Federation) -> f64 {
    while !federation.is_finished() {
        federation.step().unwrap();
    }
    federation.evaluate(&examples(300)).unwrap().accuracy.unwrap()
}

#[test]
fn all_methods_learn() {
    let everybody = Batching::Poisson { rate: 1.0 };
    let records = FederatedTerms::Records(model::plan(900, 0.2, 40));
    let whole = FederatedTerms::Parties(party_plan(30, 1.0, 40), local(1));
    for (terms, count, recipe) in [
        (FederatedTerms::Gradients(baseline(Batching::Shuffled { size: 180 }, 40)), 3, plain(0.5)),
        (FederatedTerms::Averages(baseline(everybody, 5), local(2)), 3, plain(1.0)),
        (FederatedTerms::Averages(baseline(Batching::Shuffled { size: 2 }, 8), local(2)), 5, plain(1.0)),
        (records, 3, plain(0.5)),
        (whole, 30, plain(1.0)),
    ] {
        let accuracy = run(&mut federation(terms.clone(), count, recipe, None));
        assert!(accuracy > 0.8, "{accuracy} by {terms:?}");
    }
}

/// Full batches: FedSGD is descent on all records, whoever holds them, and FedAvg of one full local batch is the same.
#[test]
fn parties_take_the_step_of_all_records_together() {
    let everything = Batching::Poisson { rate: 1.0 };
    // The model starts at 0.
    let mut alone = Trainer::non_private(
        model::model(),
        examples(900),
        Units::examples(900),
        baseline(Batching::Shuffled { size: 900 }, 3),
        plain(0.5),
    )
    .unwrap();
    let together = FederatedTerms::Gradients(baseline(everything, 3));
    let mut together = federation(together, 4, plain(0.5), None);
    let one = LocalTraining { epochs: 1, batch: 1000, recipe: plain(0.5) };
    let averaged = FederatedTerms::Averages(baseline(everything, 3), one);
    let mut averaged = federation(averaged, 4, plain(1.0), None);
    for _ in 0..3 {
        alone.step().unwrap();
        together.step().unwrap();
        averaged.step().unwrap();
    }
    let weights = alone.weights().unwrap();
    for other in [together.weights().unwrap(), averaged.weights().unwrap()] {
        let apart = weights.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "{apart}");
    }
}

fn network() -> Result<Box<dyn Engine>, TrainError> {
    engine(&preset("logistic", &[2], None, 3)?, Device::Cpu, Resources::SINGLE)
}

#[test]
fn a_key_repeats_a_run_on_any_number_of_threads() {
    let terms = || FederatedTerms::Averages(baseline(Batching::Poisson { rate: 0.6 }, 4), local(2));
    let ended = |key: &str, threads| {
        let run = Federation::new(&network, parties(6), terms(), plain(1.0), None, Some(key)).unwrap();
        let mut run = run.on_threads(Resources { threads, chunk: None }).unwrap();
        while !run.is_finished() {
            run.step().unwrap();
        }
        assert!(run.begin_in(&std::env::temp_dir().join("never")).is_err(), "a keyed run is not kept");
        run.weights().unwrap()
    };
    assert_eq!(ended("a", 1), ended("a", 3));
    assert_ne!(ended("a", 1), ended("b", 1));
}

#[test]
fn certificates_name_whom_they_protect_and_whom_they_trust() {
    let plan = model::plan(900, 0.2, 3);
    let mut records = federation(FederatedTerms::Records(plan.clone()), 3, plain(0.5), None);
    let mut whole = federation(FederatedTerms::Parties(party_plan(9, 0.5, 3), local(1)), 9, plain(1.0), None);
    run(&mut records);
    run(&mut whole);
    let (records, whole) = (records.certificate().unwrap().unwrap(), whole.certificate().unwrap().unwrap());
    assert_eq!((records.unit.as_str(), whole.unit.as_str()), ("example", PARTY));
    assert_eq!(records.guarantee, plan.certificate(3).unwrap().guarantee, "that of one process");
    assert!(records.public.contains(&Fact::TrustedServer) && whole.public.contains(&Fact::TrustedServer));
    assert!(whole.public.contains(&Fact::Units(9)) && whole.public.contains(&Fact::Divisor(4.5)));
}

/// Whatever a party holds, and whatever it claims, it moves the sum by the clipping norm at most.
#[test]
fn a_party_adds_at_most_the_norm() {
    let plan = party_plan(4, 1.0, 3);
    let far = LocalTraining { epochs: 20, batch: 5, recipe: plain(3.0) };
    let mut run = federation(FederatedTerms::Parties(plan.clone(), far), 4, plain(1.0), None);
    let (_, seen) = run.observed_step().unwrap();
    assert_eq!(seen.updates.len(), 4);
    let length = |mean: &[f32]| mean.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    for update in &seen.updates {
        let norm = length(&update.mean());
        assert!(norm <= 0.5 && norm > 0.49, "{norm}");
        assert_eq!(update.fixed().unwrap().most_units(), 1);
    }
    for odd in [f32::NAN, f32::INFINITY] {
        let mut claim = vec![0.0; 9];
        claim[3] = odd;
        assert_eq!(length(&run.claimed(1, &claim).unwrap().mean()), 0.0);
    }
    let claim = run.claimed(1, &[1e6; 9]).unwrap();
    assert!(length(&claim.mean()) <= 0.5);
    assert!(run.claimed(1, &[1.0; 8]).is_err() && run.claimed(4, &[1.0; 9]).is_err());
    // Without a plan nothing is clipped.
    let terms = FederatedTerms::Averages(baseline(Batching::Poisson { rate: 1.0 }, 3), far);
    let mut exact = federation(terms, 4, plain(1.0), None);
    let (_, seen) = exact.observed_step().unwrap();
    assert!(seen.updates.iter().all(|update| length(&update.mean()) > 0.5));
    assert!(exact.aggregate(&[claim]).is_err() && run.aggregate(&seen.updates).is_err());
}

/// The server can compute a party's own model from its update; a party sees the server's weights.
#[test]
fn observers_see_what_they_are_said_to_see() {
    let terms = FederatedTerms::Averages(baseline(Batching::Poisson { rate: 1.0 }, 3), local(2));
    let mut run = federation(terms, 3, plain(1.0), None);
    let before = run.party_view().unwrap();
    let (_, seen) = run.observed_step().unwrap();
    assert_eq!((before.round, seen.round, &before.weights), (1, 1, &seen.weights));
    let after = run.party_view().unwrap();
    let models: Vec<Vec<f32>> =
        seen.updates.iter().map(|update| run.model_of(&seen.weights, update)).collect();
    for (place, weight) in after.weights.iter().enumerate() {
        let mean = models.iter().map(|model| model[place]).sum::<f32>() / 3.0;
        assert!((mean - weight).abs() < 1e-5, "{mean} {weight}");
    }
    // Frozen weights do not move.
    assert_eq!(moved(run.layout(), &[1.0; 12], &[1.0; 9], -1.0)[..4], [1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn terms_that_prove_nothing_are_refused() {
    let make = |terms: FederatedTerms, count: usize, key: Option<&str>, paid: bool| {
        let permit = terms.plan().filter(|_| paid).map(permit);
        Federation::new(&|| Ok(model::model()), parties(count), terms, plain(1.0), permit, key).err()
    };
    let field = |error: Option<TrainError>| match error {
        Some(TrainError::Invalid(invalid)) => invalid.field,
        other => panic!("{other:?}"),
    };
    let (records, whole) = (model::plan(900, 0.2, 3), party_plan(3, 0.5, 3));
    let averages = |epochs, batches| FederatedTerms::Averages(baseline(batches, 2), local(epochs));
    for (terms, count, key, paid, expected) in [
        (FederatedTerms::Parties(records.clone(), local(1)), 3, None, true, "unit"),
        (FederatedTerms::Records(whole.clone()), 3, None, true, "unit"),
        (FederatedTerms::Records(records.clone()), 1, None, true, "parties"),
        (FederatedTerms::Records(records.clone()), 3, Some("k"), true, "key"),
        (FederatedTerms::Records(records), 3, None, false, "permit"),
        (averages(0, Batching::Poisson { rate: 1.0 }), 3, None, false, "local_epochs"),
        (averages(1, Batching::Poisson { rate: 2.0 }), 3, None, false, "sampling_rate"),
    ] {
        assert_eq!(field(make(terms, count, key, paid)), expected);
    }
}

/// A party without records adds what an absent one does: nothing.
#[test]
fn an_empty_party_is_an_absent_one() {
    let all = examples(900);
    let mut own = parties(2);
    own.push(Arc::new(all.subset(&[])));
    let plan = party_plan(3, 1.0, 1);
    let terms = FederatedTerms::Parties(plan.clone(), local(1));
    let mut run =
        Federation::new(&|| Ok(model::model()), own, terms, plain(1.0), Some(permit(&plan)), None).unwrap();
    let (_, seen) = run.observed_step().unwrap();
    assert!(seen.updates[2].fixed().unwrap().integers().iter().all(|integer| *integer == 0));
}
