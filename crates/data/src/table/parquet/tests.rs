use std::sync::Arc;

use ::parquet::basic::Compression;
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::*;
use proptest::prelude::*;

use super::*;
use crate::fixture::{Folder, Kept, array, parquet_bytes, rows_of, text};
use crate::table::view::View;
use crate::{ColumnKind, Visit, open_table};

/// The cells of one column.
fn cells(column: ArrayRef) -> Vec<Kept> {
    let folder = Folder::new();
    let path = folder.parquet("t.parquet", vec![("x", column)]);
    rows_of(&path, &["x"]).unwrap().0.into_iter().flatten().collect()
}

#[test]
fn every_integer_type_is_read() {
    macro_rules! check {
        ($($array:ident),*) => {$(
            let column = array($array::from(vec![Some(7), None]));
            assert_eq!(cells(column), [Kept::Integer(7), Kept::Null], stringify!($array));
        )*};
    }
    check!(Int8Array, Int16Array, Int32Array, Int64Array, UInt8Array, UInt16Array, UInt32Array, UInt64Array);
    let extremes = array(Int64Array::from(vec![i64::MIN, i64::MAX]));
    assert_eq!(cells(extremes), [Kept::Integer(i64::MIN), Kept::Integer(i64::MAX)]);
    assert_eq!(cells(array(UInt8Array::from(vec![255]))), [Kept::Integer(255)]);
    assert_eq!(cells(array(UInt32Array::from(vec![u32::MAX]))), [Kept::Integer(4_294_967_295)]);
}

#[test]
fn an_integer_above_63_bits_is_read_as_its_digits() {
    let large = [Some(i64::MAX as u64), None, Some(1 << 63), Some((1 << 63) + 1), Some(u64::MAX)];
    let read = cells(array(UInt64Array::from(large.to_vec())));
    let digits = ["9223372036854775808", "9223372036854775809", "18446744073709551615"].map(text);
    assert_eq!(read[..2], [Kept::Integer(i64::MAX), Kept::Null]);
    assert_eq!(read[2..], digits);
}

#[test]
fn floats_and_booleans_are_read() {
    assert_eq!(cells(array(Float32Array::from(vec![Some(0.5), None]))), [Kept::Float(0.5), Kept::Null]);
    let floats = cells(array(Float64Array::from(vec![Some(0.1), None, Some(f64::INFINITY)])));
    assert_eq!(floats, [Kept::Float(0.1), Kept::Null, Kept::Float(f64::INFINITY)]);
    let truths = cells(array(BooleanArray::from(vec![Some(true), None, Some(false)])));
    assert_eq!(truths, [Kept::Boolean(true), Kept::Null, Kept::Boolean(false)]);
    assert_eq!(cells(array(NullArray::new(2))), [Kept::Null, Kept::Null]);
}

#[test]
fn every_text_type_is_read_and_blank_text_is_null() {
    let values = vec![Some("a"), None, Some(" "), Some(" é much longer text")];
    let expected = [text("a"), Kept::Null, Kept::Null, text(" é much longer text")];
    assert_eq!(cells(array(StringArray::from(values.clone()))), expected);
    assert_eq!(cells(array(LargeStringArray::from(values.clone()))), expected);
    assert_eq!(cells(array(StringViewArray::from(values.clone()))), expected);
    assert_eq!(cells(array(values.clone().into_iter().collect::<DictionaryArray<Int8Type>>())), expected);
    assert_eq!(cells(array(values.into_iter().collect::<DictionaryArray<UInt32Type>>())), expected);
    let nothing: Vec<Option<&str>> = vec![None, None];
    let nothing = nothing.into_iter().collect::<DictionaryArray<Int32Type>>();
    assert_eq!(cells(array(nothing)), [Kept::Null, Kept::Null]);
}

#[test]
fn a_dictionary_may_hold_a_null() {
    let values: ArrayRef = array(StringArray::from(vec![Some("a"), None]));
    let keys = Int32Array::from(vec![Some(0), Some(1), None]);
    let dictionary = DictionaryArray::new(keys, values);
    let view = View::new(&dictionary).unwrap();
    let cells: Vec<_> = (0..3).map(|row| view.cell(row)).collect();
    assert_eq!(cells, [crate::Cell::Text("a"), crate::Cell::Null, crate::Cell::Null]);
}

#[test]
fn dates_and_times_are_read_from_every_unit() {
    let day = Kept::Date(19_783);
    assert_eq!(cells(array(Date32Array::from(vec![Some(19_783), None]))), [day.clone(), Kept::Null]);
    let noon = 19_783 * 86_400_000 + 43_200_000;
    assert_eq!(cells(array(Date64Array::from(vec![19_783 * 86_400_000]))), std::slice::from_ref(&day));
    let view = Date64Array::from(vec![noon, -1, i64::MIN, i64::MAX]);
    let view = View::new(&view).unwrap();
    let days: Vec<_> = (0..4).map(|row| view.cell(row).date().unwrap()).collect();
    assert_eq!(days, [19_783, -1, i32::MIN, i32::MAX]);
    let expected = [Kept::Timestamp(noon * 1000), Kept::Null];
    assert_eq!(cells(array(TimestampSecondArray::from(vec![Some(noon / 1000), None]))), expected);
    assert_eq!(cells(array(TimestampMillisecondArray::from(vec![Some(noon), None]))), expected);
    assert_eq!(cells(array(TimestampMicrosecondArray::from(vec![Some(noon * 1000), None]))), expected);
    let zoned = TimestampNanosecondArray::from(vec![Some(noon * 1_000_000 + 999), None]);
    assert_eq!(cells(array(zoned.with_timezone("Europe/Paris"))), expected);
    let far = TimestampSecondArray::from(vec![i64::MIN, i64::MAX]);
    let far = View::new(&far).unwrap();
    assert_eq!(
        [far.cell(0), far.cell(1)],
        [crate::Cell::Timestamp(i64::MIN), crate::Cell::Timestamp(i64::MAX)]
    );
}

#[test]
fn other_types_are_named_and_refused() {
    let folder = Folder::new();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let field = Arc::new(Field::new("inner", DataType::Int32, true));
    let nested = StructArray::from(vec![(field, array(Int32Array::from(vec![1])))]);
    let decimal = Decimal128Array::from(vec![1]).with_precision_and_scale(10, 2).unwrap();
    let columns = [
        ("hour", array(Time32SecondArray::from(vec![1])), "time"),
        ("raw", array(BinaryArray::from(vec![&b"x"[..]])), "binary"),
        ("tags", array(list), "list"),
        ("pair", array(nested), "struct"),
        ("price", array(decimal), "decimal"),
        ("ok", array(Int32Array::from(vec![5])), ""),
    ];
    let plain = columns.iter().map(|(name, array, _)| (*name, array.clone())).collect();
    let path = folder.parquet("t.parquet", plain);
    let table = open_table(&path).unwrap();
    for (name, _, words) in columns.iter().filter(|column| column.0 != "ok") {
        assert_eq!(table.column(name).unwrap().kind, ColumnKind::Other((*words).to_owned()));
        assert_eq!(
            folder.scan_error(&path, &["ok", name]),
            format!(
                "column \"{name}\" of t.parquet holds {words} values, \
                 which are not supported: convert it to numbers or text"
            )
        );
    }
    assert_eq!(rows_of(&path, &["ok"]).unwrap().0, [[Kept::Integer(5)]]);
}

#[test]
fn kinds_are_told() {
    let folder = Folder::new();
    let words: DictionaryArray<Int8Type> = vec!["a"].into_iter().collect();
    let columns = vec![
        ("i", array(UInt16Array::from(vec![1])), ColumnKind::Integer),
        ("f", array(Float32Array::from(vec![1.0])), ColumnKind::Float),
        ("t", array(StringArray::from(vec!["a"])), ColumnKind::Text),
        ("d", array(words), ColumnKind::Text),
        ("b", array(BooleanArray::from(vec![true])), ColumnKind::Boolean),
        ("born", array(Date32Array::from(vec![1])), ColumnKind::Date),
        ("seen", array(TimestampMillisecondArray::from(vec![1])), ColumnKind::Timestamp),
    ];
    let plain = columns.iter().map(|(name, array, _)| (*name, array.clone())).collect();
    let table = open_table(&folder.parquet("t.parquet", plain)).unwrap();
    for (name, _, kind) in columns {
        assert_eq!(table.column(name).unwrap().kind, kind);
    }
}

#[test]
fn rows_are_counted_across_batches() {
    let folder = Folder::new();
    let rows = 3 * BATCH_ROWS as i32 + 5;
    let path = folder.parquet("t.parquet", vec![("x", array(Int32Array::from_iter_values(0..rows)))]);
    let (kept, stats) = rows_of(&path, &["x"]).unwrap();
    assert_eq!(stats.rows, rows as u64);
    assert!(kept.iter().enumerate().all(|(at, row)| row[..] == [Kept::Integer(at as i64)]));
}

#[test]
fn a_table_without_rows_has_none() {
    let folder = Folder::new();
    let path = folder.parquet("t.parquet", vec![("x", array(Int32Array::from(Vec::<i32>::new())))]);
    assert_eq!(rows_of(&path, &["x"]).unwrap().1.rows, 0);
}

#[test]
fn garbage_is_refused() {
    let folder = Folder::new();
    for bytes in [&b"hello"[..], b"age,sex\n1,2\n", &[b'P'; 4096], b"PAR1\xff\xff\xff\x7fPAR1"] {
        let message = folder.open_error(&folder.file("t.parquet", bytes));
        assert!(message.starts_with("t.parquet: not a readable Parquet file ("), "{message}");
        assert!(message.ends_with("): check that it is complete and has the right extension"), "{message}");
    }
}

/// A file with a dictionary, nulls and plain pages.
fn sample(compression: Compression) -> Vec<u8> {
    let words = (0..200).map(|i| (i % 7 != 0).then(|| format!("word {}", i % 5)));
    let columns = vec![
        ("t", array(words.collect::<StringArray>())),
        ("i", array((0..200).map(|i| (i % 3 != 0).then_some(i * 1000)).collect::<Int64Array>())),
        ("f", array((0..200).map(|i| Some(f64::from(i) / 3.0)).collect::<Float64Array>())),
        ("b", array((0..200).map(|i| Some(i % 2 == 0)).collect::<BooleanArray>())),
    ];
    parquet_bytes(columns, compression)
}

/// Reads what can be read; errors are fine, and so are other values.
fn read_any(bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file("t.parquet", bytes);
    if let Ok(table) = open_table(&path) {
        for column in table.columns() {
            let visit: &mut Visit<'_, DataError> = &mut |_, _| Ok(());
            let _ = table.scan(&[&column.name], &mut |_| {}, visit);
        }
    }
}

#[test]
fn a_truncated_file_is_refused() {
    let folder = Folder::new();
    let whole = sample(Compression::SNAPPY);
    for length in (1..whole.len()).step_by(13) {
        let message = folder.open_error(&folder.file("t.parquet", &whole[..length]));
        assert!(message.starts_with("t.parquet: not a readable Parquet file ("), "{message}");
    }
}

/// What reading a file of three rows fails with when one of its bytes `from` is `to`, for each of them.
fn altered_messages(from: u8, to: u8) -> Vec<String> {
    let folder = Folder::new();
    let column = array(Int32Array::from(vec![1, 2, 3]));
    let whole = parquet_bytes(vec![("x", column)], Compression::UNCOMPRESSED);
    let places = (0..whole.len()).filter(|at| whole[*at] == from);
    let messages = places.filter_map(|at| {
        let mut bytes = whole.clone();
        bytes[at] = to;
        let path = folder.file("t.parquet", &bytes);
        rows_of(&path, &["x"]).err().map(|error| folder.message(error))
    });
    messages.collect()
}

#[test]
fn a_codec_that_is_not_built_in_is_named() {
    // The footer writes an integer n as 2n; codec 0 is none and 2 is gzip.
    let messages = altered_messages(0, 4);
    let expected = "column \"x\" of t.parquet is compressed with gzip: \
                    write the file with zstd, snappy or no compression";
    assert!(messages.iter().any(|message| message == expected), "{messages:?}");
}

#[test]
fn missing_rows_are_noticed() {
    let messages = altered_messages(2 * 3, 2 * 4);
    let expected = "t.parquet: not a readable Parquet file (it declares 4 rows and has 3): \
                    check that it is complete and has the right extension";
    assert!(messages.iter().any(|message| message == expected), "{messages:?}");
}

#[test]
fn a_panic_in_the_reader_becomes_an_error() {
    let error = guarded("t.parquet", FORMAT, || -> Result<(), String> { panic!("unforeseen") }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.parquet: not a readable Parquet file (its contents contradict each other): \
         check that it is complete and has the right extension"
    );
}

/// Places in a file and the bytes to put there.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    proptest::collection::vec(any::<(prop::sample::Index, u8)>(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn altered_files_never_panic(changes in changes(), plain: bool) {
        let mut bytes = sample(if plain { Compression::UNCOMPRESSED } else { Compression::SNAPPY });
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_any(&bytes);
    }
}
