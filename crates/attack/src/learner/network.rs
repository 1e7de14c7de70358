use super::{Halt, Learner};
use crate::AttackError;
use crate::population::classes_of;
use reticent_audit::{Outputs, OutputsKind};
use reticent_core::{Neighboring, Permit};
use reticent_noise::Session;
use reticent_train::digest::digest;
use reticent_train::{
    Description, Effort, Examples, Model, Network, PlanSettings, PrivacyPlan, Recipe, Terms, Trainer, Units,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Examples that go through a network at a time.
const CHUNK: usize = 512;

/// One model on one thread, so that its weights do not depend on what else runs.
pub(crate) const ALONE: Effort = Effort { threads: 1, chunk: None };

/// A network and how it is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTraining {
    /// The network in words.
    pub description: Description,
    /// A guarantee or none.
    pub terms: Terms,
    /// How gradients become weights.
    pub recipe: Recipe,
}

/// Described networks on the CPU.
///
/// Without a guarantee a network is a function of its records and its key, on the same kind of machine to the last
/// bit, unless it has dropout, which draws fresh numbers. With a plan it draws fresh samples and noise every time and cannot be repeated. A plan under add-remove is used as
/// it is; one under replace-one is made anew for the number of records, with the same noise multiplier and sampling rate.
#[derive(Debug, Clone)]
pub struct NetworkLearner {
    population: Arc<Examples>,
    training: NetworkTraining,
    identity: String,
    is_repeatable: bool,
}

impl NetworkLearner {
    /// Checks that the network can read the records.
    ///
    /// # Errors
    /// [`AttackError::Train`] when it cannot, or the recipe has no meaning; [`AttackError::Invalid`] when the targets are
    /// numbers.
    pub fn new(population: Arc<Examples>, training: NetworkTraining) -> Result<Self, AttackError> {
        classes_of(&population)?;
        training.recipe.check()?;
        let network = Network::new(training.description.clone(), ALONE)?;
        network.check(&population)?;
        if let Terms::Private(plan) = &training.terms {
            let (planned, dimension) = (plan.settings().dimension, network.layout().gradients());
            if planned != dimension {
                let remedy = format!("make the plan for the network's {dimension} trained weights");
                return Err(AttackError::invalid("dimension", planned, remedy));
            }
        }
        let identity = digest(&("network", &training, population.digest()));
        let is_repeatable = matches!(training.terms, Terms::NonPrivate(_)) && network.is_repeatable();
        Ok(Self { population, training, identity, is_repeatable })
    }

    /// The records.
    pub fn population(&self) -> &Arc<Examples> {
        &self.population
    }

    /// How networks are trained.
    pub fn training(&self) -> &NetworkTraining {
        &self.training
    }

    fn trainer(&self, inside: &[usize], key: &str) -> Result<Trainer, AttackError> {
        let examples = Arc::new(self.population.subset(inside));
        let units = Units::examples(inside.len());
        let NetworkTraining { description, terms, recipe } = &self.training;
        let network = Box::new(Network::new(description.clone(), ALONE)?);
        Ok(match terms {
            Terms::NonPrivate(baseline) if !self.is_repeatable => {
                Trainer::non_private(network, examples, units, *baseline, *recipe)?
            }
            Terms::NonPrivate(baseline) => {
                Trainer::repeatable(network, examples, units, *baseline, *recipe, key)?
            }
            Terms::Private(plan) => {
                let plan = plan_for(plan, inside.len())?;
                let permit = permit_without_limit(&plan)?;
                Trainer::private(network, examples, units, plan, *recipe, permit)?
            }
        })
    }
}

/// The right to all steps of a plan, in a session without limit: models that an attack trains are for the owner of the data
/// alone.
pub(crate) fn permit_without_limit(plan: &PrivacyPlan) -> Result<Permit, AttackError> {
    let PlanSettings { unit, neighboring, .. } = plan.settings();
    Ok(plan.charge(&mut Session::without_limit(unit, *neighboring)?)?)
}

/// The plan for so many units.
fn plan_for(plan: &PrivacyPlan, size: usize) -> Result<PrivacyPlan, AttackError> {
    let settings = plan.settings();
    if settings.neighboring == Neighboring::AddRemove || settings.size == size as u64 {
        return Ok(plan.clone());
    }
    let settings = PlanSettings { size: size as u64, ..settings.clone() };
    Ok(PrivacyPlan::new(settings, plan.noise_multiplier(), plan.delta().get())?)
}

impl Learner for NetworkLearner {
    fn records(&self) -> usize {
        self.population.len()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn fit(&self, inside: &[usize], key: &str, halt: Halt<'_>) -> Result<Outputs, AttackError> {
        let mut trainer = self.trainer(inside, key)?;
        take_steps(&mut trainer, halt)?;
        let weights = trainer.final_weights()?;
        network_outputs(&self.training.description, &weights, &self.population, ALONE)
    }
}

/// All steps of a training.
pub(crate) fn take_steps(trainer: &mut Trainer, halt: Halt<'_>) -> Result<(), AttackError> {
    while !trainer.is_finished() {
        if halt() {
            return Err(AttackError::Interrupted);
        }
        trainer.step()?;
    }
    Ok(())
}

/// What a trained network says about examples: logits.
///
/// # Errors
/// [`AttackError::Train`] when the weights or the examples do not fit the network; [`AttackError::Audit`] when an output
/// is not finite or there is only one per example.
pub fn network_outputs(
    description: &Description,
    weights: &[f32],
    examples: &Examples,
    effort: Effort,
) -> Result<Outputs, AttackError> {
    let mut network = Network::new(description.clone(), effort)?;
    let all: Vec<usize> = (0..examples.len()).collect();
    let mut values = Vec::new();
    for which in all.chunks(CHUNK * effort.threads) {
        values.extend(network.outputs(weights, examples, which)?);
    }
    let classes = values.len().checked_div(examples.len()).unwrap_or(0);
    Ok(Outputs::new(OutputsKind::Logits, classes, values)?)
}
