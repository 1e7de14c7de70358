//! Conditions and expressions of one row, cell by cell.

use std::borrow::Cow;

use super::tree::{Condition, Expression, Function, Instant, Literal, Operator, Values};
use crate::cell::{Cell, Number, civil};

/// Microseconds in a day.
pub(super) const DAY: i64 = 86_400_000_000;

/// The cells of a row, by the positions of columns.
pub(super) trait Row {
    fn cell(&self, column: usize) -> Cell<'_>;
}

impl Row for [Cell<'_>] {
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column]
    }
}

/// Whether a condition holds: three values, as in SQL. Of several the least is that of all and the greatest that of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    False,
    Unknown,
    True,
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Truth::True } else { Truth::False }
    }
}

/// What arithmetic works with; numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Number(f64),
    Instant(Instant),
}

/// Whether a condition holds for a row.
pub(super) fn truth(condition: &Condition, row: &(impl Row + ?Sized)) -> Truth {
    match condition {
        Condition::Compare { left, operator, right } => {
            compare(&Side::of(left, row), *operator, &Side::of(right, row))
        }
        Condition::Among { operand, values } => among(&Side::of(operand, row), values),
        Condition::Between { operand, low, high } => {
            let operand = Side::of(operand, row);
            let above = compare(&operand, Operator::GreaterOrEqual, &Side::of(low, row));
            above.min(compare(&operand, Operator::LessOrEqual, &Side::of(high, row)))
        }
        Condition::Missing(operand) => Truth::from(Side::of(operand, row).is_missing()),
        Condition::Not(inner) => truth(inner, row).not(),
        Condition::All(parts) => parts.iter().map(|part| truth(part, row)).min().unwrap_or(Truth::True),
        Condition::Any(parts) => parts.iter().map(|part| truth(part, row)).max().unwrap_or(Truth::False),
    }
}

/// One side of a comparison: a cell, a constant with its readings, or a computed value.
enum Side<'a> {
    Cell(Cell<'a>),
    Literal(&'a Literal),
    Computed(Option<Amount>),
}

impl<'a> Side<'a> {
    fn of(expression: &'a Expression, row: &'a (impl Row + ?Sized)) -> Self {
        match expression {
            Expression::Column(column) => Side::Cell(row.cell(*column)),
            Expression::Literal(literal) => Side::Literal(literal),
            computed => Side::Computed(amount(computed, row)),
        }
    }

    /// Whether there is nothing to compare: null, blank text, or a computation without a result.
    fn is_void(&self) -> bool {
        match self {
            Side::Cell(Cell::Null) | Side::Computed(None) => true,
            Side::Cell(Cell::Text(text)) => text.trim().is_empty(),
            _ => false,
        }
    }

    /// Whether a value is missing: also a float that is not a number.
    fn is_missing(&self) -> bool {
        self.is_void() || matches!(self, Side::Cell(Cell::Float(float)) if float.is_nan())
    }

    /// The side as a finite number; a date is not one.
    fn number(&self) -> Option<Number> {
        match self {
            Side::Cell(Cell::Date(_) | Cell::Timestamp(_)) => None,
            Side::Cell(cell) => cell.number().ok().flatten(),
            Side::Literal(literal) => literal.number,
            Side::Computed(Some(Amount::Number(number))) => Some(Number::Float(*number)),
            Side::Computed(_) => None,
        }
    }

    fn instant(&self) -> Option<i64> {
        match self {
            Side::Cell(cell) => instant(cell).map(|instant| instant.at),
            Side::Literal(literal) => literal.instant.map(|instant| instant.at),
            Side::Computed(Some(Amount::Instant(instant))) => Some(instant.at),
            Side::Computed(_) => None,
        }
    }

    fn label(&self) -> Option<Cow<'_, str>> {
        match self {
            Side::Cell(cell) => cell.label(),
            Side::Literal(literal) => Some(Cow::Borrowed(&literal.text)),
            Side::Computed(_) => None,
        }
    }

    /// Whether it is a constant that is neither a number nor a date.
    fn is_text(&self) -> bool {
        matches!(self, Side::Literal(literal) if literal.is_text())
    }
}

/// Both sides as numbers if both are, else as points in time if both are, else by their labels, which have no order.
fn compare(left: &Side<'_>, operator: Operator, right: &Side<'_>) -> Truth {
    if left.is_void() || right.is_void() {
        return Truth::Unknown;
    }
    if !left.is_text() && !right.is_text() {
        let ordering = left.number().zip(right.number()).and_then(|(left, right)| left.compare(right));
        let ordering =
            ordering.or_else(|| left.instant().zip(right.instant()).map(|(left, right)| left.cmp(&right)));
        if let Some(ordering) = ordering {
            return operator.holds(ordering).into();
        }
    }
    // What was computed has no label, so it equals nothing that is compared by label.
    let is_same = || left.label().zip(right.label()).is_some_and(|(left, right)| left == right);
    match operator {
        Operator::Equal => is_same().into(),
        Operator::NotEqual => (!is_same()).into(),
        _ => Truth::Unknown,
    }
}

/// What comparing with every value by `=` comes to.
fn among(side: &Side<'_>, values: &Values) -> Truth {
    if side.is_void() {
        return Truth::Unknown;
    }
    let number = if values.reads_numbers() || !matches!(side, Side::Cell(_)) { side.number() } else { None };
    if let Some(number) = number {
        return values.has_number(number).into();
    }
    if let Some(at) = side.instant() {
        return values.has_instant(at).into();
    }
    side.label().is_some_and(|label| values.has_label(&label)).into()
}

/// The point in time that a cell names.
fn instant(cell: &Cell<'_>) -> Option<Instant> {
    match cell {
        Cell::Date(_) => cell.timestamp().map(|at| Instant { at, has_clock: false }),
        Cell::Timestamp(at) => Some(Instant { at: *at, has_clock: true }),
        Cell::Text(text) => Instant::parse(text),
        _ => None,
    }
}

/// A cell for arithmetic; none if it is missing or neither a number nor a date.
fn cell_amount(cell: &Cell<'_>) -> Option<Amount> {
    if let Cell::Date(_) | Cell::Timestamp(_) = cell {
        return instant(cell).map(Amount::Instant);
    }
    match cell.number() {
        Ok(number) => number.and_then(|number| finite(number.to_f64())),
        Err(_) => instant(cell).map(Amount::Instant),
    }
}

/// A number, if it is finite.
fn finite(number: f64) -> Option<Amount> {
    number.is_finite().then_some(Amount::Number(number))
}

/// The value of an expression; none where a part is missing, a part does not fit, or the result is not finite.
pub(super) fn amount(expression: &Expression, row: &(impl Row + ?Sized)) -> Option<Amount> {
    match expression {
        Expression::Column(column) => cell_amount(&row.cell(*column)),
        Expression::Literal(literal) => match literal.number {
            Some(number) => finite(number.to_f64()),
            None => literal.instant.map(Amount::Instant),
        },
        Expression::Negated(inner) => match amount(inner, row)? {
            Amount::Number(number) => Some(Amount::Number(-number)),
            Amount::Instant(_) => None,
        },
        Expression::Sum(terms) => terms
            .iter()
            .map(|(is_minus, term)| Some((*is_minus, amount(term, row)?)))
            .reduce(|sum, term| {
                let ((_, sum), (is_minus, term)) = (sum?, term?);
                Some((false, plus(sum, is_minus, term)?))
            })?
            .map(|(_, sum)| sum),
        Expression::Product(factors) => {
            let mut product = None;
            for (divides, factor) in factors {
                let Amount::Number(factor) = amount(factor, row)? else { return None };
                product = match (product, divides) {
                    (None, _) => finite(factor),
                    (Some(Amount::Number(product)), false) => finite(product * factor),
                    (Some(Amount::Number(product)), true) => finite(product / factor),
                    (Some(Amount::Instant(_)), _) => None,
                };
                product?;
            }
            product
        }
        Expression::Call(function, arguments) => {
            let mut arguments = arguments.iter().map(|argument| amount(argument, row));
            let first = arguments.next()??;
            match function {
                Function::Least | Function::Greatest => arguments
                    .try_fold(first, |best, next| extreme(*function == Function::Greatest, best, next?)),
                _ => call(*function, first),
            }
        }
    }
}

/// A sum or a difference. A date and a number of days make a date; two dates are days apart.
fn plus(sum: Amount, is_minus: bool, term: Amount) -> Option<Amount> {
    match (sum, term) {
        (Amount::Number(sum), Amount::Number(term)) => finite(if is_minus { sum - term } else { sum + term }),
        (Amount::Instant(sum), Amount::Number(days)) => later(sum, if is_minus { -days } else { days }),
        (Amount::Number(days), Amount::Instant(term)) if !is_minus => later(term, days),
        (Amount::Instant(sum), Amount::Instant(term)) if is_minus => {
            // The difference of two 64-bit numbers fits 65 bits.
            let apart = i128::from(sum.at) - i128::from(term.at);
            finite(apart as f64 / DAY as f64)
        }
        _ => None,
    }
}

/// The point in time so many days later.
fn later(instant: Instant, days: f64) -> Option<Amount> {
    let distance = (days * DAY as f64).round();
    // Beyond 2^63 microseconds there is no point in time.
    if distance.abs() >= 9.2e18 {
        return None;
    }
    let at = instant.at.checked_add(distance as i64)?;
    Some(Amount::Instant(Instant { at, has_clock: instant.has_clock || days.fract() != 0.0 }))
}

/// The lesser or the greater of two amounts of one kind.
fn extreme(is_greatest: bool, one: Amount, other: Amount) -> Option<Amount> {
    let other_wins = match (one, other) {
        (Amount::Number(one), Amount::Number(other)) => extremer(is_greatest, one, other),
        (Amount::Instant(one), Amount::Instant(other)) => extremer(is_greatest, one.at, other.at),
        _ => return None,
    };
    Some(if other_wins { other } else { one })
}

/// Whether the other value replaces the best one so far.
pub(super) fn extremer<T: PartialOrd>(is_greatest: bool, best: T, other: T) -> bool {
    if is_greatest { other > best } else { other < best }
}

fn call(function: Function, argument: Amount) -> Option<Amount> {
    let number = match (function, argument) {
        (Function::Absolute, Amount::Number(number)) => number.abs(),
        (Function::Floor, Amount::Number(number)) => number.floor(),
        (Function::Hour, Amount::Instant(instant)) if instant.has_clock => {
            (instant.at.rem_euclid(DAY) / (DAY / 24)) as f64
        }
        (Function::Year | Function::Month | Function::Day | Function::Weekday, Amount::Instant(instant)) => {
            let days = instant.at.div_euclid(DAY);
            let (year, month, day) = civil(days);
            match function {
                Function::Year => year as f64,
                Function::Month => month as f64,
                Function::Day => day as f64,
                // 1970-01-01 was a Thursday, the fourth day of its week.
                _ => ((days + 3).rem_euclid(7) + 1) as f64,
            }
        }
        _ => return None,
    };
    Some(Amount::Number(number))
}
