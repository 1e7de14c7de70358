use super::*;
use reticent_data::keyed_hash;

const OWN: usize = 600;
const JUDGED: usize = 800;

fn number(key: &str, place: usize) -> f64 {
    (keyed_hash(key, &place.to_le_bytes()) >> 40) as f64 / (1u64 << 24) as f64
}

/// Records of three columns, of which `informative` of the time the first tells the value.
fn study(values: usize, informative: f64, said: impl Fn(bool, usize, bool) -> f64) -> AttributeStudy {
    let rows = OWN + JUDGED;
    let truth: Vec<u32> = (0..rows).map(|row| (number("truth", row) * values as f64) as u32).collect();
    let known = (0..rows).flat_map(|row| {
        let tells = number("tells", row) < informative;
        let first =
            if tells { f64::from(truth[row]) } else { (number("guess", row) * values as f64).floor() };
        [first as f32, number("second", row) as f32, number("third", row) as f32]
    });
    let labels = (0..rows).map(|row| u32::from(number("label", row) > 0.5)).collect();
    let members: Vec<bool> = (0..JUDGED).map(|record| record < JUDGED / 2).collect();
    let target = (0..JUDGED * values).map(|place| {
        let (record, value) = (place / values, place % values);
        said(members[record], place, truth[OWN + record] as usize == value)
    });
    let target = target.collect();
    let known = Features { columns: 3, values: known.collect() };
    let references = (0..2)
        .map(|reference| {
            (0..JUDGED * values).map(|place| -number("reference", 2 * place + reference)).collect()
        })
        .collect();
    AttributeStudy { column: "sex".into(), values, known, labels, truth, members, target, references }
}

fn settings() -> AttributeSettings {
    AttributeSettings { confidence: 0.95, key: "k".into() }
}

fn gain(found: &Disclosure, side: usize) -> reticent_audit::findings::Estimate {
    found.measures[side].difference.unwrap()
}

#[test]
fn what_a_model_keeps_of_its_records_is_found_for_members_alone() {
    for values in [2, 5] {
        // The model gives the true value of members away in the size of its answers.
        let leak = |member: bool, place: usize, is_true: bool| {
            -number("target", place) + if member && is_true { 1.5 } else { 0.0 }
        };
        let found = study(values, 0.5, leak).run(&settings()).unwrap();
        let [inversion, calibrated] = &found[..] else { panic!("both attacks") };
        for attack in [inversion, calibrated] {
            assert!(gain(attack, 0).lower > 0.05, "{values}: {:?}", attack.measures[0]);
            assert!(gain(attack, 1).lower < 0.0, "{values}: {:?}", attack.measures[1]);
            assert!(attack.measures[2].attack.lower > 0.0, "{:?}", attack.measures[2]);
        }
        assert_eq!(calibrated.records, JUDGED as u64);
        assert!(calibrated.threat.knowledge.contains("models like the target"));
    }
}

#[test]
fn nothing_is_found_where_imputation_knows_all_or_the_model_knows_nothing() {
    let silent = |_: bool, place: usize, _: bool| -number("target", place);
    // The column follows from another one: a high rate, and nothing that the model adds.
    let found = study(3, 1.0, silent).run(&settings()).unwrap();
    for attack in &found {
        for side in 0..2 {
            assert!(attack.measures[side].attack.value > 0.9, "{:?}", attack.measures[side]);
            assert!(gain(attack, side).lower <= 0.0 && gain(attack, side).upper >= 0.0);
        }
    }
    let found = study(3, 0.4, silent).run(&settings()).unwrap();
    for attack in &found {
        assert!(gain(attack, 0).lower <= 0.0, "{:?}", attack.measures[0]);
        let apart = attack.measures[2].attack;
        assert!(apart.lower <= 0.0 && apart.upper >= 0.0, "{apart:?}");
    }
}

#[test]
fn studies_without_meaning_are_refused() {
    let plain = || study(2, 0.5, |_, place, _| -number("target", place));
    assert!(plain().run(&settings()).is_ok());
    let refused = |change: &dyn Fn(&mut AttributeStudy)| {
        let mut study = plain();
        change(&mut study);
        study.run(&settings()).unwrap_err().to_string()
    };
    assert!(refused(&|study| study.values = 1).contains("sex with 1 values"));
    assert!(refused(&|study| study.members.fill(true)).contains("0 non-members"));
    assert!(refused(&|study| study.target[3] = f64::NAN).contains("probabilities"));
    assert!(refused(&|study| study.target.truncate(5)).contains("for all of them"));
    assert!(refused(&|study| study.truth[0] = 2).contains("for all of them"));
}
