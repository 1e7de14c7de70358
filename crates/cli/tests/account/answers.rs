//! Text, JSON and warnings of answers.

use super::{account, account_with, json, json_about, text};
use serde_json::{Value, json};

const RUN: &str = "--noise-multiplier 1 --sampling-rate 0.01 --steps 1000";

fn keys(found: &Value) -> Vec<&str> {
    found.as_object().unwrap().keys().map(String::as_str).collect()
}

fn warnings(line: &str) -> String {
    let output = account(line);
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn fields_are_those_promised() {
    let bound = ["accountant", "delta", "direction", "epsilon", "lower", "neighboring", "upper"];
    let found = json(&format!("epsilon {RUN} --delta 1e-5"));
    assert_eq!(keys(&found), bound);
    assert_eq!(found["epsilon"], found["upper"]);
    assert_eq!((&found["accountant"], &found["direction"]), (&json!("pld"), &json!("remove")));
    assert_eq!((&found["delta"], &found["neighboring"]), (&json!(1e-5), &json!("add-remove")));
    let found = json(&format!("delta {RUN} --epsilon 1"));
    assert_eq!(keys(&found), bound);
    assert_eq!(found["delta"], found["upper"]);
    assert_eq!(found["epsilon"], 1.0);

    let solved = |unknown| {
        let mut fields = vec!["accountant", "achieved", "delta", "epsilon", "neighboring", unknown];
        fields.sort_unstable();
        fields
    };
    let budget = "--epsilon 1 --delta 1e-5";
    let noise = json(&format!("noise --sampling-rate 0.01 --steps 100 {budget}"));
    assert_eq!(keys(&noise), solved("noise_multiplier"));
    assert!(noise["achieved"]["upper"].as_f64().unwrap() <= 1.0);
    let steps = json(&format!("steps --noise-multiplier 1 --sampling-rate 0.01 {budget}"));
    assert_eq!(keys(&steps), solved("steps"));
    let rate = json(&format!("rate --noise-multiplier 1 --steps 1000 {budget}"));
    assert_eq!(keys(&rate), solved("sampling_rate"));

    assert_eq!(keys(&json(&format!("rdp {RUN} --orders 2"))), ["accountant", "neighboring", "orders", "rdp"]);
    assert_eq!(
        keys(&json(&format!("tradeoff {RUN} --fpr 0.03"))),
        ["accountant", "fnr", "fpr", "neighboring"]
    );
    let recovered = json(&format!("reconstruction {RUN} --prior 0.01"));
    let fields = ["accountant", "advantage", "largest_advantage", "neighboring", "prior", "success"];
    assert_eq!(keys(&recovered), fields);
    let group = json(&format!("group --size 2 {RUN} --delta 1e-5"));
    assert_eq!(keys(&group), ["accountant", "delta", "epsilon", "lower", "neighboring", "size", "upper"]);
    let outcome = json(&format!("outcome --probability 0.01 {RUN}"));
    assert_eq!(keys(&outcome), ["lower", "neighboring", "probability", "upper"]);
    let statement = json(&format!("statement {RUN} --delta 1e-5"));
    assert!(statement["statement"].as_str().unwrap().contains("Poisson sampling"));
}

#[test]
fn the_answer_is_in_the_first_line() {
    let said = text("epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5");
    assert!(said.starts_with("epsilon = 6.188 at delta = 1e-5 (between 6.1877"), "{said}");
    assert!(said.contains("accountant   pld (the privacy-loss distribution), worse direction: remove\n"));
    assert!(said.contains("events       10000 steps on Poisson samples at rate 0.01, noise multiplier 1\n"));
    let said = text("delta --noise-multiplier 5 --epsilon 2");
    assert!(said.starts_with("delta = 4.044e-25 at epsilon = 2 "), "{said}");
    let said = text("noise --sampling-rate 0.01 --steps 1000 --epsilon 1 --delta 1e-5");
    assert!(said.starts_with("noise multiplier = 1.4147 for epsilon = 1 at delta = 1e-5\n"), "{said}");
    let said = text("steps --noise-multiplier 1 --sampling-rate 0.01 --epsilon 2 --delta 1e-5");
    assert!(said.starts_with("steps = 1202 within epsilon = 2 at delta = 1e-5\n"), "{said}");
    let said = text(
        "epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5 --accountant basic",
    );
    assert!(said.contains("accountant   basic (basic composition)\n"), "{said}");
}

#[test]
fn a_budget_is_met_and_not_by_far() {
    for neighboring in ["add-remove", "replace-one"] {
        let run = format!("--steps 100 --neighboring {neighboring}");
        let found = json(&format!("noise {run} --epsilon 2 --delta 1e-6"));
        let noise = found["noise_multiplier"].as_f64().unwrap();
        let epsilon = |noise: f64| {
            json(&format!("epsilon {run} --noise-multiplier {noise} --delta 1e-6"))["epsilon"]
                .as_f64()
                .unwrap()
        };
        assert!(epsilon(noise) <= 2.0 && epsilon(noise * 0.995) > 2.0, "{noise}");
    }
    let steps = json("steps --noise-multiplier 10 --epsilon 2 --delta 1e-6")["steps"].as_u64().unwrap();
    let epsilon = |steps: u64| {
        json(&format!("epsilon --noise-multiplier 10 --steps {steps} --delta 1e-6"))["epsilon"]
            .as_f64()
            .unwrap()
    };
    assert!(epsilon(steps) <= 2.0 && epsilon(steps + 1) > 2.0, "{steps}");
    let rate = json("rate --noise-multiplier 1 --steps 500 --epsilon 2 --delta 1e-6")["sampling_rate"]
        .as_f64()
        .unwrap();
    let epsilon = |rate: f64| {
        let line = format!("epsilon --noise-multiplier 1 --steps 500 --sampling-rate {rate} --delta 1e-6");
        json(&line)["epsilon"].as_f64().unwrap()
    };
    assert!(epsilon(rate) <= 2.0 && epsilon(rate * 1.005) > 2.0, "{rate}");
}

#[test]
fn a_list_is_calibrated_as_a_whole() {
    let step = json!({"poisson_sampled": {"rate": 0.01, "event": {"gaussian": {"noise_multiplier": 1.0}}}});
    let list = json!([{"repeated": {"count": 1000, "event": step}}]);
    let one = json("noise --sampling-rate 0.01 --steps 1000 --epsilon 1 --delta 1e-5");
    let other = json_about("noise --epsilon 1 --delta 1e-5", "add-remove", &list);
    assert_eq!(one, other);
    let one = json("rate --noise-multiplier 1 --steps 1000 --epsilon 1 --delta 1e-5");
    let other = json_about("rate --epsilon 1 --delta 1e-5", "add-remove", &list);
    assert_eq!(one, other);
    let one = json("steps --noise-multiplier 1 --sampling-rate 0.01 --epsilon 2 --delta 1e-5");
    let other = json_about("steps --epsilon 2 --delta 1e-5", "add-remove", &json!([step]));
    assert_eq!(one, other);
}

#[test]
fn a_run_may_be_described_by_its_sizes() {
    let sizes =
        json("epsilon --noise-multiplier 1.1 --dataset-size 60000 --batch-size 240 --epochs 60 --delta 1e-6");
    let rates = json("epsilon --noise-multiplier 1.1 --sampling-rate 0.004 --steps 15000 --delta 1e-6");
    assert_eq!(sizes, rates);
    let epochs = json("epsilon --noise-multiplier 1.1 --sampling-rate 0.004 --epochs 60 --delta 1e-6");
    assert_eq!(sizes, epochs);
    let steps = json(
        "epsilon --noise-multiplier 1.1 --dataset-size 60000 --batch-size 240 --steps 15000 --delta 1e-6",
    );
    assert_eq!(sizes, steps);
    // A step that is begun counts.
    let said =
        text("epsilon --noise-multiplier 1 --dataset-size 100 --batch-size 30 --epochs 1 --delta 1e-3");
    assert!(said.contains("4 steps on Poisson samples at rate 0.3"), "{said}");
    // Every record in every step is the default, and says so.
    assert!(text("epsilon --noise-multiplier 2 --delta 1e-6").contains("1 step on all records"));
    let wor = "--noise-multiplier 10 --dataset-size 10000 --batch-size 100 --steps 1000 --sampling without-replacement";
    let fixed = json(&format!("epsilon {wor} --neighboring replace-one --delta 1e-5"));
    let event = json!({"sampled_without_replacement":
        {"dataset_size": 10_000, "batch_size": 100, "event": {"gaussian": {"noise_multiplier": 5.0}}}});
    let list = json!([{"repeated": {"count": 1000, "event": event}}]);
    assert_eq!(fixed, json_about("epsilon --delta 1e-5", "replace-one", &list));
}

#[test]
fn orders_keep_their_places() {
    let found = json("rdp --noise-multiplier 1 --orders 8,2,inf,1,2");
    assert_eq!(found["orders"], json!([8.0, 2.0, "inf", 1.0, 2.0]));
    let rdp: Vec<Option<f64>> = found["rdp"].as_array().unwrap().iter().map(Value::as_f64).collect();
    assert_eq!(rdp[2], None);
    for (value, exact) in [(rdp[0], 4.0), (rdp[1], 1.0), (rdp[3], 0.5), (rdp[4], 1.0)] {
        assert!((value.unwrap() - exact).abs() < 1e-12);
    }
    let found = json("rdp --noise-multiplier 1 --orders 2 --delta 1e-5");
    let best = json("epsilon --noise-multiplier 1 --delta 1e-5 --accountant rdp");
    assert_eq!(found["epsilon"], best["epsilon"]);
    assert!(found["best_order"].as_f64().unwrap() > 1.0);
    let pure = json_about(
        "rdp --orders inf",
        "add-remove",
        &json!([{"pure": {"epsilon": 0.5}}, {"pure": {"epsilon": 1.0}}]),
    );
    assert!((pure["rdp"][0].as_f64().unwrap() - 1.5).abs() < 1e-12);
}

#[test]
fn several_rates_are_lists() {
    let found = json(&format!("tradeoff {RUN} --fpr 0.1,0.01,0,1"));
    assert_eq!(found["fpr"], json!([0.1, 0.01, 0.0, 1.0]));
    let fnr: Vec<f64> = found["fnr"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(fnr[1] > fnr[0] && fnr[2] > 0.999 && fnr[3] == 0.0, "{fnr:?}");
    assert!(fnr[0] < 0.9 && fnr[1] < 0.99, "no attack can be worse than guessing: {fnr:?}");
}

#[test]
fn a_prior_is_the_success_without_the_record() {
    // Φ(Φ⁻¹(0.01) + 1), by mpmath.
    let exact = 0.092_362_248_073_693_94;
    let found = json("reconstruction --noise-multiplier 1 --prior 0.01,0,1");
    let success: Vec<f64> =
        found["success"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(success[0] >= exact && success[0] < exact + 1e-8, "{success:?}");
    assert!(success[1] < 1e-6 && success[2] == 1.0, "{success:?}");
    let gained = found["advantage"][0].as_f64().unwrap();
    assert!(gained >= exact - 0.01 && gained < 0.0824, "{gained}");
    // The total variation distance of two normals at distance 1 is 2Φ(1/2) − 1.
    let most = found["largest_advantage"].as_f64().unwrap();
    assert!((0.382_924_922_548_025..0.382_924_923).contains(&most), "{most}");
    let said = text("reconstruction --noise-multiplier 1 --prior 0.01");
    assert!(
        said.starts_with("prior = 0.01  success at most 0.09237 (advantage at most 0.08237)\n"),
        "{said}"
    );
    assert!(said.contains("against a release without the record\n"), "{said}");
    let said = text("reconstruction --noise-multiplier 1 --neighboring replace-one");
    assert!(said.contains("with another, independent record in its place\n"), "{said}");
}

#[test]
fn groups_without_delta() {
    let list = json!([{"pure": {"epsilon": 0.5}}, {"laplace": {"noise_multiplier": 4.0}}]);
    let found = json_about("group --size 2", "add-remove", &list);
    assert!((found["epsilon"].as_f64().unwrap() - 1.5).abs() < 1e-12);
    assert_eq!(found["delta"], 0.0);
    let single = json_about(
        "group --size 1",
        "add-remove",
        &json!([{"approximate": {"epsilon": 0.5, "delta": 1e-6}}]),
    );
    assert_eq!((&single["epsilon"], single["delta"].as_f64().unwrap() < 1.000_001e-6), (&json!(0.5), true));
    let out = account_with(&["group", "--size", "2", "--noise-multiplier", "1"], "");
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("error[R102]: --delta: missing: these events"));
}

#[test]
fn outcomes_hold_the_probability() {
    for p in ["0", "1e-9", "0.01", "0.5", "1"] {
        let found = json(&format!("outcome --probability {p} {RUN}"));
        let (lower, upper) = (found["lower"].as_f64().unwrap(), found["upper"].as_f64().unwrap());
        let p: f64 = p.parse().unwrap();
        assert!((0.0..=p).contains(&lower) && (p..=1.0).contains(&upper), "{found}");
    }
    // With a Rényi bound only, and with a claim beside it.
    let list = json!([{"zcdp": {"rho": 0.01}}]);
    let without = json_about("outcome --probability 0.1", "add-remove", &list);
    let with = json_about("outcome --probability 0.1 --delta 1e-6", "add-remove", &list);
    assert!(with["upper"].as_f64().unwrap() <= without["upper"].as_f64().unwrap());
    assert!(without["upper"].as_f64().unwrap() < 0.2, "{without}");
}

#[test]
fn accountants_are_compared() {
    let said = text(&format!("compare {RUN} --delta 1e-5"));
    for name in ["pld", "rdp", "moments", "optimal", "advanced", "basic", "clt", "published"] {
        assert!(said.lines().any(|line| line.starts_with(&format!("  {name}"))), "{name}: {said}");
    }
    assert_eq!(said.matches("no bound: ").count(), 2);
    let list = json!([{"approximate": {"epsilon": 0.1, "delta": 1e-9}}, {"zcdp": {"rho": 0.1}}]);
    let found = json_about("compare --delta 1e-6", "add-remove", &list);
    assert!(found.get("not_bounds").is_none());
    for row in found["accountants"].as_array().unwrap() {
        assert_eq!(row["epsilon"].is_null(), row["reason"].is_string(), "{row}");
    }
}

#[test]
fn statements_say_what_was_assumed() {
    let said = text("statement --noise-multiplier 1.1 --dataset-size 60000 --batch-size 256 --epochs 60 --delta 1e-6 --unit user")
        .replace('\n', " ");
    for part in [
        "14063 steps",
        "1.1 times the clipping norm",
        "(ε = 2.697, δ = 1e-6)-differential privacy",
        "one user being added or removed (add-remove neighbours)",
        "pld accountant",
        "Poisson sampling",
        "on average 256 of 60000 records",
        "all checkpoints",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let shuffled = text(
        "statement --noise-multiplier 5 --dataset-size 60000 --batch-size 256 --epochs 3 --sampling shuffled --delta 1e-6",
    );
    assert!(shuffled.replace('\n', " ").contains("no amplification by sampling is claimed"), "{shuffled}");
    assert!(said.lines().all(|line| !line.contains('\u{a0}')));
}

#[test]
fn warnings_go_to_standard_error() {
    assert_eq!(warnings(&format!("epsilon {RUN} --delta 1e-5")), "");
    let large = warnings("epsilon --noise-multiplier 0.2 --delta 1e-5 --json");
    assert!(large.starts_with("warning: epsilon = ") && large.contains("hardly protects"), "{large}");
    let delta = warnings("epsilon --noise-multiplier 5 --dataset-size 1000 --delta 0.01");
    assert!(delta.contains("is not below 1 / number of records = 0.001"), "{delta}");
    let sizes = "--noise-multiplier 2 --dataset-size 1000 --batch-size 10 --epochs 1 --delta 1e-6";
    let shuffled = warnings(&format!("epsilon {sizes} --sampling shuffled --json"));
    assert!(shuffled.contains("no amplification") && shuffled.contains("at least epsilon = "), "{shuffled}");
    let bins = warnings(&format!("epsilon {sizes} --sampling balls-in-bins"));
    assert!(bins.contains("balls in bins"), "{bins}");
}

#[test]
fn help_teaches_with_examples() {
    for question in [
        "epsilon",
        "delta",
        "noise",
        "steps",
        "rate",
        "rdp",
        "tradeoff",
        "reconstruction",
        "group",
        "outcome",
        "compare",
        "statement",
    ] {
        let help = text(&format!("{question} --help"));
        let examples = help.matches(&format!("reticent account {question} --")).count();
        assert!(examples >= 2, "{question}: {examples} examples");
    }
    assert!(text("--help").contains("under either relation"));
}

#[test]
fn beliefs_move_by_no_more_than_the_odds() {
    let found = json("posterior --epsilon 0,1.0986122886681098 --prior 0.5,0.01");
    assert_eq!(keys(&found), ["claims", "failure_probability", "neighboring", "odds"]);
    let belief = |claim: usize, prior: usize, end: &str| {
        found["claims"][claim]["beliefs"][prior][end].as_f64().unwrap()
    };
    assert!((belief(0, 1, "upper") - 0.01).abs() < 1e-12 && belief(0, 1, "upper") >= 0.01);
    assert!((belief(1, 0, "upper") - 0.75).abs() < 1e-9 && (belief(1, 0, "lower") - 0.25).abs() < 1e-9);
    // One step in a hundred moves a belief less than all steps do, and the bound may fail.
    let run = |steps: u32| json(&format!("posterior --noise-multiplier 1 --steps {steps} --delta 1e-6"));
    let loss = |found: &Value| found["claims"][0]["epsilon"].as_f64().unwrap();
    assert!(loss(&run(1)) < loss(&run(100)));
    assert_eq!(
        (run(1)["failure_probability"].as_f64(), run(1)["neighboring"].as_str()),
        (Some(1e-6), Some("add-remove"))
    );
    let said = text("posterior --epsilon 1,2");
    assert!(said.starts_with("before  after, ε = 1"), "{said}");
}
