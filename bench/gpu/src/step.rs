//! The training step that is timed: the trainer's own.

use crate::network::Network;
use anyhow::{Result, ensure};
use reticent_core::{Neighboring, Permit, Unlimited, charge};
use reticent_train::{
    Baseline, Batching, Clipping, Device, Examples, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe,
    Resources, Schedule, Trainer, Units, engine,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More than there is time for.
const STEPS: u64 = 1_000_000;
/// The deviation of the noise on a step's sum, as for the peers.
const NOISE: f64 = 1.0;
/// The clipping norm. With a norm of 1, as for the peers, this noise would not give so many steps over the whole data a
/// finite epsilon, and the trainer would refuse; what a step computes is the same.
const CLIP: f64 = 1e-3;
const DELTA: f64 = 1e-5;
const RATE: f64 = 0.1;

/// What is there before a device is asked for.
pub(crate) struct Prepared {
    network: Network,
    examples: Arc<Examples>,
    /// None without privacy.
    paid: Option<(PrivacyPlan, Permit)>,
}

/// How long the start took.
pub(crate) struct Start {
    /// Until the engine was there.
    pub(crate) engine: Duration,
    /// Until the weights after the first step were there.
    pub(crate) whole: Duration,
}

/// A network in training on one batch: every example is in every step.
pub(crate) struct Steps {
    trainer: Trainer,
}

impl Prepared {
    /// Examples and, with privacy, a plan that is paid for.
    pub(crate) fn new(network: Network, is_private: bool, batch: usize) -> Result<Self> {
        let known = network.examples()?;
        let which: Vec<usize> = (0..batch).map(|index| index % known.len()).collect();
        let examples = Arc::new(known.subset(&which));
        if !is_private {
            return Ok(Self { network, examples, paid: None });
        }
        let settings = PlanSettings {
            neighboring: Neighboring::AddRemove,
            unit: "example".to_owned(),
            size: batch as u64,
            sampling_rate: 1.0,
            steps: STEPS,
            clipping: Clipping::Flat { norm: CLIP },
            dimension: network.parameters(),
            cyclic: None,
            growth: None,
        };
        let plan = PrivacyPlan::new(settings, NOISE / CLIP, DELTA)?;
        let permit = charge(&mut Unlimited::new(), &plan.charges()?)?;
        Ok(Self { network, examples, paid: Some((plan, permit)) })
    }

    /// The first step on a device, and how long it took to get there.
    pub(crate) fn begin(self, device: Device, resources: Resources) -> Result<(Steps, Start)> {
        let description = self.network.description()?;
        let recipe = Recipe {
            optimizer: OptimizerSettings::sgd(0.0),
            schedule: Schedule::constant(RATE),
            average: None,
            denoise: None,
        };
        let units = Units::examples(self.examples.len());
        let begun = Instant::now();
        let engine = engine(&description, device, resources)?;
        let until_engine = begun.elapsed();
        self.network.check(engine.layout())?;
        let trainer = match self.paid {
            Some((plan, permit)) => Trainer::private(engine, self.examples, units, plan, recipe, permit)?,
            None => {
                let baseline = Baseline::new(Batching::Poisson { rate: 1.0 }, STEPS);
                Trainer::non_private(engine, self.examples, units, baseline, recipe)?
            }
        };
        let mut steps = Steps { trainer };
        steps.block(1)?;
        Ok((steps, Start { engine: until_engine, whole: begun.elapsed() }))
    }
}

impl Steps {
    /// The time for so many steps. A device works behind the caller; it has done them when the weights are there.
    pub(crate) fn block(&mut self, size: u64) -> Result<Duration> {
        let begun = Instant::now();
        for _ in 0..size {
            self.trainer.step()?;
        }
        let weights = self.trainer.weights()?;
        let taken = begun.elapsed();
        ensure!(weights.iter().all(|weight| weight.is_finite()), "a weight is not finite after a step");
        Ok(taken)
    }
}
