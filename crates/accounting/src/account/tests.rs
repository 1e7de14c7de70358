use super::*;
use crate::{calibrate, moments, tradeoff};
use reticent_core::{Mu, NoiseMultiplier, Probability, Rho, SamplingRate, Sensitivity};

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}
fn sampled(q: f64, z: f64) -> Event {
    Event::PoissonSampled { rate: SamplingRate::new(q).unwrap(), event: Box::new(gaussian(z)) }
}
fn account(method: CompositionMethod, list: &[(u64, Event)]) -> Accountant {
    let mut account = Accountant::new(Neighboring::AddRemove, method);
    for (count, event) in list {
        account.compose(event, *count).unwrap();
    }
    account
}
fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}
fn budget(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}
fn upper(method: CompositionMethod, list: &[(u64, Event)], at: f64) -> f64 {
    account(method, list).epsilon(delta(at)).unwrap().upper
}

#[test]
fn the_figure_of_the_moments_accountant() {
    let list = [(1000, sampled(0.01, 4.0))];
    let near = |value: f64, exact: f64| assert!((value / exact - 1.0).abs() < 1e-6, "{value} {exact}");
    near(upper(CompositionMethod::Moments, &list, 1e-5), 0.468_405_290_776_603_8);
    near(upper(CompositionMethod::Pld, &list, 1e-5), 0.272_136_057_415_901_63);
    let published = moments::strong_composition_as_published(
        SamplingRate::new(0.01).unwrap(),
        NoiseMultiplier::new(4.0).unwrap(),
        1000,
        delta(1e-5),
    );
    near(published.unwrap(), 2.305_630_901_534_098_3);
    // The bound that really follows is larger.
    assert!(upper(CompositionMethod::Advanced, &list, 1e-5) > 3.0);
}

#[test]
fn methods_in_order_of_tightness() {
    for list in [
        vec![(1000, sampled(0.01, 2.0))],
        vec![(100, Event::Pure { epsilon: Epsilon::new(0.05).unwrap() })],
        vec![
            (20, gaussian(8.0)),
            (10, Event::Laplace { noise_multiplier: NoiseMultiplier::new(30.0).unwrap() }),
        ],
    ] {
        let of = |method| upper(method, &list, 1e-6);
        assert!(
            of(CompositionMethod::Pld) <= of(CompositionMethod::Rdp)
                && of(CompositionMethod::Rdp) <= of(CompositionMethod::Moments)
        );
        assert!(
            of(CompositionMethod::Pld) <= of(CompositionMethod::Optimal)
                && of(CompositionMethod::Optimal) <= of(CompositionMethod::Advanced)
        );
        assert!(of(CompositionMethod::Advanced) <= of(CompositionMethod::Basic) * (1.0 + 1e-9));
    }
}

#[test]
fn events_without_a_loss_distribution_fall_back() {
    let rho = [(1, Event::Zcdp { rho: Rho::new(0.1).unwrap() })];
    let answer = account(CompositionMethod::Pld, &rho).epsilon(delta(1e-6)).unwrap();
    assert_eq!(answer.method, CompositionMethod::Rdp);
    assert!((answer.upper - 2.141_938_928).abs() < 1e-6 && (answer.lower - 1.994_526_9).abs() < 1e-6);
    // Bounded range beats what purity alone gives.
    let selections = [(50, Event::Exponential { epsilon: Epsilon::new(0.2).unwrap() })];
    let answer = account(CompositionMethod::Pld, &selections).epsilon(delta(1e-6)).unwrap();
    assert!((answer.upper - 3.542_291_3).abs() < 1e-5 && (answer.lower - 3.172_902_7).abs() < 1e-6);
}

#[test]
fn calibration_meets_its_target_and_not_much_more() {
    let plan = |q: f64, z: f64, n: u64| {
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(&sampled(q, z), n)?;
        Ok(account)
    };
    let sigma = calibrate::noise_multiplier(budget(1.0, 1e-5), |z| plan(0.01, z, 1000)).unwrap();
    assert!((1.414_619_406_5..1.414_63).contains(&sigma), "{sigma}");
    assert_eq!(calibrate::steps(budget(2.0, 1e-5), |n| plan(0.01, 1.0, n)).unwrap(), 1202);
    let rate = calibrate::sampling_rate(budget(2.0, 1e-5), |q| plan(q, 1.0, 1000)).unwrap();
    assert!(plan(rate, 1.0, 1000).unwrap().meets(budget(2.0, 1e-5)).unwrap());
    assert!(!plan(rate * 1.001, 1.0, 1000).unwrap().meets(budget(2.0, 1e-5)).unwrap());
    assert!(calibrate::steps(budget(0.01, 1e-9), |n| plan(0.5, 0.5, n)).is_err());
}

#[test]
fn a_budget_is_kept() {
    let spent = account(CompositionMethod::Pld, &[(500, sampled(0.01, 1.0))]);
    let step = sampled(0.01, 1.0);
    let limit = budget(2.0, 1e-5);
    assert!(spent.fits(&step, 702, limit).unwrap() && !spent.fits(&step, 703, limit).unwrap());
    assert_eq!(spent.uses_left(&step, limit).unwrap(), 702);
    let standing = spent.standing(limit).unwrap();
    assert!(standing.spent.get() + standing.left <= 2.0 && standing.left > 0.0, "{standing:?}");
}

#[test]
fn trade_offs_of_gaussian_noise() {
    for (z, fpr) in [(1.0, 0.03), (0.5, 0.2), (4.0, 0.001)] {
        let fpr = Probability::new(fpr).unwrap();
        let floor = tradeoff::false_negative_rate(&account(CompositionMethod::Pld, &[(1, gaussian(z))]), fpr)
            .unwrap();
        let exact = tradeoff::gaussian(Mu::new(1.0 / z).unwrap(), fpr);
        assert!(floor <= exact && floor >= exact - 1e-6, "{floor} {exact}");
    }
}

#[test]
fn a_hundred_thousand_different_events() {
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    for i in 0..100_000 {
        account.compose(&sampled(0.001 + 1e-8 * f64::from(i), 1.0 + 1e-6 * f64::from(i)), 1).unwrap();
    }
    let answer = account.epsilon(delta(1e-5)).unwrap();
    // By quadrature of the cumulant over the parameters: 2.375 67.
    assert!(answer.lower < 2.375_68 && answer.upper > 2.375_66, "{answer:?}");
    assert!(answer.upper < 1.01 * answer.lower, "{answer:?}");
}

/// Every kind of event forty times with different parameters: nothing is refused, sums are sums.
#[test]
fn no_kind_is_refused_for_being_many() {
    let noise = |z: f64| NoiseMultiplier::new(z).unwrap();
    let epsilon = |e: f64| Epsilon::new(e).unwrap();
    let kinds: [(&str, &dyn Fn(f64) -> Event); 11] = [
        ("gaussian", &|u| gaussian(6.0 + 6.0 * u)),
        ("laplace", &|u| Event::Laplace { noise_multiplier: noise(6.0 + 6.0 * u) }),
        ("discrete_laplace", &|u| Event::DiscreteLaplace {
            noise_multiplier: noise(6.0 + 6.0 * u),
            sensitivity: None,
        }),
        ("discrete_gaussian", &|u| Event::DiscreteGaussian {
            noise_multiplier: noise(6.0 + 6.0 * u),
            sensitivity: Some(Sensitivity::new(1.0).unwrap()),
        }),
        ("pure", &|u| Event::Pure { epsilon: epsilon(0.05 + 0.1 * u) }),
        ("approximate", &|u| Event::Approximate { epsilon: epsilon(0.05 + 0.1 * u), delta: delta(1e-9 * u) }),
        ("randomized_response", &|u| Event::RandomizedResponse {
            keep_probability: Probability::new(0.26 + 0.04 * u).unwrap(),
            categories: 4,
        }),
        ("zcdp", &|u| Event::Zcdp { rho: Rho::new(0.001 + 0.01 * u).unwrap() }),
        ("gdp", &|u| Event::Gdp { mu: Mu::new(0.05 + 0.1 * u).unwrap() }),
        ("exponential", &|u| Event::Exponential { epsilon: epsilon(0.05 + 0.1 * u) }),
        ("poisson_sampled", &|u| sampled(0.01 + 0.02 * u, 1.0 + u)),
    ];
    for (name, kind) in kinds {
        let list: Vec<(u64, Event)> = (1..=40).map(|i| (1, kind(f64::from(i) / 40.0))).collect();
        for method in [
            CompositionMethod::Pld,
            CompositionMethod::Rdp,
            CompositionMethod::Optimal,
            CompositionMethod::Advanced,
            CompositionMethod::Basic,
        ] {
            let answer = account(method, &list).epsilon(delta(1e-6));
            if (name, method) == ("approximate", CompositionMethod::Rdp) {
                continue;
            }
            let answer = answer.unwrap_or_else(|error| panic!("{name} {method} {error}"));
            assert!(answer.upper >= answer.lower && answer.upper > 0.1, "{name} {method} {answer:?}");
            let known = !["zcdp", "exponential"].contains(&name);
            if method == CompositionMethod::Pld && known {
                assert!(answer.upper < 1.001 * answer.lower, "{name} {answer:?}");
            }
        }
    }
    let list: Vec<(u64, Event)> =
        (1..=100).map(|i| (1, Event::Pure { epsilon: epsilon(f64::from(i) / 100.0) })).collect();
    let sum = account(CompositionMethod::Basic, &list).epsilon(delta(1e-6)).unwrap();
    assert!(sum.upper >= 50.5 && sum.upper < 50.5 * (1.0 + 1e-12), "{sum:?}");
}

#[test]
fn counting_does_not_depend_on_how_it_is_written() {
    let once = account(CompositionMethod::Pld, &[(3000, sampled(0.02, 1.5))]).epsilon(delta(1e-6)).unwrap();
    let inner = Event::Repeated { count: 100, event: Box::new(sampled(0.02, 1.5)) };
    let nested = Event::Composed {
        events: vec![Event::Repeated { count: 10, event: Box::new(inner.clone()) }, inner],
    };
    let split = account(CompositionMethod::Pld, &[(2, nested), (800, sampled(0.02, 1.5))])
        .epsilon(delta(1e-6))
        .unwrap();
    assert_eq!(once, split);
    let huge = Event::Repeated { count: u64::MAX, event: Box::new(gaussian(1.0)) };
    assert!(Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld).compose(&huge, 2).is_err());
}

/// No event is left out because one method does not know it.
#[test]
fn nothing_is_ignored() {
    let fpr = Probability::new(0.05).unwrap();
    let rho = Event::Zcdp { rho: Rho::new(10.0).unwrap() };
    let fnr = tradeoff::false_negative_rate(&account(CompositionMethod::Pld, &[(1, rho)]), fpr).unwrap();
    assert!(fnr < 0.01, "{fnr}");
    // The δ of a sampled claim is charged.
    let claim = Event::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: delta(0.1) };
    let sampled = Event::PoissonSampled { rate: SamplingRate::new(0.5).unwrap(), event: Box::new(claim) };
    for method in [CompositionMethod::Basic, CompositionMethod::Advanced, CompositionMethod::Optimal] {
        assert!(account(method, &[(1, sampled.clone())]).epsilon(delta(1e-6)).is_err());
        let spent = account(method, &[(1, sampled.clone())]).delta(Epsilon::new(1.0).unwrap()).unwrap();
        assert!(spent.upper >= 0.05, "{spent:?}");
    }
    // Integers that move further than by one are not the tabulated law.
    let wide = Event::DiscreteGaussian {
        noise_multiplier: NoiseMultiplier::new(0.3).unwrap(),
        sensitivity: Some(reticent_core::Sensitivity::new(10.0).unwrap()),
    };
    let answer = account(CompositionMethod::Pld, &[(1, wide)]).delta(Epsilon::new(6.0).unwrap()).unwrap();
    assert!(answer.upper >= 0.3452, "{answer:?}");
}

#[test]
fn disjoint_parts_cost_what_the_worst_costs() {
    let pure = Event::Pure { epsilon: Epsilon::new(1.0).unwrap() };
    let claim = Event::Approximate { epsilon: Epsilon::new(0.5).unwrap(), delta: delta(1e-6) };
    let parallel = [(1, Event::Parallel { events: vec![pure, claim] })];
    for method in [CompositionMethod::Pld, CompositionMethod::Optimal, CompositionMethod::Basic] {
        let answer = account(method, &parallel).epsilon(delta(1e-6)).unwrap();
        assert!((answer.upper - 1.0).abs() < 1e-9, "{method} {answer:?}");
    }
}

#[test]
fn a_small_batch_is_no_better_than_an_uncut_one() {
    // One record: nothing is ever cut.
    for (q, z, epsilon, truth) in
        [(0.9, 0.5, 0.0, 0.614_42), (0.5, 0.5, 0.0, 0.341_34), (0.5, 1.0, 0.1, 0.162_53)]
    {
        let event = Event::TruncatedPoisson {
            dataset_size: 1,
            rate: SamplingRate::new(q).unwrap(),
            max_batch: 1,
            event: Box::new(gaussian(z)),
        };
        let answer =
            account(CompositionMethod::Pld, &[(1, event)]).delta(Epsilon::new(epsilon).unwrap()).unwrap();
        assert!(answer.upper >= truth - 1e-5, "{answer:?}");
    }
}

/// A sample of everybody is no sample: what is run on it has a claim of its own, also where it is a sequence of clipped sums.
#[test]
fn sequences_of_clipped_sums_on_everybody_have_a_claim() {
    let sum = Event::ClippedSum { noise_multiplier: NoiseMultiplier::new(3.0).unwrap() };
    let twice = |event| Event::Repeated { count: 2, event: Box::new(event) };
    let everybody = |event| Event::PoissonSampled {
        rate: SamplingRate::new(1.0).unwrap(),
        event: Box::new(twice(event)),
    };
    for method in [CompositionMethod::Basic, CompositionMethod::Advanced, CompositionMethod::Optimal] {
        let found = upper(method, &[(1, everybody(sum.clone()))], 1e-6);
        let exact = upper(CompositionMethod::Pld, &[(2, gaussian(3.0))], 1e-6);
        assert!(found >= exact && found < 2.0 * exact, "{method}: {found} {exact}");
    }
}
