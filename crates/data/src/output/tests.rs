use std::fs;
use std::path::Path;

use arrow_array::{BooleanArray, Time32SecondArray, Float64Array, Int64Array, StringArray};
use reticent_files::FileError;

use super::*;
use crate::fixture::{Folder, array};
use crate::open_table;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Replaces a column by its row number.
fn number_rows(input: &Path, column: &str, output: &Path) -> Result<ScanStats, DataError> {
    let table = open_table(input)?;
    rewrite_column(&table, column, output, &mut |_| {}, &mut |row, _| Ok(format!("#{row}")))
}

#[test]
fn rows_are_written_under_the_name_only() {
    let folder = Folder::new();
    let path = folder.path("out.csv");
    let rows = [["1", "a,b"], ["", "say \"hi\""]];
    assert_eq!(write_csv_atomic(&path, &["x", "y"], rows), Ok(2));
    assert_eq!(read(&path), "x,y\n1,\"a,b\"\n,\"say \"\"hi\"\"\"\n");
    assert_eq!(write_csv_atomic(&path, &["x"], Vec::<Vec<String>>::new()), Ok(0));
    assert_eq!(read(&path), "x\n");
    assert_eq!(folder.names(), ["out.csv"]);
}

#[test]
fn a_row_of_the_wrong_length_leaves_nothing_behind() {
    let folder = Folder::new();
    let path = folder.file("out.csv", "old");
    let rows = [vec!["1", "2"], vec!["1"]];
    let error = write_csv_atomic(&path, &["x", "y"], rows).unwrap_err();
    assert_eq!(
        folder.message(error),
        "out.csv: row 2 of the output does not fit the header (fields: 1 instead of 2): give one per column"
    );
    assert_eq!(folder.names(), ["out.csv"]);
    assert_eq!(read(&path), "old");
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = Folder::new();
    let nowhere = folder.path("missing").join("out.csv");
    let error = write_csv_atomic(&nowhere, &["x"], [["1"]]).unwrap_err();
    assert!(folder.message(error).starts_with("missing/out.csv: cannot write: "));
    fs::create_dir(folder.path("folder.csv")).unwrap();
    let error = write_csv_atomic(&folder.path("folder.csv"), &["x"], [["1"]]).unwrap_err();
    assert_eq!(
        folder.message(error),
        "folder.csv: this is a folder, and only a regular file is replaced: give another name"
    );
    assert!(write_csv_atomic(Path::new(".."), &["x"], [["1"]]).is_err());
    assert_eq!(folder.names(), ["folder.csv"]);
}

#[test]
fn one_column_is_replaced_and_the_others_are_kept() {
    let folder = Folder::new();
    let input = folder.file("in.csv", "age, sex,note\n39, Male,\"a, \"\"b\"\"\"\n,Female,  \n");
    let output = folder.path("out.csv");
    let stats = number_rows(&input, "sex", &output).unwrap();
    assert_eq!(stats, ScanStats { rows: 2, nulls: vec![1, 0, 1] });
    assert_eq!(read(&output), "age,sex,note\n39,#1,\"a, \"\"b\"\"\"\n,#2,\n");
    assert_eq!(folder.names(), ["in.csv", "out.csv"]);
}

#[test]
fn parquet_becomes_csv() {
    let folder = Folder::new();
    let columns = vec![
        ("i", array(Int64Array::from(vec![Some(-3), None]))),
        ("f", array(Float64Array::from(vec![0.1, 1e300]))),
        ("t", array(StringArray::from(vec![" x ", "y\nz"]))),
        ("b", array(BooleanArray::from(vec![true, false]))),
        ("w", array(Float64Array::from(vec![3.0, -0.0]))),
    ];
    let input = folder.parquet("in.parquet", columns);
    let table = open_table(&input).unwrap();
    let output = folder.path("out.CSV");
    let mut progress = 0;
    rewrite_column::<DataError>(&table, "i", &output, &mut |bytes| progress = bytes, &mut |_, cell| {
        Ok(cell.label().map_or("none".to_owned(), |label| format!("[{label}]")))
    })
    .unwrap();
    assert_eq!(read(&output), "i,f,t,b,w\n[-3],0.1, x ,true,3.0\nnone,1e300,\"y\nz\",false,-0.0\n");
    assert_eq!(progress, table.size_bytes());
}

#[test]
fn a_table_can_be_rewritten_in_place() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "a,b\n1,2\n3,4\n");
    number_rows(&path, "b", &path).unwrap();
    assert_eq!(read(&path), "a,b\n1,#1\n3,#2\n");
    assert_eq!(folder.names(), ["t.csv"]);
}

#[test]
fn a_single_column_keeps_its_nulls() {
    let folder = Folder::new();
    let input = folder.file("in.csv", "a\nx\n\"\"\ny\n");
    let output = folder.path("out.csv");
    let table = open_table(&input).unwrap();
    let keep = &mut |_, cell: Cell<'_>| Ok::<_, DataError>(cell.csv_text().into_owned());
    assert_eq!(rewrite_column(&table, "a", &output, &mut |_| {}, keep).unwrap().rows, 3);
    assert_eq!(crate::fixture::rows_of(&output, &["a"]).unwrap().1, ScanStats { rows: 3, nulls: vec![1] });
}

#[test]
fn an_error_leaves_nothing_behind() {
    let folder = Folder::new();
    let output = folder.path("out.csv");
    let ragged = folder.file("in.csv", "a,b\n1,2\n3\n");
    let error = number_rows(&ragged, "a", &output).unwrap_err();
    assert!(matches!(error, DataError::Ragged { row: 2, .. }));
    assert_eq!(folder.names(), ["in.csv"]);

    #[derive(Debug, PartialEq)]
    enum Mine {
        Data,
        Stop(u64),
    }
    impl From<DataError> for Mine {
        fn from(_: DataError) -> Self {
            Mine::Data
        }
    }
    let good = folder.file("in.csv", "a,b\n1,2\n3,4\n");
    let table = open_table(&good).unwrap();
    let stop = &mut |row, _: Cell<'_>| if row == 2 { Err(Mine::Stop(row)) } else { Ok(String::new()) };
    assert_eq!(rewrite_column(&table, "a", &output, &mut |_| {}, stop), Err(Mine::Stop(2)));
    assert_eq!(rewrite_column(&table, "c", &output, &mut |_| {}, stop), Err(Mine::Data));
    assert_eq!(folder.names(), ["in.csv"]);
}

#[test]
fn a_column_that_cannot_be_copied_is_named() {
    let folder = Folder::new();
    let columns = vec![("a", array(Int64Array::from(vec![1]))), ("born", array(Time32SecondArray::from(vec![1])))];
    let input = folder.parquet("in.parquet", columns);
    let error = number_rows(&input, "a", &folder.path("out.csv")).unwrap_err();
    assert!(folder.message(error).starts_with("column \"born\" of in.parquet holds time values"));
    assert_eq!(folder.names(), ["in.parquet"]);
}

#[test]
fn the_output_must_be_named_csv() {
    let folder = Folder::new();
    let input = folder.file("in.csv", "a\n1\n");
    for name in ["out.parquet", "out"] {
        let error = number_rows(&input, "a", &folder.path(name)).unwrap_err();
        assert_eq!(
            folder.message(error),
            format!("{name}: the output is written as CSV: give a name that ends in .csv")
        );
    }
    let error = number_rows(&input, "b", &folder.path("out.csv")).unwrap_err();
    assert!(folder.message(error).starts_with("column \"b\" is not in in.csv: it has a"));
}

#[cfg(unix)]
#[test]
fn tables_replace_regular_files_only() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    let folder = Folder::new();
    let kept = folder.file("kept.csv", "old");
    symlink(&kept, folder.path("link.csv")).unwrap();
    symlink(folder.path("nowhere"), folder.path("dangling.csv")).unwrap();
    fs::create_dir(folder.path("folder.csv")).unwrap();
    let _socket = UnixListener::bind(folder.path("socket.csv")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    let names = folder.names();
    for name in ["link.csv", "dangling.csv", "folder.csv", "socket.csv", "pipe.csv"] {
        let path = folder.path(name);
        let before = fs::symlink_metadata(&path).unwrap().file_type();
        let refused = |result: Result<(), DataError>| {
            assert!(
                matches!(result, Err(DataError::File(FileError::NotReplaced { .. }))),
                "{name}: {result:?}"
            );
        };
        refused(write_csv_atomic(&path, &["x"], [["1"]]).map(|_| ()));
        refused(number_rows(&folder.file("in.csv", "a\n1\n"), "a", &path).map(|_| ()));
        fs::remove_file(folder.path("in.csv")).unwrap();
        assert_eq!(fs::symlink_metadata(&path).unwrap().file_type(), before, "{name}");
    }
    assert_eq!(read(&kept), "old");
    assert_eq!(folder.names(), names);
}

#[cfg(unix)]
#[test]
fn what_takes_the_name_while_a_file_is_written_stays() {
    let folder = Folder::new();
    let path = folder.path("out.csv");
    let rows = (0..2).map(|row| {
        if row == 1 {
            fs::create_dir(&path).unwrap();
        }
        ["1"]
    });
    let error = write_csv_atomic(&path, &["x"], rows).unwrap_err();
    assert!(matches!(error, DataError::File(FileError::NotReplaced { .. })), "{error:?}");
    assert!(path.is_dir());
    assert_eq!(folder.names(), ["out.csv"]);
}

#[cfg(unix)]
#[test]
fn private_tables_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let table = folder.path("b.csv");
    write_csv_private(&table, &["x"], [["1"]]).unwrap();
    assert_eq!(fs::metadata(table).unwrap().permissions().mode() & 0o777, 0o600);
}
