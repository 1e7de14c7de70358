use super::*;
use std::collections::BTreeSet;
use std::process::Stdio;

/// A hundred processes at once: never over the limit, and no charge and no answer is lost.
#[test]
fn a_hundred_processes_share_a_budget() {
    const PROCESSES: usize = 100;
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "1"]);
    let filter = |place: usize| format!("age>={place}");
    let asked = |place: usize| {
        let filter = filter(place);
        command(&[
            "release",
            "count",
            SURVEY,
            "--epsilon",
            "0.02",
            "--where",
            &filter,
            "--budget",
            &file,
            "--json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(asked).collect();
    let mut answers = Vec::new();
    for (place, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => {
                let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                answers.push((place, answer));
            }
            _ => assert!(said.contains("R405"), "{said}"),
        }
    }
    // 0.02 is a little more than 1/50, and sums are rounded up.
    assert!((49..=50).contains(&answers.len()), "{}", answers.len());
    let shown = json(&["budget", "show", &file]);
    assert_eq!(shown["charges"], answers.len());
    assert_eq!((&shown["answers"], &shown["unanswered"]), (&answers.len().into(), &0.into()));
    let numbers: BTreeSet<u64> =
        answers.iter().map(|(_, answer)| answer["budget"]["charges"][0].as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), answers.len());
    assert_eq!(json(&["budget", "verify", &file])["problems"], Value::Array(Vec::new()));
    for (place, answer) in answers.iter().step_by(7) {
        let filter = filter(*place);
        let words = ["release", "count", SURVEY, "--epsilon", "0.02", "--where", &filter, "--budget", &file];
        let again = json(&words);
        assert_eq!((&again["value"], &again["certificate"]), (&answer["value"], &answer["certificate"]));
        assert!(again["budget"]["remembered"].is_string());
    }
}
