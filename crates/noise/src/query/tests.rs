use super::*;
use crate::NoiseSession;
use crate::mechanism::SelectionRule;
use reticent_core::Plan;
use std::collections::BTreeMap;

fn terms(epsilon: f64, neighboring: Neighboring) -> QueryTerms {
    QueryTerms { neighboring, ..QueryTerms::pure(Epsilon::new(epsilon).unwrap()) }
}

fn gaussian(epsilon: f64, noise: NoiseKind) -> QueryTerms {
    QueryTerms { delta: Delta::new(1e-6).unwrap(), noise, ..terms(epsilon, Neighboring::AddRemove) }
}

fn session(neighboring: Neighboring) -> NoiseSession {
    NoiseSession::without_limit("row", neighboring).unwrap()
}

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];

#[test]
fn answers_cost_exactly_what_was_offered() {
    let mut sum_of = BoundedSum::new(0.0, 10.0, false).unwrap();
    let mut ranks = RankTable::new(even_candidates(0.0, 10.0, 101, false).unwrap()).unwrap();
    for i in 0..1000 {
        sum_of.add(f64::from(i % 11));
        ranks.add(f64::from(i % 11));
    }
    for neighboring in BOTH {
        let t = terms(1.0, neighboring);
        let mut session = session(neighboring);
        let source = &mut session.charging();
        let spent = [
            count(source, &t, 5).unwrap().guarantee,
            counts(source, &t, &[5, 6, 7]).unwrap().guarantee,
            histogram(source, &t, &[5, 6]).unwrap().guarantee,
            proportion(source, &t, 5, 10, None).unwrap().guarantee,
            sum(source, &t, &sum_of).unwrap().guarantee,
            mean(source, &t, &sum_of, None).unwrap().guarantee,
            mode(source, &t, SelectionRule::PermuteAndFlip, &[1, 2]).unwrap().guarantee,
            best_price(source, &t, SelectionRule::Exponential, &[1.0, 2.5], &[2.0, 3.0]).unwrap().guarantee,
            ranks.quantile(source, &t, Quantile::MEDIAN).unwrap().guarantee,
        ];
        for guarantee in spent {
            assert!(guarantee.epsilon.get() <= 1.0 && guarantee.epsilon.get() > 1.0 - 1e-9, "{guarantee}");
        }
    }
    for noise in [NoiseKind::Gaussian, NoiseKind::DiscreteGaussian] {
        let mut session = session(Neighboring::AddRemove);
        let answer = histogram(&mut session.charging(), &gaussian(0.5, noise), &[5, 6]).unwrap();
        assert!(answer.guarantee.epsilon.get() <= 0.5 && answer.guarantee.delta.get() == 1e-6);
    }
}

#[test]
fn answers_are_close_when_the_budget_is_large() {
    let mut session = session(Neighboring::AddRemove);
    let source = &mut session.charging();
    let t = terms(40.0, Neighboring::AddRemove);
    let mut ages = BoundedSum::new(0.0, 100.0, true).unwrap();
    let mut ranks = RankTable::new(even_candidates(0.0, 100.0, 1001, true).unwrap()).unwrap();
    for i in 0..10_001u32 {
        let age = f64::from(i % 101);
        ages.add(age);
        ranks.add(age);
    }
    let answer = mean(source, &t, &ages, None).unwrap();
    assert!(
        (answer.value - 49.99).abs() < 0.05 && answer.interval[0][0] < answer.interval[0][1],
        "{answer:?}"
    );
    assert!((sum(source, &t, &ages).unwrap().value - 499_901.0).abs() < 200.0);
    let median = ranks.quantile(source, &t, Quantile::MEDIAN).unwrap();
    assert!(
        (median.value - 50.0).abs() <= 1.0 && median.interval[0][0] <= 50.0 && median.interval[0][1] >= 50.0
    );
    assert!(median.interval[0][1] - median.interval[0][0] <= 4.0, "{median:?}");
    let share = proportion(source, &t, 2500, 7500, None).unwrap();
    assert!((share.value - 0.25).abs() < 0.01);
    assert_eq!(mode(source, &t, SelectionRule::Exponential, &[10, 500, 20]).unwrap().value, 1);
    let bids = [vec![1.0; 100], vec![3.5; 100]].concat();
    assert_eq!(
        best_price(source, &t, SelectionRule::PermuteAndFlip, &[1.0, 3.0, 3.5, 4.0], &bids).unwrap().value,
        2
    );
}

#[test]
fn labels_are_found_at_a_price() {
    let rows = BTreeMap::from([("frequent".to_owned(), 10_000), ("lone".to_owned(), 1)]);
    for neighboring in BOTH {
        let t = QueryTerms { neighboring, ..gaussian(1.0, NoiseKind::Laplace) };
        let mut session = session(neighboring);
        let source = &mut session.charging();
        let answer = stable_histogram(source, &t, &rows).unwrap();
        let Guarantee { epsilon, delta } = answer.guarantee;
        assert!(epsilon.get() <= 1.0 && epsilon.get() > 1.0 - 1e-9);
        assert!(delta.get() <= 1e-6 && delta.get() > 3e-7, "{delta}");
        assert_eq!(answer.events, [Event::Approximate { epsilon, delta }]);
        assert_eq!(answer.interval.len(), answer.value.len());
        // Ten thousand rows are off by a thousand with probability below e^(−499).
        assert!((answer.value["frequent"] - 10_000).abs() < 1000, "{answer:?}");
        assert!(stable_histogram(source, &t, &BTreeMap::new()).unwrap().value.is_empty());
    }
}

#[test]
fn a_quantile_can_be_chosen_without_an_interval() {
    let mut session = session(Neighboring::AddRemove);
    let source = &mut session.charging();
    let t = terms(1.0, Neighboring::AddRemove);
    let mut ranks = RankTable::new(even_candidates(0.0, 100.0, 101, true).unwrap()).unwrap();
    (0..100_000u32).for_each(|i| ranks.add(f64::from(i % 101)));
    let chosen = ranks.choose(source, &t, Quantile::MEDIAN).unwrap();
    // Candidates three away miss by 2000 rows and more: probability below 101·e^(−1000).
    assert!((chosen.value - 50.0).abs() <= 3.0, "{chosen:?}");
    assert!(chosen.guarantee.epsilon.get() <= 1.0 && chosen.guarantee.delta.get() == 0.0);
    let with_delta = QueryTerms { delta: Delta::new(0.1).unwrap(), ..t };
    assert!(ranks.choose(source, &with_delta, Quantile::MEDIAN).is_err());
}

#[test]
fn sums_do_not_depend_on_order_or_overflow() {
    let values = [1e16, 1.0, -1e16, 0.1, f64::MAX, f64::MIN, f64::NAN, 3.5e-9];
    let total = |order: &mut dyn Iterator<Item = f64>| {
        let mut sum = BoundedSum::new(-1e16, 1e16, false).unwrap();
        order.for_each(|v| sum.add(v));
        sum
    };
    assert_eq!(total(&mut values.into_iter()), total(&mut values.into_iter().rev()));
}

#[test]
fn bad_arguments_name_the_field() {
    let mut session = session(Neighboring::AddRemove);
    let source = &mut session.charging();
    let t = terms(1.0, Neighboring::AddRemove);
    let sum_of = BoundedSum::new(0.0, 1.0, false).unwrap();
    let cases = [
        (BoundedSum::new(1.0, 0.0, false).map(drop), "bounds"),
        (BoundedSum::new(0.0, f64::INFINITY, false).map(drop), "bounds"),
        (BoundedSum::new(1e15, 1e15 + 0.125, false).map(drop), "bounds"),
        (even_candidates(0.0, 1.0, 1, false).map(drop), "candidates"),
        (RankTable::new(vec![1.0, 1.0]).map(drop), "candidates"),
        (Quantile::new(1.0).map(drop), "quantile"),
        (histogram(source, &t, &[]).map(drop), "categories"),
        (mean(source, &t, &sum_of, Some(3)).map(drop), "rows_public"),
        (proportion(source, &t, 1, 1, Some(2)).map(drop), "rows_public"),
        (best_price(source, &t, SelectionRule::Exponential, &[-1.0], &[]).map(drop), "prices"),
        (count(source, &QueryTerms { delta: Delta::new(0.1).unwrap(), ..t }, 1).map(drop), "delta"),
        (count(source, &QueryTerms { noise: NoiseKind::Gaussian, ..t }, 1).map(drop), "delta"),
        (count(source, &terms(0.0, Neighboring::AddRemove), 1).map(drop), "epsilon"),
        (stable_histogram(source, &t, &BTreeMap::new()).map(drop), "delta"),
        (stable_histogram(source, &gaussian(1.0, NoiseKind::Gaussian), &BTreeMap::new()).map(drop), "noise"),
    ];
    for (index, (result, field)) in cases.into_iter().enumerate() {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with(field), "case {index}: {message}");
    }
}

#[test]
fn shares_of_noisy_parts_are_bracketed() {
    assert_eq!(share_of(25.0, 75.0, 0.0).0, 0.25);
    let (_, [low, high]) = share_of(25.0, 75.0, 5.0);
    assert!(low <= 0.2 && high >= 0.3);
    assert_eq!(share_of(-3.0, -2.0, 10.0).1, [0.0, 1.0]);
}

#[test]
fn a_quote_is_what_the_answer_costs() {
    let mut full = RankTable::new(even_candidates(0.0, 10.0, 101, false).unwrap()).unwrap();
    let empty = full.clone();
    (0..1000).for_each(|i| full.add(f64::from(i % 11)));
    let ages = BoundedSum::new(0.0, 10.0, false).unwrap();
    for neighboring in BOTH {
        let t = terms(1.0, neighboring);
        let mut session = session(neighboring);
        let plan = quote(|source| empty.quantile(source, &t, Quantile::MEDIAN)).unwrap();
        assert_eq!(plan.events().len(), 5);
        let mut permit = session.charge(&plan).unwrap();
        let answer = full.quantile(&mut session.with(&mut permit), &t, Quantile::MEDIAN).unwrap();
        assert_eq!(answer.events, plan.events());
        assert!(permit.is_used_up());
        // Two questions in one plan; a permit for one of them does not pay for the other.
        let (rehearsed, plan) = rehearse_unpaid(|source| {
            mean(source, &t, &ages, None)?;
            count(source, &t, 0)
        })
        .unwrap();
        assert_eq!(plan.events().len(), 2);
        assert_eq!(plan.events()[1..], rehearsed.events);
        let mut permit = session.charge(&Plan::new(plan.events()[..1].to_vec()).unwrap()).unwrap();
        assert_eq!(count(&mut session.with(&mut permit), &t, 7), Err(NoiseError::Unpaid));
        mean(&mut session.with(&mut permit), &t, &ages, None).unwrap();
    }
    let refused = quote(|source| count(source, &terms(0.0, Neighboring::AddRemove), 0));
    assert!(matches!(refused, Err(NoiseError::Invalid(_))));
}
