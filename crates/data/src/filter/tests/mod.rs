mod checks;
mod files;
mod plain;
mod random;

use proptest::prelude::*;

use super::*;

fn matches(filter: &str, cells: &[Cell<'_>]) -> bool {
    Predicate::parse(filter).unwrap().matches(cells)
}

fn problem(filter: &str) -> String {
    let message = Predicate::parse(filter).unwrap_err().to_string();
    assert!(!message.contains('\n'));
    let start = format!("filter \"{filter}\": ");
    message.strip_prefix(&start).unwrap().strip_suffix(&format!(": {GRAMMAR}")).unwrap().to_owned()
}

#[test]
fn labels_are_compared() {
    assert!(matches("sex=Male", &[Cell::Text("Male")]));
    assert!(matches("sex = Male", &[Cell::Text(" Male ")]));
    assert!(matches("sex==Male", &[Cell::Text("Male")]));
    assert!(!matches("sex=Male", &[Cell::Text("male")]));
    assert!(matches("sex!=Male", &[Cell::Text("Female")]));
    assert!(!matches("sex != Male", &[Cell::Text("Male")]));
    assert!(matches("member=true", &[Cell::Boolean(true)]));
    assert!(matches("country=Åland", &[Cell::Text("Åland")]));
}

#[test]
fn numbers_are_equal_however_they_are_written() {
    for cell in [Cell::Text("2"), Cell::Text("2.0"), Cell::Integer(2), Cell::Float(2.0)] {
        assert!(matches("rooms=2", &[cell]));
        assert!(matches("rooms=2.00", &[cell]));
        assert!(!matches("rooms!=2", &[cell]));
        assert!(!matches("rooms=3", &[cell]));
    }
    assert!(!matches("id=9007199254740993", &[Cell::Integer(9_007_199_254_740_992)]));
    assert!(!matches("rooms=2", &[Cell::Text("two")]));
    assert!(matches("rooms!=2", &[Cell::Text("two")]));
    assert!(matches("x=inf", &[Cell::Text("inf")]));
}

#[test]
fn order_is_numeric() {
    for (filter, below, at, above) in [
        ("age<18", true, false, false),
        ("age <= 18", true, true, false),
        ("age>18", false, false, true),
        ("age >=18.0", false, true, true),
    ] {
        for (text, number, expected) in [("9", 9, below), ("18", 18, at), ("100", 100, above)] {
            assert_eq!(matches(filter, &[Cell::Text(text)]), expected, "{filter} {text}");
            assert_eq!(matches(filter, &[Cell::Integer(number)]), expected);
            assert_eq!(matches(filter, &[Cell::Float(number as f64)]), expected);
        }
    }
}

#[test]
fn null_fulfils_nothing() {
    for filter in ["x=1", "x!=1", "x<1", "x<=1", "x>1", "x>=1", "x=a", "x!=a"] {
        assert!(!matches(filter, &[Cell::Null]));
        assert!(!matches(filter, &[Cell::Text("  ")]));
    }
}

#[test]
fn conditions_are_joined_by_and() {
    let predicate = Predicate::parse("age>=18 AND sex=Female and\tage<65").unwrap();
    assert_eq!(predicate.columns(), ["age", "sex"]);
    assert!(predicate.matches(&[Cell::Integer(30), Cell::Text("Female")]));
    assert!(!predicate.matches(&[Cell::Integer(70), Cell::Text("Female")]));
    assert!(!predicate.matches(&[Cell::Integer(30), Cell::Text("Male")]));
    assert_eq!(predicate.to_string(), "age>=18 AND sex=Female and\tage<65");
    assert!(matches(
        "brand=Anderson and place=Sandhurst",
        &[Cell::Text("Anderson"), Cell::Text("Sandhurst")]
    ));
}

#[test]
fn quotes_keep_what_they_hold() {
    assert!(matches("place='Trinidad and Tobago'", &[Cell::Text("Trinidad and Tobago")]));
    assert!(matches("income=\"<=50K\"", &[Cell::Text("<=50K")]));
    assert!(matches(
        "name='say \"hi\"' and 'hours per week' > 40",
        &[Cell::Text("say \"hi\""), Cell::Integer(41)]
    ));
    assert_eq!(
        Predicate::parse("\"a=b\"=1 and hours per week>3").unwrap().columns(),
        ["a=b", "hours per week"]
    );
}

#[test]
fn a_value_may_begin_with_a_sign() {
    assert!(matches("income=<=50K", &[Cell::Text("<=50K")]));
    assert!(matches("income=>50K", &[Cell::Text(">50K")]));
    assert!(matches("income!=>50K", &[Cell::Text("<=50K")]));
    assert!(matches("gain>-5", &[Cell::Integer(0)]));
}

#[test]
fn an_order_comparison_needs_a_number_in_the_cell() {
    let adults = Predicate::parse("age>=18").unwrap();
    for cell in [Cell::Text("old"), Cell::Float(f64::NAN), Cell::Float(f64::INFINITY), Cell::Boolean(true)] {
        assert!(!adults.matches(&[cell]));
    }
}

#[test]
fn malformed_filters_are_refused_with_the_grammar() {
    assert_eq!(problem(""), "a condition is missing");
    assert_eq!(problem("sex=Male and "), "a condition is missing");
    assert_eq!(problem("sex=Male and"), "a condition is missing");
    assert_eq!(problem("sex"), "there is no comparison after \"sex\"");
    assert_eq!(problem("sex!Male"), "there is no comparison after \"sex\"");
    assert_eq!(problem("place=Trinidad and Tobago"), "there is no comparison after \"Tobago\"");
    assert_eq!(problem("=Male"), "a column name is missing");
    assert_eq!(problem("''=1"), "a column name is missing");
    assert_eq!(problem("sex="), "a value is missing after \"sex=\"");
    assert_eq!(problem("sex=''"), "a value is missing after \"sex=\"");
    assert_eq!(problem("sex= and age>3"), "a value is missing after \"sex=\"");
    assert_eq!(problem("sex='Male"), "the quote ' is not closed");
    assert_eq!(problem("sex='Male' x"), "\"x\" follows a quoted value");
    assert_eq!(problem("income<=50K"), "\"<=\" compares with a number, and \"50K\" is not one");
    assert_eq!(problem("age<inf"), "\"<\" compares with a number, and \"inf\" is not one");
}

/// What a filter says of a row: true, false or unknown.
fn says(filter: &str, cells: &[Cell<'_>]) -> Truth {
    truth(&Predicate::parse(filter).unwrap().condition, cells)
}

#[test]
fn conditions_are_joined_by_or_and_negated() {
    let row = |age: i64, sex: &'static str| [Cell::Integer(age), Cell::Text(sex)];
    for (filter, expected) in [
        ("age>30 or sex=Female", [true, true, false]),
        ("age>30 and sex=Female", [false, false, false]),
        ("not age>30 or sex=Male", [true, true, true]),
        ("not (age>30 or sex=Female)", [false, false, true]),
        ("NOT age>30 AND NOT sex=Female", [false, false, true]),
        ("not not age>30", [true, false, false]),
        ("(((age>30)))", [true, false, false]),
        ("age>30 or age<10 and sex=Male", [true, false, false]),
        ("(age>30 or age<25) and sex=Male", [true, false, true]),
        ("(age>30)or(sex=Female)", [true, true, false]),
        ("age > 30 or sex = Female", [true, true, false]),
        ("sex=Male and (age>30 or age<25)", [true, false, true]),
    ] {
        let rows = [row(40, "Male"), row(20, "Female"), row(20, "Male")];
        let predicate = Predicate::parse(filter).unwrap();
        let order: Vec<usize> =
            predicate.columns().iter().map(|column| usize::from(column == "sex")).collect();
        for (cells, expected) in rows.iter().zip(expected) {
            let cells: Vec<Cell<'_>> = order.iter().map(|at| cells[*at]).collect();
            assert_eq!(predicate.matches(&cells), expected, "{filter} {cells:?}");
        }
    }
}

#[test]
fn lists_ranges_and_missing_values() {
    for (filter, cell, expected) in [
        ("x in (AA, UA)", Cell::Text("UA"), true),
        ("x in (AA, UA)", Cell::Text("DL"), false),
        ("x not in (AA, UA)", Cell::Text("DL"), true),
        ("x IN ('A, B', \"(c)\", d e)", Cell::Text("A, B"), true),
        ("x in ('A, B', \"(c)\", d e)", Cell::Text("(c)"), true),
        ("x in ('A, B', \"(c)\", d e)", Cell::Text(" d e "), true),
        ("x in (Trinidad and Tobago, Chad)", Cell::Text("Trinidad and Tobago"), true),
        ("x in (a (b), c)", Cell::Text("a (b)"), true),
        ("x in (1, 2.5, 1e3)", Cell::Integer(1000), true),
        ("x in (1, 2.5, 1e3)", Cell::Text("2.50"), true),
        ("x in (1, 2.5, 1e3)", Cell::Float(2.0), false),
        ("x in(9007199254740993)", Cell::Integer(9_007_199_254_740_992), false),
        ("x in (2013-05-01)", Cell::Date(15_826), true),
        ("x in (2013-05-01)", Cell::Text("2013-05-01"), true),
        ("x in (true)", Cell::Boolean(true), true),
        ("x between 3 and 5", Cell::Integer(3), true),
        ("x between 3 and 5", Cell::Float(5.5), false),
        ("x not between 3 and 5", Cell::Float(5.5), true),
        ("x between -5 and -3 and x < -3", Cell::Integer(-4), true),
        ("x between '3' and \"5\"", Cell::Text("4"), true),
        ("x between 2013-05-01 and 2013-05-31", Cell::Text("2013-05-31"), true),
        ("x is missing", Cell::Null, true),
        ("x is missing", Cell::Text("  "), true),
        ("x is missing", Cell::Float(f64::NAN), true),
        ("x is missing", Cell::Text("NaN"), false),
        ("x is missing", Cell::Float(f64::INFINITY), false),
        ("x is not missing", Cell::Integer(0), true),
        ("x IS NULL", Cell::Null, true),
        ("x is not null", Cell::Null, false),
        ("not x is missing", Cell::Null, false),
        ("x + 1 is missing", Cell::Text("old"), true),
        ("x <> 3", Cell::Integer(4), true),
    ] {
        assert_eq!(matches(filter, &[cell]), expected, "{filter} {cell:?}");
    }
}

#[test]
fn dates_are_compared_as_dates() {
    let may = [
        Cell::Text("2013-05-01"),
        Cell::Text("2013-05-01T00:00:00Z"),
        Cell::Text("2013-05-01 02:00+02:00"),
        Cell::Date(15_826),
        Cell::Timestamp(15_826 * evaluate::DAY),
    ];
    for cell in may {
        assert!(matches("d >= 2013-05-01", &[cell]), "{cell:?}");
        assert!(matches("d = 2013-05-01", &[cell]), "{cell:?}");
        assert!(matches("d < 2013-05-01 00:00:00.000001", &[cell]));
        assert!(matches("d <= '2013-05-01T00:00'", &[cell]));
        assert!(matches("2013-04-30T23:59 < d", &[cell]));
        assert!(!matches("d > 2013-05-01", &[cell]));
        assert!(!matches("d != 2013-05-01", &[cell]));
        assert!(matches("d + 30 > 2013-05-30", &[cell]));
        assert!(matches("d - 2013-04-01 = 30", &[cell]));
        assert!(matches("year(d) = 2013 and month(d)=5 and day(d)=1 and weekday(d)=3", &[cell]));
        assert!(matches("min(d, 2013-06-01) = `d`", &[cell]));
        assert!(matches("max(d, 2013-06-01) = 2013-06-01", &[cell]));
    }
    assert!(matches("hour(t) = 14", &[Cell::Text("2013-05-01T14:59:59")]));
    assert!(matches("hour(t) between 14 and 15", &[Cell::Timestamp(14 * 3_600_000_000)]));
    assert!(matches("hour(t) is missing", &[Cell::Text("2013-05-01")]));
    assert!(matches("a < b", &[Cell::Text("2013-05-01"), Cell::Date(15_827)]));
    assert_eq!(says("d > 2013-05-01", &[Cell::Integer(5)]), Truth::Unknown);
    assert_eq!(says("d > 5", &[Cell::Date(9)]), Truth::Unknown);
}

#[test]
fn arithmetic_between_columns() {
    let cells = [Cell::Integer(6), Cell::Text("1.5"), Cell::Float(0.0)];
    for (filter, expected) in [
        ("a + b + z = 7.5", Truth::True),
        ("a - b*2 > 2.9 and a + z > b", Truth::True),
        ("(a - b) * 2 = 9 and z = 0", Truth::True),
        ("-a < b and abs(-a) = 6 and z < 1", Truth::True),
        ("a / b = 4 and z = 0", Truth::True),
        ("a / b / 2 * 3 - -1 = 7 and z = 0", Truth::True),
        ("a / z > 0 and b = 1.5", Truth::Unknown),
        ("a / z != 5 or b > 9", Truth::Unknown),
        ("a / z is missing and b > 0", Truth::True),
        ("a * 1e308 * b > 0 or z > 9", Truth::Unknown),
        ("floor(b) = 1 and floor(-b) = -2 and a > z", Truth::True),
        ("min(a, b, z) = 0 and max(a, b, z) = `a`", Truth::True),
        ("a > b and b > z", Truth::True),
        ("a = (b * 4) and z = 0", Truth::True),
        ("b = min(a, 1.5) and z = 0", Truth::True),
        ("a = `b` or z = `a`", Truth::False),
        ("2 * b < a and 0 = z", Truth::True),
        ("a + b > 'nothing' or z > 1", Truth::Unknown),
    ] {
        let Ok(predicate) = Predicate::parse(filter) else {
            assert!(filter.contains("nothing"), "{filter}");
            continue;
        };
        let order = ["a", "b", "z"];
        let cells: Vec<Cell<'_>> = predicate
            .columns()
            .iter()
            .map(|column| cells[order.iter().position(|known| known == column).unwrap()])
            .collect();
        assert_eq!(truth(&predicate.condition, &cells[..]), expected, "{filter}");
    }
}

#[test]
fn an_unknown_comparison_stays_unknown() {
    use Truth::{False, True, Unknown};
    for (filter, cells, expected) in [
        ("age > 5", Cell::Null, Unknown),
        ("not (age > 5)", Cell::Null, Unknown),
        ("not (age > 5)", Cell::Text("old"), Unknown),
        ("not (age = 5)", Cell::Text("old"), True),
        ("age > 5 or age <= 5", Cell::Null, Unknown),
        ("age > 5 or age is missing", Cell::Null, True),
        ("age > 5 and age is not missing", Cell::Null, False),
        ("not (age > 5 and age is not missing)", Cell::Null, True),
        ("age in (1, 2)", Cell::Null, Unknown),
        ("age not in (1, 2)", Cell::Null, Unknown),
        ("age not between 1 and 2", Cell::Null, Unknown),
        ("age between 1 and 2", Cell::Text("old"), Unknown),
        ("not (age != 5)", Cell::Null, Unknown),
        ("not (age*0 = 0)", Cell::Null, Unknown),
    ] {
        assert_eq!(says(filter, &[cells]), expected, "{filter}");
        assert_eq!(matches(filter, &[cells]), expected == True);
    }
}

#[test]
fn names_and_values_without_quotes() {
    for (filter, columns, canonical) in [
        ("hours-per-week > 40", vec!["hours-per-week"], "`hours-per-week` > '40'"),
        (
            "capital gain - capital loss > 0",
            vec!["capital gain", "capital loss"],
            "`capital gain` - `capital loss` > '0'",
        ),
        ("workclass=Self emp not inc", vec!["workclass"], "`workclass` = 'Self emp not inc'"),
        ("education=HS-grad or age<3", vec!["education", "age"], "`education` = 'HS-grad' or `age` < '3'"),
        ("time in hospital > 3", vec!["time in hospital"], "`time in hospital` > '3'"),
        ("state=or and x=1", vec!["state", "x"], "`state` = 'or' and `x` = '1'"),
        ("(kind=a (b) or kind=c)", vec!["kind"], "`kind` = 'a (b)' or `kind` = 'c'"),
        ("kind=(unknown)", vec!["kind"], "`kind` = '(unknown)'"),
        ("band=(20-30)", vec!["band"], "`band` = '(20-30)'"),
        ("x='it''s' and `a``b`>1", vec!["x", "a`b"], "`x` = 'it''s' and `a``b` > '1'"),
        ("not = 3", vec!["not"], "`not` = '3'"),
        ("x=not applicable", vec!["x"], "`x` = 'not applicable'"),
        ("x != a + b", vec!["x"], "`x` != 'a + b'"),
        ("price (EUR) > 3", vec!["price (EUR)"], "`price (EUR)` > '3'"),
        ("2nd floor = yes", vec!["2nd floor"], "`2nd floor` = 'yes'"),
        ("x<-5", vec!["x"], "`x` < '-5'"),
        ("x < 2 * -5", vec!["x"], "`x` < '2' * '-5'"),
        ("x < -y", vec!["x", "y"], "`x` < -(`y`)"),
    ] {
        let predicate = Predicate::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
        assert_eq!(predicate.columns(), columns, "{filter}");
        assert_eq!(predicate.canonical(), canonical);
        assert_eq!(Predicate::parse(canonical).unwrap().canonical(), canonical);
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    for (filter, expected) in [
        ("(age>3", "a parenthesis is not closed"),
        ("age>3)", "a parenthesis is closed that was not opened"),
        ("(age>3))", "a parenthesis is closed that was not opened"),
        ("age in 3", "there is no comparison after \"age in 3\""),
        ("age in ()", "a value is missing in the list after \"in\""),
        ("age in (3,)", "a value is missing in the list after \"in\""),
        ("age in (3", "the list after \"in\" is not closed"),
        ("age in ('3' 4)", "\"4)\" follows a quoted value"),
        ("age between 3", "\"between\" needs two ends"),
        ("age between 3 and", "\"between\" needs two ends"),
        ("age between and 3", "\"between\" needs two ends"),
        ("age > 3 & sex < 4", "\">\" compares with a number, and \"3 & sex < 4\" is not one"),
        ("3 > 4", "\"3 > 4\" compares two constants"),
        ("3 in (4)", "\"3\" has no column"),
        ("sqrt(x) > 3", "there is no function \"sqrt\": the functions are abs, min"),
        ("min(x) > 3", "min takes two or more arguments"),
        ("abs(x, y) > 3", "abs takes one argument"),
        ("x > 2013-02-31", "\"2013-02-31\" is not a date of the calendar"),
        ("x + > 3", "a column or a number is missing before \">\""),
        ("x > 3 +", "a column or a number is missing at the end"),
        ("x > 'a b' + 1", "in quotes is text"),
        ("(x > 3) + 1 > 2", "a condition cannot be part of arithmetic"),
        ("not x", "there is no comparison after \"x\""),
        ("x or y=1", "there is no comparison after \"x\""),
        ("age>3 age>4", "\">\" compares with a number, and \"3 age>4\" is not one"),
        ("age+1>3 age>4", "compares with a number"),
        ("age in (3) sex=1", "\"sex=1\" follows a condition: join conditions with and, or"),
    ] {
        // A plain reading, where there is one, is refused for want of its columns.
        let error = match Predicate::parse(filter) {
            Err(error) => error,
            Ok(predicate) => predicate.check(&checks::untyped(&["age", "sex", "x", "y"])).unwrap_err(),
        };
        assert!(error.to_string().contains(expected), "{filter}: {error}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let nested =
        |depth: usize, open: &str, close: &str| format!("{}x{} > 3", open.repeat(depth), close.repeat(depth));
    for (open, close) in [("(", ")"), ("-", ""), ("not (", ")"), ("abs(", ")"), ("- (", ")")] {
        let is_condition = open.starts_with("not");
        let text = |depth| match is_condition {
            true => format!("{}x > 3{}", open.repeat(depth), close.repeat(depth)),
            false => nested(depth, open, close),
        };
        let read = parser::parse_filter(&text(20));
        assert!(read.is_ok(), "{open}: {:?}", read.err());
        let refused = parser::parse_filter(&text(100_000)).err().unwrap();
        assert!(refused.contains("nested more than"), "{open}: {refused}");
    }
    let long = vec!["x=1"; 100_000].join(" or ");
    assert!(matches(&long, &[Cell::Integer(1)]));
    let sum = format!("{}x > 1", "x + ".repeat(100_000));
    assert!(matches(&sum, &[Cell::Integer(1)]));
    assert!(Predicate::parse(&format!("{long} or {long}")).unwrap_err().to_string().contains("longer than"));
    let list = format!("x in ({})", vec!["9"; 100_000].join(","));
    assert!(matches(&list, &[Cell::Integer(9)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = Predicate::parse(&text);
        let _ = Derivation::parse(&text);
    }

    #[test]
    fn any_words_are_read_or_refused_and_read_again(
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "and", "or", "not", "in", "between", "is", "missing", "null", "(", ")", ",", "=", "!=", "<", "<=", ">", "+",
                "-", "*", "/", "'", "\"", "`", "x", "y", "5", "-5", "1e3", ".5", "2013-05-01", "2013-05-01 14:30", "abs(",
                "min(", "year(", "HS-grad", "''", " ", "é", "Self emp",
            ]),
            0..14,
        ),
        glue in prop::sample::select(vec!["", " "]),
    ) {
        let text = words.join(glue);
        if let Ok(predicate) = Predicate::parse(&text) {
            let cells = vec![Cell::Text("1"); predicate.columns().len()];
            let is_true = predicate.matches(&cells);
            let canonical = predicate.canonical();
            let again = Predicate::parse(&canonical).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            prop_assert_eq!(again.columns(), predicate.columns(), "{} {}", &text, &canonical);
            prop_assert_eq!(&again.condition, &predicate.condition, "{} {}", &text, &canonical);
            prop_assert_eq!(again.matches(&cells), is_true);
            prop_assert_eq!(again.canonical(), canonical);
        }
        for text in [text.clone(), format!("n={text} in 0,1")] {
            if let Ok(derivation) = Derivation::parse(&text) {
                let again = Derivation::parse(&derivation.canonical());
                let again = again.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
                prop_assert_eq!(again.canonical(), derivation.canonical());
                prop_assert_eq!(&again.expression_and_bounds(), &derivation.expression_and_bounds());
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ a-z0-9=!<>'\"éand]{0,30}", other: String) {
        for text in [text, other] {
            if let Ok(predicate) = Predicate::parse(&text) {
                let cells = vec![Cell::Text("1"); predicate.columns().len()];
                let _ = predicate.matches(&cells);
            }
        }
    }

    #[test]
    fn a_quoted_label_matches_itself(label in "[^'\\s\\p{Cc}][^'\\p{Cc}]{0,20}") {
        let filter = format!("x='{label}'");
        prop_assert!(matches(&filter, &[Cell::Text(&label)]));
    }
}
