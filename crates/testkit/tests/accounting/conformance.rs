//! What holds for every method, over lists of every kind.

use super::events::*;
use reticent_accounting::{Accountant, CertifiedBounds, CompositionMethod};
use reticent_core::{Event, Neighboring};
use std::collections::BTreeSet;

const DELTA: f64 = 1e-5;

/// The methods that find δ at once. The others search for it, with all claims at every step.
const DIRECT: [CompositionMethod; 3] =
    [CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Moments];

fn answer(plan: &Plan, method: CompositionMethod, d: f64) -> CertifiedBounds {
    let answer = account(plan.neighboring, method, &plan.list).epsilon(delta(d));
    answer.unwrap_or_else(|error| panic!("{} by {method}: {error}", plan.name))
}

fn sound(answer: CertifiedBounds) -> bool {
    answer.lower >= 0.0 && answer.lower <= answer.upper && answer.upper.is_finite()
}

/// `a` is not above `b`, but for rounding.
fn at_most(a: f64, b: f64) -> bool {
    a <= b * (1.0 + 1e-9) + 1e-12
}

#[test]
fn the_table_has_every_kind_of_event() {
    let names: BTreeSet<&str> = kinds().iter().map(|kind| name(&kind.event)).collect();
    assert_eq!(names.len(), KINDS, "{names:?}");
}

#[test]
fn no_claim_is_below_what_another_method_proves_from_below() {
    for plan in plans() {
        let answers = CompositionMethod::ALL.map(|method| answer(&plan, method, DELTA));
        for one in answers {
            assert!(sound(one), "{}: {one:?}", plan.name);
            for other in answers {
                assert!(one.upper >= other.lower, "{}: {one:?} {other:?}", plan.name);
            }
        }
    }
}

#[test]
fn methods_stand_in_their_order() {
    for plan in plans() {
        let upper = |method| answer(&plan, method, DELTA).upper;
        for chain in [
            &[CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Moments][..],
            &[
                CompositionMethod::Pld,
                CompositionMethod::Optimal,
                CompositionMethod::Advanced,
                CompositionMethod::Basic,
            ][..],
        ] {
            for pair in chain.windows(2) {
                let (better, worse) = (upper(pair[0]), upper(pair[1]));
                assert!(
                    at_most(better, worse),
                    "{}: {} gives {better}, {} {worse}",
                    plan.name,
                    pair[0],
                    pair[1]
                );
            }
        }
    }
}

#[test]
fn deltas_stand_in_their_order_too() {
    for plan in plans() {
        let [pld, rdp, moments] = DIRECT.map(|method| {
            let found = account(plan.neighboring, method, &plan.list).delta(epsilon(1.0)).unwrap();
            assert!(sound(found) && found.upper <= 1.0, "{}: {found:?}", plan.name);
            found
        });
        assert!(at_most(pld.upper, rdp.upper) && at_most(rdp.upper, moments.upper), "{}: {pld:?}", plan.name);
        assert!(rdp.lower <= pld.upper && pld.lower <= rdp.upper, "{}: {pld:?} {rdp:?}", plan.name);
    }
}

#[test]
fn epsilon_falls_as_delta_grows() {
    for plan in plans() {
        for method in CompositionMethod::ALL {
            let mut last: Option<CertifiedBounds> = None;
            for d in [1e-7, 1e-5, 1e-2] {
                let here = answer(&plan, method, d);
                if let Some(last) = last {
                    let fine = here.upper <= last.upper * (1.0 + 1e-9) && here.lower <= last.upper;
                    assert!(fine, "{} by {method} at {d}: {here:?} after {last:?}", plan.name);
                }
                last = Some(here);
            }
        }
    }
}

#[test]
fn delta_falls_as_epsilon_grows() {
    for plan in plans() {
        for method in DIRECT {
            let account = account(plan.neighboring, method, &plan.list);
            let mut last =
                CertifiedBounds { lower: 1.0, upper: 1.0, ..answer(&plan, CompositionMethod::Rdp, DELTA) };
            for e in [0.0, 0.3, 1.0, 4.0] {
                let here = account.delta(epsilon(e)).unwrap();
                let fine = sound(here) && here.upper <= last.upper * (1.0 + 1e-9) && here.lower <= last.upper;
                assert!(fine, "{} by {method} at {e}: {here:?} after {last:?}", plan.name);
                last = here;
            }
        }
    }
}

/// What a method claims at δ it also claims the other way round.
#[test]
fn epsilon_and_delta_say_the_same() {
    for plan in plans() {
        for method in DIRECT {
            let account = account(plan.neighboring, method, &plan.list);
            for d in [1e-4, 1e-7] {
                let there = account.epsilon(delta(d)).unwrap();
                let back = account.delta(epsilon(there.upper)).unwrap();
                let fine = back.upper <= d * (1.0 + 1e-6);
                assert!(fine, "{} by {method} at {d}: {there:?} and back {back:?}", plan.name);
                assert!(account.meets(budget(there.upper * (1.0 + 1e-9), d * (1.0 + 1e-6))).unwrap());
            }
        }
    }
}

#[test]
fn the_older_theorems_say_the_same_both_ways() {
    let cheap =
        ["one gaussian", "laplaces", "responses", "pure claims", "unequal claims", "concentrated claims"];
    for plan in plans().iter().filter(|plan| cheap.contains(&plan.name)) {
        for method in [CompositionMethod::Optimal, CompositionMethod::Advanced, CompositionMethod::Basic] {
            let account = account(plan.neighboring, method, &plan.list);
            let there = account.epsilon(delta(DELTA)).unwrap();
            let back = account.delta(epsilon(there.upper)).unwrap();
            assert!(back.upper <= DELTA * (1.0 + 1e-6), "{} by {method}: {there:?} {back:?}", plan.name);
            assert!(account.meets(budget(there.upper, DELTA)).unwrap(), "{} by {method}", plan.name);
        }
    }
}

/// A family of events with one number that makes it cost more.
type Family = (&'static str, Neighboring, u64, fn(f64) -> Event, [f64; 3]);

/// Each with numbers from the least to the most costly.
const FAMILIES: &[Family] = &[
    ("gaussian noise", Neighboring::AddRemove, 3, gaussian, [9.0, 6.0, 2.0]),
    ("laplace noise", Neighboring::AddRemove, 3, laplace, [30.0, 20.0, 2.0]),
    ("noise on samples", Neighboring::AddRemove, 1000, |z| sampled(0.02, z), [4.0, 2.5, 0.9]),
    ("laplace on samples", Neighboring::AddRemove, 400, |z| poisson(0.05, laplace(z)), [4.0, 2.5, 1.0]),
    ("noise on batches", Neighboring::ReplaceOne, 500, |z| batch(1000, 10, gaussian(z)), [8.0, 5.0, 3.0]),
    ("noise on cut samples", Neighboring::AddRemove, 300, |z| truncated(0.02, 140, z), [4.0, 2.5, 1.5]),
    ("noise on shuffled batches", Neighboring::AddRemove, 2, |z| shuffled(1, z), [6.0, 4.0, 1.0]),
    ("noise on trees", Neighboring::AddRemove, 1, |z| tree(z, 60), [20.0, 12.0, 3.0]),
    (
        "noise on groups",
        Neighboring::AddRemove,
        400,
        |z| mixture(&[0.0, 1.0, 2.0], &[0.96, 0.03, 0.01], z),
        [6.0, 4.0, 2.0],
    ),
    ("noise on runs", Neighboring::AddRemove, 2, |z| select(4.0, 1.0, gaussian(z)), [20.0, 12.0, 4.0]),
    ("sampling rate", Neighboring::AddRemove, 1000, |q| sampled(q, 1.5), [0.002, 0.01, 0.1]),
    (
        "sampling rate of pure events",
        Neighboring::AddRemove,
        100,
        |q| poisson(q, pure(0.5)),
        [0.01, 0.1, 0.5],
    ),
    ("cut rate", Neighboring::AddRemove, 300, |q| truncated(q, 140, 2.0), [0.01, 0.015, 0.02]),
    ("batch size", Neighboring::ReplaceOne, 500, |b| batch(1000, b as u64, gaussian(5.0)), [4.0, 10.0, 40.0]),
    ("pure claims", Neighboring::AddRemove, 20, pure, [0.01, 0.1, 0.4]),
    ("concentrated claims", Neighboring::AddRemove, 3, zcdp, [1e-4, 1e-3, 0.1]),
    ("gaussian claims", Neighboring::AddRemove, 3, gdp, [0.02, 0.1, 1.0]),
    ("responses", Neighboring::ReplaceOne, 10, |keep| response(keep, 5), [0.21, 0.3, 0.6]),
    ("runs", Neighboring::AddRemove, 1, |mean| select(mean, 0.5, gaussian(8.0)), [1.0, 2.0, 20.0]),
    ("length of a stream", Neighboring::AddRemove, 1, |n| tree(8.0, n as u64), [1.0, 15.0, 500.0]),
];

fn tree(z: f64, steps: u64) -> Event {
    Event::TreeAggregation { noise_multiplier: multiplier(z), steps }
}

#[test]
fn every_parameter_moves_epsilon_its_own_way() {
    for (what, neighboring, count, event, costs) in FAMILIES {
        for method in CompositionMethod::ALL {
            let found = costs.map(|cost| {
                let list = [(*count, event(cost))];
                account(*neighboring, method, &list).epsilon(delta(DELTA)).unwrap()
            });
            for pair in found.windows(2) {
                let fine =
                    sound(pair[0]) && pair[0].lower <= pair[1].upper && at_most(pair[0].upper, pair[1].upper);
                assert!(fine, "{what} by {method}: {pair:?}");
            }
            assert!(found[0].upper < found[2].upper, "{what} by {method}: {found:?}");
        }
    }
}

#[test]
fn more_uses_never_cost_less() {
    for kind in kinds() {
        for method in [CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Basic] {
            let mut last = 0.0;
            for count in [1, 40, 1000] {
                let list = [(count, kind.event.clone())];
                let Ok(here) = account(kind.neighboring, method, &list).epsilon(delta(0.01)) else {
                    // No claim holds for so many of these.
                    assert!(count > 40, "{} x {count} by {method}", name(&kind.event));
                    break;
                };
                let fine = sound(here) && here.upper >= last;
                assert!(fine, "{} x {count} by {method}: {here:?} after {last}", name(&kind.event));
                last = here.upper;
            }
        }
    }
}

#[test]
fn one_more_event_never_costs_less() {
    let plans = plans();
    let extra = [gaussian(40.0), laplace(60.0), sampled(0.01, 3.0), pure(0.001), approximate(0.001, 1e-9)];
    for plan in plans.iter().filter(|plan| plan.neighboring == Neighboring::AddRemove) {
        for method in [CompositionMethod::Pld, CompositionMethod::Rdp, CompositionMethod::Advanced] {
            let before = answer(plan, method, DELTA);
            for event in &extra {
                let mut more = account(plan.neighboring, method, &plan.list);
                more.compose(event, 1).unwrap();
                let after = more.epsilon(delta(DELTA)).unwrap();
                let fine = sound(after) && at_most(before.upper, after.upper) && before.lower <= after.upper;
                assert!(fine, "{} by {method} and {}: {before:?} {after:?}", plan.name, name(event));
            }
        }
    }
}

#[test]
fn the_order_of_events_does_not_matter() {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.max(b);
    for plan in plans().iter().filter(|plan| plan.list.len() > 1) {
        for method in CompositionMethod::ALL {
            let straight = answer(plan, method, DELTA);
            let mut list = plan.list.clone();
            list.reverse();
            let reversed = account(plan.neighboring, method, &list).epsilon(delta(DELTA)).unwrap();
            assert!(
                close(straight.upper, reversed.upper) && close(straight.lower, reversed.lower),
                "{} by {method}: {straight:?} {reversed:?}",
                plan.name
            );
        }
    }
}

#[test]
fn threads_do_not_change_answers() {
    let plans = plans();
    let quick: Vec<&Plan> = plans.iter().filter(|plan| plan.name != "balls").collect();
    let all = |_| -> Vec<(CertifiedBounds, CertifiedBounds)> {
        let ask = |account: &Accountant| {
            (account.epsilon(delta(DELTA)).unwrap(), account.delta(epsilon(1.0)).unwrap())
        };
        quick.iter().map(|plan| ask(&account(plan.neighboring, CompositionMethod::Pld, &plan.list))).collect()
    };
    let alone = all(0);
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|index| scope.spawn(move || all(index))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(together.iter().all(|answers| *answers == alone));
    // One account asked from several threads at once.
    let shared = account(
        Neighboring::AddRemove,
        CompositionMethod::Pld,
        &[(700, sampled(0.02, 1.3)), (4, laplace(9.0))],
    );
    let expected = shared.epsilon(delta(DELTA)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(shared.epsilon(delta(DELTA)).unwrap(), expected));
        }
    });
}
