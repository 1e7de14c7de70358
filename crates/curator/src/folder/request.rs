//! What a training was asked for, kept with the model so that it can be repeated on other rows.

use crate::fit::{Fit, LinearModel, method, method_name};
use crate::quantity::neighboring;
use crate::refusal::Refusal;
use reticent_core::{Code, Neighboring};
use reticent_data::write_atomic;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::str::FromStr;

const RUN_FILE: &str = "run.json";
const SCHEMA_FILE: &str = "schema.toml";

/// The flags that a fit depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// The rule of splits: the k-th of equal rows has a coin of its own.
const SPLIT_RULE: &str = "content and occurrence";

/// Writes the request into a model's folder.
pub(crate) fn save(folder: &Path, fit: &Fit) -> Result<(), Refusal> {
    // The name of a dataset stays a name.
    let whole = |path: &Option<PathBuf>| {
        path.as_ref().map(|path| match path.exists() {
            true => absolute(path).unwrap_or_else(|_| path.clone()),
            false => path.clone(),
        })
    };
    let number = |value: Option<f64>| value.map(|value| value.to_string());
    let count = |value: Option<u64>| value.map(|value| value.to_string());
    let flags = Flags {
        data: whole(&fit.data),
        data_dir: whole(&fit.data_dir),
        model: fit.model.map(|model| model.name().to_owned()),
        epsilon: number(fit.epsilon),
        delta: number(fit.delta),
        method: method_name(fit.method).to_owned(),
        neighboring: (fit.neighboring != Neighboring::AddRemove).then(|| fit.neighboring.to_string()),
        size: count(fit.dataset_size),
        regularization: number(fit.regularization),
        no_intercept: fit.no_intercept,
        steps: count(fit.steps),
        learning_rate: number(fit.learning_rate),
        sampling_rate: number(fit.sampling_rate),
        test_share: number(fit.test_share),
        split_key: fit.split_key.clone(),
        split_rule: Some(SPLIT_RULE.to_owned()),
        test: whole(&fit.test),
    };
    let text = serde_json::to_string_pretty(&flags).map_err(Refusal::internal)?;
    Ok(write_atomic(&folder.join(RUN_FILE), format!("{text}\n").as_bytes())?)
}

/// The request that made a folder's model, with the folder's own schema.
pub(crate) fn read(folder: &Path) -> Result<Fit, Refusal> {
    let path = folder.join(RUN_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| {
        refuse(format!("how the model was trained cannot be read ({error}): train it again"))
    })?;
    let flags: Flags = serde_json::from_str(&text)
        .map_err(|error| refuse(format!("not the flags of a training ({error}): train it again")))?;
    let nothing_held_out = flags.test.is_some()
        || flags.test_share.as_deref() == Some("0")
        || flags.neighboring.as_deref() == Some("replace-one");
    if flags.split_rule.as_deref() != Some(SPLIT_RULE) && !nothing_held_out {
        let why = "its held-out rows were chosen by another rule, so they cannot be told from its training rows: train it again";
        return Err(refuse(why.to_owned()));
    }
    let number = |value: &Option<String>| parsed::<f64>(value).map_err(refuse);
    let count = |value: &Option<String>| parsed::<u64>(value).map_err(refuse);
    Ok(Fit {
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
        data_dir: flags.data_dir,
        schema: Some(folder.join(SCHEMA_FILE)),
        split_key: flags.split_key,
        test: flags.test,
        out: None,
    })
}

/// The number that a text holds.
fn parsed<T: FromStr>(text: &Option<String>) -> Result<Option<T>, String> {
    let Some(text) = text else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("{text} is not a number: train it again")),
    }
}
