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
        users: Some((0..records).map(|record| (record / 2).to_string()).collect()),
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
    assert_eq!(findings.headline, "lira-online");
    assert!(findings.auc > 0.9, "{}", findings.auc);
    assert!(findings.epsilon_lower.as_ref().unwrap().value > 1.0);
    let bounded: Vec<&str> =
        findings.attacks.iter().filter(|a| a.epsilon_lower.is_some()).map(|a| a.name.as_str()).collect();
    assert_eq!(bounded, ["lira-online"]);
    assert_eq!(findings.attacks.len() + findings.not_run.len(), Attack::ALL.len());
    assert_eq!(findings.baseline.shift, Some(false));
    assert!(findings.users.as_ref().unwrap().performance.is_some());
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
