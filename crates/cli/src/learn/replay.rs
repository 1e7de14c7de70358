//! What a training was asked for, kept with the model so that it can be repeated on other rows.

use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::data::write_atomic;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf, absolute};

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

/// Writes the flags into a model's folder.
pub(super) fn save(folder: &Path, train: &Train) -> Result<(), Fail> {
    // The name of a dataset stays a name.
    let whole = |path: &Option<PathBuf>| {
        path.as_ref().map(|path| match path.exists() {
            true => absolute(path).unwrap_or_else(|_| path.clone()),
            false => path.clone(),
        })
    };
    let flags = Flags {
        data: whole(&train.file),
        data_dir: whole(&train.data_dir),
        model: train.model.clone(),
        epsilon: train.epsilon.clone(),
        delta: train.delta.clone(),
        method: train.method.clone(),
        neighboring: train.neighboring.clone(),
        size: train.size.clone(),
        regularization: train.regularization.clone(),
        no_intercept: train.no_intercept,
        steps: train.steps.clone(),
        learning_rate: train.learning_rate.clone(),
        sampling_rate: train.sampling_rate.clone(),
        test_share: train.test_share.clone(),
        split_key: train.split_key.clone(),
        split_rule: Some(SPLIT_RULE.to_owned()),
        test: whole(&train.test),
    };
    let text =
        serde_json::to_string_pretty(&flags).map_err(|error| Fail::new(Code::Internal, error.to_string()))?;
    Ok(write_atomic(&folder.join(RUN_FILE), format!("{text}\n").as_bytes())?)
}

/// The arguments of the training that made a folder's model, with the folder's own schema.
pub(super) fn read(folder: &Path) -> Result<Train, Fail> {
    let path = folder.join(RUN_FILE);
    let refuse = |why: String| Fail::new(Code::Broken, format!("{}: {why}", path.display()));
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
    Ok(Train {
        file: flags.data,
        data_dir: flags.data_dir,
        schema: Some(folder.join(SCHEMA_FILE)),
        model: flags.model,
        epsilon: flags.epsilon,
        delta: flags.delta,
        method: flags.method,
        neighboring: flags.neighboring,
        size: flags.size,
        regularization: flags.regularization,
        no_intercept: flags.no_intercept,
        steps: flags.steps,
        learning_rate: flags.learning_rate,
        sampling_rate: flags.sampling_rate,
        test_share: flags.test_share,
        split_key: flags.split_key,
        test: flags.test,
        out: None,
        json: false,
        network: Default::default(),
    })
}
