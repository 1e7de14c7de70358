//! The state of a training as one file.

use super::{CHECKPOINT_FILE, read, write};
use crate::denoise::Denoiser;
use crate::digest::difference;
use crate::engine::{Engine, Weights};
use crate::tensors::{Tensor, Tensors, decode, encode};
use crate::trainer::{Recipe, TrainingTerms};
use crate::{Layout, TrainError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: u32 = 1;

const FIRST: &str = "optimizer.first";
const SECOND: &str = "optimizer.second";
const AVERAGE: &str = "average";
const DENOISER: &str = "denoiser.squares";

/// Everything about a run that must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) terms: TrainingTerms,
    pub(crate) recipe: Recipe,
    /// The parameters' names, shapes and whether they are trained.
    pub(crate) model: Vec<(String, Vec<usize>, bool)>,
}

impl Stored {
    pub(crate) fn new(terms: &TrainingTerms, recipe: &Recipe, layout: &Layout) -> Self {
        let model =
            layout.parameters().iter().map(|p| (p.name.clone(), p.shape.clone(), p.trainable)).collect();
        Self { terms: terms.clone(), recipe: *recipe, model }
    }

    /// Refuses anything that differs from what is stored.
    pub(crate) fn check(&self, stored: &Self) -> Result<(), TrainError> {
        match difference(stored, self) {
            None => Ok(()),
            Some((what, was, is)) => Err(TrainError::Changed { what, was, is }),
        }
    }
}

/// What is written beside the arrays.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Text {
    format: u32,
    run: Stored,
    taken: u64,
    counted: u64,
    optimizer_steps: u64,
    average_steps: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    denoiser_steps: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clipping_norm: Option<f64>,
}

/// Whether no step was denoised, which is not written.
fn is_none(steps: &u64) -> bool {
    *steps == 0
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steps {
    /// Steps on the way to the weights.
    pub(crate) taken: u64,
    /// Steps that may have been seen.
    pub(crate) counted: u64,
    /// The clipping norm of the next step, with quantile clipping.
    pub(crate) clipping_norm: Option<f64>,
}

/// Replaces the checkpoint in a folder by what the engine and the denoiser hold.
pub(crate) fn save(
    engine: &mut dyn Engine,
    denoiser: Option<&Denoiser>,
    folder: &Path,
    run: Stored,
    steps: Steps,
) -> Result<(), TrainError> {
    let path = folder.join(CHECKPOINT_FILE);
    let (weights, state) = (engine.read_weights(Weights::Current)?, engine.read_state()?);
    let layout = engine.layout();
    let mut arrays = BTreeMap::new();
    for (index, parameter) in layout.parameters().iter().enumerate() {
        let values = &weights[layout.weight_range(index)];
        arrays.insert(weight_name(&parameter.name), Tensor { shape: parameter.shape.clone(), values });
    }
    for (name, values) in [(FIRST, &state.first), (SECOND, &state.second)] {
        arrays.insert(name.to_owned(), Tensor { shape: vec![values.len()], values });
    }
    if let Some(values) = &state.average {
        arrays.insert(AVERAGE.to_owned(), Tensor { shape: vec![values.len()], values });
    }
    let (squares, denoiser_steps) = denoiser.map_or((&[][..], 0), Denoiser::state);
    if !squares.is_empty() {
        let shape = vec![squares.len()];
        arrays.insert(DENOISER.to_owned(), Tensor { shape, values: squares });
    }
    let text = Text {
        format: FORMAT,
        run,
        taken: steps.taken,
        counted: steps.counted,
        optimizer_steps: state.optimizer_steps,
        average_steps: state.average_steps,
        denoiser_steps,
        clipping_norm: steps.clipping_norm,
    };
    let text = serde_json::to_string(&text)
        .map_err(|error| TrainError::file(&path, error.to_string()).because(error))?;
    write(&path, &encode(&path, &arrays, &text)?)
}

/// Gives engine and denoiser the checkpoint in a folder; none when there is none. After an error nothing has changed.
pub(crate) fn load(
    engine: &mut dyn Engine,
    denoiser: Option<&mut Denoiser>,
    folder: &Path,
    run: &Stored,
) -> Result<Option<Steps>, TrainError> {
    let path = folder.join(CHECKPOINT_FILE);
    let Some(bytes) = read(&path)? else { return Ok(None) };
    let mut arrays = decode(&path, &bytes)?;
    let text = text_of(&path, &arrays)?;
    run.check(&text.run)?;
    let mut state = engine.read_state()?;
    let layout = engine.layout();
    let mut weights = vec![0.0; layout.weights()];
    for (index, parameter) in layout.parameters().iter().enumerate() {
        let values = arrays.take(&path, &weight_name(&parameter.name), &parameter.shape)?;
        weights[layout.weight_range(index)].copy_from_slice(&values);
    }
    state.first = arrays.take(&path, FIRST, &[state.first.len()])?;
    state.second = arrays.take(&path, SECOND, &[state.second.len()])?;
    if let Some(average) = &mut state.average {
        *average = arrays.take(&path, AVERAGE, &[layout.gradients()])?;
    }
    (state.optimizer_steps, state.average_steps) = (text.optimizer_steps, text.average_steps);
    let squares = match denoiser.as_ref().map_or(0, |own| own.state().0.len()) {
        0 => Vec::new(),
        count => arrays.take(&path, DENOISER, &[count])?,
    };
    engine.load_state(state)?;
    engine.load_weights(&weights)?;
    if let Some(denoiser) = denoiser {
        denoiser.restore(squares, text.denoiser_steps);
    }
    Ok(Some(Steps { taken: text.taken, counted: text.counted, clipping_norm: text.clipping_norm }))
}

fn text_of(path: &Path, arrays: &Tensors) -> Result<Text, TrainError> {
    let refuse = |why: String| TrainError::file(path, why);
    let strange = |error: serde_json::Error| refuse(format!("not a checkpoint: {error}")).because(error);
    let text: serde_json::Value = serde_json::from_str(&arrays.text).map_err(strange)?;
    if text["format"] != FORMAT {
        return Err(refuse(format!("format {} is not known here: use a newer version", text["format"])));
    }
    serde_json::from_value(text).map_err(strange)
}

/// The steps taken and counted of the checkpoint in a folder; none when there is none.
pub(super) fn peek(folder: &Path) -> Result<Option<(u64, u64)>, TrainError> {
    let path = folder.join(CHECKPOINT_FILE);
    let Some(bytes) = read(&path)? else { return Ok(None) };
    let text = text_of(&path, &decode(&path, &bytes)?)?;
    Ok(Some((text.taken, text.counted)))
}

fn weight_name(parameter: &str) -> String {
    format!("weights.{parameter}")
}
