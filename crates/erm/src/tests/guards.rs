//! Inputs at the edge of what the proofs allow: refused, or within the bounds all the same.

use super::{Numbers, Table, budget, plain, scope, session};
use crate::draw::PerturbationLaw;
use crate::gradient::course_sigma;
use crate::objective::{self, Profile, redberg_delta_up};
use crate::plan::NoisePlacement;
use crate::problem::{Problem, margin_error_up, norm_up};
use crate::{
    DescentSchedule, ErmError, FitMethod, MarginLoss, Scope, Settings, SparseRows, fit, output, rows,
};
use reticent_core::profile::gaussian_delta_up;
use reticent_core::{Delta, Epsilon, Neighboring, NoiseMultiplier};

#[test]
fn steps_that_overflow_are_refused() {
    let good =
        DescentSchedule { steps: 2, learning_rate: 1e6, momentum: 0.0, radius: 1e6, sampling_rate: None };
    assert!(good.check().is_ok());
    for bad in [1e307, 1.1e6, f64::INFINITY, f64::NAN] {
        assert!(DescentSchedule { learning_rate: bad, ..good }.check().is_err(), "{bad}");
        assert!(DescentSchedule { radius: bad, ..good }.check().is_err(), "{bad}");
    }
}

#[test]
fn a_norm_with_a_nan_in_it_bounds_nothing() {
    for v in [[f64::NAN, f64::NAN], [f64::NAN, 1.0], [1.0, f64::NAN], [f64::INFINITY, f64::NAN]] {
        assert_eq!(norm_up(&v), f64::INFINITY);
    }
    assert!(norm_up(&[0.0, 0.0]) == 0.0 && norm_up(&[]) == 0.0 && norm_up(&[3.0, 4.0]) >= 5.0);
}

#[test]
fn small_entries_of_a_long_row_count() {
    // Each small square vanishes beside 1; together they add 5e-11 to the norm.
    let length = 1 << 20;
    let columns: Vec<u32> = (0..length as u32).collect();
    let offsets = [0, length];
    let mut values = vec![1e-8; length];
    values[0] = 1.0;
    let refused = SparseRows::new(length, &offsets, &columns, &values, &[1.0]).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("norm"), "{refused}");
    rows::clip(&offsets, &mut values);
    let small_first: f64 = values.iter().rev().map(|value| value * value).sum();
    assert!(small_first.sqrt() <= 1.0 + 1e-14, "{small_first}");
    assert!(SparseRows::new(length, &offsets, &columns, &values, &[1.0]).is_ok());
    // The same for the l1 norm, 1 + 1e-11.
    values.fill(1e-17);
    values[0] = 1.0;
    let row = SparseRows::new(length, &offsets, &columns, &values, &[1.0]).unwrap();
    assert!(row.with_l1_bound(1.0).is_err() && row.with_l1_bound(1.0 + 1e-10).is_ok());
    // Squares that overflow are no small norm.
    assert!(SparseRows::new(2, &[0, 2], &[0, 1], &[1e200, 1e200], &[1.0]).is_err());
}

#[test]
fn clipping_leaves_rows_that_are_not_finite() {
    let mut values = [f64::NAN, 3.0, 3.0, f64::INFINITY];
    rows::clip(&[0, 2, 4], &mut values);
    assert!(values[0].is_nan() && values[1..] == [3.0, 3.0, f64::INFINITY]);
}

#[test]
fn a_profile_without_meaning_promises_nothing() {
    let good = Profile {
        constants: MarginLoss::Logistic.constants(),
        lambda: 10.0,
        sigma: 5.0,
        neighboring: Neighboring::AddRemove,
    };
    let epsilon = Epsilon::new(1.0).unwrap();
    assert!(good.delta_up(epsilon) < 0.1);
    for loss in [MarginLoss::Logistic, MarginLoss::Squared { radius: 1.0 }] {
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let good = Profile { constants: loss.constants(), neighboring, ..good };
            for bad in [f64::NAN, -0.1, -10.0, 0.0] {
                let lambda = Profile { lambda: bad, ..good };
                assert_eq!(lambda.delta_up(epsilon), 1.0, "{lambda:?}");
                assert!(lambda.calibrated(epsilon, Delta::new(0.5).unwrap()).is_err());
                assert_eq!(Profile { sigma: bad, ..good }.delta_up(epsilon), 1.0);
            }
            let mut constants = good.constants;
            for bad in [f64::NAN, -2.0] {
                constants.smoothness = bad;
                assert_eq!(Profile { constants, ..good }.delta_up(epsilon), 1.0);
                constants = good.constants;
                constants.lipschitz = bad;
                assert_eq!(Profile { constants, ..good }.delta_up(epsilon), 1.0);
                constants = good.constants;
            }
        }
    }
    for (shifted, lipschitz, sigma) in [(f64::NAN, 1.0, 5.0), (0.5, f64::NAN, 5.0), (0.5, 1.0, f64::NAN)] {
        assert_eq!(redberg_delta_up(shifted, lipschitz, sigma), 1.0);
    }
    let raised = objective::chaudhuri_constants(0.25, 0.0, 1.0);
    assert!(raised.0 > 0.0 && raised.1 == 0.5);
    for bad in [f64::NAN, -0.3, -1e9] {
        assert_eq!(objective::chaudhuri_constants(0.25, bad, 1.0), raised, "{bad}");
    }
}

#[test]
fn the_course_formula_is_refused_where_its_proof_ends() {
    let (epsilon, delta) = (|e: f64| Epsilon::new(e).unwrap(), Delta::new(1e-5).unwrap());
    // n = 1000, ε = 0.5: ε₀ < 1 needs more than 640 steps.
    assert!(course_sigma(1.0, 1000, 650, epsilon(0.5), delta).is_ok());
    for steps in [1, 10, 630] {
        assert!(course_sigma(1.0, 1000, steps, epsilon(0.5), delta).is_err(), "{steps}");
    }
    assert!(course_sigma(1.0, 1000, 1_000_000, epsilon(1.0), delta).is_err());
    assert!(course_sigma(1.0, 1000, 1_000_000, epsilon(0.99), delta).is_ok());
    // The noise of one step does what the derivation asks of it, for every ε₀ and δ₀ below 1.
    for e in 1..100 {
        for d in 1..100 {
            let (e, d) = (f64::from(e) / 100.0, f64::from(d) / 100.0);
            let z = NoiseMultiplier::new((2.0 * (1.25 / d).ln()).sqrt() / e).unwrap();
            assert!(gaussian_delta_up(epsilon(e), z) <= d, "{e} {d}");
        }
    }
}

#[test]
fn certification_does_not_hang_on_the_rows() {
    // A corner so sharp that a margin's last bits move the gradient: empty rows and full ones must both be certified.
    let loss = MarginLoss::Huber { h: 2e-6 };
    let claim = budget(1.0, 1e-6);
    let empty: Vec<(Vec<f64>, f64)> = (0..5000).map(|_| (vec![0.0], 1.0)).collect();
    let mut one = empty.clone();
    one[0].0[0] = 1.0;
    for rows in [&empty, &one] {
        let table = Table::dense(1, rows);
        let run = |regularization: f64| {
            let settings = plain(Settings::default(), regularization);
            fit(&table.rows(), loss, FitMethod::Output, claim, &settings, &mut session(&settings)).map(|_| ())
        };
        assert_eq!(run(1e-4), Ok(()));
        // Less is refused from public numbers, before any row is read.
        assert!(matches!(run(1e-7), Err(ErmError::Invalid(_))));
    }
}

#[test]
fn the_tolerance_covers_the_rounding_of_every_data_set() {
    let mut numbers = Numbers::new(23);
    for loss in [
        MarginLoss::Logistic,
        MarginLoss::Huber { h: 1e-3 },
        MarginLoss::Huber { h: 3.0 },
        MarginLoss::Squared { radius: 5.0 },
    ] {
        for (n, regularization) in [(3, 1e-3), (300, 1e-4), (300, 1.0)] {
            let rows: Vec<_> = (0..n).map(|_| numbers.row(4)).collect();
            let table = Table::dense(4, &rows);
            let settings = plain(Settings::default(), regularization);
            let problem = Problem::new(table.rows(), loss, 0.0).unwrap();
            let public = scope(table.rows(), loss, &settings);
            assert!(rows.iter().all(|(_, y)| loss.value(0.0, *y) <= loss.at_zero()));
            for claim in [budget(0.1, 0.0), budget(2.0, 1e-6)] {
                let plan = objective::plan(&public, claim).unwrap();
                let NoisePlacement::Objective { shape, scale } = plan.place else { panic!() };
                let (linear, error) = shape.extremes(4, scale);
                // The farthest minimiser there can be: all of b in one direction, every loss at its value in 0.
                let far = 2.0 * linear / plan.lambda + (2.0 * loss.at_zero() / regularization).sqrt();
                let combined = f64::from(n) * loss.constants().lipschitz;
                let spent = problem.extent().gradient_error_up(far, plan.lambda, combined, linear) + error;
                assert!(spent < 0.5 * plan.tolerance, "{loss:?} {n} {spent} {}", plan.tolerance);
                assert!(2.0 * plan.tolerance <= 0.02 * loss.constants().lipschitz);
                let output = output::plan(&public, claim).unwrap();
                assert!(2.0 * output.tolerance <= 0.02 * loss.constants().lipschitz);
            }
        }
    }
}

#[test]
fn finishing_noise_moves_no_margin_on_large_tables() {
    // The benchmark's KDDCup99: many rows, little regularization, 166 features of at most 41 non-zeros and the intercept.
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        for (epsilon, delta) in [(0.1, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 5e-12), (3.0, 5e-12)] {
            let public = Scope {
                size: 448_339,
                width: 167,
                l1_bound: 6.41,
                loss: MarginLoss::Logistic,
                neighboring,
                regularization: None,
            };
            for plan in [
                objective::plan(&public, budget(epsilon, delta)).unwrap(),
                output::plan(&public, budget(epsilon, delta)).unwrap(),
            ] {
                if plan.place != NoisePlacement::Finish {
                    let moved = plan.finishing_norm(public.width).unwrap() / 167f64.sqrt();
                    assert!(moved < 0.1, "{neighboring} {epsilon} {delta}: {:?} {moved}", plan.place);
                }
            }
        }
    }
}

#[test]
fn margins_for_a_certificate_are_as_good_as_stated() {
    // Entry k − 1 − i is minus entry i and has its weight, so the margin is 0 whatever the numbers are.
    let k = 1 << 12;
    let (mut numbers, offsets) = (Numbers::new(5), [0, k]);
    let columns: Vec<u32> = (0..k as u32).collect();
    for _ in 0..20 {
        let half: Vec<f64> = (0..k / 2).map(|_| 2.0 * numbers.next() - 1.0).collect();
        let mut values: Vec<f64> =
            half.iter().copied().chain(half.iter().rev().map(|value| -value)).collect();
        rows::clip(&offsets, &mut values);
        let half: Vec<f64> = (0..k / 2).map(|_| 1e4 * (2.0 * numbers.next() - 1.0)).collect();
        let weights: Vec<f64> = half.iter().chain(half.iter().rev()).copied().collect();
        let row = SparseRows::new(k, &offsets, &columns, &values, &[1.0]).unwrap();
        let problem = Problem::new(row, MarginLoss::Logistic, 0.0).unwrap();
        let mut margins = Vec::new();
        problem.margins_exactly(&weights, &mut margins);
        assert!(margins[0].abs() <= margin_error_up(k) * norm_up(&weights), "{margins:?}");
    }
}

#[test]
fn wide_objectives_have_a_law() {
    let wide = Scope {
        size: 10_000,
        width: (1 << 18) + 1,
        l1_bound: 513.0,
        loss: MarginLoss::Logistic,
        neighboring: Neighboring::ReplaceOne,
        regularization: None,
    };
    let pure = objective::plan(&wide, budget(1.0, 0.0)).unwrap();
    assert!(matches!(pure.place, NoisePlacement::Objective { shape: PerturbationLaw::Laplace, .. }));
    let gaussian = objective::plan(&wide, budget(1.0, 1e-6)).unwrap();
    assert!(matches!(gaussian.place, NoisePlacement::Objective { shape: PerturbationLaw::Gaussian, .. }));
    // Spherical noise of so many coordinates is not proven, and the message says so.
    for refused in [objective::chaudhuri(&wide, budget(1.0, 0.0)), output::plan(&wide, budget(1.0, 0.0))] {
        assert!(refused.unwrap_err().to_string().contains("2^18"));
    }
    assert!(output::plan(&wide, budget(1.0, 1e-6)).is_ok());
}

#[test]
fn a_pure_law_claims_no_delta() {
    let table = Table::dense(1, &[(vec![1.0], 1.0), (vec![0.5], -1.0)]);
    let claimed = |delta: f64| {
        let settings = plain(Settings::default(), 10.0);
        let claim = budget(1.0, delta);
        let fitted = fit(
            &table.rows(),
            MarginLoss::Logistic,
            FitMethod::Objective,
            claim,
            &settings,
            &mut session(&settings),
        )
        .unwrap();
        let gaussian = matches!(
            fitted.report.place,
            Some(NoisePlacement::Objective { shape: PerturbationLaw::Gaussian, .. })
        );
        (gaussian, fitted.certificate.unwrap().guarantee)
    };
    // One weight and a tiny δ: Laplace noise is smaller.
    assert_eq!(claimed(1e-9), (false, budget(1.0, 0.0)));
    assert_eq!(claimed(0.2), (true, budget(1.0, 0.2)));
}

#[test]
fn schedules_of_papers_end_where_they_make_no_sense() {
    let table = Table::dense(1, &[(vec![1.0], 1.0), (vec![0.5], -1.0)]);
    let public = scope(table.rows(), MarginLoss::Logistic, &plain(Settings::default(), 10.0));
    let (part, lambda, _) = objective::iyengar_constants(1.0, 0.25, 900.0, 1e-6);
    assert!(part < 900.0 && lambda > 0.0);
    let refused = objective::iyengar(&public, budget(2000.0, 1e-6)).unwrap_err();
    assert!(refused.to_string().contains("1000"), "{refused}");
}
