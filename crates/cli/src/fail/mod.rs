//! Mistakes of the user: one line that names the flag and the remedy.

mod from;
mod usage;

use crate::explain::Code;
use from::{data_code, field_code};
use reticent::data::DataError;
use reticent::data::toml::{Place, locate};
use reticent::noise::NoiseError;
use reticent::report::is_unseen;
use std::fmt;

pub(crate) use usage::usage;

/// Why a command was refused; displays as one line.
#[derive(Debug)]
pub(crate) struct Fail {
    code: Code,
    text: String,
    /// The flag whose value is refused, where the message begins with it.
    flag: Option<String>,
    /// What to show of a TOML file.
    place: Option<Box<Place>>,
}

impl Fail {
    /// A message that already names its flag or file.
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), flag: None, place: None }
    }

    /// `--bounds 90,17: give the lower bound first`: a value outside its range, unless [`coded`](Self::coded) otherwise.
    pub(crate) fn flag(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        let failure = Self::new(Code::Range, format!("{flag} {}: {remedy}", shortened(value)));
        Self { flag: Some(flag.to_owned()), ..failure }
    }

    /// `--width 0.1: leave it out: …`: a flag that does not go with the others.
    pub(crate) fn conflict(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        Self::flag(flag, value, remedy).coded(Code::Conflict)
    }

    /// `--method foo: unknown: give …`: none of the names that can be chosen.
    pub(crate) fn unknown(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        Self::flag(flag, value, remedy).coded(Code::UnknownName)
    }

    /// `--column: missing: …`.
    pub(crate) fn missing(flag: &str, remedy: impl fmt::Display) -> Self {
        Self::new(Code::Missing, format!("{flag}: missing: {remedy}"))
    }

    /// An error of the table, met on behalf of `flag`.
    pub(crate) fn data(flag: &str) -> impl Fn(DataError) -> Self {
        move |error| match error {
            // It names its file.
            DataError::Schema(_) => error.into(),
            _ => Self::new(data_code(&error), format!("{flag}: {error}")),
        }
    }

    /// An error of the library whose cause can only be `flag`.
    pub(crate) fn noise(flag: &str) -> impl Fn(NoiseError) -> Self {
        move |error| match error {
            NoiseError::Invalid(invalid) => {
                Self::new(field_code(invalid.field), format!("{flag}: {}", invalid.remedy))
            }
            other => other.into(),
        }
    }

    /// The same message under another code.
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// What kind of mistake it is.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// The same mistake, met in something that the message names first.
    pub(crate) fn within(self, name: &str) -> Self {
        Self { text: format!("{name}: {}", self.text), flag: None, ..self }
    }

    /// The same mistake, at a place that the message does not name yet.
    fn at(self, place: Option<Box<Place>>) -> Self {
        Self { place, ..self }
    }

    /// The same mistake, at the key of a TOML file that says what the flag would say; unchanged if it has no such key.
    pub(crate) fn in_file(self, file: &str, text: &str) -> Self {
        let said = self.flag.as_deref().and_then(|flag| {
            let key = flag.strip_prefix("--")?;
            let place = locate(text, &key.split('.').collect::<Vec<_>>())?;
            let rest = self.text.strip_prefix(flag)?.trim_start();
            Some((format!("{file}:{}: {key} = {rest}", place.line), place))
        });
        let Some((text, place)) = said else { return self };
        // What is wrong with a value is the same anywhere; the rest keeps its own code.
        let code = if self.code.number() / 100 == 2 { Code::TomlValue } else { self.code };
        Self::new(code, text).at(Some(Box::new(place)))
    }

    /// The same mistake, at a value of a TOML file.
    pub(crate) fn placed(self, file: &str, text: &str, path: &[&str]) -> Self {
        let place = locate(text, path);
        let line = place.as_ref().map_or_else(String::new, |place| format!(":{}", place.line));
        self.within(&format!("{file}{line}")).at(place.map(Box::new))
    }

    /// Whether the refused flag is a key of this text.
    pub(crate) fn is_about_key(&self, text: &str) -> bool {
        let key = self.flag.as_deref().and_then(|flag| flag.strip_prefix("--"));
        key.is_some_and(|key| locate(text, &[key]).is_some())
    }

    /// The lines of a file that the message is about.
    pub(crate) fn excerpt(&self) -> Option<String> {
        self.place.as_ref().map(|place| place.excerpt())
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&plain(&self.text))
    }
}

/// The text on one line and without control characters; characters that turn or hide what is around them stand as their numbers.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_unseen(c) => plain.extend(c.escape_unicode()),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// As much of a value as a message needs to be recognised.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 60;
    let mut kept: String = value.chars().take(SHOWN).collect();
    if value.chars().nth(SHOWN).is_some() {
        kept.push('…');
    }
    kept
}

/// Whether standard error begins with an error and its code.
#[cfg(test)]
pub(crate) fn is_refusal(stderr: &str) -> bool {
    stderr.starts_with("error[R") || stderr.starts_with("{\"error\":{\"code\":\"R")
}
