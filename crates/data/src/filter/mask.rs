//! Conditions and expressions of a batch of rows, column by column. Results are those of `evaluate`, row by row.

use super::Predicate;
use super::evaluate::{Row, Truth, extremer, truth};
use super::tree::{Condition, Expression, Function, Operator};
use crate::cell::{Cell, Number};
use crate::table::{CellBatch, Numbers, RowMask};

impl Predicate {
    /// The rows of a batch for which the filter is true: those that [`Predicate::matches`]. The first columns of the batch are those
    /// of [`Predicate::columns`], in that order.
    ///
    /// # Panics
    /// If the batch has fewer columns.
    pub fn mask(&self, batch: &CellBatch<'_>) -> RowMask {
        truths(&self.condition, batch).yes
    }
}

/// The rows for which a condition is true and those for which it is false; of the others it is unknown.
struct Truths {
    yes: RowMask,
    no: RowMask,
}

impl Truths {
    /// Where every row has one of two answers.
    fn known(yes: RowMask) -> Self {
        let mut no = yes.clone();
        no.invert();
        Self { yes, no }
    }

    /// `yes` among the rows where the answer is known.
    fn among(mut yes: RowMask, known: &RowMask) -> Self {
        yes.intersect(known);
        let mut no = known.clone();
        no.subtract(&yes);
        Self { yes, no }
    }

    fn by_row(rows: usize, truth: impl Fn(usize) -> Truth) -> Self {
        let truths: Vec<Truth> = (0..rows).map(truth).collect();
        let having = |wanted: Truth| RowMask::of_values(&truths, |own| own == wanted);
        Self { yes: having(Truth::True), no: having(Truth::False) }
    }

    fn and(mut self, other: &Self) -> Self {
        self.yes.intersect(&other.yes);
        self.no.unite(&other.no);
        self
    }

    fn or(mut self, other: &Self) -> Self {
        self.yes.unite(&other.yes);
        self.no.intersect(&other.no);
        self
    }

    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// A row of a batch.
struct BatchRow<'b, 'a> {
    batch: &'b CellBatch<'a>,
    row: usize,
}

impl Row for BatchRow<'_, '_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        self.batch.cell(self.row, column)
    }
}

/// A row that has one cell in all columns that are asked for.
struct OneCell<'a>(Cell<'a>);

impl Row for OneCell<'_> {
    fn cell(&self, _column: usize) -> Cell<'_> {
        self.0
    }
}

fn truths(condition: &Condition, batch: &CellBatch<'_>) -> Truths {
    let rows = batch.rows();
    let join = |parts: &[Condition], empty: RowMask, join: fn(Truths, &Truths) -> Truths| {
        parts
            .iter()
            .map(|part| truths(part, batch))
            .reduce(|all, part| join(all, &part))
            .unwrap_or_else(|| Truths::known(empty))
    };
    match condition {
        Condition::Not(inner) => truths(inner, batch).not(),
        Condition::All(parts) => join(parts, RowMask::all(rows), Truths::and),
        Condition::Any(parts) => join(parts, RowMask::none(rows), Truths::or),
        leaf => by_columns(leaf, batch)
            .or_else(|| by_entries(leaf, batch))
            .unwrap_or_else(|| Truths::by_row(rows, |row| truth(leaf, &BatchRow { batch, row }))),
    }
}

/// A leaf by whole columns of numbers, if it has no others.
fn by_columns(leaf: &Condition, batch: &CellBatch<'_>) -> Option<Truths> {
    match leaf {
        Condition::Compare { left, operator, right } => compare(left, *operator, right, batch),
        Condition::Between { operand, low, high } => {
            let above = compare(operand, Operator::GreaterOrEqual, low, batch)?;
            Some(above.and(&compare(operand, Operator::LessOrEqual, high, batch)?))
        }
        Condition::Missing(Expression::Column(column)) => {
            let mut present = batch.present(*column);
            match batch.numbers(*column) {
                Some(Numbers::Float32(values)) => {
                    present.subtract(&RowMask::of_values(values, |value| value.is_nan()));
                }
                Some(Numbers::Float64(values)) => {
                    present.subtract(&RowMask::of_values(values, |value| value.is_nan()));
                }
                // What a dictionary holds may be NaN too.
                None if batch.codes(*column).is_some() => return None,
                _ => {}
            }
            Some(Truths::known(present).not())
        }
        Condition::Missing(operand) => {
            let values = floats(operand, batch)?;
            Some(Truths::known(RowMask::of_values(&values, f64::is_nan)))
        }
        _ => None,
    }
}

/// A leaf about one dictionary-encoded column, entry by entry; not if there are more entries than rows.
fn by_entries(leaf: &Condition, batch: &CellBatch<'_>) -> Option<Truths> {
    let mut only = None;
    let mut several = false;
    let mut note = |column: usize| several |= only.replace(column).is_some_and(|other| other != column);
    match leaf {
        Condition::Compare { left, right, .. } => [left, right].map(|side| side.visit_columns(&mut note)),
        Condition::Among { operand, .. } | Condition::Missing(operand) => {
            operand.visit_columns(&mut note);
            [(), ()]
        }
        Condition::Between { operand, low, high } => {
            operand.visit_columns(&mut note);
            [low, high].map(|side| side.visit_columns(&mut note))
        }
        _ => return None,
    };
    let codes = batch.codes(only.filter(|_| !several)?)?;
    if codes.entries() > batch.rows() {
        return None;
    }
    let missing = truth(leaf, &OneCell(Cell::Null));
    let entries: Vec<Truth> =
        (0..codes.entries()).map(|position| truth(leaf, &OneCell(codes.entry(position)))).collect();
    let entry = |row: usize| usize::try_from(codes.positions()[row]).ok().and_then(|at| entries.get(at));
    Some(Truths::by_row(batch.rows(), |row| match codes.has_key(row) {
        true => entry(row).copied().unwrap_or(missing),
        false => missing,
    }))
}

/// One side of a comparison of numbers.
enum Lane<'a> {
    Constant(Number),
    /// With the rows that are not null.
    Column(Numbers<'a>, RowMask),
    /// NaN where there is no result.
    Computed(Vec<f64>),
}

impl Lane<'_> {
    /// The number of a row, which in a column may be NaN or infinite; none where there is nothing to compare.
    fn at(&self, row: usize) -> Option<Number> {
        match self {
            Lane::Constant(number) => Some(*number),
            Lane::Column(numbers, present) => present.contains(row).then(|| number(*numbers, row)),
            Lane::Computed(values) => Some(values[row]).filter(|value| !value.is_nan()).map(Number::Float),
        }
    }
}

fn number(numbers: Numbers<'_>, row: usize) -> Number {
    match numbers {
        Numbers::Int8(values) => Number::Integer(i64::from(values[row])),
        Numbers::Int16(values) => Number::Integer(i64::from(values[row])),
        Numbers::Int32(values) => Number::Integer(i64::from(values[row])),
        Numbers::Int64(values) => Number::Integer(values[row]),
        Numbers::UInt8(values) => Number::Integer(i64::from(values[row])),
        Numbers::UInt16(values) => Number::Integer(i64::from(values[row])),
        Numbers::UInt32(values) => Number::Integer(i64::from(values[row])),
        // What does not fit 64 bits with a sign is the nearest float, as its digits are in a CSV file.
        Numbers::UInt64(values) => {
            i64::try_from(values[row]).map_or(Number::Float(values[row] as f64), Number::Integer)
        }
        Numbers::Float32(values) => Number::Float(f64::from(values[row])),
        Numbers::Float64(values) => Number::Float(values[row]),
    }
}

fn lane<'a>(expression: &Expression, batch: &CellBatch<'a>) -> Option<Lane<'a>> {
    match expression {
        Expression::Literal(literal) => literal.number.map(Lane::Constant),
        Expression::Column(column) => Some(Lane::Column(batch.numbers(*column)?, batch.present(*column))),
        computed => floats(computed, batch).map(Lane::Computed),
    }
}

fn compare(
    left: &Expression,
    operator: Operator,
    right: &Expression,
    batch: &CellBatch<'_>,
) -> Option<Truths> {
    let (left, right) = (lane(left, batch)?, lane(right, batch)?);
    let fast = match (&left, &right) {
        (Lane::Column(numbers, present), Lane::Constant(constant)) => {
            with_constant(*numbers, operator, *constant, present)
        }
        (Lane::Constant(constant), Lane::Column(numbers, present)) => {
            with_constant(*numbers, operator.turned(), *constant, present)
        }
        (Lane::Computed(values), Lane::Constant(constant)) => computed(values, operator, *constant),
        (Lane::Constant(constant), Lane::Computed(values)) => computed(values, operator.turned(), *constant),
        _ => None,
    };
    Some(fast.unwrap_or_else(|| {
        Truths::by_row(batch.rows(), |row| match left.at(row).zip(right.at(row)) {
            Some((left, right)) => numeric(left, operator, right),
            None => Truth::Unknown,
        })
    }))
}

/// A comparison of numbers that may be NaN or infinite: such a number has no order, and its label is compared.
fn numeric(left: Number, operator: Operator, right: Number) -> Truth {
    let is_finite = |number: Number| number.to_f64().is_finite();
    if is_finite(left) && is_finite(right) {
        return left.compare(right).map_or(Truth::Unknown, |ordering| operator.holds(ordering).into());
    }
    let (left, right) = (left.to_f64(), right.to_f64());
    let is_same = left == right || (left.is_nan() && right.is_nan());
    match operator {
        Operator::Equal => is_same.into(),
        Operator::NotEqual => (!is_same).into(),
        _ => Truth::Unknown,
    }
}

/// The constant as a float, if that is exact.
fn exact(constant: Number) -> Option<f64> {
    let float = constant.to_f64();
    (constant.compare(Number::Float(float)) == Some(std::cmp::Ordering::Equal)).then_some(float)
}

/// The values that compare so with a constant.
fn test<T: Copy + PartialOrd>(values: &[T], operator: Operator, constant: T) -> RowMask {
    match operator {
        Operator::Equal => RowMask::of_values(values, |value| value == constant),
        Operator::NotEqual => RowMask::of_values(values, |value| value != constant),
        Operator::Less => RowMask::of_values(values, |value| value < constant),
        Operator::LessOrEqual => RowMask::of_values(values, |value| value <= constant),
        Operator::Greater => RowMask::of_values(values, |value| value > constant),
        Operator::GreaterOrEqual => RowMask::of_values(values, |value| value >= constant),
    }
}

/// Computed values, NaN where there is no result, with a constant.
fn computed(values: &[f64], operator: Operator, constant: Number) -> Option<Truths> {
    let constant = exact(constant)?;
    let known = RowMask::of_values(values, |value| !value.is_nan());
    Some(Truths::among(test(values, operator, constant), &known))
}

/// A column of numbers with a constant.
fn with_constant(
    numbers: Numbers<'_>,
    operator: Operator,
    constant: Number,
    present: &RowMask,
) -> Option<Truths> {
    macro_rules! integers {
        ($values:expr, $type:ty) => {{
            let values = $values;
            // A constant that the type does not have is compared value by value.
            let Number::Integer(constant) = constant else { return None };
            let constant = <$type>::try_from(constant).ok()?;
            Some(Truths::among(test(values, operator, constant), present))
        }};
    }
    macro_rules! floats {
        ($values:expr, $type:ty) => {{
            let (values, constant) = ($values, exact(constant)?);
            let narrow = constant as $type;
            if f64::from(narrow) != constant {
                return None;
            }
            let known = if operator.is_order() {
                let mut known = present.clone();
                known.intersect(&RowMask::of_values(values, |value| value.is_finite()));
                known
            } else {
                present.clone()
            };
            Some(Truths::among(test(values, operator, narrow), &known))
        }};
    }
    match numbers {
        Numbers::Int8(values) => integers!(values, i8),
        Numbers::Int16(values) => integers!(values, i16),
        Numbers::Int32(values) => integers!(values, i32),
        Numbers::Int64(values) => integers!(values, i64),
        Numbers::UInt8(values) => integers!(values, u8),
        Numbers::UInt16(values) => integers!(values, u16),
        Numbers::UInt32(values) => integers!(values, u32),
        // Values beyond 64 bits with a sign are floats.
        Numbers::UInt64(_) => None,
        Numbers::Float32(values) => floats!(values, f32),
        Numbers::Float64(values) => floats!(values, f64),
    }
}

/// What is not finite is missing, which is NaN.
fn settle(values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value = if value.is_finite() { *value } else { f64::NAN });
}

/// An expression for every row, NaN where it has no result; none unless all its columns hold numbers.
pub(super) fn floats(expression: &Expression, batch: &CellBatch<'_>) -> Option<Vec<f64>> {
    match expression {
        Expression::Column(column) => {
            batch.numbers(*column)?;
            let (present, mut scratch) = (batch.present(*column), Vec::new());
            let mut values = batch.floats(*column, &mut scratch).to_vec();
            for (row, value) in values.iter_mut().enumerate() {
                *value = if present.contains(row) && value.is_finite() { *value } else { f64::NAN };
            }
            Some(values)
        }
        Expression::Literal(literal) => {
            let value = literal.number?.to_f64();
            Some(vec![if value.is_finite() { value } else { f64::NAN }; batch.rows()])
        }
        Expression::Negated(inner) => {
            let mut values = floats(inner, batch)?;
            values.iter_mut().for_each(|value| *value = -*value);
            Some(values)
        }
        Expression::Sum(terms) => chain(terms, batch, |sum, term| sum + term, |sum, term| sum - term),
        Expression::Product(factors) => {
            chain(factors, batch, |product, factor| product * factor, |product, factor| product / factor)
        }
        Expression::Call(function, arguments) => {
            let (first, others) = arguments.split_first()?;
            let (is_greatest, one): (bool, fn(f64) -> f64) = match function {
                Function::Absolute => (false, f64::abs),
                Function::Floor => (false, f64::floor),
                Function::Least => (false, |value| value),
                Function::Greatest => (true, |value| value),
                _ => return None,
            };
            let mut values = floats(first, batch)?;
            values.iter_mut().for_each(|value| *value = one(*value));
            for other in others {
                let other = floats(other, batch)?;
                for (best, next) in values.iter_mut().zip(&other) {
                    *best = match best.is_nan() || next.is_nan() {
                        true => f64::NAN,
                        false if extremer(is_greatest, *best, *next) => *next,
                        false => *best,
                    };
                }
            }
            Some(values)
        }
    }
}

fn chain(
    parts: &[(bool, Expression)],
    batch: &CellBatch<'_>,
    first: impl Fn(f64, f64) -> f64,
    second: impl Fn(f64, f64) -> f64,
) -> Option<Vec<f64>> {
    let ((_, start), others) = parts.split_first()?;
    let mut values = floats(start, batch)?;
    for (is_second, part) in others {
        let part = floats(part, batch)?;
        let pairs = values.iter_mut().zip(&part);
        match is_second {
            false => pairs.for_each(|(value, part)| *value = first(*value, *part)),
            true => pairs.for_each(|(value, part)| *value = second(*value, *part)),
        }
        settle(&mut values);
    }
    Some(values)
}

/// An expression for every row by its cells.
pub(super) fn amounts(expression: &Expression, batch: &CellBatch<'_>) -> Vec<Option<f64>> {
    use super::evaluate::{Amount, amount};
    let number = |row: usize| match amount(expression, &BatchRow { batch, row }) {
        Some(Amount::Number(number)) => Some(number),
        _ => None,
    };
    (0..batch.rows()).map(number).collect()
}
