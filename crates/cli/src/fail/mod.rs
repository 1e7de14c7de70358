//! Errors of the user: one line that names the flag and the remedy.

mod from;
mod usage;

use crate::explain::Code;
use reticent::curator::Refusal;
use reticent::data::DataError;
use reticent::data::toml::{Span, locate};
use std::ffi::OsString;
use std::fmt;

pub(crate) use from::{flags_named, warnings, words};
pub(crate) use reticent::report::plain;
pub(crate) use usage::usage;

/// Why a command was refused; displays as one line.
#[derive(Debug)]
pub(crate) struct Fail {
    code: Code,
    /// The contexts, each followed by a colon and a blank.
    within: String,
    about: About,
    text: String,
    /// The place in a TOML file.
    place: Option<Box<Span>>,
    /// Whether a value is shown as in the request, even if it was typed differently.
    exact: bool,
    /// The refusal it was made from, with its underlying error.
    refusal: Option<Box<Refusal>>,
}

/// The subject of a message.
#[derive(Debug)]
enum About {
    Nothing,
    /// A flag with its value.
    Value {
        flag: String,
        value: String,
    },
    /// A flag.
    Flag(String),
}

impl Fail {
    /// A message that already names its flag or file.
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            within: String::new(),
            about: About::Nothing,
            text: text.into(),
            place: None,
            exact: true,
            refusal: None,
        }
    }

    /// `--bounds 90,17: give the lower bound first`: a value outside its range, unless [`coded`](Self::coded) otherwise.
    pub(crate) fn flag(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        let about = About::Value { flag: flag.to_owned(), value: value.to_owned() };
        Self { about, ..Self::new(Code::Range, remedy.to_string()) }
    }

    /// `--width 0.1: leave it out: …`: a flag that conflicts with others.
    pub(crate) fn conflict(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        Self::flag(flag, value, remedy).coded(Code::Conflict)
    }

    /// `--column: missing: …`.
    pub(crate) fn missing(flag: &str, remedy: impl fmt::Display) -> Self {
        Self::about(Code::Missing, flag, format!("missing: {remedy}"))
    }

    /// `--schema: …`: an error about a flag, whatever its value.
    fn about(code: Code, flag: &str, text: impl Into<String>) -> Self {
        Self { about: About::Flag(flag.to_owned()), ..Self::new(code, text) }
    }

    /// An error of the table named by `flag`.
    pub(crate) fn data<E: Into<DataError>>(flag: &str) -> impl Fn(E) -> Self {
        move |error| match error.into() {
            // It names its file.
            error @ DataError::Schema(_) => error.into(),
            error => {
                let failure = Self::about(reticent::core::Coded::code(&error), flag, error.to_string());
                Self { refusal: Some(Box::new(error.into())), ..failure }
            }
        }
    }

    /// The same message under another code.
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The same error with this text as the refused value.
    pub(crate) fn shown(mut self, text: String) -> Self {
        if let About::Value { value, .. } = &mut self.about {
            *value = text;
        }
        self
    }

    /// The error code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// The same error, with its place in a file.
    fn at(self, place: Option<Box<Span>>) -> Self {
        Self { place, ..self }
    }

    /// The flag whose value is refused, where the message begins with it.
    fn refused(&self) -> Option<(&str, &str)> {
        match &self.about {
            About::Value { flag, value } if self.within.is_empty() => Some((flag, value)),
            _ => None,
        }
    }

    /// The same error at the key of a TOML file that corresponds to the flag; unchanged if there is no such key.
    pub(crate) fn in_file(self, file: &str, text: &str) -> Self {
        let said = self.refused().and_then(|(flag, value)| {
            let key = flag.strip_prefix("--")?;
            let at = |key: &str| locate(text, &key.split('.').collect::<Vec<_>>());
            let place = at(key).or_else(|| at(&key.replace('-', "_")))?;
            Some((format!("{file}:{}: {key} = {}: {}", place.line, shortened(value), self.text), place))
        });
        let Some((text, place)) = said else { return self };
        // What is wrong with a value is the same anywhere; the rest keeps its own code.
        let code = if self.code.number() / 100 == 2 { Code::TomlValue } else { self.code };
        Self { refusal: self.refusal, ..Self::new(code, text).at(Some(Box::new(place))) }
    }

    /// Whether the refused flag is a key of this text.
    pub(crate) fn is_about_key(&self, text: &str) -> bool {
        let key = self.refused().and_then(|(flag, _)| flag.strip_prefix("--"));
        key.is_some_and(|key| locate(text, &[key]).is_some())
    }

    /// The same error with its value as in the request.
    pub(crate) fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    /// The same error with a refused number as it was typed: `1e-9`, not `0.000000001`.
    pub(crate) fn shown_as_typed(mut self, words: &[OsString]) -> Self {
        if !self.exact
            && let About::Value { flag, value } = &mut self.about
            && let Some(typed) = typed(words, flag)
            && let (Ok(number), Ok(same)) = (typed.trim().parse::<f64>(), value.parse::<f64>())
            && number == same
        {
            *value = typed;
        }
        self
    }

    /// The same error about this flag and its text.
    pub(crate) fn typed(self, flag: &str, text: &str) -> Self {
        Self { about: About::Value { flag: flag.to_owned(), value: text.to_owned() }, ..self }
    }

    /// The same error with its flag named otherwise, where `name` has another name for it.
    pub(crate) fn renamed(mut self, name: impl Fn(&str) -> Option<&'static str>) -> Self {
        if let About::Value { flag, .. } | About::Flag(flag) = &mut self.about
            && let Some(other) = name(flag)
        {
            *flag = other.to_owned();
        }
        self
    }

    /// The lines of a file that the message is about.
    pub(crate) fn excerpt(&self) -> Option<String> {
        self.place.as_ref().map(|place| place.excerpt())
    }
}

/// What follows a flag on the command line.
fn typed(words: &[OsString], flag: &str) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let after = words.iter().zip(words.iter().skip(1)).find(|(word, _)| **word == flag);
    let joined = words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    after.map(|(_, value)| *value).or(joined).map(str::to_owned)
}

impl std::error::Error for Fail {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.refusal.as_deref().and_then(std::error::Error::source)
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (within, text) = (&self.within, &self.text);
        formatter.write_str(&plain(&match &self.about {
            About::Nothing => format!("{within}{text}"),
            About::Value { flag, value } => format!("{within}{flag} {}: {text}", shortened(value)),
            About::Flag(flag) => format!("{within}{flag}: {text}"),
        }))
    }
}

/// The beginning of a value, long enough to recognise it.
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
