//! The weights of a model as a file: safetensors, by the parameters' names.

use crate::{Layout, TrainError};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::path::Path;

fn refused(path: &Path, why: String) -> TrainError {
    TrainError::file(path, why)
}

/// Writes weights, replacing a file that was there.
///
/// # Errors
/// [`TrainError::Shape`] when there are not as many weights as the layout has; [`TrainError::Unwritten`] when the
/// file cannot be written.
pub fn save_weights(path: &Path, layout: &Layout, weights: &[f32]) -> Result<(), TrainError> {
    if weights.len() != layout.weights() {
        return Err(TrainError::Shape(format!("{} weights, not {}", layout.weights(), weights.len())));
    }
    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    let strange = |error: safetensors::SafeTensorError| {
        refused(path, format!("cannot be encoded: {error}")).because(error)
    };
    let mut views = Vec::new();
    for (place, parameter) in layout.parameters().iter().enumerate() {
        let range = layout.weight_range(place);
        let data = &bytes[4 * range.start..4 * range.end];
        views.push((
            parameter.name.as_str(),
            TensorView::new(Dtype::F32, parameter.shape.clone(), data).map_err(strange)?,
        ));
    }
    let bytes = serialize(views, None).map_err(strange)?;
    Ok(reticent_files::write_atomic(path, &bytes)?)
}

/// Reads weights for a layout.
///
/// # Errors
/// [`TrainError::File`] when the file is missing or corrupt, lacks a parameter, has one of another shape or kind, or a
/// weight that is not finite.
pub fn load_weights(path: &Path, layout: &Layout) -> Result<Vec<f32>, TrainError> {
    let bytes = std::fs::read(path)
        .map_err(|error| refused(path, format!("cannot be read: {error}")).because(error))?;
    let arrays = SafeTensors::deserialize(&bytes).map_err(|error| {
        refused(path, format!("truncated or corrupt ({error}): restore it from a copy")).because(error)
    })?;
    let mut weights = Vec::with_capacity(layout.weights());
    for parameter in layout.parameters() {
        let name = &parameter.name;
        let array = arrays
            .tensor(name)
            .map_err(|_| refused(path, format!("it has no {name}: it belongs to another model")))?;
        if array.dtype() != Dtype::F32 || array.shape() != parameter.shape {
            let why = format!(
                "{name} has the shape {:?} in {:?}, not {:?} in single precision: it belongs to another model",
                array.shape(),
                array.dtype(),
                parameter.shape
            );
            return Err(refused(path, why));
        }
        weights.extend(array.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    }
    if weights.iter().any(|weight| !weight.is_finite()) {
        let why = "a weight is not a finite number: the training has diverged; train it again with a smaller learning rate";
        return Err(refused(path, why.to_owned()));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Description;
    use crate::describe::preset;
    use crate::graph::Graph;

    #[test]
    fn weights_come_back_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let network = |classes| {
            let words: Description = preset("mlp", &[4], None, classes).unwrap();
            Graph::new(&words).unwrap()
        };
        let three = network(3);
        let weights = three.initial_weights(&mut reticent_noise::Entropy::new().unwrap());
        save_weights(&path, three.layout(), &weights).unwrap();
        assert_eq!(load_weights(&path, three.layout()).unwrap(), weights);
        assert!(save_weights(&path, three.layout(), &weights[1..]).is_err());
        assert!(load_weights(&path, network(2).layout()).unwrap_err().to_string().contains("another model"));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(load_weights(&path, three.layout()).unwrap_err().to_string().contains("corrupt"));
        assert!(load_weights(&folder.path().join("none"), three.layout()).is_err());
    }
}
