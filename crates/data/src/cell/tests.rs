use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Result<Option<Number>, NumberError> {
    Cell::from_text(text).number()
}

#[test]
fn integers_are_read_exactly() {
    assert_eq!(number(" 42 "), Ok(Some(Number::Integer(42))));
    assert_eq!(number("+7"), Ok(Some(Number::Integer(7))));
    assert_eq!(number("9007199254740993"), Ok(Some(Number::Integer(9_007_199_254_740_993))));
    assert_eq!(number("-9223372036854775808"), Ok(Some(Number::Integer(i64::MIN))));
}

#[test]
fn an_integer_beyond_64_bits_becomes_a_float() {
    assert_eq!(number("9223372036854775808"), Ok(Some(Number::Float(9_223_372_036_854_775_808.0))));
    assert_eq!(number("-99999999999999999999"), Ok(Some(Number::Float(-1e20))));
}

#[test]
fn other_numbers_are_floats() {
    assert_eq!(number("1.0"), Ok(Some(Number::Float(1.0))));
    assert_eq!(number(".5"), Ok(Some(Number::Float(0.5))));
    assert_eq!(number("-1e3"), Ok(Some(Number::Float(-1000.0))));
}

#[test]
fn blank_text_is_null() {
    for blank in ["", " ", "\t \u{a0}"] {
        assert_eq!(Cell::from_text(blank), Cell::Null);
        assert_eq!(Cell::Text(blank).number(), Ok(None));
        assert_eq!(Cell::Text(blank).label(), None);
    }
    assert_eq!(Cell::Null.number(), Ok(None));
    assert!(Cell::Null.is_null());
}

#[test]
fn what_is_no_number_is_refused_with_its_place() {
    for text in ["abc", "1,000", "0x10", "1 2", "--1", "1_000", "12abc"] {
        let error = Cell::Text(text).number_at("age", 7).unwrap_err();
        let expected = DataError::NotANumber { column: "age".into(), row: 7, value: text.into() };
        assert_eq!(error, expected);
    }
    assert_eq!(
        Cell::Boolean(true).number_at("age", 7).unwrap_err().to_string(),
        "column \"age\", row 7: \"true\" is not a number: fix the cell or choose a numeric column"
    );
}

#[test]
fn what_is_not_finite_is_refused_with_its_place() {
    for text in ["nan", "NaN", "inf", "-inf", "Infinity", "1e999", &"9".repeat(400)] {
        let error = Cell::Text(text).number_at("age", 7).unwrap_err();
        assert_eq!(error, DataError::NotFinite { column: "age".into(), row: 7 });
    }
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Cell::Float(float).number(), Err(NumberError::NotFinite));
    }
    assert_eq!(
        Cell::Float(f64::NAN).number_at("age", 7).unwrap_err().to_string(),
        "column \"age\", row 7: the number is not finite (NaN or infinite): replace it or leave the cell empty"
    );
    assert_eq!(NumberError::NotFinite.to_string(), "the number is not finite (NaN or infinite)");
}

#[test]
fn labels_are_what_categories_are_written_as() {
    assert_eq!(Cell::Text(" Male ").label().as_deref(), Some("Male"));
    assert_eq!(Cell::Integer(-3).label().as_deref(), Some("-3"));
    assert_eq!(Cell::Float(3.0).label().as_deref(), Some("3"));
    assert_eq!(Cell::Float(-0.0).label().as_deref(), Some("0"));
    assert_eq!(Cell::Float(2.5).label().as_deref(), Some("2.5"));
    assert_eq!(Cell::Boolean(true).label().as_deref(), Some("true"));
    assert_eq!(Cell::Boolean(false).label().as_deref(), Some("false"));
    assert_eq!(Cell::Null.label(), None);
}

#[test]
fn comparison_does_not_round_integers() {
    let big = Number::Integer(9_007_199_254_740_993);
    let near = Number::Float(9_007_199_254_740_992.0);
    assert_eq!(big.compare(near), Some(Ordering::Greater));
    assert_eq!(near.compare(big), Some(Ordering::Less));
    assert_eq!(Number::Integer(i64::MAX).compare(Number::Float(BEYOND)), Some(Ordering::Less));
    assert_eq!(Number::Integer(i64::MIN).compare(Number::Float(-BEYOND)), Some(Ordering::Equal));
    assert_eq!(Number::Integer(i64::MIN).compare(Number::Float(-1e300)), Some(Ordering::Greater));
    assert_eq!(Number::Integer(0).compare(Number::Float(-0.5)), Some(Ordering::Greater));
    assert_eq!(Number::Integer(0).compare(Number::Float(-0.0)), Some(Ordering::Equal));
    assert_eq!(Number::Integer(-1).compare(Number::Float(-1.5)), Some(Ordering::Greater));
    assert_eq!(Number::Integer(1).compare(Number::Float(1.5)), Some(Ordering::Less));
    assert_eq!(Number::Integer(1).compare(Number::Float(f64::NAN)), None);
}

proptest! {
    #[test]
    fn numbers_survive_csv(integer: i64, float in any::<f64>()) {
        let text = Cell::Integer(integer).csv_text();
        prop_assert_eq!(number(&text), Ok(Some(Number::Integer(integer))));
        prop_assume!(float.is_finite());
        let text = Cell::Float(float).csv_text();
        let back = number(&text).unwrap().unwrap();
        prop_assert_eq!(back.to_f64().to_bits(), float.to_bits());
    }

    #[test]
    fn reading_text_never_panics(text: String) {
        let _ = (number(&text), Cell::Text(&text).label(), Cell::Text(&text).csv_text());
    }

    #[test]
    fn comparison_agrees_with_wide_integers(integer: i64, whole in -(1i64 << 52)..(1i64 << 52), half: bool) {
        let float = whole as f64 + if half { 0.5 } else { 0.0 };
        let doubled = 2 * i128::from(whole) + i128::from(half);
        let expected = (2 * i128::from(integer)).cmp(&doubled);
        prop_assert_eq!(Number::Integer(integer).compare(Number::Float(float)), Some(expected));
        let near = whole + i64::from(half);
        let expected = (2 * i128::from(near)).cmp(&doubled);
        prop_assert_eq!(Number::Integer(near).compare(Number::Float(float)), Some(expected));
    }
}

#[test]
fn dates_and_timestamps_are_numbers_and_iso_text() {
    let date = Cell::Date(19_783);
    assert_eq!(date.label().as_deref(), Some("2024-03-01"));
    assert_eq!(date.csv_text(), "2024-03-01");
    assert_eq!(date.number(), Ok(Some(Number::Integer(19_783))));
    assert_eq!(Cell::Date(-1).label().as_deref(), Some("1969-12-31"));
    assert_eq!(Cell::Date(-719_529).label().as_deref(), Some("-00001-12-31"));
    let at = Cell::Timestamp(1_709_296_200_250_000);
    assert_eq!(at.label().as_deref(), Some("2024-03-01T12:30:00.25"));
    assert_eq!(at.number(), Ok(Some(Number::Float(1_709_296_200.25))));
    assert_eq!((at.date(), date.timestamp()), (Some(19_783), Some(1_709_251_200_000_000)));
    assert_eq!(Cell::Timestamp(-1_000_000).label().as_deref(), Some("1969-12-31T23:59:59"));
    assert_eq!(Cell::Timestamp(-1_000_000).number(), Ok(Some(Number::Integer(-1))));
    assert_eq!(Cell::Text(" 2024-03-01 12:30 ").date(), Some(19_783));
    assert_eq!(Cell::Text("2024-03-01").timestamp(), date.timestamp());
    assert!([Cell::Null, Cell::Integer(3), Cell::Text("3")].iter().all(|cell| cell.date().is_none()));
}

#[test]
fn dates_that_the_calendar_does_not_have_are_not_read() {
    let wrong =
        ["2023-02-29", "2024-02-30", "2024-13-01", "2024-00-10", "2024-1-01", "24-01-01", "2024-01-01x"];
    assert!(wrong.iter().all(|text| parse_date(text).is_none()));
    assert_eq!(parse_date("2024-02-29"), Some(19_782));
    assert_eq!((parse_date("1900-02-29"), parse_date("2000-02-29")), (None, Some(11_016)));
    let noon = Some(1_709_294_400_000_000);
    for text in
        ["2024-03-01T12:00", "2024-03-01 12:00:00", "2024-03-01T14:00:00.000+02:00", "2024-03-01T06:30-0530"]
    {
        assert_eq!(parse_timestamp(text), noon, "{text}");
    }
    let wrong = [
        "2024-03-01T24:00",
        "2024-03-01T12",
        "2024-03-01T12:00:60",
        "2024-03-01T12:00+2",
        "2024-03-01T12:00Z1",
    ];
    assert!(wrong.iter().all(|text| parse_timestamp(text).is_none()));
}

proptest! {
    #[test]
    fn days_and_times_survive_their_text(days: i32, at: i64) {
        prop_assert_eq!(parse_date(&date_label(days)), Some(days));
        prop_assert_eq!(parse_timestamp(&timestamp_label(at)), Some(at));
    }

    #[test]
    fn reading_times_never_panics(text: String, like in "[-+]?[0-9é]{4}-[0-9]{2}-[0-9]{2}[T ]?[0-9:.Z+é-]{0,15}") {
        let _ = (Cell::Text(&text).date(), Cell::Text(&like).timestamp(), Cell::Text(&like).date());
    }
}
