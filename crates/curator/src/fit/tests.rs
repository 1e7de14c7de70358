//! A fit on neighbouring files: what goes into the count, the held-out test and the final mechanism, against what is declared.

use super::held_out::released;
use super::rows::encode;
use super::{Fit, FitPlan};
use crate::watch::Unwatched;
use crate::{Planned, Request, Session};
use reticent_core::{Epsilon, Neighboring};
use reticent_erm::{Method, Model};
use reticent_noise::Releaser;
use reticent_noise::query::{self, Terms};
use reticent_testkit::replay::{Query, compare};
use std::path::PathBuf;

/// One feature, two classes.
const SCHEMA: &str =
    "unit = \"row\"\n[label]\ncolumn = \"k\"\npositive = \"a\"\n[columns]\nx = { bounds = [-3, 12] }\n";

type Row = (&'static str, &'static str);

/// Rows as an adversary would pick them: at and beyond the bounds, missing, not a number, of either class or of none.
const ROWS: [Row; 10] = [
    ("-3", "a"),
    ("12", "a"),
    ("-3", "b"),
    ("12", "b"),
    ("1e308", "a"),
    ("", "b"),
    ("nan", "a"),
    ("abc", ""),
    ("4.5", "other"),
    ("4.5", "a"),
];

/// A folder with the one file that all tables are written to in turn.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        std::fs::write(desk.path("schema.toml"), SCHEMA).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn request(&self) -> Fit {
        let (data, schema) = (Some(self.path("t.csv")), Some(self.path("schema.toml")));
        Fit { data, schema, no_intercept: true, ..Fit::default() }
    }

    fn write(&self, table: &[Row]) {
        let rows: String = table.iter().map(|(x, k)| format!("{x},{k}\n")).collect();
        std::fs::write(self.path("t.csv"), format!("x,k\n{rows}")).unwrap();
    }

    /// The minimiser of these rows, and the weight of the regularization. No noise, no privacy.
    fn exact(&self, table: &[Row], request: &Fit) -> (Model, f64) {
        self.write(table);
        let request = Fit { method: Some(Method::Exact), ..request.clone() };
        let fitted = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        (fitted.weights, fitted.regularization)
    }
}

/// The noisy numbers of a fit besides its weights: how many rows it has, and the score of a given model on the held-out rows.
struct Numbers<'a> {
    desk: &'a Desk,
    model: Model,
}

impl Numbers<'_> {
    fn plan(&self, table: &[Row]) -> FitPlan {
        self.desk.write(table);
        Fit { epsilon: Some(1.0), test_share: Some(0.5), ..self.desk.request() }.check().unwrap()
    }
}

impl Query for Numbers<'_> {
    type Data = [Row];
    type Answer = String;

    fn run(&self, table: &[Row], source: &mut impl Releaser) -> String {
        let (plan, epsilon) = (self.plan(table), Epsilon::new(1.0).unwrap());
        let (train, held_out) = encode(&plan, &Unwatched::new()).unwrap();
        let counted = query::count(source, &Terms::pure(epsilon), train.rows() as u64).unwrap();
        let tested = released(&plan, &self.model, &held_out.unwrap(), 100, epsilon, source).unwrap();
        format!("{} {:?}", counted.value, tested.score())
    }
}

#[test]
fn one_row_moves_the_count_or_the_held_out_test_by_one() {
    let desk = Desk::new();
    let (model, _) = desk.exact(&ROWS, &desk.request());
    let numbers = Numbers { desk: &desk, model };
    let sides = |table: &[Row]| {
        let (train, held_out) = encode(&numbers.plan(table), &Unwatched::new()).unwrap();
        [train.rows(), held_out.unwrap().rows()]
    };
    let mut moved = [0, 0];
    for (place, row) in ROWS.iter().enumerate() {
        for times in [0, 1, 3] {
            let table: Vec<Row> = ROWS.iter().copied().cycle().take(times * ROWS.len()).collect();
            let mut neighbour = table.clone();
            neighbour.insert(place.min(table.len()), *row);
            let report = compare(&numbers, &table, &neighbour).unwrap();
            assert!(report.clean() && report.releases == 2, "{report:?}\n{table:?}\n{neighbour:?}");
            assert_eq!(report.worst_distance, 1.0, "{table:?}\n{neighbour:?}");
            // In parallel: whoever is in the one is not in the other.
            let (before, after) = (sides(&table), sides(&neighbour));
            let side = usize::from(before[0] == after[0]);
            assert!(after[side] == before[side] + 1 && after[1 - side] == before[1 - side]);
            moved[side] += 1;
        }
    }
    assert!(moved[0] > 0 && moved[1] > 0, "{moved:?}");
}

#[test]
fn one_row_moves_the_minimiser_by_the_declared_sensitivity_at_most() {
    let desk = Desk::new();
    let request = Fit { neighboring: Neighboring::ReplaceOne, regularization: Some(0.02), ..desk.request() };
    let weights = |table: &[Row]| match desk.exact(table, &request) {
        (Model::Binary(fit), regularization) => (fit.weights, regularization),
        (Model::Multiclass(_), _) => panic!("two classes"),
    };
    let mut worst = 0.0f64;
    for row in ROWS {
        for other in ROWS {
            // Both classes are there whatever the row is, and most rows are against it.
            let mut table: Vec<Row> = [("12", "b"), ("-3", "a")].into_iter().cycle().take(20).collect();
            table.push(row);
            let (own, regularization) = weights(&table);
            *table.last_mut().unwrap() = other;
            let (others, _) = weights(&table);
            let distance = own.iter().zip(&others).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            // 2L/(nΛ) with the slope 1 of the logistic loss and rows of norm 1 at most.
            let declared = 2.0 / (table.len() as f64 * regularization);
            assert!(distance <= declared * (1.0 + 1e-9), "{row:?} {other:?}: {distance} > {declared}");
            worst = worst.max(distance / declared);
        }
    }
    assert!(worst > 0.1, "the rows only reach {worst}");
}
