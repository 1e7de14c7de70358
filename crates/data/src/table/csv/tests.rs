use proptest::prelude::*;

use super::records::Records;
use crate::fixture::{Folder, Kept, read_rows, rows_of, text};
use crate::{Format, Quoting, Reading, open_table, open_table_with};

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
    for header in [&b"a,b\xe9\n"[..], b"a\0,\0b\0\n\0", b"PAR1\0\0,x\n"] {
        assert_eq!(
            folder.open_error(&folder.file("t.csv", header)),
            "t.csv: the header line is not UTF-8 text: give the encoding of the file (windows-1252, latin1, utf-16), or save \
             it as UTF-8"
        );
    }
    let path = folder.file("t.csv", b"a,b\n1,x\n2,caf\xe9\n");
    assert_eq!(
        folder.scan_error(&path, &["a", "b"]),
        "t.csv: column \"b\", row 2 is not UTF-8 text: give the encoding of the file (windows-1252, latin1), or save it as \
         UTF-8"
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

/// All records of some bytes, in the dialect of RFC 4180; `None` if they are refused.
fn records(bytes: &[u8], separator: u8, quoting: Quoting) -> Option<Vec<Vec<Vec<u8>>>> {
    let mut records = Records::new(bytes, separator, quoting).ok()?;
    let mut all = Vec::new();
    while records.advance().ok()? {
        let fields = (0..records.len()).map(|place| {
            let (field, escaped) = records.field(place);
            let mut text = Vec::new();
            if escaped {
                records.unescape(field, &mut text)
            } else {
                text.extend_from_slice(field)
            }
            text
        });
        all.push(fields.collect());
    }
    Some(all)
}

/// What is not refused is read as another reader of CSV reads it, whatever the bytes are.
#[test]
fn records_are_those_of_another_reader() {
    let signs = [b'"', b',', b'\n', b'\r', b'x'];
    let (mut read, mut refused) = (0u32, 0u32);
    for code in 0..5usize.pow(7) {
        let bytes: Vec<u8> = (0..7).map(|place| signs[code / 5usize.pow(place) % 5]).collect();
        let Some(own) = records(&bytes, b',', Quoting::Double) else {
            refused += 1;
            continue;
        };
        let other = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
        let other: Vec<Vec<Vec<u8>>> = other
            .into_byte_records()
            .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
            .collect();
        assert_eq!(own, other, "{:?}", String::from_utf8_lossy(&bytes));
        // A record that follows is one more: nothing was swallowed.
        let followed = records(&[&bytes[..], b"\nx"].concat(), b',', Quoting::Double).unwrap();
        assert_eq!(followed.len(), own.len() + 1);
        read += 1;
    }
    assert!(read > 10_000 && refused > 10_000, "{read} {refused}");
}

/// Blocks may end anywhere: between the signs of an end of line, or inside of quotes.
#[test]
fn long_files_are_read_as_short_ones() {
    let row = "a \"quoted\" word;\"one;two\r\nthree \"\"four\"\"\";\r\n";
    let one = records(row.as_bytes(), b';', Quoting::Double).unwrap().remove(0);
    for shift in 0..40 {
        let bytes = [vec![b'y'; shift], b"\n".to_vec(), row.repeat(20_000).into_bytes()].concat();
        let read = records(&bytes, b';', Quoting::Double).unwrap();
        assert_eq!(read.len(), 20_000 + usize::from(shift > 0));
        assert!(read.iter().skip(usize::from(shift > 0)).all(|record| *record == one), "{shift}");
    }
    let long = format!("\"{}\",x\n1,2\n", "é\n,".repeat(400_000));
    let read = records(long.as_bytes(), b',', Quoting::Double).unwrap();
    assert_eq!((read.len(), read[0][0].len()), (2, 4 * 400_000));
}

fn reading(options: impl FnOnce(&mut Reading)) -> Reading {
    let mut reading = Reading::default();
    options(&mut reading);
    reading
}

fn read(
    folder: &Folder,
    name: &str,
    bytes: impl AsRef<[u8]>,
    reading: &Reading,
) -> Result<Vec<Vec<Kept>>, String> {
    let path = folder.file(name, bytes);
    let opened = open_table_with(&path, reading).and_then(|table| {
        let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(read_rows(&table, &names)?.0)
    });
    opened.map_err(|error| folder.message(error))
}

#[test]
fn the_header_line_decides_the_separator() {
    let folder = Folder::new();
    let plain = Reading::default();
    for (content, row) in [
        ("a,b\n1;2|3,4\n", ["1;2|3", "4"]),
        ("a;b\n1,5;2\n", ["1,5", "2"]),
        ("a\tb\n1,5\t2;3\n", ["1,5", "2;3"]),
        ("\n\u{feff}a|b\n1|2\n", ["1", "2"]),
        ("\"a,x,y\";b\n1;2,0\n", ["1", "2,0"]),
        ("a;\"b\"\"c,,,\"\n1;2\n", ["1", "2"]),
    ] {
        let content = content.replace("\n\u{feff}", "\u{feff}\n");
        assert_eq!(read(&folder, "t.csv", &content, &plain).unwrap(), [row.map(text)], "{content:?}");
    }
    // Rows are never looked at: these have three fields by any of the separators.
    assert!(read(&folder, "t.csv", "a,b\n1;2;3\n", &plain).unwrap_err().contains("fields: 1 instead of 2"));
    assert_eq!(
        read(&folder, "t.csv", "weight, kg;height\n", &plain).unwrap_err(),
        "t.csv: the header line has as many commas and semicolons: give the separator"
    );
    let given = reading(|reading| reading.separator = Some(';'));
    assert_eq!(read(&folder, "t.csv", "weight, kg;height\n1;2\n", &given).unwrap(), [[text("1"), text("2")]]);
    let tsv = read(&folder, "t.tsv", "a, b, c\td\n1\t2\n", &plain).unwrap();
    assert_eq!(tsv, [[text("1"), text("2")]]);
    let comma = reading(|reading| reading.decimal_comma = true);
    assert_eq!(read(&folder, "t.csv", "weight\n1,5\n", &comma).unwrap(), [[text("1.5")]]);
}

#[test]
fn quotes_can_have_other_meanings() {
    let folder = Folder::new();
    let none = reading(|reading| reading.quoting = Some(Quoting::None));
    let rows = read(&folder, "t.csv", "a,b\n\"x,5\"\n", &none).unwrap();
    assert_eq!(rows, [[text("\"x"), text("5\"")]]);
    let backslash = reading(|reading| reading.quoting = Some(Quoting::Backslash));
    let rows = read(&folder, "t.csv", "a,b\n\"x \\\"y\\\", \\\\ \\n\",\"\"\"z\"\n", &backslash).unwrap();
    assert_eq!(rows, [[text("x \"y\", \\ \\n"), text("\"z")]]);
    assert!(
        read(&folder, "t.csv", "a,b\n\"x\\\",1\n", &backslash)
            .unwrap_err()
            .contains("line 2: a field starts")
    );
}

#[test]
fn missing_values_and_decimal_commas_are_told_to_the_reader() {
    let folder = Folder::new();
    let plain = Reading::default();
    let rows = read(&folder, "t.csv", "a,b,c,d\nNA, N/A ,\"null\",na\n", &plain).unwrap();
    assert_eq!(rows, [[Kept::Null, Kept::Null, Kept::Null, text("na")]]);
    let own = reading(|reading| reading.missing = Some(vec!["-9".to_owned()]));
    assert_eq!(
        read(&folder, "t.csv", "a,b,c\nNA,-9,\n", &own).unwrap(),
        [[text("NA"), Kept::Null, Kept::Null]]
    );
    let comma = reading(|reading| reading.decimal_comma = true);
    let rows = read(&folder, "t.csv", "a;b;c\n1.234,5;x,y;12\n", &comma).unwrap();
    assert_eq!(rows, [[text("1234.5"), text("x,y"), text("12")]]);
    let table = open_table(&folder.file("t.csv", "country\nNA\n")).unwrap();
    let values = |name: &str| vec!["SE".to_owned(), name.to_owned()];
    table.check_values("country", &values("NO")).unwrap();
    let error = folder.message(table.check_values("country", &values(" NA")).unwrap_err());
    assert!(
        error.starts_with("\"NA\" counts as missing in t.csv, so column \"country\" never has it"),
        "{error}"
    );
    assert!(error.contains("--missing ''"));
}

#[test]
fn other_encodings_are_named_and_read_on_request() {
    let folder = Folder::new();
    let units: Vec<u8> = "\u{feff}namn;ort\nÅsa;Malmö\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        read(&folder, "t.csv", &units, &Reading::default()).unwrap_err(),
        "t.csv: the file is UTF-16 text: give its encoding (utf-16), or save it as UTF-8"
    );
    let utf16 = reading(|reading| reading.encoding = Some("utf-16".to_owned()));
    assert_eq!(read(&folder, "t.csv", &units, &utf16).unwrap(), [[text("Åsa"), text("Malmö")]]);
    let windows = reading(|reading| reading.encoding = Some("windows-1252".to_owned()));
    let rows = read(&folder, "t.csv", b"pris\xe9,b\n5\x80,caf\xe9\n", &windows).unwrap();
    assert_eq!(rows, [[text("5€"), text("café")]]);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn compressed_files_are_unpacked_while_they_are_read() {
    let folder = Folder::new();
    let content = format!("a;b\n{}", "1;\"x\ny\"\n".repeat(50_000));
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    let plain = Reading::default();
    let expected = read(&folder, "t.csv", &content, &plain).unwrap();
    for (name, bytes) in [
        ("t.csv.gz", gzip(content.as_bytes())),
        ("t.csv.zst", zstd(content.as_bytes())),
        // Several members, as parallel compressors write them; and a name that does not tell.
        ("t.csv.gz", [gzip(b"a;b\n"), gzip(&content.as_bytes()[4..])].concat()),
        ("t.csv", gzip(content.as_bytes())),
    ] {
        assert_eq!(read(&folder, name, &bytes, &plain).unwrap(), expected, "{name}");
        // Cut short, it is refused after the rows before the cut.
        let cut = read(&folder, name, &bytes[..bytes.len() - 9], &plain).unwrap_err();
        assert!(cut.contains("not a readable compressed file"), "{cut}");
    }
    let tabs = content.replace(';', "\t");
    assert_eq!(read(&folder, "t.tsv.zst", zstd(tabs.as_bytes()), &plain).unwrap(), expected);
    let mut broken = gzip(content.as_bytes());
    let middle = broken.len() / 2;
    broken[middle] ^= 0x55;
    assert!(read(&folder, "t.csv.gz", &broken, &plain).is_err());
}

/// A dialect that files of people have.
#[derive(Clone, Debug)]
struct Spoken {
    separator: u8,
    quoting: Quoting,
    line_end: &'static str,
    mark: bool,
    encoding: Option<&'static str>,
    packed: u8,
    always_quoted: bool,
}

fn dialect() -> impl Strategy<Value = Spoken> {
    let separator = prop_oneof![Just(b','), Just(b';'), Just(b'\t'), Just(b'|'), Just(b':')];
    let quoting = prop_oneof![Just(Quoting::Double), Just(Quoting::Backslash), Just(Quoting::None)];
    let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let encoding = prop_oneof![2 => Just(None), 1 => Just(Some("latin1")), 1 => Just(Some("utf-16"))];
    (separator, quoting, line_end, any::<bool>(), encoding, 0u8..3, any::<bool>()).prop_map(
        |(separator, quoting, line_end, mark, encoding, packed, always_quoted)| Spoken {
            separator,
            quoting,
            line_end,
            mark,
            encoding,
            packed,
            always_quoted,
        },
    )
}

impl Spoken {
    /// A field as it is written.
    fn field(&self, text: &str) -> String {
        let signs = [char::from(self.separator), '"', '\\', '\n', '\r'];
        match self.quoting {
            Quoting::None => {
                text.chars().filter(|sign| !"\n\r".contains(*sign) && *sign != signs[0]).collect()
            }
            _ if !self.always_quoted && !text.is_empty() && !text.contains(signs) => text.to_owned(),
            Quoting::Double => format!("\"{}\"", text.replace('"', "\"\"")),
            Quoting::Backslash => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }

    /// The bytes of a file.
    fn bytes(&self, rows: &[[String; 3]]) -> Vec<u8> {
        let mut text = String::new();
        if self.mark && self.encoding != Some("latin1") {
            text.push('\u{feff}');
        }
        let header = ["a", "b", "c"].map(str::to_owned);
        for row in std::iter::once(&header).chain(rows) {
            let fields: Vec<String> = row.iter().map(|field| self.field(field)).collect();
            text.push_str(&fields.join(&char::from(self.separator).to_string()));
            text.push_str(self.line_end);
        }
        let bytes: Vec<u8> = match self.encoding {
            None => text.into_bytes(),
            Some("latin1") => text.chars().map(|sign| u8::try_from(sign).unwrap_or(b'?')).collect(),
            Some(_) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        };
        match self.packed {
            0 => bytes,
            1 => gzip(&bytes),
            _ => zstd::encode_all(&bytes[..], 1).unwrap(),
        }
    }

    fn reading(&self) -> Reading {
        Reading {
            // The four are found by themselves.
            separator: (self.separator == b':').then_some(':'),
            quoting: Some(self.quoting),
            encoding: self.encoding.map(str::to_owned),
            format: Some(Format::Csv),
            ..Reading::default()
        }
    }

    /// The cell that a field is read as.
    fn cell(&self, field: &str) -> Kept {
        let field = match self.quoting {
            Quoting::None => self.field(field),
            _ => field.to_owned(),
        };
        let field = if self.encoding == Some("latin1") {
            field.chars().map(|sign| if u32::from(sign) < 256 { sign } else { '?' }).collect()
        } else {
            field
        };
        let missing = field.trim().is_empty() || ["NA", "N/A", "null"].contains(&field.trim_ascii());
        if missing { Kept::Null } else { Kept::Text(field) }
    }
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~é\n\r\t]{0,8}",
        2 => "[\"\\\\,;|:\t]{0,5}",
        1 => Just("NA".to_owned()),
        1 => Just(" null ".to_owned()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Rows are read back as they were written, in every dialect.
    #[test]
    fn rows_are_read_back_in_every_dialect(
        dialect in dialect(),
        rows in proptest::collection::vec([field(), field(), field()], 0..12),
    ) {
        let folder = Folder::new();
        let rows: Vec<[String; 3]> = rows
            .into_iter()
            .map(|row| row.map(|field| field.replace('\u{feff}', "")))
            .collect();
        let expected: Vec<Vec<Kept>> =
            rows.iter().map(|row| row.iter().map(|field| dialect.cell(field)).collect()).collect();
        // Without quotes a row that starts with a quote is nothing special, and a row is never an empty line: it has separators.
        let found = read(&folder, "t", dialect.bytes(&rows), &dialect.reading());
        prop_assert_eq!(found, Ok(expected));
    }

    /// Any bytes are read or refused in any dialect; no panic, and the same twice.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        dialect in dialect(),
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "[a-c,;|\"\\\\\n\r\t ]{0,60}".prop_map(String::into_bytes),
        ],
        start in prop_oneof![Just(&b""[..]), Just(&b"a,b\n"[..]), Just(&[0x1f, 0x8b, 8][..]), Just(&[0x28, 0xb5, 0x2f, 0xfd][..])],
        detected: bool,
    ) {
        let folder = Folder::new();
        let bytes = [start, &bytes].concat();
        let mut reading = dialect.reading();
        if detected {
            reading.separator = None;
        } else {
            reading.separator = Some(char::from(dialect.separator));
            reading.decimal_comma = dialect.mark;
        }
        let found = read(&folder, "t", &bytes, &reading);
        prop_assert_eq!(&found, &read(&folder, "t", &bytes, &reading));
    }
}

/// The separator by all bytes of a file: what the reader must not do.
fn sniffed(bytes: &[u8]) -> u8 {
    let count = |sign: u8| bytes.iter().filter(|byte| **byte == sign).count();
    [b',', b';', b'\t', b'|'].into_iter().max_by_key(|sign| count(*sign)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// What follows the header line decides nothing about how a file is read: its columns are the same before any rows.
    #[test]
    fn rows_do_not_decide_how_a_file_is_read(
        separator in prop_oneof![Just(','), Just(';'), Just('\t'), Just('|')],
        rows in "[0-9a-z,;|\t\n\"]{0,80}",
    ) {
        let folder = Folder::new();
        let header = format!("a{separator}b{separator}c\n");
        let file = folder.file("t.csv", format!("{header}{rows}"));
        let found = open_table(&file).unwrap();
        let alone = open_table(&folder.file("h.csv", &header)).unwrap();
        prop_assert_eq!(found.columns(), alone.columns());
    }
}

/// A reader that looks at rows is caught: they change its columns.
#[test]
fn a_reader_that_looks_at_rows_is_caught() {
    let (header, rows) = ("a;b\n", "1,5;2,5\n3,5;4,5\n");
    assert_eq!(sniffed(header.as_bytes()), b';');
    assert_eq!(sniffed(format!("{header}{rows}").as_bytes()), b',');
}
