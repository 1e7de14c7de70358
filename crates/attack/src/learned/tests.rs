use super::*;
use reticent_audit::{Outputs, OutputsKind, Reference, SignalSource, SignalValues, Signals, StudyParts};

fn uniform(place: usize, what: &str) -> f64 {
    (keyed_hash(what, &place.to_le_bytes()) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Close enough to a normal number.
fn normal(place: usize, what: &str) -> f64 {
    (0..12).map(|part| uniform(12 * place + part, what)).sum::<f64>() - 6.0
}

/// Two layers whose gradients are `gap` standard deviations shorter, on a logarithmic scale, at records a model was trained on;
/// outputs say nothing. Every record has a level of its own, and every reference a half of the records and a partner with the rest.
fn study(records: usize, references: usize, gap: f64) -> Study {
    let model = |inside: Vec<bool>, name: &str| {
        let norm = |place: usize| {
            let record = place / 2;
            let level =
                1.5 * normal(record, "level") + normal(place, name) + if inside[record] { gap } else { 0.0 };
            -libm::exp(-level)
        };
        let norms: Vec<f64> = (0..2 * records).map(norm).collect();
        let total =
            norms.chunks_exact(2).map(|pair| -(pair[0] * pair[0] + pair[1] * pair[1]).sqrt()).collect();
        let said = (0..2 * records).map(|place| normal(place, &format!("outputs {name}")) as f32).collect();
        let outputs = Some(Outputs::new(OutputsKind::Logits, 2, said).unwrap());
        let inner = (0..5 * records).map(|place| normal(place, &format!("inner {name}"))).collect();
        let signals = Signals::none()
            .with("activations 1", SignalValues::rows(SignalSource::Activations, 5, inner).unwrap())
            .with(GRADIENT_NORM, SignalValues::scalar(SignalSource::Gradients, total))
            .with(GRADIENT_NORMS, SignalValues::rows(SignalSource::Gradients, 2, norms).unwrap());
        Reference { name: name.to_owned(), outputs, signals, inside }
    };
    let half = |what: &str| (0..records).map(|record| uniform(record, what) < 0.5).collect::<Vec<_>>();
    let reference = |place: usize| {
        let own = half(&format!("half {}", place / 2));
        let inside = if place.is_multiple_of(2) { own } else { own.iter().map(|inside| !inside).collect() };
        model(inside, &format!("reference {place}"))
    };
    let target = model(half("members"), "target");
    Study::new(StudyParts {
        members: target.inside,
        labels: Some((0..records).map(|record| record as u32 % 2).collect()),
        signals: target.signals,
        target: target.outputs,
        references: (0..references).map(reference).collect(),
        ..StudyParts::default()
    })
    .unwrap()
}

/// The area under the curve over the records by which the attack is judged.
fn area(attack: &'static dyn Attack, study: &Study) -> f64 {
    let found = attack.run(study, &AttackSettings::default()).unwrap();
    let judged = found.judged.unwrap_or_else(|| (0..study.len()).collect());
    let side = |is_member: bool| -> Vec<f64> {
        let own = judged.iter().filter(|record| study.parts().members[**record] == is_member);
        own.map(|record| found.scores[*record]).collect()
    };
    let (members, others) = (side(true), side(false));
    let won = |member: &f64| others.iter().filter(|other| member > other).count();
    members.iter().map(won).sum::<usize>() as f64 / (members.len() * others.len()) as f64
}

#[test]
fn gradients_that_tell_members_are_found() {
    let study = study(1000, 6, 2.0);
    let found = |attack| area(attack, &study);
    assert!(found(NASR_SUPERVISED) > 0.75, "{}", found(NASR_SUPERVISED));
    assert!(found(NASR_UNSUPERVISED) > 0.7, "{}", found(NASR_UNSUPERVISED));
    let (shadow, calibrated) = (found(NASR_SHADOW), found(NASR_CALIBRATED));
    assert!(shadow > 0.75 && calibrated > 0.9 && calibrated > shadow + 0.05, "{shadow} {calibrated}");
    // What gradients tell, outputs and activations do not; of the first attack, 500 records are judged.
    for attack in [NASR_SUPERVISED_OUTPUTS, NASR_CALIBRATED_OUTPUTS, NASR_CALIBRATED_ACTIVATIONS] {
        assert!((found(attack) - 0.5).abs() < 0.1, "{}: {}", attack.name(), found(attack));
    }
    let source = |attack: &'static dyn Attack| attack.source(&study);
    assert_eq!(source(NASR_CALIBRATED_OUTPUTS), SignalSource::Outputs);
    assert_eq!(source(NASR_CALIBRATED_ACTIVATIONS), SignalSource::Activations);
    assert_eq!(source(NASR_CALIBRATED), SignalSource::Gradients);
}

#[test]
fn nothing_is_found_where_nothing_leaks() {
    let study = study(1000, 6, 0.0);
    for attack in LEARNED {
        let found = area(*attack, &study);
        assert!((found - 0.5).abs() < 0.1, "{}: {found}", attack.name());
    }
}

#[test]
fn known_records_do_not_judge() {
    let study = study(600, 4, 1.0);
    let found = NASR_SUPERVISED.run(&study, &AttackSettings::default()).unwrap();
    let judged = found.judged.unwrap();
    assert!(judged.is_sorted() && (200..400).contains(&judged.len()), "{}", judged.len());
    assert!(NASR_SUPERVISED.sees_members() && NASR_SUPERVISED.candidacy().is_none());
    // Membership of judged records is not looked at: scores stay when it changes.
    let mut parts = study.into_parts();
    judged.iter().for_each(|record| parts.members[*record] = !parts.members[*record]);
    let other = NASR_SUPERVISED.run(&Study::new(parts).unwrap(), &AttackSettings::default()).unwrap();
    assert_eq!(found.scores, other.scores);
}

#[test]
fn what_is_missing_is_named() {
    let mut parts = study(300, 2, 1.0).into_parts();
    parts.signals = Signals::none();
    let bare = Study::new(parts).unwrap();
    for attack in LEARNED {
        let reason = attack.can_run(&bare).unwrap_err().to_string();
        assert!(reason.contains("gradient"), "{}: {reason}", attack.name());
    }
    let small = study(60, 2, 1.0);
    let reason = NASR_SUPERVISED.can_run(&small).unwrap_err().to_string();
    assert!(reason.contains("100 members"), "{reason}");
    assert_eq!(registry().names().len(), Registry::standard().names().len() + LEARNED.len());
}

/// The table of the manual is that of the attacks.
#[test]
fn the_manual_lists_every_attack_that_learns() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/auditing.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows = text.lines().skip_while(|line| *line != "| attack that learns | needs | score |").skip(2);
    let listed =
        LEARNED.iter().map(|own| format!("| `{}` | {} | {} |", own.name(), own.needs(), own.about()));
    assert!(rows.take(LEARNED.len()).eq(listed));
}
