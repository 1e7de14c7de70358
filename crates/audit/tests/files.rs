//! From files to scores that can be measured, or to a sentence that says why not.

use reticent_audit::attacks::{AttackSettings, GIVEN_SCORE, LIRA_ONLINE, Registry, STANDARD};
use reticent_audit::table::{TableSettings, read_references, read_scores, write_scores};
use reticent_audit::{AuditError, Membership, Study};
use std::fmt::Write as _;
use std::fs;

fn study(text: &str) -> Study {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.csv");
    fs::write(&path, text).unwrap();
    read_scores(&path, &TableSettings::default()).unwrap()
}

fn measured(study: &Study) -> Result<Membership, AuditError> {
    let attack = Registry::standard().by_evidence(study).unwrap_or(GIVEN_SCORE);
    let scores = attack.run(study, &AttackSettings::default())?.scores;
    Membership::new(scores, study.parts().members.clone())
}

#[test]
fn what_cannot_be_measured_is_said() {
    let cases = [
        ("score,member\n1,1\n2,1\n3,1\n", "every record is a member"),
        ("score,member\n1,0\n2,0\n3,0\n", "no record is a member"),
        ("score,member\n1,1\n1,0\n1,0\n", "all 3 scores are 1"),
        ("score,member\n", "no records"),
    ];
    for (text, wanted) in cases {
        let error = measured(&study(text)).unwrap_err();
        assert!(matches!(error, AuditError::NotMeasurable(_)), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn two_files_make_a_likelihood_ratio() {
    // Models trained with a record score it 3 higher; the target had records 0, 2, 4, …
    let noise = |model: usize, record: usize| ((model * 31 + record * 17) % 13) as f64 / 13.0;
    let inside = |model: usize, record: usize| {
        (((record + 1) * 40503 + (model + 1) * 30011).pow(2) >> 11).is_multiple_of(2)
    };
    let (mut scores, mut references) = ("id,score,member\n".to_owned(), "reference,id,in,score\n".to_owned());
    for record in 0..60usize {
        let member = record.is_multiple_of(2);
        let level = (record % 5) as f64 * 2.0;
        let score =
            |inside: bool, model: usize| level + noise(model, record) + if inside { 3.0 } else { 0.0 };
        writeln!(scores, "p{record},{},{}", score(member, 0), u8::from(member)).unwrap();
        for model in 1..=10 {
            let inside = inside(model, record);
            writeln!(references, "m{model},p{record},{inside},{}", score(inside, model)).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("references.csv");
    fs::write(&path, references).unwrap();
    let study = read_references(&path, study(&scores)).unwrap();
    assert_eq!(Registry::standard().by_evidence(&study), Some(LIRA_ONLINE));
    let chosen = Registry::standard().headline(&study, STANDARD, &AttackSettings::default()).unwrap();
    assert!(chosen.how.contains("stood in for the target"), "{}", chosen.how);
    let found = measured(&study).unwrap();
    assert_eq!((found.member_count(), found.non_member_count()), (30, 30));
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (score, member) in found.scores().iter().zip(found.members()) {
        if *member { least = least.min(*score) } else { most = most.max(*score) }
    }
    assert!(least > most, "members from {least}, others up to {most}");
    let out = folder.path().join("out.csv");
    write_scores(&out, &study, &[("lira-online", found.scores())]).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 61);
}
