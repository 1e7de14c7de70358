//! Signals of the gradient of the loss at every record.

use super::{Wanted, activations_of};
use crate::AttackError;
use reticent_audit::{
    GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM, SignalSource,
    SignalValues, Signals,
};
use reticent_train::inspect::{GradientSummary, Inspection, Inspector};
use reticent_train::{Description, Examples, Inputs, Layout, Resources};

/// How many norms of rows are kept per layer: as many values between the largest and the smallest one, evenly spaced by rank.
pub(super) const ROWS: usize = 8;

/// Signals of a network's gradients and activations at every record, all negated so that they are larger for members.
///
/// Records go through the network in batches, once for the mean gradient and once for everything else.
pub(super) fn inspected(
    description: &Description,
    weights: &[f32],
    examples: &Examples,
    wanted: &Wanted,
    resources: Resources,
) -> Result<Signals, AttackError> {
    let mut signals = Signals::none();
    if !wanted.gradients && wanted.activations.is_empty() {
        return Ok(signals);
    }
    let mut inspector = Inspector::new(description, resources)?;
    let all: Vec<usize> = (0..examples.len()).collect();
    // Positions in a vocabulary have no gradient.
    let has_input = wanted.gradients && !matches!(examples.inputs(), Inputs::Tokens(_));
    let inspection = Inspection {
        layer_norms: wanted.gradients,
        input_gradients: has_input,
        activations: wanted.activations.clone(),
        ..Inspection::default()
    };
    let layout = inspector.layout().clone();
    let rows = GradientRows::of(&layout);
    let mean = if wanted.gradients { inspector.mean_gradient(weights, examples, &all)? } else { Vec::new() };
    let width = 1 + ROWS * rows.layers.len();
    let of = |gradient: &[f32], into: &mut [f64]| {
        into[0] = product(gradient, &mean);
        rows.write(gradient, &mut into[1..]);
    };
    let summary = wanted.gradients.then_some(GradientSummary { width, of: &of });
    let seen = inspector.inspect_with(weights, examples, &all, &inspection, summary)?;
    if let (Some(norms), Some(summaries)) = (seen.layer_norms, seen.summaries) {
        let layers = layout.groups().max(1);
        let length = product(&mean, &mean).sqrt();
        let total = |row: &[f64]| row.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let totals: Vec<f64> = norms.chunks_exact(layers).map(total).collect();
        let cosine = |(summary, norm): (&[f64], &f64)| -ratio(summary[0], norm * length);
        let cosines = summaries.chunks_exact(width).zip(&totals).map(cosine).collect();
        let rows =
            summaries.chunks_exact(width).flat_map(|summary| &summary[1..]).map(|norm| -norm).collect();
        let scalar = |values| SignalValues::scalar(SignalSource::Gradients, values);
        let wide = |width, values| SignalValues::rows(SignalSource::Gradients, width, values);
        signals.insert(GRADIENT_COSINE, scalar(cosines));
        signals.insert(GRADIENT_NORM, scalar(totals.iter().map(|norm| -norm).collect()));
        signals.insert(GRADIENT_NORMS, wide(layers, norms.iter().map(|norm| -norm).collect())?);
        if width > 1 {
            signals.insert(GRADIENT_ROWS, wide(width - 1, rows)?);
        }
    }
    if let Some(slopes) = seen.input_gradients {
        let norms = slopes.chunks_exact(examples.size()).map(|row| -product(row, row).sqrt()).collect();
        signals.insert(INPUT_GRADIENT_NORM, SignalValues::scalar(SignalSource::Gradients, norms));
    }
    for layer in seen.activations {
        let width = layer.shape.iter().product();
        let values = layer.values.into_iter().map(f64::from).collect();
        let values = SignalValues::rows(SignalSource::Activations, width, values)?;
        signals.insert(activations_of(&layer.layer), values);
    }
    Ok(signals)
}

/// The rows of every layer's gradient: the weights of one output, or one weight of a layer without a matrix.
struct GradientRows {
    /// For every layer with trained weights, the place and the length of its rows.
    layers: Vec<Vec<(usize, usize)>>,
}

impl GradientRows {
    fn of(layout: &Layout) -> Self {
        let mut layers = vec![Vec::new(); layout.groups()];
        let has_matrix = |group: usize| {
            layout.parameters().iter().any(|own| own.trainable && own.group == group && own.shape.len() > 1)
        };
        for (place, parameter) in layout.parameters().iter().enumerate().filter(|(_, own)| own.trainable) {
            let range = layout.gradient_range(place);
            let length = if parameter.shape.len() > 1 { parameter.shape[1..].iter().product() } else { 1 };
            if length > 1 || !has_matrix(parameter.group) {
                layers[parameter.group].extend(range.step_by(length.max(1)).map(|start| (start, length)));
            }
        }
        layers.retain(|rows| !rows.is_empty());
        Self { layers }
    }

    /// The norms of rows, the largest first.
    fn write(&self, gradient: &[f32], into: &mut [f64]) {
        let mut norms: Vec<f64> = Vec::new();
        for (rows, into) in self.layers.iter().zip(into.chunks_exact_mut(ROWS)) {
            norms.clear();
            norms.extend(rows.iter().map(|(start, length)| {
                let row = &gradient[*start..][..*length];
                product(row, row).sqrt()
            }));
            norms.sort_unstable_by(|a, b| b.total_cmp(a));
            let last = norms.len() - 1;
            into.iter_mut().enumerate().for_each(|(rank, into)| *into = norms[rank * last / (ROWS - 1)]);
        }
    }
}

/// The inner product in double precision.
fn product(left: &[f32], right: &[f32]) -> f64 {
    const LANES: usize = 8;
    let (of_left, of_right) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest = of_left.remainder().iter().zip(of_right.remainder());
    let mut sums = [0.0; LANES];
    for (left, right) in of_left.zip(of_right) {
        for ((sum, a), b) in sums.iter_mut().zip(left).zip(right) {
            *sum += f64::from(*a) * f64::from(*b);
        }
    }
    sums.iter().sum::<f64>() + rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
}

pub(super) fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { (above / below).clamp(-1.0, 1.0) } else { 0.0 }
}
