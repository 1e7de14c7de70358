//! Errors in TOML files that point at the offending value.
//!
//! [`read`] turns a text into any deserialisable type and says in plain words where it fails; [`locate`] finds a value by
//! its path, for mistakes that only show once the values are understood. Both give a [`Span`]: the line, and what to
//! underline in it.

mod place;
mod words;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use serde::de::DeserializeOwned;
use std::ops::Range;
use thiserror::Error;

pub use place::Span;

/// What kind of mistake a TOML file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TomlFault {
    /// The text is not TOML.
    Syntax,
    /// A key that means nothing.
    Key,
    /// A value that means nothing, or a key that is missing.
    Value,
}

/// An error in a TOML file: one line that names the place and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {problem}", place.as_ref().map(|place| place.after_file()).unwrap_or_default())]
pub struct TomlError {
    /// The file as it was named.
    pub file: String,
    /// Where it is, if that is known.
    pub place: Option<Box<Span>>,
    /// What kind of mistake it is.
    pub fault: TomlFault,
    /// What is wrong, and the remedy.
    pub problem: String,
}

/// Reads a text; `file` is its name in messages.
///
/// # Errors
/// A [`TomlError`] with the line.
pub fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, TomlError> {
    let refuse = |span: Option<Range<usize>>, fault, problem| TomlError {
        file: file.to_owned(),
        place: Some(Box::new(Span::of(text, span.unwrap_or(0..0)))),
        fault,
        problem,
    };
    let document = DeTable::parse(text)
        .map_err(|error| refuse(error.span(), TomlFault::Syntax, words::syntax(error.message())))?;
    ::toml::from_str(text).map_err(|error: ::toml::de::Error| {
        let span = error.span().filter(|span| !span.is_empty());
        let (fault, problem) = words::explain(error.message(), document.get_ref(), text, span.as_ref());
        refuse(span, fault, problem)
    })
}

/// The place of a value by its path: names of keys, and positions in lists as numbers.
///
/// `locate(text, &["layer", "1", "out"])` is the value of `out` in the second `[[layer]]`.
pub fn locate(text: &str, path: &[&str]) -> Option<Span> {
    let document = DeTable::parse(text).ok()?;
    let (first, rest) = path.split_first()?;
    let mut value = entry(document.get_ref(), first)?;
    for step in rest {
        value = match value.get_ref() {
            DeValue::Table(table) => entry(table, step)?,
            DeValue::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(Span::of(text, value.span()))
}

/// The value of a key.
fn entry<'v, 't>(table: &'v DeTable<'t>, key: &str) -> Option<&'v Spanned<DeValue<'t>>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
