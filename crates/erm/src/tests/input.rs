use super::{Numbers, Table, budget, session};
use crate::{DescentSchedule, ErmError, FitMethod, MarginLoss, Settings, SparseRows, fit, fit_exact, rows};
use reticent_core::Neighboring;

fn two_classes() -> Table {
    Table::dense(2, &[(vec![1.0, 0.0], 1.0), (vec![0.6, 0.8], -1.0), (vec![0.0, -1.0], 1.0)])
}

#[test]
fn arrays_that_are_no_rows_are_refused() {
    let good = two_classes();
    let make =
        |d: usize, o: &[usize], c: &[u32], v: &[f64], y: &[f64]| SparseRows::new(d, o, c, v, y).unwrap_err();
    let (o, c, v, y) = (&good.offsets[..], &good.columns[..], &good.values[..], &good.labels[..]);
    let says = |error: ErmError, part: &str| assert!(error.to_string().contains(part), "{error}");
    says(make(0, o, c, v, y), "features");
    says(make(2, &o[1..], c, v, y), "offsets");
    says(make(2, o, &c[1..], v, y), "columns");
    says(make(2, &[0, 3, 2, 4], c, v, y), "offsets must rise");
    says(make(1, o, c, v, y), "not below the dimension");
    says(make(2, &[0, 2], &[1, 0], &[0.1, 0.1], &[1.0]), "increase strictly");
    for bad in [f64::NAN, f64::INFINITY] {
        says(make(2, &[0, 1], &[0], &[bad], &[1.0]), "not finite");
        says(make(2, &[0, 1], &[0], &[0.5], &[bad]), "label");
    }
    says(make(2, &[0, 1], &[0], &[1.0 + 1e-9], &[1.0]), "norm");
    says(make(2, &[0, 1], &[0], &[1.0], &[1.5]), "label");
    says(good.rows().with_l1_bound(1.0).unwrap_err(), "l1 norm");
    assert!(good.rows().with_l1_bound(0.0).is_err() && good.rows().with_l1_bound(1.5).is_ok());
    assert!(good.rows().with_labels(&[1.0]).is_err());
}

#[test]
fn clipping_keeps_to_the_ball() {
    let offsets = [0, 2, 4, 5, 6, 6];
    let mut values = [3.0, 4.0, 0.1, 0.1, f64::MAX, f64::NAN];
    rows::clip(&offsets, &mut values);
    assert_eq!(values[..5], [0.6, 0.8, 0.1, 0.1, 1.0]);
    assert!(values[5].is_nan());
    let mut huge = [f64::MAX, f64::MAX];
    rows::clip(&[0, 2], &mut huge);
    assert!((huge[0] - 0.5f64.sqrt()).abs() < 1e-12);
}

#[test]
fn settings_without_meaning_are_refused() {
    let table = two_classes();
    let pure = budget(1.0, 0.0);
    let run = |method, budget, settings: &Settings| {
        fit(&table.rows(), MarginLoss::Logistic, method, budget, settings, &mut session(settings))
            .map(|_| ())
            .unwrap_err()
    };
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        settings
    };
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = with(&|s| s.regularization = Some(value));
        assert!(run(FitMethod::Objective, pure, &settings).to_string().contains("regularization"));
    }
    assert!(run(FitMethod::Output, budget(0.0, 0.0), &Settings::default()).to_string().contains("epsilon"));
    for value in [1.0, -0.1, f64::NAN] {
        assert!(
            run(FitMethod::Output, pure, &with(&|s| s.intercept = value)).to_string().contains("intercept")
        );
    }
    assert!(run(FitMethod::Output, pure, &with(&|s| s.size = Some(7))).to_string().contains("size"));
    let unsized_add = with(&|s| s.neighboring = Neighboring::AddRemove);
    assert!(run(FitMethod::Output, pure, &unsized_add).to_string().contains("size"));
    assert!(run(FitMethod::Output, pure, &Settings::add_remove(0)).to_string().contains("size"));
    for method in [FitMethod::Descent, FitMethod::Sgd, FitMethod::Iyengar] {
        assert!(matches!(run(method, pure, &Settings::default()), ErmError::Kind { .. }), "{method}");
    }
    assert!(matches!(
        run(FitMethod::Kifer, budget(1.0, 1e-6), &Settings::default()),
        ErmError::Relation { .. }
    ));
    assert!("sdg".parse::<FitMethod>().unwrap_err().to_string().contains("sgd"));
    assert_eq!("chaudhuri-2011".parse(), Ok(FitMethod::Chaudhuri));
}

#[test]
fn schedules_without_meaning_are_refused() {
    let table = two_classes();
    let good = DescentSchedule {
        steps: 2,
        learning_rate: 0.1,
        momentum: 0.0,
        radius: 1.0,
        sampling_rate: Some(0.5),
    };
    for bad in [
        DescentSchedule { steps: 0, ..good },
        DescentSchedule { learning_rate: 0.0, ..good },
        DescentSchedule { momentum: 1.0, ..good },
        DescentSchedule { radius: f64::NAN, ..good },
        DescentSchedule { sampling_rate: Some(0.0), ..good },
        DescentSchedule { sampling_rate: Some(1.1), ..good },
    ] {
        let settings = Settings { schedule: Some(bad), ..Settings::add_remove(3) };
        let tried = fit(
            &table.rows(),
            MarginLoss::Logistic,
            FitMethod::Sgd,
            budget(1.0, 1e-3),
            &settings,
            &mut session(&settings),
        );
        assert!(tried.is_err(), "{bad:?}");
    }
}

#[test]
fn odd_data_is_data_for_a_private_fit() {
    // One class, constant or empty columns, one row: refusing would tell what the rows are.
    let one_class = Table::dense(3, &[(vec![0.5, 0.5, 0.0], 1.0), (vec![0.5, -0.5, 0.0], 1.0)]);
    let one_row = Table::dense(3, &[(vec![0.5, 0.5, 0.0], 1.0)]);
    let zeros = Table::dense(3, &[(vec![0.0; 3], 1.0), (vec![0.0; 3], -1.0)]);
    for table in [&one_class, &one_row, &zeros] {
        for (method, delta) in [
            (FitMethod::Output, 0.0),
            (FitMethod::Output, 1e-3),
            (FitMethod::Objective, 0.0),
            (FitMethod::Objective, 1e-3),
            (FitMethod::Chaudhuri, 0.0),
            (FitMethod::Descent, 1e-3),
        ] {
            for epsilon in [1e-4, 1.0] {
                let settings = Settings::default();
                let claim = budget(epsilon, delta);
                let fit =
                    fit(&table.rows(), MarginLoss::SVM, method, claim, &settings, &mut session(&settings))
                        .unwrap();
                assert!(fit.weights.iter().all(|w| w.is_finite()), "{method}");
                assert!(fit.certificate.unwrap().guarantee.epsilon.get() <= epsilon);
            }
        }
    }
    let none = Table::dense(3, &[]);
    let settings = Settings::add_remove(5);
    assert!(
        fit(
            &none.rows(),
            MarginLoss::SVM,
            FitMethod::Objective,
            budget(1.0, 0.0),
            &settings,
            &mut session(&settings)
        )
        .is_ok()
    );
    let replace = Settings::default();
    assert!(
        fit(
            &none.rows(),
            MarginLoss::SVM,
            FitMethod::Objective,
            budget(1.0, 0.0),
            &replace,
            &mut session(&replace)
        )
        .is_err()
    );
}

#[test]
fn the_baseline_wants_two_classes_and_rows() {
    let settings = Settings::default();
    let one = Table::dense(1, &[(vec![1.0], 1.0), (vec![0.5], 1.0)]);
    assert_eq!(fit_exact(&one.rows(), MarginLoss::SVM, &settings), Err(ErmError::OneClass { label: 1.0 }));
    assert!(fit_exact(&one.rows(), MarginLoss::Squared { radius: 1.0 }, &settings).is_ok());
    assert!(fit_exact(&Table::dense(1, &[]).rows(), MarginLoss::SVM, &settings).is_err());
    let half = Table::dense(1, &[(vec![1.0], 0.5), (vec![0.5], -1.0)]);
    assert!(matches!(fit_exact(&half.rows(), MarginLoss::Logistic, &settings), Err(ErmError::Row { .. })));
    assert!(fit_exact(&half.rows(), MarginLoss::Squared { radius: 1.0 }, &settings).is_ok());
    assert!(fit_exact(&half.rows(), MarginLoss::Squared { radius: 0.0 }, &settings).is_err());
    assert!(fit_exact(&half.rows(), MarginLoss::Huber { h: f64::NAN }, &settings).is_err());
}

#[test]
fn a_solver_that_cannot_certify_fails() {
    let mut numbers = Numbers::new(1);
    let rows: Vec<_> = (0..50).map(|_| numbers.row(4)).collect();
    let table = Table::dense(4, &rows);
    let problem = crate::problem::Problem::new(table.rows(), MarginLoss::Logistic, 0.0).unwrap();
    let tried = crate::solver::minimise(&problem, 1.0, &[0.0; 4], 0.0, 1e-18);
    assert!(matches!(tried, Err(ErmError::NotConverged { .. })), "{tried:?}");
    // The error of the linear term is part of the certificate.
    let tried = crate::solver::minimise(&problem, 1.0, &[0.0; 4], 1e-3, 1e-4);
    assert!(matches!(tried, Err(ErmError::NotConverged { .. })), "{tried:?}");
}
