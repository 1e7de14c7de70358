//! Accuracy both ways: stated errors and intervals hold as often as they say, and the ε asked for an
//! error gives that error.

use reticent_core::{Confidence, Delta, Epsilon, Neighboring, Scale, Sensitivity};
use reticent_noise::entropy::Bits;
use reticent_noise::mechanism::{
    Accuracy, DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection,
    RandomizedResponse, SelectionRule, StudentT,
};
use reticent_noise::query::{
    BoundedSum, NoiseKind, Quantile, QueryTerms, RankTable, best_price, count, even_candidates, histogram,
    mean, mode, proportion, sum,
};
use reticent_noise::{Entropy, Mechanism};
use reticent_testkit::budget::Ledger;
use reticent_testkit::free::Free;
use reticent_testkit::goodness::too_many;

const MILLION: usize = 1_000_000;

/// Answers per kind of interval.
const ANSWERS: u64 = 2000;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn delta() -> Delta {
    Delta::new(1e-6).unwrap()
}

fn scale(value: f64) -> Scale {
    Scale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

fn confidence(value: f64) -> Confidence {
    Confidence::new(value).unwrap()
}

/// The noise of one long release of zeros, as sizes.
fn sizes<M, T>(mechanism: &M, zero: T, size: impl Fn(T) -> f64) -> Vec<f64>
where
    M: Mechanism<Input = [T], Output = Vec<T>>,
    T: Copy,
{
    let zeros: Vec<T> = std::iter::repeat_n(zero, MILLION).collect();
    Free::new().unwrap().draw(mechanism, &zeros).unwrap().into_iter().map(size).collect()
}

#[test]
fn errors_cover() {
    let mut ledger = Ledger::open("accuracy::coverage_of_errors");
    // `tight`: continuous noise exceeds its error exactly as often as allowed, so not much less either.
    let mut check = |name: &str, accuracy: &dyn Accuracy, noise: Vec<f64>, tight: bool| {
        for level in [0.5, 0.95, 0.999] {
            let error = accuracy.error(confidence(level));
            let beyond = noise.iter().filter(|size| **size > error).count() as u64;
            let what = format!("{name} at {level}: {beyond} of {MILLION} beyond {error}");
            ledger.expect(&what, too_many(beyond, MILLION as u64, 1.0 - level));
            assert!(!tight || beyond as f64 > 0.7 * (1.0 - level) * MILLION as f64, "{what}: too loose");
        }
    };
    let real = |v: f64| v.abs();
    let whole = |v: i128| v.unsigned_abs() as f64;
    for size in [0.3, 1.0, 50.0] {
        let m = DiscreteLaplace::with_scale(1, scale(size)).unwrap();
        check(&format!("discrete Laplace {size}"), &m, sizes(&m, 0, whole), false);
    }
    for size in [0.5, 1.0, 20.0] {
        let m = DiscreteGaussian::with_sigma(sensitivity(1.0), scale(size), delta()).unwrap();
        check(&format!("discrete Gaussian {size}"), &m, sizes(&m, 0, whole), false);
    }
    let m = Laplace::with_scale(sensitivity(1.0), scale(1.5), MILLION).unwrap();
    check("Laplace", &m, sizes(&m, 0.0, real), true);
    let m = Gaussian::with_sigma(sensitivity(1.0), scale(1.5), delta(), MILLION).unwrap();
    check("Gaussian", &m, sizes(&m, 0.0, real), true);
    for size in [0.7, 10.0] {
        let m = IntegerGaussian::with_sigma(sensitivity(1.0), scale(size), delta(), MILLION).unwrap();
        check(&format!("integer Gaussian {size}"), &m, sizes(&m, 0, whole), false);
    }
    for nu in [1, 3] {
        let m = StudentT::new(sensitivity(1e-4), scale(1.5), nu, MILLION).unwrap();
        check(&format!("Student-t {nu}"), &m, sizes(&m, 0.0, real), true);
    }
}

/// The error at the ε that was asked for it: no larger than asked, and not needlessly small.
fn check_round_trip(what: &str, asked: f64, given: f64, least: f64) {
    assert!(given <= asked * (1.0 + 1e-6), "{what}: asked {asked}, got {given}");
    // With noise a billion times the sensitivity, a step of the grid is larger than the sensitivity.
    assert!(given >= least || asked > 1e9, "{what}: asked {asked}, got {given}: epsilon is wasted");
}

#[test]
fn the_epsilon_for_an_error_gives_that_error() {
    for level in [0.5, 0.9, 0.95, 0.999] {
        let c = confidence(level);
        for asked in [1e-6, 0.7, 1.0, 3.0, 12.5, 1e4, 1e12] {
            for reach in [1.0, 7.0] {
                let s = sensitivity(reach);
                let what = format!("error {asked} at {level}, sensitivity {reach}");
                let e = Laplace::epsilon_for_error(s, asked, c).unwrap();
                let given = Laplace::new(s, e, 1).unwrap().error(c);
                check_round_trip(&format!("Laplace, {what}"), asked, given, 0.98 * asked);
                if let Ok(e) = Gaussian::epsilon_for_error(s, delta(), asked, c) {
                    if let Ok(m) = Gaussian::new(s, e, delta(), 1) {
                        check_round_trip(&format!("Gaussian, {what}"), asked, m.error(c), 0.98 * asked);
                    } else {
                        // So much noise that δ alone pays for it.
                        assert_eq!(e.get(), 0.0, "Gaussian, {what}: {e}");
                    }
                } else {
                    // So little that the sampler's share of δ does not fit, or so much that ε is 0.
                    assert!(!(0.5..=1e4).contains(&(asked / reach)), "Gaussian, {what}: refused");
                }
                if let Ok(e) = IntegerGaussian::epsilon_for_error(s, delta(), asked, c)
                    && e.get() > 0.0
                    && let Ok(m) = IntegerGaussian::new(s, e, delta(), 1)
                {
                    check_round_trip(&format!("integer Gaussian, {what}"), asked.max(0.5), m.error(c), 0.0);
                }
                if let Ok(e) = DiscreteGaussian::epsilon_for_error(s, delta(), asked, c)
                    && e.get() > 0.0
                    && let Ok(m) = DiscreteGaussian::new(s, e, delta())
                {
                    check_round_trip(&format!("discrete Gaussian, {what}"), asked, m.error(c), 0.4 * asked);
                }
                let e = DiscreteLaplace::epsilon_for_error(reach as u64, asked, c).unwrap();
                let given = DiscreteLaplace::new(reach as u64, e).unwrap().error(c);
                check_round_trip(&format!("discrete Laplace, {what}"), asked, given, asked.floor() * 0.98);
                for nu in [1, 4] {
                    let Ok(e) = StudentT::epsilon_for_error(s, asked, c, nu, 1) else {
                        assert!(!(0.1..=1e9).contains(&asked), "Student-t, {what}: refused");
                        continue;
                    };
                    let given = StudentT::for_epsilon(s, e, nu, 1).unwrap().error(c);
                    check_round_trip(&format!("Student-t, {what}"), asked, given, 0.98 * asked);
                }
            }
        }
        for asked in [5.0, 80.0] {
            let s = sensitivity(2.0);
            let e = PrivateSelection::epsilon_for_error(s, asked, 100, 1, c).unwrap();
            let m = PrivateSelection::new(SelectionRule::Exponential, s, e).unwrap();
            check_round_trip("exponential mechanism", asked, m.shortfall(100, 1, c).unwrap(), 0.98 * asked);
        }
    }
    for (respondents, categories, asked) in [(1000, 2, 0.05), (100_000, 10, 0.01), (50, 3, 0.2)] {
        let e = RandomizedResponse::epsilon_for_error(respondents, categories, asked).unwrap();
        let given = RandomizedResponse::new(e, categories).unwrap().worst_standard_error(respondents);
        check_round_trip("randomized response", asked, given, 0.98 * asked);
    }
}

/// How many of the answers miss the truth.
fn misses(mut answer: impl FnMut(&mut Free) -> (f64, [f64; 2])) -> u64 {
    let mut free = Free::new().unwrap();
    (0..ANSWERS)
        .map(|_| {
            let (truth, [low, high]) = answer(&mut free);
            u64::from(!(low <= truth && truth <= high))
        })
        .sum()
}

#[test]
fn intervals_cover() {
    let mut ledger = Ledger::open("accuracy::coverage_of_intervals");
    let mut check = |what: &str, misses: u64| {
        println!("{what}: {misses} of {ANSWERS} intervals miss");
        ledger.expect(what, too_many(misses, ANSWERS, 0.05));
    };
    let pure = QueryTerms::pure(epsilon(0.5));
    let replace = QueryTerms { neighboring: Neighboring::ReplaceOne, ..pure };
    let rows: Vec<f64> = (0..200).map(|i| f64::from(i % 37) * 0.31).collect();
    let (low, high) = (-1.0, 12.0);
    let mut gathered = BoundedSum::new(low, high, false).unwrap();
    rows.iter().for_each(|row| gathered.add(*row));
    let total: f64 = rows.iter().sum();
    let average = total / rows.len() as f64;

    for noise in [NoiseKind::Laplace, NoiseKind::Gaussian, NoiseKind::DiscreteGaussian] {
        let t = if noise == NoiseKind::Laplace { pure } else { QueryTerms { noise, delta: delta(), ..pure } };
        check(&format!("count, {noise:?}"), misses(|e| (120.0, count(e, &t, 120).unwrap().interval[0])));
        check(
            &format!("histogram, {noise:?}"),
            misses(|e| (7.0, histogram(e, &t, &[30, 7, 0]).unwrap().interval[1])),
        );
        check(&format!("sum, {noise:?}"), misses(|e| (total, sum(e, &t, &gathered).unwrap().interval[0])));
        check(
            &format!("mean, {noise:?}"),
            misses(|e| (average, mean(e, &t, &gathered, None).unwrap().interval[0])),
        );
        check(
            &format!("proportion, {noise:?}"),
            misses(|e| (0.3, proportion(e, &t, 30, 70, None).unwrap().interval[0])),
        );
    }
    let public = Some(rows.len() as u64);
    let answer = |e: &mut Free| (average, mean(e, &replace, &gathered, public).unwrap().interval[0]);
    check("mean of public rows", misses(answer));
    let answer = |e: &mut Free| (0.3, proportion(e, &replace, 30, 70, Some(100)).unwrap().interval[0]);
    check("proportion of public rows", misses(answer));

    let mut table = RankTable::new(even_candidates(low, high, 131, false).unwrap()).unwrap();
    rows.iter().for_each(|row| table.add(*row));
    let mut sorted = rows.clone();
    sorted.sort_by(f64::total_cmp);
    for terms in
        [QueryTerms { epsilon: epsilon(5.0), ..pure }, QueryTerms { epsilon: epsilon(5.0), ..replace }]
    {
        for (level, place) in [(0.5, 99), (0.25, 49)] {
            let quantile = Quantile::new(level).unwrap();
            let answer =
                |e: &mut Free| (sorted[place], table.quantile(e, &terms, quantile).unwrap().interval[0]);
            check(&format!("quantile {level}, {}", terms.neighboring), misses(answer));
        }
    }

    // Choices: the interval is what the chosen one may fall short by.
    let cells = [40, 36, 33, 12, 1];
    check(
        "mode",
        misses(|e| {
            let answer = mode(e, &pure, SelectionRule::PermuteAndFlip, &cells).unwrap();
            (40.0 - cells[answer.value] as f64, answer.interval[0])
        }),
    );
    let prices = [1.0, 2.0, 4.0, 8.0];
    let revenue = prices.map(|p| p * rows.iter().filter(|row| **row >= p).count() as f64);
    let best = revenue.iter().copied().fold(0.0, f64::max);
    check(
        "best price",
        misses(|e| {
            let answer = best_price(e, &replace, SelectionRule::Exponential, &prices, &rows).unwrap();
            (best - revenue[answer.value], answer.interval[0])
        }),
    );

    // Survey: 300 respondents, 90 of them in the category asked for.
    for categories in [2u64, 5] {
        let response = RandomizedResponse::new(epsilon(1.0), categories).unwrap();
        let answer = |e: &mut Free| {
            let truth = |i: u64| if i < 90 { 0 } else { 1 + i % (categories - 1) };
            let mut draws = e.draws(&response.event()).unwrap();
            let reported =
                (0..300).filter(|i| draws.draw(&response, &truth(*i)).unwrap() == 0).count() as u64;
            (0.3, response.estimate(reported, 300, Confidence::P95).unwrap().interval)
        };
        check(&format!("survey of {categories} answers"), misses(answer));
    }
    // The generator is still in order after all this.
    assert_ne!(Entropy::new().unwrap().word(), Entropy::new().unwrap().word());
}
