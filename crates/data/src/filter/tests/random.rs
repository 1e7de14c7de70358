//! Random conditions on random tables: masks are the matches of rows, and texts are read as what they were written from.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, UInt8Array, UInt64Array,
};

use super::*;
use crate::table::{CellBatch, MemoryTable};
use tree::{Expression, Function, Literal, Operator, Values};

const TEXTS: [&str; 14] = [
    "5",
    " 2.50",
    "",
    "  ",
    "old",
    "2013-05-01",
    "2013-05-01T14:30:00",
    "-3",
    "NaN",
    "inf",
    "true",
    "1e400",
    "9007199254740993",
    "it's",
];
const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    5.0,
    2.5,
    -3.0,
    1e308,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9007199254740992.0,
    1e-320,
    15826.0,
];
const INTEGERS: [i64; 10] =
    [0, 5, -3, 127, 200, i64::MAX, i64::MIN, 9_007_199_254_740_993, 9_007_199_254_740_992, 15_826];
const NAMES: [&str; 13] =
    ["i8", "i32", "i64", "u8", "u64", "f32", "f64", "text", "words", "truth", "day", "moment", "digits"];

/// A batch by the draws of its cells; every sixth is null.
fn batch(draws: &[Vec<u8>]) -> RecordBatch {
    let column = |at: usize| draws.iter().map(move |row| row[at]);
    let chosen = |draw: u8| (draw % 6 != 5).then_some(usize::from(draw / 6));
    let text = |draw: u8| chosen(draw).map(|at| TEXTS[at % TEXTS.len()]);
    let integer = |draw: u8| chosen(draw).map(|at| INTEGERS[at % INTEGERS.len()]);
    let float = |draw: u8| chosen(draw).map(|at| FLOATS[at % FLOATS.len()]);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(column(0).map(|draw| integer(draw).map(|own| own as i8)).collect::<Int8Array>()),
        Arc::new(column(1).map(|draw| integer(draw).map(|own| own as i32)).collect::<Int32Array>()),
        Arc::new(column(2).map(integer).collect::<Int64Array>()),
        Arc::new(column(3).map(|draw| integer(draw).map(|own| own as u8)).collect::<UInt8Array>()),
        Arc::new(column(4).map(|draw| integer(draw).map(|own| own as u64)).collect::<UInt64Array>()),
        Arc::new(column(5).map(|draw| float(draw).map(|own| own as f32)).collect::<Float32Array>()),
        Arc::new(column(6).map(float).collect::<Float64Array>()),
        Arc::new(column(7).map(text).collect::<StringArray>()),
        Arc::new(column(8).map(text).collect::<DictionaryArray<Int32Type>>()),
        Arc::new(column(9).map(|draw| chosen(draw).map(|at| at % 2 == 0)).collect::<BooleanArray>()),
        Arc::new(column(10).map(|draw| integer(draw).map(|own| own as i32)).collect::<Date32Array>()),
        Arc::new(
            column(11)
                .map(|draw| integer(draw).map(|own| own.wrapping_mul(86_400_000_000)))
                .collect::<TimestampMicrosecondArray>(),
        ),
        Arc::new(column(12).map(|draw| chosen(draw).map(|at| at.to_string())).collect::<StringArray>()),
    ];
    RecordBatch::try_from_iter_with_nullable(
        NAMES.into_iter().zip(arrays).map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn constant() -> impl Strategy<Value = Expression> {
    let texts = vec![
        "5",
        "-3",
        "2.5",
        "0",
        "127",
        "200",
        "1e308",
        "9007199254740993",
        "9007199254740992",
        "2013-05-01",
        "2013-05-01 14:30",
        "18446744073709551615",
        "0.1",
        "-0",
    ];
    prop::sample::select(texts).prop_map(|text| Expression::Literal(Literal::new(text)))
}

fn word() -> impl Strategy<Value = Literal> {
    let texts =
        vec!["5", "2.50", "old", "true", "2013-05-01", "inf", "it's", "a and b", "(x)", "`q`", "=", "-"];
    prop::sample::select(texts).prop_map(Literal::new)
}

/// Expressions, with a column in each that is not a constant.
fn expression() -> impl Strategy<Value = Expression> {
    let column = (0..NAMES.len()).prop_map(Expression::Column);
    let leaf = prop_oneof![3 => column.clone(), 1 => constant()];
    let computed = leaf.prop_recursive(3, 12, 3, |inner| {
        let several = proptest::collection::vec((any::<bool>(), inner.clone()), 1..3);
        let first = (0..NAMES.len()).prop_map(|column| (false, Expression::Column(column)));
        let chain = (first, several).prop_map(|(first, others)| [vec![first], others].concat());
        let functions = Function::NAMES.map(|(_, function)| function).to_vec();
        prop_oneof![
            chain.clone().prop_map(Expression::Sum),
            chain.clone().prop_map(Expression::Product),
            inner.clone().prop_map(|inner| Expression::Negated(Box::new(inner))),
            (prop::sample::select(functions), chain).prop_map(|(function, mut chain)| {
                chain.truncate(if function.takes_several() { 3 } else { 1 });
                Expression::Call(function, chain.into_iter().map(|(_, argument)| argument).collect())
            }),
        ]
    });
    prop_oneof![2 => column, 3 => computed].prop_filter("a column", |expression| expression.has_column())
}

fn operator() -> impl Strategy<Value = Operator> {
    prop::sample::select(Operator::SIGNS.map(|(_, operator)| operator).to_vec())
}

fn leaf() -> impl Strategy<Value = Condition> {
    let side = || prop_oneof![1 => constant(), 1 => expression()];
    let equality = prop::sample::select(vec![Operator::Equal, Operator::NotEqual]);
    prop_oneof![
        (expression(), operator(), side()).prop_map(|(left, operator, right)| Condition::Compare {
            left,
            operator,
            right
        }),
        (constant(), operator(), expression()).prop_map(|(left, operator, right)| Condition::Compare {
            left,
            operator,
            right
        }),
        ((0..NAMES.len()).prop_map(Expression::Column), equality, word()).prop_map(
            |(left, operator, value)| {
                Condition::Compare { left, operator, right: Expression::Literal(value) }
            }
        ),
        (expression(), proptest::collection::vec(word(), 1..5))
            .prop_map(|(operand, values)| Condition::Among { operand, values: Values::new(values) }),
        (expression(), side(), side()).prop_map(|(operand, low, high)| Condition::Between {
            operand,
            low,
            high
        }),
        expression().prop_map(Condition::Missing),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    leaf().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Condition::All),
            proptest::collection::vec(inner, 2..4).prop_map(Condition::Any),
        ]
    })
}

fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn masks_are_the_matches_of_rows(
        condition in condition(),
        draws in proptest::collection::vec(proptest::collection::vec(any::<u8>(), NAMES.len()), 0..12),
    ) {
        let text = condition_text(&condition, &names());
        let predicate = Predicate::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(predicate.canonical(), text.clone());
        let batch = batch(&draws);
        let places: Vec<usize> =
            predicate.columns().iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
        let cells = CellBatch::new("people", &batch, &places, 1).unwrap();
        let mask = predicate.mask(&cells);
        for row in 0..batch.num_rows() {
            let values: Vec<Cell<'_>> = (0..places.len()).map(|column| cells.cell(row, column)).collect();
            prop_assert_eq!(mask.contains(row), predicate.matches(&values), "{} {:?}", &text, values);
        }
    }

    #[test]
    fn a_checked_table_never_fails_on_cells(
        condition in condition(),
        draws in proptest::collection::vec(proptest::collection::vec(any::<u8>(), NAMES.len()), 1..6),
    ) {
        let batch = batch(&draws);
        let table = MemoryTable::new("people", batch.schema(), vec![batch]).unwrap();
        if let Ok(predicate) = Predicate::parse(&condition_text(&condition, &names())).unwrap().check(&table) {
            let columns: Vec<&str> = predicate.columns().iter().map(String::as_str).collect();
            let table: &dyn Table = &table;
            let rows = table.scan_batches(&columns, &mut |_| {}, &mut |batch| {
                let _ = predicate.mask(batch);
                Ok::<(), DataError>(())
            });
            prop_assert_eq!(rows.unwrap(), draws.len() as u64);
        }
    }
}
