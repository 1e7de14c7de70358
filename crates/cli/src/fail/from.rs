//! Refusals of the curator as mistakes on the command line: fields become flags.

use super::{About, Fail, plain};
use reticent::core::InvalidValue;
use reticent::curator::Refusal;
use reticent::curator::refusal::{Subject, fields_named};
use reticent::data::DataError;
use reticent::data::toml::TomlError;
use reticent::files::FileError;

/// The flag of a field.
fn flag(field: &str) -> String {
    match field {
        "" => String::new(),
        // What is not a field is named as it is, such as a table of a schema.
        _ if field.starts_with(|c: char| !c.is_ascii_lowercase()) => field.to_owned(),
        "filter" => "--where".to_owned(),
        // What `attack difference` compares.
        "first" => "A".to_owned(),
        "second" => "B".to_owned(),
        // Limits of a person, which a report has in a table of their own.
        "rows" => "--rows-per-person".to_owned(),
        "groups" => "--groups-per-person".to_owned(),
        "totals" => "--total-per-person".to_owned(),
        _ => format!("--{}", field.replace('_', "-")),
    }
}

/// A warning of the curator as the command prints it.
pub(crate) fn words(text: &str) -> String {
    plain(&fields_named(text, flag))
}

/// Warnings of the curator, for standard error: fields become flags.
pub(crate) fn warnings(texts: &[String]) -> String {
    texts.iter().map(|text| format!("warning: {}\n", flags_named(text))).collect()
}

/// A text of the curator: fields become flags.
pub(crate) fn flags_named(text: &str) -> String {
    fields_named(text, flag)
}

impl From<Refusal> for Fail {
    fn from(refusal: Refusal) -> Self {
        let text = flags_named(refusal.message());
        let (about, text) = match refusal.subject() {
            Subject::Message => (About::Nothing, text),
            Subject::Value { field, value } => {
                (About::Value { flag: flag(field), value: value.clone() }, text)
            }
            Subject::Quantity { name, value } => {
                (About::Value { flag: name.clone(), value: value.clone() }, text)
            }
            Subject::Field(field) => (About::Flag(flag(field)), text),
            Subject::Missing(field) => (About::Flag(flag(field)), format!("missing: {text}")),
        };
        let within = flags_named(refusal.context());
        let place = refusal.place().cloned().map(Box::new);
        let (code, exact) = (refusal.code(), refusal.is_exact());
        Self { code, within, about, text, place, exact, refusal: Some(Box::new(refusal)) }
    }
}

macro_rules! by_refusal {
    ($($error:ty),+) => {$(
        impl From<$error> for Fail {
            fn from(error: $error) -> Self {
                Self::from(Refusal::from(error)).exactly()
            }
        }
    )+};
}

by_refusal!(InvalidValue, DataError, FileError, TomlError);

#[cfg(test)]
mod tests {
    use super::*;
    use reticent::core::Code;
    use std::error::Error;

    #[test]
    fn a_refusal_keeps_the_error_behind_it() {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let failure = Fail::from(Refusal::new(Code::Broken, "model.json: cannot be read").because(missing()));
        let source = failure.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
        let table = DataError::NotFound { file: "a.csv".to_owned() };
        let failure = Fail::data("--schema")(table.clone());
        assert_eq!(failure.source().and_then(|source| source.downcast_ref()), Some(&table));
        assert!(Fail::new(Code::Range, "none").source().is_none());
    }
}
