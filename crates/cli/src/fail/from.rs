//! Errors of the libraries as mistakes of the user.

use super::Fail;
use crate::explain::Code;
use reticent::accounting::AccountingError;
use reticent::attack::AttackError;
use reticent::audit::AuditError;
use reticent::core::{InvalidValue, LedgerError};
use reticent::data::DataError;
use reticent::data::schema::SchemaProblem;
use reticent::data::toml::{TomlError, TomlFault};
use reticent::erm::ErmError;
use reticent::noise::NoiseError;
use reticent::train::TrainError;

/// What kind of mistake an error about data is.
pub(super) fn data_code(error: &DataError) -> Code {
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
        DataError::NotReplaced { .. } => Code::Taken,
        DataError::UnclosedQuote { .. }
        | DataError::StrayQuote { .. }
        | DataError::Ragged { .. }
        | DataError::NotText { .. }
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
            NoiseError::Ledger(LedgerError::Exceeded { .. }) => Self::new(Code::Spent, error.to_string()),
            NoiseError::Ledger(LedgerError::Store { .. }) => Self::new(Code::Unwritable, error.to_string()),
            NoiseError::Unpaid => Self::new(Code::Internal, error.to_string()),
            NoiseError::Relation { .. } => Self::new(Code::Relation, error.to_string()),
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
                let what = what
                    .trim_start_matches("terms.")
                    .trim_start_matches("private.settings.")
                    .replace('_', "-");
                let what = if what == "steps" { "number of steps".to_owned() } else { what };
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
            AccountingError::Invalid(invalid) | AccountingError::Impossible(invalid) => {
                field_code(invalid.field)
            }
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
pub(super) fn field_code(field: &str) -> Code {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_command_line_causes_has_its_code() {
        let solver = ErmError::NotConverged { reached: 1.0, needed: 0.5 };
        assert_eq!(Fail::from(solver).code(), Code::NotConverged);
        assert_eq!(Fail::from(NoiseError::Entropy("gone".to_owned())).code(), Code::Entropy);
        assert_eq!(Fail::from(TrainError::Device("lost".to_owned())).code(), Code::Device);
        let thread = AttackError::Thread("limit".to_owned());
        let reference = AttackError::Reference { index: 3, error: Box::new(thread) };
        let failure = Fail::from(reference);
        assert_eq!(failure.code(), Code::Thread);
        assert!(failure.to_string().starts_with("reference 3: no thread"), "{failure}");
    }
}
