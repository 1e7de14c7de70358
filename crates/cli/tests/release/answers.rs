//! Every question, near the known truth. An answer is off by more than 25 times its noise scale with
//! probability e⁻²⁵, so these tests do not fail by chance.

use super::{ADULT, SURVEY, json, reticent, stdout};
use serde_json::Value;

/// Asserts that the answer is close to the truth, and its interval and certificate in order.
fn near(words: &[&str], truth: f64, most: f64) -> Value {
    let answer = json(words);
    let value = answer["value"].as_f64().unwrap();
    assert!((value - truth).abs() <= most, "{words:?}: {value} is not within {most} of {truth}");
    let interval: Vec<f64> =
        answer["interval"].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
    assert!(interval.len() == 2 && interval[0] <= value && value <= interval[1], "{answer}");
    let names: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(names, ["certificate", "confidence", "interval", "query", "value"]);
    assert_eq!(answer["confidence"], 0.95);
    certificate(&answer);
    answer
}

fn certificate(answer: &Value) {
    let certificate = &answer["certificate"];
    assert_eq!(certificate["unit"], "row");
    assert!(certificate["epsilon"].as_f64().unwrap() > 0.0);
    assert!(!certificate["events"].as_array().unwrap().is_empty());
    assert!(certificate["public"].is_array() && certificate["accountant"].is_string());
}

#[test]
fn counts() {
    near(&["count", ADULT, "--epsilon", "1"], 32561.0, 25.0);
    near(&["count", ADULT, "--epsilon", "1", "--where", "income=>50K"], 7841.0, 25.0);
    near(&["count", ADULT, "--epsilon", "1", "--column", "workclass"], 30725.0, 25.0);
    near(&["count", SURVEY, "--epsilon", "1"], 2000.0, 25.0);
    let answer = near(&["count", ADULT, "--epsilon", "1", "--delta", "1e-6"], 32561.0, 60.0);
    assert_eq!(answer["certificate"]["delta"], 1e-6);
    assert!(answer["certificate"]["events"][0]["gaussian"].is_object());
    let discrete = ["count", ADULT, "--epsilon", "1", "--delta", "1e-6", "--mechanism", "discrete-gaussian"];
    let answer = near(&discrete, 32561.0, 60.0);
    assert!(answer["certificate"]["events"][0]["discrete_gaussian"].is_object());
}

#[test]
fn sums_and_means() {
    near(&["sum", ADULT, "--column", "age", "--bounds", "0,100", "--epsilon", "1"], 1_256_257.0, 2500.0);
    near(&["mean", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1"], 38.5816, 0.12);
    near(
        &["mean", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1", "--delta", "1e-6"],
        38.5816,
        0.12,
    );
    near(&["mean", SURVEY, "--column", "age", "--bounds", "17,90", "--epsilon", "1"], 38.8, 2.0);
    // Bounds that do not fit clamp, and negative ones are read.
    near(&["mean", ADULT, "--column", "age", "--bounds", "-5,5", "--epsilon", "1"], 5.0, 0.1);
    near(&["sum", ADULT, "--column", "age", "--bounds=-5,-1", "--epsilon", "1"], -32561.0, 200.0);
}

#[test]
fn replace_one_takes_the_number_of_rows_as_public() {
    let words = [
        "mean",
        ADULT,
        "--column",
        "age",
        "--bounds",
        "17,90",
        "--epsilon",
        "1",
        "--neighboring",
        "replace-one",
    ];
    let answer = near(&words, 38.5816, 0.12);
    assert_eq!(answer["certificate"]["neighboring"], "replace-one");
    let public = answer["certificate"]["public"].as_array().unwrap();
    assert!(public.contains(&"number of rows 32561".into()), "{public:?}");
    near(&[&words[..], &["--where", "sex=Male"]].concat(), 39.43, 0.3);
}

#[test]
fn a_sum_under_replace_one_hides_a_row_that_leaves_the_filter() {
    // A row of 90 that no longer matches takes 90 away: the noise is for that, not for 90 - 17.
    let words = ["sum", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1", "--dry-run"];
    let error = |more: &[&str]| json(&[&words[..], more].concat())["error"].as_f64().unwrap();
    assert_eq!(error(&["--neighboring", "replace-one", "--where", "sex=Male"]), error(&[]));
}

#[test]
fn histograms() {
    let answer = json(&[
        "histogram",
        ADULT,
        "--column",
        "sex",
        "--categories",
        "Female, Male,Other",
        "--epsilon",
        "1",
    ]);
    assert_eq!(answer["query"]["categories"], serde_json::json!(["Female", "Male", "Other"]));
    for (index, truth) in [10771.0, 21790.0, 0.0].into_iter().enumerate() {
        assert!((answer["value"][index].as_f64().unwrap() - truth).abs() <= 25.0, "{answer}");
        let interval = &answer["interval"][index];
        assert!(interval[0].as_i64().unwrap() <= interval[1].as_i64().unwrap());
    }
    certificate(&answer);
    let answer = json(&["histogram", ADULT, "--column", "age", "--bins", "0,40,200", "--epsilon", "1"]);
    assert_eq!(answer["query"]["categories"], serde_json::json!(["[0,40)", "[40,200]"]));
    let (young, old) = (answer["value"][0].as_f64().unwrap(), answer["value"][1].as_f64().unwrap());
    assert!((young + old - 32561.0).abs() <= 50.0, "{answer}");
}

#[test]
fn quantiles() {
    let words = ["quantile", ADULT, "--column", "age", "--bounds", "0,120", "--epsilon", "1"];
    near(&words, 37.0, 1.0);
    near(&[&words[..], &["--quantile", "0.25"]].concat(), 28.0, 1.0);
    near(&["quantile", SURVEY, "--column", "age", "--bounds", "0,120", "--epsilon", "5"], 38.0, 4.0);
    let answer = near(&[&words[..], &["--candidates", "5"]].concat(), 30.0, 0.0);
    assert_eq!(answer["certificate"]["accountant"], "basic composition");
    assert_eq!(answer["query"]["candidates"], 5);
}

#[test]
fn modes() {
    for rule in ["exponential", "permute-and-flip", "report-noisy-max"] {
        let list = "Bachelors,HS-grad,Masters";
        let answer = json(&[
            "mode",
            ADULT,
            "--column",
            "education",
            "--categories",
            list,
            "--epsilon",
            "1",
            "--mechanism",
            rule,
        ]);
        assert_eq!(answer["value"], "HS-grad");
        assert!(answer["interval"].is_null() && answer["shortfall"].as_f64().unwrap() > 0.0);
        certificate(&answer);
    }
}

#[test]
fn proportions() {
    near(
        &["proportion", ADULT, "--column", "income", "--value", ">50K", "--epsilon", "1"],
        7841.0 / 32561.0,
        0.002,
    );
    let men = [
        "proportion",
        ADULT,
        "--column",
        "sex",
        "--value",
        "Male",
        "--epsilon",
        "1",
        "--neighboring",
        "replace-one",
    ];
    near(&men, 21790.0 / 32561.0, 0.002);
}

#[test]
fn a_wanted_error_sets_epsilon() {
    for noise in [&[][..], &["--delta", "1e-6"], &["--delta", "1e-6", "--mechanism", "discrete-gaussian"]] {
        for question in [&["count", ADULT][..], &["sum", ADULT, "--column", "age", "--bounds", "0.5,90"]] {
            let words = [question, &["--error", "700"], noise].concat();
            let preview = json(&[&words[..], &["--dry-run"]].concat());
            let error = preview["error"].as_f64().unwrap();
            assert!(error <= 700.0 && error > 690.0, "{words:?}: {error}");
            let spent = json(&words)["certificate"]["epsilon"].as_f64().unwrap();
            assert!((spent / preview["epsilon"].as_f64().unwrap() - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn a_dry_run_reads_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("x\n{rows}")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = [write("a.csv", "1\n2\n"), write("b.csv", "text\n,\n"), write("c.csv", "")];
    let flags: [&[&str]; 7] = [
        &["count"],
        &["sum", "--column", "x", "--bounds", "0,9"],
        &["mean", "--column", "x", "--bounds", "0,9"],
        &["histogram", "--column", "x", "--categories", "1,2"],
        &["quantile", "--column", "x", "--bounds", "0,9"],
        &["mode", "--column", "x", "--categories", "1,2"],
        &["proportion", "--column", "x", "--value", "1"],
    ];
    for words in flags {
        for format in [&[][..], &["--json"]] {
            let run = |file: &str| stdout(&[words, &[file, "--epsilon", "1", "--dry-run"], format].concat());
            assert!(files.iter().all(|file| run(file) == run(&files[0])), "{words:?}");
        }
    }
}

#[test]
fn text_for_people_is_plain_and_has_the_parts() {
    let words = ["mean", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1"];
    let text = stdout(&words);
    for (line, label) in text.lines().zip([
        "clamped mean of age",
        "privacy spent",
        "mechanism",
        "taken as public",
        "certificate",
    ]) {
        assert!(line.starts_with(label), "{text}");
    }
    assert!(
        text.contains("38.5") && text.contains("(95 %: ") && text.contains("ε = 1 (add-remove, unit: row)")
    );
    let text = stdout(&[
        "histogram",
        ADULT,
        "--column",
        "sex",
        "--categories",
        "Female,Male,\u{1b}[31mred",
        "--epsilon",
        "1",
    ]);
    assert!(text.contains('█') && text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}

#[test]
fn help_teaches() {
    for question in
        ["count", "sum", "mean", "histogram", "quantile", "mode", "proportion", "randomize", "estimate"]
    {
        let text = stdout(&[question, "--help"]);
        assert!(text.contains(&format!("  reticent release {question} ")), "{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }
    let output = reticent().arg("--version").output().unwrap();
    assert!(output.stdout.starts_with(b"reticent 0"));
}

#[test]
fn an_answer_that_nobody_reads_is_no_success() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let words = ["release", "count", ADULT, "--epsilon", "1"];
    let output = reticent().args(words).stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(141), "{said}");
    assert!(
        said.starts_with("error[R905]: cannot write to standard output: ") && said.lines().count() == 1,
        "{said}"
    );
}

/// Closed from the start, and discarded on purpose.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_output_is_told_from_a_discarded_one() {
    let shell = |redirection: &str| {
        let line = format!("\"$0\" release count {ADULT} --epsilon 1 {redirection}");
        let command = std::process::Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_reticent")])
            .current_dir(super::root())
            .output()
            .unwrap();
        (command.status.code(), String::from_utf8_lossy(&command.stderr).into_owned())
    };
    let (status, said) = shell(">&-");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("cannot write to standard output: it is closed"), "{said}");
    assert_eq!(shell("> /dev/null"), (Some(0), String::new()));
    assert_eq!(shell("<> /dev/null 1>&0"), (Some(0), String::new()));
}

#[test]
fn clamped_values_are_counted_for_a_share() {
    let words = ["mean", ADULT, "--column", "age", "--bounds", "30,50", "--epsilon", "1", "--count-clamped"];
    let output = super::release(&[&words[..], &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("warning: at least ") && said.contains("outside of --bounds"), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // 10 572 are below 30 and 6 460 above 50; the noise of ε/20 has a standard deviation of 28.
    let exact = {
        let below = json(&["count", ADULT, "--epsilon", "50", "--where", "age<30"]);
        let above = json(&["count", ADULT, "--epsilon", "50", "--where", "age>50"]);
        below["value"].as_f64().unwrap() + above["value"].as_f64().unwrap()
    };
    let count = found["clamped"]["value"].as_f64().unwrap();
    assert!((count - exact).abs() < 600.0, "{found}");
    let epsilon = found["certificate"]["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 1.0 && epsilon > 1.0 - 1e-12, "{found}");
    let quantile =
        ["quantile", ADULT, "--column", "age", "--bounds", "0,120", "--epsilon", "1", "--count-clamped"];
    let quantile = super::release(&[&quantile[..], &["--json"]].concat());
    let quantile: serde_json::Value = serde_json::from_slice(&quantile.stdout).unwrap();
    assert!(quantile["certificate"]["epsilon"].as_f64().unwrap() <= 1.0, "{quantile}");
    assert_eq!(found["certificate"]["events"].as_array().unwrap().len(), 2);
    // Nothing is clamped here, and nothing is said; the claim is the same.
    let wide = [
        "mean",
        ADULT,
        "--column",
        "age",
        "--bounds",
        "0,200",
        "--epsilon",
        "1",
        "--count-clamped",
        "--confidence",
        "0.999999999",
    ];
    let text = stdout(&wide);
    assert!(text.contains("clamped  ") && text.contains("ε = 1 (add-remove"), "{text}");
    let error = ["sum", ADULT, "--column", "age", "--bounds", "0,99", "--error", "5", "--count-clamped"];
    assert!(!super::release(&error).status.success());
}

#[test]
fn bounds_inside_of_the_schema_are_told() {
    let schema = "testdata/adult/schema.toml";
    let words = |bounds| {
        [
            "mean",
            ADULT,
            "--column",
            "age",
            "--bounds",
            bounds,
            "--epsilon",
            "1",
            "--dry-run",
            "--schema",
            schema,
        ]
    };
    let said = |bounds| String::from_utf8(super::release(&words(bounds)).stderr).unwrap();
    assert!(said("30,50").starts_with("warning: --bounds 30,50: inside of the schema's bounds "));
    assert_eq!(said("0,500"), "");
}
#[test]
fn noise_of_many_grid_steps_has_an_error() {
    near(&["sum", SURVEY, "--column", "age", "--bounds", "0,1.5", "--epsilon", "0.005"], 3000.0, 7500.0);
}

#[test]
fn answers_are_drawn_with_what_was_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.svg");
    let file = path.to_str().unwrap();
    let histogram = ["histogram", ADULT, "--column", "sex", "--categories", "Male,Female", "--epsilon", "1"];
    let found = json(&[&histogram[..], &["--plot", file]].concat());
    let svg = std::fs::read_to_string(&path).unwrap();
    for value in found["value"].as_array().unwrap() {
        assert!(svg.contains(&value.to_string()), "{value}");
    }
    let mean = ["mean", ADULT, "--column", "age", "--bounds", "17,90", "--epsilon", "1", "--plot", file];
    let text = stdout(&mean);
    let shown = text.split_whitespace().nth(4).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains(shown), "{text}");
    assert!(text.contains("answer.svg"), "{text}");
}
