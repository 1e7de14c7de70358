//! A softmax regression, example by example: slow, simple, and with a frozen parameter.
#![allow(dead_code)]

use reticent_core::{Permit, Unlimited, charge};
use reticent_train::{
    ClippedSum, Clipping, Engine, Examples, Gradients, Inputs, Layout, OptimizerSettings, Parameter,
    PlanSettings, PrivacyPlan, Recipe, Resources, Schedule, Targets, TrainError, Trainer, Units,
    model_engine,
};
use std::sync::Arc;

pub(crate) struct Softmax {
    layout: Layout,
    features: usize,
    classes: usize,
    computes_together: bool,
}

impl Softmax {
    pub(crate) fn new(features: usize, classes: usize) -> Self {
        let parameter = |name: &str, shape: &[usize], trainable| Parameter {
            name: name.to_owned(),
            shape: shape.to_vec(),
            group: 0,
            trainable,
        };
        let layout = Layout::new(vec![
            parameter("frozen", &[3], false),
            parameter("0.weight", &[classes, features], true),
            parameter("0.bias", &[classes], true),
        ]);
        Self { layout, features, classes, computes_together: false }
    }

    fn scores(&self, weights: &[f32], input: &[f32]) -> Vec<f32> {
        let (matrix, bias) = (&weights[self.layout.weight_range(1)], &weights[self.layout.weight_range(2)]);
        let dot = |row: &[f32]| row.iter().zip(input).map(|(w, x)| w * x).sum::<f32>();
        matrix.chunks(self.features).zip(bias).map(|(row, bias)| dot(row) + bias).collect()
    }

    fn class(examples: &Examples, example: usize) -> usize {
        match examples.targets() {
            Targets::Classes(classes) => classes[example] as usize,
            Targets::Numbers(_) | Targets::Next(_) => 0,
        }
    }
}

impl Gradients for Softmax {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; self.layout.weights()])
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        if examples.shape() != [self.features] {
            return Err(TrainError::Shape(format!("{:?} instead of [{}]", examples.shape(), self.features)));
        }
        match (0..examples.len()).find(|e| Self::class(examples, *e) >= self.classes) {
            None => Ok(()),
            Some(example) => {
                Err(TrainError::Example { example, why: "its class is out of range".to_owned() })
            }
        }
    }

    fn separates_units(&self) -> bool {
        !self.computes_together
    }

    fn gradients(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        sink: &mut ClippedSum<'_>,
    ) -> Result<(), TrainError> {
        let mut input = vec![0.0; self.features];
        let selection = sink.selection();
        for unit in 0..selection.units() {
            let mut gradient = vec![0.0f32; self.layout.gradients()];
            for example in selection.unit(unit) {
                examples.read(*example, &mut input);
                let scores = self.scores(weights, &input);
                let most = scores.iter().copied().fold(f32::MIN, f32::max);
                let whole: f32 = scores.iter().map(|s| (s - most).exp()).sum();
                for class in 0..self.classes {
                    let own = if class == Self::class(examples, *example) { 1.0 } else { 0.0 };
                    let slope = (scores[class] - most).exp() / whole - own;
                    for (feature, x) in input.iter().enumerate() {
                        gradient[class * self.features + feature] += slope * x;
                    }
                    gradient[self.classes * self.features + class] += slope;
                }
            }
            sink.unit(unit, &gradient)?;
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        let mut input = vec![0.0; self.features];
        let mut outputs = Vec::new();
        for example in which {
            examples.read(*example, &mut input);
            outputs.extend(self.scores(weights, &input));
        }
        Ok(outputs)
    }
}

/// Three classes on a line of the plane: no randomness needed.
pub(crate) fn examples(count: usize) -> Arc<Examples> {
    let (mut inputs, mut classes) = (Vec::new(), Vec::new());
    for example in 0..count {
        let class = example % 3;
        let angle = class as f32 * 2.1 + (example as f32 * 0.618).fract() - 0.5;
        inputs.extend([angle.cos(), angle.sin()]);
        classes.push(class as u32);
    }
    Arc::new(Examples::new(&[2], Inputs::Real(inputs), Targets::Classes(classes)).unwrap())
}

pub(crate) fn settings(size: u64, rate: f64, steps: u64) -> PlanSettings {
    PlanSettings {
        neighboring: reticent_core::Neighboring::AddRemove,
        unit: "example".to_owned(),
        size,
        sampling_rate: rate,
        steps,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: 9,
        cyclic: None,
        growth: None,
    }
}

pub(crate) fn plan(size: u64, rate: f64, steps: u64) -> PrivacyPlan {
    PrivacyPlan::new(settings(size, rate, steps), 1.0, 1e-5).unwrap()
}

pub(crate) fn recipe() -> Recipe {
    Recipe {
        optimizer: OptimizerSettings::sgd(0.9),
        schedule: Schedule::constant(0.5),
        average: Some(0.9),
        denoise: None,
    }
}

pub(crate) fn model() -> Box<dyn Engine> {
    softmax(3)
}

/// The same without the promise that the units of a sample do not touch each other's last bits.
pub(crate) fn model_of_many() -> Box<dyn Engine> {
    let model = Softmax { computes_together: true, ..Softmax::new(2, 3) };
    model_engine(Box::new(model), Resources::SINGLE).unwrap()
}

/// A softmax regression in the plane with so many classes.
pub(crate) fn softmax(classes: usize) -> Box<dyn Engine> {
    model_engine(Box::new(Softmax::new(2, classes)), Resources::SINGLE).unwrap()
}

/// The right to all steps of a plan, from a record without a limit.
pub(crate) fn permit(plan: &PrivacyPlan) -> Permit {
    charge(&mut Unlimited::new(), &plan.charges().unwrap()).unwrap()
}

/// A private trainer in a session without limit.
pub(crate) fn private(
    model: Box<dyn Engine>,
    examples: Arc<Examples>,
    units: Units,
    plan: PrivacyPlan,
    recipe: Recipe,
) -> Result<Trainer, TrainError> {
    let permit = permit(&plan);
    Trainer::private(model, examples, units, plan, recipe, permit)
}
