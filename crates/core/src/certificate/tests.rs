use super::*;

fn guarantee(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

#[test]
fn composition_adds_and_rounds_up() {
    let total = guarantee(0.1, 1e-6).then(guarantee(0.2, 0.0)).unwrap();
    assert!(total.epsilon.get() >= 0.3 && total.epsilon.get() < 0.3 + 1e-15);
    assert_eq!(guarantee(0.5, 0.0).then(guarantee(0.5, 0.0)).unwrap().epsilon.get(), 1.0);
    assert!(guarantee(1.0, 0.6).then(guarantee(1.0, 0.6)).is_err());
    assert!(guarantee(f64::MAX, 0.0).then(guarantee(f64::MAX, 0.0)).is_err());
}

#[test]
fn json_is_flat() {
    let events = vec![Event::Pure { epsilon: Epsilon::new(1.0).unwrap() }];
    let (claim, public) = (guarantee(1.0, 0.0), vec![Fact::Rows(3)]);
    let certificate =
        Certificate::compose("row", Neighboring::ReplaceOne, events, claim, "basic composition", public);
    let json = serde_json::to_value(&certificate).unwrap();
    assert_eq!(json["epsilon"], 1.0);
    assert_eq!(json["neighboring"], "replace-one");
    assert_eq!(json["public"][0], "number of rows 3");
    assert!(json.get("adaptive").is_none());
    assert_eq!(json["version"], 1);
    assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate);
}

#[test]
fn what_an_answer_decided_is_claimed_at_its_share_and_not_composed() {
    let steps = Event::Zcdp { rho: crate::Rho::new(0.1).unwrap() };
    let (events, claim) = (vec![steps.clone()], guarantee(2.9, 1e-6));
    let own = Certificate::compose("row", Neighboring::AddRemove, events, claim, "tight accounting", vec![]);
    let count = Event::Pure { epsilon: Epsilon::new(0.0625).unwrap() };
    let (cost, share) = (guarantee(0.0625, 0.0), guarantee(2.9375, 1e-6));
    let whole = own.clone().after(std::slice::from_ref(&count), cost, share).unwrap();
    // The share, and not the 2.9 that the steps happened to cost.
    assert_eq!(whole.guarantee, guarantee(3.0, 1e-6));
    assert_eq!(whole.events, [count, share.claim()]);
    assert_eq!(whole.adaptive, [steps]);
    let json = serde_json::to_value(&whole).unwrap();
    assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), whole);
    // A share that does not cover what was spent is no bound.
    assert!(own.clone().after(&[], cost, guarantee(2.8, 1e-6)).is_err());
    assert!(own.after(&[], cost, guarantee(2.9375, 0.0)).is_err());
}

#[test]
fn certificates_of_every_form_are_read() {
    let versioned = |text: &str, version: &str| text.replacen('{', &format!("{{\"version\":{version},"), 1);
    // As the first release wrote them, byte by byte.
    let oldest = r#"{"unit":"row","neighboring":"add-remove","events":[{"laplace":{"noise_multiplier":2.0}}],"epsilon":0.5,"delta":0.0,"accountant":"stated by the mechanism","public":["bounds 0 to 1","number of rows 3"]}"#;
    let read: Certificate = serde_json::from_str(oldest).unwrap();
    assert_eq!(read.public, [Fact::Bounds { low: 0.0, high: 1.0 }, Fact::Rows(3)]);
    assert!(read.adaptive.is_empty());
    // All that is added is the version.
    assert_eq!(serde_json::to_string(&read).unwrap(), versioned(oldest, "1"));
    // With what an earlier answer decided held apart.
    let later = r#"{"unit":"row","neighboring":"add-remove","events":[{"pure":{"epsilon":0.5}}],"adaptive":[{"zcdp":{"rho":0.1}}],"epsilon":0.5,"delta":0.0,"accountant":"rows counted with noise, then others","public":[]}"#;
    let read: Certificate = serde_json::from_str(later).unwrap();
    assert_eq!((read.adaptive.len(), &read.events), (1, &vec![read.guarantee.claim()]));
    assert_eq!(serde_json::to_string(&read).unwrap(), versioned(later, "1"));
    // With its version.
    let of_version = |version: &str| serde_json::from_str::<Certificate>(&versioned(oldest, version));
    assert_eq!(of_version("1").unwrap(), serde_json::from_str(oldest).unwrap());
    let refused = of_version("2").unwrap_err().to_string();
    assert!(refused.contains("version = 2: this program reads certificates of version 1"), "{refused}");
    assert!(of_version("0").is_err());
    let refused = serde_json::from_str::<Certificate>("5").unwrap_err().to_string();
    assert!(refused.contains("expected struct Certificate"), "{refused}");
    // Events whose fields do not fit together are refused.
    assert!(serde_json::from_str::<Certificate>(&later.replace("0.1", "-1")).is_err());
}

#[test]
fn events_that_earlier_answers_decided_are_never_left_to_be_composed() {
    let steps = r#"{"repeated":{"count":64,"event":{"gaussian":{"noise_multiplier":20.0}}}}"#;
    let decided = |how: &str, delta: &str, more: &str| {
        let text = format!(
            r#"{{{more}"unit":"row","neighboring":"add-remove","events":[{{"pure":{{"epsilon":0.06}}}},{steps}],"epsilon":3.0,"delta":{delta},"accountant":"{how}","public":[]}}"#
        );
        serde_json::from_str::<Certificate>(&text).unwrap()
    };
    for how in ["rows counted with noise, then tight accounting", "the schema's own cost, then objective"] {
        for (delta, claim) in [("1e-6", guarantee(3.0, 1e-6)), ("0.0", guarantee(3.0, 0.0))] {
            let read = decided(how, delta, "");
            assert_eq!((&read.events, read.guarantee), (&vec![claim.claim()], claim));
            assert_eq!(read.adaptive.len(), 2);
            // An empty list holds nothing apart.
            assert_eq!(decided(how, delta, r#""adaptive":[],"#), read);
            // What is written of it is read as the same.
            let written = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Certificate>(&written).unwrap(), read);
            // Both readers agree.
            assert_eq!(crate::event::read(&written).unwrap().events, read.events);
        }
        // With a version, the events are such as may be composed.
        assert_eq!(decided(how, "1e-6", r#""version":1,"#).events.len(), 2);
    }
    assert_eq!(decided("tight accounting", "1e-6", "").events.len(), 2);
}

#[test]
fn mechanisms_on_other_records_cost_the_larger_or_both() {
    let share = |epsilon| Event::Pure { epsilon: Epsilon::new(epsilon).unwrap() };
    for (relation, whole) in [(Neighboring::AddRemove, 0.5), (Neighboring::ReplaceOne, 0.75)] {
        let own = Certificate::compose(
            "row",
            relation,
            vec![share(0.5)],
            guarantee(0.5, 1e-6),
            "a theorem",
            vec![],
        );
        let both = own.beside(share(0.25), guarantee(0.25, 0.0), "tested").unwrap();
        assert_eq!(both.guarantee, guarantee(whole, 1e-6));
        let parts = vec![Event::Composed { events: vec![share(0.5)] }, share(0.25)];
        assert_eq!(both.events, [Event::Parallel { events: parts }]);
        assert_eq!(both.accountant, "a theorem; tested (parallel composition)");
    }
}

#[test]
fn what_came_first_is_said_and_no_longer_public() {
    let staged = Fact::StagedDivisor(vec![(2, 2.0), (1, 4.0)]);
    let public =
        vec![Fact::Units(5), Fact::Divisor(4.0), staged.clone(), Fact::DeclaredSize(5), Fact::Recipe];
    let none = guarantee(0.0, 0.0);
    let own = Certificate::compose("row", Neighboring::AddRemove, vec![], none, "a theorem", public);
    let schema = guarantee(0.5, 1e-6);
    let whole =
        own.counted().with_schema(&[schema.claim()], schema).unwrap().by_shares().taking(Fact::LearntSchema);
    assert_eq!(whole.public, [Fact::Divisor(4.0), staged, Fact::Recipe, Fact::LearntSchema]);
    assert!(matches!(&whole.public[0], Fact::Decided(fact) if matches!(**fact, Fact::Divisor(_))));
    assert!(matches!(&whole.public[1], Fact::Decided(fact) if matches!(**fact, Fact::StagedDivisor(_))));
    assert_eq!((whole.events, whole.guarantee), (vec![schema.claim()], schema));
    assert_eq!(
        whole.accountant,
        "the schema's own cost, then rows counted with noise, then a theorem; the shares are added, since earlier answers \
         decided later parameters"
    );
}

#[test]
fn what_follows_adds_up() {
    let count = Event::Pure { epsilon: Epsilon::new(0.5).unwrap() };
    let (events, claim) = (vec![count.clone()], guarantee(0.5, 0.0));
    let own = Certificate::compose("row", Neighboring::AddRemove, events, claim, "stated", vec![]);
    let both = own.following(std::slice::from_ref(&count), claim).unwrap();
    assert_eq!((both.events, both.guarantee), (vec![count.clone(), count], guarantee(1.0, 0.0)));
}
