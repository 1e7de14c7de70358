//! Argument sets drawn from nasty tokens: whatever is typed, the command answers or refuses in one line, soon.

use crate::{Finished, run_from};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// A small generator: the draws need to be varied, not random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn pick<'a>(&mut self, pool: &[&'a str]) -> &'a str {
        pool[self.below(pool.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const QUESTIONS: [&str; 11] = [
    "epsilon",
    "delta",
    "noise",
    "steps",
    "rate",
    "rdp",
    "tradeoff",
    "group",
    "outcome",
    "compare",
    "statement",
];
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "1", "0.5", "0", "-0", "-1", "1e-6", "1e300", "-1e300", "1e-300", "5e-324", "1e12", "1e-30", "0.9999999999999999",
    "NaN", "inf", "-inf", "", " ", "abc", "1,2", "0x10", "999999999999999999999999", "18446744073709551615", "1\n2",
    "2", "64", "1000",
];
#[rustfmt::skip]
const EVENTS: &[&str] = &[
    r#"{"gaussian": {"noise_multiplier": 1.1}}"#,
    r#"{"gaussian": {"noise_multiplier": 1e-300}}"#,
    r#"{"gaussian": {"noise_multiplier": 1e300}}"#,
    r#"{"laplace": {"noise_multiplier": 2}}"#,
    r#"{"laplace": {"noise_multiplier": 1e-9}}"#,
    r#"{"randomized_response": {"keep_probability": 0.75, "categories": 2}}"#,
    r#"{"randomized_response": {"keep_probability": 0.5, "categories": 2}}"#,
    r#"{"exponential": {"epsilon": 0.1}}"#,
    r#"{"discrete_gaussian": {"noise_multiplier": 3}}"#,
    r#"{"discrete_laplace": {"noise_multiplier": 2}}"#,
    r#"{"student_t": {"noise_multiplier": 2, "degrees_of_freedom": 3}}"#,
    r#"{"encoded_student_t": {"noise_multiplier": 2, "degrees_of_freedom": 9, "levels": [2, 1], "counts": [10, 90]}}"#,
    r#"{"poisson_sampled": {"rate": 0.1, "event": {"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [1], "counts": [5]}}}}"#,
    r#"{"pure": {"epsilon": 0.5}}"#,
    r#"{"pure": {"epsilon": 0}}"#,
    r#"{"pure": {"epsilon": 40}}"#,
    r#"{"approximate": {"epsilon": 0.5, "delta": 1e-9}}"#,
    r#"{"zcdp": {"rho": 0.1}}"#,
    r#"{"rdp": {"order": 8, "epsilon": 0.2}}"#,
    r#"{"rdp": {"order": 1, "epsilon": 0.2}}"#,
    r#"{"gdp": {"mu": 0.9}}"#,
    r#"{"gdp": {"mu": 0}}"#,
    r#"{"poisson_sampled": {"rate": 0.01, "event": {"gaussian": {"noise_multiplier": 1}}}}"#,
    r#"{"poisson_sampled": {"rate": 0, "event": {"gaussian": {"noise_multiplier": 1}}}}"#,
    r#"{"poisson_sampled": {"rate": 0.1, "event": {"laplace": {"noise_multiplier": 1}}}}"#,
    r#"{"sampled_without_replacement": {"dataset_size": 100, "batch_size": 5, "event": {"gaussian": {"noise_multiplier": 2}}}}"#,
    r#"{"repeated": {"count": 1000000000000, "event": {"gaussian": {"noise_multiplier": 1e6}}}}"#,
    r#"{"repeated": {"count": 0, "event": {"pure": {"epsilon": 1}}}}"#,
    r#"{"truncated_poisson": {"dataset_size": 20000, "rate": 0.01, "max_batch": 240, "event": {"gaussian": {"noise_multiplier": 1.4}}}}"#,
    r#"{"shuffled": {"steps_per_epoch": 8000, "epochs": 1, "event": {"gaussian": {"noise_multiplier": 0.8}}}}"#,
    r#"{"balls_in_bins": {"bins": 100, "epochs": 1, "event": {"gaussian": {"noise_multiplier": 0.9}}}}"#,
    r#"{"mixture_of_gaussians": {"sensitivities": [0, 1, 2], "probabilities": [0.9, 0.07, 0.03], "noise_multiplier": 3}}"#,
    r#"{"tree_aggregation": {"noise_multiplier": 2.2, "steps": 700}}"#,
    r#"{"repeat_and_select": {"mean": 8, "shape": 1, "event": {"gaussian": {"noise_multiplier": 1.5}}}}"#,
    r#"{"composed": {"events": []}}"#,
    r#"{"parallel": {"events": [{"pure": {"epsilon": 1}}, {"pure": {"epsilon": 2}}]}}"#,
    r#"{"gausian": {}}"#,
    r#"{"gaussian": {"noise_multiplier": "1"}}"#,
    "null",
];

fn words(draws: &mut Dice, folder: &Path) -> Vec<OsString> {
    let question = draws.pick(&QUESTIONS);
    let mut words: Vec<OsString> = ["reticent", "account", question].map(OsString::from).to_vec();
    let mut flag = |draws: &mut Dice, percent: usize, name: &str, good: &str, pool: &[&str]| {
        if draws.chance(percent) {
            let value = if draws.chance(85) { good } else { draws.pick(pool) };
            words.push(format!("{name}={value}").into());
        }
    };
    if draws.chance(50) {
        let count = draws.below(4);
        let list: Vec<&str> = (0..count).map(|_| draws.pick(EVENTS)).collect();
        let relation = if draws.chance(70) { "add-remove" } else { "replace-one" };
        let text = format!("{{\"neighboring\": \"{relation}\", \"events\": [{}]}}", list.join(","));
        let path = folder.join("events.json");
        std::fs::write(&path, text).unwrap();
        flag(draws, 99, "--events", &path.to_string_lossy(), &["none.json", "", ".", "/dev/null"]);
        flag(draws, 3, "--steps", "7", NUMBERS);
    } else {
        let noise = draws.pick(&["1", "4", "0.3", "50"]);
        flag(draws, if question == "noise" { 3 } else { 97 }, "--noise-multiplier", noise, NUMBERS);
        let rate = draws.pick(&["0.01", "0.5", "1e-4"]);
        flag(draws, if question == "rate" { 3 } else { 60 }, "--sampling-rate", rate, NUMBERS);
        let steps = draws.pick(&["1", "10", "1000", "1e7", "1000000000000"]);
        flag(draws, if question == "steps" { 3 } else { 60 }, "--steps", steps, NUMBERS);
        flag(draws, 15, "--dataset-size", "10000", NUMBERS);
        flag(draws, 5, "--batch-size", "100", NUMBERS);
        flag(draws, 5, "--epochs", "3", NUMBERS);
        let samplings = ["poisson", "shuffled", "without-replacement", "balls-in-bins", "x"];
        flag(draws, 8, "--sampling", "poisson", &samplings);
        flag(draws, 20, "--neighboring", "replace-one", &["add-remove", "x"]);
    }
    let budgeted = matches!(question, "noise" | "steps" | "rate");
    flag(draws, if question == "delta" { 1 } else { 90 }, "--delta", "1e-5", NUMBERS);
    flag(draws, if budgeted || question == "delta" { 97 } else { 1 }, "--epsilon", "2", NUMBERS);
    match question {
        "rdp" => flag(draws, 97, "--orders", "1,1.5,32,inf", NUMBERS),
        "tradeoff" => flag(draws, 97, "--fpr", "0.03", NUMBERS),
        "group" => flag(draws, 97, "--size", "3", NUMBERS),
        "outcome" => flag(draws, 97, "--probability", "0.01", NUMBERS),
        _ => {}
    }
    let methods = ["pld", "rdp", "moments", "optimal", "advanced", "basic", "x"];
    let method = draws.pick(&methods[..6]);
    flag(draws, 25, "--accountant", method, &methods);
    for (percent, switch) in [(60, "--json"), (1, "--nonsense")] {
        if draws.chance(percent) {
            words.push(switch.into());
        }
    }
    words
}

#[test]
fn argument_sets_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Dice(11);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..250 {
        let words = words(&mut draws, folder.path());
        let events = std::fs::read_to_string(folder.path().join("events.json")).unwrap_or_default();
        let start = Instant::now();
        let Finished { status, stdout, stderr } = run_from(&words, false);
        let context = || format!("{words:?}\n{events}\n{stdout}\n{stderr}");
        // A guard against a search that does not end, on a machine that has other work too.
        assert!(start.elapsed() < Duration::from_secs(120), "{:?} for {}", start.elapsed(), context());
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!control(&stdout) && !control(&stderr), "{}", context());
        match status {
            0 => {
                answered += 1;
                assert!(!stdout.is_empty() && !stdout.contains("NaN"), "{}", context());
                assert!(stderr.lines().all(|line| line.starts_with("warning: ")), "{}", context());
                if words.iter().any(|word| word == "--json") {
                    check(&serde_json::from_str(&stdout).unwrap(), &context());
                }
            }
            2 => {
                refused += 1;
                assert!(stdout.is_empty() && crate::fail::is_refusal(&stderr), "{}", context());
                assert_eq!(stderr.lines().count(), 1, "{}", context());
            }
            other => panic!("status {other}: {}", context()),
        }
    }
    assert!(answered > 60 && refused > 60, "{answered} answered, {refused} refused");
}

/// Ends in order, and numbers where they must be.
fn check(found: &serde_json::Value, context: &str) {
    for field in ["epsilon", "delta", "noise_multiplier", "steps", "sampling_rate", "fnr", "order"] {
        assert!(found.get(field).is_none_or(|value| !value.is_null()), "{field}: {context}");
    }
    if let (Some(lower), Some(upper)) = (found.get("lower"), found.get("upper")) {
        assert!(lower.as_f64().unwrap() <= upper.as_f64().unwrap(), "{context}");
    }
}
