use crate::fixture::{Folder, Kept, rows_of, text};
use crate::open_table;

#[test]
fn fields_are_text_or_null() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "age, sex\n39, Male\n,\" \"\n\"4,5\",\"a \"\"b\"\"\"\n");
    let (rows, stats) = rows_of(&path, &["age", "sex"]).unwrap();
    assert_eq!(rows, [[text("39"), text(" Male")], [Kept::Null, Kept::Null], [text("4,5"), text("a \"b\"")]]);
    assert_eq!((stats.rows, stats.nulls), (3, vec![1, 1]));
}

#[test]
fn line_ends_and_a_byte_order_mark_are_no_data() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "\u{feff}age,sex\r\n1,a\r\n\r\n2,b");
    let (rows, _) = rows_of(&path, &["sex", "age"]).unwrap();
    assert_eq!(rows, [[text("a"), text("1")], [text("b"), text("2")]]);
}

#[test]
fn a_header_without_rows_has_no_rows() {
    let folder = Folder::new();
    for content in ["age,sex", "age,sex\n"] {
        let (rows, stats) = rows_of(&folder.file("t.csv", content), &["age"]).unwrap();
        assert!(rows.is_empty());
        assert_eq!((stats.rows, stats.nulls), (0, vec![0]));
    }
}

#[test]
fn blank_lines_are_no_header() {
    let folder = Folder::new();
    assert_eq!(
        folder.open_error(&folder.file("t.csv", "\n\n")),
        "t.csv: the file is empty: a table needs at least a header with column names"
    );
}

#[test]
fn duplicate_names_are_refused() {
    let folder = Folder::new();
    assert_eq!(
        folder.open_error(&folder.file("t.csv", "age,sex, age\n")),
        "t.csv: two columns are named \"age\": rename one of them"
    );
}

#[test]
fn ragged_rows_are_refused_with_their_number() {
    let folder = Folder::new();
    assert_eq!(
        folder.scan_error(&folder.file("t.csv", "a,b\n1,2\n1,2,3\n"), &["a"]),
        "t.csv: row 2 does not fit the header (fields: 3 instead of 2): fix or quote that line"
    );
    assert_eq!(
        folder.scan_error(&folder.file("t.csv", "a,b\n1\n"), &["a"]),
        "t.csv: row 1 does not fit the header (fields: 1 instead of 2): fix or quote that line"
    );
}

#[test]
fn text_must_be_utf8_in_the_header_and_in_chosen_columns() {
    let folder = Folder::new();
    for header in [&b"a,b\xe9\n"[..], b"\xff\xfea\0,\0b\0\n\0", b"PAR1\0\0,x\n"] {
        assert_eq!(
            folder.open_error(&folder.file("t.csv", header)),
            "t.csv: the header line is not UTF-8 text: save the file as UTF-8"
        );
    }
    let path = folder.file("t.csv", b"a,b\n1,x\n2,caf\xe9\n");
    assert_eq!(
        folder.scan_error(&path, &["a", "b"]),
        "t.csv: column \"b\", row 2 is not UTF-8 text: save the file as UTF-8"
    );
    assert_eq!(rows_of(&path, &["a"]).unwrap().1.rows, 2);
}

#[test]
fn any_prefix_of_a_file_is_read_or_refused() {
    let folder = Folder::new();
    let whole = "\u{feff}name,note\nÅsa,\"x, \"\"y\"\"\nz\"\r\nBo,\n";
    for length in 0..whole.len() {
        let path = folder.file("t.csv", &whole.as_bytes()[..length]);
        if let Ok(table) = open_table(&path) {
            let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
            let _ = rows_of(&path, &names);
        }
    }
}

#[test]
fn progress_is_reported_along_the_way() {
    let folder = Folder::new();
    let path = folder.file("t.csv", format!("a\n{}", "1\n".repeat(20_000)));
    let table = open_table(&path).unwrap();
    let mut seen = Vec::new();
    table.scan::<crate::DataError>(&["a"], &mut |bytes| seen.push(bytes), &mut |_, _| Ok(())).unwrap();
    assert_eq!(seen, [2 + 2 * 8192, 2 + 2 * 16384, 40_002]);
}

#[test]
fn a_quote_that_is_never_closed_is_refused_with_its_line() {
    let folder = Folder::new();
    let message = "t.csv: line 3: a field starts with a quote that is never closed: close it, or write the field as \"\"\"…\" \
                   if the quote belongs to it";
    for content in ["a,b\n1,2\n3,\"4\n5,6\n7,8\n", "a,b\n1,2\n\"", "a,b\n1,2\n3,\"4\"\"\n"] {
        assert_eq!(folder.scan_error(&folder.file("t.csv", content), &[]), message, "{content:?}");
    }
    // Far behind the reader's buffer, and opened in the header.
    let long = format!("a,b\n{}x,\"y\n{}", "1,2\n".repeat(100_000), "3,4\n".repeat(100_000));
    let error = folder.scan_error(&folder.file("t.csv", &long), &[]);
    assert!(error.starts_with("t.csv: line 100002: a field starts with a quote"), "{error}");
    let error = folder.open_error(&folder.file("t.csv", "a,\"b\n1,2\n"));
    assert!(error.starts_with("t.csv: line 1: a field starts with a quote"), "{error}");
}

#[test]
fn text_after_a_closing_quote_is_refused_with_its_line() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "a,b\n1,\"x\ny\"\n\"5\" pipe\",2\n");
    let message = "t.csv: line 4: text follows the closing quote of a field: write a quote inside a quoted field twice, as in \
                   \"5\"\" pipe\"";
    assert_eq!(folder.scan_error(&path, &[]), message);
    // Three rows that would otherwise become one.
    assert!(folder.scan_error(&folder.file("t.csv", "a,b\n\"x,1\ny,2\n\"z,3\n"), &[]).contains("line 4"));
}

#[test]
fn quotes_inside_of_fields_follow_the_rule() {
    let folder = Folder::new();
    let content = "\u{feff}\"a\",b\r\n5\" pipe,x\"\r\n\"\",\"two\nlines, \"\"and\"\" a comma\"\r\"1\",\"2\"";
    let (rows, _) = rows_of(&folder.file("t.csv", content), &["a", "b"]).unwrap();
    let expected = [
        [text("5\" pipe"), text("x\"")],
        [Kept::Null, text("two\nlines, \"and\" a comma")],
        [text("1"), text("2")],
    ];
    assert_eq!(rows, expected);
}

/// The check and the reader agree on where fields start, whatever the bytes and however they come in pieces.
#[test]
fn the_check_follows_the_reader() {
    use super::quotes::Quotes;
    use std::io::{Cursor, Read};
    let signs = [b'"', b',', b'\n', b'\r', b'x'];
    let mut cases = 0u32;
    for code in 0..5usize.pow(6) {
        let bytes: Vec<u8> = (0..6).map(|place| signs[code / 5usize.pow(place) % 5]).collect();
        let checked = {
            let mut quotes = Quotes::new(Cursor::new(&bytes));
            let mut small = [0; 3];
            loop {
                match quotes.read(&mut small) {
                    Ok(0) => break Ok(()),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                }
            }
        };
        // A closed quote too many leaves the fields as they are; an open one swallows a further row.
        let rows = |bytes: &[u8]| -> usize {
            let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
            reader.into_byte_records().count()
        };
        let followed = [&bytes[..], b"\nx\nx"].concat();
        let swallows = rows(&followed) != rows(&bytes) + 2;
        if checked.is_ok() {
            assert!(!swallows, "{bytes:?}");
            cases += 1;
        }
    }
    assert!(cases > 1000);
}
