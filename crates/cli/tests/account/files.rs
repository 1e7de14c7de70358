//! Files of events that are wrong, odd or large.

use super::{account_with, json_of, refused, refused_with};
use std::fmt::Write;
use std::time::{Duration, Instant};

const WORDS: [&str; 6] = ["epsilon", "--delta", "1e-6", "--events", "-", "--json"];

fn bad(events: &str, start: &str) {
    let log = format!("{{\"neighboring\": \"add-remove\", \"events\": [{events}]}}");
    refused_with(&WORDS, &log, &format!("--events -: {start}"));
}

#[test]
fn what_is_unknown_is_named_with_the_nearest() {
    let pure = r#"{"pure": {"epsilon": 1}}"#;
    bad(
        &format!(r#"{pure}, {pure}, {pure}, {{"gausian": {{"noise_multiplier": 1}}}}"#),
        "events[3]: unknown event \"gausian\": did you mean \"gaussian\"?",
    );
    bad(
        r#"{"poisson_sampled": {"rate": 0.1, "event": {"gaussian": {"noise_multiplyer": 1}}}}"#,
        "events[0].poisson_sampled.event.gaussian: unknown field \"noise_multiplyer\": did you mean \"noise_multiplier\"?",
    );
    bad(
        r#"{"poisson_sampled": {"rate": 0.1}}"#,
        "events[0].poisson_sampled: missing field \"event\": add it",
    );
    refused_with(
        &WORDS,
        r#"{"neighbouring": "add-remove", "events": []}"#,
        "--events -: unknown field \"neighbouring\": did you mean \"neighboring\"?",
    );
    refused_with(
        &WORDS,
        r#"{"neighboring": "add-remov", "events": []}"#,
        "--events -: neighboring: unknown relation \"add-remov\": did you mean \"add-remove\"?",
    );
    refused_with(&WORDS, r#"{"events": []}"#, "--events -: missing \"neighboring\": ");
}

#[test]
fn values_out_of_range_are_refused() {
    bad(r#"{"gaussian": {"noise_multiplier": 0}}"#, "events[0].gaussian.noise_multiplier: 0: ");
    bad(r#"{"gaussian": {"noise_multiplier": -1}}"#, "events[0].gaussian.noise_multiplier: -1: ");
    bad(r#"{"gaussian": {"noise_multiplier": NaN}}"#, "line 1, column ");
    bad(r#"{"gaussian": {"noise_multiplier": 1e999}}"#, "line 1, column ");
    bad(
        r#"{"gaussian": {"noise_multiplier": true}}"#,
        "events[0].gaussian.noise_multiplier: true: give a number",
    );
    bad(
        r#"{"poisson_sampled": {"rate": 1.01, "event": {"gaussian": {"noise_multiplier": 1}}}}"#,
        "events[0].poisson_sampled.rate: 1.01: ",
    );
    bad(
        r#"{"repeated": {"count": -3, "event": {"gaussian": {"noise_multiplier": 1}}}}"#,
        "events[0].repeated.count: -3: give a whole number",
    );
    bad(r#"{"approximate": {"epsilon": 1, "delta": 1}}"#, "events[0].approximate.delta: 1: ");
    bad(
        r#"{"randomized_response": {"keep_probability": 1, "categories": 2}}"#,
        "events[0].randomized_response: keep_probability = 1: ",
    );
    let twice = r#"{"repeated": {"count": 18446744073709551615, "event": {"repeated": {"count": 2, "event": {"pure": {"epsilon": 1}}}}}}"#;
    bad(twice, "count = ");
}

#[test]
fn files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let epsilon = |file: &str| format!("epsilon --delta 1e-6 --events {file}");
    refused(&epsilon("nowhere.json"), "--events nowhere.json: no such file: check the path");
    let here = folder.path().to_str().unwrap();
    refused(&epsilon(here), &format!("--events {here}: it is a folder: "));
    for (name, bytes, problem) in [
        ("empty.json", &b""[..], "it is empty: "),
        ("blank.json", b" \n\t", "it is empty: "),
        ("latin.json", b"{\"events\": \"\xe9\"}", "it is not UTF-8 text: "),
        ("text.json", b"events", "line 1, column 1: "),
        ("half.json", b"{\"neighboring\": \"add-remove\", \"events\": [", "line 1, column "),
        ("number.json", b"17", "17: give {"),
    ] {
        let file = path(name, bytes);
        refused(&epsilon(&file), &format!("--events {file}: {problem}"));
    }
    let bom = path("bom.json", "\u{feff}{\"neighboring\": \"add-remove\", \"events\": []}".as_bytes());
    let output = account_with(&["epsilon", "--delta", "1e-6", "--events", &bom, "--json"], "");
    assert_eq!(json_of(&output, "no events")["epsilon"], 0.0);
}

#[test]
fn deep_nesting_ends_in_a_line() {
    for depth in [100, 100_000] {
        let open = r#"{"repeated": {"count": 1, "event": "#.repeat(depth);
        bad(&format!("{open}{}{}", r#"{"pure": {"epsilon": 1}}"#, "}}".repeat(depth)), "nested too deeply ");
    }
}

fn within(seconds: u64, list: &str, words: &[&str]) -> f64 {
    let start = Instant::now();
    let log = format!("{{\"neighboring\": \"add-remove\", \"events\": [{list}]}}");
    let found = json_of(&account_with(words, &log), "a long list");
    assert!(start.elapsed() < Duration::from_secs(seconds), "{:?}", start.elapsed());
    found["epsilon"].as_f64().unwrap()
}

#[test]
fn a_hundred_thousand_events_are_added_up() {
    let step = r#"{"poisson_sampled": {"rate": 0.01, "event": {"gaussian": {"noise_multiplier": 1}}}}"#;
    let list = vec![step; 100_000].join(",");
    let one = format!(r#"{{"repeated": {{"count": 100000, "event": {step}}}}}"#);
    let (many, one) = (within(30, &list, &WORDS), within(30, &one, &WORDS));
    assert_eq!(many, one);
    // All of them different.
    let mut list = String::new();
    for i in 0..100_000 {
        let comma = if i == 0 { "" } else { "," };
        write!(list, r#"{comma}{{"gaussian": {{"noise_multiplier": {}}}}}"#, 1000.0 + f64::from(i)).unwrap();
    }
    let epsilon = within(30, &list, &WORDS);
    // Σ 1/σ² from 1000 on is about 0.00099: the noise of one event of σ = 31.8.
    assert!((0.1..0.2).contains(&epsilon), "{epsilon}");
}

#[test]
fn huge_counts_are_answered() {
    for (count, noise) in [("1000000000000", 1e7), ("1e12", 1e7), ("9007199254740993", 1e9)] {
        let list = format!(
            r#"{{"repeated": {{"count": {count}, "event": {{"gaussian": {{"noise_multiplier": {noise}}}}}}}}}"#
        );
        let epsilon = within(10, &list, &WORDS);
        assert!(epsilon > 0.0 && epsilon < 10.0, "{count}: {epsilon}");
    }
    let tiny = within(
        10,
        r#"{"repeated": {"count": 1000000000000, "event": {"poisson_sampled": {"rate": 1e-6, "event": {"gaussian": {"noise_multiplier": 10}}}}}}"#,
        &WORDS,
    );
    assert!(tiny.is_finite() && tiny > 0.0);
}
