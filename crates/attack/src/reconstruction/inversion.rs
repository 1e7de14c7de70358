//! Gradient inversion: records whose gradient points where the observed one does.
//!
//! Minimized over the records x of a batch, each number held between 0 and 1, is
//!
//! ```text
//!  1 − cos(G(x), g) + α·V(x),     G(x) = ∇_θ L(x; θ),     V: mean total variation of images
//! ```
//!
//! by Adam on the sign of the gradient (Geiping, Bauermeister, Dröge, Moeller, *Inverting gradients: how easy is it to break privacy in
//! federated learning?*, 2020). The gradient of the cosine in x is ∇ₓ⟨G(x), v⟩ with v = g/(‖G‖‖g‖) − cos·G/‖G‖² held fixed. Since mixed
//! derivatives commute,
//!
//! ```text
//!  ∇ₓ⟨∇_θ L(x; θ), v⟩ = d/ds ∇ₓ L(x; θ + s·v) at s = 0,
//! ```
//!
//! so two gradients of the input at weights on both sides of θ are enough, and no second-order differentiation is needed. The error of
//! the central difference is of second order in the step; a test compares it with double precision.

use super::space::RecordSpace;
use crate::AttackError;
use crate::learner::Halt;
use reticent_data::keyed_hash;
use reticent_noise::entropy::{Bits, Repeatable};
use reticent_train::inspect::{Inspection, Inspector};
use reticent_train::{Examples, Inputs, Layout, Targets};

/// The step of the central difference, as a share of the norm of the weights: near the cube root of the precision of f32.
const STEP: f64 = 3e-3;

/// How gradients are inverted.
#[derive(Debug, Clone, PartialEq)]
pub struct InversionSettings {
    /// Steps of the optimizer.
    pub steps: usize,
    /// The learning rate for numbers from 0 to 1; it falls to a tenth after 3/8, 5/8 and 7/8 of the steps.
    pub rate: f64,
    /// The weight of total variation, for images.
    pub variation: f64,
    /// Starts: the first near the mean of the space, the others at random; the best objective is kept.
    pub starts: usize,
    /// What the starts depend on.
    pub key: String,
}

impl Default for InversionSettings {
    fn default() -> Self {
        Self { steps: 600, rate: 0.1, variation: 1e-2, starts: 2, key: "inversion".to_owned() }
    }
}

/// A network at fixed weights, whose gradients are inverted.
pub(super) struct Inversion<'a> {
    pub(super) inspector: &'a mut Inspector,
    pub(super) weights: &'a [f32],
    pub(super) space: &'a RecordSpace,
}

/// Records that were found, and what they come to.
struct Candidate {
    records: Vec<f32>,
    objective: f64,
}

/// What is minimized besides total variation, with its gradient.
type Misfit<'a, I> = &'a mut dyn FnMut(&mut I, &[f32]) -> Result<(f64, Vec<f64>), AttackError>;

impl Inversion<'_> {
    /// Records of these classes, from 0 to 1, whose mean gradient is like the observed one.
    pub(super) fn records(
        &mut self,
        gradient: &[f32],
        labels: &[u32],
        settings: &InversionSettings,
        halt: Halt<'_>,
    ) -> Result<Vec<f32>, AttackError> {
        self.best(labels, settings, halt, &mut |own, records| own.misfit(records, gradient, labels))
    }

    /// Records that the model takes for these classes most surely, from 0 to 1.
    pub(super) fn typical(
        &mut self,
        labels: &[u32],
        settings: &InversionSettings,
        halt: Halt<'_>,
    ) -> Result<Vec<f32>, AttackError> {
        self.best(labels, settings, halt, &mut |own, records| own.loss(records, labels))
    }

    /// The records of the start that ends with the smallest objective.
    fn best(
        &mut self,
        labels: &[u32],
        settings: &InversionSettings,
        halt: Halt<'_>,
        misfit: Misfit<'_, Self>,
    ) -> Result<Vec<f32>, AttackError> {
        let mut best: Option<Candidate> = None;
        for start in 0..settings.starts.max(1) {
            let records = self.start(labels.len(), start, &settings.key);
            let found = self.descend(records, settings, halt, misfit)?;
            if best.as_ref().is_none_or(|best| found.objective < best.objective) {
                best = Some(found);
            }
        }
        Ok(best.map(|best| best.records).unwrap_or_default())
    }

    /// The mean of the space with some noise, or uniform numbers.
    fn start(&self, batch: usize, start: usize, key: &str) -> Vec<f32> {
        let word = |place: usize| keyed_hash(key, format!("start {start}, word {place}").as_bytes());
        let mut bits = Repeatable::new([word(0), word(1), word(2), word(3)]);
        let mut uniform = || (bits.word() >> 40) as f32 / (1_u64 << 24) as f32;
        let each = self.space.mean().iter().cycle().take(batch * self.space.size());
        match start {
            0 => each.map(|mean| (mean + 0.1 * (uniform() - 0.5)).clamp(0.0, 1.0)).collect(),
            _ => each.map(|_| uniform()).collect(),
        }
    }

    fn descend(
        &mut self,
        mut records: Vec<f32>,
        settings: &InversionSettings,
        halt: Halt<'_>,
        misfit: Misfit<'_, Self>,
    ) -> Result<Candidate, AttackError> {
        let variation = if self.space.image().is_some() { settings.variation } else { 0.0 };
        let mut best = Candidate { records: records.clone(), objective: f64::INFINITY };
        let (mut first, mut second) = (vec![0.0_f64; records.len()], vec![0.0_f64; records.len()]);
        for step in 0..=settings.steps {
            if halt() {
                return Err(AttackError::Interrupted);
            }
            let (away, slopes) = misfit(self, &records)?;
            let (roughness, rough) = self.variation(&records);
            let objective = away + variation * roughness;
            if objective < best.objective {
                best = Candidate { records: records.clone(), objective };
            }
            let falls = [3, 5, 7].iter().filter(|eighth| 8 * step >= **eighth * settings.steps).count();
            let rate = settings.rate * 0.1_f64.powi(falls as i32);
            let (count, slopes) = (step as i32 + 1, slopes.iter().zip(rough));
            for (place, (slope, rough)) in slopes.enumerate() {
                let slope = slope + variation * rough;
                let sign = if slope == 0.0 { 0.0 } else { slope.signum() };
                first[place] = 0.9 * first[place] + 0.1 * sign;
                second[place] = 0.999 * second[place] + 0.001 * sign * sign;
                let mean = first[place] / (1.0 - 0.9_f64.powi(count));
                let spread = (second[place] / (1.0 - 0.999_f64.powi(count))).sqrt() + 1e-8;
                let moved = f64::from(records[place]) - rate * mean / spread;
                records[place] = moved.clamp(0.0, 1.0) as f32;
            }
        }
        Ok(best)
    }

    /// Records as the network reads them.
    fn examples(&self, records: &[f32], labels: &[u32]) -> Result<Examples, AttackError> {
        let inputs = Inputs::Real(self.space.input(records));
        Ok(Examples::new(self.space.shape(), inputs, Targets::Classes(labels.to_vec()))?)
    }

    /// The mean loss of the records as of these classes, and its gradient in the records.
    fn loss(&mut self, records: &[f32], labels: &[u32]) -> Result<(f64, Vec<f64>), AttackError> {
        let examples = self.examples(records, labels)?;
        let inspection = Inspection { losses: true, input_gradients: true, ..Inspection::default() };
        let all: Vec<usize> = (0..labels.len()).collect();
        let seen = self.inspector.inspect(self.weights, &examples, &all, &inspection)?;
        let batch = labels.len() as f64;
        let loss = seen.losses.unwrap_or_default().iter().sum::<f64>() / batch;
        let slopes = seen.input_gradients.unwrap_or_default().into_iter().zip(self.space.widths());
        Ok((loss, slopes.map(|(slope, width)| f64::from(slope) * f64::from(width) / batch).collect()))
    }

    /// 1 less the cosine of the records' gradient with the observed one, and its gradient in the records.
    fn misfit(
        &mut self,
        records: &[f32],
        gradient: &[f32],
        labels: &[u32],
    ) -> Result<(f64, Vec<f64>), AttackError> {
        let examples = self.examples(records, labels)?;
        let all: Vec<usize> = (0..labels.len()).collect();
        let own = self.inspector.mean_gradient(self.weights, &examples, &all)?;
        let (size, seen) = (norm(&own), norm(gradient));
        if size == 0.0 || seen == 0.0 {
            return Ok((1.0, vec![0.0; records.len()]));
        }
        let dot: f64 = own.iter().zip(gradient).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let cosine = dot / (size * seen);
        let towards = own.iter().zip(gradient).map(|(own, seen_value)| {
            f64::from(*seen_value) / (size * seen) - cosine * f64::from(*own) / (size * size)
        });
        let slopes = self.mixed(&examples, &all, &towards.collect::<Vec<_>>())?;
        let batch = labels.len() as f64;
        let scaled = slopes.iter().zip(self.space.widths());
        Ok((1.0 - cosine, scaled.map(|(slope, width)| -slope * f64::from(width) / batch).collect()))
    }

    /// ∇ₓ⟨∇_θ ℓ(x; θ), v⟩ of every example, by a central difference along v.
    pub(super) fn mixed(
        &mut self,
        examples: &Examples,
        which: &[usize],
        direction: &[f64],
    ) -> Result<Vec<f64>, AttackError> {
        let along = direction.iter().map(|value| value * value).sum::<f64>().sqrt();
        if along == 0.0 {
            return Ok(vec![0.0; which.len() * examples.size()]);
        }
        let step = STEP * norm(self.weights).max(1e-3) / along;
        let inspection = Inspection { input_gradients: true, ..Inspection::default() };
        let mut side = |step: f64| -> Result<Vec<f32>, AttackError> {
            let moved = moved(self.inspector.layout(), self.weights, direction, step);
            let seen = self.inspector.inspect(&moved, examples, which, &inspection)?;
            Ok(seen.input_gradients.unwrap_or_default())
        };
        let (above, below) = (side(step)?, side(-step)?);
        let slope = |(above, below): (&f32, &f32)| (f64::from(*above) - f64::from(*below)) / (2.0 * step);
        Ok(above.iter().zip(&below).map(slope).collect())
    }

    /// The mean of |differences| between neighbouring pixels, and its gradient; 0 for records that are not images.
    fn variation(&self, records: &[f32]) -> (f64, Vec<f64>) {
        let mut slopes = vec![0.0; records.len()];
        let Some([_, height, width]) = self.space.image() else { return (0.0, slopes) };
        let (mut total, scale) = (0.0, 1.0 / records.len() as f64);
        for plane in 0..records.len() / (height * width) {
            for pixel in 0..height * width {
                let place = plane * height * width + pixel;
                let right = (pixel % width + 1 < width).then_some(place + 1);
                let below = (pixel / width + 1 < height).then_some(place + width);
                for other in [right, below].into_iter().flatten() {
                    let difference = f64::from(records[other]) - f64::from(records[place]);
                    total += scale * difference.abs();
                    // Smooth near 0, so that flat parts stay flat.
                    let slope = scale * (difference / 0.01).clamp(-1.0, 1.0);
                    slopes[other] += slope;
                    slopes[place] -= slope;
                }
            }
        }
        (total, slopes)
    }
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt()
}

/// The weights, moved along a direction of the trained ones.
fn moved(layout: &Layout, weights: &[f32], direction: &[f64], step: f64) -> Vec<f32> {
    let mut moved = weights.to_vec();
    for parameter in 0..layout.parameters().len() {
        let along = &direction[layout.gradient_range(parameter)];
        let own = &mut moved[layout.weight_range(parameter)];
        own.iter_mut().zip(along).for_each(|(own, along)| *own = (f64::from(*own) + step * along) as f32);
    }
    moved
}
