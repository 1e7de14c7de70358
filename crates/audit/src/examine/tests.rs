use super::*;
use crate::bound::Method;
use crate::{Features, Outputs, OutputsKind, StudyParts};
use reticent_data::keyed_hash;

/// A number from 0 to 1.
fn uniform(place: usize, what: &str) -> f64 {
    (keyed_hash(what, &place.to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64
}

fn settings() -> ExamineSettings {
    ExamineSettings {
        metrics: MetricSettings::default(),
        bound: Some((Method::OneRun, BoundSettings::new(1e-5, "t"))),
        attacks: None,
        attack: AttackSettings::default(),
        worst: 5,
        key: "t".to_owned(),
    }
}

/// Two classes; whoever is in has logits that are `gap` higher; the feature follows membership by `shift`.
fn parts(records: usize, gap: f64, shift: f64) -> StudyParts {
    let said = |inside: &[bool], what: &str| {
        let values = inside.iter().enumerate().flat_map(|(record, inside)| {
            [0.0, (uniform(record, what) * 2.0 + if *inside { gap } else { 0.0 }) as f32]
        });
        Some(Outputs::new(OutputsKind::Logits, 2, values.collect()).unwrap())
    };
    let members: Vec<bool> = (0..records).map(|record| uniform(record, "coin") < 0.5).collect();
    let feature = |(record, member): (usize, &bool)| {
        (uniform(record, "feature") + if *member { shift } else { 0.0 }) as f32
    };
    let references = (0..16)
        .map(|reference| {
            let inside: Vec<bool> = (0..records)
                .map(|record| {
                    (uniform(record, &format!("half {}", reference / 2)) < 0.5) ^ (reference % 2 == 0)
                })
                .collect();
            let outputs = said(&inside, &format!("reference {reference}"));
            Reference { name: format!("reference {reference}"), outputs, scores: None, inside }
        })
        .collect();
    StudyParts {
        target: said(&members, "target"),
        features: Some(Features { columns: 1, values: members.iter().enumerate().map(feature).collect() }),
        users: None,
        labels: Some(vec![1; records]),
        members,
        references,
        ..StudyParts::default()
    }
}

#[test]
fn the_headline_is_chosen_beforehand_and_alone_has_a_bound() {
    let study = Study::new(parts(600, 1.5, 0.0)).unwrap();
    let found = examine(&study, &settings(), &|_| {}).unwrap();
    let findings = &found.findings;
    assert!(findings.headline_chosen.contains("4 reference models played the target"), "{findings:?}");
    assert!(findings.auc > 0.9, "{}", findings.auc);
    assert!(findings.epsilon_lower.as_ref().unwrap().value > 1.0);
    let bounded: Vec<&str> =
        findings.attacks.iter().filter(|a| a.epsilon_lower.is_some()).map(|a| a.name.as_str()).collect();
    assert_eq!(bounded, [findings.headline.as_str()]);
    assert_eq!(findings.attacks.len() + findings.not_run.len(), Attack::ALL.len());
    assert_eq!(findings.baseline.shift, Some(false));
    assert!(findings.users.is_none());
    assert_eq!(findings.records.as_ref().unwrap().worst.len(), 5);
    assert_eq!(findings.overfitting.len(), 17);
    assert!(findings.tpr_at_fpr["0.1"].is_some() && findings.tpr_at_fpr["0.001"].is_none());
    let text = serde_json::to_string(findings).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), *findings);
}

#[test]
fn members_that_differ_by_themselves_are_noticed() {
    let study = Study::new(parts(600, 0.0, 0.5)).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    assert_eq!(findings.baseline.shift, Some(true));
    assert!(findings.warnings.iter().any(|warning| warning.contains("without the model")));
    assert_eq!(findings.epsilon_lower.as_ref().unwrap().value, 0.0);
}

/// One coin per user and scores that share the user's level but not the coin: records would be guessed in blocks.
#[test]
fn coins_of_users_are_guessed_by_user() {
    let mut claims = 0;
    for run in 0..60 {
        let coin = |user: usize| uniform(user, &format!("coin {run}")) < 0.5;
        let level = |user: usize| uniform(user, &format!("level {run}"));
        let users: Vec<usize> = (0..2000).map(|record| record / 10).collect();
        let study = Study::new(StudyParts {
            members: users.iter().map(|user| coin(*user)).collect(),
            scores: Some(
                users.iter().enumerate().map(|(r, u)| level(*u) + 0.1 * uniform(r, "own")).collect(),
            ),
            users: Some(users.iter().map(ToString::to_string).collect()),
            ..StudyParts::default()
        });
        let found = examine(&study.unwrap(), &settings(), &|_| {}).unwrap().findings.epsilon_lower.unwrap();
        assert_eq!(found.counts["randomised"], 200);
        claims += usize::from(found.value > 0.0);
    }
    assert!(claims <= 8, "{claims} of 60");
}

#[test]
fn references_that_tell_members_prove_nothing() {
    let mut told = parts(600, 1.5, 0.0);
    for reference in &mut told.references {
        for (inside, member) in reference.inside.iter_mut().zip(&told.members) {
            *inside &= !*member;
        }
    }
    let study = Study::new(told).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    assert!(findings.epsilon_lower.is_none());
    assert!(
        findings.warnings.iter().any(|warning| warning.contains("tell who is a member")),
        "{:?}",
        findings.warnings
    );
    let mixed = Study::new(StudyParts {
        users: Some((0..600).map(|r| (r / 2).to_string()).collect()),
        ..parts(600, 1.5, 0.0)
    });
    let findings = examine(&mixed.unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(
        findings.epsilon_lower.is_none()
            && findings.warnings.iter().any(|warning| warning.contains("both kinds"))
    );
}

#[test]
fn an_attack_that_sees_members_proves_nothing() {
    let study = Study::new(parts(400, 2.0, 0.0)).unwrap();
    let asked = ExamineSettings { attacks: Some(vec![Attack::QuantileRegression]), ..settings() };
    let findings = examine(&study, &asked, &|_| {}).unwrap().findings;
    assert_eq!(findings.headline, "quantile-regression");
    assert!(findings.epsilon_lower.is_none());
    assert!(findings.warnings.iter().any(|warning| warning.contains("no guesses")));
}

#[test]
fn attacks_by_name_must_be_possible_and_tables_must_have_records() {
    let mut without = parts(50, 1.0, 0.0);
    without.references.clear();
    let study = Study::new(without).unwrap();
    let asked = ExamineSettings { attacks: Some(vec![Attack::LiraOnline]), ..settings() };
    let line = examine(&study, &asked, &|_| {}).unwrap_err().to_string();
    assert!(line.contains("lira-online") && line.contains("reference"), "{line}");
    let empty = Study::new(StudyParts { scores: Some(Vec::new()), ..StudyParts::default() }).unwrap();
    assert!(examine(&empty, &settings(), &|_| {}).is_err());
    let none = ExamineSettings { attacks: Some(Vec::new()), ..settings() };
    assert!(examine(&study, &none, &|_| {}).is_err());
}
