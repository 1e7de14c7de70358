use std::sync::Arc;

use ::parquet::basic::Compression;
use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};
use proptest::prelude::*;

use super::*;
use crate::fixture::{Folder, Kept, array, parquet_bytes, rows_of, text};
use crate::{Number, NumberError};

const ADULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/adult/adult.parquet");
const SURVEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/survey.csv");

#[test]
fn files_that_are_no_tables_are_refused() {
    let folder = Folder::new();
    assert_eq!(folder.open_error(&folder.path("people.csv")), "people.csv: no such file");
    assert_eq!(
        folder.open_error(&folder.file("people.xlsx", "x")),
        "people.xlsx: unknown table format \".xlsx\": give a .csv, .tsv, .parquet or .arrow file, or name its format"
    );
    assert_eq!(
        folder.open_error(&folder.file("people", "x")),
        "people: unknown table format \"\": give a .csv, .tsv, .parquet or .arrow file, or name its format"
    );
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    assert_eq!(
        folder.open_error(&folder.path("folder.csv")),
        "folder.csv: the folder has no .parquet files: give a file, a folder of Parquet files, or a glob such as \
         \"folder.csv/*.csv\""
    );
    for name in ["empty.csv", "empty.parquet"] {
        assert_eq!(
            folder.open_error(&folder.file(name, "")),
            format!("{name}: the file is empty: a table needs at least a header with column names")
        );
    }
}

#[test]
fn a_file_inside_a_file_cannot_be_read() {
    let folder = Folder::new();
    let inner = folder.file("a.csv", "x\n").join("b.csv");
    assert!(folder.open_error(&inner).starts_with("a.csv/b.csv: cannot read: "));
}

#[test]
fn the_extension_may_have_any_case() {
    let folder = Folder::new();
    let table = open_table(&folder.file("A.CSV", "x\n1\n")).unwrap();
    assert_eq!(table.columns(), [ColumnInfo { name: "x".into(), kind: ColumnKind::Text }]);
    assert_eq!(table.size_bytes(), 4);
    assert!(table.name().ends_with("A.CSV"));
    let bytes = parquet_bytes(vec![("x", array(Int64Array::from(vec![1])))], Compression::UNCOMPRESSED);
    let table = open_table(&folder.file("A.Parquet", bytes)).unwrap();
    assert_eq!(table.column("x").unwrap().kind, ColumnKind::Integer);
}

#[test]
fn an_unknown_column_is_named_before_anything_is_read() {
    let folder = Folder::new();
    let path = folder.file("people.csv", "age,sex\n1\n");
    assert_eq!(
        folder.scan_error(&path, &["sex", "Age"]),
        "column \"Age\" is not in people.csv: it has age, sex (did you mean \"age\"?)"
    );
    let table = open_table(&path).unwrap();
    assert!(matches!(table.column("x"), Err(DataError::UnknownColumn { .. })));
}

#[test]
fn columns_come_in_the_order_asked_for_and_may_repeat() {
    let folder = Folder::new();
    let csv = folder.file("t.csv", "a,b,c\n1,2,3\n");
    let columns = ["a", "b", "c"].map(|name| (name, array(StringArray::from(vec!["x"]))));
    let parquet = folder.parquet("t.parquet", columns.to_vec());
    let (rows, _) = rows_of(&csv, &["c", "a", "c"]).unwrap();
    assert_eq!(rows, [[text("3"), text("1"), text("3")]]);
    assert_eq!(rows_of(&parquet, &["c", "a", "c"]).unwrap().0, [[text("x"), text("x"), text("x")]]);
    for path in [csv, parquet] {
        let (rows, stats) = rows_of(&path, &[]).unwrap();
        assert_eq!((rows, stats), (vec![vec![]], ScanStats { rows: 1, nulls: vec![] }));
    }
}

#[test]
fn an_error_of_the_visitor_ends_the_pass() {
    #[derive(Debug, PartialEq)]
    struct Stop(u64);
    impl From<DataError> for Stop {
        fn from(error: DataError) -> Self {
            panic!("{error}")
        }
    }
    for path in [SURVEY, ADULT] {
        let table = open_table(path.as_ref()).unwrap();
        let visit: &mut Visit<'_, Stop> = &mut |row, _| if row == 3 { Err(Stop(row)) } else { Ok(()) };
        assert_eq!(table.scan(&["age"], &mut |_| {}, visit).unwrap_err(), Stop(3));
    }
}

#[test]
fn a_file_that_changed_since_it_was_opened_is_refused() {
    let folder = Folder::new();
    for altered in ["a,b\n1,2\n3,4\n", "a,c\n1,2\n"] {
        let table = open_table(&folder.file("t.csv", "a,b\n1,2\n")).unwrap();
        folder.file("t.csv", altered);
        let error = table.scan::<DataError>(&["a"], &mut |_| {}, &mut |_, _| Ok(())).unwrap_err();
        assert!(matches!(error, DataError::Changed { .. }));
    }
    let table = open_table(&folder.file("t.csv", "a,b\n1,2\n")).unwrap();
    std::fs::remove_file(folder.path("t.csv")).unwrap();
    let error = table.scan::<DataError>(&["a"], &mut |_| {}, &mut |_, _| Ok(())).unwrap_err();
    assert!(folder.message(error).starts_with("t.csv: cannot read: "));
}

#[test]
fn adult_has_its_published_counts() {
    let columns = ["workclass", "occupation", "native_country", "age", "income"];
    let table = open_table(ADULT.as_ref()).unwrap();
    assert_eq!(table.columns().len(), 15);
    let (mut ages, mut rich, mut reports) = (0i64, 0, 0);
    let stats = table
        .scan::<DataError>(&columns, &mut |_| reports += 1, &mut |row, cells| {
            match cells[3].number_at("age", row)? {
                Some(Number::Integer(age)) => ages += age,
                other => panic!("{other:?}"),
            }
            rich += u64::from(cells[4].label().as_deref() == Some(">50K"));
            Ok(())
        })
        .unwrap();
    assert_eq!(stats, ScanStats { rows: 32_561, nulls: vec![1836, 1843, 583, 0, 0] });
    assert_eq!(rich, 7841);
    assert_eq!(ages, 1_256_257);
    assert_eq!(reports, 32_561usize.div_ceil(BATCH_ROWS));
}

#[test]
fn the_survey_is_the_head_of_adult() {
    let columns = ["age", "sex", "education", "income"];
    let (adult, _) = rows_of(ADULT.as_ref(), &columns).unwrap();
    let (survey, stats) = rows_of(SURVEY.as_ref(), &columns).unwrap();
    assert_eq!(stats.rows, 2000);
    for (from_csv, from_parquet) in survey.iter().zip(&adult) {
        for (a, b) in from_csv.iter().zip(from_parquet) {
            assert_eq!(meaning(a), meaning(b));
        }
    }
}

/// How a cell reads as a number and as a label.
fn meaning(cell: &Kept) -> (Result<Option<Number>, NumberError>, Option<String>) {
    let cell = match cell {
        Kept::Null => Cell::Null,
        Kept::Integer(integer) => Cell::Integer(*integer),
        Kept::Float(float) => Cell::Float(*float),
        Kept::Text(text) => Cell::Text(text),
        Kept::Boolean(truth) => Cell::Boolean(*truth),
        Kept::Date(days) => Cell::Date(*days),
        Kept::Timestamp(at) => Cell::Timestamp(*at),
    };
    (cell.number(), cell.label().map(|label| label.into_owned()))
}

type Row = (Option<i64>, Option<f64>, Option<String>, Option<bool>);

fn row() -> impl Strategy<Value = Row> {
    let float = prop_oneof![6 => any::<f64>(), 1 => Just(f64::INFINITY), 1 => Just(f64::NAN)];
    let word = prop_oneof!["[ a-z0-9\"',;\n=<>é-]{0,6}", "[0-9]{1,20}", Just("nan".to_owned())];
    (any::<Option<i64>>(), proptest::option::of(float), proptest::option::of(word), any::<Option<bool>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_and_parquet_give_the_same_cells(rows in proptest::collection::vec(row(), 0..20)) {
        let folder = Folder::new();
        let columns = vec![
            ("i", array(rows.iter().map(|row| row.0).collect::<Int64Array>())),
            ("f", array(rows.iter().map(|row| row.1).collect::<Float64Array>())),
            ("t", array(rows.iter().map(|row| row.2.clone()).collect::<StringArray>())),
            ("b", array(rows.iter().map(|row| row.3).collect::<BooleanArray>())),
        ];
        let parquet = folder.parquet("t.parquet", columns);
        let csv = folder.path("t.csv");
        let table = open_table(&parquet).unwrap();
        let keep = &mut |_, cell: Cell<'_>| Ok::<_, DataError>(cell.csv_text().into_owned());
        crate::rewrite_column(&table, "i", &csv, &mut |_| {}, keep).unwrap();
        let (from_parquet, stats) = rows_of(&parquet, &["i", "f", "t", "b"]).unwrap();
        let (from_csv, csv_stats) = rows_of(&csv, &["i", "f", "t", "b"]).unwrap();
        prop_assert_eq!(stats, csv_stats);
        prop_assert_eq!(from_parquet.len(), rows.len());
        for (a, b) in from_parquet.iter().flatten().zip(from_csv.iter().flatten()) {
            prop_assert_eq!(meaning(a).0, meaning(b).0);
            if !matches!(a, Kept::Float(_)) {
                prop_assert_eq!(meaning(a).1, meaning(b).1);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let folder = Folder::new();
        for name in ["t.csv", "t.parquet"] {
            let path = folder.file(name, &bytes);
            if let Ok(table) = open_table(&path) {
                let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).collect();
                let _ = rows_of(&path, &names);
            }
        }
    }
}

#[test]
fn tables_can_be_sent_between_threads() {
    fn sendable<T: Send + Sync + 'static>(_: Arc<T>) {}
    sendable(Arc::new(open_table(ADULT.as_ref()).unwrap()));
}
