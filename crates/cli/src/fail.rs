//! Mistakes of the user: one line that names the flag and the remedy.

use crate::args::Cli;
use crate::{Finished, MISTAKE, mistake};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use reticent::accounting::AccountingError;
use reticent::attack::AttackError;
use reticent::audit::AuditError;
use reticent::core::InvalidValue;
use reticent::data::DataError;
use reticent::erm::ErmError;
use reticent::noise::NoiseError;
use reticent::train::TrainError;
use std::ffi::OsString;
use std::fmt;

/// Why a command was refused; displays as one line.
#[derive(Debug)]
pub(crate) struct Fail(String);

impl Fail {
    /// A message that already names its flag or file.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// `--bounds 90,17: give the lower bound first`.
    pub(crate) fn flag(flag: &str, value: &str, remedy: impl fmt::Display) -> Self {
        Self(format!("{flag} {}: {remedy}", shortened(value)))
    }

    /// `--column: missing: …`.
    pub(crate) fn missing(flag: &str, remedy: impl fmt::Display) -> Self {
        Self(format!("{flag}: missing: {remedy}"))
    }

    /// An error of the table, met on behalf of `flag`.
    pub(crate) fn data(flag: &str) -> impl Fn(DataError) -> Self {
        move |error| Self(format!("{flag}: {error}"))
    }

    /// An error of the library whose cause can only be `flag`.
    pub(crate) fn noise(flag: &str) -> impl Fn(NoiseError) -> Self {
        move |error| match error {
            NoiseError::Invalid(invalid) => Self(format!("{flag}: {}", invalid.remedy)),
            other => Self(other.to_string()),
        }
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&plain(&self.0))
    }
}

impl From<DataError> for Fail {
    fn from(error: DataError) -> Self {
        match error {
            DataError::NotFound { .. } => Self(format!("{error}: check the path")),
            other => Self(other.to_string()),
        }
    }
}

impl From<NoiseError> for Fail {
    fn from(error: NoiseError) -> Self {
        match error {
            NoiseError::Invalid(invalid) => invalid.into(),
            other => Self(other.to_string()),
        }
    }
}

impl From<AuditError> for Fail {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Invalid(invalid) if matches!(invalid.field, "confidence" | "delta") => invalid.into(),
            AuditError::Accounting(error) => error.into(),
            AuditError::Data(error) => error.into(),
            other => Self(other.to_string()),
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
            AttackError::Invalid(invalid) if invalid.field == "canaries" => {
                Self::flag("--canaries", &invalid.value, invalid.remedy)
            }
            other => Self(other.to_string()),
        }
    }
}

impl From<ErmError> for Fail {
    fn from(error: ErmError) -> Self {
        match error {
            ErmError::Invalid(invalid) => invalid.into(),
            ErmError::Noise(error) => error.into(),
            other => Self(other.to_string()),
        }
    }
}

impl From<TrainError> for Fail {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Invalid(invalid) => match network_flag_of(invalid.field) {
                Some(flag) => Self::flag(flag, &invalid.value, invalid.remedy),
                None => invalid.into(),
            },
            TrainError::Noise(error) => error.into(),
            TrainError::Changed { what, was, is } => Self(format!(
                "--resume: the run was begun with another {}: {was} then, {is} now: leave out what changes it, or begin a new run",
                what.trim_start_matches("terms.").replace('_', "-")
            )),
            other => Self(other.to_string()),
        }
    }
}

impl From<AccountingError> for Fail {
    fn from(error: AccountingError) -> Self {
        Self(error.to_string())
    }
}

impl From<InvalidValue> for Fail {
    fn from(invalid: InvalidValue) -> Self {
        let InvalidValue { field, value, remedy } = invalid;
        match flag_of(field) {
            (flag, true) => Self::flag(flag, &value, remedy),
            (flag, false) => Self(format!("{flag}: {field} = {value}: {remedy}")),
        }
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
        "size" => ("--dataset-size", true),
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
    mistake(&Fail::new(format!("{problem}{hint}: see '{} --help'", command_of(words))))
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
