//! Mistakes of the user: one line that names the flag and the remedy.

use crate::args::Cli;
use crate::explain::Code;
use crate::{Finished, MISTAKE, mistake};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use reticent::accounting::AccountingError;
use reticent::attack::AttackError;
use reticent::audit::AuditError;
use reticent::core::InvalidValue;
use reticent::data::DataError;
use reticent::data::schema::SchemaProblem;
use reticent::data::toml::{Place, TomlError, TomlFault, locate};
use reticent::erm::ErmError;
use reticent::noise::NoiseError;
use reticent::train::TrainError;
use std::ffi::OsString;
use std::fmt;

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
            NoiseError::Entropy(_) => error.into(),
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
            let place = locate(text, &[key])?;
            let rest = self.text.strip_prefix(flag)?.trim_start();
            Some((format!("{file}:{}: {key} = {rest}", place.line), place))
        });
        let Some((text, place)) = said else { return self };
        // What is wrong with a value is the same anywhere; the rest keeps its own code.
        let code = if self.code.number() / 100 == 2 { Code::TomlValue } else { self.code };
        Self::new(code, text).at(Some(Box::new(place)))
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

/// What kind of mistake an error about data is.
fn data_code(error: &DataError) -> Code {
    match error {
        DataError::NotFound { .. } => Code::NotFound,
        DataError::NotAFile { .. }
        | DataError::NotRegular { .. }
        | DataError::UnknownFormat { .. }
        | DataError::Empty { .. }
        | DataError::Malformed { .. }
        | DataError::HeaderNotText { .. }
        | DataError::UnsupportedCompression { .. }
        | DataError::Unsupported { .. } => Code::Format,
        DataError::Io { action: "write", .. } | DataError::OutputNotCsv { .. } => Code::Unwritable,
        DataError::Io { .. } | DataError::Changed { .. } => Code::Unreadable,
        DataError::DuplicateColumn { .. }
        | DataError::UnknownColumn { .. }
        | DataError::UnknownArray { .. } => Code::Column,
        DataError::Ragged { .. }
        | DataError::NotText { .. }
        | DataError::IntegerTooLarge { .. }
        | DataError::NotANumber { .. }
        | DataError::NotFinite { .. } => Code::Row,
        DataError::UnsupportedType { .. } | DataError::NotNumeric { .. } => Code::Type,
        DataError::Filter { .. } => Code::Filter,
        DataError::TooLarge { .. } => Code::TooLarge,
        DataError::UnequalParts { .. }
        | DataError::NoImages { .. }
        | DataError::NoDataFolder { .. }
        | DataError::UnknownDataset { .. } => Code::Dataset,
        DataError::Schema(error) => match error.problem {
            SchemaProblem::Syntax { .. } => Code::TomlSyntax,
            SchemaProblem::UnknownKey { .. } => Code::TomlKey,
            _ => Code::TomlValue,
        },
        DataError::Vocabulary { .. } => Code::Vocabulary,
        DataError::NoFeatures | DataError::TooManyFeatures { .. } => Code::Schema,
        DataError::TestShare { .. } => Code::Range,
        DataError::OutputRow { .. } | DataError::Design { .. } => Code::Internal,
    }
}

impl From<DataError> for Fail {
    fn from(error: DataError) -> Self {
        let more = if matches!(error, DataError::NotFound { .. }) { ": check the path" } else { "" };
        let failure = Self::new(data_code(&error), format!("{error}{more}"));
        match error {
            DataError::Schema(error) => failure.at(error.place),
            _ => failure,
        }
    }
}

impl From<TomlError> for Fail {
    fn from(error: TomlError) -> Self {
        let code = match error.fault {
            TomlFault::Syntax => Code::TomlSyntax,
            TomlFault::Key => Code::TomlKey,
            TomlFault::Value => Code::TomlValue,
        };
        Self::new(code, error.to_string()).at(error.place)
    }
}

impl From<NoiseError> for Fail {
    fn from(error: NoiseError) -> Self {
        match error {
            NoiseError::Invalid(invalid) => invalid.into(),
            NoiseError::Entropy(_) => Self::new(Code::Entropy, error.to_string()),
        }
    }
}

impl From<AuditError> for Fail {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Invalid(invalid) => match invalid.field {
                "confidence" | "delta" => invalid.into(),
                "attacks" => Self::new(Code::Premise, invalid.to_string()),
                "fpr" | "prior" | "share" | "guesses" | "inclusion" | "level" => {
                    Self::new(Code::Range, invalid.to_string())
                }
                _ => Self::new(Code::Scores, invalid.to_string()),
            },
            AuditError::NotMeasurable(_) => Self::new(Code::NotMeasurable, error.to_string()),
            AuditError::Accounting(error) => error.into(),
            AuditError::Data(error) => error.into(),
        }
    }
}

impl From<AttackError> for Fail {
    fn from(error: AttackError) -> Self {
        match error {
            AttackError::Train(error) => error.into(),
            AttackError::Erm(error) => error.into(),
            AttackError::Audit(error) => error.into(),
            AttackError::Data(error) => error.into(),
            AttackError::Noise(error) => error.into(),
            AttackError::Invalid(invalid) => match invalid.field {
                "canaries" => Self::flag("--canaries", &invalid.value, invalid.remedy),
                "targets" | "kind" | "terms" | "classes" | "loss" | "budget" | "label" => {
                    Self::new(Code::Premise, invalid.to_string())
                }
                _ => Self::new(Code::Range, invalid.to_string()),
            },
            AttackError::Reference { index, error } => {
                Self::from(*error).within(&format!("reference {index}"))
            }
            AttackError::Missing { .. } => Self::new(Code::References, error.to_string()),
            AttackError::Thread(_) => Self::new(Code::Thread, error.to_string()),
            // The commands end with a status of their own then.
            AttackError::Interrupted => Self::new(Code::Internal, error.to_string()),
        }
    }
}

impl From<ErmError> for Fail {
    fn from(error: ErmError) -> Self {
        let code = match error {
            ErmError::Invalid(invalid) => return invalid.into(),
            ErmError::Noise(error) => return error.into(),
            ErmError::Accounting(error) => return error.into(),
            ErmError::Shape(_) | ErmError::OneClass { .. } => Code::Misfit,
            ErmError::Row { .. } => Code::Row,
            ErmError::Relation { .. } => Code::Relation,
            ErmError::Kind { .. } => Code::Kind,
            ErmError::NotConverged { .. } => Code::NotConverged,
            ErmError::File { .. } => Code::Broken,
        };
        Self::new(code, error.to_string())
    }
}

impl From<TrainError> for Fail {
    fn from(error: TrainError) -> Self {
        let code = match error {
            TrainError::Invalid(invalid) => {
                return match network_flag_of(invalid.field) {
                    Some(flag) => Self::flag(flag, &invalid.value, invalid.remedy),
                    None => invalid.into(),
                };
            }
            TrainError::Noise(error) => return error.into(),
            TrainError::Accounting(error) => return error.into(),
            TrainError::Toml(error) => return (*error).into(),
            TrainError::Described { file, place, error } => {
                let code =
                    if matches!(*error, TrainError::Layer { .. }) { Code::Layer } else { Code::TomlValue };
                return Self::new(code, format!("{file}:{}: {error}", place.line)).at(Some(place));
            }
            TrainError::Changed { what, was, is } => {
                let what = what.trim_start_matches("terms.").replace('_', "-");
                let text = format!(
                    "--resume: the run was begun with another {what}: {was} then, {is} now: leave out what changes it, or \
                     begin a new run"
                );
                return Self::new(Code::Changed, text);
            }
            TrainError::Shape(_) | TrainError::Example { .. } => Code::Misfit,
            TrainError::Layer { .. } => Code::Layer,
            TrainError::Device(_) => Code::Device,
            TrainError::Finished { .. } => Code::Spent,
            TrainError::File { .. } => Code::Broken,
        };
        Self::new(code, error.to_string())
    }
}

impl From<AccountingError> for Fail {
    fn from(error: AccountingError) -> Self {
        let code = match &error {
            AccountingError::Invalid(invalid) => field_code(invalid.field),
            AccountingError::Unsupported { .. } => Code::Unsupported,
        };
        Self::new(code, error.to_string())
    }
}

impl From<InvalidValue> for Fail {
    fn from(invalid: InvalidValue) -> Self {
        let InvalidValue { field, value, remedy } = invalid;
        let failure = match flag_of(field) {
            (flag, true) => Self::flag(flag, &value, remedy),
            (flag, false) => Self::new(Code::Range, format!("{flag}: {field} = {value}: {remedy}")),
        };
        failure.coded(field_code(field))
    }
}

/// What kind of mistake a field of the library has when its value means nothing.
fn field_code(field: &str) -> Code {
    match field {
        "bounds" => Code::Bounds,
        "categories" | "candidates" => Code::List,
        "method" => Code::UnknownName,
        "rows_public" => Code::Relation,
        _ => Code::Range,
    }
}

/// The flag behind a field of the library, and whether the field's value is the flag's own.
fn flag_of(field: &'static str) -> (&'static str, bool) {
    match field {
        "epsilon" => ("--epsilon", true),
        "delta" => ("--delta", true),
        "confidence" => ("--confidence", true),
        "bounds" => ("--bounds", true),
        "candidates" => ("--candidates", true),
        "categories" => ("--categories", true),
        "quantile" => ("--quantile", true),
        "keep_probability" | "probability" => ("--keep-probability", true),
        "error" => ("--error", true),
        "method" => ("--method", true),
        "size" => ("--size", true),
        "regularization" => ("--regularization", true),
        "steps" => ("--steps", true),
        "learning_rate" => ("--learning-rate", true),
        "sampling_rate" => ("--sampling-rate", true),
        "rows_public" => ("--neighboring", false),
        "sensitivity" => ("--bounds", false),
        "scale" | "sigma" | "noise_multiplier" => ("--epsilon", false),
        other => (other, true),
    }
}

/// The flag of `reticent train` behind a field of a network's training.
fn network_flag_of(field: &'static str) -> Option<&'static str> {
    Some(match field {
        "noise_multiplier" => "--noise-multiplier",
        "clip" => "--clip",
        "momentum" => "--momentum",
        "weight_decay" => "--weight-decay",
        "average" => "--average",
        "decay" => "--schedule",
        "sampling_rate" | "batch_size" => "--batch-size",
        "threads" => "--threads",
        "model" => "--model",
        "shift" => "--shift",
        "scale" => "--scale",
        "examples_per_unit" => "--examples-per-user",
        _ => return None,
    })
}

/// The text on one line and without control characters.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
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

/// What clap has to say: help and the version as they are, a refusal as one line.
pub(crate) fn usage(refusal: &clap::Error, words: &[OsString]) -> Finished {
    let text = refusal.render().to_string();
    match refusal.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return Finished { stdout: text, ..Finished::default() };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return Finished { status: MISTAKE, stderr: text, ..Finished::default() };
        }
        _ => {}
    }
    let names = |kind| match refusal.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(several)) => several.join(", "),
        _ => String::new(),
    };
    let problem = match refusal.kind() {
        ErrorKind::MissingRequiredArgument => format!("missing {}", names(ContextKind::InvalidArg)),
        _ => text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    };
    let hint = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .map(names)
        .into_iter()
        .find(|name| !name.is_empty())
        .map(|name| format!(" (did you mean {name}?)"))
        .unwrap_or_default();
    let code = match refusal.kind() {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => Code::UnknownWord,
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => Code::Missing,
        ErrorKind::ArgumentConflict => Code::Conflict,
        // A flag without its value is one with an empty value to clap.
        ErrorKind::InvalidValue if names(ContextKind::InvalidValue).is_empty() => Code::Words,
        ErrorKind::InvalidValue => Code::UnknownName,
        ErrorKind::ValueValidation => Code::Range,
        _ => Code::Words,
    };
    let text = format!("{problem}{hint}: see '{} --help'", command_of(words));
    mistake(&Fail::new(code, text), words)
}

/// The command that `words` begin with, as far as its names are known.
fn command_of(words: &[OsString]) -> String {
    let mut command = Cli::command();
    let mut path = "reticent".to_owned();
    for word in words.iter().skip(1) {
        let Some(next) = word.to_str().and_then(|name| command.find_subcommand(name)) else { break };
        path = format!("{path} {}", next.get_name());
        command = next.clone();
    }
    path
}

/// Whether standard error begins with an error and its code.
#[cfg(test)]
pub(crate) fn is_refusal(stderr: &str) -> bool {
    stderr.starts_with("error[R") || stderr.starts_with("{\"error\":{\"code\":\"R")
}
