use super::*;
use reticent_core::{
    Certificate, Delta, Epsilon, Event, EventLog, Guarantee, Neighboring, NoiseMultiplier, SamplingRate,
};

fn training() -> TrainingShorthand {
    TrainingShorthand {
        noise_multiplier: Some(1.0),
        sampling_rate: Some(0.01),
        steps: Some(1000),
        ..TrainingShorthand::default()
    }
}

fn asked(question: AccountQuestion) -> Account {
    Account::new(question, Activity::Training(training()))
}

fn refused(account: &Account) -> (Code, Option<String>) {
    let refusal = account.answer().unwrap_err();
    (refusal.code(), refusal.field().map(str::to_owned))
}

fn every_question() -> Vec<AccountQuestion> {
    let budget = PrivacyTarget { epsilon: 1.0, delta: 1e-5 };
    vec![
        AccountQuestion::Epsilon { delta: 1e-5, width: Some(0.01) },
        AccountQuestion::Delta { epsilon: 1.0, width: None },
        AccountQuestion::Noise(budget),
        AccountQuestion::Steps(budget),
        AccountQuestion::Rate(budget),
        AccountQuestion::Rdp { orders: vec![1.0, 8.0, f64::INFINITY], delta: None },
        AccountQuestion::Tradeoff { fpr: vec![0.01], drawn: true },
        AccountQuestion::Group { size: 2, delta: Some(1e-5) },
        AccountQuestion::Outcome { probability: 0.1, delta: None },
        AccountQuestion::Posterior {
            prior: vec![0.5],
            epsilon: None,
            delta: Some(1e-5),
            orders: vec![],
            drawn: true,
        },
        AccountQuestion::Posterior {
            prior: vec![0.5],
            epsilon: Some(vec![1.0]),
            delta: None,
            orders: vec![],
            drawn: false,
        },
        AccountQuestion::Compare { delta: 1e-5, curves: false },
        AccountQuestion::Statement { delta: 1e-5, unit: Some("user".to_owned()) },
    ]
}

#[test]
fn requests_come_back_from_json() {
    for question in every_question() {
        let account = Account { accountant: Some(CompositionMethod::Pld), ..asked(question) };
        let text = serde_json::to_string(&account).unwrap();
        assert_eq!(serde_json::from_str::<Account>(&text).unwrap(), account, "{text}");
    }
    let short =
        r#"{"question": {"epsilon": {"delta": 1e-6}}, "happened": {"training": {"noise_multiplier": 1.0}}}"#;
    let account: Account = serde_json::from_str(short).unwrap();
    assert!(account.answer().is_ok());
    for wrong in [
        r#"{"question": {"epsilon": {"delta": 1e-6, "epsilon": 1}}}"#,
        r#"{"question": {"epsilon": {"delta": 1e-6}}, "accountant": "none"}"#,
        r#"{"question": {"rdp": {"orders": ["-inf"]}}}"#,
    ] {
        assert!(serde_json::from_str::<Account>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_that_flags_cannot_carry_are_refused() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let budget = PrivacyTarget { epsilon: 1.0, delta: odd };
        for (question, field) in [
            (AccountQuestion::Epsilon { delta: odd, width: None }, "delta"),
            (AccountQuestion::Epsilon { delta: 1e-5, width: Some(odd) }, "width"),
            (AccountQuestion::Delta { epsilon: odd, width: None }, "epsilon"),
            (AccountQuestion::Noise(budget), "delta"),
            (AccountQuestion::Steps(PrivacyTarget { epsilon: odd, delta: 1e-5 }), "epsilon"),
            (AccountQuestion::Rdp { orders: vec![-odd.abs()], delta: None }, "orders"),
            (AccountQuestion::Rdp { orders: vec![], delta: Some(odd) }, "delta"),
            (AccountQuestion::Tradeoff { fpr: vec![odd], drawn: false }, "fpr"),
            (AccountQuestion::Group { size: 2, delta: Some(odd) }, "delta"),
            (AccountQuestion::Outcome { probability: odd, delta: None }, "probability"),
            (
                AccountQuestion::Posterior {
                    prior: vec![odd],
                    epsilon: None,
                    delta: None,
                    orders: vec![],
                    drawn: false,
                },
                "prior",
            ),
            (AccountQuestion::Compare { delta: odd, curves: true }, "delta"),
            (AccountQuestion::Statement { delta: odd, unit: None }, "delta"),
        ] {
            let (_, found) = refused(&asked(question.clone()));
            assert_eq!(found.as_deref(), Some(field), "{question:?}");
        }
        let claims = AccountQuestion::Posterior {
            prior: vec![0.5],
            epsilon: Some(vec![odd]),
            delta: None,
            orders: vec![],
            drawn: false,
        };
        let account = Account { happened: None, ..asked(claims) };
        assert_eq!(refused(&account), (Code::Range, Some("epsilon".to_owned())));
        for (training, field) in [
            (TrainingShorthand { noise_multiplier: Some(odd), ..training() }, "noise_multiplier"),
            (TrainingShorthand { sampling_rate: Some(odd), ..training() }, "sampling_rate"),
            (TrainingShorthand { steps: None, epochs: Some(odd), ..training() }, "epochs"),
        ] {
            let question = AccountQuestion::Epsilon { delta: 1e-5, width: None };
            let account = Account::new(question, Activity::Training(training));
            assert_eq!(refused(&account), (Code::Range, Some(field.to_owned())));
        }
    }
}

#[test]
fn what_is_left_out_or_given_twice_is_named() {
    let epsilon = AccountQuestion::Epsilon { delta: 1e-5, width: None };
    let nothing = Account { happened: None, ..asked(epsilon.clone()) };
    assert_eq!(refused(&nothing), (Code::Missing, Some("events".to_owned())));
    let silent = Account::new(epsilon, Activity::Training(TrainingShorthand::default()));
    assert_eq!(refused(&silent), (Code::Missing, Some("noise_multiplier".to_owned())));
    for (question, field) in [
        (AccountQuestion::Rdp { orders: vec![], delta: None }, "orders"),
        (AccountQuestion::Tradeoff { fpr: vec![], drawn: false }, "fpr"),
        (
            AccountQuestion::Posterior {
                prior: vec![],
                epsilon: None,
                delta: None,
                orders: vec![],
                drawn: false,
            },
            "prior",
        ),
        (
            AccountQuestion::Posterior {
                prior: vec![0.5],
                epsilon: None,
                delta: None,
                orders: vec![],
                drawn: false,
            },
            "delta",
        ),
    ] {
        assert_eq!(refused(&asked(question)), (Code::Missing, Some(field.to_owned())));
    }
    let both = AccountQuestion::Posterior {
        prior: vec![0.5],
        epsilon: Some(vec![1.0]),
        delta: None,
        orders: vec![],
        drawn: false,
    };
    assert_eq!(refused(&asked(both)), (Code::Conflict, Some("epsilon".to_owned())));
    let budget = PrivacyTarget { epsilon: 1.0, delta: 1e-5 };
    for (question, field) in [
        (AccountQuestion::Noise(budget), "noise_multiplier"),
        (AccountQuestion::Steps(budget), "steps"),
        (AccountQuestion::Rate(budget), "sampling_rate"),
    ] {
        assert_eq!(refused(&asked(question)), (Code::Conflict, Some(field.to_owned())));
    }
    let compare = Account {
        accountant: Some(CompositionMethod::Rdp),
        ..asked(AccountQuestion::Compare { delta: 1e-5, curves: false })
    };
    assert_eq!(refused(&compare), (Code::Conflict, Some("accountant".to_owned())));
}

#[test]
fn a_refusal_of_events_names_their_file() {
    let log = EventLog { neighboring: Neighboring::AddRemove, events: Vec::new() };
    let events = Events { log, unit: None, file: Some("run.json".to_owned()) };
    let account = Account::new(
        AccountQuestion::Noise(PrivacyTarget { epsilon: 1.0, delta: 1e-5 }),
        Activity::Events(events),
    );
    let text = account.answer().unwrap_err().to_string();
    assert!(text.starts_with("`events` run.json: no event has a noise multiplier to find"), "{text}");
}

#[test]
fn the_json_of_an_answer_is_that_of_its_numbers() {
    let event = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(4.0).unwrap() };
    let log = EventLog { neighboring: Neighboring::ReplaceOne, events: vec![event] };
    let events = Events { log, unit: Some("patient".to_owned()), file: None };
    let question = AccountQuestion::Statement { delta: 1e-6, unit: None };
    let answered = Account::new(question, Activity::Events(events)).answer().unwrap();
    let json = serde_json::to_value(&answered).unwrap();
    let names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["statement", "epsilon", "lower", "upper", "delta", "accountant", "neighboring", "unit"];
    assert!(expected.iter().all(|name| names.contains(name)) && names.len() == expected.len(), "{json}");
    assert_eq!((json["unit"].as_str(), json["accountant"].as_str()), (Some("patient"), Some("pld")));
    assert_eq!(answered.happened.unwrap().words(), "gaussian 4");
}

#[test]
fn a_training_is_read_from_its_certificate() {
    let noise_multiplier = NoiseMultiplier::new(1.5).unwrap();
    let rate = SamplingRate::new(0.25).unwrap();
    let gaussian = Box::new(Event::Gaussian { noise_multiplier });
    let step = Event::PoissonSampled { rate, event: gaussian };
    let steps = Event::Repeated { count: 40, event: Box::new(step) };
    let guarantee = Guarantee { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let certified = |neighboring, events| {
        Certificate::compose("row", neighboring, events, guarantee, "tight accounting", Vec::new())
    };
    let found = TrainingShorthand::of(&certified(Neighboring::AddRemove, vec![steps.clone()])).unwrap();
    assert_eq!((found.noise_multiplier, found.sampling_rate, found.steps), (Some(1.5), Some(0.25), Some(40)));
    let count = Event::Pure { epsilon: Epsilon::new(0.1).unwrap() };
    assert_eq!(TrainingShorthand::of(&certified(Neighboring::AddRemove, vec![steps.clone(), count])), None);
    assert_eq!(TrainingShorthand::of(&certified(Neighboring::ReplaceOne, vec![steps])), None);
}

#[test]
fn shuffled_batches_inside_other_events_are_warned_of() {
    let noise_multiplier = NoiseMultiplier::new(2.0).unwrap();
    let shuffled = Event::Shuffled {
        steps_per_epoch: 10,
        epochs: 1,
        event: Box::new(Event::Gaussian { noise_multiplier }),
    };
    let events = vec![Event::Parallel { events: vec![Event::Composed { events: vec![shuffled] }] }];
    let log = EventLog { neighboring: Neighboring::AddRemove, events };
    let happened = Activity::Events(Events { log, unit: None, file: None });
    let question = AccountQuestion::Epsilon { delta: 1e-5, width: None };
    let answered = Account::new(question, happened).answer().unwrap();
    assert!(answered.warnings.iter().any(|warning| matches!(warning, Warning::Shuffled { .. })));
}
