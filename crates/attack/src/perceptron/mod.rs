//! A small multilayer perceptron: what attacks learn with.
//!
//! Columns of the rows may be divided into components, each with layers of its own, whose outputs are joined into a trunk, as in
//! the attack network of Nasr, Shokri and Houmansadr (2019). It is trained with AdamW on one thread; initial weights, batches and
//! the held-out rows are functions of a key, so the same rows give the same network on the same kind of machine.
//!
//! # Guarantee
//! None: it is trained on records an attacker knows and keeps what it learns from them.

mod chain;
mod scale;
#[cfg(test)]
mod tests;

use crate::AttackError;
use chain::Chain;
use reticent_data::keyed_hash;
use reticent_noise::entropy::Repeatable;
use reticent_noise::sampler::uniform_below;
use reticent_train::optimizer::{Optimizer, OptimizerSettings, Segments, StepInput};
use scale::Scale;
use std::ops::Range;

/// Rows that go through the network at a time when it predicts.
const CHUNK: usize = 4096;

/// The most weights of a perceptron.
const MOST_WEIGHTS: usize = 1 << 28;

/// The activation function of hidden layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// max(x, 0).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// What is minimized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerceptronLoss {
    /// Half the squared error, summed over outputs. Targets are standardized column by column, so all of them count alike;
    /// predictions are on the scale of the targets.
    Squared,
    /// The log-loss of targets that are 0 or 1, summed over outputs; predictions are log-odds.
    Logistic,
}

/// Some of the columns, with layers of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerceptronComponent {
    /// The columns.
    pub columns: Range<usize>,
    /// The widths of the layers; none hands the columns to the trunk as they are.
    pub widths: Vec<usize>,
}

/// How a perceptron is built and trained.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceptronSettings {
    /// The components; none for all columns as they are.
    pub components: Vec<PerceptronComponent>,
    /// The widths of the hidden layers of the trunk.
    pub trunk: Vec<usize>,
    /// The activation function of all hidden layers.
    pub hidden: Hidden,
    /// What is minimized.
    pub loss: PerceptronLoss,
    /// The most passes over the rows.
    pub epochs: usize,
    /// Rows per step.
    pub batch: usize,
    /// The learning rate of AdamW.
    pub rate: f64,
    /// The weight decay of AdamW.
    pub weight_decay: f64,
    /// The share of the rows that training does not use and that decides when it stops; 0 for all epochs.
    pub held_out: f64,
    /// After so many epochs without a smaller loss on the held-out rows training stops; the weights with the smallest are kept.
    pub patience: usize,
    /// What initial weights, batches and held-out rows depend on.
    pub key: String,
}

impl Default for PerceptronSettings {
    fn default() -> Self {
        Self {
            components: Vec::new(),
            trunk: vec![64, 32],
            hidden: Hidden::Relu,
            loss: PerceptronLoss::Squared,
            epochs: 100,
            batch: 128,
            rate: 1e-3,
            weight_decay: 1e-3,
            held_out: 0.2,
            patience: 10,
            key: "perceptron".to_owned(),
        }
    }
}

impl PerceptronSettings {
    /// Checks the numbers against so many columns; the components with at least one.
    fn check(&self, columns: usize) -> Result<Vec<PerceptronComponent>, AttackError> {
        let Self { epochs, batch, rate, held_out, patience, .. } = self;
        if !(*held_out >= 0.0 && *held_out < 1.0) {
            return Err(AttackError::invalid("held_out", held_out, "give a share from 0 to below 1"));
        }
        if !(*rate > 0.0 && rate.is_finite()) {
            return Err(AttackError::invalid("rate", rate, "give a positive number"));
        }
        if [*epochs, *batch, *patience].contains(&0) {
            let value = format!("{epochs} epochs, {batch} rows per step, patience {patience}");
            return Err(AttackError::invalid("perceptron", value, "give at least 1 of each"));
        }
        let whole = || vec![PerceptronComponent { columns: 0..columns, widths: Vec::new() }];
        let components = if self.components.is_empty() { whole() } else { self.components.clone() };
        if let Some(odd) = components.iter().find(|own| own.columns.is_empty() || own.columns.end > columns) {
            let value = format!("columns {} to {}", odd.columns.start, odd.columns.end);
            return Err(AttackError::invalid(
                "components",
                value,
                format!("give some of the {columns} columns"),
            ));
        }
        if components.iter().flat_map(|own| &own.widths).chain(&self.trunk).any(|width| *width == 0) {
            return Err(AttackError::invalid("widths", 0, "give every layer at least one output"));
        }
        Ok(components)
    }
}

/// A trained perceptron.
#[derive(Debug, Clone)]
pub struct Perceptron {
    components: Vec<(Range<usize>, Chain)>,
    trunk: Chain,
    weights: Vec<f32>,
    inputs: Scale,
    targets: Scale,
    columns: usize,
}

/// What a forward pass leaves for the backward pass.
struct Trace {
    components: Vec<Vec<Vec<f32>>>,
    trunk: Vec<Vec<f32>>,
}

impl Perceptron {
    /// Learns to predict the targets, the same number for every row, from rows of so many columns. Columns are standardized.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for settings without meaning, shapes that do not fit each other, numbers that are not finite,
    /// and targets that do not fit the loss; [`AttackError::Train`] for a weight decay out of range.
    pub fn fit(
        rows: &[f32],
        columns: usize,
        targets: &[f32],
        settings: &PerceptronSettings,
    ) -> Result<Self, AttackError> {
        let count = check_rows(rows, columns)?;
        let components = settings.check(columns)?;
        if count == 0 || targets.is_empty() || !targets.len().is_multiple_of(count) {
            let remedy =
                format!("give at least one row, and the same number of targets for each of the {count} rows");
            return Err(AttackError::invalid("targets", targets.len(), remedy));
        }
        let fits = |target: &f32| match settings.loss {
            PerceptronLoss::Squared => target.is_finite(),
            PerceptronLoss::Logistic => [0.0, 1.0].contains(target),
        };
        if let Some(odd) = targets.iter().find(|target| !fits(target)) {
            return Err(AttackError::invalid(
                "targets",
                odd,
                "give finite numbers; 0 or 1 for the logistic loss",
            ));
        }
        let word = |place: u64| keyed_hash(&settings.key, format!("perceptron, word {place}").as_bytes());
        let mut bits = Repeatable::new([word(0), word(1), word(2), word(3)]);
        let mut order: Vec<usize> = (0..count).collect();
        shuffle(&mut order, &mut bits);
        let held = ((settings.held_out * count as f64) as usize).min(count - 1);
        let (held, mut order) = (order[..held].to_vec(), order[held..].to_vec());
        let outputs = targets.len() / count;
        let scale = match settings.loss {
            PerceptronLoss::Squared => Scale::of(targets, outputs, &order),
            PerceptronLoss::Logistic => Scale::none(outputs),
        };
        let mut own =
            Self::new(&components, settings, columns, (Scale::of(rows, columns, &order), scale), &mut bits)?;
        let (rows, targets) = (own.inputs.apply(rows), own.targets.apply(targets));
        let pick = |which: &[usize]| (gather(&rows, columns, which), gather(&targets, outputs, which));
        let held = pick(&held);
        let mut optimizer =
            Optimizer::new(OptimizerSettings::adamw(settings.weight_decay), own.weights.len())?;
        let segments = Segments::whole(own.weights.len());
        let mut sum = vec![0.0; own.weights.len()];
        let mut best = (f64::INFINITY, Vec::new(), 0);
        for epoch in 0..settings.epochs {
            shuffle(&mut order, &mut bits);
            for which in order.chunks(settings.batch) {
                let (rows, targets) = pick(which);
                sum.fill(0.0);
                own.add_gradient(&rows, &targets, which.len(), settings.loss, &mut sum);
                let input =
                    StepInput { rate: settings.rate, scale: 1.0 / which.len() as f64, noise_variance: None };
                optimizer.step(&mut own.weights, &segments, &sum, input);
            }
            if held.0.is_empty() {
                continue;
            }
            let loss = own.loss(&held.0, &held.1, settings.loss);
            if loss < best.0 {
                best = (loss, own.weights.clone(), epoch);
            } else if epoch - best.2 >= settings.patience {
                break;
            }
        }
        if best.0.is_finite() {
            own.weights = best.1;
        }
        match own.weights.iter().find(|weight| !weight.is_finite()) {
            None => Ok(own),
            Some(odd) => Err(AttackError::invalid("weights", odd, "training diverged: give a smaller rate")),
        }
    }

    /// An untrained network.
    fn new(
        components: &[PerceptronComponent],
        settings: &PerceptronSettings,
        columns: usize,
        (inputs, targets): (Scale, Scale),
        bits: &mut Repeatable,
    ) -> Result<Self, AttackError> {
        let outputs = targets.columns();
        let joined =
            components.iter().map(|own| own.widths.last().copied().unwrap_or(own.columns.len())).sum();
        let trunk_widths: Vec<usize> = settings.trunk.iter().copied().chain([outputs]).collect();
        let size = |inputs: usize, widths: &[usize]| {
            let before = [inputs].into_iter().chain(widths.iter().copied());
            before.zip(widths).fold(0_usize, |sum, (before, width)| {
                sum.saturating_add(before.saturating_add(1).saturating_mul(*width))
            })
        };
        let sizes = components.iter().map(|own| size(own.columns.len(), &own.widths));
        let total = sizes.chain([size(joined, &trunk_widths)]).fold(0, usize::saturating_add);
        if total > MOST_WEIGHTS {
            let remedy = format!("give narrower layers: at most {MOST_WEIGHTS} weights");
            return Err(AttackError::invalid("perceptron", format!("{total} weights"), remedy));
        }
        let (mut weights, hidden) = (Vec::with_capacity(total), settings.hidden);
        let mut chain = |own: &PerceptronComponent| {
            let layers = Chain::new(own.columns.len(), &own.widths, hidden, false, &mut weights, bits);
            (own.columns.clone(), layers)
        };
        let components = components.iter().map(&mut chain).collect();
        let trunk = Chain::new(joined, &trunk_widths, hidden, true, &mut weights, bits);
        Ok(Self { components, trunk, weights, inputs, targets, columns })
    }

    /// The prediction for every row: as many numbers as a row had targets.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for other columns than those learned from and for numbers that are not finite.
    pub fn predict(&self, rows: &[f32]) -> Result<Vec<f32>, AttackError> {
        let mut found = self.outputs_of(rows, |trace| trace.trunk.pop())?;
        self.targets.undo(&mut found);
        Ok(found)
    }

    /// The outputs of the narrowest hidden layer of the trunk for every row: the code of an autoencoder.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn encode(&self, rows: &[f32]) -> Result<Vec<f32>, AttackError> {
        let layer = self.trunk.narrowest();
        self.outputs_of(rows, |trace| Some(trace.trunk.swap_remove(layer)))
    }

    /// What is taken from the passes of all rows, one after the other.
    fn outputs_of(
        &self,
        rows: &[f32],
        taken: impl Fn(&mut Trace) -> Option<Vec<f32>>,
    ) -> Result<Vec<f32>, AttackError> {
        check_rows(rows, self.columns)?;
        let mut found = Vec::new();
        for chunk in rows.chunks(CHUNK * self.columns) {
            let mut trace = self.forward(&self.inputs.apply(chunk), chunk.len() / self.columns);
            found.extend(taken(&mut trace).unwrap_or_default());
        }
        Ok(found)
    }

    /// Through all layers, for so many standardized rows.
    fn forward(&self, rows: &[f32], count: usize) -> Trace {
        let component = |(columns, chain): &(Range<usize>, Chain)| {
            let own =
                rows.chunks_exact(self.columns).flat_map(|row| &row[columns.clone()]).copied().collect();
            chain.forward(&self.weights, own, count)
        };
        let components: Vec<Vec<Vec<f32>>> = self.components.iter().map(component).collect();
        let mut joined = Vec::new();
        for row in 0..count {
            for ((_, chain), values) in self.components.iter().zip(&components) {
                let width = chain.outputs();
                joined.extend(values.last().into_iter().flat_map(|own| &own[row * width..][..width]));
            }
        }
        Trace { trunk: self.trunk.forward(&self.weights, joined, count), components }
    }

    /// Adds the gradient of the loss of some rows.
    fn add_gradient(
        &self,
        rows: &[f32],
        targets: &[f32],
        count: usize,
        loss: PerceptronLoss,
        sum: &mut [f32],
    ) {
        let trace = self.forward(rows, count);
        let slope = |(output, target): (&f32, &f32)| match loss {
            PerceptronLoss::Squared => output - target,
            PerceptronLoss::Logistic => 1.0 / (1.0 + libm::expf(-output)) - target,
        };
        let outputs = trace.trunk.last().into_iter().flatten();
        let slopes = outputs.zip(targets).map(slope).collect();
        let joined = self.trunk.backward(&self.weights, &trace.trunk, slopes, sum);
        let width = joined.len() / count.max(1);
        let mut start = 0;
        for ((_, chain), values) in self.components.iter().zip(&trace.components) {
            let own = chain.outputs();
            if values.len() > 1 {
                let slopes =
                    joined.chunks_exact(width).flat_map(|row| &row[start..start + own]).copied().collect();
                chain.backward(&self.weights, values, slopes, sum);
            }
            start += own;
        }
    }

    /// The mean loss of standardized rows.
    fn loss(&self, rows: &[f32], targets: &[f32], loss: PerceptronLoss) -> f64 {
        let outputs = self.targets.columns();
        let each = |(output, target): (f32, &f32)| match loss {
            PerceptronLoss::Squared => 0.5 * f64::from(output - target).powi(2),
            PerceptronLoss::Logistic => {
                let away = f64::from(output) * if *target > 0.5 { -1.0 } else { 1.0 };
                away.max(0.0) + libm::log1p(libm::exp(-away.abs()))
            }
        };
        let chunks = rows.chunks(CHUNK * self.columns).zip(targets.chunks(CHUNK * outputs));
        let total: f64 = chunks
            .map(|(rows, targets)| {
                let said = self.forward(rows, rows.len() / self.columns).trunk.pop().unwrap_or_default();
                said.into_iter().zip(targets).map(each).sum::<f64>()
            })
            .sum();
        total / targets.len() as f64
    }
}

/// How many rows there are.
fn check_rows(rows: &[f32], columns: usize) -> Result<usize, AttackError> {
    if columns == 0 || !rows.len().is_multiple_of(columns) {
        let remedy = format!("give {columns} numbers for every row, at least one");
        return Err(AttackError::invalid("rows", format!("{} numbers", rows.len()), remedy));
    }
    match rows.iter().find(|value| !value.is_finite()) {
        None => Ok(rows.len() / columns),
        Some(odd) => Err(AttackError::invalid("rows", odd, "give finite numbers")),
    }
}

/// Some rows, one after the other.
fn gather(rows: &[f32], columns: usize, which: &[usize]) -> Vec<f32> {
    which.iter().flat_map(|row| &rows[row * columns..][..columns]).copied().collect()
}

/// Puts places in a random order.
fn shuffle(order: &mut [usize], bits: &mut Repeatable) {
    for last in (1..order.len()).rev() {
        order.swap(last, uniform_below(bits, last as u64 + 1) as usize);
    }
}
