use crate::tight::TightAccountant;
use crate::{Accountant, CompositionMethod, group, rdp};
use reticent_core::{Delta, Epsilon, Event, EventLog, Neighboring, NoiseMultiplier, SamplingRate};

fn clipped(sigma: f64) -> Event {
    Event::ClippedSum { noise_multiplier: NoiseMultiplier::new(sigma).unwrap() }
}

fn gaussian(sigma: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(sigma).unwrap() }
}

fn sampled(rate: f64, event: Event) -> Event {
    Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event: Box::new(event) }
}

fn ends(neighboring: Neighboring, event: &Event, count: u64, delta: f64) -> (f64, f64) {
    let mut account = Accountant::new(neighboring, CompositionMethod::Pld);
    account.compose(event, count).unwrap();
    let answer = account.epsilon(Delta::new(delta).unwrap()).unwrap();
    assert!(answer.lower <= answer.upper);
    (answer.lower, answer.upper)
}

/// 2.8434402592744803 by an independent quadrature of the pair's own contour integral.
#[test]
fn a_record_replaced_in_a_sample_costs_its_exact_pair() {
    let (lower, upper) = ends(Neighboring::ReplaceOne, &sampled(0.01, clipped(1.0)), 1000, 1e-5);
    assert!(lower <= 2.843_440_259_3 && upper >= 2.843_440_259_2, "{lower} {upper}");
    assert!(upper - lower < 1e-3 && upper < 2.844, "{lower} {upper}");
}

#[test]
fn a_clipped_sum_is_gaussian_noise_of_the_relation() {
    let of = |neighboring, event: &Event| ends(neighboring, event, 7, 1e-6);
    assert_eq!(of(Neighboring::AddRemove, &clipped(3.0)), of(Neighboring::AddRemove, &gaussian(3.0)));
    assert_eq!(of(Neighboring::ReplaceOne, &clipped(3.0)), of(Neighboring::ReplaceOne, &gaussian(1.5)));
    assert_eq!(
        of(Neighboring::AddRemove, &sampled(0.02, clipped(1.0))),
        of(Neighboring::AddRemove, &sampled(0.02, gaussian(1.0)))
    );
    // Everybody in every batch.
    assert_eq!(
        of(Neighboring::ReplaceOne, &sampled(1.0, clipped(3.0))),
        of(Neighboring::ReplaceOne, &gaussian(1.5))
    );
    for nested in [
        |event| Event::Shuffled { steps_per_epoch: 5, epochs: 2, event: Box::new(event) },
        |event| Event::BallsInBins { bins: 5, epochs: 2, event: Box::new(event) },
        |event| Event::Composed { events: vec![event, Event::Pure { epsilon: Epsilon::new(0.1).unwrap() }] },
        |event| Event::Parallel { events: vec![event] },
    ] as [fn(Event) -> Event; 4]
    {
        let (mine, theirs) = (nested(clipped(3.0)), nested(gaussian(3.0)));
        assert_eq!(of(Neighboring::AddRemove, &mine), of(Neighboring::AddRemove, &theirs));
        assert_eq!(
            of(Neighboring::ReplaceOne, &nested(clipped(3.0))),
            of(Neighboring::ReplaceOne, &nested(gaussian(1.5)))
        );
    }
}

/// One use, against a plain sum over a fine grid of ∫(P − e^ε Q)₊ and of ∫P^α Q^{1−α}.
#[test]
fn the_profile_and_the_curve_are_those_of_the_pair() {
    for (rate, sigma) in [(0.01, 1.0), (0.3, 0.7), (0.9, 2.0), (1e-4, 0.4)] {
        let event = sampled(rate, clipped(sigma));
        let mut account = TightAccountant::new(Neighboring::ReplaceOne);
        account.compose(&event, 1).unwrap();
        let curve = {
            let mut account = rdp::RdpAccountant::new(Neighboring::ReplaceOne);
            account.compose(&event, 1).unwrap();
            account
        };
        let normal = |x: f64| libm::exp(-0.5 * (x / sigma).powi(2));
        let step = sigma / 1000.0;
        let points = || (-40_000..=40_000).map(|i| step * f64::from(i));
        let both = |x: f64| {
            let still = (1.0 - rate) * normal(x);
            (still + rate * normal(x - 1.0), still + rate * normal(x + 1.0))
        };
        let scale = step / (sigma * (2.0 * std::f64::consts::PI).sqrt());
        for epsilon in [0.0, 1e-3, 0.3, 1.5] {
            let factor = libm::exp(epsilon);
            let sum: f64 = points().map(both).map(|(p, q)| (p - factor * q).max(0.0)).sum::<f64>() * scale;
            let found = account.delta(Epsilon::new(epsilon).unwrap()).unwrap();
            let tolerance = 1e-5 * sum + 1e-12;
            assert!(found.lower <= sum + tolerance && found.upper >= sum - tolerance, "{found:?} {sum}");
            assert!(found.upper - found.lower <= 1e-6 * sum + 1e-12, "{found:?} {sum}");
        }
        for order in [1.5, 2.0, 7.3] {
            let sum: f64 = points()
                .map(both)
                .filter(|(p, q)| *p > 0.0 && *q > 0.0)
                .map(|(p, q)| libm::exp(order * libm::log(p) - (order - 1.0) * libm::log(q)))
                .sum::<f64>()
                * scale;
            let found = curve.divergence_up(order) * (order - 1.0);
            assert!((found - libm::log(sum)).abs() <= 1e-9 * found + 2e-13, "{found} {}", libm::log(sum));
        }
    }
}

/// Any two records of norm at most 1, in the plane: no pair is easier to tell apart than ±1, at any ε of either sign.
#[test]
fn no_pair_of_clipped_records_is_worse_than_opposite_ones() {
    let (step, reach) = (0.05, 90);
    let grid: Vec<(f64, f64)> = (-reach..=reach)
        .flat_map(|i| (-reach..=reach).map(move |j| (step * f64::from(i), step * f64::from(j))))
        .collect();
    let density = |(x, y): (f64, f64), (u, v): (f64, f64), w: f64| {
        libm::exp(-0.5 * w * ((x - u).powi(2) + (y - v).powi(2)))
    };
    let delta = |rate: f64, w: f64, first: (f64, f64), second: (f64, f64), factor: f64| -> f64 {
        grid.iter()
            .map(|at| {
                let still = (1.0 - rate) * density(*at, (0.0, 0.0), w);
                let p = still + rate * density(*at, first, w);
                let q = still + rate * density(*at, second, w);
                (p - factor * q).max(0.0)
            })
            .sum::<f64>()
            * step
            * step
            * w
            / (2.0 * std::f64::consts::PI)
    };
    let (rate, w) = (0.3, 1.5);
    for factor in [0.6, 0.9, 1.0, 1.2, 2.0] {
        let worst = delta(rate, w, (1.0, 0.0), (-1.0, 0.0), factor);
        for (first, second) in [
            ((1.0, 0.0), (0.0, 0.0)),
            ((0.0, 0.0), (1.0, 0.0)),
            ((1.0, 0.0), (0.0, 1.0)),
            ((1.0, 0.0), (-0.8, 0.6)),
            ((0.5, 0.0), (-1.0, 0.0)),
            ((1.0, 0.0), (0.3, 0.0)),
        ] {
            let here = delta(rate, w, first, second, factor);
            assert!(here <= worst * (1.0 + 1e-3) + 1e-6, "{factor} {first:?} {second:?}: {here} {worst}");
        }
    }
}

/// A group whose records are replaced together is another pair: none is claimed for it.
#[test]
fn a_group_is_counted_where_its_pair_is_known() {
    let group = |neighboring, event| group::log(&EventLog { neighboring, events: vec![event] }, 3);
    let alone = group(Neighboring::ReplaceOne, clipped(3.0)).unwrap();
    assert_eq!(alone.events, group(Neighboring::ReplaceOne, gaussian(1.5)).unwrap().events);
    let added = group(Neighboring::AddRemove, sampled(0.1, clipped(3.0))).unwrap();
    assert_eq!(added.events, group(Neighboring::AddRemove, sampled(0.1, gaussian(3.0))).unwrap().events);
    assert!(group(Neighboring::ReplaceOne, sampled(0.1, clipped(3.0))).is_err());
}

#[test]
fn every_method_answers_for_a_replaced_record() {
    let mut account = Accountant::new(Neighboring::ReplaceOne, CompositionMethod::Pld);
    account.compose(&sampled(0.01, clipped(1.0)), 1000).unwrap();
    let delta = Delta::new(1e-5).unwrap();
    for method in CompositionMethod::ALL {
        let answer = account.by(method).epsilon(delta).unwrap();
        assert!(answer.upper >= 2.8434 && answer.lower <= 2.8435, "{method} {answer:?}");
    }
    let renyi = account.by(CompositionMethod::Rdp).epsilon(delta).unwrap().upper;
    assert!(renyi < 3.3, "{renyi}");
}

/// The point between the two laws is found where e^{1/2σ²} is beyond double precision.
#[test]
fn hardly_any_noise_is_never_a_small_cost_of_a_replacement() {
    for z in [1e-4, 1.23e-4, 1e-3, 0.01, 0.03, 0.1] {
        let event = sampled(0.01, clipped(z));
        let mut account = Accountant::new(Neighboring::ReplaceOne, CompositionMethod::Pld);
        account.compose(&event, 200).unwrap();
        // A record that is in one of 200 samples is seen.
        let delta = account.delta(Epsilon::new(1.0).unwrap()).unwrap();
        assert!(delta.upper > 0.86, "{z} {delta:?}");
        if [1.23e-4, 0.1].contains(&z) {
            let answer = account.epsilon(Delta::new(1e-5).unwrap()).unwrap();
            assert!(answer.upper > 0.4 / z / z, "{z} {answer:?}");
        }
    }
}

/// A claim about any mechanism is not noise on a sum: one that tells who is in the sample gains nothing by the sample.
#[test]
fn a_claim_in_a_sample_is_not_amplified_where_a_record_is_replaced() {
    let claim = || Event::Gdp { mu: reticent_core::Mu::new(0.3).unwrap() };
    let composed = |event: Event| Event::Composed { events: vec![event] };
    for event in [claim(), composed(claim()), Event::Parallel { events: vec![claim()] }] {
        for method in CompositionMethod::ALL {
            let mut account = Accountant::new(Neighboring::ReplaceOne, method);
            account.compose(&sampled(0.1, event.clone()), 1).unwrap();
            // δ of the mechanism that tells is 0.1·δ of the claim.
            if let Ok(answer) = account.epsilon(Delta::new(1e-6).unwrap()) {
                assert!(answer.upper > 1.13, "{method} {event:?} {answer:?}");
            }
        }
    }
}

/// Crossing from one part to another moves each sum by C, and so does leaving a sample: no lower end is above the truth.
#[test]
fn floors_of_clipped_sums_inside_other_events() {
    let parts = |events: Vec<Event>| Event::Parallel { events };
    let composed = |event: Event| Event::Composed { events: vec![event] };
    let cases = [
        (parts(vec![clipped(5.0), clipped(50.0)]), 1.765_65),
        (parts(vec![clipped(5.0), clipped(5.0)]), 1.765_65),
        (sampled(0.1, composed(clipped(5.0))), 0.158_744),
        (sampled(0.1, parts(vec![clipped(5.0)])), 0.158_744),
        (sampled(0.1, Event::Repeated { count: 2, event: Box::new(clipped(5.0)) }), 0.245_704),
        (parts(vec![sampled(0.1, clipped(5.0)), sampled(0.1, clipped(5.0))]), 0.158_744),
    ];
    for (event, truth) in cases {
        let (lower, upper) = ends(Neighboring::ReplaceOne, &event, 1, 1e-6);
        assert!(lower <= truth && upper >= truth * (1.0 - 1e-5), "{event:?} {lower} {upper}");
    }
    // In a sequence both records may move every sum by 2C.
    let (lower, upper) = ends(Neighboring::ReplaceOne, &composed(clipped(5.0)), 3, 1e-6);
    assert!(upper - lower < 1e-6, "{lower} {upper}");
}

/// Few uses keep their digits at tiny δ: 3.6855564e-62 with mpmath.
#[test]
fn few_gaussian_uses_keep_tiny_deltas() {
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    account.compose(&gaussian(1.0), 3).unwrap();
    let delta = account.delta(Epsilon::new(30.0).unwrap()).unwrap();
    assert!(delta.lower < 3.685_56e-62 && delta.upper > 3.685_55e-62 && delta.upper < 3.7e-62, "{delta:?}");
}
