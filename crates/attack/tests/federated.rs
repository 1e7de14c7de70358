//! Attacks on parties that train together.

use crate::tiny::{auc, network, number, records};
use reticent_attack::AttackError;
use reticent_attack::federated::{
    ActiveAttacker, ActiveSettings, FederatedSetup, Observer, attack, canary_parties, observe,
    snapshot_signals,
};
use reticent_audit::attacks::{AttackSettings, SNAPSHOT_LIKELIHOOD, observed};
use reticent_audit::bound::{BoundMethod, BoundSettings, lower};
use reticent_audit::comparison::{CertificateComparison, compare};
use reticent_audit::{Game, Study, StudyParts};
use reticent_core::Neighboring;
use reticent_core::special::normal_cdf;
use reticent_train::federated::PARTY;
use reticent_train::{
    Baseline, Batching, Clipping, Device, Examples, FederatedTerms, LocalTraining, OptimizerSettings,
    PlanSettings, PrivacyPlan, Recipe, Resources, Schedule, Targets,
};
use std::sync::Arc;

const ALONE: Resources = Resources { threads: 1, chunk: None };
/// Records of each party.
const OWN: usize = 60;

fn plain(rate: f64) -> Recipe {
    Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(rate),
        average: None,
        denoise: None,
    }
}

/// Three parties that divide the first 180 of 480 records with random labels: they can only be learnt by heart.
fn setup(rounds: u64) -> (FederatedSetup, Examples) {
    let inputs = records(480, 3).inputs().clone();
    let labels = (0..480).map(|record| u32::from(number("label", record) > 0.0)).collect();
    let all = Examples::new(&[12], inputs, Targets::Classes(labels)).unwrap();
    let parties =
        (0..3).map(|party| Arc::new(all.subset(&(party * OWN..(party + 1) * OWN).collect::<Vec<_>>())));
    let local = LocalTraining {
        epochs: 4,
        batch: 10,
        recipe: Recipe { optimizer: OptimizerSettings::sgd(0.9), ..plain(0.1) },
    };
    let everybody = Baseline::new(Batching::Poisson { rate: 1.0 }, rounds);
    let setup = FederatedSetup {
        description: network(12, 64, 2),
        parties: parties.collect(),
        terms: FederatedTerms::Averages(everybody, local),
        recipe: plain(1.0),
        device: Device::Cpu,
        resources: ALONE,
        key: "federation".to_owned(),
    };
    (setup, all)
}

/// Records of a range of members and as many that nobody holds.
fn asked(all: &Examples, members: std::ops::Range<usize>) -> (Examples, Vec<bool>) {
    let count = members.len();
    let which: Vec<usize> = members.chain(240..240 + count).collect();
    (all.subset(&which), (0..2 * count).map(|record| record < count).collect())
}

/// How well the likelihood over the observed rounds tells members.
fn passive(setup: &FederatedSetup, observer: Observer, rounds: &[u64], asked: &(Examples, Vec<bool>)) -> f64 {
    let (models, _) = observe(setup, observer, rounds, &|| false).unwrap();
    assert!(models.iter().map(|model| model.round).eq(rounds.iter().copied()));
    let signals = snapshot_signals(&setup.description, &models, &asked.0, ALONE).unwrap();
    auc(signals.get(SNAPSHOT_LIKELIHOOD).unwrap().values(), &asked.1)
}

#[test]
fn an_observer_finds_members_late_and_the_server_more_than_a_party() {
    let (setup, all) = setup(12);
    let victims = asked(&all, 0..OWN);
    let server = Observer::Server { victim: 0 };
    let late = passive(&setup, server, &[10, 11, 12], &victims);
    let early = passive(&setup, server, &[1], &victims);
    assert!(late > 0.75 && late > early + 0.1, "{early} {late}");
    let party = passive(&setup, Observer::Party { own: 1 }, &[10, 11, 12], &victims);
    assert!(party > 0.6 && party < late, "{party} {late}");
    // Two halves of what nobody holds: 60 against 60 have a standard deviation of 0.053.
    let nobody = (all.subset(&(240..360).collect::<Vec<_>>()), victims.1.clone());
    let nothing = passive(&setup, server, &[10, 11, 12], &nobody);
    assert!((nothing - 0.5).abs() < 0.2, "{nothing}");
}

#[test]
fn the_learned_attack_finds_them_and_nothing_where_there_is_nothing() {
    let (setup, all) = setup(8);
    let study = |(examples, members): (Examples, Vec<bool>)| {
        let (models, _) = observe(&setup, Observer::Party { own: 2 }, &[6, 7, 8], &|| false).unwrap();
        let signals = snapshot_signals(&setup.description, &models, &examples, ALONE).unwrap();
        Study::new(StudyParts { members, signals, ..StudyParts::default() }).unwrap()
    };
    let found = |study: &Study, confidence| {
        observed(study, &[6, 7, 8], &AttackSettings::default(), confidence).unwrap().accuracy
    };
    let leaking = found(&study(asked(&all, 0..2 * OWN)), 0.95);
    assert!(leaking.lower > 0.5, "{leaking:?}");
    let nobody = (all.subset(&(240..480).collect::<Vec<_>>()), (0..240).map(|record| record < 120).collect());
    let nothing = found(&study(nobody), 0.999);
    assert!(nothing.lower < 0.5 && nothing.upper > 0.5, "{nothing:?}");
}

#[test]
fn only_who_holds_a_record_brings_its_loss_down_again() {
    let (setup, all) = setup(9);
    let (targets, members) = asked(&all, 0..OWN);
    for attacker in [ActiveAttacker::Server { victim: 0 }, ActiveAttacker::Isolating { victim: 0 }] {
        let settings = ActiveSettings { attacker, rounds: 4..=9, rate: 0.2, steps: 3, group: 20 };
        let found = attack(&setup, &settings, &targets, &|| false).unwrap();
        let told = auc(&found.run.likelihood, &members);
        assert!(told > 0.7, "{attacker:?}: {told}");
        let drawn = found.run.trajectory("losses", &members, 0.95).unwrap();
        let (own, others) = (&drawn.lines[0], &drawn.lines[1]);
        let last = drawn.at.len() - 1;
        assert!(own.value[last] < others.lower[last], "{drawn:?}");
        // The loss is raised half a round before, and falls.
        assert_eq!(drawn.at[last] - drawn.at[last - 1], 0.5);
        assert!(own.value[last - 1] > own.value[last]);
        // The party could have noticed: what it receives is worse on its own data than in an honest run.
        let jump = |run: &[f64]| run.iter().copied().fold(f64::MIN, f64::max);
        assert!(jump(&found.run.watched.loss_jump) > jump(&found.honest.watched.loss_jump));
        assert_eq!(found.run.watched.beside(&found.honest.watched, "the party").len(), 3);
    }
    let nobody = all.subset(&(240..360).collect::<Vec<_>>());
    let settings = ActiveSettings {
        attacker: ActiveAttacker::Server { victim: 0 },
        rounds: 4..=9,
        rate: 0.2,
        steps: 3,
        group: 20,
    };
    let nothing = auc(&attack(&setup, &settings, &nobody, &|| false).unwrap().run.likelihood, &members);
    assert!((nothing - 0.5).abs() < 0.2, "{nothing}");
}

#[test]
fn a_party_finds_members_of_others_by_its_own_updates() {
    let (setup, all) = setup(12);
    let (targets, members) = asked(&all, 0..OWN);
    let attacker = ActiveAttacker::Party { own: 2 };
    let settings = ActiveSettings { attacker, rounds: 5..=12, rate: 0.05, steps: 3, group: 30 };
    let found = attack(&setup, &settings, &targets, &|| false).unwrap();
    assert!(auc(&found.run.likelihood, &members) > 0.6);
    // The server sees a longer update that points elsewhere.
    let most = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    assert!(most(&found.run.watched.norm) > most(&found.honest.watched.norm));
    assert!(found.run.watched.loss_jump.is_empty(), "the server has no data");
    for (rounds, field) in [(0..=3, "rounds"), (3..=13, "rounds"), (3..=3, "rounds")] {
        let odd = ActiveSettings { rounds, ..settings.clone() };
        match attack(&setup, &odd, &targets, &|| false) {
            Err(AttackError::Invalid(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
    let absent = ActiveSettings { attacker: ActiveAttacker::Party { own: 3 }, ..settings };
    assert!(attack(&setup, &absent, &targets, &|| false).is_err());
    assert!(observe(&setup, Observer::Server { victim: 0 }, &[2, 1], &|| false).is_err());
    assert!(matches!(
        observe(&setup, Observer::Server { victim: 0 }, &[1], &|| true),
        Err(AttackError::Interrupted)
    ));
}

/// A federation of which each party is protected.
fn protected(rounds: u64, noise: f64) -> FederatedSetup {
    let (mut setup, _) = setup(rounds);
    setup.description = network(12, 200, 2);
    let FederatedTerms::Averages(_, local) = setup.terms else { panic!("averages") };
    let graph = reticent_train::graph::Graph::new(&setup.description).unwrap();
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: PARTY.to_owned(),
        size: 3,
        sampling_rate: 1.0,
        steps: rounds,
        clipping: Clipping::Flat { norm: 0.5 },
        dimension: graph.layout().gradients(),
        cyclic: None,
        growth: None,
    };
    let plan = PrivacyPlan::new(settings, noise, 1e-5).unwrap();
    FederatedSetup { terms: FederatedTerms::Parties(plan, local), ..setup }
}

#[test]
fn canary_parties_reach_what_the_gaussian_mechanism_gives_away() {
    for (rounds, noise) in [(4, 4.0), (4, 2.0)] {
        let run = canary_parties(&protected(rounds, noise), 1500, "k", &|| false).unwrap();
        let mu = (rounds as f64).sqrt() / noise;
        let expected = normal_cdf(mu / std::f64::consts::SQRT_2);
        // 750 against 750: a standard deviation of at most 0.015.
        let found = auc(run.membership.scores(), run.membership.members());
        assert!((found - expected).abs() < 0.06, "{rounds} {noise}: {found} {expected}");
        let certificate = run.certificate.unwrap();
        assert_eq!(certificate.unit, PARTY);
        let settings = BoundSettings { game: Game::PARTIES, ..BoundSettings::new(1e-5, "k") };
        let bound = lower(&run.membership, BoundMethod::OneRun, &settings).unwrap();
        let compared = compare(&certificate, &bound);
        assert!(matches!(compared, CertificateComparison::Compared { .. }), "{compared:?}");
        assert!(bound.value > 0.0 && !compared.is_contradiction(), "{bound:?} {compared:?}");
        // A certificate for records says nothing about parties.
        let mut records = certificate;
        records.unit = "row".to_owned();
        assert!(matches!(compare(&records, &bound), CertificateComparison::Apart { .. }));
    }
    let (unprotected, _) = setup(2);
    assert!(canary_parties(&unprotected, 10, "k", &|| false).is_err());
    assert!(canary_parties(&protected(2, 1.0), 1, "k", &|| false).is_err());
}

/// A certificate for eight times the noise that there was: the bound tells.
#[test]
fn too_little_noise_for_parties_contradicts_the_certificate() {
    let run = canary_parties(&protected(4, 0.5), 1500, "k", &|| false).unwrap();
    let claimed = protected(4, 4.0).terms.plan().unwrap().certificate(4).unwrap();
    let settings = BoundSettings { game: Game::PARTIES, ..BoundSettings::new(1e-5, "k") };
    let bound = lower(&run.membership, BoundMethod::OneRun, &settings).unwrap();
    assert!(compare(&claimed, &bound).is_contradiction(), "{} {}", bound.value, claimed.guarantee.epsilon);
}
