//! Proven excess: what it is made of, and whole trainings against it.

use super::{Numbers, Table, budget, scope, session};
use crate::gradient::{self, DescentSchedule};
use crate::objective;
use crate::plan::NoisePlacement;
use crate::{FitMethod, FittedModel, MarginLoss, Scope, Settings, fit, fit_exact, utility};
use reticent_core::Neighboring;
use reticent_core::profile::gaussian_noise_multiplier_up;

fn million(width: usize) -> Scope {
    Scope {
        size: 1_000_000,
        width,
        l1_bound: 4.0,
        loss: MarginLoss::Logistic,
        neighboring: Neighboring::ReplaceOne,
        regularization: None,
    }
}

#[test]
fn the_finishing_noise_is_in_the_bounds() {
    let scope = million(100);
    let claim = budget(1.0, 0.0);
    let found = utility::objective_excess(&scope, claim, 10.0);
    let asked = Scope { regularization: Some(found.lambda / 1e6), ..scope };
    let plan = objective::plan(&asked, claim).unwrap();
    let NoisePlacement::Objective { shape, scale } = plan.place else { panic!() };
    let main = shape.typical_norm(100, scale).powi(2) / found.lambda / 1e6 + 50.0 * found.lambda / 1e6;
    // Laplace noise of scale sqrt(d)·sensitivity/0.01 on each of 100 weights.
    let laplace = 200f64.sqrt() * 10.0 * plan.finishing_sensitivity_up() / 0.01;
    let whole = main + laplace + plan.tolerance / found.lambda;
    assert!((found.excess / whole - 1.0).abs() < 1e-6, "{} {whole}", found.excess);
}

#[test]
fn proven_descents_have_the_noise_of_their_bound() {
    for (width, epsilon, delta) in [(10, 0.1, 1e-6), (100, 1.0, 1e-9), (1000, 4.0, 1e-5)] {
        let (scope, claim) = (million(width), budget(epsilon, delta));
        let schedule = DescentSchedule::proven(&scope, claim, 10.0);
        assert!(schedule.steps % 2 == 1 && schedule.check().is_ok());
        let plan = gradient::plan(&scope, claim, schedule, 1).unwrap();
        let z = gaussian_noise_multiplier_up(claim.epsilon, claim.delta).unwrap().get();
        let one = 2.0 * z * f64::from(schedule.steps).sqrt();
        assert!(plan.noise.sigma() >= one && plan.noise.sigma() <= 1.0101 * one, "{epsilon}");
    }
    // So many records, so small an excess: the question has an answer.
    let need = |excess: f64| {
        utility::records_needed(&million(100), FitMethod::Descent, budget(1.0, 1e-6), 10.0, excess)
    };
    assert!(need(0.3).unwrap() < need(0.22).unwrap());
}

#[test]
fn trainings_stay_within_their_bounds() {
    let mut numbers = Numbers::new(9);
    let rows: Vec<_> = (0..2000)
        .map(|_| {
            let (x, y) = numbers.row(4);
            let label = if x[0] > 0.0 { 1.0 } else { -1.0 };
            (x, if numbers.next() < 0.7 { label } else { y })
        })
        .collect();
    let (table, radius) = (Table::dense(4, &rows), 6.0);
    let loss = |fit: &FittedModel| {
        let margin = |x: &[f64]| fit.intercept + x.iter().zip(&fit.weights).map(|(x, w)| x * w).sum::<f64>();
        rows.iter().map(|(x, y)| MarginLoss::Logistic.value(margin(x), *y)).sum::<f64>() / rows.len() as f64
    };
    let exact = fit_exact(&table.rows(), MarginLoss::Logistic, &Settings::default()).unwrap();
    // The exact weights, in the units of rows with the constant 0.3, are within the radius.
    let square = exact.weights.iter().map(|w| w * w).sum::<f64>() / 0.91 + exact.intercept.powi(2) / 0.09;
    assert!(square.sqrt() < radius, "{square}");
    for (method, delta) in [
        (FitMethod::Objective, 0.0),
        (FitMethod::Objective, 1e-6),
        (FitMethod::Output, 0.0),
        (FitMethod::Output, 1e-6),
        (FitMethod::Descent, 1e-6),
    ] {
        let claim = budget(1.0, delta);
        let mut settings = Settings::default();
        let public = scope(table.rows(), MarginLoss::Logistic, &settings);
        let bounds = utility::bounds(&public, claim, radius);
        let bound = bounds.iter().find(|bound| bound.method == method).unwrap();
        if method == FitMethod::Descent {
            settings.schedule = Some(DescentSchedule::proven(&public, claim, radius));
        } else {
            settings.regularization = Some(bound.lambda / 2000.0);
        }
        let rounds = 5;
        let found: f64 = (0..rounds)
            .map(|_| {
                fit(&table.rows(), MarginLoss::Logistic, method, claim, &settings, &mut session(&settings))
                    .unwrap()
            })
            .map(|fit| loss(&fit) - loss(&exact))
            .sum();
        let mean = found / f64::from(rounds);
        assert!(mean <= bound.excess, "{method} {delta}: {mean} above {}", bound.excess);
    }
}
