//! Uses are counted the same way however they are written, and nothing costs nothing.

use super::events::*;
use reticent_accounting::rdp::RdpAccountant;
use reticent_accounting::tight::TightAccountant;
use reticent_accounting::{Accountant, CertifiedBounds, CompositionMethod};
use reticent_core::{Event, EventLog, Neighboring};

const USES: u64 = 6;

/// Six uses of an event, written in every way.
fn spellings(event: &Event) -> Vec<(&'static str, Vec<(u64, Event)>)> {
    let one = || event.clone();
    let three = repeated(3, one());
    vec![
        ("singles", vec![(1, one()); USES as usize]),
        ("repeated", vec![(1, repeated(USES, one()))]),
        ("repeated twice over", vec![(1, repeated(2, three.clone()))]),
        ("counted and repeated", vec![(2, three.clone())]),
        ("composed", vec![(1, composed(vec![one(); USES as usize]))]),
        ("composed of composed", vec![(1, composed(vec![composed(vec![one(), one()]); 3]))]),
        ("repeated composed", vec![(1, repeated(2, composed(vec![one(), one(), one()])))]),
        ("all at once", vec![(1, one()), (1, composed(vec![three, one()])), (1, repeated(1, one()))]),
    ]
}

/// Something to compose with, so that long compositions are asked for where few uses would be slow.
fn companion(event: &Event) -> Vec<(u64, Event)> {
    match event {
        Event::PoissonSampled { .. } | Event::TruncatedPoisson { .. } | Event::MixtureOfGaussians { .. } => {
            vec![(20, gaussian(25.0))]
        }
        _ => Vec::new(),
    }
}

fn ask(neighboring: Neighboring, method: CompositionMethod, lists: &[&[(u64, Event)]]) -> CertifiedBounds {
    let mut account = Accountant::new(neighboring, method);
    for (count, event) in lists.iter().copied().flatten() {
        account.compose(event, *count).unwrap();
    }
    account.epsilon(delta(1e-3)).unwrap()
}

#[test]
fn a_count_means_that_many_uses_for_every_event_and_method() {
    for kind in kinds() {
        let beside = companion(&kind.event);
        for method in [
            CompositionMethod::Pld,
            CompositionMethod::Rdp,
            CompositionMethod::Moments,
            CompositionMethod::Basic,
        ] {
            let counted = ask(kind.neighboring, method, &[&beside, &[(USES, kind.event.clone())]]);
            let once = ask(kind.neighboring, method, &[&beside, &[(1, kind.event.clone())]]);
            let what = format!("{} by {method} under {}", name(&kind.event), kind.neighboring);
            assert!(counted.upper > once.upper, "{what}: {counted:?} {once:?}");
            for (way, list) in spellings(&kind.event) {
                let spelled = ask(kind.neighboring, method, &[&beside, &list]);
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.max(b);
                let same = close(spelled.upper, counted.upper) && close(spelled.lower, counted.lower);
                assert!(same, "{what}, {way}: {spelled:?} {counted:?}");
            }
        }
    }
}

/// The two accountants underneath, which take events apart on their own.
#[test]
fn a_count_means_that_many_uses_underneath() {
    for kind in kinds() {
        let mut counted = (RdpAccountant::new(kind.neighboring), TightAccountant::new(kind.neighboring));
        if !matches!(kind.event, Event::Approximate { .. }) {
            counted.0.compose(&kind.event, USES).unwrap();
        }
        let tight = counted.1.compose(&kind.event, USES).is_ok();
        for (way, list) in spellings(&kind.event) {
            let what = format!("{} under {}, {way}", name(&kind.event), kind.neighboring);
            let mut spelled = (RdpAccountant::new(kind.neighboring), TightAccountant::new(kind.neighboring));
            for (count, event) in &list {
                if !matches!(kind.event, Event::Approximate { .. }) {
                    spelled.0.compose(event, *count).unwrap();
                }
                assert_eq!(spelled.1.compose(event, *count).is_ok(), tight, "{what}");
            }
            for order in [1.5, 6.0] {
                let (a, b) = (spelled.0.divergence_up(order), counted.0.divergence_up(order));
                assert!((a - b).abs() <= 1e-12 * b, "{what}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_log_is_its_events_in_sequence() {
    for kind in kinds() {
        let log = EventLog { neighboring: kind.neighboring, events: vec![kind.event.clone(); USES as usize] };
        let text = serde_json::to_string(&log).unwrap();
        let read: EventLog = serde_json::from_str(&text).unwrap();
        assert_eq!(read, log);
        let of_log = Accountant::of_log(&read, CompositionMethod::Rdp).unwrap().epsilon(delta(1e-3)).unwrap();
        let counted = ask(kind.neighboring, CompositionMethod::Rdp, &[&[(USES, kind.event.clone())]]);
        assert_eq!(of_log.upper, counted.upper, "{}", name(&kind.event));
    }
}

#[test]
fn epochs_are_uses() {
    type Epochs = fn(u64) -> Event;
    let pairs: [(Epochs, &str); 2] = [(|n| shuffled(n, 6.0), "shuffled"), (|n| balls(n, 6.0), "balls")];
    for (event, what) in pairs {
        for method in [CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Moments] {
            let inside = ask(Neighboring::AddRemove, method, &[&[(1, event(4))]]).upper;
            let outside = ask(Neighboring::AddRemove, method, &[&[(4, event(1))]]).upper;
            assert!((inside / outside - 1.0).abs() < 1e-12, "{what} by {method}: {inside} {outside}");
        }
    }
}

#[test]
fn repetitions_inside_parts_count() {
    // One part alone is the event itself.
    for method in [CompositionMethod::Rdp, CompositionMethod::Moments] {
        let inside = parallel(vec![repeated(5, gaussian(7.0)), gaussian(7.0)]);
        let one = ask(Neighboring::AddRemove, method, &[&[(1, inside)]]).upper;
        let five = ask(Neighboring::AddRemove, method, &[&[(5, gaussian(7.0))]]).upper;
        assert!((one / five - 1.0).abs() < 1e-9, "{method}: {one} {five}");
    }
    // A record that moves meets both parts.
    let parts = parallel(vec![repeated(5, gaussian(7.0)), gaussian(7.0), gaussian(9.0)]);
    let both = ask(Neighboring::ReplaceOne, CompositionMethod::Rdp, &[&[(1, parts)]]).upper;
    let six = ask(Neighboring::ReplaceOne, CompositionMethod::Rdp, &[&[(6, gaussian(7.0))]]).upper;
    assert!((both / six - 1.0).abs() < 1e-9, "{both} {six}");
}

#[test]
fn nothing_costs_nothing() {
    for method in CompositionMethod::ALL {
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let empty = Accountant::new(neighboring, method);
            assert_eq!(empty.epsilon(delta(1e-6)).unwrap().upper, 0.0, "{method}");
            assert_eq!(empty.delta(epsilon(0.0)).unwrap().upper, 0.0, "{method}");
            assert!(empty.meets(budget(0.0, 1e-9)).unwrap(), "{method}");
        }
        for kind in kinds() {
            let none = [
                (0, kind.event.clone()),
                (1, repeated(0, kind.event.clone())),
                (7, composed(vec![])),
                (0, composed(vec![kind.event.clone(), kind.event.clone()])),
            ];
            for use_of_none in none {
                let answer = account(kind.neighboring, method, &[use_of_none]).epsilon(delta(1e-6)).unwrap();
                assert_eq!((answer.lower, answer.upper), (0.0, 0.0), "{} by {method}", name(&kind.event));
            }
        }
    }
}

/// Events that say nothing about the data.
fn idle(neighboring: Neighboring) -> Vec<Event> {
    let mut idle = vec![
        pure(0.0),
        approximate(0.0, 0.0),
        zcdp(0.0),
        gdp(0.0),
        Event::Exponential { epsilon: epsilon(0.0) },
        response(0.5, 2),
        response(0.25, 4),
        Event::Shuffled { steps_per_epoch: 10, epochs: 0, event: Box::new(gaussian(1.0)) },
        Event::BallsInBins { bins: 10, epochs: 0, event: Box::new(gaussian(1.0)) },
        parallel(vec![]),
        parallel(vec![pure(0.0), gdp(0.0)]),
        composed(vec![]),
        repeated(0, gaussian(0.1)),
        repeated(1000, pure(0.0)),
    ];
    match neighboring {
        Neighboring::AddRemove => idle.extend([
            sampled(0.0, 0.5),
            poisson(0.0, laplace(0.1)),
            poisson(0.5, pure(0.0)),
            poisson(0.5, gdp(0.0)),
            truncated(0.0, 10, 1.0),
            mixture(&[0.0], &[1.0], 1.0),
            mixture(&[0.0, 3.0], &[1.0, 0.0], 1.0),
        ]),
        Neighboring::ReplaceOne => idle.extend([batch(100, 0, gaussian(0.5)), batch(100, 10, pure(0.0))]),
    }
    idle
}

#[test]
fn idle_events_cost_nothing_alone() {
    let mut wrong = Vec::new();
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        for method in CompositionMethod::ALL {
            for event in idle(neighboring) {
                let found = account(neighboring, method, &[(3, event.clone())]).epsilon(delta(1e-6));
                match found {
                    Ok(answer) if answer.lower == 0.0 && answer.upper <= 1e-9 => {}
                    other => wrong.push(format!("{event:?} by {method}: {other:?}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} do:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn idle_events_add_nothing() {
    let lists = [
        (Neighboring::AddRemove, vec![(400, sampled(0.02, 1.5)), (3, laplace(9.0))]),
        (Neighboring::ReplaceOne, vec![(9, gaussian(5.0))]),
        (Neighboring::ReplaceOne, vec![(9, response(0.4, 3)), (2, pure(0.2))]),
    ];
    let mut wrong = Vec::new();
    for (neighboring, list) in lists {
        for method in [
            CompositionMethod::Pld,
            CompositionMethod::Rdp,
            CompositionMethod::Moments,
            CompositionMethod::Advanced,
            CompositionMethod::Basic,
        ] {
            let before = account(neighboring, method, &list).epsilon(delta(1e-5)).unwrap();
            for event in idle(neighboring) {
                let mut with = account(neighboring, method, &list);
                with.compose(&event, 2).unwrap();
                let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.max(b);
                match with.epsilon(delta(1e-5)) {
                    Ok(after) if same(after.upper, before.upper) && same(after.lower, before.lower) => {}
                    other => wrong.push(format!("{event:?} by {method}: {other:?} instead of {before:?}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} do:\n{}", wrong.len(), wrong.join("\n"));
}

/// A sample of everything is no sample.
#[test]
fn a_full_sample_is_the_event_itself() {
    let add = Neighboring::AddRemove;
    for method in
        [CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Moments, CompositionMethod::Basic]
    {
        for event in [gaussian(3.0), laplace(4.0), pure(0.3), gdp(0.4)] {
            let whole = ask(add, method, &[&[(5, event.clone())]]);
            let sample = ask(add, method, &[&[(5, poisson(1.0, event.clone()))]]);
            let close = (whole.upper / sample.upper - 1.0).abs() < 1e-9;
            assert!(close || sample.upper >= whole.lower, "{event:?} by {method}: {whole:?} {sample:?}");
            if method == CompositionMethod::Pld {
                assert!(close, "{event:?}: {whole:?} {sample:?}");
            }
        }
    }
    let whole = ask(Neighboring::ReplaceOne, CompositionMethod::Pld, &[&[(5, gaussian(3.0))]]);
    let sample =
        ask(Neighboring::ReplaceOne, CompositionMethod::Pld, &[&[(5, batch(10, 10, gaussian(3.0)))]]);
    assert!((whole.upper / sample.upper - 1.0).abs() < 1e-9, "{whole:?} {sample:?}");
}
