use super::price::{Price, TrialTerms};
use super::search::Search;
use super::*;
use crate::train::Train;
use crate::{Planned, Request, Session};
use reticent_accounting::rdp::RdpAccountant;
use reticent_accounting::{Accountant, CompositionMethod, Verdict, verify};
use reticent_core::{
    Certificate, Code, Delta, Epsilon, Event, Fact, Guarantee, Ledger, LedgerError, Neighboring,
    NoiseMultiplier, Plan,
};
use reticent_noise::entropy::SeededForTests;
use reticent_noise::sampler::TrialLaw;
use reticent_train::{Clipping, PlanSettings};
use std::sync::{Arc, Mutex};

fn settings(rate: f64, steps: u64) -> PlanSettings {
    PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "row".to_owned(),
        size: 1000,
        sampling_rate: rate,
        steps,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: 100,
        cyclic: None,
        growth: None,
    }
}

fn budget(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

/// The noise of trials with these settings.
fn noise(price: &Price, settings: &PlanSettings) -> f64 {
    price.candidate(settings).unwrap().multiplier
}

/// Theorem 2 of Papernot and Steinke for the geometric law, of a curve, over a grid of orders of so many places up to 200; with the
/// conversion of Canonne, Kamath and Steinke.
fn by_hand(curve: impl Fn(f64) -> f64, places: u32, mean: f64, delta: f64) -> f64 {
    let orders = || (1..places).map(|place| 1.0 + 200.0 * (f64::from(place) / f64::from(places)).powi(2));
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let second = least(&mut orders().map(|hat| (1.0 - 1.0 / hat) * curve(hat) + mean.ln() / hat));
    least(&mut orders().map(|order| {
        let bound = curve(order) + 2.0 * second + mean.ln() / (order - 1.0);
        bound + (1.0 - 1.0 / order).ln() - (delta.ln() + order.ln()) / (order - 1.0)
    }))
}

#[test]
fn a_geometric_search_costs_what_the_theorem_says() {
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 8.0 };
    let price = Price::of(&[settings(1.0, 1)], trials, None, budget(3.0, 1e-6)).unwrap();
    let multiplier = noise(&price, &settings(1.0, 1));
    let exact = by_hand(|order| order / (2.0 * multiplier * multiplier), 40_000, 8.0, 1e-6);
    let stated = price.guarantee.epsilon.get();
    assert!(stated <= 3.0 && stated > 2.999, "{stated}");
    // The grid by hand is coarser than the search over all orders.
    assert!(stated <= exact * (1.0 + 1e-9) && stated >= exact * (1.0 - 1e-3), "{stated} {exact}");
    let Event::RepeatAndSelect { mean, shape, event } = &price.event else { panic!("{:?}", price.event) };
    let noise_multiplier = NoiseMultiplier::new(multiplier).unwrap();
    let step = Box::new(Event::Gaussian { noise_multiplier });
    assert_eq!((*mean, *shape, &**event), (8.0, 1.0, &Event::Repeated { count: 1, event: step }));
}

#[test]
fn the_test_of_a_trial_is_part_of_its_price() {
    for law in [TrialLaw::Geometric, TrialLaw::Logarithmic] {
        let trials = TrialTerms { law, mean: 10.0 };
        let whole = budget(3.0, 1e-6);
        let test = Event::Pure { epsilon: trials.test_epsilon(whole.epsilon).unwrap() };
        let alone = Price::of(&[settings(0.02, 500)], trials, None, whole).unwrap();
        let both = Price::of(&[settings(0.02, 500)], trials, Some(&test), whole).unwrap();
        let [both, alone] = [both, alone].map(|price| noise(&price, &settings(0.02, 500)));
        assert!(both >= alone && both < 1.05 * alone, "{law:?}");
        // A test that has the budget of the whole search leaves nothing.
        let test = Event::Pure { epsilon: whole.epsilon };
        assert!(Price::of(&[settings(0.02, 500)], trials, Some(&test), whole).is_err());
    }
}

#[test]
fn counting_one_trial_is_refuted() {
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 10.0 };
    let price = Price::of(&[settings(0.02, 500)], trials, None, budget(3.0, 1e-6)).unwrap();
    let claimed = |events: Vec<Event>, guarantee| {
        let text = "Rényi divergences";
        verify(&Certificate::compose("row", Neighboring::AddRemove, events, guarantee, text, Vec::new()))
            .unwrap()
    };
    assert!(matches!(claimed(vec![price.event.clone()], price.guarantee), Verdict::Holds(_)));
    // The broken twin states the cost of one trial.
    let Event::RepeatAndSelect { event: trial, .. } = &price.event else { panic!() };
    let one = (1..300).map(|tenth| budget(f64::from(tenth) / 100.0, 1e-6));
    let one =
        { one }.find(|one| matches!(claimed(vec![(**trial).clone()], *one), Verdict::Holds(_))).unwrap();
    assert!(one.epsilon.get() < 0.7 * 3.0, "{one}");
    assert!(!matches!(claimed(vec![price.event], one), Verdict::Holds(_)));
}

/// ε of a search by the Rényi divergences of its event.
fn epsilon_of(event: &Event, delta: f64) -> f64 {
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Rdp);
    account.compose(event, 1).unwrap();
    account.epsilon(Delta::new(delta).unwrap()).unwrap().upper
}

#[test]
fn every_candidate_is_within_the_price() {
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 10.0 };
    // Few large batches with little noise, and many small ones: which of them has the larger divergence depends on the order.
    let candidates = [settings(0.5, 4), settings(0.02, 500), settings(0.02, 1000), settings(0.02, 500)];
    let whole = budget(3.0, 1e-6);
    let test = Event::Pure { epsilon: trials.test_epsilon(whole.epsilon).unwrap() };
    let price = Price::of(&candidates, trials, Some(&test), whole).unwrap();
    let stated = price.guarantee.epsilon.get();
    assert!(stated <= 3.0 && stated > 2.999, "{stated}");
    let Event::RepeatAndSelect { event: trial, .. } = &price.event else { panic!("{:?}", price.event) };
    // Equal candidates are one; the last part is the test.
    let Event::Parallel { events: parts } = &**trial else { panic!("{trial:?}") };
    assert_eq!((parts.len(), parts.last()), (4, Some(&test)));
    let multipliers = candidates.each_ref().map(|own| noise(&price, own));
    assert!(multipliers[2] > multipliers[1] && multipliers[1] == multipliers[3], "{multipliers:?}");
    for own in &candidates {
        let alone = Price::of(std::slice::from_ref(own), trials, Some(&test), whole).unwrap();
        // No candidate has less noise than by itself, nor much more.
        let (less, has) = (noise(&alone, own), noise(&price, own));
        assert!(has >= less * (1.0 - 2e-6) && has < 1.1 * less, "{less} {has}");
    }
    // By hand: the theorem with the largest curve at every order.
    let steps = candidates[..3].iter().map(|own| price.candidate(own).unwrap().event().unwrap());
    let accounts: Vec<RdpAccountant> = steps
        .chain([test])
        .map(|event| {
            let mut account = RdpAccountant::new(Neighboring::AddRemove);
            account.compose(&event, 1).unwrap();
            account
        })
        .collect();
    let largest = |order: f64| accounts.iter().map(|own| own.divergence_up(order)).fold(0.0, f64::max);
    let exact = by_hand(largest, 400, 10.0, whole.delta.get());
    assert!(stated <= exact * (1.0 + 1e-6) && stated >= exact * 0.99, "{stated} {exact}");
}

#[test]
fn the_price_of_the_cheapest_candidate_is_refuted() {
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 10.0 };
    let (short, long) = (settings(0.02, 100), settings(0.02, 2000));
    let (whole, both) = (budget(3.0, 1e-6), [short.clone(), long.clone()]);
    // The broken twin has the noise of the short candidate in all trials.
    let cheap = Price::of(std::slice::from_ref(&short), trials, None, whole).unwrap();
    let step = long.event(NoiseMultiplier::new(noise(&cheap, &short)).unwrap()).unwrap();
    let run = Event::Repeated { count: long.steps, event: Box::new(step) };
    let broken = Event::RepeatAndSelect { mean: 10.0, shape: 1.0, event: Box::new(run) };
    assert!(epsilon_of(&broken, 1e-6) > 2.0 * 3.0);
    let claim = |event: Event| {
        let events = vec![event];
        let text = "Rényi divergences";
        verify(&Certificate::compose("row", Neighboring::AddRemove, events, whole, text, Vec::new())).unwrap()
    };
    assert!(!matches!(claim(broken), Verdict::Holds(_)));
    // A trial is refused by a price that does not know it, and the price of both holds.
    assert!(cheap.candidate(&long).is_none());
    let price = Price::of(&both, trials, None, whole).unwrap();
    assert!(matches!(claim(price.event), Verdict::Holds(_)));
}

#[test]
fn the_prices_of_candidates_by_themselves_are_not_enough() {
    // Candidates whose curves cross: each alone costs the budget, and a search over both costs more.
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 10.0 };
    let both = [settings(1.0, 1), settings(0.01, 4000)];
    let whole = budget(3.0, 1e-6);
    let alone = both.each_ref().map(|own| {
        let price = Price::of(std::slice::from_ref(own), trials, None, whole).unwrap();
        Event::Composed { events: vec![price.candidate(own).unwrap().event().unwrap()] }
    });
    let trial = Event::Parallel { events: alone.to_vec() };
    let broken = Event::RepeatAndSelect { mean: 10.0, shape: 1.0, event: Box::new(trial) };
    assert!(epsilon_of(&broken, 1e-6) > 3.0 + 1e-4, "{}", epsilon_of(&broken, 1e-6));
    let price = Price::of(&both, trials, None, whole).unwrap();
    assert!(epsilon_of(&price.event, 1e-6) <= 3.0);
}

#[test]
fn several_candidates_need_add_remove() {
    let trials = TrialTerms { law: TrialLaw::Geometric, mean: 10.0 };
    let of = |steps| PlanSettings { neighboring: Neighboring::ReplaceOne, ..settings(0.02, steps) };
    Price::of(&[of(10), of(10)], trials, None, budget(3.0, 1e-6)).unwrap();
    let refusal = Price::of(&[of(10), of(20)], trials, None, budget(3.0, 1e-6)).unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Relation, Some("search")));
}

#[test]
fn the_best_of_several_tells_more_than_one_trial() {
    // Trials are randomized responses of ε; the best is 1 if any is. P(best is 0) = E[(1 − p)^K], in closed form.
    let (epsilon, mean): (f64, f64) = (1.0, 10.0);
    let (low, high) = (1.0 / (1.0 + epsilon.exp()), epsilon.exp() / (1.0 + epsilon.exp()));
    let none = |miss: f64| miss / mean / (1.0 - (1.0 - 1.0 / mean) * miss);
    let loss = (none(high) / none(low)).ln();
    // One trial's ε is refuted, and the search's bound holds.
    assert!(loss > 1.4 * epsilon && loss <= 3.0 * epsilon, "{loss}");
}

#[test]
fn searches_are_read_and_mistakes_named() {
    let search = Search::read("lr=0.5..8 log, clip=0.1|0.5|1, optimizer=sgd|adam, warmup=0..10").unwrap();
    assert_eq!(search.keys(), ["learning-rate", "clip", "optimizer", "warmup"]);
    assert_eq!(Search::read(&search.to_text()).unwrap(), search);
    let mut bits = SeededForTests::new(3);
    for _ in 0..200 {
        let drawn = search.draw(&mut bits);
        let rate = drawn["learning-rate"].as_f64().unwrap();
        assert!((0.5..=8.0).contains(&rate) && drawn["warmup"].as_u64().unwrap() <= 10);
        assert!([0.1, 0.5, 1.0].contains(&drawn["clip"].as_f64().unwrap()));
    }
    for (text, part) in [
        ("", "give settings"),
        ("lr", "give settings"),
        ("lr=a..b", "two numbers"),
        ("lr=2..1", "smaller number first"),
        ("lr=0..1 log", "above 0"),
        ("lr=1|x", "give numbers"),
        ("epochs=10..40", "give a list"),
        ("batch_size=10|20.5", "whole numbers"),
        ("steps=0|10", "whole numbers"),
        ("steps=10|20, epochs=1|2", "search one of them"),
        ("epochs=1|2|3|4|5, batch_size=1|2|3|4", "at most 16"),
        ("epsilon=1|2", "belongs to the whole search"),
        ("lr=1..2, learning-rate=3", "twice"),
        ("color=red", "cannot be searched"),
    ] {
        let refusal = Search::read(text).unwrap_err();
        assert_eq!(refusal.field(), Some("search"), "{text}");
        assert!(refusal.to_string().contains(part), "{text}: {refusal}");
    }
}

fn train() -> Train {
    Train {
        model: Some("mlp".to_owned()),
        epsilon: Some(3.0),
        delta: Some(1e-6),
        steps: Some(2),
        batch_size: Some(64),
        threads: Some(1),
        ..Train::default()
    }
}

fn tune(train: Train) -> Tune {
    Tune { train, search: "lr=0.1..1 log, clip=0.5|1".to_owned(), trials: Some(3.0), ..Tune::default() }
}

#[test]
fn requests_are_checked_before_anything_is_charged() {
    tune(train()).check().unwrap();
    for (bad, field) in [
        (tune(Train { epsilon: None, noise_multiplier: Some(1.0), ..train() }), "noise_multiplier"),
        (tune(Train { non_private: Some(true), ..train() }), "non_private"),
        (Tune { trials: Some(0.5), ..tune(train()) }, "trials"),
        (Tune { trials_distribution: Some("poison".to_owned()), ..tune(train()) }, "trials_distribution"),
        (Tune { select_on: Some("test".to_owned()), ..tune(train()) }, "select_on"),
        (Tune { select_on: Some("validation".to_owned()), ..tune(train()) }, "select_on"),
        (tune(Train { neighboring: Some("replace-one".to_owned()), ..train() }), "held_out"),
        (Tune { search: "clip=0|1".to_owned(), ..tune(train()) }, "clip"),
        (Tune { search: "optimizer=sgd|adma".to_owned(), ..tune(train()) }, "optimizer"),
    ] {
        assert_eq!(bad.check().unwrap_err().field(), Some(field));
    }
}

/// A ledger that keeps what was charged where the test sees it.
struct Kept(Arc<Mutex<Vec<Plan>>>);

impl Ledger for Kept {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        self.0.lock().unwrap().push(plan.clone());
        Ok(())
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(Neighboring::AddRemove)
    }
}

#[test]
fn a_search_pays_once_and_stores_only_its_best() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("best");
    let request = tune(Train { out: Some(folder.clone()), ..train() });
    let charged = Arc::new(Mutex::new(Vec::new()));
    let mut session =
        Session::new("census", "row", Neighboring::AddRemove, Box::new(Kept(charged.clone()))).unwrap();
    let tuned = request.check().unwrap().run(&mut session).unwrap();
    // One plan: the count, and the claim that the whole search is held to.
    let plans = charged.lock().unwrap();
    assert_eq!(plans.len(), 1);
    let share = plans[0].events().last().unwrap();
    assert!(matches!(share, Event::Approximate { epsilon, .. } if epsilon.get() <= 3.0), "{share:?}");
    assert!(matches!(verify(&tuned.certificate).unwrap(), Verdict::Holds(_)));
    assert!(tuned.certificate.guarantee.epsilon.get() <= 3.0);
    assert!(matches!(tuned.certificate.adaptive[..], [Event::RepeatAndSelect { mean: 3.0, .. }]));
    assert_eq!(tuned.chosen.keys().collect::<Vec<_>>(), ["clip", "learning-rate"]);
    // Files of one model, without metrics, checkpoints or anything else of a trial.
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "certificate.json",
        "fingerprint.json",
        "ledger.json",
        "model.json",
        "model.safetensors",
        "model.toml",
        "run.lock",
        "run.toml",
        "schema.toml",
        "tuned.json",
    ];
    assert_eq!(names, expected);
    let text = std::fs::read_to_string(folder.join("tuned.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = stored.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["chosen", "distribution", "held_out", "search", "select_on", "trials"]);
    // The run repeats one trial; it does not go on.
    let run = Train::read(&folder.join("run.toml")).unwrap();
    assert!(run.epsilon.is_none() && run.noise_multiplier == Some(tuned.noise_multiplier));
    let refusal = crate::train::Resume::new(folder.clone()).check().unwrap_err();
    assert_eq!(refusal.code(), Code::NoModel, "{refusal}");
    crate::train::verify(&folder).unwrap();
}

#[test]
fn a_search_over_what_a_trial_costs_states_every_candidate() {
    let request = Tune {
        search: "steps=1|2, batch_size=32|64, lr=0.1|0.2".to_owned(),
        ..tune(Train { dataset_size: Some(20_000), steps: None, epochs: Some(1.0), ..train() })
    };
    let tuned = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    let [Event::RepeatAndSelect { event: trial, .. }] = &tuned.certificate.events[..] else {
        panic!("{:?}", tuned.certificate.events)
    };
    // Four candidates and the test.
    assert!(matches!(&**trial, Event::Parallel { events } if events.len() == 5), "{trial:?}");
    let is_told = |fact: &Fact| matches!(fact, Fact::Other(text) if text.contains("one of 4 candidates"));
    assert!(tuned.certificate.public.iter().any(is_told));
    assert!(matches!(verify(&tuned.certificate).unwrap(), Verdict::Holds(_)));
    assert!(tuned.certificate.guarantee.epsilon.get() <= 3.0);
    assert_eq!(tuned.chosen["steps"].as_u64(), Some(tuned.steps));
    assert_eq!(tuned.chosen["batch-size"].as_u64(), Some(tuned.batch_size));
    let large = Tune { search: "batch_size=64|30000".to_owned(), ..request };
    assert_eq!(large.check().unwrap_err().field(), Some("batch_size"));
}

#[test]
fn a_declared_size_states_the_event_of_the_search() {
    let request = Tune {
        trials_distribution: Some("logarithmic".to_owned()),
        search: "model=mlp, lr=0.1|0.2".to_owned(),
        ..tune(Train { dataset_size: Some(20_000), ..train() })
    };
    let tuned = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    assert!(matches!(tuned.certificate.events[..], [Event::RepeatAndSelect { mean: 3.0, shape: 0.0, .. }]));
    assert!(matches!(verify(&tuned.certificate).unwrap(), Verdict::Holds(_)));
    assert!(tuned.certificate.guarantee.epsilon.get() <= 3.0);
}
