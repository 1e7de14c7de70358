use super::cost::gaussian_of_pure;
use super::*;
use crate::calibrate::noise_multiplier;
use crate::{Accountant, CompositionMethod};
use reticent_core::{LedgerError, Mu, NoiseMultiplier, Rho, SamplingRate, charge};

fn total(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn pure(epsilon: f64) -> Event {
    Event::Pure { epsilon: Epsilon::new(epsilon).unwrap() }
}

fn gaussian(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}

fn approximate(epsilon: f64, delta: f64) -> Event {
    total(epsilon, delta).claim()
}

fn steps(rate: f64, z: f64, count: u64) -> Event {
    let step = Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event: Box::new(gaussian(z)) };
    Event::Repeated { count, event: Box::new(step) }
}

fn plan(event: Event) -> Plan {
    Plan::new(vec![event]).unwrap()
}

fn filter(epsilon: f64, delta: f64, rule: FilterRule) -> Filter {
    Filter::new(total(epsilon, delta), Neighboring::AddRemove, rule).unwrap()
}

/// How many of the same plan fit, up to a number.
fn admitted(mut filter: Filter, plan: &Plan, most: usize) -> usize {
    (0..most).take_while(|_| filter.admit(plan).unwrap()).count()
}

/// The least total ε, to 1 %, at which so many of the same plan fit.
fn least_total(plan: &Plan, count: usize, delta: f64, rule: FilterRule) -> f64 {
    let mut epsilon = 0.05;
    while admitted(filter(epsilon, delta, rule), plan, count) < count {
        epsilon *= 1.01;
    }
    epsilon
}

#[test]
fn limits_are_those_of_mpmath_rounded_down() {
    // ε, δ, the largest μ², the largest ρ, the largest divergence at order 16: made with 40 digits.
    let known = [
        (0.5, 1e-6, 0.0154023362271877, 0.0066415243566605, 0.0),
        (1.0, 1e-6, 0.0560289638252607, 0.0243559703595384, 0.328343732089272),
        (3.0, 1e-5, 0.517129885639969, 0.224249168246345, 2.48184940495554),
        (8.0, 1e-9, 1.59327118729497, 0.732833287382453, 6.86782671349046),
    ];
    for (epsilon, delta, mu_squared, rho, divergence) in known {
        let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
        let found = [
            (gaussian::limit(epsilon, delta), mu_squared, 1e-11),
            (approximate::limit(epsilon, delta), rho, 1e-6),
            (renyi::limit(16.0, epsilon, delta), divergence, 1e-11),
        ];
        for (limit, truth, width) in found {
            assert!(limit <= truth * (1.0 + 1e-14) && limit >= truth * (1.0 - width), "{limit} {truth}");
        }
    }
}

#[test]
fn pure_events_are_gaussian_ones_rounded_up() {
    let known = [
        (0.01, 0.0125331189596498),
        (0.5, 0.623892592098508),
        (1.0, 1.2320353853449),
        (3.0, 3.3406837122406),
        (10.0, 7.82791439362187),
        (50.0, 19.3496505672247),
    ];
    for (epsilon, mu) in known {
        let found = gaussian_of_pure(epsilon);
        let width = if epsilon < 0.5 { 2e-6 } else { 2e-9 };
        assert!(found >= mu * (1.0 - 1e-14) && found <= mu * (1.0 + width), "{epsilon} {found}");
    }
    assert_eq!(gaussian_of_pure(0.0), 0.0);
    assert!(gaussian_of_pure(1e4) > 1e4 && gaussian_of_pure(f64::MAX).is_infinite());
}

#[test]
fn the_shares_of_delta_add_up_to_one() {
    let shares = [share::BASIC, share::LEAKS, share::GAUSSIAN, share::APPROXIMATE, share::RENYI];
    assert_eq!(shares.iter().sum::<f64>(), 1.0);
    let open = Open::new(total(1.0, 1e-6), FilterRule::Best).unwrap();
    assert_eq!(open.renyi.len(), renyi::ORDERS as usize);
    assert!(open.renyi.iter().all(|(order, _)| *order > 1.0));
}

#[test]
fn a_thousand_small_questions_cost_far_less_than_their_sum() {
    // 1000 answers of ε = 0.01 each, every one chosen by the earlier ones: 10 by their sum.
    let question = plan(pure(0.01));
    let best = least_total(&question, 1000, 1e-6, FilterRule::Best);
    let alone = least_total(&question, 1000, 1e-6, FilterRule::Approximate);
    println!(
        "1000 questions of epsilon 0.01: {best:.3} by the best filter, {alone:.3} by the approximate one"
    );
    assert!(best < 1.85 && alone < 1.75 && alone <= best, "{best} {alone}");
    // The optimal composition of 1000 questions that are fixed beforehand, which no filter can beat.
    let mut fixed = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    fixed.compose(&pure(0.01), 1000).unwrap();
    assert!(fixed.epsilon(Delta::new(1e-6).unwrap()).unwrap().lower < alone);
    // Gaussian answers: the Gaussian filter gives what the tight account of a fixed list does.
    let noisy = plan(gaussian(100.0));
    let gaussian_only = least_total(&noisy, 1000, 1e-6, FilterRule::Gaussian);
    let mut fixed = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    fixed.compose(&gaussian(100.0), 1000).unwrap();
    let tight = fixed.epsilon(Delta::new(1e-6).unwrap()).unwrap();
    assert!(gaussian_only >= tight.lower && gaussian_only < 1.02 * tight.upper, "{gaussian_only} {tight:?}");
}

#[test]
fn budgets_collect_no_dust() {
    assert_eq!(admitted(filter(1.0, 0.0, FilterRule::Best), &plan(pure(0.125)), 99), 8);
    assert_eq!(admitted(filter(1.0, 0.0, FilterRule::Basic), &plan(pure(0.5)), 99), 2);
    let (whole, quarter) = (libm::exp2(-20.0), libm::exp2(-22.0));
    assert_eq!(admitted(filter(1.0, whole, FilterRule::Basic), &plan(approximate(0.25, quarter)), 99), 4);
    // A sum that is rounded up is refused.
    assert_eq!(admitted(filter(0.3, 0.0, FilterRule::Basic), &plan(pure(0.1)), 99), 2);
}

#[test]
fn one_plan_may_take_everything_by_its_tight_account() {
    let budget = total(2.0, 1e-6);
    let account = |z: f64| {
        let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
        account.compose(&steps(0.01, z, 1000), 1)?;
        Ok(account)
    };
    let z = noise_multiplier(budget, account).unwrap();
    let mut whole = filter(2.0, 1e-6, FilterRule::Best);
    assert!(whole.admit(&plan(steps(0.01, z, 1000))).unwrap());
    // Nothing but what costs nothing fits after it.
    assert!(whole.left().unwrap().get() < 1e-3);
    assert!(!whole.fits(&plan(pure(0.01))).unwrap());
    assert!(whole.fits(&Plan::default()).unwrap());
    // As a second plan it gets what is left by its claim, and not by the tight account of both.
    let mut late = filter(2.0, 1e-6, FilterRule::Best);
    assert!(late.admit(&plan(pure(0.01))).unwrap());
    assert!(!late.fits(&plan(steps(0.01, z, 1000))).unwrap());
    assert!(late.admit(&plan(steps(0.01, 1.3 * z, 1000))).unwrap());
}

#[test]
fn training_runs_add_up_by_the_renyi_orders() {
    let run = plan(steps(0.01, 2.0, 200));
    let count = admitted(filter(3.0, 1e-6, FilterRule::Best), &run, 1000);
    let by_sum = admitted(filter(3.0, 1e-6, FilterRule::Basic), &run, 1000);
    println!("runs within epsilon 3: {count} by the best filter, {by_sum} by sums of claims");
    assert!(count > 3 * by_sum, "{count} {by_sum}");
    // One order, chosen beforehand, has all of δ.
    let one = filter(3.0, 1e-6, FilterRule::Renyi(Order::new(9.0).unwrap()));
    assert!(admitted(one, &run, 1000) >= count);
}

#[test]
fn each_rule_takes_what_it_can_bound() {
    let discrete =
        Event::DiscreteGaussian { noise_multiplier: NoiseMultiplier::new(50.0).unwrap(), sensitivity: None };
    let order = FilterRule::Renyi(Order::new(8.0).unwrap());
    let cases = [
        (gaussian(50.0), [true, true, true, true]),
        (Event::Gdp { mu: Mu::new(0.02).unwrap() }, [true, true, true, true]),
        (pure(0.02), [true, true, true, true]),
        (discrete, [true, false, true, true]),
        (Event::Zcdp { rho: Rho::new(1e-4).unwrap() }, [true, false, true, true]),
        (steps(0.01, 5.0, 3), [true, false, true, false]),
        (approximate(0.02, 1e-8), [true, false, false, true]),
    ];
    for (event, expected) in cases {
        for (rule, fits) in [FilterRule::Basic, FilterRule::Gaussian, order, FilterRule::Approximate]
            .into_iter()
            .zip(expected)
        {
            let found = filter(2.0, 1e-6, rule).fits(&plan(event.clone())).unwrap();
            assert_eq!(found, fits, "{event:?} by {rule:?}");
        }
        assert!(filter(2.0, 1e-6, FilterRule::Best).fits(&plan(event)).unwrap());
    }
}

#[test]
fn leaks_add_up_within_their_share() {
    // Each leaks a 128th of δ: 16 fit the eighth that is set aside for leaks, 32 the quarter of the basic filter.
    let (whole, part) = (libm::exp2(-20.0), libm::exp2(-27.0));
    assert_eq!(admitted(filter(2.0, whole, FilterRule::Best), &plan(approximate(0.001, part)), 99), 32);
    assert_eq!(
        admitted(filter(2.0, whole, FilterRule::Approximate), &plan(approximate(0.001, part)), 99),
        64
    );
}

#[test]
fn a_filter_that_refused_what_was_drawn_stays_closed() {
    let mut open = filter(2.0, 1e-6, FilterRule::Best);
    // Sampled steps have no μ: the Gaussian filter is closed from here on.
    assert!(open.admit(&plan(steps(0.01, 2.0, 10))).unwrap());
    assert_eq!((open.open.gaussian, open.open.approximate), (None, None));
    assert!(open.admit(&plan(gaussian(30.0))).unwrap());
    assert_eq!((open.open.gaussian, open.open.approximate), (None, None));
}

#[test]
fn what_cannot_be_bounded_is_refused() {
    let mut all = Vec::new();
    for z in [f64::MIN_POSITIVE, 5e-324, 1e-300, 1e-9] {
        let noise_multiplier = NoiseMultiplier::new(z).unwrap();
        all.extend([
            Event::Gaussian { noise_multiplier },
            Event::ClippedSum { noise_multiplier },
            Event::Laplace { noise_multiplier },
            Event::TreeAggregation { noise_multiplier, steps: u64::MAX },
        ]);
    }
    all.push(Event::Repeated { count: u64::MAX, event: Box::new(pure(1e-3)) });
    all.push(pure(f64::MAX));
    all.push(Event::Gdp { mu: Mu::new(f64::MAX).unwrap() });
    all.push(Event::Zcdp { rho: Rho::new(f64::MAX).unwrap() });
    all.push(approximate(0.0, 0.999));
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        for event in &all {
            for rule in [FilterRule::Best, FilterRule::Basic, FilterRule::Gaussian, FilterRule::Approximate] {
                let filter = Filter::new(total(1.0, 1e-6), neighboring, rule).unwrap();
                assert!(!filter.fits(&plan(event.clone())).unwrap_or(false), "{event:?} by {rule:?}");
            }
        }
    }
}

#[test]
fn replacing_a_record_costs_a_clipped_sum_twice_the_noise() {
    let sum = Event::ClippedSum { noise_multiplier: NoiseMultiplier::new(20.0).unwrap() };
    let count = |neighboring, event: &Event| {
        let filter = Filter::new(total(1.0, 1e-6), neighboring, FilterRule::Gaussian).unwrap();
        admitted(filter, &plan(event.clone()), 999)
    };
    assert_eq!(count(Neighboring::AddRemove, &sum), count(Neighboring::AddRemove, &gaussian(20.0)));
    assert_eq!(count(Neighboring::ReplaceOne, &sum), count(Neighboring::AddRemove, &gaussian(10.0)));
    // Disjoint parts: one of them is touched, or two.
    let parts = Event::Parallel { events: vec![gaussian(20.0), gaussian(20.0), gaussian(40.0)] };
    let twice = Event::Repeated { count: 2, event: Box::new(gaussian(20.0)) };
    assert_eq!(count(Neighboring::AddRemove, &parts), count(Neighboring::AddRemove, &gaussian(20.0)));
    assert_eq!(count(Neighboring::ReplaceOne, &parts), count(Neighboring::ReplaceOne, &twice));
}

#[test]
fn an_odometer_rises_and_stays_above_what_one_plan_costs() {
    let mut odometer = Odometer::new(total(4.0, 1e-6), Neighboring::AddRemove).unwrap();
    assert_eq!(odometer.spent().unwrap().epsilon.get(), 0.25);
    let (mut last, mut fixed) = (0.0, Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld));
    for _ in 0..40 {
        odometer.record(&plan(gaussian(20.0))).unwrap();
        fixed.compose(&gaussian(20.0), 1).unwrap();
        let Some(spent) = odometer.spent() else { break };
        let tight = fixed.epsilon(spent.delta).unwrap();
        assert!(spent.epsilon.get() >= last && spent.epsilon.get() >= tight.lower);
        last = spent.epsilon.get();
    }
    assert!(last > 1.0 && last <= 4.0, "{last}");
    odometer.record(&plan(pure(100.0))).unwrap();
    assert_eq!(odometer.spent(), None);
    // A plan that cannot be counted is more than any level.
    let mut odometer = Odometer::new(total(4.0, 1e-6), Neighboring::AddRemove).unwrap();
    let twice = Event::Repeated { count: u64::MAX, event: Box::new(pure(1e-300)) };
    let endless = Event::Repeated { count: 2, event: Box::new(twice) };
    assert!(odometer.record(&plan(endless)).is_err());
    assert_eq!(odometer.spent(), None);
    assert!(Odometer::new(total(1.0, 0.0), Neighboring::AddRemove).is_err());
}

#[test]
fn a_budget_records_what_fits_and_says_what_is_left() {
    let mut budget = Budget::new(total(1.0, 1e-6), Neighboring::AddRemove).unwrap();
    assert!(charge(&mut budget, &plan(pure(0.5))).is_ok());
    assert!(charge(&mut budget, &plan(pure(0.25))).is_ok());
    let refused = charge(&mut budget, &plan(pure(0.375))).unwrap_err();
    let expected = "the budget does not cover it: one more question of up to epsilon = 0.25 fits the limit \
                    (ε = 1, δ = 1e-6)";
    assert_eq!(refused.to_string(), expected);
    assert_eq!(budget.plans().len(), 2);
    assert!(budget.spent().unwrap().unwrap().epsilon.get() >= 0.75);
    assert!(charge(&mut budget, &plan(pure(0.25))).is_ok());
    let Err(LedgerError::Exceeded { remedy }) = charge(&mut budget, &plan(pure(0.1))) else { panic!() };
    assert!(remedy.starts_with("nothing is left"), "{remedy}");
    let mut pure_only = Budget::new(total(1.0, 0.0), Neighboring::ReplaceOne).unwrap();
    assert!(charge(&mut pure_only, &plan(pure(0.75))).is_ok());
    assert_eq!(
        Budget::new(total(1.0, 1e-6), Neighboring::AddRemove).unwrap().spent().unwrap(),
        Some(total(0.0, 0.0))
    );
    let refused = charge(&mut pure_only, &plan(gaussian(1e6))).unwrap_err();
    assert!(refused.to_string().contains("has no delta, and this needs one"), "{refused}");
    assert_eq!(pure_only.spent().unwrap(), Some(total(0.75, 0.0)));
    assert_eq!(pure_only.left().unwrap().get(), 0.25);
}

#[test]
fn rules_that_need_a_delta_or_an_order_say_so() {
    let order = |order: f64| FilterRule::Renyi(Order::new(order).unwrap());
    for (rule, delta) in
        [(FilterRule::Gaussian, 0.0), (FilterRule::Approximate, 0.0), (order(2.0), 0.0), (order(1.0), 1e-6)]
    {
        assert!(Filter::new(total(1.0, delta), Neighboring::AddRemove, rule).is_err(), "{rule:?}");
    }
}

#[test]
fn filters_admit_together_or_not_at_all() {
    let question = plan(pure(0.25));
    let mut both = [filter(1.0, 0.0, FilterRule::Best), filter(0.5, 0.0, FilterRule::Best)];
    assert_eq!(Filter::admit_together(&mut both, &question).unwrap(), None);
    assert_eq!(Filter::admit_together(&mut both, &question).unwrap(), None);
    let before = both.clone();
    assert_eq!(Filter::admit_together(&mut both, &question).unwrap(), Some(1));
    assert_eq!(both, before);
    // Each by itself decides the same.
    let mut alone = filter(1.0, 0.0, FilterRule::Best);
    assert!(alone.admit(&question).unwrap() && alone.admit(&question).unwrap());
    assert_eq!(both[0], alone);
    let other = Filter::new(total(1.0, 0.0), Neighboring::ReplaceOne, FilterRule::Best).unwrap();
    assert!(Filter::admit_together(&mut [alone, other], &question).is_err());
    assert_eq!(Filter::admit_together(&mut [], &question).unwrap(), None);
}

#[test]
fn the_largest_part_of_a_plan_fits_and_hardly_more() {
    let mut used = filter(1.0, 1e-6, FilterRule::Best);
    assert!(used.admit(&plan(pure(0.5))).unwrap());
    let both = Event::Composed { events: vec![pure(0.75), gaussian(3.0)] };
    for whole in [plan(pure(0.75)), plan(gaussian(2.0)), plan(both), plan(steps(0.05, 0.9, 300))] {
        assert!(!used.fits(&whole).unwrap());
        let part = Filter::largest_part(&[used.clone()], &|part| scaled(&whole, part)).unwrap().unwrap();
        assert!(used.fits(&scaled(&whole, part).unwrap()).unwrap());
        assert!(!used.fits(&scaled(&whole, part + 2e-4).unwrap()).unwrap(), "{part}");
    }
    assert_eq!(
        Filter::largest_part(&[used.clone()], &|part| scaled(&plan(pure(0.25)), part)).unwrap(),
        Some(1.0)
    );
    // What has no smaller form.
    let coin = Event::RandomizedResponse {
        keep_probability: reticent_core::Probability::new(0.9).unwrap(),
        categories: 2,
    };
    assert_eq!(scaled(&plan(coin), 0.5), None);
    assert_eq!((scaled(&plan(pure(1.0)), 0.0), scaled(&plan(pure(1.0)), 1.5)), (None, None));
    let noisy = used.remedy(&plan(gaussian(2.0)));
    assert!(noisy.contains("times the noise; one more question of up to epsilon"), "{noisy}");
}

#[test]
fn what_is_left_fits_and_is_found_without_many_accounts() {
    for (epsilon, delta) in [(1.0, 1e-6), (1.0, 0.0), (1e3, 1e-6), (0.1, 1e-9)] {
        let mut used = filter(epsilon, delta, FilterRule::Best);
        for share in [0.1, 0.3, 0.2, 0.05, 0.1] {
            assert!(used.admit(&plan(pure(share * epsilon))).unwrap());
            let left = used.left().unwrap().get();
            assert!(used.fits(&plan(pure(left))).unwrap(), "{left}");
            assert!(!used.fits(&plan(pure(left * 1.0001 + 1e-5))).unwrap(), "{left}");
        }
    }
    // Ten tenths: the sum is above 1 by rounding, and δ makes up for it.
    let mut tenths = filter(1.0, 1e-6, FilterRule::Best);
    (0..9).for_each(|_| assert!(tenths.admit(&plan(pure(0.1))).unwrap()));
    assert_eq!(tenths.left().unwrap().get(), 0.1);
}
