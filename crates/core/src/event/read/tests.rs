use super::*;
use crate::EventLog;
use std::collections::BTreeSet;

fn refusal(text: &str) -> String {
    match Json::parse(text).and_then(listed) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problem) => problem.to_string(),
    }
}

fn accepted(text: &str) -> EventList {
    Json::parse(text).and_then(listed).unwrap_or_else(|problem| panic!("{problem}: {text}"))
}

#[test]
fn every_event_of_the_wire_form_is_read_as_serde_reads_it() {
    let gaussian = r#"{"gaussian": {"noise_multiplier": 1.1}}"#;
    let list = [
        gaussian.to_owned(),
        r#"{"laplace": {"noise_multiplier": 2.0}}"#.to_owned(),
        r#"{"randomized_response": {"keep_probability": 0.75, "categories": 2}}"#.to_owned(),
        r#"{"exponential": {"epsilon": 0.1}}"#.to_owned(),
        r#"{"discrete_gaussian": {"noise_multiplier": 3}}"#.to_owned(),
        r#"{"discrete_laplace": {"noise_multiplier": 2.0}}"#.to_owned(),
        r#"{"student_t": {"noise_multiplier": 2.0, "degrees_of_freedom": 3}}"#.to_owned(),
        r#"{"encoded_student_t": {"noise_multiplier": 2, "degrees_of_freedom": 3, "levels": [2, 0.5], "counts": [1, 1000]}}"#
            .to_owned(),
        r#"{"pure": {"epsilon": 0.5}}"#.to_owned(),
        r#"{"approximate": {"epsilon": 0.5, "delta": 1e-6}}"#.to_owned(),
        r#"{"zcdp": {"rho": 0.1}}"#.to_owned(),
        r#"{"rdp": {"order": 8.0, "epsilon": 0.2}}"#.to_owned(),
        r#"{"gdp": {"mu": 0.9}}"#.to_owned(),
        format!(r#"{{"poisson_sampled": {{"rate": 0.01, "event": {gaussian}}}}}"#),
        format!(
            r#"{{"sampled_without_replacement": {{"dataset_size": 1000, "batch_size": 10, "event": {gaussian}}}}}"#
        ),
        format!(r#"{{"repeated": {{"count": 1000000000000, "event": {gaussian}}}}}"#),
        format!(
            r#"{{"truncated_poisson": {{"dataset_size": 20000, "rate": 0.01, "max_batch": 240, "event": {gaussian}}}}}"#
        ),
        format!(r#"{{"shuffled": {{"steps_per_epoch": 8000, "epochs": 1, "event": {gaussian}}}}}"#),
        format!(r#"{{"balls_in_bins": {{"bins": 100, "epochs": 1, "event": {gaussian}}}}}"#),
        r#"{"mixture_of_gaussians": {"sensitivities": [0, 1, 2], "probabilities": [0.9, 0.07, 0.03], "noise_multiplier": 3.0}}"#.to_owned(),
        r#"{"tree_aggregation": {"noise_multiplier": 2.2, "steps": 700}}"#.to_owned(),
        format!(r#"{{"repeat_and_select": {{"mean": 8, "shape": 1.0, "event": {gaussian}}}}}"#),
        r#"{"clipped_sum": {"noise_multiplier": 1.1}}"#.to_owned(),
        r#"{"composed": {"events": []}}"#.to_owned(),
        format!(r#"{{"parallel": {{"events": [{gaussian}]}}}}"#),
    ];
    assert_eq!(list.len(), Event::KINDS.len());
    let text = format!(r#"{{"neighboring": "replace-one", "events": [{}]}}"#, list.join(", "));
    let found = accepted(&text);
    let log: EventLog = serde_json::from_str(&text).unwrap();
    assert_eq!(found.events, log.events);
    assert_eq!(found.neighboring, Some(log.neighboring));
    // What is printed is read back.
    let printed = serde_json::to_string(&log).unwrap();
    assert_eq!(accepted(&printed).events, log.events);
}

#[test]
fn lists_certificates_and_single_events_are_logs() {
    let event = r#"{"pure": {"epsilon": 0.5}}"#;
    for text in [event.to_owned(), format!("[{event}]")] {
        let found = accepted(&text);
        assert!(found.is_bare && found.neighboring.is_none() && found.events.len() == 1);
    }
    let certificate = format!(
        r#"{{"unit": "row", "neighboring": "add-remove", "events": [{event}], "epsilon": 0.1, "delta": 0, "accountant": "x", "public": []}}"#
    );
    for text in
        [certificate.clone(), format!(r#"{{"query": {{}}, "certificate": {certificate}, "value": 3}}"#)]
    {
        let found = accepted(&text);
        assert_eq!(found.unit.as_deref(), Some("row"));
        assert_eq!(found.events.len(), 1);
    }
}

#[test]
fn events_that_an_earlier_answer_decided_are_not_composed() {
    let steps = r#"{"repeated": {"count": 64, "event": {"gaussian": {"noise_multiplier": 20}}}}"#;
    let certificate = |how: &str, delta: &str, adaptive: &str| {
        format!(
            r#"{{"unit": "row", "neighboring": "add-remove", "events": [{{"pure": {{"epsilon": 0.06}}}}, {steps}],
                "epsilon": 3, "delta": {delta}, "accountant": "{how}", "public": []{adaptive}}}"#
        )
    };
    let counted = "rows counted with noise, then tight accounting";
    let claim = r#"{"approximate": {"epsilon": 3, "delta": 1e-6}}"#;
    assert_eq!(accepted(&certificate(counted, "1e-6", "")).events, accepted(claim).events);
    let learnt = "the schema's own cost, then rows counted with noise";
    assert_eq!(
        accepted(&certificate(learnt, "0.0", "")).events,
        accepted(r#"{"pure": {"epsilon": 3}}"#).events
    );
    // Held apart, or fixed beforehand, the events are taken as they are.
    let apart = format!(r#", "adaptive": [{steps}]"#);
    assert_eq!(accepted(&certificate(counted, "1e-6", &apart)).events.len(), 2);
    assert_eq!(accepted(&certificate("tight accounting", "1e-6", "")).events.len(), 2);
    // An empty list holds nothing apart; with a version, the events are such as may be composed.
    assert_eq!(accepted(&certificate(counted, "1e-6", r#", "adaptive": []"#)).events, accepted(claim).events);
    assert_eq!(accepted(&certificate(counted, "1e-6", r#", "version": 1"#)).events.len(), 2);
}

#[test]
fn certificates_of_other_versions_are_refused() {
    let log = |version: &str| {
        format!(
            r#"{{"version": {version}, "neighboring": "add-remove", "events": [{{"pure": {{"epsilon": 1}}}}]}}"#
        )
    };
    assert_eq!(accepted(&log("1")).events.len(), 1);
    assert_eq!(
        refusal(&log("2")),
        "version: 2: this program reads certificates of version 1: use a newer one"
    );
    assert!(refusal(&log("0")).starts_with("version: 0: "));
    assert!(refusal(&log("\"1\"")).starts_with("version: the text \"1\": "));
}

#[test]
fn mistakes_are_named_with_their_place() {
    let in_list = |event: &str| {
        format!(r#"{{"neighboring": "add-remove", "events": [{{"pure": {{"epsilon": 1}}}}, {event}]}}"#)
    };
    let cases = [
        (
            r#"{"gausian": {"noise_multiplier": 1}}"#,
            r#"events[1]: unknown event "gausian": did you mean "gaussian"?"#,
        ),
        (
            r#"{"gaussian": {"sigma": 1}}"#,
            r#"events[1].gaussian: unknown field "sigma": did you mean "noise_multiplier"?"#,
        ),
        (r#"{"gaussian": {}}"#, r#"events[1].gaussian: missing field "noise_multiplier": add it"#),
        (
            r#"{"gaussian": {"noise_multiplier": 0}}"#,
            "events[1].gaussian.noise_multiplier: 0: give a finite number above 0",
        ),
        (
            r#"{"gaussian": {"noise_multiplier": "1"}}"#,
            r#"events[1].gaussian.noise_multiplier: the text "1": give a number"#,
        ),
        (
            r#"{"gaussian": {"noise_multiplier": 1, "noise_multiplier": 2}}"#,
            r#"events[1].gaussian: "noise_multiplier" is there twice: keep one"#,
        ),
        (
            r#"{"gaussian": {"noise_multiplier": 1}, "laplace": {"noise_multiplier": 1}}"#,
            r#"events[1]: "gaussian" and "laplace" in one object: put each event in braces of its own"#,
        ),
        (r#"{"gaussian": 1}"#, "events[1].gaussian: 1: give its fields in { }: noise_multiplier"),
        (r#""gaussian""#, r#"events[1]: the text "gaussian": give an event such as"#),
        ("{}", "events[1]: an object without an event: give an event such as"),
        (
            r#"{"repeated": {"count": -5, "event": {"pure": {"epsilon": 1}}}}"#,
            "events[1].repeated.count: -5: give a whole number that is not negative",
        ),
        (
            r#"{"repeated": {"count": 2.5, "event": {"pure": {"epsilon": 1}}}}"#,
            "events[1].repeated.count: 2.5: give a whole number that is not negative",
        ),
        (
            r#"{"repeated": {"count": 1e30, "event": {"pure": {"epsilon": 1}}}}"#,
            "events[1].repeated.count: 1e30: give a smaller whole number",
        ),
        (
            r#"{"repeated": {"count": 3, "event": {"poisson_sampled": {"rate": 1.5, "event": {"pure": {"epsilon": 1}}}}}}"#,
            "events[1].repeated.event.poisson_sampled.rate: 1.5: give a number from 0 to 1",
        ),
        (
            r#"{"composed": {"events": [{"pure": {"epsilon": 1}}, {"pure": {"epsilon": -1}}]}}"#,
            "events[1].composed.events[1].pure.epsilon: -1: give a finite number that is not negative",
        ),
        (
            r#"{"sampled_without_replacement": {"dataset_size": 5, "batch_size": 6, "event": {"pure": {"epsilon": 1}}}}"#,
            "events[1].sampled_without_replacement: batch_size = 6: give at most dataset_size = 5",
        ),
        (
            r#"{"mixture_of_gaussians": {"sensitivities": [1, null], "probabilities": [1], "noise_multiplier": 1}}"#,
            "events[1].mixture_of_gaussians.sensitivities[1]: null: give a number",
        ),
    ];
    for (event, expected) in cases {
        let problem = refusal(&in_list(event));
        assert!(problem.starts_with(expected), "{problem}");
    }
    assert!(refusal(r#"{"evnts": []}"#).starts_with(r#"unknown field "evnts": did you mean "events"?"#));
    assert!(refusal(r#"{"neighboring": "add-remove"}"#).starts_with("missing field \"events\""));
    assert!(
        refusal(r#"{"neighboring": "add_remov", "events": []}"#).contains("did you mean \"add-remove\"?")
    );
    assert!(refusal("3").starts_with("3: give {"));
}

#[test]
fn what_is_no_json_is_shown_by_line_and_column() {
    assert_eq!(
        refusal("{\"neighboring\": \"add-remove\",\n \"events\": [}"),
        "line 2, column 13: expected value: correct the JSON"
    );
    for text in
        [r#"{"gaussian": {"noise_multiplier": NaN}}"#, r#"{"gaussian": {"noise_multiplier": -Infinity}}"#]
    {
        assert!(refusal(text).contains("JSON has no NaN and no infinity"), "{}", refusal(text));
    }
    assert!(refusal(r#"{"gaussian": {"noise_multiplier": 1e999}}"#).contains("a number is too large"));
    assert!(refusal("[] []").contains("trailing characters"));
}

#[test]
fn nesting_is_followed_as_deep_as_json_goes_and_no_deeper() {
    let nested = |depth: usize| {
        let open = r#"{"repeated": {"count": 1, "event": "#.repeat(depth);
        format!("{open}{}{}", r#"{"pure": {"epsilon": 1}}"#, "}}".repeat(depth))
    };
    assert_eq!(accepted(&nested(60)).events.len(), 1);
    assert!(refusal(&nested(70)).starts_with("nested too deeply"));
    assert!(refusal(&"[".repeat(100_000)).starts_with("nested too deeply"));
    assert!(refusal(&r#"{"composed":"#.repeat(100_000)).starts_with("nested too deeply"));
}

/// The names between backticks in a message of serde.
fn quoted(message: &str) -> BTreeSet<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

#[test]
fn names_and_fields_are_those_of_the_wire_form() {
    let message = serde_json::from_str::<Event>("{\"?\": 1}").unwrap_err().to_string();
    let mut names = quoted(&message);
    assert!(names.remove("?"));
    assert_eq!(names, Event::KINDS.iter().map(|shape| shape.name).collect());
    for shape in Event::KINDS {
        let name = shape.name;
        let text = format!("{{\"{name}\": {{\"?\": 1}}}}");
        let message = serde_json::from_str::<Event>(&text).unwrap_err().to_string();
        let mut known = quoted(&message);
        assert!(known.remove("?"));
        assert_eq!(known, shape.fields.iter().map(|field| field.name).collect(), "{name}");
    }
}
