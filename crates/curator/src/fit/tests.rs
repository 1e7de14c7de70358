//! A fit on neighbouring files: what goes into the count, the held-out test and the final mechanism, against what is declared.

use super::held_out::released;
use super::rows::encode;
use super::{Fit, FitPlan};
use crate::watch::Unwatched;
use crate::{Planned, Request, Session};
use reticent_core::{Epsilon, Neighboring};
use reticent_erm::{AnyModel, FitMethod};
use reticent_noise::Releaser;
use reticent_noise::query::{self, QueryTerms};
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
    fn exact(&self, table: &[Row], request: &Fit) -> (AnyModel, f64) {
        self.write(table);
        let request = Fit { method: Some(FitMethod::Exact), ..request.clone() };
        let fitted = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        (fitted.weights, fitted.regularization)
    }
}

/// The noisy numbers of a fit besides its weights: how many rows it has, and the score of a given model on the held-out rows.
struct Numbers<'a> {
    desk: &'a Desk,
    model: AnyModel,
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
        let counted = query::count(source, &QueryTerms::pure(epsilon), train.rows() as u64).unwrap();
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
        (AnyModel::Binary(fit), regularization) => (fit.weights, regularization),
        (AnyModel::Multiclass(_), _) => panic!("two classes"),
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

#[test]
fn tables_in_memory_are_fitted_like_the_same_file() {
    use super::FitTables;
    use reticent_data::arrow_array::{ArrayRef, RecordBatch, StringArray};
    use reticent_data::{MemoryTable, Schema};
    use std::sync::Arc;
    let desk = Desk::new();
    let table: Vec<Row> =
        (0..40).map(|row| (["0.5", "9", "-3", ""][row % 4], ["a", "b", "?"][row % 3])).collect();
    let (expected, _) = desk.exact(&table, &desk.request());
    let column = |cells: Vec<&str>| -> ArrayRef { Arc::new(StringArray::from(cells)) };
    let batch = RecordBatch::try_from_iter([
        ("x", column(table.iter().map(|row| row.0).collect())),
        ("k", column(table.iter().map(|row| row.1).collect())),
    ])
    .unwrap();
    let parts = vec![batch.slice(0, 13), batch.slice(13, 27)];
    let train = Arc::new(MemoryTable::new("desk", batch.schema(), parts).unwrap());
    let schema = Schema::parse(SCHEMA, "schema").unwrap();
    let tables = || FitTables { train: train.clone(), test: None, schema: Some(schema.clone()) };
    let out = desk.path("model");
    let request = Fit {
        data: None,
        schema: None,
        method: Some(FitMethod::Exact),
        out: Some(out.clone()),
        ..desk.request()
    };
    let fitted = request.check_tables(tables()).unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    assert_eq!(fitted.weights, expected);
    // What is stored does not ask for the bundled records.
    let stored = super::kept::read(&out).unwrap();
    assert!(stored.data.unwrap().display().to_string().ends_with("memory:desk"));
    for named in [desk.request(), Fit { data: None, ..desk.request() }] {
        assert!(named.check_tables(tables()).is_err());
    }
    let same = FitTables { test: Some(train.clone()), ..tables() };
    let private = Fit { out: None, method: None, epsilon: Some(1.0), ..request };
    let refusal = private.check_tables(same).unwrap_err().to_string();
    assert!(refusal.contains("private training data"), "{refusal}");
}
