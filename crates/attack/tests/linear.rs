//! Linear reference models.

use crate::tiny::number;
use reticent_attack::{
    Job, JobSettings, Learner, LinearLearner, LinearSettings, Population, ReferenceDesign as Splits,
    ReferencePlan, ReferenceSettings, Store, Wanted,
};
use reticent_audit::overfitting;
use reticent_core::{Delta, Epsilon, Guarantee};
use reticent_data::FeatureMatrix;
use reticent_erm::{FitMethod, MarginLoss, Settings};
use std::sync::atomic::AtomicBool;

fn rows(count: usize, classes: u32) -> FeatureMatrix {
    let class = |row: usize| row as u32 % classes;
    let values: Vec<f64> = (0..count * 6)
        .map(|place| {
            let (row, column) = (place / 6, place % 6);
            let centre = f64::from(u8::from(class(row) as usize == column));
            0.5 * centre + 0.3 * f64::from(number("row", place))
        })
        .collect();
    let label = |row| if classes == 2 { f64::from(class(row)) * 2.0 - 1.0 } else { f64::from(class(row)) };
    FeatureMatrix::dense(6, &values, (0..count).map(label).collect(), 1.0).unwrap()
}

fn how(classes: u32, method: FitMethod, budget: Option<Guarantee>) -> LinearSettings {
    let settings = Settings::default();
    LinearSettings { classes, loss: MarginLoss::Logistic, method, budget, settings, l1_bound: None }
}

#[test]
fn exact_fits_repeat_and_private_ones_do_not() {
    let budget = Guarantee { epsilon: Epsilon::new(8.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let cases = [
        (2, FitMethod::Exact, None, 0.9),
        (3, FitMethod::Exact, None, 0.9),
        (2, FitMethod::Objective, Some(budget), 0.7),
        (3, FitMethod::Descent, Some(budget), 0.4),
    ];
    for (classes, method, budget, least) in cases {
        let learner = LinearLearner::new(rows(400, classes), how(classes, method, budget)).unwrap();
        assert_eq!(learner.is_repeatable(), method == FitMethod::Exact);
        let settings = ReferenceSettings {
            key: "k".into(),
            references: 2,
            design: Splits::Half,
            wanted: Wanted { weights: true, ..Wanted::default() },
        };
        let plan = ReferencePlan::new(&settings, &learner).unwrap();
        let collected = || {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path()).unwrap();
            let halt = AtomicBool::new(false);
            plan.fit(&store, Job::WHOLE, JobSettings { threads: 2, progress: &|_| {}, halt: &halt }).unwrap();
            plan.collect(&store).unwrap()
        };
        let (first, second) = (collected(), collected());
        assert_eq!(first == second, method == FitMethod::Exact, "{method}");
        let labels = Population::of_labels(learner.labels().to_vec()).labels;
        for row in overfitting(&first, &labels).unwrap() {
            assert!(row.train_accuracy >= least && row.test_accuracy >= least, "{method} {row:?}");
        }
    }
}

#[test]
fn settings_without_meaning_are_refused() {
    assert!(LinearLearner::new(rows(20, 2), how(1, FitMethod::Exact, None)).is_err());
    assert!(LinearLearner::new(rows(20, 3), how(2, FitMethod::Exact, None)).is_err());
    assert!(LinearLearner::new(rows(20, 2), how(2, FitMethod::Objective, None)).is_err());
    let squared =
        LinearSettings { loss: MarginLoss::Squared { radius: 1.0 }, ..how(2, FitMethod::Exact, None) };
    assert!(LinearLearner::new(rows(20, 2), squared).is_err());
}
