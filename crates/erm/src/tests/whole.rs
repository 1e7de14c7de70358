use super::{Numbers, Table, budget, session};
use crate::{
    AnyModel, Classes, ClassificationReport, ErmError, FitMethod, FittedModel, MarginLoss, Settings,
    evaluate, evaluate_multiclass, fit, fit_exact, fit_multiclass, prepare, prepare_multiclass,
};
use reticent_core::{Event, Ledger, LedgerError, Neighboring, Plan};
use reticent_noise::{NoiseError, NoiseSession};

/// Rows whose label is the sign of a fixed direction, now and then wrong.
fn separable(n: usize, seed: u64) -> Table {
    let mut numbers = Numbers::new(seed);
    let rows: Vec<_> = (0..n)
        .map(|_| {
            let (x, _) = numbers.row(5);
            let side = x[0] + 0.5 * x[1] - 0.5 * x[2] + 0.1;
            let right = numbers.next() < 0.95;
            (x, if (side > 0.0) == right { 1.0 } else { -1.0 })
        })
        .collect();
    Table::dense(5, &rows)
}

fn score(fit: &FittedModel, table: &Table) -> ClassificationReport {
    evaluate(fit, &table.rows()).unwrap()
}

#[test]
fn every_method_learns() {
    let (train, test) = (separable(20_000, 1), separable(4000, 2));
    let exact = fit_exact(&train.rows(), MarginLoss::Logistic, &Settings::default()).unwrap();
    let best = score(&exact, &test).accuracy;
    assert!(best > 0.92 && exact.certificate.is_none());
    let (replace, add) = (Settings::default(), Settings::add_remove(20_000));
    for (method, delta, settings) in [
        (FitMethod::Output, 0.0, &replace),
        (FitMethod::Output, 1e-6, &add),
        (FitMethod::Objective, 0.0, &replace),
        (FitMethod::Objective, 0.0, &add),
        (FitMethod::Objective, 1e-6, &replace),
        (FitMethod::Objective, 1e-6, &add),
        (FitMethod::Chaudhuri, 0.0, &replace),
        (FitMethod::Kifer, 1e-6, &add),
        (FitMethod::Iyengar, 1e-6, &replace),
        (FitMethod::Descent, 1e-6, &replace),
        (FitMethod::Sgd, 1e-6, &add),
    ] {
        for loss in [MarginLoss::Logistic, MarginLoss::SVM, MarginLoss::Squared { radius: 2.0 }] {
            let claim = budget(1.0, delta);
            let fitted = fit(&train.rows(), loss, method, claim, settings, &mut session(settings)).unwrap();
            let found = score(&fitted, &test);
            assert!(found.accuracy > best - 0.1, "{method} {loss:?} {}", found.accuracy);
            assert!(found.auc.unwrap() > 0.9);
            let certificate = fitted.certificate.as_ref().unwrap();
            assert_eq!(certificate.neighboring, settings.neighboring);
            assert!(certificate.guarantee.epsilon.get() <= 1.0 && certificate.guarantee.delta.get() <= delta);
            assert!(certificate.events == fitted.events && !fitted.events.is_empty());
            assert!(fitted.report.warnings.is_empty(), "{:?}", fitted.report.warnings);
        }
    }
}

#[test]
fn the_events_of_a_pure_fit_add_up_to_the_budget() {
    let table = separable(100, 3);
    let (claim, settings) = (budget(0.3, 0.0), Settings::default());
    let fitted = fit(
        &table.rows(),
        MarginLoss::Logistic,
        FitMethod::Objective,
        claim,
        &settings,
        &mut session(&settings),
    )
    .unwrap();
    let [Event::Pure { epsilon }, Event::Laplace { noise_multiplier }] = &fitted.events[..] else { panic!() };
    assert!(epsilon.get() + 1.0 / noise_multiplier.get() <= 0.3 + 1e-12);
    assert!(!fitted.report.warnings.is_empty(), "a hundred rows are too few and should be called so");
    let probabilities = fitted.probabilities(&table.rows()).unwrap();
    assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
}

#[test]
fn several_classes_share_a_budget() {
    let mut numbers = Numbers::new(7);
    let mut classes = Vec::new();
    let rows: Vec<_> = (0..6000)
        .map(|_| {
            let (mut x, y) = numbers.row(3);
            let class = (3.0 * numbers.next()) as usize;
            x.iter_mut().for_each(|v| *v *= 0.2);
            x[class] += 0.7;
            classes.push(class as u32);
            (x, y)
        })
        .collect();
    let table = Table::dense(3, &rows);
    for (method, delta) in [(FitMethod::Exact, 0.0), (FitMethod::Objective, 0.0), (FitMethod::Descent, 1e-6)]
    {
        let model = fit_multiclass(
            &table.rows(),
            Classes { of: &classes, count: 3 },
            MarginLoss::Logistic,
            method,
            budget(1.0, delta),
            &Settings::default(),
            &mut session(&Settings::default()),
        )
        .unwrap();
        let found = evaluate_multiclass(&model, &table.rows(), &classes).unwrap();
        assert!(found.accuracy > 0.9 && found.classes.len() == 3, "{method} {}", found.accuracy);
        assert_eq!(model.certificate.is_none(), method == FitMethod::Exact);
        if let Some(certificate) = &model.certificate {
            assert!(
                certificate.guarantee.epsilon.get() <= 1.0 && certificate.accountant.contains("3 classes")
            );
            let sum: f64 = certificate
                .events
                .iter()
                .map(|event| match event {
                    Event::Pure { epsilon } => epsilon.get(),
                    Event::Laplace { noise_multiplier } => 1.0 / noise_multiplier.get(),
                    _ => 0.0,
                })
                .sum();
            assert!(sum <= 1.0 + 1e-9);
        }
        let folder = tempfile::tempdir().unwrap();
        let stored = AnyModel::Multiclass(model);
        stored.save(folder.path()).unwrap();
        let AnyModel::Multiclass(read) = AnyModel::load(folder.path()).unwrap() else { panic!() };
        let AnyModel::Multiclass(model) = stored else { panic!() };
        assert_eq!(read.models, model.models);
    }
    let wrong = vec![3u32; 6000];
    let settings = Settings::default();
    let tried = fit_multiclass(
        &table.rows(),
        Classes { of: &wrong, count: 3 },
        MarginLoss::Logistic,
        FitMethod::Objective,
        budget(1.0, 0.0),
        &settings,
        &mut session(&settings),
    );
    assert!(matches!(tried, Err(ErmError::Row { row: 0, .. })));
}

#[test]
fn a_model_comes_back_from_disk() {
    let table = separable(500, 4);
    let settings = Settings::add_remove(500);
    let claim = budget(2.0, 1e-5);
    let fitted =
        fit(&table.rows(), MarginLoss::SVM, FitMethod::Sgd, claim, &settings, &mut session(&settings))
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    AnyModel::Binary(fitted.clone()).save(&path).unwrap();
    let AnyModel::Binary(read) = AnyModel::load(&path).unwrap() else { panic!() };
    assert_eq!((&read.weights, read.intercept), (&fitted.weights, fitted.intercept));
    assert_eq!(read.certificate.unwrap().neighboring, Neighboring::AddRemove);
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 2);
    // A model for other features says so.
    let other = Table::dense(2, &[(vec![1.0, 0.0], 1.0)]);
    assert!(matches!(evaluate(&fitted, &other.rows()), Err(ErmError::Shape(_))));
    assert!(matches!(fitted.probabilities(&table.rows()), Err(ErmError::Kind { .. })));
    // Damaged or missing files.
    std::fs::write(path.join(crate::store::WEIGHTS_FILE), b"nothing").unwrap();
    assert!(matches!(AnyModel::load(&path), Err(ErmError::File { .. })));
    assert!(matches!(AnyModel::load(folder.path()), Err(ErmError::File { .. })));
}

#[test]
fn the_baseline_is_deterministic_and_reaches_the_minimum_of_every_loss() {
    for n in [3, 300, 5000] {
        let table = separable(n, 6);
        for loss in [
            MarginLoss::Logistic,
            MarginLoss::SVM,
            MarginLoss::Huber { h: 0.05 },
            MarginLoss::Squared { radius: 1.0 },
        ] {
            let fit = || fit_exact(&table.rows(), loss, &Settings::default()).unwrap();
            let (once, again) = (fit(), fit());
            assert_eq!(once, again);
            assert!(once.report.solver.unwrap().1 <= 1e-9 * loss.constants().lipschitz);
        }
    }
}

#[test]
fn a_fit_is_charged_before_it_runs_and_can_be_part_of_a_larger_plan() {
    struct Nothing;
    impl Ledger for Nothing {
        fn reserve(&mut self, _: &Plan) -> Result<(), LedgerError> {
            Err(LedgerError::Exceeded { remedy: "ask for nothing".into() })
        }

        fn neighboring(&self) -> Option<Neighboring> {
            Some(Neighboring::ReplaceOne)
        }
    }
    let table = separable(300, 3);
    let rows = table.rows();
    let settings = Settings::default();
    let classes: Vec<u32> = (0..300).map(|row| row % 3).collect();
    let classes = Classes { of: &classes, count: 3 };
    let private = [FitMethod::Output, FitMethod::Objective, FitMethod::Descent, FitMethod::Sgd];
    for (method, loss) in private.into_iter().flat_map(|m| [(m, MarginLoss::Logistic), (m, MarginLoss::SVM)])
    {
        let claim = budget(1.0, 1e-5);
        let mut broke = NoiseSession::new("rows", "row", Neighboring::ReplaceOne, Box::new(Nothing)).unwrap();
        let refused = fit(&rows, loss, method, claim, &settings, &mut broke);
        assert!(matches!(refused, Err(ErmError::Noise(NoiseError::Ledger(_)))), "{method}");
        let mut other = NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap();
        let refused = fit(&rows, loss, method, claim, &settings, &mut other);
        assert!(matches!(refused, Err(ErmError::Noise(NoiseError::Relation { .. }))), "{method}");

        let mut session = session(&settings);
        let (one, several) = (
            prepare(&rows, loss, method, claim, &settings).unwrap(),
            prepare_multiclass(&rows, classes, loss, method, claim, &settings).unwrap(),
        );
        let fit_alone = Event::Composed { events: one.charges().events().to_vec() };
        let test = Event::Pure { epsilon: claim.epsilon };
        let mut events = vec![Event::Parallel { events: vec![fit_alone, test.clone()] }];
        events.extend_from_slice(several.charges().events());
        let mut permit = session.charge(&Plan::new(events).unwrap()).unwrap();
        let fitted = one.run(&mut session.with(&mut permit)).unwrap();
        assert_eq!(fitted.events, one.charges().events());
        let fitted = several.run(&mut session.with(&mut permit)).unwrap();
        assert_eq!(fitted.events, several.charges().events());
        session.with(&mut permit).draws(&test).unwrap();
        assert!(permit.is_used_up(), "{method}");
        let refused = one.run(&mut session.with(&mut permit));
        assert!(matches!(refused, Err(ErmError::Noise(NoiseError::Unpaid))), "{method}");
    }
}
