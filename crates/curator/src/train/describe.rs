//! The network of a run.

use super::reader::Reader;
use super::request::{Train, text_of};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::closest;
use reticent_train::describe::{Objective, PRESETS, is_language_model as is_language_preset, preset};
use reticent_train::graph::Graph;
use reticent_train::{Description, TrainError};
use std::path::Path;

/// Models that are linear where the data are a table.
const LINEAR: &[&str] = &["logistic", "svm", "ridge"];

/// Whether a model's name is one of a network that no linear model has.
pub(super) fn is_network(model: &str) -> bool {
    is_file(model) || (PRESETS.iter().any(|(name, _)| *name == model) && !LINEAR.contains(&model))
}

pub(super) fn is_file(model: &str) -> bool {
    model.ends_with(".toml")
}

/// Refuses a name that no model has, linear or a network.
pub(super) fn check_name(model: &str) -> Result<(), Refusal> {
    let known: Vec<&str> = LINEAR.iter().copied().chain(PRESETS.iter().map(|(name, _)| *name)).collect();
    if is_file(model) || known.contains(&model) {
        return Ok(());
    }
    let hint = closest(model, &known).map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
    let networks: Vec<&str> =
        PRESETS.iter().map(|(name, _)| *name).filter(|name| *name != "logistic").collect();
    let remedy = format!(
        "unknown{hint}: give logistic, svm or ridge for a linear model, or {} or a model.toml for a network",
        networks.join(", ")
    );
    Err(Refusal::unknown("model", model, remedy))
}

/// Whether the model of a run predicts next tokens.
///
/// # Errors
/// [`Refusal`] where the model's file cannot be read.
pub(super) fn is_language_model(run: &Train) -> Result<bool, Refusal> {
    match run.model.as_deref() {
        Some(file) if is_file(file) => Ok(own_description(file)?.0.loss == Objective::NextToken),
        Some(name) => Ok(is_language_preset(name)),
        None => Ok(false),
    }
}

/// The network of a file, and the file's text.
fn own_description(file: &str) -> Result<(Description, String), Refusal> {
    let text = text_of(Path::new(file)).map_err(|failure| failure.within("⟦model⟧"))?;
    Ok((Description::from_toml(&text, file)?, text))
}

/// The network for examples of this shape, frozen layers marked.
pub(crate) fn describe(run: &mut Train, reader: &Reader, shape: &[usize]) -> Result<Description, Refusal> {
    let vocabulary = reader.vocabulary.as_ref().map(|vocabulary| vocabulary.size());
    let usual = match shape {
        // The default for words is filled in with the settings.
        _ if vocabulary.is_some() => "transformer-text",
        [1, 28, 28] => "cnn-mnist-tanh",
        [3, 32, 32] => "cnn-cifar",
        _ => "mlp",
    };
    let model = run.model.get_or_insert_with(|| usual.to_owned()).clone();
    check_name(&model)?;
    let outputs = reader.outputs();
    let mut own = None;
    let mut description = if is_file(&model) {
        let (description, text) = own_description(&model)?;
        own = Some(text);
        description
    } else if LINEAR.contains(&model.as_str()) && model != "logistic" {
        return Err(Refusal::conflict(
            "model",
            &model,
            "only for tables: give logistic, mlp or another network",
        ));
    } else {
        preset(&model, shape, vocabulary, outputs)?
    };
    let found = description.outputs()?;
    if let (true, Some(needed)) = (reader.is_language(), vocabulary)
        && (description.vocabulary() != Some(needed) || description.input != shape)
    {
        let remedy = format!(
            "the texts need input = {shape:?} and an embedding with vocabulary = {needed} (padding and unknown tokens included)"
        );
        return Err(match own {
            Some(text) => {
                Refusal::new(Code::Misfit, remedy).placed(&model, &text, &["layer", "0", "vocabulary"])
            }
            None => Refusal::value("model", &model, remedy).coded(Code::Misfit),
        });
    }
    if found != outputs {
        let remedy = format!(
            "the network has {found} outputs, but the data need {outputs}: one per class, or one for a number"
        );
        let last = description.layers.len().saturating_sub(1).to_string();
        return Err(match own {
            Some(text) => Refusal::new(Code::Misfit, remedy).placed(&model, &text, &["layer", &last, "out"]),
            None => Refusal::value("model", &model, remedy).coded(Code::Misfit),
        });
    }
    if let Some(smoothing) = run.label_smoothing {
        if outputs < 2 {
            let remedy = "labels that are numbers cannot be smoothed: leave it out";
            return Err(Refusal::conflict("label_smoothing", smoothing, remedy));
        }
        description.label_smoothing = smoothing as f32;
    }
    freeze(run.freeze.as_deref().unwrap_or_default(), &mut description)?;
    Ok(description)
}

/// Freezes what the names say: whole layers, or parts of them.
fn freeze(names: &[String], description: &mut Description) -> Result<(), Refusal> {
    let layers: Vec<String> = description
        .layers
        .iter()
        .enumerate()
        .map(|(place, layer)| layer.name.clone().unwrap_or_else(|| place.to_string()))
        .collect();
    for name in names {
        match layers.iter().position(|known| known == name) {
            Some(place) => description.layers[place].frozen = true,
            None => description.freeze.push(name.clone()),
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    let graph = Graph::new(description).map_err(|error| match &error {
        TrainError::Invalid(invalid) if invalid.field == "freeze" => {
            let remedy = match layers.contains(&invalid.value) {
                true => "this layer has no weights: leave it out".to_owned(),
                false if invalid.remedy.contains("together") => invalid.remedy.clone(),
                false => format!("no such layer ({}): {}", layers.join(", "), invalid.remedy),
            };
            Refusal::value("freeze", &invalid.value, remedy).coded(Code::UnknownName)
        }
        _ => error.into(),
    })?;
    if graph.layout().gradients() == 0 {
        let remedy = "all weights are frozen, and nothing is left to train: freeze fewer layers";
        return Err(Refusal::conflict("freeze", names.join(", "), remedy));
    }
    Ok(())
}
