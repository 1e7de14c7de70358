//! Flags that are wrong, missing or contradict each other: one line that names them.

use super::{refused, refused_with};

const RUN: &str = "--noise-multiplier 1 --sampling-rate 0.01 --steps 100";

fn values(line: &str, flag: &str, values: &[&str]) {
    for value in values {
        refused(&format!("{line} {flag} {value}"), &format!("{flag} {value}: "));
    }
}

#[test]
fn numbers() {
    values(&format!("epsilon {RUN}"), "--delta", &["0", "1", "-1e-5", "2", "NaN", "inf", "x"]);
    values(&format!("delta {RUN}"), "--epsilon", &["-1", "NaN", "inf", "x"]);
    values(&format!("epsilon {RUN} --delta 1e-5"), "--width", &["0", "1", "-1", "NaN", "1e-12", "x"]);
    refused(&format!("epsilon {RUN} --delta 1e-5 --accountant rdp --width 0.1"), "--width 0.1: ");
    values("noise --delta 1e-5", "--epsilon", &["0", "-1", "NaN"]);
    values("epsilon --delta 1e-5", "--noise-multiplier", &["0", "-1", "NaN", "inf", "x"]);
    let noise = "epsilon --delta 1e-5 --noise-multiplier 1";
    values(noise, "--sampling-rate", &["0", "1.5", "-0.1", "NaN", "x"]);
    values(noise, "--steps", &["0", "-5", "2.5", "NaN", "x", "1e300"]);
    values(noise, "--neighboring", &["next-door"]);
    values(noise, "--accountant", &["gdp"]);
    values(noise, "--sampling", &["bernoulli", "shuffled", "without-replacement"]);
    let sizes = "epsilon --delta 1e-5 --noise-multiplier 1 --dataset-size 1000";
    values(sizes, "--batch-size", &["0", "-1", "1001", "2.5"]);
    values(&format!("{sizes} --batch-size 10"), "--epochs", &["0", "-1", "NaN", "1e300"]);
    values("epsilon --delta 1e-5 --noise-multiplier 1 --batch-size 1", "--dataset-size", &["0", "-1", "x"]);
    values(&format!("rdp {RUN}"), "--orders", &["0.5", "-1", "NaN", "2,,3", "x", ","]);
    values(&format!("tradeoff {RUN}"), "--fpr", &["-0.1", "1.1", "NaN", "0.1,2", "x"]);
    values(&format!("reconstruction {RUN}"), "--prior", &["-0.1", "1.1", "NaN", "0.1,2", "x", ","]);
    values(&format!("group {RUN} --delta 1e-5"), "--size", &["0", "-1", "2.5", "x"]);
    values(&format!("outcome {RUN}"), "--probability", &["-0.1", "1.1", "NaN", "x"]);
}

#[test]
fn contradictions_name_both_flags() {
    let both = |line: &str, flags: [&str; 2]| {
        refused(line, "--");
        let said = String::from_utf8(super::account(line).stderr).unwrap();
        assert!(flags.iter().all(|flag| said.contains(flag)), "{said}");
    };
    both(&format!("epsilon {RUN} --delta 1e-5 --events f.json"), ["--events", "--noise-multiplier"]);
    both("epsilon --steps 5 --delta 1e-5 --events f.json", ["--events", "--steps"]);
    both(&format!("epsilon {RUN} --epochs 3 --delta 1e-5"), ["--steps", "--epochs"]);
    both(
        "epsilon --noise-multiplier 1 --sampling-rate 0.1 --batch-size 10 --dataset-size 100 --delta 1e-5",
        ["--sampling-rate", "--batch-size"],
    );
    let wor = "--noise-multiplier 1 --batch-size 10 --dataset-size 100 --sampling without-replacement";
    both(&format!("epsilon {wor} --delta 1e-5"), ["--sampling", "--neighboring replace-one"]);
    refused_with(
        &["epsilon", "--delta", "1e-6", "--events", "-", "--neighboring", "replace-one"],
        r#"{"neighboring": "add-remove", "events": []}"#,
        "--neighboring replace-one: leave it out: --events - is stated under add-remove",
    );
}

#[test]
fn the_unknown_is_not_given() {
    let budget = "--epsilon 1 --delta 1e-5";
    refused(&format!("noise {RUN} {budget}"), "--noise-multiplier 1: leave it out: ");
    refused(&format!("steps {RUN} {budget}"), "--steps 100: leave it out: ");
    refused(&format!("steps --noise-multiplier 1 --epochs 2 {budget}"), "--epochs 2: leave it out: ");
    refused(&format!("rate {RUN} {budget}"), "--sampling-rate 0.01: leave it out: ");
    refused(&format!("rate --noise-multiplier 1 --epochs 2 {budget}"), "--epochs 2: give --steps instead: ");
    refused(&format!("rate --noise-multiplier 1 --sampling shuffled {budget}"), "--sampling shuffled: ");
    refused("rate --noise-multiplier 1e-4 --steps 1000000 --epsilon 1e-9 --delta 1e-12", "--epsilon ");
    refused("steps --noise-multiplier 0.1 --epsilon 1 --delta 1e-5", "--epsilon 1: ");
    let words = ["noise", "--epsilon", "1", "--delta", "1e-5", "--events", "-"];
    let list = |events: &str| format!(r#"{{"neighboring": "add-remove", "events": [{events}]}}"#);
    refused_with(&words, &list(r#"{"pure": {"epsilon": 1}}"#), "--events -: no event has a noise multiplier");
    let two = r#"{"gaussian": {"noise_multiplier": 1}}, {"laplace": {"noise_multiplier": 2}}"#;
    refused_with(&words, &list(two), "--events -: there are several noise multipliers (1, 2): ");
}

#[test]
fn what_is_missing_is_named() {
    refused(&format!("epsilon {RUN}"), "--delta: missing: ");
    refused(&format!("delta {RUN}"), "--epsilon: missing: ");
    refused("noise --epsilon 1", "--delta: missing: ");
    refused("noise --delta 1e-5", "--epsilon: missing: ");
    refused("epsilon --delta 1e-5", "--events: missing: ");
    refused("epsilon --delta 1e-5 --steps 10", "--noise-multiplier: missing: ");
    refused("epsilon --delta 1e-5 --noise-multiplier 1 --batch-size 10", "--dataset-size: missing: ");
    refused(
        "epsilon --delta 1e-5 --noise-multiplier 1 --dataset-size 10 --epochs 1",
        "--batch-size: missing: ",
    );
    refused(&format!("rdp {RUN}"), "--orders: missing: ");
    refused(&format!("tradeoff {RUN}"), "--fpr: missing: ");
    refused(&format!("group {RUN} --delta 1e-5"), "missing --size <K>: ");
    refused(&format!("outcome {RUN}"), "missing --probability <P>: ");
    refused(&format!("compare {RUN}"), "--delta: missing: ");
    refused(&format!("statement {RUN}"), "--delta: missing: ");
    refused("epsilom", "unrecognized subcommand 'epsilom' (did you mean epsilon?): ");
    refused(&format!("epsilon {RUN} --delta 1e-5 --nose-multiplier 2"), "unexpected argument ");
}

#[test]
fn an_accountant_that_cannot_answer_says_so() {
    refused(&format!("tradeoff {RUN} --fpr 0.1 --accountant rdp"), "--accountant rdp: leave it out: ");
    refused(&format!("reconstruction {RUN} --accountant rdp"), "--accountant rdp: leave it out: ");
    refused(&format!("rdp {RUN} --orders 2 --accountant pld"), "--accountant pld: leave it out: ");
    refused(&format!("compare {RUN} --delta 1e-5 --accountant pld"), "--accountant pld: leave it out: ");
    let claim =
        r#"{"neighboring": "add-remove", "events": [{"approximate": {"epsilon": 1, "delta": 1e-9}}]}"#;
    refused_with(
        &["rdp", "--orders", "2", "--events", "-"],
        claim,
        "--events -: approximate cannot be accounted by rdp: ",
    );
    refused_with(&["epsilon", "--delta", "1e-10", "--events", "-"], claim, "--delta ");
}

#[test]
fn beliefs_need_a_claim_that_bounds_them() {
    values("posterior --epsilon 1", "--prior", &["-0.1", "1.1", "NaN", "0.1,x"]);
    values("posterior", "--epsilon", &["-1", "NaN", "x"]);
    refused("posterior --epsilon 1 --delta 1e-5", "--delta 1e-5: goes with events: ");
    for flag in ["--steps 5", "--sampling-rate 0.1", "--neighboring replace-one", "--accountant rdp"] {
        refused(&format!("posterior --epsilon 1 {flag}"), "the argument '--epsilon <E>' cannot be used with");
    }
    refused(&format!("posterior {RUN}"), "--delta: missing: some outputs can tell any amount");
}
