//! The gradient of a batch as an attacker sees it.

use crate::AttackError;
use crate::learner::permit_without_limit;
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_train::inspect::Inspector;
use reticent_train::{
    Clipping, Description, Device, Examples, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe, Resources,
    Schedule, Trainer, Units, engine,
};
use std::sync::Arc;

/// The learning rate at which the update of a private step is read off the weights: a power of two, large enough for the rounding of
/// the weights to be far below the gradient.
const RATE: f64 = 1024.0;

/// How the gradient of a batch is released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GradientRelease {
    /// The mean of the records' gradients, as a party of a federation without protection sends it.
    Exact,
    /// One step of private training on the batch: every record's gradient is clipped, and noise is added once to the sum.
    Private {
        /// ε of this step by itself, under add-remove.
        epsilon: f64,
        /// δ of this step.
        delta: f64,
        /// The clipping norm.
        norm: f64,
    },
}

impl std::fmt::Display for GradientRelease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact => f.write_str("exact gradient"),
            Self::Private { epsilon, delta, norm } => {
                write!(f, "clipped to {norm}, noise for ε = {epsilon} at δ = {delta:e}")
            }
        }
    }
}

/// The mean gradient of a batch in the trained weights, as it is released.
///
/// # Guarantee
/// None by itself: with [`GradientRelease::Private`] it is what one step of [`Trainer`] makes of the batch, at the stated ε and δ.
pub(super) fn observed(
    inspector: &mut Inspector,
    description: &Description,
    weights: &[f32],
    batch: &Examples,
    release: GradientRelease,
) -> Result<Vec<f32>, AttackError> {
    let GradientRelease::Private { epsilon, delta, norm } = release else {
        let all: Vec<usize> = (0..batch.len()).collect();
        return Ok(inspector.mean_gradient(weights, batch, &all)?);
    };
    let layout = inspector.layout();
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: batch.len() as u64,
        sampling_rate: 1.0,
        steps: 1,
        clipping: Clipping::Flat { norm },
        dimension: layout.gradients(),
        cyclic: None,
        growth: None,
    };
    let budget = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? };
    let plan = PrivacyPlan::target(settings, budget)?;
    let permit = permit_without_limit(&plan)?;
    let optimizer = OptimizerSettings::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };
    let recipe = Recipe { optimizer, schedule: Schedule::constant(RATE), average: None, denoise: None };
    let network = engine(description, Device::Cpu, Resources::SINGLE)?;
    let units = Units::examples(batch.len());
    let mut trainer = Trainer::private(network, Arc::new(batch.clone()), units, plan, recipe, permit)?;
    trainer.start_from(weights)?;
    trainer.step()?;
    let after = trainer.weights()?;
    let trained = layout.parameters().iter().enumerate().filter(|(_, own)| own.trainable);
    let update = |place: usize| f64::from(weights[place]) - f64::from(after[place]);
    Ok(trained
        .flat_map(|(own, _)| layout.weight_range(own))
        .map(|place| (update(place) / RATE) as f32)
        .collect())
}
