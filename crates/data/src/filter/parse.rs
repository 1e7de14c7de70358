//! The filter's grammar.

use super::Operator;

/// A condition as written.
pub(super) struct RawCondition {
    pub(super) column: String,
    pub(super) operator: Operator,
    pub(super) value: String,
}

/// The longer signs come first: `<=` is not read as `<`.
const SIGNS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Reads the conditions, at least one; the error says what is wrong, for the end of a sentence.
pub(super) fn conditions(text: &str) -> Result<Vec<RawCondition>, String> {
    let mut rest = text;
    let mut conditions = Vec::new();
    loop {
        let (condition, after) = condition(rest)?;
        conditions.push(condition);
        match after {
            Some(after) => rest = after,
            None => return Ok(conditions),
        }
    }
}

/// Reads one condition; with it, what follows its " and ", if there is one.
fn condition(text: &str) -> Result<(RawCondition, Option<&str>), String> {
    let text = text.trim_start();
    if text.is_empty() {
        return Err("a condition is missing".to_owned());
    }
    let (column, rest) = match quoted(text)? {
        Some((column, rest)) => (column, rest.trim_start()),
        None => {
            let end = text.find(['=', '!', '<', '>']).unwrap_or(text.len());
            (text[..end].trim(), &text[end..])
        }
    };
    if column.is_empty() {
        return Err("a column name is missing".to_owned());
    }
    let Some((sign, operator)) = SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) else {
        return Err(format!("there is no comparison after \"{}\"", crate::error::shown(column)));
    };
    let rest = rest[sign.len()..].trim_start();
    let (value, after) = match quoted(rest)? {
        Some((value, rest)) => {
            let (between, after) = split_at_and(rest);
            if !between.trim().is_empty() {
                return Err(format!("\"{}\" follows a quoted value", crate::error::shown(between.trim())));
            }
            (value, after)
        }
        None => {
            let (value, after) = split_at_and(rest);
            if let Some(word) = value.split_whitespace().skip(1).find(|word| word.eq_ignore_ascii_case("or"))
            {
                return Err(format!(
                    "conditions are joined by \"and\" only: ask once for each side of the \"{word}\", or quote a value that holds it"
                ));
            }
            (value, after)
        }
    };
    let value = value.trim();
    if value.is_empty() {
        return Err(format!("a value is missing after \"{}{sign}\"", crate::error::shown(column)));
    }
    Ok((RawCondition { column: column.to_owned(), operator, value: value.to_owned() }, after))
}

/// The text inside the quotes that `text` starts with, and what follows them.
fn quoted(text: &str) -> Result<Option<(&str, &str)>, String> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        return Ok(None);
    };
    let inside = &text[1..];
    match inside.split_once(quote) {
        Some((inside, rest)) => Ok(Some((inside, rest))),
        None => Err(format!("the quote {quote} is not closed")),
    }
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
