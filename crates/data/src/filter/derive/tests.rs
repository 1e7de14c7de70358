use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};

use super::*;
use crate::table::{BatchReader, ColumnInfo, ColumnKind, MemoryTable};

fn people() -> Arc<dyn Table> {
    let columns: [(&str, ArrayRef); 6] = [
        ("weight", Arc::new(Float64Array::from(vec![Some(80.0), Some(60.0), Some(500.0), None]))),
        ("height", Arc::new(Float64Array::from(vec![2.0, 0.0, 1.0, 1.5]))),
        ("visits", Arc::new(Int64Array::from(vec![3, 4, 5, 6]))),
        ("born", Arc::new(Date32Array::from(vec![Some(0), Some(365), None, Some(-1)]))),
        ("seen", Arc::new(StringArray::from(vec!["1971-01-01", "never", "", "1970-01-01T12:00"]))),
        ("member", Arc::new(BooleanArray::from(vec![true; 4]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    Arc::new(MemoryTable::new("people", batch.schema(), vec![batch.slice(0, 3), batch.slice(3, 1)]).unwrap())
}

fn derived(texts: &[&str]) -> Result<Arc<dyn Table>, DataError> {
    let derivations = texts.iter().map(|text| Derivation::parse(text)).collect::<Result<Vec<_>, _>>()?;
    derive(people(), &derivations)
}

fn column(table: &dyn Table, name: &str) -> Vec<Option<f64>> {
    let mut values = Vec::new();
    table
        .scan(&[name], &mut |_| {}, &mut |_, cells| {
            values.push(cells[0].number().unwrap().map(|number| number.to_f64()));
            Ok::<(), DataError>(())
        })
        .unwrap();
    values
}

#[test]
fn a_derivation_has_a_name_an_expression_and_bounds() {
    let bmi = Derivation::parse("bmi = weight / (height*height) in 10,60").unwrap();
    assert_eq!((bmi.name(), bmi.bounds()), ("bmi", [10.0, 60.0]));
    assert_eq!(bmi.columns(), ["weight", "height"]);
    assert_eq!(bmi.to_string(), "bmi = weight / (height*height) in 10,60");
    assert_eq!(bmi.canonical(), "`bmi` = `weight` / (`height` * `height`) in 10.0,60.0");
    for (text, name, columns) in [
        ("`a b`=`x in y`*2 in -1 , 1e3", "a b", vec!["x in y"]),
        ("days in hospital = left - came in 0,365", "days in hospital", vec!["left", "came"]),
        ("x2 = time in hospital IN 0,14", "x2", vec!["time in hospital"]),
        ("y=(a)in 0,1", "y", vec!["a"]),
    ] {
        let read = Derivation::parse(text).unwrap();
        assert_eq!(
            (read.name(), read.columns()),
            (name, &columns.into_iter().map(str::to_owned).collect::<Vec<_>>()[..])
        );
        assert_eq!(Derivation::parse(&read.canonical()).unwrap().canonical(), read.canonical());
    }
}

#[test]
fn malformed_derivations_are_refused_with_an_example() {
    for (text, expected) in [
        ("", "there is no ="),
        ("bmi", "there is no ="),
        ("= weight in 1,2", "the name of the new column is missing"),
        ("`` = weight in 1,2", "the name of the new column is missing"),
        ("bmi = weight", "the bounds are missing"),
        ("bmi = weight in", "the bounds are missing"),
        ("bmi = weight in 5", "are not two numbers"),
        ("bmi = weight in 5,x", "are not two numbers"),
        ("bmi = weight in 0,inf", "are not two numbers"),
        ("bmi = weight in 9,5", "do not have the lower one first"),
        ("bmi = weight in 5,5", "do not have the lower one first"),
        ("bmi = weight in -1e308,1e308", "too far apart"),
        ("bmi = in 1,2", "an expression is missing"),
        ("bmi = 5 in 1,2", "names no column"),
        ("bmi = weight > 5 in 1,2", "cannot follow"),
        ("bmi = (weight > 5) in 1,2", "a condition cannot be part of arithmetic"),
        ("bmi = weight) in 1,2", "closed that was not opened"),
        ("bmi = 'weight' * 2 in 1,2", "write a column as `weight`"),
        ("bmi = log(weight) in 1,2", "there is no function \"log\""),
    ] {
        let error = Derivation::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.ends_with(EXAMPLE) && !error.contains('\n'));
    }
}

#[test]
fn derived_columns_come_after_those_of_the_table() {
    let table = derived(&[
        "bmi = weight / (height*height) in 10,60",
        "half = bmi / 2 in 0,25",
        "age = seen - born in -1000,1000",
        "year = year(born) in 1900,2000",
    ])
    .unwrap_err();
    // The file declares "seen" as text.
    assert!(table.to_string().contains("\"seen\" holds text"), "{table}");
    let table = derived(&[
        "bmi = weight / (height*height) in 10,60",
        "half = bmi / 2 + visits*0 in 0,25",
        "year = year(born) in 1900,2000",
        "hour = hour(seen) in 0,23",
    ])
    .unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names[6..], ["bmi", "half", "year", "hour"]);
    assert!(table.columns()[6..].iter().all(|column| column.kind == ColumnKind::Float));
    assert_eq!(column(&table, "bmi"), [Some(20.0), None, Some(60.0), None]);
    assert_eq!(column(&table, "half"), [Some(10.0), None, Some(25.0), None]);
    assert_eq!(column(&table, "year"), [Some(1970.0), Some(1971.0), None, Some(1969.0)]);
    assert_eq!(column(&table, "hour"), [None, None, None, Some(12.0)]);
    assert_eq!(column(&table, "visits"), [Some(3.0), Some(4.0), Some(5.0), Some(6.0)]);
    let mut rows = Vec::new();
    table
        .scan(&["half", "weight", "half", "bmi"], &mut |_| {}, &mut |row, cells| {
            rows.push((
                row,
                cells.iter().map(|cell| cell.number().unwrap().map(|own| own.to_f64())).collect::<Vec<_>>(),
            ));
            Ok::<(), DataError>(())
        })
        .unwrap();
    assert_eq!(rows[2], (3, vec![Some(25.0), Some(500.0), Some(25.0), Some(60.0)]));
    assert_eq!(table.scan(&[], &mut |_| {}, &mut |_, _| Ok::<(), DataError>(())).unwrap().rows, 4);
    let texts: Vec<&str> = table.derivations().iter().map(Derivation::name).collect();
    assert_eq!(texts, ["bmi", "half", "year", "hour"]);
    assert_eq!((table.stated_rows(), table.name(), table.path()), (Some(4), "people", None));
}

/// Notes which columns are read.
#[derive(Debug)]
struct Watched(Arc<dyn Table>, std::sync::Mutex<Vec<usize>>);

impl Table for Watched {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.0.columns()
    }

    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        *self.1.lock().unwrap() = columns.to_vec();
        self.0.batches(columns)
    }
}

#[test]
fn only_needed_columns_are_read() {
    let watched = Arc::new(Watched(people(), std::sync::Mutex::default()));
    let derivations = ["bmi = weight / height in 0,9", "busy = visits*2 in 0,9", "both = bmi + busy in 0,9"]
        .map(|text| Derivation::parse(text).unwrap());
    let inner: Arc<dyn Table> = Arc::clone(&watched) as Arc<dyn Table>;
    let table = derive(inner, &derivations).unwrap();
    for (columns, read) in [
        (vec!["born"], vec![3]),
        (vec![], vec![]),
        (vec!["busy"], vec![2]),
        (vec!["bmi", "born"], vec![0, 1, 3]),
        (vec!["both"], vec![0, 1, 2]),
    ] {
        table.scan(&columns, &mut |_| {}, &mut |_, _| Ok::<(), DataError>(())).unwrap();
        assert_eq!(*watched.1.lock().unwrap(), read, "{columns:?}");
    }
}

#[test]
fn names_and_types_are_checked() {
    for (texts, expected) in [
        (vec!["weight = height in 0,1"], "has a column \"weight\" already"),
        (vec!["a = height in 0,1", "a = height in 0,1"], "has a column \"a\" already"),
        (vec!["a = hieght in 0,1"], "did you mean \"height\"?"),
        (vec!["a = b in 0,1", "b = height in 0,1"], "column \"b\" is not in people"),
        (vec!["a = member * 2 in 0,1"], "\"member\" holds true or false"),
        (vec!["a = born in 0,1"], "a derived column is a number"),
        (vec!["a = born + 3 in 0,1"], "a derived column is a number"),
        (vec!["a = seen in 0,1"], "a derived column is a number"),
    ] {
        let error = derived(&texts).unwrap_err().to_string();
        assert!(error.contains(expected), "{texts:?}: {error}");
    }
    assert!(derive(people(), &[]).is_ok());
}

#[test]
fn values_by_columns_and_by_cells_are_the_same() {
    let table = people();
    let columns = ["weight", "height", "visits"].map(|name| table.position(name).unwrap());
    let mut reader = table.batches(&columns).unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    for text in [
        "a = weight / height - -visits in 0,1e9",
        "a = min(weight, height, visits) * abs(0 - height) in 0,1e9",
        "a = max(weight / height, visits) in 0,1e9",
        "a = floor(weight / 7) / (height - 1) in -1e9,1e9",
    ] {
        let derivation = Derivation::parse(text).unwrap();
        let places: Vec<usize> =
            derivation.columns().iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
        let cells = crate::table::CellBatch::new("people", &batch, &places, 1).unwrap();
        let by_cells = super::super::mask::amounts(&derivation.expression, &cells);
        let by_columns = super::super::mask::floats(&derivation.expression, &cells).unwrap();
        let by_columns: Vec<Option<f64>> =
            by_columns.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect();
        assert_eq!(by_cells, by_columns, "{text}");
    }
    assert_eq!(batch.column(0).len(), 3);
}

#[test]
fn a_column_that_is_there_by_the_same_derivation_is_not_derived_again() {
    let reading = |text: &str| crate::table::Reading { derive: vec![text.to_owned()], ..Default::default() };
    let derive = |table, text: &str| crate::table::with_derived(table, &reading(text));
    let table = derive(people(), "bmi = weight / height in 0,9").unwrap();
    let again = derive(Arc::clone(&table), "`bmi`=weight/height in 0.0, 9").unwrap();
    assert_eq!((again.columns().len(), again.derivations().len()), (7, 1));
    let error = derive(table, "bmi = weight / height in 0,8").unwrap_err().to_string();
    assert!(error.contains("has a column \"bmi\" already"), "{error}");
}
