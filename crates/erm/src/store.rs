//! Models on disk: the weights as safetensors, everything else (and the weights once more) as readable JSON.
//!
//! Both files are written under temporary names in the same folder and renamed, the JSON last: a folder with a
//! JSON file is complete.

use crate::ErmError;
use crate::fit::FittedModel;
use crate::multiclass::Multiclass;
use crate::predict::Linear;
use reticent_core::Cause;
use reticent_files::write_atomic;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file of weights in a model's folder.
pub const WEIGHTS_FILE: &str = "weights.safetensors";

/// The readable file in a model's folder.
pub const MODEL_FILE: &str = "model.json";

/// A model of either kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyModel {
    /// Two classes, or a value.
    Binary(FittedModel),
    /// Several classes.
    Multiclass(Multiclass),
}

/// A file about which another library or the system has an error.
fn failed(file: &Path, error: impl std::error::Error + Send + Sync + 'static) -> ErmError {
    let (file, why) = (file.display().to_string(), error.to_string());
    ErmError::File { file, why, cause: Some(Cause::new(error)) }
}

impl AnyModel {
    /// Writes the model into a folder, which is made if need be. A model that was there is replaced.
    ///
    /// # Errors
    /// [`ErmError::Unwritten`] when a file cannot be written; [`ErmError::File`] when the model cannot be encoded, or its folder
    /// cannot be made.
    pub fn save(&self, folder: &Path) -> Result<(), ErmError> {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let (weights, json) = (folder.join(WEIGHTS_FILE), folder.join(MODEL_FILE));
        let tensors = self.tensors().map_err(|error| failed(&weights, error))?;
        let mut text = serde_json::to_string_pretty(self).map_err(|error| failed(&json, error))?;
        text.push('\n');
        write_atomic(&weights, &tensors)?;
        Ok(write_atomic(&json, text.as_bytes())?)
    }

    /// Reads a model; the weights are those of the safetensors file.
    ///
    /// # Errors
    /// [`ErmError::File`] when a file is missing, damaged, or does not fit the other.
    pub fn load(folder: &Path) -> Result<Self, ErmError> {
        let (weights, json) = (folder.join(WEIGHTS_FILE), folder.join(MODEL_FILE));
        let text = std::fs::read(&json).map_err(|error| failed(&json, error))?;
        let model: Self = serde_json::from_slice(&text).map_err(|error| failed(&json, error))?;
        let bytes = std::fs::read(&weights).map_err(|error| failed(&weights, error))?;
        model.with_tensors(&weights, &bytes)
    }

    /// The weights as safetensors.
    ///
    /// # Errors
    /// [`ErmError::File`] when they cannot be encoded.
    pub fn to_tensors(&self) -> Result<Vec<u8>, ErmError> {
        self.tensors().map_err(|error| failed(Path::new(WEIGHTS_FILE), error))
    }

    /// The same model with the weights of a safetensors file, whose name is for messages.
    ///
    /// # Errors
    /// [`ErmError::File`] when they are damaged or of another shape.
    pub fn with_tensors(self, weights: &Path, bytes: &[u8]) -> Result<Self, ErmError> {
        let fail =
            |file: &Path, why: String| ErmError::File { file: file.display().to_string(), why, cause: None };
        let mut model = self;
        let read = read_tensors(bytes).map_err(|why| fail(weights, why))?;
        let expected = model.linears();
        let same_shape = read.len() == expected.len()
            && read.iter().zip(&expected).all(|(a, b)| a.weights.len() == b.weights.len());
        if !same_shape {
            return Err(fail(weights, format!("its shape is not that of {MODEL_FILE}")));
        }
        match &mut model {
            Self::Binary(fit) => {
                if let Some(only) = read.into_iter().next() {
                    (fit.weights, fit.intercept) = (only.weights, only.intercept);
                }
            }
            Self::Multiclass(many) => many.models = read,
        }
        Ok(model)
    }

    fn linears(&self) -> Vec<Linear> {
        match self {
            Self::Binary(fit) => {
                vec![Linear { weights: fit.weights.clone(), intercept: fit.intercept }]
            }
            Self::Multiclass(many) => many.models.clone(),
        }
    }

    fn tensors(&self) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let models = self.linears();
        let width = models.first().map_or(0, |model| model.weights.len());
        let weights: Vec<u8> =
            models.iter().flat_map(|model| &model.weights).flat_map(|w| w.to_le_bytes()).collect();
        let intercepts: Vec<u8> = models.iter().flat_map(|model| model.intercept.to_le_bytes()).collect();
        let views = [
            ("intercepts", TensorView::new(Dtype::F64, vec![models.len()], &intercepts)?),
            ("weights", TensorView::new(Dtype::F64, vec![models.len(), width], &weights)?),
        ];
        serialize(views, None)
    }
}

fn read_tensors(bytes: &[u8]) -> Result<Vec<Linear>, String> {
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let read = |name: &str, rank: usize| {
        let view = tensors.tensor(name).map_err(|error| error.to_string())?;
        if view.dtype() != Dtype::F64 || view.shape().len() != rank {
            return Err(format!("{name} is not an array of doubles of rank {rank}"));
        }
        let numbers: Vec<f64> = view
            .data()
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or([0; 8])))
            .collect();
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(format!("{name} holds a number that is not finite"));
        }
        Ok((view.shape().to_vec(), numbers))
    };
    let (shape, weights) = read("weights", 2)?;
    let (_, intercepts) = read("intercepts", 1)?;
    if shape[0] != intercepts.len() || shape[1] == 0 {
        return Err("weights and intercepts do not fit together".into());
    }
    let models = weights.chunks_exact(shape[1]).zip(intercepts);
    Ok(models.map(|(weights, intercept)| Linear { weights: weights.to_vec(), intercept }).collect())
}
