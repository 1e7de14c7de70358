use super::super::query::Query;
use super::reference::{bin_of, gather_cells};
use super::*;
use crate::release::{Release, ReleaseQuestion};
use crate::watch::Unwatched;
use reticent_core::{Code, Neighboring};
use reticent_data::arrow_array::types::{Int8Type, Int32Type};
use reticent_data::arrow_array::*;
use reticent_data::{MemoryTable, Table};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn bins_are_half_open_and_the_last_is_closed() {
    let edges = [0.0, 10.0, 20.0];
    let expected =
        [(-0.1, None), (0.0, Some(0)), (9.9, Some(0)), (10.0, Some(1)), (20.0, Some(1)), (20.1, None)];
    for (value, bin) in expected {
        assert_eq!(bin_of(&edges, value), bin, "{value}");
    }
}

fn people() -> RecordBatch {
    let value = |row: i32| match row % 7 {
        0 => None,
        1 => Some(f64::NAN),
        _ => Some(f64::from(row) * 0.37 - 5.0),
    };
    let ages: ArrayRef = Arc::new(Float64Array::from_iter((0..200).map(value)));
    let name = |row: i32| ["a", "b", "c", ""][row as usize % 4];
    let groups: ArrayRef = Arc::new(StringArray::from_iter_values((0..200).map(name)));
    RecordBatch::try_from_iter_with_nullable([("age", ages, true), ("group", groups, true)]).unwrap()
}

fn pass(release: &Release, batches: Vec<RecordBatch>) -> Pass {
    let table: Arc<dyn Table> = Arc::new(MemoryTable::new("people", people().schema(), batches).unwrap());
    gather(&release.check_table(table).unwrap(), &Unwatched::new()).unwrap()
}

#[test]
fn passes_over_parts_of_a_table_merge_to_the_pass_over_the_whole() {
    let questions = [
        json!({"kind": "count"}),
        json!({"kind": "count", "column": "age"}),
        json!({"kind": "sum", "column": "age", "bounds": [0, 50]}),
        json!({"kind": "mean", "column": "age", "bounds": [0.5, 50.25], "count_clamped": true}),
        json!({"kind": "histogram", "column": "group", "categories": ["a", "b"]}),
        json!({"kind": "histogram", "column": "age", "bins": [0, 10, 30]}),
        json!({"kind": "quantile", "column": "age", "bounds": [0, 50]}),
        json!({"kind": "mode", "column": "group", "categories": ["a", "c"]}),
        json!({"kind": "proportion", "column": "group", "value": "b"}),
    ];
    for (question, neighboring) in questions.iter().flat_map(|question| {
        [Neighboring::AddRemove, Neighboring::ReplaceOne].map(|relation| (question, relation))
    }) {
        let asked: ReleaseQuestion = serde_json::from_value(question.clone()).unwrap();
        let release = Release { neighboring, ..Release::new("", asked, 1.0) };
        let whole = pass(&release, vec![people()]);
        for cuts in [[1, 2], [50, 120], [199, 199]] {
            let parts = [(0, cuts[0]), (cuts[0], cuts[1] - cuts[0]), (cuts[1], 200 - cuts[1])];
            // A table without rows is refused where their number is public.
            let parts = parts.into_iter().filter(|(_, length)| *length > 0);
            let parts: Vec<Pass> =
                parts.map(|(start, length)| pass(&release, vec![people().slice(start, length)])).collect();
            let mut merged = parts[parts.len() - 1].clone();
            for part in &parts[..parts.len() - 1] {
                merged.merge(part).unwrap();
            }
            assert!(merged == whole, "{question} {cuts:?}");
        }
    }
}

#[test]
fn passes_for_different_questions_do_not_merge() {
    let release = |question| Release::new("", question, 1.0);
    let count = release(ReleaseQuestion::Count { column: None, error: None });
    let share = release(ReleaseQuestion::Proportion { column: "group".to_owned(), value: "a".to_owned() });
    let (mut one, other) = (pass(&count, vec![people()]), pass(&share, vec![people()]));
    let before = one.clone();
    assert_eq!(one.merge(&other), Err(MergeError::Mismatch { what: "questions" }));
    assert!(one == before);
}

#[test]
fn a_file_and_a_table_are_not_both_asked_about() {
    let release = Release::new("people.csv", ReleaseQuestion::Count { column: None, error: None }, 1.0);
    let table: Arc<dyn Table> =
        Arc::new(MemoryTable::new("people", people().schema(), vec![people()]).unwrap());
    let refusal = release.check_table(table).unwrap_err();
    assert!(refusal.to_string().contains("the table itself is given"), "{refusal}");
}

/// Numbers that are the same in every run.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next() as usize % choices.len()]
    }

    fn float(&mut self) -> f64 {
        self.next() as f64 / f64::from(1 << 24) - 60.0
    }

    fn number(&mut self) -> Option<f64> {
        let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1e300, -1e300, 5e-324, 10.0, 0.5];
        match self.next() % 8 {
            0 => None,
            1 | 2 => Some(self.of(&wild)),
            3 => Some((self.float() * 8.0).round() / 8.0),
            _ => Some(self.float()),
        }
    }

    fn text(&mut self) -> Option<&'static str> {
        let texts = [
            "a",
            "b",
            " a ",
            "",
            "  ",
            "1",
            "2",
            " 3.5",
            "1e3",
            "nan",
            "inf",
            "true",
            "9223372036854775808",
            "07",
            "2024-03-01",
            "\u{a0}",
            "é",
        ];
        (!self.next().is_multiple_of(6)).then(|| self.of(&texts))
    }

    /// A table with a column of every kind.
    fn table(&mut self, rows: usize) -> RecordBatch {
        let mut column = |make: &mut dyn FnMut(&mut Self) -> ArrayRef| make(self);
        macro_rules! of {
            ($array:ty, $draw:expr) => {
                column(&mut |draws| Arc::new((0..rows).map(|_| $draw(draws)).collect::<$array>()) as ArrayRef)
            };
        }
        let huge = [0, 1, 2, 10, -1, i64::MAX, i64::MIN, (1 << 53) + 1, -(1 << 60) - 7];
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("float", of!(Float64Array, |d: &mut Self| d.number())),
            ("single", of!(Float32Array, |d: &mut Self| d.number().map(|value| value as f32))),
            ("huge", of!(Int64Array, |d: &mut Self| (!d.next().is_multiple_of(5)).then(|| d.of(&huge)))),
            (
                "natural",
                of!(UInt64Array, |d: &mut Self| (!d.next().is_multiple_of(5)).then(|| d.of(&huge) as u64)),
            ),
            ("small", of!(Int8Array, |d: &mut Self| (!d.next().is_multiple_of(5)).then(|| d.next() as i8))),
            ("whole", of!(Int32Array, |d: &mut Self| Some(d.next() as i32 % 100 - 20))),
            ("truth", of!(BooleanArray, |d: &mut Self| d.of(&[None, Some(true), Some(false)]))),
            ("text", of!(StringArray, |d: &mut Self| d.text())),
            ("view", of!(StringViewArray, |d: &mut Self| d.text())),
            ("coded", of!(DictionaryArray<Int32Type>, |d: &mut Self| d.text())),
            ("short", of!(DictionaryArray<Int8Type>, |d: &mut Self| d.text())),
            ("day", of!(Date32Array, |d: &mut Self| d.of(&[None, Some(19_783), Some(0), Some(5)]))),
            (
                "time",
                of!(TimestampMillisecondArray, |d: &mut Self| d.of(&[
                    None,
                    Some(1500),
                    Some(-1000),
                    Some(0)
                ])),
            ),
            ("nothing", Arc::new(NullArray::new(rows))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
            .unwrap()
    }
}

/// Questions of every kind about a column.
fn questions(column: &str) -> Vec<Value> {
    let labels = [
        "a",
        "1",
        "2",
        "3.5",
        "NaN",
        "true",
        "0",
        "-1",
        "é",
        "2024-03-01",
        "9223372036854775808",
        "1970-01-01T00:00:00",
    ];
    let mut questions = vec![
        json!({"kind": "count"}),
        json!({"kind": "count", "column": column}),
        json!({"kind": "histogram", "column": column, "bins": [0, 10, 30]}),
        json!({"kind": "histogram", "column": column, "bins": [-1e300, -60.5, 0.5, 0.6, 10, 1e300]}),
        json!({"kind": "histogram", "column": column, "categories": labels}),
        json!({"kind": "mode", "column": column, "categories": labels}),
        json!({"kind": "proportion", "column": column, "value": "1"}),
        json!({"kind": "proportion", "column": column, "value": "a"}),
    ];
    // Grids of every kind: fine, whole, too wide for the fast sum, at both ends of the exponents.
    for bounds in [[0.0, 50.0], [-3.25, 10.0], [-4e15, 4e15], [-1e-300, 1e-300], [-1e300, 1e300], [0.1, 0.7]]
    {
        for kind in ["sum", "mean", "quantile"] {
            questions.push(json!({"kind": kind, "column": column, "bounds": bounds}));
            questions.push(
                json!({"kind": kind, "column": column, "bounds": bounds, "integers": true, "count_clamped": true}),
            );
        }
    }
    questions
}

/// How many questions about this table were asked, and those to which `pass` and the pass by cells come to something else.
fn disagreements(
    batch: &RecordBatch,
    threads: u64,
    pass: &dyn Fn(PlannedRelease) -> Pass,
) -> (usize, Vec<String>) {
    let table: Arc<dyn Table> =
        Arc::new(MemoryTable::new("random", batch.schema(), vec![batch.clone()]).unwrap());
    let (mut count, mut different) = (0, Vec::new());
    let filters = [None, Some("text=a"), Some("float>=0 and whole<50"), Some("coded!=1"), Some("huge=10")];
    let fields = batch.schema();
    for (number, question) in fields.fields().iter().flat_map(|field| questions(field.name())).enumerate() {
        let asked: ReleaseQuestion = serde_json::from_value(question.clone()).unwrap();
        let filter = filters[number % filters.len()].map(str::to_owned);
        for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
            let (threads, filter) = (Some(threads), filter.clone());
            let text = format!("{question} {filter:?} {neighboring}");
            let release = Release { neighboring, filter, threads, ..Release::new("", asked.clone(), 1.0) };
            // A sum of text is refused, for example.
            let Ok(plan) = release.check_table(table.clone()) else { continue };
            let by_cells = gather_cells(&plan);
            if pass(plan) != by_cells {
                different.push(text);
            }
            count += 1;
        }
    }
    (count, different)
}

fn by_columns(plan: PlannedRelease) -> Pass {
    gather(&plan, &Unwatched::new()).unwrap()
}

#[test]
fn a_pass_by_columns_is_the_pass_by_cells() {
    let mut draws = Draws(7);
    for rows in [1, 63, 64, 65, 200, 1000] {
        let batch = draws.table(rows);
        let (count, different) = disagreements(&batch, 1, &by_columns);
        assert!(count > 300 && different.is_empty(), "{count} {different:?}");
        // Masks and slices at an offset.
        let rest = batch.slice(rows / 3, rows - rows / 3);
        assert_eq!(disagreements(&rest, 1, &by_columns).1, Vec::<String>::new());
    }
}

#[test]
fn threads_do_not_change_the_pass() {
    let batch = Draws(11).table(20_000);
    assert!(batch.get_array_memory_size() > 1 << 20);
    assert_eq!(disagreements(&batch, 3, &by_columns).1, Vec::<String>::new());
}

#[test]
fn broken_passes_disagree() {
    let batch = Draws(13).table(500);
    let unfiltered = |plan: PlannedRelease| by_columns(PlannedRelease { filter: None, ..plan });
    let twice = |plan: PlannedRelease| {
        let mut pass = by_columns(plan);
        pass.merge(&pass.clone()).unwrap();
        pass
    };
    let other_bounds = |plan: PlannedRelease| {
        let mut plan = plan;
        if let Query::Sum { bounds, .. } | Query::Quantile { bounds, .. } = &mut plan.query {
            bounds[1] *= 1.0 + f64::EPSILON;
        }
        by_columns(plan)
    };
    for (name, broken) in [
        ("unfiltered", &unfiltered as &dyn Fn(PlannedRelease) -> Pass),
        ("twice", &twice),
        ("bounds", &other_bounds),
    ] {
        assert!(!disagreements(&batch, 1, broken).1.is_empty(), "{name}");
    }
}

#[test]
fn a_number_of_threads_that_no_machine_has_is_refused() {
    for threads in [0, 4097] {
        let question = ReleaseQuestion::Count { column: None, error: None };
        let release = Release { threads: Some(threads), ..Release::new("", question, 1.0) };
        let table: Arc<dyn Table> =
            Arc::new(MemoryTable::new("people", people().schema(), vec![people()]).unwrap());
        assert_eq!(release.check_table(table).unwrap_err().field(), Some("threads"));
    }
}

#[test]
fn a_pass_stops_when_it_is_asked_to() {
    let question = ReleaseQuestion::Count { column: Some("age".to_owned()), error: None };
    let table: Arc<dyn Table> =
        Arc::new(MemoryTable::new("people", people().schema(), vec![people()]).unwrap());
    let plan = Release::new("", question, 1.0).check_table(table).unwrap();
    let watch = Unwatched::new();
    watch.halt().store(true, Ordering::SeqCst);
    let refusal = gather(&plan, &watch).err().unwrap();
    assert_eq!(refusal.code(), Code::Unreadable);
    assert!(refusal.to_string().contains("interrupted"), "{refusal}");
}
