//! What a filter or a derivation says, as a tree: conditions over expressions over columns.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use crate::cell::{Cell, Number, parse_timestamp};

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// The longer signs come first: `<=` is not read as `<`.
    pub(super) const SIGNS: [(&'static str, Operator); 8] = [
        ("!=", Operator::NotEqual),
        ("<>", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("==", Operator::Equal),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];

    pub(super) fn holds(self, ordering: Ordering) -> bool {
        match self {
            Operator::Equal => ordering.is_eq(),
            Operator::NotEqual => ordering.is_ne(),
            Operator::Less => ordering.is_lt(),
            Operator::LessOrEqual => ordering.is_le(),
            Operator::Greater => ordering.is_gt(),
            Operator::GreaterOrEqual => ordering.is_ge(),
        }
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }

    /// The comparison with its sides exchanged.
    pub(super) fn turned(self) -> Self {
        match self {
            Operator::Less => Operator::Greater,
            Operator::LessOrEqual => Operator::GreaterOrEqual,
            Operator::Greater => Operator::Less,
            Operator::GreaterOrEqual => Operator::LessOrEqual,
            same => same,
        }
    }

    pub(super) fn is_order(self) -> bool {
        !matches!(self, Operator::Equal | Operator::NotEqual)
    }
}

/// A constant, with its readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Literal {
    /// As written, without blanks around it.
    pub(super) text: String,
    /// As a number, if it is one.
    pub(super) number: Option<Number>,
    /// As a point in time, if it is a date or a timestamp.
    pub(super) instant: Option<Instant>,
}

/// A point in time, in microseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    pub(super) at: i64,
    /// Whether it has a time of day; a date does not.
    pub(super) has_clock: bool,
}

impl Literal {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let (number, instant) = (Number::parse(text).ok(), Instant::parse(text));
        Self { text: text.to_owned(), number, instant }
    }

    /// Whether it is neither a number nor a date.
    pub(super) fn is_text(&self) -> bool {
        self.number.is_none() && self.instant.is_none()
    }
}

impl Instant {
    pub(super) fn parse(text: &str) -> Option<Self> {
        // All dates begin with a digit or a sign; most text does not.
        let first = text.trim_start().as_bytes().first()?;
        if !first.is_ascii_digit() && !matches!(first, b'+' | b'-') {
            return None;
        }
        let at = Cell::Text(text).timestamp()?;
        Some(Self { at, has_clock: parse_timestamp(text).is_some() })
    }
}

/// What a call computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Absolute,
    Least,
    Greatest,
    Floor,
    Year,
    Month,
    Day,
    Weekday,
    Hour,
}

impl Function {
    pub(super) const NAMES: [(&'static str, Function); 9] = [
        ("abs", Function::Absolute),
        ("min", Function::Least),
        ("max", Function::Greatest),
        ("floor", Function::Floor),
        ("year", Function::Year),
        ("month", Function::Month),
        ("day", Function::Day),
        ("weekday", Function::Weekday),
        ("hour", Function::Hour),
    ];

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, function)| function)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Absolute => "abs",
            Function::Least => "min",
            Function::Greatest => "max",
            Function::Floor => "floor",
            Function::Year => "year",
            Function::Month => "month",
            Function::Day => "day",
            Function::Weekday => "weekday",
            Function::Hour => "hour",
        }
    }

    /// Whether it takes any number of arguments from two on; the others take one.
    pub(super) fn takes_several(self) -> bool {
        matches!(self, Function::Least | Function::Greatest)
    }

    /// Whether its argument is a date or a timestamp.
    pub(super) fn takes_dates(self) -> bool {
        matches!(self, Function::Year | Function::Month | Function::Day | Function::Weekday | Function::Hour)
    }
}

/// A value of a row. Sums and products have all their terms side by side, so that no tree is deeper than its text is nested.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// The position in the list of columns.
    Column(usize),
    Literal(Literal),
    Negated(Box<Expression>),
    /// Terms, each with whether it is subtracted; the first is not.
    Sum(Vec<(bool, Expression)>),
    /// Factors, each with whether it divides; the first does not.
    Product(Vec<(bool, Expression)>),
    Call(Function, Vec<Expression>),
}

impl Expression {
    /// Whether it is more than a column or a constant.
    pub(super) fn is_computed(&self) -> bool {
        !matches!(self, Expression::Column(_) | Expression::Literal(_))
    }

    /// Calls `visit` with every column.
    pub(super) fn visit_columns(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expression::Column(column) => visit(*column),
            Expression::Literal(_) => {}
            Expression::Negated(inner) => inner.visit_columns(visit),
            Expression::Sum(terms) | Expression::Product(terms) => {
                terms.iter().for_each(|(_, term)| term.visit_columns(visit));
            }
            Expression::Call(_, arguments) => {
                arguments.iter().for_each(|argument| argument.visit_columns(visit));
            }
        }
    }

    pub(super) fn has_column(&self) -> bool {
        let mut found = false;
        self.visit_columns(&mut |_| found = true);
        found
    }
}

/// The constants of a list, by their readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    /// As written.
    pub(super) literals: Vec<Literal>,
    /// Those that are numbers, rising.
    numbers: Vec<Number>,
    /// Those that are dates or timestamps.
    instants: BTreeSet<i64>,
    /// The others.
    labels: BTreeSet<String>,
}

impl Values {
    pub(super) fn new(literals: Vec<Literal>) -> Self {
        let mut numbers: Vec<Number> = literals.iter().filter_map(|literal| literal.number).collect();
        // Finite numbers are ordered.
        numbers.sort_by(|one, other| one.compare(*other).unwrap_or(Ordering::Equal));
        let instants =
            literals.iter().filter_map(|literal| literal.instant).map(|instant| instant.at).collect();
        let labels = literals.iter().filter(|literal| literal.is_text()).map(|literal| literal.text.clone());
        let labels = labels.collect();
        Self { literals, numbers, instants, labels }
    }

    pub(super) fn has_number(&self, number: Number) -> bool {
        let order = |own: &Number| own.compare(number).unwrap_or(Ordering::Less);
        self.numbers.binary_search_by(order).is_ok()
    }

    pub(super) fn has_instant(&self, at: i64) -> bool {
        self.instants.contains(&at)
    }

    pub(super) fn has_label(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// Whether a cell has to be read as a number to be found here.
    pub(super) fn reads_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }
}

/// Something that is true, false or unknown of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Compare { left: Expression, operator: Operator, right: Expression },
    Among { operand: Expression, values: Values },
    Between { operand: Expression, low: Expression, high: Expression },
    Missing(Expression),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    /// Calls `visit` with every comparison, list, range and test for missing values.
    pub(super) fn visit_leaves<E>(
        &self,
        visit: &mut dyn FnMut(&Condition) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Condition::Not(inner) => inner.visit_leaves(visit),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().try_for_each(|part| part.visit_leaves(visit))
            }
            _ => visit(self),
        }
    }
}

/// Distinct names in order of first mention.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    list: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Names {
    /// The place of a name, which is added if it is new.
    pub(super) fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Drops all names but the first ones.
    pub(super) fn truncate(&mut self, length: usize) {
        for name in self.list.drain(length.min(self.list.len())..) {
            self.places.remove(&name);
        }
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// Text in quotes of one kind, doubled inside.
fn write_quoted(out: &mut String, text: &str, quote: char) {
    out.push(quote);
    for next in text.chars() {
        if next == quote {
            out.push(quote);
        }
        out.push(next);
    }
    out.push(quote);
}

/// The one text of a condition: columns in backquotes, constants in quotes, parentheses around all parts.
pub(super) fn condition_text(condition: &Condition, columns: &[String]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_condition(&mut out, condition, columns, false);
    out
}

/// The one text of an expression.
pub(super) fn expression_text(expression: &Expression, columns: &[String]) -> String {
    let mut out = String::new();
    let _ = write_expression(&mut out, expression, columns);
    out
}

fn write_condition(
    out: &mut String,
    condition: &Condition,
    columns: &[String],
    is_part: bool,
) -> fmt::Result {
    match condition {
        Condition::Compare { left, operator, right } => {
            write_left(out, left, columns)?;
            write!(out, " {} ", operator.sign())?;
            write_expression(out, right, columns)
        }
        Condition::Among { operand, values } => {
            write_left(out, operand, columns)?;
            out.push_str(" in (");
            for (place, literal) in values.literals.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                write_quoted(out, &literal.text, '\'');
            }
            out.push(')');
            Ok(())
        }
        Condition::Between { operand, low, high } => {
            write_left(out, operand, columns)?;
            out.push_str(" between ");
            write_expression(out, low, columns)?;
            out.push_str(" and ");
            write_expression(out, high, columns)
        }
        Condition::Missing(operand) => {
            write_left(out, operand, columns)?;
            out.push_str(" is missing");
            Ok(())
        }
        Condition::Not(inner) => {
            out.push_str("not ");
            write_condition(out, inner, columns, true)
        }
        Condition::All(parts) | Condition::Any(parts) => {
            let word = if matches!(condition, Condition::All(_)) { " and " } else { " or " };
            if is_part {
                out.push('(');
            }
            for (place, part) in parts.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { word });
                write_condition(out, part, columns, true)?;
            }
            if is_part {
                out.push(')');
            }
            Ok(())
        }
    }
}

/// A constant in quotes by itself would be read as a column on the left.
fn write_left(out: &mut String, expression: &Expression, columns: &[String]) -> fmt::Result {
    if !matches!(expression, Expression::Literal(_)) {
        return write_expression(out, expression, columns);
    }
    out.push('(');
    write_expression(out, expression, columns)?;
    out.push(')');
    Ok(())
}

fn write_expression(out: &mut String, expression: &Expression, columns: &[String]) -> fmt::Result {
    match expression {
        Expression::Column(column) => write_quoted(out, &columns[*column], '`'),
        Expression::Literal(literal) => write_quoted(out, &literal.text, '\''),
        Expression::Negated(inner) => {
            out.push_str("-(");
            write_expression(out, inner, columns)?;
            out.push(')');
        }
        Expression::Sum(terms) | Expression::Product(terms) => {
            let signs = if matches!(expression, Expression::Sum(_)) { ["+", "-"] } else { ["*", "/"] };
            for (place, (is_second, term)) in terms.iter().enumerate() {
                if place > 0 {
                    write!(out, " {} ", signs[usize::from(*is_second)])?;
                }
                let is_part = matches!(term, Expression::Sum(_) | Expression::Product(_));
                out.push_str(if is_part { "(" } else { "" });
                write_expression(out, term, columns)?;
                out.push_str(if is_part { ")" } else { "" });
            }
        }
        Expression::Call(function, arguments) => {
            write!(out, "{}(", function.name())?;
            for (place, argument) in arguments.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                write_expression(out, argument, columns)?;
            }
            out.push(')');
        }
    }
    Ok(())
}
