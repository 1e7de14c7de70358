use super::*;
use crate::rank::auc;
use crate::{
    Features, GRADIENT_NORM, INPUT_GRADIENT_NORM, OUTPUTS, Outputs, OutputsKind, Reference, Signal,
    SignalValues, Signals, StudyParts,
};
use libm::{cos, exp, log, sqrt};
use reticent_core::special::normal_cdf;
use reticent_noise::entropy::{Bits, SeededForTests};

struct Draw(SeededForTests);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(SeededForTests::new(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        sqrt(-2.0 * log(self.uniform())) * cos(std::f64::consts::TAU * self.uniform())
    }
}

/// Two classes with log-odds `phi` of the true one.
fn outputs(phi: &[f64], labels: &[u32]) -> Outputs {
    let rows = phi.iter().zip(labels).flat_map(|(phi, label)| {
        let (own, other) = ((0.5 * phi) as f32, (-0.5 * phi) as f32);
        if *label == 0 { [own, other] } else { [other, own] }
    });
    Outputs::new(OutputsKind::Logits, 2, rows.collect()).unwrap()
}

/// Log-odds that are normal around a record's own level, and `shift` higher for models trained with it.
fn gaussian(records: usize, references: usize, shift: f64, draw: &mut Draw) -> StudyParts {
    let level: Vec<f64> = (0..records).map(|_| 2.0 * draw.normal()).collect();
    let labels: Vec<u32> = (0..records).map(|_| u32::from(draw.uniform() < 0.5)).collect();
    let mut model = || {
        let inside: Vec<bool> = (0..records).map(|_| draw.uniform() < 0.5).collect();
        let phi: Vec<f64> =
            (0..records).map(|r| level[r] + draw.normal() + if inside[r] { shift } else { 0.0 }).collect();
        (inside, outputs(&phi, &labels))
    };
    let (members, target) = model();
    let reference = |(place, (inside, outputs)): (usize, (Vec<bool>, Outputs))| Reference {
        name: format!("reference {place}"),
        outputs: Some(outputs),
        signals: Signals::none(),
        inside,
    };
    let references = (0..references).map(|_| model()).enumerate().map(reference).collect();
    StudyParts { members, labels: Some(labels), target: Some(target), references, ..StudyParts::default() }
}

/// Adds signals of gradients that say what the log-odds say: norms that shrink as they grow.
pub(crate) fn with_gradients(parts: &mut StudyParts) {
    let labels = parts.labels.clone().unwrap();
    let add = |signals: &mut Signals, outputs: &Option<Outputs>| {
        let phi = Signal::Logit.compute(outputs.as_ref().unwrap(), &labels).unwrap();
        let mut insert = |name: &str, of: &dyn Fn(f64) -> f64| {
            let values = phi.iter().map(|phi| of(*phi)).collect();
            signals.insert(name, SignalValues::scalar(SignalSource::Gradients, values));
        };
        insert(GRADIENT_NORM, &|phi| -exp(-phi));
        insert(INPUT_GRADIENT_NORM, &|phi| -exp(-0.5 * phi));
        let asked = STANDARD.iter().flat_map(|attack| attack.requirements().signals);
        for name in asked.filter(|name| ![GRADIENT_NORM, INPUT_GRADIENT_NORM, OUTPUTS, SCORE].contains(name))
        {
            if Signal::by_name(name).is_none() {
                insert(name, &|phi| phi / (1.0 + phi.abs()));
            }
        }
    };
    add(&mut parts.signals, &parts.target);
    parts.references.iter_mut().for_each(|reference| add(&mut reference.signals, &reference.outputs));
}

fn by_evidence(study: &Study) -> &'static dyn Attack {
    Registry::standard().by_evidence(study).unwrap()
}

fn area(attack: &'static dyn Attack, study: &Study, settings: &AttackSettings) -> f64 {
    auc(&attack.run(study, settings).unwrap().scores, &study.parts().members).unwrap()
}

fn refusal(attack: &'static dyn Attack, parts: &StudyParts) -> String {
    let study = Study::new(parts.clone()).unwrap();
    let reason = attack.can_run(&study).unwrap_err().to_string();
    let error = attack.run(&study, &AttackSettings::default()).unwrap_err();
    assert!(matches!(&error, AuditError::NotMeasurable(text) if *text == reason), "{error}");
    reason
}

#[test]
fn lira_online_nears_the_best_test() {
    let mut draw = Draw::new(1);
    let study = Study::new(gaussian(4000, 64, 1.5, &mut draw)).unwrap();
    // The best test knows each record's level: normals of variance 1 that are 1.5 apart.
    let best = normal_cdf(1.5 / sqrt(2.0));
    for variance in [Variance::Global, Variance::PerExample, Variance::Shrunken] {
        let settings = AttackSettings { lira_variance: Some(variance), ..AttackSettings::default() };
        let found = area(LIRA_ONLINE, &study, &settings);
        assert!(found > best - 0.025 && found < best + 0.015, "{variance}: {found}, best {best}");
    }
    let median = AttackSettings { lira_location: Location::Median, ..AttackSettings::default() };
    assert!((area(LIRA_ONLINE, &study, &median) - best).abs() < 0.025);
    // Levels differ by more than the shift: one threshold for all is far behind.
    assert!(area(YEOM_LOSS, &study, &AttackSettings::default()) < best - 0.1);
}

#[test]
fn one_tail_beats_two_when_members_only_score_higher() {
    let mut draw = Draw::new(2);
    let study = Study::new(gaussian(3000, 16, 1.5, &mut draw)).unwrap();
    let settings = AttackSettings::default();
    let one = area(LIRA_OFFLINE, &study, &settings);
    let two = area(LIRA_OFFLINE_TWO_TAILED, &study, &settings);
    assert!(one > two + 0.1, "{one} {two}");
}

#[test]
fn no_leak_is_no_signal() {
    let mut draw = Draw::new(3);
    let mut parts = gaussian(2000, 8, 0.0, &mut draw);
    parts.features = Some(Features { columns: 3, values: (0..6000).map(|_| draw.normal() as f32).collect() });
    with_gradients(&mut parts);
    let study = Study::new(parts).unwrap();
    for attack in STANDARD.iter().copied() {
        match attack.can_run(&study) {
            Ok(()) => {
                let found = area(attack, &study, &AttackSettings::default());
                assert!((found - 0.5).abs() < 0.06, "{}: {found}", attack.name());
            }
            Err(reason) => {
                assert!(attack == GIVEN_SCORE, "{reason}");
            }
        }
    }
}

#[test]
fn every_attack_finds_a_strong_leak() {
    let mut draw = Draw::new(4);
    let mut parts = gaussian(1500, 24, 4.0, &mut draw);
    parts.features = Some(Features { columns: 3, values: (0..4500).map(|_| draw.normal() as f32).collect() });
    parts.signals =
        Signals::of_scores(parts.members.iter().map(|m| f64::from(u8::from(*m)) + draw.normal()).collect());
    with_gradients(&mut parts);
    let study = Study::new(parts).unwrap();
    for attack in STANDARD.iter().copied() {
        let found = area(attack, &study, &AttackSettings::default());
        assert!(found > 0.7, "{}: {found}", attack.name());
        let again = area(attack, &study, &AttackSettings::default());
        assert_eq!(found, again, "{}", attack.name());
    }
    assert_eq!(by_evidence(&study), LIRA_ONLINE);
}

#[test]
fn scores_without_outputs_serve_lira_only() {
    let mut draw = Draw::new(5);
    let mut parts = gaussian(800, 20, 2.0, &mut draw);
    let labels = parts.labels.clone().unwrap();
    parts.signals =
        Signals::of_scores(Signal::Logit.compute(parts.target.as_ref().unwrap(), &labels).unwrap());
    let whole = Study::new(parts.clone()).unwrap();
    for reference in &mut parts.references {
        let outputs = reference.outputs.take().unwrap();
        reference.signals = Signals::of_scores(Signal::Logit.compute(&outputs, &labels).unwrap());
    }
    for attack in [RMIA_OFFLINE, RMIA_ONLINE, BASE, BASE_OFFLINE, SHOKRI] {
        assert!(refusal(attack, &parts).contains("only scores"));
    }
    parts.target = None;
    let study = Study::new(parts).unwrap();
    let run = |study: &Study| LIRA_OFFLINE.run(study, &AttackSettings::default()).unwrap();
    assert_eq!(run(&whole).scores, run(&study).scores);
    assert_eq!(run(&study).settings["signal"], "given score");
    assert_eq!(by_evidence(&study), LIRA_ONLINE);
    let mut parts = study.into_parts();
    parts.references.truncate(7);
    parts.references.iter_mut().for_each(|r| r.inside = vec![false; 800]);
    assert_eq!(by_evidence(&Study::new(parts).unwrap()), LIRA_OFFLINE);
}

#[test]
fn base_is_its_formula() {
    let mut draw = Draw::new(6);
    let study = Study::new(gaussian(60, 12, 1.0, &mut draw)).unwrap();
    let parts = study.parts();
    let labels = parts.labels.as_ref().unwrap();
    let p = |outputs: &Outputs, record: usize| {
        let z = outputs.record(record);
        let (own, other) = (z[labels[record] as usize], z[1 - labels[record] as usize]);
        1.0 / (1.0 + exp(f64::from(other - own)))
    };
    let online = BASE.run(&study, &AttackSettings::default()).unwrap().scores;
    let offline = BASE_OFFLINE.run(&study, &AttackSettings::default()).unwrap().scores;
    for record in 0..study.len() {
        let own = log(p(parts.target.as_ref().unwrap(), record));
        let all: Vec<f64> = parts.references.iter().map(|r| p(r.outputs.as_ref().unwrap(), record)).collect();
        let outside: Vec<f64> =
            all.iter().zip(&parts.references).filter(|(_, r)| !r.inside[record]).map(|(p, _)| *p).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((online[record] - (own - log(mean(&all)))).abs() < 1e-6);
        assert!((offline[record] - (own - 0.33 * log(mean(&outside)))).abs() < 1e-6);
    }
}

#[test]
fn rmia_is_the_table_of_all_pairs() {
    let mut draw = Draw::new(7);
    let study = Study::new(gaussian(120, 9, 1.0, &mut draw)).unwrap();
    let parts = study.parts();
    let labels = parts.labels.as_ref().unwrap();
    let (temperature, a, gamma) = (2.0, 0.3, 1.5);
    let p = |outputs: &Outputs, record: usize| {
        let z = outputs.record(record);
        let (own, other) = (z[labels[record] as usize], z[1 - labels[record] as usize]);
        1.0 / (1.0 + exp(f64::from(other - own) / temperature))
    };
    // The number of references without a record differs from record to record.
    let outside = |record: usize| parts.references.iter().filter(|r| !r.inside[record]).count();
    assert!((0..120).any(|r| outside(r) != outside(0)));
    let mean = |record: usize, inside: bool| {
        let used: Vec<f64> = parts
            .references
            .iter()
            .filter(|r| r.inside[record] == inside)
            .map(|r| p(r.outputs.as_ref().unwrap(), record))
            .collect();
        used.iter().sum::<f64>() / used.len() as f64
    };
    let settings = AttackSettings {
        rmia_gamma: gamma,
        rmia_temperature: Some(temperature),
        rmia_a: Some(a),
        ..AttackSettings::default()
    };
    for (attack, online) in [(RMIA_OFFLINE, false), (RMIA_ONLINE, true)] {
        let found = attack.run(&study, &settings).unwrap().scores;
        let ratio = |record: usize| {
            let prior = if online {
                0.5 * (mean(record, true) + mean(record, false))
            } else {
                0.5 * ((1.0 + a) * mean(record, false) + 1.0 - a)
            };
            p(parts.target.as_ref().unwrap(), record) / prior
        };
        let ratios: Vec<f64> = (0..120).map(ratio).collect();
        for record in 0..120 {
            let ahead = ratios.iter().filter(|z| ratios[record] / **z >= gamma).count();
            assert!((found[record] - ahead as f64 / 120.0).abs() < 1e-12, "{}", attack.name());
        }
    }
}

#[test]
fn one_reference_uses_defaults_and_says_so() {
    let mut draw = Draw::new(8);
    let mut parts = gaussian(300, 1, 2.0, &mut draw);
    parts.references[0].inside = vec![false; 300];
    let study = Study::new(parts).unwrap();
    let found = RMIA_OFFLINE.run(&study, &AttackSettings::default()).unwrap();
    assert_eq!(found.settings["temperature"], "2");
    assert_eq!(found.settings["a"], "0.3");
    assert!(found.settings["chosen"].starts_with("defaults"));
    assert_eq!(by_evidence(&study), RMIA_OFFLINE);
    let lira = LIRA_OFFLINE.run(&study, &AttackSettings::default()).unwrap();
    assert!(lira.settings["variance"].starts_with("global"));
    let own = AttackSettings { lira_variance: Some(Variance::PerExample), ..AttackSettings::default() };
    let error = LIRA_OFFLINE.run(&study, &own).unwrap_err().to_string();
    assert!(error.contains("records have 1 reference trained without them"), "{error}");
}

#[test]
fn classes_are_made_comparable() {
    let mut draw = Draw::new(9);
    let mut parts = gaussian(2000, 6, 0.0, &mut draw);
    // Members are 2 above non-members of their class, and the classes are 20 apart.
    let labels = parts.labels.clone().unwrap();
    let mut phi = |inside: &[bool]| -> Vec<f64> {
        (0..2000)
            .map(|r| 20.0 * f64::from(labels[r]) + draw.normal() + if inside[r] { 2.0 } else { 0.0 })
            .collect()
    };
    parts.target = Some(outputs(&phi(&parts.members), &labels));
    for reference in &mut parts.references {
        reference.outputs = Some(outputs(&phi(&reference.inside), &labels));
    }
    let global = area(YEOM_LOSS, &Study::new(parts.clone()).unwrap(), &AttackSettings::default());
    let best = normal_cdf(2.0 / sqrt(2.0));
    for references in [6, 0] {
        parts.references.truncate(references);
        let study = Study::new(parts.clone()).unwrap();
        let found = area(YEOM_PER_CLASS, &study, &AttackSettings::default());
        assert!(found > global + 0.1 && (found - best).abs() < 0.02, "{references}: {found}, {global}");
    }
}

#[test]
fn quantiles_of_others_remove_what_features_explain() {
    let mut draw = Draw::new(10);
    let records = 3000;
    let x: Vec<f32> = (0..records).map(|_| draw.normal() as f32).collect();
    let members: Vec<bool> = (0..records).map(|_| draw.uniform() < 0.5).collect();
    let scores: Vec<f64> = (0..records)
        .map(|r| 5.0 * f64::from(x[r]) + draw.normal() + if members[r] { 2.0 } else { 0.0 })
        .collect();
    let features = Some(Features { columns: 1, values: x });
    let parts =
        StudyParts { members, signals: Signals::of_scores(scores), features, ..StudyParts::default() };
    let study = Study::new(parts).unwrap();
    let settings = AttackSettings::default();
    let (given, found) = (area(GIVEN_SCORE, &study, &settings), area(QUANTILE_REGRESSION, &study, &settings));
    assert!(found > 0.85 && given < 0.65, "{found} {given}");
}

#[test]
fn constant_references_do_not_divide_by_zero() {
    let mut draw = Draw::new(11);
    let mut parts = gaussian(50, 12, 1.0, &mut draw);
    let labels = parts.labels.clone().unwrap();
    for (place, reference) in parts.references.iter_mut().enumerate() {
        reference.outputs = Some(outputs(&[1.0; 50], &labels));
        reference.inside = vec![place % 2 == 0; 50];
    }
    let study = Study::new(parts).unwrap();
    for attack in [LIRA_ONLINE, LIRA_OFFLINE, LIRA_OFFLINE_TWO_TAILED, RMIA_ONLINE] {
        let found = attack.run(&study, &AttackSettings::default()).unwrap();
        assert!(found.scores.iter().all(|s| s.is_finite()));
    }
}

#[test]
fn missing_evidence_is_named_but_no_record() {
    let mut draw = Draw::new(12);
    let mut parts = gaussian(30, 16, 1.0, &mut draw);
    parts.ids = (0..30).map(|r| format!("person {r}")).collect();
    let set = |parts: &mut StudyParts, records: std::ops::Range<usize>, inside: bool| {
        parts.references.iter_mut().for_each(|r| r.inside[records.clone()].fill(inside));
    };
    set(&mut parts, 7..15, true);
    for attack in [LIRA_OFFLINE, LIRA_ONLINE, RMIA_OFFLINE, BASE_OFFLINE] {
        let reason = refusal(attack, &parts);
        assert!(
            reason.contains("8 of 30 records have no reference trained ") && !reason.contains("person"),
            "{reason}"
        );
    }
    set(&mut parts, 7..15, false);
    let reason = refusal(LIRA_ONLINE, &parts);
    assert!(reason.contains("trained with them") && !reason.contains("person"), "{reason}");
    assert!(refusal(QUANTILE_REGRESSION, &parts).contains("feature_"));
    assert!(refusal(GIVEN_SCORE, &parts).contains("`score`"));
    let labels = parts.labels.take();
    assert!(refusal(YEOM_LOSS, &parts).contains("`label`"));
    assert!(refusal(LIRA_OFFLINE, &parts).contains("in common"));
    parts.labels = labels;
    parts.references.clear();
    assert!(refusal(LIRA_OFFLINE, &parts).contains("reference models"));
    assert!(refusal(RMIA_OFFLINE, &parts).contains("reference models"));
    assert_eq!(by_evidence(&Study::new(parts).unwrap()), YEOM_LOSS);
}

#[test]
fn bad_values_are_refused() {
    let mut draw = Draw::new(13);
    let parts = StudyParts {
        members: vec![true, false, true],
        signals: Signals::of_scores(vec![0.1, f64::NAN, 0.3]),
        ..StudyParts::default()
    };
    let study = Study::new(parts).unwrap();
    let error = GIVEN_SCORE.run(&study, &AttackSettings::default()).unwrap_err().to_string();
    assert!(error.contains("NaN of record \"1\""), "{error}");
    assert_eq!(by_evidence(&study), GIVEN_SCORE);
    let study = Study::new(gaussian(200, 12, 1.0, &mut draw)).unwrap();
    let with = |change: fn(&mut AttackSettings)| {
        let mut settings = AttackSettings::default();
        change(&mut settings);
        RMIA_OFFLINE.run(&study, &settings).unwrap_err().to_string()
    };
    assert!(with(|s| s.rmia_gamma = 0.0).contains("rmia_gamma"));
    assert!(with(|s| s.rmia_temperature = Some(f64::NAN)).contains("rmia_temperature"));
    assert!(with(|s| s.rmia_a = Some(2.0)).contains("rmia_a"));
}

#[test]
fn three_records_run_or_say_why() {
    let mut draw = Draw::new(14);
    let mut parts = gaussian(3, 16, 1.0, &mut draw);
    parts.members = vec![true, false, true];
    parts.references.iter_mut().enumerate().for_each(|(place, r)| r.inside = vec![place % 2 == 0; 3]);
    let study = Study::new(parts).unwrap();
    for attack in STANDARD {
        match attack.run(&study, &AttackSettings::default()) {
            Ok(found) => assert!(found.scores.iter().all(|s| s.is_finite()), "{}", attack.name()),
            Err(error) => assert!(matches!(error, AuditError::NotMeasurable(_)), "{error}"),
        }
        assert!(!attack.about().is_empty() && !attack.threat(&study).knowledge.is_empty());
    }
    let names: std::collections::BTreeSet<&str> = STANDARD.iter().map(|a| a.name()).collect();
    assert_eq!(names.len(), STANDARD.len());
    assert_eq!(by_evidence(&study), LIRA_ONLINE);
}

/// With 8 references drawn by coins, one record in 128 lacks a side. The others keep their scores, and those few are told apart
/// nearly as well.
#[test]
fn records_without_a_side_are_filled_in() {
    let mut draw = Draw::new(15);
    let whole = gaussian(3000, 24, 2.0, &mut draw);
    let mut bare = whole.clone();
    // Records 0 to 199 lose one side.
    for record in 0..200 {
        bare.references.iter_mut().for_each(|r| r.inside[record] = record % 2 == 0);
    }
    // What the references said of them is that of the side they are on.
    let labels = bare.labels.clone().unwrap();
    for reference in &mut bare.references {
        let mut phi = Signal::Logit.compute(reference.outputs.as_ref().unwrap(), &labels).unwrap();
        for (record, value) in phi.iter_mut().enumerate().take(200) {
            let level = if reference.inside[record] { 2.0 } else { 0.0 };
            *value = level + draw.normal();
        }
        reference.outputs = Some(outputs(&phi, &labels));
    }
    let mut target = Signal::Logit.compute(bare.target.as_ref().unwrap(), &labels).unwrap();
    for (record, value) in target.iter_mut().enumerate().take(200) {
        *value = draw.normal() + if bare.members[record] { 2.0 } else { 0.0 };
    }
    bare.target = Some(outputs(&target, &labels));
    let study = Study::new(bare).unwrap();
    let best = normal_cdf(2.0 / sqrt(2.0));
    for attack in [LIRA_ONLINE, LIRA_OFFLINE, RMIA_ONLINE, RMIA_OFFLINE, BASE] {
        let found = attack.run(&study, &AttackSettings::default()).unwrap();
        let wanted = if [LIRA_OFFLINE, RMIA_OFFLINE].contains(&attack) { 100 } else { 200 };
        assert_eq!(attack.filled_in(&study), wanted, "{}", attack.name());
        assert!(
            found.settings["filled in"].starts_with(&format!("{wanted} of 3000")),
            "{:?}",
            found.settings
        );
        let few = auc(&found.scores[..200], &study.parts().members[..200]).unwrap();
        let all = auc(&found.scores, &study.parts().members).unwrap();
        println!("{}: {few:.3} of those filled in, {all:.3} of all, best {best:.3}", attack.name());
        assert!(few > best - 0.12 && all > best - 0.12, "{}: {few} {all} {best}", attack.name());
    }
    assert_eq!(YEOM_LOSS.filled_in(&study), 0);
}

/// Two kinds of studies: in one the log-odds of a record are normal around its own level, in the other probabilities are those
/// of a forest. References tell which attack is the stronger, and what the target said plays no part.
#[test]
fn references_choose_the_headline() {
    let mut draw = Draw::new(16);
    let mut parts = gaussian(2000, 12, 1.5, &mut draw);
    let settings = AttackSettings::default();
    let chosen =
        Registry::standard().headline(&Study::new(parts.clone()).unwrap(), STANDARD, &settings).unwrap();
    assert!(chosen.how.contains("4 reference models stood in for the target"), "{}", chosen.how);
    assert_ne!(chosen.attack, YEOM_LOSS, "{}", chosen.how);
    let some = [YEOM_LOSS, LIRA_OFFLINE];
    let one = Registry::standard().headline(&Study::new(parts.clone()).unwrap(), &some, &settings).unwrap();
    assert_eq!(one.attack, LIRA_OFFLINE, "{}", one.how);
    // Another target with other members: the same choice, word for word.
    let other = gaussian(2000, 0, 1.5, &mut Draw::new(17));
    (parts.target, parts.members) = (parts.references[0].outputs.clone(), other.members.clone());
    let again =
        Registry::standard().headline(&Study::new(parts.clone()).unwrap(), STANDARD, &settings).unwrap();
    assert_eq!(again, chosen);
    parts.references.truncate(1);
    let alone = Registry::standard().headline(&Study::new(parts).unwrap(), STANDARD, &settings).unwrap();
    assert!(alone.how.contains("no reference model could stand in"), "{}", alone.how);
    assert!(Registry::standard().headline(&Study::new(other).unwrap(), &[], &settings).is_err());
}

/// Probabilities with two decimal places, many of them 0 or 1: the likelihood ratio keeps most of what it had.
#[test]
fn rounded_probabilities_keep_their_signal() {
    let mut draw = Draw::new(18);
    let mut parts = gaussian(3000, 12, 1.5, &mut draw);
    let exact = area(LIRA_ONLINE, &Study::new(parts.clone()).unwrap(), &AttackSettings::default());
    let labels = parts.labels.clone().unwrap();
    let rounded = |given: &Outputs| {
        let phi = Signal::Logit.compute(given, &labels).unwrap();
        let values = phi.iter().zip(&labels).flat_map(|(phi, label)| {
            let own = (100.0 / (1.0 + exp(-phi - 2.0))).round() as f32 / 100.0;
            if *label == 0 { [own, 1.0 - own] } else { [1.0 - own, own] }
        });
        let values = values.map(|p| (p * 100.0).round() / 100.0).collect();
        Outputs::new(OutputsKind::Probabilities, 2, values).unwrap()
    };
    parts.target = parts.target.as_ref().map(rounded);
    for reference in &mut parts.references {
        reference.outputs = reference.outputs.as_ref().map(rounded);
    }
    let found = area(LIRA_ONLINE, &Study::new(parts).unwrap(), &AttackSettings::default());
    println!("lira-online {exact:.3}, rounded {found:.3}");
    assert!(found > exact - 0.07, "{found} of {exact}");
}
