//! Comparisons joined by `and` keep their plain meaning: all before the sign is the column, all after it the value.

use super::checks::untyped;
use super::*;
use crate::cell::Number;
use tree::{Expression, Operator};

/// What a comparison of a cell with a value means, written out once more.
fn expected(cell: &Cell<'_>, operator: Operator, value: &str) -> bool {
    let Some(label) = cell.label() else { return false };
    let (cell, number) = (cell.number().unwrap_or(None), Number::parse(value).ok());
    match (cell.zip(number).and_then(|(cell, value)| cell.compare(value)), operator) {
        (Some(ordering), operator) => operator.holds(ordering),
        (None, Operator::Equal) => label == value,
        (None, Operator::NotEqual) => label != value,
        (None, _) => false,
    }
}

const COLUMNS: [&str; 12] = [
    "x",
    "hours per week",
    "capital-gain",
    "price (EUR)",
    "net/gross",
    "a - b",
    "not married",
    "time in hospital",
    "is late",
    "2nd",
    "driver's age",
    "x & y",
];
const VALUES: [&str; 27] = [
    "Male",
    "HS-grad",
    "Self emp not inc",
    "<=50K",
    ">50K",
    "5",
    "-5",
    "+5",
    "1e3",
    "5.0",
    "(none)",
    "(a) - b",
    "a + b",
    ":)",
    "not applicable",
    "in (1, 2)",
    "is missing",
    "between 1",
    "or",
    "true",
    "inf",
    "`q`",
    "it's",
    "a,b",
    "5 %",
    "year(5)",
    "(20-30)",
];
const CELLS: [Cell<'static>; 15] = [
    Cell::Null,
    Cell::Text(" "),
    Cell::Text("Male"),
    Cell::Text("HS-grad"),
    Cell::Text("<=50K"),
    Cell::Text(" 5 "),
    Cell::Text("5.00"),
    Cell::Text("or"),
    Cell::Text("(none)"),
    Cell::Integer(5),
    Cell::Integer(-5),
    Cell::Float(1000.0),
    Cell::Float(f64::NAN),
    Cell::Float(f64::INFINITY),
    Cell::Boolean(true),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn comparisons_joined_by_and_keep_their_meaning(
        parts in proptest::collection::vec((0..COLUMNS.len(), 0..8usize, 0..VALUES.len(), 0..3usize), 1..4),
        cells in proptest::collection::vec(0..CELLS.len(), COLUMNS.len()),
    ) {
        let signs = Operator::SIGNS.map(|(sign, _)| sign);
        let part = |(column, sign, value, quotes): &(usize, usize, usize, usize)| {
            let sign = if signs[*sign] == "<>" { "!=" } else { signs[*sign] };
            let (column, value) = (COLUMNS[*column], VALUES[*value]);
            match quotes {
                0 => format!("{column}{sign}{value}"),
                1 => format!("{column} {sign} \"{value}\""),
                _ => format!("{column} {sign} {value}"),
            }
        };
        let text = parts.iter().map(part).collect::<Vec<_>>().join(" and ");
        let Some((columns, condition)) = super::super::plain::parse(&text) else { return Ok(()) };
        let conditions = match condition {
            Condition::All(conditions) => conditions,
            condition => vec![condition],
        };
        // "is missing=..." and the like: the plain reading may have taken a part of the text for a column that is not there.
        if !columns.iter().all(|column| COLUMNS.contains(&column.as_str())) {
            return Ok(());
        }
        let predicate = Predicate::parse(&text).unwrap();
        let checked = match predicate.check(&untyped(&COLUMNS)) {
            Ok(checked) => checked,
            Err(error) => {
                // Only what could be arithmetic is refused, with the way to write it.
                let names_column = error.to_string().contains("is not in people.csv");
                prop_assert!(names_column && (text.contains("(a) - b") || text.contains('`')), "{} {}", text, error);
                return Ok(());
            }
        };
        let cell = |name: &str| CELLS[cells[COLUMNS.iter().position(|column| *column == name).unwrap()]];
        let wanted = conditions.iter().all(|condition| match condition {
            Condition::Compare { left: Expression::Column(column), operator, right: Expression::Literal(value) } => {
                expected(&cell(&columns[*column]), *operator, &value.text)
            }
            other => panic!("{other:?}"),
        });
        let row: Vec<Cell<'_>> = checked.columns().iter().map(|column| cell(column)).collect();
        prop_assert_eq!(checked.matches(&row), wanted, "{} {} {:?}", text, checked.canonical(), row);
    }
}
