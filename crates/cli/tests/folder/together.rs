//! Two trainings at once into one folder: one of them is refused and has changed nothing.

use super::{Folder, PEOPLE, command, files, linear, network, stdout};
use serde_json::Value;
use std::process::{Output, Stdio};

/// How often two are started at once, for each kind.
const TIMES: usize = 50;

/// Starts two trainings at once; what they wrote, and how they ended.
fn race(words: [&[&str]; 2]) -> [Output; 2] {
    let children =
        words.map(|words| command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    children.map(|child| child.wait_with_output().unwrap())
}

fn check(kind: for<'a> fn(&'a str, &'a str) -> Vec<&'a str>, epsilons: [&str; 2]) {
    for time in 0..TIMES {
        let folder = Folder::new();
        let out = folder.path("model");
        let words = epsilons.map(|epsilon| {
            let mut words = kind(PEOPLE, &out);
            let place = words.iter().position(|word| *word == "--epsilon").unwrap();
            words[place + 1] = epsilon;
            [&words[..], &["--json"]].concat()
        });
        let ended = race([&words[0], &words[1]]);
        let said: Vec<String> =
            ended.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
        let won: Vec<usize> = (0..2).filter(|place| ended[*place].status.success()).collect();
        // Never both. Both may be refused only if one saw the other's files go, which a refusal alone makes.
        assert_eq!(won.len(), 1, "{time}: {said:?}");
        let answer: Value = serde_json::from_slice(&ended[won[0]].stdout).unwrap();
        let stored: Value = serde_json::from_str(&folder.read("model/certificate.json")).unwrap();
        assert_eq!(answer["certificate"], stored, "{time}");
        let claimed = stored["epsilon"].as_f64().unwrap();
        assert!((claimed - epsilons[won[0]].parse::<f64>().unwrap()).abs() < 1e-6, "{time}: {claimed}");
        stdout(&["predict", &out, PEOPLE]);
        let before = files(&out);
        // Whoever comes later is refused as well, and the folder stays as it is to the last byte.
        let late = command(&words[1 - won[0]]).output().unwrap();
        assert!(late.status.code() == Some(2) && late.stdout.is_empty(), "{time}");
        assert_eq!(files(&out), before, "{time}");
    }
}

#[test]
fn linear_models() {
    check(linear, ["1", "3"]);
}

#[test]
fn networks() {
    check(network, ["2", "6"]);
}
