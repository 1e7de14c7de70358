//! Filters and derivations against the columns of a table: their names and declared types, never a value.

use super::tree::{Condition, Expression, Function, Literal, Operator, expression_text};
use crate::error::{DataError, shown};
use crate::table::{ColumnKind, Table};

/// What is known of a value before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    Truth,
    Date,
    Timestamp,
    /// A column whose type the table does not declare, or a result that depends on one.
    Any,
}

impl Kind {
    /// A date or a timestamp.
    pub(super) fn is_instant(self) -> bool {
        matches!(self, Kind::Date | Kind::Timestamp)
    }

    /// Whether it is a number, or may be one.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Kind::Number | Kind::Any)
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Number => "numbers",
            Kind::Text => "text",
            Kind::Truth => "true or false",
            Kind::Date => "dates",
            Kind::Timestamp => "timestamps",
            Kind::Any => "values",
        }
    }
}

/// The kinds of these columns of a table.
///
/// # Errors
/// If there is no such column, or its type cannot be read.
pub(super) fn kinds(table: &dyn Table, columns: &[String]) -> Result<Vec<Kind>, DataError> {
    let kind = |name: &String| {
        let column = table.column(name)?;
        Ok(match &column.kind {
            ColumnKind::Integer | ColumnKind::Float => Kind::Number,
            ColumnKind::Text if !table.declares_kinds() => Kind::Any,
            ColumnKind::Text => Kind::Text,
            ColumnKind::Boolean => Kind::Truth,
            ColumnKind::Date => Kind::Date,
            ColumnKind::Timestamp => Kind::Timestamp,
            ColumnKind::Other(kind) => {
                let (file, column, kind) = (table.name().to_owned(), shown(name), kind.clone());
                return Err(DataError::UnsupportedType { file, column, kind });
            }
        })
    };
    columns.iter().map(kind).collect()
}

/// The columns with their kinds.
pub(super) struct Checker<'a> {
    pub(super) columns: &'a [String],
    pub(super) kinds: &'a [Kind],
}

impl Checker<'_> {
    /// Whether the declared types allow a condition; the error says what does not fit, for the end of a sentence.
    pub(super) fn condition(&self, condition: &Condition) -> Result<(), String> {
        condition.visit_leaves(&mut |leaf| match leaf {
            Condition::Compare { left, operator, right } => self.compare(left, *operator, right),
            Condition::Between { operand, low, high } => {
                self.compare(operand, Operator::GreaterOrEqual, low)?;
                self.compare(operand, Operator::LessOrEqual, high)
            }
            Condition::Among { operand, values } => {
                let kind = self.kind(operand)?;
                values.literals.iter().try_for_each(|literal| self.equal((operand, kind), literal))
            }
            Condition::Missing(operand) => self.kind(operand).map(|_| ()),
            _ => Ok(()),
        })
    }

    fn text(&self, expression: &Expression) -> String {
        match expression {
            Expression::Column(column) => shown(&self.columns[*column]),
            Expression::Literal(literal) => shown(&literal.text),
            computed => shown(&expression_text(computed, self.columns)),
        }
    }

    fn compare(&self, left: &Expression, operator: Operator, right: &Expression) -> Result<(), String> {
        let (left_kind, right_kind) = (self.kind(left)?, self.kind(right)?);
        if !operator.is_order() {
            return match (left, right) {
                (_, Expression::Literal(literal)) => self.equal((left, left_kind), literal),
                (Expression::Literal(literal), _) => self.equal((right, right_kind), literal),
                _ if left_kind.is_instant() && right_kind == Kind::Number => Err(self.differ(left, right)),
                _ if left_kind == Kind::Number && right_kind.is_instant() => Err(self.differ(left, right)),
                _ => Ok(()),
            };
        }
        for ((one, kind), (other, other_kind)) in
            [((left, left_kind), (right, right_kind)), ((right, right_kind), (left, left_kind))]
        {
            let name = self.text(one);
            match (kind, other_kind) {
                (Kind::Truth, _) => {
                    return Err(format!(
                        "\"{name}\" holds true or false, which has no order: compare it with = true or = false"
                    ));
                }
                (Kind::Text, Kind::Number) => {
                    let sign = operator.sign();
                    return Err(format!(
                        "\"{name}\" holds text, and \"{sign}\" compares numbers or dates: use = or in, or convert the column"
                    ));
                }
                (Kind::Number, Kind::Date | Kind::Timestamp) => return Err(self.differ(one, other)),
                _ => {}
            }
        }
        Ok(())
    }

    fn differ(&self, one: &Expression, other: &Expression) -> String {
        let (one, other) = (self.text(one), self.text(other));
        format!(
            "\"{one}\" and \"{other}\" are a number and a date: write a date as 2013-05-01, or compare year(...), month(...) or a difference of dates"
        )
    }

    /// Whether a value may equal a constant.
    fn equal(&self, (side, kind): (&Expression, Kind), literal: &Literal) -> Result<(), String> {
        let (name, text) = (self.text(side), shown(&literal.text));
        if kind.is_instant() && literal.instant.is_none() {
            let words = kind.words();
            return Err(format!(
                "\"{name}\" holds {words}, and \"{text}\" is not one: write 2013-05-01 or 2013-05-01 14:30"
            ));
        }
        if side.is_computed() && kind == Kind::Number && literal.number.is_none() {
            return Err(format!(
                "\"{name}\" is a number, and \"{text}\" is not one: write a column as `{text}`"
            ));
        }
        Ok(())
    }

    /// The kind of an expression whose parts fit each other.
    pub(super) fn kind(&self, expression: &Expression) -> Result<Kind, String> {
        match expression {
            Expression::Column(column) => Ok(self.kinds[*column]),
            Expression::Literal(literal) => Ok(match (literal.number, literal.instant) {
                (Some(_), _) => Kind::Number,
                (None, Some(instant)) if instant.has_clock => Kind::Timestamp,
                (None, Some(_)) => Kind::Date,
                (None, None) => Kind::Text,
            }),
            Expression::Negated(inner) => self.number(inner, "a minus"),
            Expression::Sum(terms) => {
                let mut sum = Kind::Number;
                for (place, (is_minus, term)) in terms.iter().enumerate() {
                    let kind = self.calculable(term)?;
                    sum = match (sum, is_minus, kind) {
                        _ if place == 0 => kind,
                        (Kind::Number, _, Kind::Number) => Kind::Number,
                        (sum, _, Kind::Number) if sum.is_instant() => Kind::Timestamp,
                        (Kind::Number, false, kind) if kind.is_instant() => Kind::Timestamp,
                        (sum, true, kind) if sum.is_instant() && kind.is_instant() => Kind::Number,
                        (Kind::Any, _, _) | (_, _, Kind::Any) => Kind::Any,
                        _ => {
                            let sign = if *is_minus { "subtracted from a number" } else { "added to a date" };
                            return Err(format!("the date \"{}\" cannot be {sign}", self.text(term)));
                        }
                    };
                }
                Ok(sum)
            }
            Expression::Product(factors) => {
                for (_, factor) in factors {
                    self.number(factor, "a product")?;
                }
                Ok(Kind::Number)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> Result<Kind, String> {
        let name = function.name();
        if function.takes_dates() {
            for argument in arguments {
                let (kind, text) = (self.kind(argument)?, self.text(argument));
                if matches!(kind, Kind::Number | Kind::Truth) {
                    return Err(format!("{name} takes a date, and \"{text}\" holds {}", kind.words()));
                }
                if function == Function::Hour && kind == Kind::Date {
                    return Err(format!("{name} takes a time, and \"{text}\" holds dates without one"));
                }
            }
            return Ok(Kind::Number);
        }
        if !function.takes_several() {
            for argument in arguments {
                self.number(argument, name)?;
            }
            return Ok(Kind::Number);
        }
        let kinds =
            arguments.iter().map(|argument| self.calculable(argument)).collect::<Result<Vec<_>, _>>()?;
        let (has_number, instant) =
            (kinds.contains(&Kind::Number), kinds.iter().copied().find(|kind| kind.is_instant()));
        match instant {
            Some(_) if has_number => Err(format!("{name} takes numbers or dates, not both")),
            Some(_) => Ok(Kind::Timestamp),
            None if has_number => Ok(Kind::Number),
            None => Ok(Kind::Any),
        }
    }

    /// The kind of an operand of arithmetic.
    fn calculable(&self, expression: &Expression) -> Result<Kind, String> {
        match self.kind(expression)? {
            kind @ (Kind::Text | Kind::Truth) => {
                let (name, words) = (self.text(expression), kind.words());
                Err(format!("\"{name}\" holds {words}, and arithmetic needs numbers or dates"))
            }
            kind => Ok(kind),
        }
    }

    /// An operand that must be a number.
    fn number(&self, expression: &Expression, of: &str) -> Result<Kind, String> {
        match self.calculable(expression)? {
            Kind::Date | Kind::Timestamp => {
                Err(format!("{of} takes a number, and \"{}\" is a date", self.text(expression)))
            }
            _ => Ok(Kind::Number),
        }
    }
}
