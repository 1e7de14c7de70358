//! Errors of the libraries as refusals of a request.

use super::{Refusal, Subject};
use reticent_accounting::AccountingError;
use reticent_attack::AttackError;
use reticent_audit::AuditError;
use reticent_core::{Coded, InvalidValue, LedgerError};
use reticent_data::DataError;
use reticent_data::toml::TomlError;
use reticent_erm::ErmError;
use reticent_files::FileError;
use reticent_noise::NoiseError;
use reticent_train::TrainError;

/// A text of an engine, which names flags of the command, with the fields of a request.
pub(crate) fn with_fields(text: &str) -> String {
    text.replace("--device", "⟦device⟧").replace("--chunk", "⟦chunk⟧")
}

/// The error's own code and words.
fn as_it_is(error: impl Coded + Send + Sync + 'static) -> Refusal {
    Refusal::new(error.code(), error.to_string()).because(error)
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        as_it_is(error)
    }
}

impl From<DataError> for Refusal {
    fn from(error: DataError) -> Self {
        let more = if matches!(error, DataError::NotFound { .. }) { ": check the path" } else { "" };
        let place = match &error {
            DataError::Schema(error) => error.place.clone(),
            _ => None,
        };
        Self::new(error.code(), format!("{error}{more}")).at(place).because(error)
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        as_it_is(error)
    }
}

impl From<TomlError> for Refusal {
    fn from(error: TomlError) -> Self {
        let place = error.place.clone();
        as_it_is(error).at(place)
    }
}

impl From<NoiseError> for Refusal {
    fn from(error: NoiseError) -> Self {
        match error {
            NoiseError::Invalid(invalid) => invalid.into(),
            _ => as_it_is(error),
        }
    }
}

impl From<AccountingError> for Refusal {
    fn from(error: AccountingError) -> Self {
        as_it_is(error)
    }
}

impl From<AuditError> for Refusal {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Invalid(invalid) if matches!(invalid.field, "confidence" | "delta") => invalid.into(),
            AuditError::Accounting(error) => error.into(),
            AuditError::Data(error) => error.into(),
            _ => as_it_is(error),
        }
    }
}

impl From<AttackError> for Refusal {
    fn from(error: AttackError) -> Self {
        match error {
            AttackError::Train(error) => error.into(),
            AttackError::Erm(error) => error.into(),
            AttackError::Audit(error) => error.into(),
            AttackError::Data(error) => error.into(),
            AttackError::Noise(error) => error.into(),
            AttackError::Invalid(invalid) if invalid.field == "canaries" => {
                Self::value("canaries", &invalid.value, invalid.remedy.clone()).because(invalid)
            }
            AttackError::Reference { index, error } => {
                Self::from(*error).within(&format!("reference {index}"))
            }
            _ => as_it_is(error),
        }
    }
}

impl From<ErmError> for Refusal {
    fn from(error: ErmError) -> Self {
        match error {
            ErmError::Invalid(invalid) => invalid.into(),
            ErmError::Noise(error) => error.into(),
            ErmError::Accounting(error) => error.into(),
            _ => as_it_is(error),
        }
    }
}

impl From<TrainError> for Refusal {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Invalid(invalid) => match network_field(invalid.field) {
                Some(field) => Self::value(field, &invalid.value, invalid.remedy.clone()).because(invalid),
                None => invalid.into(),
            },
            TrainError::Device(_) | TrainError::Memory(_) => {
                Self::new(error.code(), with_fields(&error.to_string())).because(error)
            }
            TrainError::Noise(error) => error.into(),
            TrainError::Accounting(error) => error.into(),
            TrainError::Toml(error) => (*error).into(),
            TrainError::Described { ref file, ref place, error: ref inner } => {
                let text = format!("{file}:{}: {inner}", place.line);
                let place = place.clone();
                Self::new(error.code(), text).at(Some(place)).because(error)
            }
            TrainError::Changed { ref what, ref was, ref is } => {
                let what = what
                    .trim_start_matches("terms.")
                    .trim_start_matches("private.settings.")
                    .replace('_', "-");
                let what = if what == "steps" { "number of steps".to_owned() } else { what };
                let text = format!(
                    "the run was started with a different {what}: {was} then, {is} now: undo the change, or start a new run"
                );
                Self::about(error.code(), "resume", text).because(error)
            }
            _ => as_it_is(error),
        }
    }
}

impl From<InvalidValue> for Refusal {
    fn from(invalid: InvalidValue) -> Self {
        let (code, remedy) = (invalid.code(), invalid.remedy.clone());
        let refusal = match field_of(invalid.field) {
            Some((field, true)) => Self::value(field, &invalid.value, remedy),
            Some((field, false)) => Self::about(code, field, invalid.to_string()),
            None => {
                let (name, value) = (invalid.field.to_owned(), invalid.value.clone());
                Self { subject: Subject::Quantity { name, value }, ..Self::new(code, remedy) }
            }
        };
        refusal.coded(code).because(invalid)
    }
}

/// The field of a request behind a field of the library, and whether its value is the request's own.
fn field_of(field: &'static str) -> Option<(&'static str, bool)> {
    Some(match field {
        "epsilon" | "delta" | "confidence" | "bounds" | "candidates" | "categories" | "quantile"
        | "error" | "method" | "regularization" | "steps" | "learning_rate" | "sampling_rate" => {
            (field, true)
        }
        "keep_probability" | "probability" => ("keep_probability", true),
        "size" => ("dataset_size", true),
        "rows_public" => ("neighboring", false),
        "sensitivity" => ("bounds", false),
        "scale" | "sigma" | "noise_multiplier" => ("epsilon", false),
        _ => return None,
    })
}

/// The field of a request to train a network behind a field of its training.
fn network_field(field: &'static str) -> Option<&'static str> {
    Some(match field {
        "noise_multiplier" | "clip" | "momentum" | "weight_decay" | "average" | "threads" | "chunk"
        | "model" | "shift" | "scale" | "freeze" | "init_map" | "bands" | "batching" | "batch_growth" => {
            field
        }
        "decay" => "schedule",
        "sampling_rate" | "batch_size" => "batch_size",
        "examples_per_unit" => "examples_per_user",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Cause, Code};
    use std::io;

    #[test]
    fn every_error_keeps_its_code() {
        let solver = ErmError::NotConverged { reached: 1.0, needed: 0.5 };
        assert_eq!(Refusal::from(solver).code(), Code::NotConverged);
        assert_eq!(
            Refusal::from(NoiseError::Entropy(Cause::new(io::Error::other("gone")))).code(),
            Code::Entropy
        );
        assert_eq!(Refusal::from(TrainError::Device("lost".to_owned())).code(), Code::Device);
        let full = Refusal::from(TrainError::Memory("no room; try --chunk 8".to_owned()));
        assert_eq!((full.code(), full.message()), (Code::Device, "no room; try ⟦chunk⟧ 8"));
        let thread = AttackError::Thread(io::Error::other("limit"));
        let reference = AttackError::Reference { index: 3, error: Box::new(thread) };
        let refusal = Refusal::from(reference);
        assert_eq!(refusal.code(), Code::Thread);
        assert!(refusal.to_string().starts_with("reference 3: no thread"), "{refusal}");
    }
}
