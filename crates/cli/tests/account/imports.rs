//! What other tools have recorded.

use super::{account_with, json, json_of, refused, refused_with};

const TRAINING: &str = "epsilon --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000 --delta 1e-5";

#[test]
fn the_history_of_opacus_costs_what_the_training_costs() {
    let expected = json(TRAINING);
    for history in ["[[1.1, 0.01, 1000]]", r#"{"history": [[1.1, 0.01, 600], [1.1, 0.01, 400]]}"#] {
        let words = ["epsilon", "--opacus", "-", "--delta", "1e-5", "--json"];
        let found = json_of(&account_with(&words, history), history);
        let close = |end: &str| (found[end].as_f64().unwrap() / expected[end].as_f64().unwrap() - 1.0).abs();
        assert!(close("upper") < 1e-6 && close("lower") < 1e-6, "{found} {expected}");
    }
}

#[test]
fn an_event_of_dp_accounting_costs_the_same() {
    let event = "SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.01, \
                 event=GaussianDpEvent(noise_multiplier=1.1)), count=1000)";
    let words = ["epsilon", "--dp-event", "-", "--delta", "1e-5", "--json"];
    let (found, expected) = (json_of(&account_with(&words, event), event), json(TRAINING));
    assert!((found["upper"].as_f64().unwrap() / expected["upper"].as_f64().unwrap() - 1.0).abs() < 1e-6);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_file() {
    let words = |flag| ["epsilon", flag, "-", "--delta", "1e-5"];
    refused_with(&words("--opacus"), "[1]", "--opacus -: not a history of Opacus: ");
    refused_with(&words("--dp-event"), "NonPrivateDpEvent()", "--dp-event -: NonPrivateDpEvent: ");
    refused("epsilon --delta 1e-5 --opacus a.json --steps 3", "--steps 3: leave it out: ");
    refused("epsilon --delta 1e-5 --opacus a.json --dp-event b", "--dp-event b: leave it out: ");
    refused("epsilon --delta 1e-5 --opacus none.json", "--opacus none.json: no such file: ");
    refused("epsilon --delta 1e-5 --opacus a --neighboring replace-one", "--neighboring replace-one: ");
}
