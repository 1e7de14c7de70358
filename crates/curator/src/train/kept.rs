//! What a training was asked for, kept with the run: so that it goes on as it began.

use super::{Reader, Train};
use crate::folder::layout::Kind;
use crate::folder::{digest, whole};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_train::{Description, TrainError};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Keys of a run that may change when it goes on: they change nothing about what is trained, or how it is protected.
const FREE: &[&str] = &["out", "threads", "checkpoint-every", "validation", "counted"];

/// Keys that lead to files, which are compared by their content.
const FILES: &[&str] = &["data", "data-dir", "schema", "vocabulary", "model", "label", "classes"];

/// Keys that make the plan, the recipe and the weights, which the trainer compares.
const OF_TRAINER: &[&str] = &[
    "epsilon",
    "delta",
    "noise-multiplier",
    "non-private",
    "neighboring",
    "clip",
    "clipping",
    "epochs",
    "steps",
    "batch-size",
    "optimizer",
    "learning-rate",
    "momentum",
    "weight-decay",
    "schedule",
    "warmup",
    "average",
];

/// What the ledger of a network says was asked for.
pub(super) fn request(run: &Train, reader: &Reader, description: &Description) -> Result<Value, Refusal> {
    let mut kept = Train { out: None, counted: None, ..run.clone() };
    kept.data = whole(kept.data.as_deref());
    kept.data_dir = whole(kept.data_dir.as_deref());
    let mut request = serde_json::to_value(kept).map_err(Refusal::internal)?;
    if let Some(request) = request.as_object_mut() {
        request.retain(|key, value| !value.is_null() && !FREE.contains(&key.as_str()));
    }
    let mut files = Map::new();
    files.insert("model".to_owned(), digest(description.to_toml()?.as_bytes()).into());
    if let Some(schema) = &reader.schema {
        files.insert("schema".to_owned(), digest(schema.to_toml().as_bytes()).into());
    }
    if let Some(vocabulary) = &reader.vocabulary {
        files.insert("vocabulary".to_owned(), digest(vocabulary.to_text().as_bytes()).into());
    }
    files.insert("classes".to_owned(), json!(reader.classes));
    Ok(json!({"kind": Kind::Network, "request": request, "files": files}))
}

/// Refuses a run that goes on otherwise than it began, naming the first difference that the trainer does not see itself.
pub(super) fn compare(was: &Value, is: &Value) -> Result<(), Refusal> {
    let changed = |what: &str, was: &Value, is: &Value| -> Refusal {
        TrainError::Changed { what: what.to_owned(), was: was.to_string(), is: is.to_string() }.into()
    };
    let (old, new) = (&was["request"], &is["request"]);
    let keys = [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
    for key in keys {
        let compared = ![FREE, FILES, OF_TRAINER].concat().contains(&key.as_str());
        if compared && old[key] != new[key] {
            let name = if key == "dataset-size" { "size" } else { key };
            return Err(changed(name, &old[key], &new[key]));
        }
    }
    for file in ["schema", "vocabulary", "classes", "model"] {
        if was["files"][file] != is["files"][file] {
            let text = format!(
                "the run was begun with another {file}: leave out what changes it, or begin a new run"
            );
            return Err(Refusal::about(Code::Changed, "resume", text));
        }
    }
    Ok(())
}

/// Refuses other data by their path, where nothing is known of their content.
pub(super) fn compare_paths(was: &Train, is: &Train) -> Result<(), Refusal> {
    let is_same = |one: &Option<PathBuf>, other: &Option<PathBuf>| match (one, other) {
        (Some(one), Some(other)) => {
            one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
        }
        (one, other) => one == other,
    };
    if is_same(&was.data, &is.data) && is_same(&was.data_dir, &is.data_dir) {
        return Ok(());
    }
    let shown = |run: &Train| {
        let path = run.data.as_ref().or(run.data_dir.as_ref());
        path.map_or("the bundled table".to_owned(), |path| path.display().to_string())
    };
    Err(TrainError::Changed { what: "data".to_owned(), was: shown(was), is: shown(is) }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_is_let_through_and_the_rest_is_named() {
        let was = json!({"request": {"length": 8, "epsilon": 1.0}, "files": {"model": "a", "schema": "b"}});
        compare(&was, &was).unwrap();
        let other = |key: &str, value: Value| {
            let mut other = was.clone();
            other["request"][key] = value;
            compare(&was, &other)
        };
        // The trainer compares its own.
        for (key, value) in [("threads", json!(3)), ("epsilon", json!(2)), ("data", json!("/a"))] {
            other(key, value).unwrap();
        }
        let refusal = other("examples-per-user", json!(2)).unwrap_err();
        assert_eq!(refusal.code(), Code::Changed);
        assert!(refusal.to_string().contains("another examples-per-user: null then, 2 now"), "{refusal}");
        assert!(other("length", json!(9)).unwrap_err().to_string().contains("length: 8 then, 9 now"));
        for file in ["model", "schema", "vocabulary"] {
            let mut other = was.clone();
            other["files"][file] = "c".into();
            let refusal = compare(&was, &other).unwrap_err();
            assert!(refusal.code() == Code::Changed && refusal.to_string().contains(file), "{refusal}");
        }
    }
}
