//! What the TOML reader says, in words for the people who wrote the file.

use super::TomlFault;
use crate::error::{closest, hint, shown};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use std::ops::Range;

/// A break of the rules of TOML.
pub(super) fn syntax(message: &str) -> String {
    format!("not valid TOML: {}", shown(message))
}

/// A value that the type behind the file does not take.
pub(super) fn explain(
    message: &str,
    document: &DeTable<'_>,
    text: &str,
    span: Option<&Range<usize>>,
) -> (TomlFault, String) {
    // What is not understood is a key, or what stands behind one.
    let fault = match span {
        Some(span) if is_key(document, span) => TomlFault::Key,
        _ => TomlFault::Value,
    };
    let key = span.and_then(|span| key_at(document, span));
    let value = span.and_then(|span| text.get(span.clone())).map(shown).unwrap_or_default();
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, Some((unknown, known))) = (message.starts_with("unknown field"), names.split_first()) {
        // A key with underscores that is also read with hyphens is named once.
        let is_second = |name: &str| name.contains('_') && known.contains(&name.replace('_', "-").as_str());
        let known: Vec<&str> = known.iter().copied().filter(|name| !is_second(name)).collect();
        let suggestion = hint(closest(unknown, &known));
        return (fault, format!("unknown key \"{}\"{suggestion}: {}", shown(unknown), list("keys", &known)));
    }
    let named = key.map(|key| format!("{} = {value}", shown(key))).unwrap_or(value);
    let problem = if let (true, Some((unknown, known))) =
        (message.starts_with("unknown variant"), names.split_first())
    {
        format!("{named}: unknown{}: {}", hint(closest(unknown, known)), list("names", known))
    } else if let (true, Some(missing)) = (message.starts_with("missing field"), names.first()) {
        format!("missing key {missing}: add {missing} = …")
    } else if message.contains("did not match any variant") {
        format!("{named}: give one value, or a list of them")
    } else if let Some((_, expected)) = message.rsplit_once(", expected ") {
        format!("{named}: give {}", wanted(expected))
    } else {
        format!("{named}: {}", shown(message))
    };
    (fault, problem)
}

fn list(what: &str, known: &[&str]) -> String {
    if known.is_empty() {
        format!("there are no {what}")
    } else {
        format!("the {what} are {}", known.join(", "))
    }
}

/// What a type is called.
fn wanted(expected: &str) -> String {
    match expected {
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i64" => "a whole number",
        "a string" | "path string" => "text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other => return shown(other),
    }
    .to_owned()
}

/// Whether these bytes are a key, at any depth.
fn is_key(table: &DeTable<'_>, span: &Range<usize>) -> bool {
    table.iter().any(|(key, value)| key.span() == *span || has_key(value, span))
}

fn has_key(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
    match value.get_ref() {
        DeValue::Table(table) => is_key(table, span),
        DeValue::Array(items) => items.iter().any(|item| has_key(item, span)),
        _ => false,
    }
}

/// The key whose value has these bytes, the innermost one.
fn key_at<'v>(table: &'v DeTable<'_>, span: &Range<usize>) -> Option<&'v str> {
    let holds = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    table.iter().find_map(|(key, value)| {
        let inner = within(value, span);
        inner.or_else(|| {
            (holds(value.span()) && !value.get_ref().is_table()).then_some(key.get_ref().as_ref())
        })
    })
}

fn within<'v>(value: &'v Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<&'v str> {
    match value.get_ref() {
        DeValue::Table(table) => key_at(table, span),
        DeValue::Array(items) => items.iter().find_map(|item| within(item, span)),
        _ => None,
    }
}
