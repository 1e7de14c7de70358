use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use proptest::prelude::*;

use crate::fixture::{Folder, Kept, array, rows_of, text};
use crate::{ColumnKind, DataError, open_table};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Writes the batches in both formats.
fn written(folder: &Folder, batches: &[RecordBatch]) -> [PathBuf; 2] {
    let paths = [folder.path("t.arrow"), folder.path("t.arrows")];
    let schema = batches[0].schema();
    let mut file = FileWriter::try_new(File::create(&paths[0]).unwrap(), &schema).unwrap();
    let mut stream = StreamWriter::try_new(File::create(&paths[1]).unwrap(), &schema).unwrap();
    for batch in batches {
        file.write(batch).unwrap();
        stream.write(batch).unwrap();
    }
    file.finish().unwrap();
    stream.finish().unwrap();
    paths
}

fn mixed() -> RecordBatch {
    let cities =
        DictionaryArray::<arrow_array::types::Int32Type>::from_iter([Some("Bern"), None, Some("Ulm")]);
    batch(vec![
        ("i", array(Int64Array::from(vec![Some(i64::MAX), None, Some(-3)]))),
        ("f", array(Float64Array::from(vec![0.5, f64::NAN, -1.0]))),
        ("t", array(StringArray::from(vec![Some("a"), Some("  "), None]))),
        ("b", array(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("born", array(Date32Array::from(vec![1, 2, 3]))),
        ("city", array(cities)),
    ])
}

#[test]
fn both_formats_have_the_same_rows() {
    let folder = Folder::new();
    let batches = [mixed(), mixed().slice(1, 2)];
    for path in written(&folder, &batches) {
        let table = open_table(&path).unwrap();
        assert!(table.declares_kinds());
        assert_eq!(table.column("i").unwrap().kind, ColumnKind::Integer);
        assert_eq!(table.column("city").unwrap().kind, ColumnKind::Text);
        let (rows, stats) = rows_of(&path, &["city", "i", "t", "b", "city"]).unwrap();
        assert_eq!((stats.rows, stats.nulls), (5, vec![2, 2, 4, 2, 2]));
        let first = [text("Bern"), Kept::Integer(i64::MAX), text("a"), Kept::Boolean(true), text("Bern")];
        assert_eq!(rows[0], first);
        assert_eq!(rows[2][0], text("Ulm"));
        assert_eq!(rows[1..3], rows[3..5]);
        assert_eq!(rows_of(&path, &[]).unwrap().1.rows, 5);
        assert_eq!(rows_of(&path, &["born"]).unwrap().0[0], [Kept::Date(1)]);
    }
}

#[test]
fn large_batches_are_read_in_parts() {
    let folder = Folder::new();
    let numbers: Vec<i32> = (0..20_000).collect();
    let path = &written(&folder, &[batch(vec![("n", array(Int32Array::from(numbers)))])])[0];
    let table = open_table(path).unwrap();
    let (mut sizes, mut total) = (Vec::new(), 0);
    let rows = table.scan_batches::<DataError>(&["n"], &mut |_| {}, &mut |batch| {
        sizes.push(batch.rows());
        assert_eq!(batch.cell(0, 0), crate::Cell::Integer(batch.first_row() as i64 - 1));
        total += batch.rows();
        Ok(())
    });
    assert_eq!((rows.unwrap(), total), (20_000, 20_000));
    assert_eq!(sizes, [8192, 8192, 3616]);
}

#[test]
fn files_that_are_not_arrow_are_refused() {
    let folder = Folder::new();
    for name in ["t.arrow", "t.feather", "t.ipc", "t.arrows"] {
        let error = folder.open_error(&folder.file(name, "ARROW1 and then nothing of the kind"));
        assert!(error.starts_with(&format!("{name}: not a readable Arrow file (")), "{error}");
        let error = folder.open_error(&folder.file(name, "age,sex\n1,2\n"));
        assert!(error.starts_with(&format!("{name}: not a readable Arrow file (")), "{error}");
    }
}

#[test]
fn a_file_that_changed_since_it_was_opened_is_refused() {
    let folder = Folder::new();
    let one = batch(vec![("a", array(Int64Array::from(vec![1])))]);
    let other = batch(vec![("b", array(Int64Array::from(vec![1])))]);
    let tables = written(&folder, &[one]).map(|path| open_table(&path).unwrap());
    written(&folder, &[other]);
    for table in tables {
        let error = table.scan::<DataError>(&["a"], &mut |_| {}, &mut |_, _| Ok(())).unwrap_err();
        assert!(matches!(error, DataError::Changed { .. }), "{error}");
    }
}

/// Reads what there is; errors are fine, panics and endless loops are not.
fn read_all(path: &Path) {
    if let Ok(table) = open_table(path) {
        let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
        for name in &names {
            let _ = table.scan::<DataError>(&[name], &mut |_| {}, &mut |_, _| Ok(()));
        }
        let _ = table.scan::<DataError>(&[], &mut |_| {}, &mut |_, _| Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_are_read_or_refused(at in 0.0..1.0f64, byte: u8, cut in 0.0..1.2f64) {
        let folder = Folder::new();
        for path in written(&folder, &[mixed()]) {
            let mut bytes = std::fs::read(&path).unwrap();
            let place = (at * bytes.len() as f64) as usize;
            bytes[place] = byte;
            bytes.truncate(((cut * bytes.len() as f64) as usize).max(1));
            std::fs::write(&path, bytes).unwrap();
            read_all(&path);
        }
    }
}

#[test]
fn a_table_in_memory_has_the_rows_of_the_same_file() {
    let folder = Folder::new();
    let batches = vec![mixed(), mixed().slice(0, 0), mixed().slice(2, 1)];
    let memory = crate::MemoryTable::new("people", batches[0].schema(), batches.clone()).unwrap();
    let memory: &dyn crate::Table = &memory;
    let columns = ["t", "f", "i", "b", "city"];
    let read = |table: &dyn crate::Table| {
        let mut rows = Vec::new();
        let stats = table.scan::<DataError>(&columns, &mut |_| {}, &mut |_, cells| {
            rows.push(format!("{cells:?}"));
            Ok(())
        });
        (rows, stats.unwrap())
    };
    for path in written(&folder, &batches) {
        assert_eq!(read(memory), read(&open_table(&path).unwrap()));
    }
    assert_eq!((memory.stated_rows(), memory.name(), memory.path()), (Some(4), "people", None));
    let other = batch(vec![("x", array(Int64Array::from(vec![1])))]);
    let mixed_batches = crate::MemoryTable::new("people", other.schema(), vec![other.clone(), mixed()]);
    assert!(matches!(mixed_batches, Err(DataError::MixedBatches { .. })));
    let twice = batch(vec![("x", array(Int64Array::from(vec![1])))]);
    let field = Arc::new(arrow_schema::Field::new("x", arrow_schema::DataType::Int64, true));
    let schema = Arc::new(arrow_schema::Schema::new(vec![field.clone(), field]));
    assert!(matches!(
        crate::MemoryTable::new("people", schema, vec![twice]),
        Err(DataError::DuplicateColumn { .. })
    ));
}
