use super::*;

/// The wire form, one of each.
const WIRE: &str = r#"
{"neighboring": "add-remove",
 "events": [
  {"gaussian": {"noise_multiplier": 1.1}},
  {"laplace": {"noise_multiplier": 2.0}},
  {"randomized_response": {"keep_probability": 0.75, "categories": 2}},
  {"exponential": {"epsilon": 0.1}},
  {"discrete_gaussian": {"noise_multiplier": 3.0}}, {"discrete_laplace": {"noise_multiplier": 2.0}},
  {"student_t": {"noise_multiplier": 5.0, "degrees_of_freedom": 3}},
  {"encoded_student_t": {"noise_multiplier": 5.0, "degrees_of_freedom": 9, "levels": [2.0, 0.5], "counts": [10, 90]}},
  {"pure": {"epsilon": 0.5}}, {"approximate": {"epsilon": 0.5, "delta": 1e-6}},
  {"zcdp": {"rho": 0.1}}, {"rdp": {"order": 8.0, "epsilon": 0.2}}, {"gdp": {"mu": 0.9}},
  {"poisson_sampled": {"rate": 0.01, "event": {"gaussian": {"noise_multiplier": 1.0}}}},
  {"sampled_without_replacement": {"dataset_size": 1000, "batch_size": 10, "event": {"gaussian": {"noise_multiplier": 1.0}}}},
  {"repeated": {"count": 10000, "event": {"poisson_sampled": {"rate": 0.01, "event": {"gaussian": {"noise_multiplier": 1.0}}}}}},
  {"truncated_poisson": {"dataset_size": 20000, "rate": 0.01, "max_batch": 240, "event": {"gaussian": {"noise_multiplier": 1.4}}}},
  {"shuffled": {"steps_per_epoch": 8000, "epochs": 1, "event": {"gaussian": {"noise_multiplier": 0.8}}}},
  {"balls_in_bins": {"bins": 100, "epochs": 1, "event": {"gaussian": {"noise_multiplier": 0.9}}}},
  {"mixture_of_gaussians": {"sensitivities": [0, 1, 2], "probabilities": [0.9, 0.07, 0.03], "noise_multiplier": 3.0}},
  {"tree_aggregation": {"noise_multiplier": 2.2, "steps": 700}},
  {"repeat_and_select": {"mean": 8, "shape": 1.0, "event": {"gaussian": {"noise_multiplier": 1.5}}}},
  {"repeat_and_select": {"mean": 8, "shape": "poisson", "event": {"gaussian": {"noise_multiplier": 1.5}}}},
  {"composed": {"events": []}}, {"parallel": {"events": []}}]}
"#;

#[test]
fn every_wire_form_parses_and_survives_a_round_trip() {
    let log: EventLog = serde_json::from_str(WIRE).unwrap();
    assert_eq!(log.neighboring, Neighboring::AddRemove);
    let written = serde_json::to_value(&log).unwrap();
    let original: serde_json::Value = serde_json::from_str(WIRE).unwrap();
    let names = |v: &serde_json::Value| -> Vec<String> {
        v["events"].as_array().unwrap().iter().flat_map(|e| e.as_object().unwrap().keys().cloned()).collect()
    };
    assert_eq!(names(&written), names(&original));
    assert_eq!(serde_json::from_value::<EventLog>(written).unwrap(), log);
}

#[test]
fn bad_events_name_the_field() {
    let cases = [
        (r#"{"gaussian": {"noise_multiplier": -1}}"#, "noise_multiplier"),
        (r#"{"gaussian": {"noise_multiplier": 1, "sigma": 2}}"#, "sigma"),
        (r#"{"gausian": {"noise_multiplier": 1}}"#, "gausian"),
        (r#"{"approximate": {"epsilon": 1, "delta": 1}}"#, "delta"),
        (r#"{"poisson_sampled": {"rate": 1.5, "event": {"pure": {"epsilon": 1}}}}"#, "sampling_rate"),
        (r#"{"randomized_response": {"keep_probability": 0.2, "categories": 3}}"#, "keep_probability"),
        (r#"{"randomized_response": {"keep_probability": 0.5, "categories": 1}}"#, "categories"),
        (
            r#"{"sampled_without_replacement": {"dataset_size": 5, "batch_size": 6, "event": {"pure": {"epsilon": 1}}}}"#,
            "batch_size",
        ),
        (
            r#"{"repeated": {"count": 2, "event": {"student_t": {"noise_multiplier": 1, "degrees_of_freedom": 0}}}}"#,
            "degrees_of_freedom",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [1, 2], "counts": [1, 1]}}"#,
            "levels",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [2, 0], "counts": [1, 1]}}"#,
            "levels",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [], "counts": []}}"#,
            "levels",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [2, 1], "counts": [1]}}"#,
            "counts",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [2], "counts": [0]}}"#,
            "counts",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [2], "counts": [1.5]}}"#,
            "",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 3, "levels": [2, 1], "counts": [1000000000, 1]}}"#,
            "counts",
        ),
        (
            r#"{"encoded_student_t": {"noise_multiplier": 1, "degrees_of_freedom": 1001, "levels": [2], "counts": [1]}}"#,
            "degrees_of_freedom",
        ),
        (
            r#"{"mixture_of_gaussians": {"sensitivities": [1], "probabilities": [0.5], "noise_multiplier": 1}}"#,
            "probabilities",
        ),
        (r#"{"repeat_and_select": {"mean": 0.5, "shape": 1, "event": {"pure": {"epsilon": 1}}}}"#, "mean"),
    ];
    for (event, field) in cases {
        let text = format!(r#"{{"neighboring": "add-remove", "events": [{event}]}}"#);
        let message = serde_json::from_str::<EventLog>(&text).unwrap_err().to_string();
        assert!(message.contains(field), "{event}: {message}");
    }
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let mut event = r#"{"pure":{"epsilon":1}}"#.to_string();
    for _ in 0..5000 {
        event = format!(r#"{{"repeated":{{"count":1,"event":{event}}}}}"#);
    }
    let text = format!(r#"{{"neighboring":"add-remove","events":[{event}]}}"#);
    assert!(serde_json::from_str::<EventLog>(&text).is_err());
}
