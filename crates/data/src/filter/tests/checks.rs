//! Filters against the columns of a table.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, types::Int32Type,
};

use super::*;
use crate::table::{BatchReader, ColumnInfo, ColumnKind, MemoryTable};

/// A table of text that declares no types, as a CSV file is.
#[derive(Debug)]
pub(super) struct Untyped(Vec<ColumnInfo>, Vec<String>);

impl Table for Untyped {
    fn name(&self) -> &str {
        "people.csv"
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.0
    }

    fn declares_kinds(&self) -> bool {
        false
    }

    fn missing(&self) -> &[String] {
        &self.1
    }

    fn size_bytes(&self) -> u64 {
        0
    }

    fn batches(&self, _columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        panic!("a value was asked for");
    }
}

pub(super) fn untyped(columns: &[impl AsRef<str>]) -> Untyped {
    let column =
        |name: &dyn AsRef<str>| ColumnInfo { name: name.as_ref().to_owned(), kind: ColumnKind::Text };
    Untyped(columns.iter().map(|name| column(name)).collect(), vec!["NA".to_owned()])
}

fn typed() -> MemoryTable {
    let columns: [(&str, ArrayRef); 7] = [
        ("age", Arc::new(Int64Array::from(vec![1]))),
        ("weight", Arc::new(Float64Array::from(vec![1.0]))),
        ("name", Arc::new(StringArray::from(vec!["a"]))),
        ("member", Arc::new(BooleanArray::from(vec![true]))),
        ("born", Arc::new(Date32Array::from(vec![0]))),
        ("seen", Arc::new(TimestampMicrosecondArray::from(vec![0]))),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    MemoryTable::new("people", batch.schema(), vec![batch]).unwrap()
}

fn refusal(table: &dyn Table, filter: &str) -> String {
    match Predicate::parse(filter).and_then(|predicate| predicate.check(table)) {
        Ok(read) => panic!("{filter} was read as {}", read.canonical()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn declared_types_are_compared_with_what_fits_them() {
    let table = typed();
    for filter in [
        "age > 3 and weight/age < 2",
        "name = Smith or name in (a, 5, 2013-05-01)",
        "name >= 2013-05-01",
        "name > born",
        "age = old",
        "member = true",
        "member != `age`",
        "born < 2013-05-01 and seen >= 2013-05-01 14:30",
        "born < seen and born = `seen`",
        "seen - born > 3 and born + 30 < seen",
        "year(born) = 1970 and hour(seen) < 12 and year(name) > 3",
        "min(born, seen) < 2013-05-01",
        "list is missing or age > 3",
        "born is missing or name is missing or member is missing",
    ] {
        let checked = Predicate::parse(filter).unwrap().check(&table);
        match filter.contains("list") {
            true => assert!(checked.unwrap_err().to_string().contains("list"), "{filter}"),
            false => assert!(checked.is_ok(), "{filter}: {}", checked.unwrap_err()),
        }
    }
    for (filter, expected) in [
        ("name > 3", "\"name\" holds text, and \">\" compares numbers or dates"),
        ("3 < name", "\"name\" holds text"),
        ("name between 3 and 5", "\"name\" holds text"),
        ("name < age", "\"name\" holds text"),
        ("name + 1 > 3", "\"name\" holds text, and arithmetic needs numbers or dates"),
        ("member > 3", "\"member\" holds true or false, which has no order"),
        ("member * 2 = 2", "\"member\" holds true or false, and arithmetic needs"),
        ("born > 3", "\"3\" and \"born\" are a number and a date"),
        ("born > age", "are a number and a date"),
        ("born = 3", "\"born\" holds dates, and \"3\" is not one"),
        ("born = May", "\"born\" holds dates, and \"May\" is not one"),
        ("seen in (2013-05-01, 7)", "\"seen\" holds timestamps, and \"7\" is not one"),
        ("born * 2 > 3", "a product takes a number, and \"born\" is a date"),
        ("born + seen > 2013-05-01", "cannot be added to a date"),
        ("3 - born > 3", "cannot be subtracted from a number"),
        ("-born > 3", "a minus takes a number"),
        ("abs(born) > 3", "abs takes a number"),
        ("min(born, 3) > 3", "min takes numbers or dates, not both"),
        ("year(age) = 3", "year takes a date, and \"age\" holds numbers"),
        ("hour(born) = 3", "hour takes a time, and \"born\" holds dates without one"),
        ("age + 1 = 'old'", "is a number, and \"old\" is not one"),
        ("age > list", "list"),
        ("wieght > 3", "did you mean \"weight\"?"),
        ("age > wieght", "did you mean \"weight\"?"),
    ] {
        let refusal = refusal(&table, filter);
        assert!(refusal.contains(expected), "{filter}: {refusal}");
        assert!(!refusal.contains('\n'));
    }
}

#[test]
fn a_text_with_two_meanings_is_refused() {
    let table = untyped(&["a", "b", "a - b", "married", "not married", "origin", "dest", "net/gross"]);
    for (filter, write) in [
        ("a - b > 3", "write `a - b` for the column, or `a` - `b` > '3' otherwise"),
        ("not married = 1", "write `not married` for the column, or not `married` = '1' otherwise"),
        ("origin = dest", "write 'dest' for the value, or `dest` for what the columns hold"),
        ("origin in (JFK, dest)", "write 'dest' for the value"),
        ("origin = a + b", "write 'a + b' for the value, or (a + b) for what the columns hold"),
    ] {
        let refusal = refusal(&table, filter);
        assert!(refusal.contains(write), "{filter}: {refusal}");
    }
    for (filter, canonical) in [
        ("`a - b` > 3", "`a - b` > '3'"),
        ("`a` - b > 3", "`a` - `b` > '3'"),
        ("(a) - b > 3", "`a` - `b` > '3'"),
        ("not (married = 1)", "not `married` = '1'"),
        ("'not married' = 1", "`not married` = '1'"),
        ("origin = 'dest'", "`origin` = 'dest'"),
        ("origin = `dest`", "`origin` = `dest`"),
        ("origin = (a + b)", "`origin` = `a` + `b`"),
        ("origin = 'a + b'", "`origin` = 'a + b'"),
        // The table has no columns net and gross.
        ("net/gross > 3", "`net/gross` > '3'"),
        ("b > 3 or net > 3", ""),
    ] {
        let checked = Predicate::parse(filter).unwrap().check(&table);
        match canonical {
            "" => assert!(checked.unwrap_err().to_string().contains("column \"net\" is not in")),
            _ => assert_eq!(checked.unwrap().canonical(), canonical, "{filter}"),
        }
    }
    // A value that looks like arithmetic of columns that are not there is refused with the name that is not known.
    assert!(refusal(&table, "origin = (a + c)").contains("\"c\""));
}

#[test]
fn types_that_are_not_declared_refuse_nothing() {
    let table = untyped(&["x", "y"]);
    for filter in
        ["x > 3", "x > 2013-05-01", "x + y > 3", "x - 2013-05-01 > y", "year(x) = 3", "min(x, y) = 3"]
    {
        assert!(Predicate::parse(filter).unwrap().check(&table).is_ok(), "{filter}");
    }
    for (filter, expected) in [("x * 2013-05-01 > 3", "is a date"), ("year(5) = `x`", "year takes a date")] {
        assert!(refusal(&table, filter).contains(expected), "{filter}");
    }
}

#[test]
fn a_text_that_counts_as_missing_is_no_value() {
    let table = untyped(&["country", "x"]);
    for filter in ["country = NA", "country != 'NA'", "country in (NO, NA)", "not (x > 3 or country = NA)"] {
        assert!(refusal(&table, filter).contains("write `country` is missing"), "{filter}");
    }
    assert!(Predicate::parse("country = NAM or country is missing").unwrap().check(&table).is_ok());
}
