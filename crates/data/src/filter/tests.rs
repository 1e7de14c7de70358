use proptest::prelude::*;

use super::*;

fn matches(filter: &str, cells: &[Cell<'_>]) -> bool {
    Predicate::parse(filter).unwrap().matches(cells)
}

fn problem(filter: &str) -> String {
    let message = Predicate::parse(filter).unwrap_err().to_string();
    assert!(!message.contains('\n'));
    let grammar = ": write column=value, with = != < <= > or >=, joined by \" and \"; quote a value that has spaces or signs";
    let start = format!("filter \"{filter}\": ");
    message.strip_prefix(&start).unwrap().strip_suffix(grammar).unwrap().to_owned()
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
    assert!(problem("sex=Female or age>30").starts_with("conditions are joined by \"and\" only"));
    assert_eq!(problem("sex='Male' x"), "\"x\" follows a quoted value");
    assert_eq!(problem("income<=50K"), "\"<=\" compares with a number, and \"50K\" is not one");
    assert_eq!(problem("age<inf"), "\"<\" compares with a number, and \"inf\" is not one");
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
