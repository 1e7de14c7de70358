//! Why a request is refused.
//!
//! A refusal has a code, names the field of the request and the remedy, and keeps the underlying library error. In its
//! texts a field is named between `⟦` and `⟧` (`⟦dataset_size⟧`): the command shows it as its flag, a library as its name.

mod from;

pub(crate) use from::with_fields;

use reticent_core::{Code, Coded};
use reticent_data::DataError;
use reticent_data::toml::{Span, locate};
use reticent_noise::NoiseError;
use std::error::Error;
use std::fmt;

/// The subject of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The message names its subject itself.
    Message,
    /// The value of a field of the request, as text.
    Value {
        /// The field's name.
        field: String,
        /// The refused value.
        value: String,
    },
    /// A field of the request, whatever its value.
    Field(String),
    /// A required field of the request.
    Missing(String),
    /// The value of something that is not a field of the request, such as a parameter of a mechanism.
    Quantity {
        /// Its name.
        name: String,
        /// The refused value.
        value: String,
    },
}

/// Why a request was refused.
#[derive(Debug)]
pub struct Refusal {
    code: Code,
    subject: Subject,
    /// The contexts, outermost first, each followed by a colon.
    within: Box<str>,
    message: Box<str>,
    place: Option<Box<Span>>,
    source: Option<Box<dyn Error + Send + Sync>>,
    exact: bool,
}

impl Refusal {
    /// A message that names its subject itself.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (subject, within) = (Subject::Message, Box::default());
        Self {
            code,
            subject,
            within,
            message: message.into().into(),
            place: None,
            source: None,
            exact: false,
        }
    }

    /// The value of a field is outside its range, unless [`coded`](Self::coded) otherwise.
    pub fn value(field: &str, value: impl ToString, remedy: impl Into<String>) -> Self {
        let subject = Subject::Value { field: field.to_owned(), value: value.to_string() };
        Self { subject, ..Self::new(Code::Range, remedy) }
    }

    /// A field that conflicts with others.
    pub fn conflict(field: &str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::value(field, value, remedy).coded(Code::Conflict)
    }

    /// An unknown name.
    pub fn unknown(field: &str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::value(field, value, remedy).coded(Code::UnknownName)
    }

    /// A required field is missing.
    pub fn missing(field: &str, remedy: impl Into<String>) -> Self {
        Self { subject: Subject::Missing(field.to_owned()), ..Self::new(Code::Missing, remedy) }
    }

    /// Something is wrong with a field, whatever its value.
    pub fn about(code: Code, field: &str, remedy: impl Into<String>) -> Self {
        Self { subject: Subject::Field(field.to_owned()), ..Self::new(code, remedy) }
    }

    /// An error of the table, met on behalf of a field.
    pub fn data<E: Into<DataError>>(field: &str) -> impl Fn(E) -> Self {
        move |error| match error.into() {
            // It names its file.
            error @ DataError::Schema(_) => error.into(),
            error => Self::about(error.code(), field, error.to_string()).because(error),
        }
    }

    /// An error of the noise library whose cause can only be this field.
    pub fn noise(field: &str) -> impl Fn(NoiseError) -> Self {
        move |error| match &error {
            NoiseError::Invalid(invalid) => {
                Self::about(error.code(), field, invalid.remedy.clone()).because(error)
            }
            _ => error.into(),
        }
    }

    /// A defect of the program.
    pub fn internal(problem: impl ToString) -> Self {
        Self::new(Code::Internal, problem.to_string())
    }

    /// The same refusal under another code.
    pub fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The same refusal, with its value shown as in the request and not as typed.
    pub fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    /// Whether the value is shown as in the request.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The same refusal with its underlying error.
    pub fn because(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..self }
    }

    /// The same refusal, prefixed with its context.
    pub fn within(self, name: &str) -> Self {
        Self { within: format!("{name}: {}", self.within).into(), ..self }
    }

    /// The same refusal, with its place in a file.
    pub fn at(self, place: Option<Box<Span>>) -> Self {
        Self { place, ..self }
    }

    /// The same refusal, at a value of a TOML file.
    pub fn placed(self, file: &str, text: &str, path: &[&str]) -> Self {
        let place = locate(text, path);
        let line = place.as_ref().map_or_else(String::new, |place| format!(":{}", place.line));
        self.within(&format!("{file}{line}")).at(place.map(Box::new))
    }

    /// The error code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The subject.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The field of the request that it is about, if any.
    pub fn field(&self) -> Option<&str> {
        match &self.subject {
            Subject::Value { field, .. } | Subject::Field(field) | Subject::Missing(field) => Some(field),
            Subject::Message | Subject::Quantity { .. } => None,
        }
    }

    /// The contexts, each followed by a colon and a blank; may be empty.
    pub fn context(&self) -> &str {
        &self.within
    }

    /// The problem and the remedy; fields are named between `⟦` and `⟧`.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The place in a TOML file.
    pub fn place(&self) -> Option<&Span> {
        self.place.as_deref()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |text: &str| fields_named(text, |field| format!("`{field}`"));
        f.write_str(&named(&self.within))?;
        match &self.subject {
            Subject::Message => {}
            Subject::Value { field: name, value } | Subject::Quantity { name, value } => {
                write!(f, "{name} = {value}: ")?;
            }
            Subject::Field(field) => write!(f, "{field}: ")?,
            Subject::Missing(field) => write!(f, "{field}: missing: ")?,
        }
        f.write_str(&named(&self.message))
    }
}

impl Error for Refusal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl Coded for Refusal {
    fn code(&self) -> Code {
        self.code
    }
}

/// The text with every `⟦field⟧` as `name` writes it.
pub fn fields_named(text: &str, name: impl Fn(&str) -> String) -> String {
    let (mut named, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('⟦') {
        named.push_str(before);
        let field = after.split_once('⟧').filter(|(field, _)| {
            !field.is_empty()
                && field.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        });
        match field {
            Some((field, after)) => {
                named.push_str(&name(field));
                rest = after;
            }
            None => {
                named.push('⟦');
                rest = after;
            }
        }
    }
    named + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_the_reader_knows_them() {
        let refusal = Refusal::conflict("epochs", 3, "give ⟦epochs⟧ or ⟦batch_size⟧, not both ⟦Odd⟧");
        assert_eq!(refusal.to_string(), "epochs = 3: give `epochs` or `batch_size`, not both ⟦Odd⟧");
        let flag = |field: &str| format!("--{}", field.replace('_', "-"));
        assert_eq!(fields_named(refusal.message(), flag), "give --epochs or --batch-size, not both ⟦Odd⟧");
        assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("epochs")));
    }

    #[test]
    fn what_it_was_met_in_comes_first() {
        let refusal = Refusal::missing("delta", "give one").within("reference 3").within("run.toml");
        assert_eq!(refusal.to_string(), "run.toml: reference 3: delta: missing: give one");
    }
}
