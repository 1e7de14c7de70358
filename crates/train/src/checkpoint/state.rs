//! The state of a training as one file.

use super::{CHECKPOINT_FILE, read, write};
use crate::average::Average;
use crate::digest::difference;
use crate::optimizer::Optimizer;
use crate::tensors::{Array, Arrays, decode, encode};
use crate::trainer::{Recipe, Terms};
use crate::{Layout, TrainError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: u32 = 1;

/// Everything about a run that must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) terms: Terms,
    pub(crate) recipe: Recipe,
    /// The parameters' names, shapes and whether they are trained.
    pub(crate) model: Vec<(String, Vec<usize>, bool)>,
}

impl Stored {
    pub(crate) fn new(terms: &Terms, recipe: &Recipe, layout: &Layout) -> Self {
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
}

/// What changes from step to step.
pub(crate) struct State<'a> {
    pub(crate) weights: &'a mut Vec<f32>,
    pub(crate) optimizer: &'a mut Optimizer,
    pub(crate) average: Option<&'a mut Average>,
    /// Steps on the way to these weights.
    pub(crate) taken: &'a mut u64,
    /// Steps that may have been seen.
    pub(crate) counted: &'a mut u64,
}

impl State<'_> {
    /// Replaces the checkpoint in a folder.
    pub(crate) fn save(&self, folder: &Path, run: &Stored, layout: &Layout) -> Result<(), TrainError> {
        let path = folder.join(CHECKPOINT_FILE);
        let mut arrays = BTreeMap::new();
        for (index, parameter) in layout.parameters().iter().enumerate() {
            let values = &self.weights[layout.weight_range(index)];
            arrays.insert(weight_name(&parameter.name), Array { shape: parameter.shape.clone(), values });
        }
        let (vectors, optimizer_steps) = self.optimizer.state();
        for (name, values) in vectors {
            arrays.insert(format!("optimizer.{name}"), Array { shape: vec![values.len()], values });
        }
        let mut average_steps = 0;
        if let Some(average) = &self.average {
            let (values, steps) = average.state();
            arrays.insert("average".to_owned(), Array { shape: vec![values.len()], values });
            average_steps = steps;
        }
        let text = Text {
            format: FORMAT,
            run: run.clone(),
            taken: *self.taken,
            counted: *self.counted,
            optimizer_steps,
            average_steps,
        };
        let text = serde_json::to_string(&text)
            .map_err(|error| TrainError::file(&path, error.to_string()).because(error))?;
        write(&path, &encode(&path, &arrays, &text)?)
    }

    /// Takes over the checkpoint in a folder; false when there is none. After an error nothing has changed.
    pub(crate) fn load(self, folder: &Path, run: &Stored, layout: &Layout) -> Result<bool, TrainError> {
        let path = folder.join(CHECKPOINT_FILE);
        let Some(bytes) = read(&path)? else { return Ok(false) };
        let mut arrays = decode(&path, &bytes)?;
        let text = text_of(&path, &arrays)?;
        run.check(&text.run)?;
        let mut weights = vec![0.0; layout.weights()];
        for (index, parameter) in layout.parameters().iter().enumerate() {
            let values = arrays.take(&path, &weight_name(&parameter.name), &parameter.shape)?;
            weights[layout.weight_range(index)].copy_from_slice(&values);
        }
        let (vectors, _) = self.optimizer.state();
        let lengths = vectors.map(|(_, values)| values.len());
        let first = arrays.take(&path, "optimizer.first", &lengths[..1])?;
        let second = arrays.take(&path, "optimizer.second", &lengths[1..])?;
        if let Some(average) = self.average {
            let mean = arrays.take(&path, "average", &[layout.gradients()])?;
            average.restore(mean, text.average_steps);
        }
        self.optimizer.restore(first, second, text.optimizer_steps);
        (*self.weights, *self.taken, *self.counted) = (weights, text.taken, text.counted);
        Ok(true)
    }
}

fn text_of(path: &Path, arrays: &Arrays) -> Result<Text, TrainError> {
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
