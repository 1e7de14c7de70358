//! The request of a fit, stored with the model so that it can be repeated on other rows.

use super::{Fit, LinearModel, method};
use crate::folder::layout::{FIT_FILE, ModelKind, SCHEMA_FILE};
use crate::folder::{digest, whole, whole_pattern, whole_reading};
use crate::quantity::neighboring;
use crate::refusal::Refusal;
use reticent_core::{Code, Neighboring};
use reticent_data::{Reading, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The rule of splits: the k-th of equal rows has a coin of its own.
const SPLIT_RULE: &str = "content and occurrence";

const FORMAT: u32 = 2;

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Kept {
    format: u32,
    request: Fit,
    /// How rows were sent to training or testing.
    split_rule: String,
}

/// The request in a model's folder: its paths lead to where they led, its schema is the folder's.
fn kept(fit: &Fit) -> Fit {
    Fit {
        data: whole_pattern(fit.data.as_deref()),
        reading: whole_reading(&fit.reading),
        data_dir: whole(fit.data_dir.as_deref()),
        test: whole_pattern(fit.test.as_deref()),
        schema: Some(SCHEMA_FILE.into()),
        out: None,
        ..fit.clone()
    }
}

/// The text of `run.json`.
pub(super) fn text(fit: &Fit) -> Result<String, Refusal> {
    let kept = Kept { format: FORMAT, request: kept(fit), split_rule: SPLIT_RULE.to_owned() };
    Ok(format!("{}\n", serde_json::to_string_pretty(&kept).map_err(Refusal::internal)?))
}

/// What the ledger of a linear model says was asked for.
pub(super) fn request(fit: &Fit, schema: &Schema) -> Result<Value, Refusal> {
    let request = serde_json::to_value(kept(fit)).map_err(Refusal::internal)?;
    let files = json!({SCHEMA_FILE: digest(schema.to_toml().as_bytes())});
    Ok(json!({"kind": ModelKind::Linear, "request": request, "files": files}))
}

/// The request that made a folder's model, with the folder's own schema.
pub(crate) fn read(folder: &Path) -> Result<Fit, Refusal> {
    let path = folder.join(FIT_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| {
        refuse(format!("the request of the training cannot be read ({error}): train again"))
    })?;
    let strange = |error: serde_json::Error| refuse(format!("not a training request ({error}): train again"));
    let value: Value = serde_json::from_str(&text).map_err(strange)?;
    let (fit, rule) = match &value["format"] {
        Value::Null => flags(value, &refuse)?,
        format if *format == FORMAT => {
            let kept: Kept = serde_json::from_value(value).map_err(strange)?;
            (kept.request, Some(kept.split_rule))
        }
        format => {
            return Err(refuse(format!("format {format} is not supported by this version: use a newer one")));
        }
    };
    let nothing_held_out =
        fit.test.is_some() || fit.test_share == Some(0.0) || fit.neighboring == Neighboring::ReplaceOne;
    if rule.as_deref() != Some(SPLIT_RULE) && !nothing_held_out {
        let why = "its held-out rows were chosen by an older rule, so they cannot be separated from its training rows: train again";
        return Err(refuse(why.to_owned()));
    }
    Ok(Fit { schema: Some(folder.join(SCHEMA_FILE)), out: None, ..fit })
}

/// `run.json` of format 1: the flags of the command, as text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flags {
    data: Option<PathBuf>,
    data_dir: Option<PathBuf>,
    model: Option<String>,
    epsilon: Option<String>,
    delta: Option<String>,
    method: String,
    neighboring: Option<String>,
    size: Option<String>,
    regularization: Option<String>,
    no_intercept: bool,
    steps: Option<String>,
    learning_rate: Option<String>,
    sampling_rate: Option<String>,
    test_share: Option<String>,
    split_key: String,
    /// How rows were sent to training or testing; not there where equal rows shared a coin.
    #[serde(default)]
    split_rule: Option<String>,
    test: Option<PathBuf>,
}

/// A request from the flags of the command, with the rule of its split.
fn flags(value: Value, refuse: &impl Fn(String) -> Refusal) -> Result<(Fit, Option<String>), Refusal> {
    let flags: Flags = serde_json::from_value(value)
        .map_err(|error| refuse(format!("not a training request ({error}): train again")))?;
    let number = |value: &Option<String>| parsed::<f64>(value).map_err(refuse);
    let count = |value: &Option<String>| parsed::<u64>(value).map_err(refuse);
    let fit = Fit {
        model: flags.model.as_deref().map(LinearModel::named).transpose()?,
        epsilon: number(&flags.epsilon)?,
        delta: number(&flags.delta)?,
        method: method(&flags.method)?,
        neighboring: flags.neighboring.as_deref().map_or(Ok(Neighboring::AddRemove), neighboring)?,
        dataset_size: count(&flags.size)?,
        regularization: number(&flags.regularization)?,
        no_intercept: flags.no_intercept,
        steps: count(&flags.steps)?,
        learning_rate: number(&flags.learning_rate)?,
        sampling_rate: number(&flags.sampling_rate)?,
        test_share: number(&flags.test_share)?,
        data: flags.data,
        reading: Reading::default(),
        data_dir: flags.data_dir,
        schema: None,
        split_key: flags.split_key,
        test: flags.test,
        out: None,
        observed_labels: false,
    };
    Ok((fit, flags.split_rule))
}

/// The number that a text holds.
fn parsed<T: FromStr>(text: &Option<String>) -> Result<Option<T>, String> {
    let Some(text) = text else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("{text} is not a number: train again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_as_numbers_and_older_ones_from_text() {
        let folder = tempfile::tempdir().unwrap();
        let fit = Fit { epsilon: Some(0.3), steps: Some(7), test_share: Some(0.0), ..Fit::default() };
        let path = folder.path().join(FIT_FILE);
        fs::write(&path, text(&fit).unwrap()).unwrap();
        let schema = Some(folder.path().join(SCHEMA_FILE));
        assert_eq!(read(folder.path()).unwrap(), Fit { schema: schema.clone(), ..fit.clone() });
        let flags = r#"{"data": null, "data_dir": null, "model": null, "epsilon": "0.3", "delta": null, "method": "auto",
            "neighboring": null, "size": null, "regularization": null, "no_intercept": false, "steps": "7",
            "learning_rate": null, "sampling_rate": null, "test_share": "0", "split_key": "reticent", "test": null}"#;
        fs::write(&path, flags).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Fit { schema, ..fit });
        fs::write(&path, flags.replace(r#""test_share": "0""#, r#""test_share": null"#)).unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("an older rule"));
        for broken in ["{", "[]", r#"{"format": 3}"#, r#"{"format": 2, "request": {"epsilon": "1"}}"#] {
            fs::write(&path, broken).unwrap();
            assert_eq!(read(folder.path()).unwrap_err().code(), Code::Broken, "{broken}");
        }
    }
}
