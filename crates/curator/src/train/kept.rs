//! The request of a training, stored with the run so that it can be resumed unchanged.

use super::request::NoisyCount;
use super::settings::Settings;
use super::terms::counting;
use super::{Reader, Train};
use crate::folder::layout::{LEDGER_FILE, ModelKind, RUN_FILE};
use crate::folder::{Writer, digest, whole, whole_pattern, whole_reading};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_train::{Description, TrainError};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Keys of a run that may change when it goes on: they change nothing about what is trained, or how it is protected.
const FREE: &[&str] =
    &["out", "threads", "device", "chunk", "checkpoint-every", "validation", "counted", "patience"];

/// Keys that lead to files, which are compared by their content.
const FILES: &[&str] = &["data", "data-dir", "schema", "vocabulary", "model", "label", "classes"];

/// Keys that the certificate depends on beyond the plan: ε less what a count has cost can be the same for two requests.
const BUDGET: &[&str] = &["epsilon", "delta", "noise-multiplier", "non-private"];

/// The key of the ledger for the noisy number of units.
const COUNTED: &str = "counted";

/// The key of the ledger for the number of scores on held-out units during the run.
const EVALUATIONS: &str = "evaluations";

/// Keys that make the plan, the recipe and the weights, which the trainer compares; those of [`BUDGET`] are compared after it.
const OF_TRAINER: &[&str] = &[
    "epsilon",
    "delta",
    "noise-multiplier",
    "non-private",
    "neighboring",
    "clip",
    "clipping",
    "kept-share",
    "encoding-gain",
    "noise",
    "degrees-of-freedom",
    "denoise",
    "clip-quantile",
    "epochs",
    "steps",
    "batch-size",
    "batch-growth",
    "batching",
    "bands",
    "optimizer",
    "learning-rate",
    "momentum",
    "weight-decay",
    "schedule",
    "warmup",
    "average",
];

/// What the ledger of a network says was asked for.
pub(super) fn request(
    run: &Train,
    evaluations: Option<u64>,
    reader: &Reader,
    description: &Description,
) -> Result<Value, Refusal> {
    let mut kept = Train { out: None, counted: None, ..run.clone() };
    kept.data = whole_pattern(kept.data.as_deref());
    kept.reading = whole_reading(&kept.reading);
    kept.data_dir = whole(kept.data_dir.as_deref());
    kept.reference_data = whole(kept.reference_data.as_deref());
    for path in [&mut kept.init, &mut kept.vectors, &mut kept.pretrain] {
        *path = whole(path.as_deref());
    }
    let mut request = serde_json::to_value(kept).map_err(Refusal::internal)?;
    if let Some(request) = request.as_object_mut() {
        request.retain(|key, value| !value.is_null() && !FREE.contains(&key.as_str()));
    }
    let mut files = Map::new();
    files.insert("model".to_owned(), digest(description.to_toml()?.as_bytes()).into());
    if let Some(schema) = &reader.schema {
        files.insert("schema".to_owned(), digest(schema.to_toml().as_bytes()).into());
    }
    if let Some(vocabulary) = reader.vocabulary_text() {
        files.insert("vocabulary".to_owned(), digest(vocabulary.as_bytes()).into());
    }
    files.insert("classes".to_owned(), json!(reader.classes));
    let mut kept = json!({"kind": ModelKind::Network, "request": request, "files": files});
    if let Some(count) = evaluations {
        kept[EVALUATIONS] = count.into();
    }
    Ok(kept)
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
    // Held-out units pay for scores: with others than planned, what was drawn would not be what is certified.
    if was[EVALUATIONS] != is[EVALUATIONS] {
        let text = "the run was started with another number of held-out scores to stop by: give the same ⟦patience⟧, ⟦held_out⟧ and \
                    ⟦validation⟧, or start a new run";
        return Err(Refusal::about(Code::Changed, "resume", text));
    }
    for file in ["schema", "vocabulary", "classes", "model"] {
        if was["files"][file] != is["files"][file] {
            let text =
                format!("the run was started with a different {file}: undo the change, or start a new run");
            return Err(Refusal::about(Code::Changed, "resume", text));
        }
    }
    Ok(())
}

/// Refuses another budget than the run began with. The trainer has compared what the budget led to.
pub(super) fn compare_budget(was: &Value, is: &Value) -> Result<(), Refusal> {
    let (old, new) = (&was["request"], &is["request"]);
    let stated = |value: &Value| if *value == false { Value::Null } else { value.clone() };
    match BUDGET.iter().find(|key| stated(&old[**key]) != stated(&new[**key])) {
        None => Ok(()),
        Some(key) => {
            let (was, is) = (old[*key].to_string(), new[*key].to_string());
            Err(TrainError::Changed { what: (*key).to_owned(), was, is }.into())
        }
    }
}

/// Has the ledger state the count of a run together with its terms.
pub(super) fn add_count(writer: &mut Writer, run: &Train) -> Result<(), Refusal> {
    if let Some(counted) = &run.counted {
        writer.add(COUNTED, serde_json::to_value(counted).map_err(Refusal::internal)?);
    }
    Ok(())
}

/// Gives a run that goes on the count that its ledger states, which the file `run.toml` must have, too: it does not decide what was
/// paid. A run that was killed before the ledger stated one has the count of the file, which must be the one that its budget pays
/// for.
pub(super) fn take_count(writer: &Writer, run: &mut Train, settings: &Settings) -> Result<(), Refusal> {
    let path = writer.folder().join(RUN_FILE);
    let refuse = |why: &str| Err(Refusal::new(Code::Broken, format!("{}: {why}", path.display())));
    // A run from before the ledger kept the request has its count in the file alone.
    let Some(begun) = writer.request() else { return Ok(()) };
    if writer.has_run() {
        let known: Option<NoisyCount> = serde_json::from_value(begun[COUNTED].clone())
            .map_err(|error| Refusal::new(Code::Broken, format!("{LEDGER_FILE}: {COUNTED}: {error}")))?;
        match (Train::read(&path)?.counted, &known) {
            (None, Some(_)) => {
                return refuse("the noisy count of the rows is missing: restore it from a backup");
            }
            (stored, known) if stored != *known => {
                return refuse("not the noisy count that the run started with: restore it from a backup");
            }
            _ => run.counted = known,
        }
        return Ok(());
    }
    let Some(counted) = &run.counted else { return Ok(()) };
    let (events, _) = counted.cost()?;
    match counting(&Train { counted: None, ..run.clone() }, settings)? {
        Some(paid) if !paid.is(&events, counted.epsilon) => refuse(
            "not the noisy count that the run started with: no step was taken, so remove the folder and start a new run",
        ),
        _ => Ok(()),
    }
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
    fn a_budget_is_compared_when_the_trainer_is_done() {
        let was = json!({"request": {"epsilon": 4.0, "delta": 1e-6, "steps": 5}});
        compare_budget(&was, &was).unwrap();
        let other = |key: &str, value: Value| {
            let mut other = was.clone();
            other["request"][key] = value;
            compare_budget(&was, &other)
        };
        other("steps", json!(6)).unwrap();
        other("non-private", json!(false)).unwrap();
        let line = other("epsilon", json!(3.9201)).unwrap_err().to_string();
        assert!(line.contains("a different epsilon: 4.0 then, 3.9201 now"), "{line}");
        for (key, value) in
            [("delta", json!(1e-7)), ("noise-multiplier", json!(2.0)), ("non-private", json!(true))]
        {
            assert_eq!(other(key, value).unwrap_err().code(), Code::Changed, "{key}");
        }
    }

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
        // A run may go on elsewhere.
        for (key, value) in [("device", json!("cuda")), ("chunk", json!(64))] {
            other(key, value).unwrap();
        }
        let mut paid = was.clone();
        paid["evaluations"] = json!(4);
        compare(&paid, &paid).unwrap();
        for (was, is) in [(&was, &paid), (&paid, &was)] {
            assert_eq!(compare(was, is).unwrap_err().code(), Code::Changed);
        }
        let refusal = other("examples-per-user", json!(2)).unwrap_err();
        assert_eq!(refusal.code(), Code::Changed);
        assert!(refusal.to_string().contains("a different examples-per-user: null then, 2 now"), "{refusal}");
        assert!(other("length", json!(9)).unwrap_err().to_string().contains("length: 8 then, 9 now"));
        for file in ["model", "schema", "vocabulary"] {
            let mut other = was.clone();
            other["files"][file] = "c".into();
            let refusal = compare(&was, &other).unwrap_err();
            assert!(refusal.code() == Code::Changed && refusal.to_string().contains(file), "{refusal}");
        }
    }
}
