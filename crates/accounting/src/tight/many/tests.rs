use super::super::contour::Sum;
use super::super::epsilon_of as short;
use super::super::events::End;
use super::super::lattice::discrete_gaussian;
use super::super::loss::{Direction, PrivacyLoss};
use super::reduced::{Reduced, moment_down};
use super::*;
use crate::cells::Step;

/// Numbers that look random, in (0, 1).
fn numbers(count: usize) -> impl Iterator<Item = f64> {
    (1..=count).map(|i| (i as f64 * 0.618_033_988_749_895 + (i * i) as f64 * 1e-3).fract())
}

fn pure(epsilon: f64) -> PrivacyLoss {
    let minus = 1.0 / (1.0 + libm::exp(epsilon));
    PrivacyLoss::Response { epsilon, plus: 1.0 - minus, minus }
}

fn sampled(rate: f64, sigma: f64, direction: Direction) -> PrivacyLoss {
    PrivacyLoss::Mixture { shifts: vec![0.0, 1.0], weights: vec![1.0 - rate, rate], sigma, direction }
}

fn on_sample(rate: f64, inner: PrivacyLoss, direction: Direction) -> PrivacyLoss {
    PrivacyLoss::Sampled { rate, inner: Box::new(inner), direction }
}

fn lists() -> Vec<(&'static str, Sum)> {
    let of = |count: usize, loss: &dyn Fn(f64) -> (f64, PrivacyLoss)| {
        let mut sum = Sum::default();
        numbers(count).map(loss).for_each(|(times, loss)| sum.push(times, loss));
        sum
    };
    let ternary = |u: f64| {
        let (plus, epsilon) = (0.36 + 0.1 * u, 0.2 + 0.3 * u);
        PrivacyLoss::Response { epsilon, plus, minus: plus * libm::exp(-epsilon) }
    };
    let integers = |u: f64| PrivacyLoss::Atoms(discrete_gaussian(3.0 + 4.0 * u, 1.0, End::Ceiling).unwrap());
    let mut mixed = of(6, &|u| (1.0, pure(0.1 + 0.4 * u)));
    for list in [
        of(6, &|u| (1.0, PrivacyLoss::Laplace(0.1 + 0.5 * u))),
        of(4, &|u| (30.0, sampled(0.01 + 0.05 * u, 0.8 + u, Direction::Remove))),
        of(2, &|u| (1.0, PrivacyLoss::Gaussian(2.0 + 3.0 * u))),
    ] {
        list.parts.into_iter().for_each(|(times, loss)| mixed.push(times, loss));
    }
    vec![
        ("pure", of(14, &|u| (1.0, pure(0.05 + 0.5 * u)))),
        ("pure, repeated", of(10, &|u| ((1.0 + 9.0 * u).floor(), pure(0.02 + 0.2 * u)))),
        ("ternary", of(12, &|u| (1.0, ternary(u)))),
        ("laplace", of(20, &|u| (1.0, PrivacyLoss::Laplace(0.05 + 0.5 * u)))),
        ("integers", of(12, &|u| (1.0, integers(u)))),
        ("remove", of(10, &|u| (20.0, sampled(0.01 + 0.05 * u, 0.7 + 2.0 * u, Direction::Remove)))),
        ("add", of(10, &|u| (20.0, sampled(0.01 + 0.05 * u, 0.7 + 2.0 * u, Direction::Add)))),
        ("mixed", mixed),
        (
            "integers, much noise",
            of(10, &|u| {
                (8.0, PrivacyLoss::Atoms(discrete_gaussian(12.0 + 18.0 * u, 1.0, End::Ceiling).unwrap()))
            }),
        ),
        (
            "sampled laplace",
            of(12, &|u| (8.0, on_sample(0.1 + 0.3 * u, PrivacyLoss::Laplace(0.4 + u), Direction::Remove))),
        ),
        (
            "sampled laplace, add",
            of(12, &|u| (8.0, on_sample(0.1 + 0.3 * u, PrivacyLoss::Laplace(0.4 + u), Direction::Add))),
        ),
        (
            "replaced",
            of(12, &|u| {
                (
                    20.0,
                    PrivacyLoss::Swapped {
                        rate: 0.02 + 0.05 * u,
                        inner: Box::new(PrivacyLoss::Gaussian(1.0 + u)),
                    },
                )
            }),
        ),
    ]
}

/// Short lists by the long way: the two brackets share the truth, and the long one is narrow.
#[test]
fn the_long_way_holds_the_same_truth() {
    for (name, sum) in lists() {
        for delta in [1e-3, 1e-6, 1e-9] {
            let (long, known) = (epsilon(&sum, delta, delta).unwrap(), short(&sum, delta, delta).unwrap());
            assert!(
                long.upper >= known.lower && long.lower <= known.upper,
                "{name} {delta} {long:?} {known:?}"
            );
            let width = (long.upper - long.lower) / long.upper;
            // Near the largest loss that is possible at all, smoothing does not help.
            assert!(width < 1e-3 || delta < 1e-6, "{name} {delta} {long:?} {width}");
            let back = super::delta(&sum, known.upper).unwrap();
            assert!(
                back.lower <= delta * (1.0 + 1e-9) && back.upper >= delta * 0.99,
                "{name} {delta} {back:?}"
            );
        }
    }
}

/// Mixtures of corners are never better, and their lower end never above the truth.
#[test]
fn cells_hold_the_same_truth() {
    for direction in [Direction::Remove, Direction::Add] {
        let mut sum = Sum::default();
        for (i, u) in numbers(300).enumerate() {
            let (rate, sigma) = (0.01 * libm::exp(0.1 * u), libm::exp(0.1 * (17.0 * u).fract()));
            sum.push((1 + i % 5) as f64, sampled(rate, sigma, direction));
        }
        let alone = epsilon(&sum, 1e-6, 1e-6).unwrap();
        let reduced = Reduced::with_alone(&sum, 20).unwrap();
        assert!(reduced.blended.len() > 100, "{}", reduced.blended.len());
        let cells = epsilon_of(&reduced, 1e-6, 1e-6).unwrap();
        assert!(cells.upper >= alone.lower && cells.lower <= alone.upper, "{cells:?} {alone:?}");
        assert!(cells.upper < 1.005 * cells.lower, "{cells:?}");
    }
}

#[test]
fn moments_from_below() {
    for direction in [Direction::Remove, Direction::Add] {
        for (rate, sigma) in [(1e-3, 0.4), (0.01, 1.0), (0.3, 5.0)] {
            for c in [0.5, 3.0, 12.0] {
                let log = sampled(rate, sigma, direction).cumulant(c);
                let factor = moment_down(Step { rate, sigma }, direction, c, log);
                assert!(factor <= 1.0 + 1e-13 && factor > 1.0 - 1e-9, "{rate} {sigma} {c} {factor}");
            }
        }
    }
}
