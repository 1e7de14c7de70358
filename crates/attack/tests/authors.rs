//! Models of authors, and secrets planted in texts.

use reticent_attack::canary::{ExposureSettings, SecretFormat, TrainingTexts, exposure};
use reticent_attack::{
    AuthorLearner, AuthorUnit, Authors, Learner, NetworkTraining, Population, ReferenceDesign, Wanted,
    as_target,
};
use reticent_audit::attacks::{
    AUTHOR_ATTACKS, AUTHOR_LIKELIHOOD, AUTHOR_LIRA_ONLINE, AUTHOR_RANKS, AUTHOR_SAMPLES, AttackSettings,
    RANK_BINS,
};
use reticent_audit::exposure::RankMethod;
use reticent_audit::vulnerability::sample_leaks;
use reticent_audit::{Features, Membership, Reference, SignalSource};
use reticent_data::keyed_hash;
use reticent_data::text::Sequences;
use reticent_train::describe::{LayerKind, Objective};
use reticent_train::{
    Baseline, Batching, Description, Device, Examples, Inputs, OptimizerSettings, Recipe, Resources,
    Schedule, Targets, TrainingTerms, load,
};
use std::sync::Arc;

const LENGTH: usize = 8;
const VOCABULARY: usize = 14;
const AUTHORS: usize = 24;

/// Texts of 7 tokens: every author has a few of them, and a model of pairs of tokens can learn them by heart.
fn texts() -> (Examples, Vec<Vec<usize>>) {
    let mut read = Sequences::default();
    let mut own = vec![Vec::new(); AUTHORS];
    for (author, samples) in own.iter_mut().enumerate() {
        for sample in 0..3 + author % 2 {
            let token = |at: usize| {
                let word = keyed_hash("texts", format!("{author} {} {at}", sample % 2).as_bytes());
                2 + (word % 12) as u32
            };
            samples.push(read.ends.len());
            read.push(&(0..7).map(token).collect::<Vec<_>>());
        }
    }
    (load::pieces(&read, LENGTH).unwrap().0, own)
}

fn training(steps: u64) -> NetworkTraining {
    let network = Description { loss: Objective::NextToken, ..Description::reading(&[LENGTH]) };
    NetworkTraining {
        description: network
            .then(LayerKind::Embedding { vocabulary: VOCABULARY, out: 16 })
            .then(LayerKind::Lstm { hidden: 24 })
            .then(LayerKind::Linear { out: VOCABULARY, bias: true }),
        terms: TrainingTerms::NonPrivate(Baseline {
            batches: Batching::Shuffled { size: 16 },
            steps,
            adversarial: None,
        }),
        recipe: Recipe {
            optimizer: OptimizerSettings::adam(),
            schedule: Schedule::constant(0.02),
            average: None,
            denoise: None,
        },
    }
}

fn learner(steps: u64, unit: Option<AuthorUnit>) -> AuthorLearner {
    let (examples, own) = texts();
    let authors = Authors { trained: own.clone(), asked: own, unit };
    AuthorLearner::new(Arc::new(examples), authors, training(steps)).unwrap()
}

fn population() -> Population {
    let ids = (0..AUTHORS).map(|author| format!("author {author}")).collect();
    Population::of_authors(ids, 4, Features { columns: 1, values: vec![0.0; AUTHORS] })
}

#[test]
fn a_model_knows_its_authors_and_attacks_find_them() {
    let learner = learner(120, None);
    let reference = |index: usize| {
        let inside = ReferenceDesign::Half.mask("authors", index, AUTHORS);
        let which: Vec<usize> = (0..AUTHORS).filter(|author| inside[*author]).collect();
        let found = learner.fit(&which, &format!("k {index}"), &Wanted::default(), &|| false).unwrap();
        assert!(found.outputs.is_none());
        Reference { name: format!("reference {index}"), outputs: None, signals: found.signals, inside }
    };
    let references: Vec<Reference> = (0..8).map(reference).collect();
    let study = as_target(&population(), &references, 0).unwrap();
    assert_eq!(study.parts().references.len(), 6, "the partner of the target is left out");
    let likelihood = study.signal(AUTHOR_LIKELIHOOD).unwrap();
    assert_eq!(likelihood.provenance(), SignalSource::Loss);
    assert_eq!(
        (study.signal(AUTHOR_RANKS).unwrap().width(), study.signal(AUTHOR_SAMPLES).unwrap().width()),
        (RANK_BINS, 4)
    );
    for attack in AUTHOR_ATTACKS {
        let scores = attack.run(&study, &AttackSettings::default()).unwrap().scores;
        let found = Membership::new(scores, study.parts().members.clone()).unwrap();
        let area = reticent_audit::metrics::measure(&found, &Default::default()).unwrap().auc.value;
        let least = if *attack == AUTHOR_LIRA_ONLINE { 0.9 } else { 0.7 };
        assert!(area > least, "{}: {area}", attack.name());
    }
    let counts: Vec<usize> = (0..AUTHORS).map(|author| 3 + author % 2).collect();
    let leaks = sample_leaks(&study, &counts, 2).unwrap();
    let mean = |side: bool| {
        let own = leaks.iter().zip(&study.parts().members).filter(|(_, member)| **member == side);
        let worst: Vec<f64> = own.map(|(leaks, _)| leaks[0].leak).collect();
        worst.iter().sum::<f64>() / worst.len() as f64
    };
    assert!(mean(true) > mean(false) + 0.3, "{} {}", mean(true), mean(false));
}

/// All samples of an author are in or none: a model without an author does not know any of them.
#[test]
fn authors_are_in_with_all_their_samples() {
    let learner = learner(5, Some(AuthorUnit { samples_per_step: Some(2) }));
    let again = self::learner(5, Some(AuthorUnit { samples_per_step: None }));
    assert_ne!(learner.identity(), again.identity());
    assert!(learner.is_repeatable() && learner.records() == AUTHORS);
    let fit = |inside: &[usize]| learner.fit(inside, "k", &Wanted::default(), &|| false).unwrap();
    let some: Vec<usize> = (0..12).collect();
    assert_eq!(fit(&some), fit(&some));
    assert_ne!(fit(&some), fit(&(1..13).collect::<Vec<_>>()));
    let wanted = Wanted { gradients: true, ..Wanted::default() };
    assert!(learner.fit(&some, "k", &wanted, &|| false).is_err());
}

#[test]
fn authors_without_meaning_are_refused() {
    let (examples, own) = texts();
    let examples = Arc::new(examples);
    let refuse = |trained: Vec<Vec<usize>>, asked: Vec<Vec<usize>>| {
        let authors = Authors { trained, asked, unit: None };
        AuthorLearner::new(examples.clone(), authors, training(1)).unwrap_err().to_string()
    };
    assert!(refuse(own[..1].to_vec(), own[..1].to_vec()).contains("at least 2"));
    assert!(refuse(vec![vec![0], vec![]], vec![vec![0], vec![1]]).contains("at least one sample"));
    assert!(refuse(vec![vec![0], vec![0]], vec![vec![0], vec![1]]).contains("one author"));
    assert!(refuse(vec![vec![0], vec![999]], vec![vec![0], vec![1]]).contains("below"));
}

fn settings() -> ExposureSettings {
    ExposureSettings {
        // Two symbols of six between a token that opens and one that closes: 36 secrets.
        format: SecretFormat::new(vec![2, 3], (4..10).collect(), 2, vec![11]).unwrap(),
        repetitions: vec![40],
        secrets: 2,
        drawn: 100,
        continuations: 60,
        confidence: 0.95,
        key: "secrets".to_owned(),
    }
}

#[test]
fn a_secret_that_is_repeated_often_is_exposed_and_said() {
    let (examples, _) = texts();
    let how = (Device::Cpu, Resources::SINGLE);
    let texts = TrainingTexts { examples: &examples, owners: None, is_shared: false };
    let ran = exposure(&settings(), texts, &training(250), how, &|| false).unwrap();
    let [never, often] = &ran.groups[..] else { panic!("two groups") };
    assert_eq!((never.repetitions, often.repetitions, never.secrets.len()), (0, 40, 2));
    // 36 candidates less the four planted, and the secret itself: rank 1 is log2(33).
    for secret in &often.secrets {
        assert_eq!((secret.method, secret.rank), (RankMethod::Exact, 1.0));
        assert!((secret.exposure.value - 33f64.log2()).abs() < 1e-12);
    }
    assert_eq!(often.extracted, 2);
    assert!(ran.certificate.is_none());
    let classes = Examples::new(&[1], Inputs::Real(vec![0.0]), Targets::Classes(vec![0])).unwrap();
    let wrong = TrainingTexts { examples: &classes, owners: None, is_shared: false };
    let refusal = exposure(&settings(), wrong, &training(1), how, &|| false).unwrap_err().to_string();
    assert!(refusal.contains("language models"), "{refusal}");
    let none = ExposureSettings { repetitions: vec![0], ..settings() };
    assert!(exposure(&none, texts, &training(1), how, &|| false).is_err());
}
