//! The training step that is timed: the trainer's own.

use crate::network::Network;
use anyhow::Result;
use reticent_core::{Neighboring, Unlimited, charge};
use reticent_train::{
    Baseline, Batching, Clipping, Device, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe, Resources,
    Schedule, Trainer, Units, engine,
};
use std::sync::Arc;

/// More than there is time for.
const STEPS: u64 = 1_000_000;
/// The deviation of the noise on a step's sum, as for the peers.
const NOISE: f64 = 1.0;
/// The clipping norm. With a norm of 1, as for the peers, this noise would not give so many steps over the whole data a
/// finite epsilon, and the trainer would refuse; what a step computes is the same.
const CLIP: f64 = 1e-3;
const DELTA: f64 = 1e-5;
const RATE: f64 = 0.1;

/// A network in training on one batch: every example is in every step.
pub(crate) struct Steps {
    trainer: Trainer,
}

impl Steps {
    /// Everything up to the first step.
    pub(crate) fn new(network: Network, private: bool, threads: usize) -> Result<Self> {
        let resources = Resources { threads, chunk: None };
        let engine = engine(&network.description()?, Device::Cpu, resources)?;
        network.check(engine.layout())?;
        let dimension = engine.layout().gradients();
        let examples = Arc::new(network.examples()?);
        let units = Units::examples(examples.len());
        let recipe = Recipe {
            optimizer: OptimizerSettings::sgd(0.0),
            schedule: Schedule::constant(RATE),
            average: None,
            denoise: None,
        };
        let trainer = if private {
            let settings = PlanSettings {
                neighboring: Neighboring::AddRemove,
                unit: "example".to_owned(),
                size: examples.len() as u64,
                sampling_rate: 1.0,
                steps: STEPS,
                clipping: Clipping::Flat { norm: CLIP },
                dimension,
                cyclic: None,
                growth: None,
            };
            let plan = PrivacyPlan::new(settings, NOISE / CLIP, DELTA)?;
            let permit = charge(&mut Unlimited::new(), &plan.charges()?)?;
            Trainer::private(engine, examples, units, plan, recipe, permit)?
        } else {
            let baseline = Baseline::new(Batching::Poisson { rate: 1.0 }, STEPS);
            Trainer::non_private(engine, examples, units, baseline, recipe)?
        };
        Ok(Self { trainer })
    }

    /// One step.
    pub(crate) fn step(&mut self) -> Result<()> {
        self.trainer.step()?;
        Ok(())
    }
}
