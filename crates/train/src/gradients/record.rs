//! The gradients of single units, as they are.

use super::{ClippedSum, Gradients, UnitTarget, fits};
use crate::inspect::{Inspected, Inspection};
use crate::native::factored::squared;
use crate::{Examples, Layout, Selection, TrainError};

/// Unit gradients one after the other.
struct Rows<'a> {
    rows: &'a mut [f32],
    width: usize,
}

impl UnitTarget for Rows<'_> {
    fn add(&mut self, unit: usize, clipped: &[f32]) {
        self.rows[unit * self.width..(unit + 1) * self.width].copy_from_slice(clipped);
    }
}

/// The gradient of every unit of a selection, not clipped: unit after unit, [`Layout::gradients`](crate::Layout::gradients) numbers
/// each. Units that the model hands nothing over for have a gradient of 0.
///
/// # Guarantee
/// None: this is exact access to the examples. It is for attacks on one's own models and for tests; nothing that is released may
/// depend on it.
///
/// # Errors
/// As [`clipped_sum`](super::clipped_sum).
pub fn unit_gradients(
    model: &mut (impl Gradients + ?Sized),
    weights: &[f32],
    examples: &Examples,
    selection: &Selection,
) -> Result<Vec<f32>, TrainError> {
    fits(model, weights, examples, selection)?;
    let layout = model.layout().clone();
    let mut rows = vec![0.0; selection.units() * layout.gradients()];
    let mut target = Rows { rows: &mut rows, width: layout.gradients() };
    let mut sink = ClippedSum::by_unit(&layout, selection, None, &mut target)?;
    if layout.gradients() > 0 && selection.units() > 0 {
        model.gradients(weights, examples, &mut sink)?;
    }
    sink.finish()?;
    Ok(rows)
}

/// The part of an inspection that gradients tell: those of single examples and their norms, layer by layer. The rest is left absent.
///
/// # Guarantee
/// None, as of [`unit_gradients`].
///
/// # Errors
/// As [`unit_gradients`].
pub fn inspect_gradients(
    model: &mut (impl Gradients + ?Sized),
    weights: &[f32],
    examples: &Examples,
    which: &[usize],
    inspection: &Inspection,
) -> Result<Inspected, TrainError> {
    if !inspection.gradients && !inspection.layer_norms {
        return Ok(Inspected::default());
    }
    let rows = unit_gradients(model, weights, examples, &Selection::of_examples(which.to_vec()))?;
    let layout = model.layout();
    let norms = inspection.layer_norms.then(|| layer_norms(layout, &rows));
    Ok(Inspected {
        layer_norms: norms,
        gradients: inspection.gradients.then_some(rows),
        ..Inspected::default()
    })
}

/// The norms of the groups of every row.
fn layer_norms(layout: &Layout, rows: &[f32]) -> Vec<f64> {
    let mut norms = Vec::new();
    for row in rows.chunks_exact(layout.gradients().max(1)) {
        let start = norms.len();
        norms.resize(start + layout.groups(), 0.0);
        for (number, parameter) in layout.parameters().iter().enumerate().filter(|(_, p)| p.trainable) {
            norms[start + parameter.group] += squared(&row[layout.gradient_range(number)]);
        }
        norms[start..].iter_mut().for_each(|square| *square = square.sqrt());
    }
    norms
}
