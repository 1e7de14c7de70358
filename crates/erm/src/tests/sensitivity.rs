use super::{Numbers, Table};
use crate::MarginLoss;
use crate::problem::Problem;
use crate::solver::minimise;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const LOSSES: [MarginLoss; 4] = [
    MarginLoss::Logistic,
    MarginLoss::Huber { h: 0.5 },
    MarginLoss::Huber { h: 0.01 },
    MarginLoss::Squared { radius: 2.0 },
];

fn minimum(
    rows: &[(Vec<f64>, f64)],
    dimension: usize,
    loss: MarginLoss,
    lambda: f64,
    intercept: f64,
) -> Vec<f64> {
    let table = Table::dense(dimension, rows);
    let problem = Problem::new(table.rows(), loss, intercept).unwrap();
    minimise(&problem, lambda, &vec![0.0; problem.width()], 0.0, 1e-9 * lambda.max(1.0)).unwrap().weights
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

#[test]
fn thousands_of_neighbours_stay_within_the_bound() {
    let mut numbers = Numbers::new(11);
    let mut closest: f64 = 0.0;
    for round in 0..4000 {
        let loss = LOSSES[round % 4];
        let dimension = 1 + round % 5;
        let n = 1 + (numbers.next() * 12.0) as usize;
        let lambda = libm::exp(6.0 * numbers.next() - 4.0);
        let intercept = if round % 3 == 0 { 0.3 } else { 0.0 };
        let rows: Vec<_> = (0..n).map(|_| numbers.row(dimension)).collect();
        let lipschitz = loss.constants().lipschitz;
        let whole = minimum(&rows, dimension, loss, lambda, intercept);

        let mut replaced = rows.clone();
        // Half of the replacements are the opposite record, the worst for a linear model.
        replaced[0] = if round % 2 == 0 { (rows[0].0.clone(), -rows[0].1) } else { numbers.row(dimension) };
        let moved = distance(&whole, &minimum(&replaced, dimension, loss, lambda, intercept));
        assert!(moved <= 2.0 * lipschitz / lambda + 4e-9, "{loss:?} {moved} {}", 2.0 * lipschitz / lambda);
        closest = closest.max(moved * lambda / (2.0 * lipschitz));

        let moved = distance(&whole, &minimum(&rows[1..], dimension, loss, lambda, intercept));
        assert!(moved <= lipschitz / lambda + 4e-9, "{loss:?} {moved} {}", lipschitz / lambda);
    }
    assert!(closest > 1.0 / 3.0, "{closest}");
}

#[test]
fn an_adversarial_pair_comes_close_to_the_bound() {
    // Slopes of the hinge are -1 on both sides: the weights move by exactly 2/λ.
    let row = |y: f64| vec![(vec![1.0], y)];
    for (loss, factor) in [(MarginLoss::Huber { h: 0.1 }, 1.001), (MarginLoss::Logistic, 2.5)] {
        let (a, b) = (minimum(&row(1.0), 1, loss, 4.0, 0.0), minimum(&row(-1.0), 1, loss, 4.0, 0.0));
        assert!(distance(&a, &b) * factor >= 2.0 / 4.0, "{loss:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(17),
        ..ProptestConfig::default()
    })]
    #[test]
    fn the_minimum_is_one(seed in any::<u64>(), lambda in 0.001f64..50.0, which in 0usize..4) {
        // A certified gradient of norm g puts the weights within g/λ of the minimum.
        let mut numbers = Numbers::new(seed);
        let rows: Vec<_> = (0..20).map(|_| numbers.row(3)).collect();
        let table = Table::dense(3, &rows);
        let problem = Problem::new(table.rows(), LOSSES[which], 0.0).unwrap();
        let loose = minimise(&problem, lambda, &[0.0; 3], 0.0, 1e-3).unwrap();
        let tight = minimise(&problem, lambda, &[0.0; 3], 0.0, 1e-8).unwrap();
        prop_assert!(distance(&loose.weights, &tight.weights) <= (loose.gradient_norm + 1e-8) / lambda);
    }
}

#[test]
fn sharp_corners_are_found() {
    // A slope along a line that jumps within 2e-6: the search must close in on the jump.
    for seed in 0..300 {
        let mut numbers = Numbers::new(1000 + seed);
        let rows: Vec<_> = (0..20)
            .map(|_| {
                let (x, y) = numbers.row(1);
                let side = x[0].signum();
                (x, if numbers.next() < 0.8 { side } else { y })
            })
            .collect();
        let table = Table::dense(1, &rows);
        for (h, lambda) in [(1e-5, 0.2), (2e-6, 2e-3)] {
            let problem = Problem::new(table.rows(), MarginLoss::Huber { h }, 0.0).unwrap();
            let found = minimise(&problem, lambda, &[0.0], 0.0, 1e-4);
            assert!(found.is_ok(), "{seed} {h} {found:?}");
        }
    }
}

#[test]
fn far_minima_are_reached() {
    // The noise pulls weights a hundred million away, where the damped steps alone would never get.
    let mut numbers = Numbers::new(3);
    let rows: Vec<_> = (0..30).map(|_| numbers.row(3)).collect();
    let table = Table::dense(3, &rows);
    let problem = Problem::new(table.rows(), MarginLoss::Squared { radius: 1000.0 }, 0.0).unwrap();
    let found = minimise(&problem, 1.0, &[1e8, -1e8, 3e7], 0.0, 1e-3).unwrap();
    assert!(distance(&found.weights, &[-1e8, 1e8, -3e7]) < 1e5);
}

#[test]
fn both_newton_directions_lead_to_the_same_place() {
    let mut numbers = Numbers::new(5);
    let rows: Vec<_> = (0..200).map(|_| numbers.row(6)).collect();
    let sparse = Table::dense(6, &rows);
    // 700 features, nearly all of them empty, are beyond the dense matrix.
    let wide = Table { dimension: 700, ..sparse.clone() };
    let solve = |table: &Table| {
        let problem = Problem::new(table.rows(), MarginLoss::Logistic, 0.3).unwrap();
        minimise(&problem, 0.5, &vec![0.0; problem.width()], 0.0, 1e-9).unwrap().weights
    };
    let (a, b) = (solve(&sparse), solve(&wide));
    assert!(distance(&a[..6], &b[..6]) < 1e-8 && (a[6] - b[700]).abs() < 1e-8);
}
