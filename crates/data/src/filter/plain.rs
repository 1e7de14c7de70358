//! The plain reading of a filter: conditions joined by `and`, each a column, a comparison and a value, where a column is all that
//! stands before the sign and a value all that stands after it. So columns with signs and parentheses in their names need no quotes.

use super::tree::{Condition, Expression, Literal, Names, Operator};

/// Reads a whole filter.
pub(super) fn parse(text: &str) -> Option<(Vec<String>, Condition)> {
    let mut names = Names::default();
    let mut conditions = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (condition, after) = condition(text, &mut names)?;
        conditions.push(condition);
        rest = after;
    }
    let only = if conditions.len() == 1 { conditions.pop() } else { None };
    Some((names.into_list(), only.unwrap_or(Condition::All(conditions))))
}

/// Reads one condition; with it, what follows its " and ", if there is one.
fn condition<'a>(text: &'a str, names: &mut Names) -> Option<(Condition, Option<&'a str>)> {
    let text = text.trim_start();
    let (column, rest) = match quoted(text)? {
        Some((column, rest)) => (column, rest.trim_start()),
        None => {
            let end = text.find(['=', '!', '<', '>']).unwrap_or(text.len());
            (text[..end].trim(), &text[end..])
        }
    };
    let signs = Operator::SIGNS.into_iter().filter(|(sign, _)| *sign != "<>");
    let (sign, operator) = signs.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    let rest = rest[sign.len()..].trim_start();
    let (value, after) = match quoted(rest)? {
        Some((value, rest)) => {
            let (between, after) = split_at_and(rest);
            if !between.trim().is_empty() {
                return None;
            }
            (value, after)
        }
        None => {
            let (value, after) = split_at_and(rest);
            if value.split_whitespace().skip(1).any(|word| word.eq_ignore_ascii_case("or")) {
                return None;
            }
            (value, after)
        }
    };
    let value = Literal::new(value);
    if column.is_empty() || value.text.is_empty() || (operator.is_order() && value.number.is_none()) {
        return None;
    }
    let (left, right) = (Expression::Column(names.place(column)), Expression::Literal(value));
    Some((Condition::Compare { left, operator, right }, after))
}

/// The text inside the quotes that `text` starts with, and what follows them; none where they are not closed.
fn quoted(text: &str) -> Option<Option<(&str, &str)>> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        return Some(None);
    };
    text[1..].split_once(quote).map(Some)
}

/// The text before and after the first `and` that is a word of its own, if there is one.
fn split_at_and(text: &str) -> (&str, Option<&str>) {
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let is_word = bytes[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"and"));
        let opens = at == 0 || bytes[at - 1].is_ascii_whitespace();
        let closes = bytes.get(at + 3).is_none_or(u8::is_ascii_whitespace);
        if is_word && opens && closes {
            return (&text[..at], Some(&text[at + 3..]));
        }
    }
    (text, None)
}
