use super::*;
use crate::rdp::{RdpAccountant, odds_moment_up};
use crate::{Accountant, CompositionMethod};
use reticent_core::{Event, Neighboring, Order};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn budget(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: self::epsilon(epsilon), delta: Delta::new(delta).unwrap() }
}

fn descent(lipschitz: f64, records: u64, steps: u64) -> ProjectedSgd {
    ProjectedSgd { lipschitz: Scale::new(lipschitz).unwrap(), records, steps }
}

#[test]
fn one_record_in_full_is_the_distance_of_two_uniform_laws() {
    for records in [2, 3, 1000, u64::MAX] {
        let found = random_record(records).unwrap();
        assert_eq!(found.epsilon.get(), 0.0);
        // Half the sum of |1/n − 0| for the old record and |0 − 1/n| for the new one.
        let exact = 1.0 / records as f64;
        assert!(found.delta.get() >= exact && found.delta.get() <= exact * (1.0 + 1e-15), "{records}");
    }
    assert!(random_record(0).is_err() && random_record(1).is_err());
}

#[test]
fn the_outcome_of_a_composition_agrees_with_high_precision() {
    let found =
        |e: f64, n, q: f64| composed_outcome_up(epsilon(e), n, Probability::new(q).unwrap()).unwrap().get();
    for (e, n, q, exact) in
        [(0.01, 1000, 1e-6, 1.049_383_561_500_519_4e-5), (0.1, 50, 1e-3, 0.041_137_585_343_138_91)]
    {
        let found = found(e, n, q);
        assert!(found >= exact * (1.0 - 1e-15) && found < exact * (1.0 + 1e-12), "{found}");
    }
    assert_eq!((found(1.0, 10, 0.5), found(1.0, 10, 0.0), found(0.0, 10, 0.25)), (1.0, 0.0, 0.25));
}

#[test]
fn no_test_on_randomized_answers_beats_the_outcome_bound() {
    // n answers, each true with probability e^ε/(1 + e^ε): outcomes "at least j true" under either data set.
    for (e, n) in [(0.1f64, 60usize), (0.5, 20), (2.0, 6)] {
        let kept = e.exp() / (1.0 + e.exp());
        let tail = |p: f64, j: usize| {
            let mut law = vec![1.0];
            for _ in 0..n {
                let mut next = vec![0.0; law.len() + 1];
                for (k, mass) in law.iter().enumerate() {
                    next[k] += mass * (1.0 - p);
                    next[k + 1] += mass * p;
                }
                law = next;
            }
            law[j..].iter().sum::<f64>()
        };
        for j in 1..=n {
            let (q, p) = (tail(1.0 - kept, j), tail(kept, j));
            let bound =
                composed_outcome_up(epsilon(e), n as u64, Probability::new(q.min(1.0)).unwrap()).unwrap();
            assert!(p <= bound.get() * (1.0 + 1e-12), "ε = {e}, {j} of {n}: {p} above {bound}");
        }
    }
}

#[test]
fn the_noise_of_projected_descent_agrees_with_high_precision() {
    for (descent, budget, exact) in [
        (descent(1.0, 1000, 1_000_000), budget(1.0, 1e-5), 245.811_493_864_895_85),
        (descent(1.0, 1000, 2561), budget(1.0, 1e-5), 10.343_611_051_707_361),
        (descent(2.0, 50_000, 100_000_000), budget(0.25, 1e-7), 520.977_185_653_047_9),
    ] {
        let sigma = descent.sigma_up(budget).unwrap().get();
        assert!(sigma >= exact * (1.0 - 1e-15) && sigma < exact * (1.0 + 1e-12), "{sigma} for {exact}");
    }
}

#[test]
fn the_accountant_certifies_the_noise_of_projected_descent() {
    for (records, least, e, d) in [(1000, 2561, 1.0, 1e-5), (100, 8, 0.5, 1e-4)] {
        for steps in [least, 10 * least] {
            let sigma = descent(1.0, records, steps).sigma_up(budget(e, d)).unwrap().get();
            let step = format!(
                r#"{{"sampled_without_replacement": {{"dataset_size": {records}, "batch_size": 1,
                   "event": {{"gaussian": {{"noise_multiplier": {}}}}}}}}}"#,
                sigma / 2.0
            );
            let step: Event = serde_json::from_str(&step).unwrap();
            let mut account = Accountant::new(Neighboring::ReplaceOne, CompositionMethod::Pld);
            account.compose(&step, steps).unwrap();
            let found = account.epsilon(Delta::new(d).unwrap()).unwrap().upper;
            assert!(found <= e, "n = {records}, T = {steps}: {found} above {e}");
        }
    }
}

#[test]
fn projected_descent_is_refused_outside_its_range() {
    let refused = |descent: ProjectedSgd, budget| descent.sigma_up(budget).unwrap_err().to_string();
    assert!(refused(descent(1.0, 1000, 2560), budget(1.0, 1e-5)).contains("at least 2561 steps"));
    assert!(refused(descent(1.0, 1000, 1_000_000), budget(1.01, 1e-5)).contains("at most 1"));
    assert!(refused(descent(1.0, 1000, 1_000_000), budget(1.0, 0.0)).contains("delta"));
    assert!(refused(descent(1.0, 1000, 1_000_000), budget(0.0, 1e-5)).contains("epsilon"));
    assert!(refused(descent(1.0, 1, 10), budget(1.0, 1e-5)).contains("dataset_size"));
    // nδ/(2T) = 2.5.
    assert!(refused(descent(1.0, 1_000_000, 100_000), budget(1e-6, 0.5)).contains("would reach 1"));
}

#[test]
fn moments_of_the_odds_are_those_of_randomized_response() {
    let event: Event =
        serde_json::from_str(r#"{"randomized_response": {"keep_probability": 0.75, "categories": 2}}"#)
            .unwrap();
    let mut curve = RdpAccountant::new(Neighboring::ReplaceOne);
    curve.compose(&event, 1).unwrap();
    for order in [1.5, 2.0, 10.0] {
        let moment = odds_moment_up(Order::new(order).unwrap(), epsilon(curve.divergence_up(order))).unwrap();
        // The odds triple with probability 3/4 and fall to a third with probability 1/4.
        let by_hand = 0.75 * 3f64.powf(order - 1.0) + 0.25 * 3f64.powf(1.0 - order);
        assert!(moment >= by_hand * (1.0 - 1e-14) && moment < by_hand * (1.0 + 1e-9), "{order}: {moment}");
    }
    assert!(odds_moment_up(Order::new(1.0).unwrap(), epsilon(1.0)).is_err());
    assert_eq!(odds_moment_up(Order::new(1e6).unwrap(), epsilon(1.0)).unwrap(), f64::INFINITY);
}
