//! Signals of gradients and activations in an npz archive, from whichever framework.

use super::archive::{has, numbers};
use crate::{
    AuditError, GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, INPUT_GRADIENT_NORM, SignalSource,
    SignalValues, Signals,
};
use reticent_data::NpzFile;

/// The arrays, with what they become and whether they are norms.
const ARRAYS: [(&str, &str, SignalSource, bool); 5] = [
    ("gradient_norms", GRADIENT_NORMS, SignalSource::Gradients, true),
    ("input_gradient_norms", INPUT_GRADIENT_NORM, SignalSource::Gradients, true),
    ("gradient_cosines", GRADIENT_COSINE, SignalSource::Gradients, false),
    ("gradient_features", "gradient-features", SignalSource::Gradients, false),
    ("activations", "activations", SignalSource::Activations, false),
];

/// Adds the signals of models, one after the other, whose arrays have a prefix. Where `is_one`, arrays have no dimension of models.
pub(super) fn add(
    file: &NpzFile,
    prefix: &str,
    models: &mut [&mut Signals],
    records: usize,
    is_one: bool,
) -> Result<(), AuditError> {
    for (array, signal, source, is_norm) in ARRAYS {
        let name = format!("{prefix}{array}");
        if !has(file, &name) {
            continue;
        }
        let found = file.read(&name)?.shape().to_vec();
        let mut shape = if is_one { vec![records] } else { vec![models.len(), records] };
        let width = if found.len() > shape.len() { found[shape.len()] } else { 1 };
        if found.len() > shape.len() {
            shape.push(width);
        }
        let is_scalar = [INPUT_GRADIENT_NORM, GRADIENT_COSINE].contains(&signal);
        if width == 0 || (is_scalar && width > 1) {
            let remedy =
                if is_scalar { "give one number per record" } else { "give at least one number per record" };
            return Err(AuditError::invalid("shape", format!("array \"{name}\" of width {width}"), remedy));
        }
        let mut values = numbers(file, &name, &shape)?;
        if let Some(odd) = values.iter().find(|value| is_norm && **value < 0.0) {
            return Err(AuditError::invalid(
                "gradients",
                odd,
                format!("array \"{name}\" is of norms: give numbers from 0"),
            ));
        }
        if source == SignalSource::Gradients && signal != "gradient-features" {
            // Signals are larger for members, whose gradients are small.
            values.iter_mut().for_each(|value| *value = -*value);
        }
        for (model, own) in models.iter_mut().zip(values.chunks_exact((records * width).max(1))) {
            if signal == GRADIENT_NORMS {
                let total = |row: &[f64]| -row.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
                let totals = own.chunks_exact(width).map(total).collect();
                model.insert(GRADIENT_NORM, SignalValues::scalar(source, totals));
            }
            model.insert(signal, SignalValues::rows(source, width, own.to_vec())?);
        }
    }
    Ok(())
}
