use super::gradients::inspected;
use super::labels::robustness;
use super::{Artifact, ArtifactPart, Halt, LOSS_TRAJECTORY, Learner, Snapshot, Wanted};
use crate::AttackError;
use crate::population::classes_of;
use reticent_audit::{Outputs, OutputsKind, Signal, SignalSource, SignalValues, Signals};
use reticent_core::{Neighboring, Permit};
use reticent_noise::NoiseSession;
use reticent_train::digest::digest;
use reticent_train::graph::Graph;
use reticent_train::{
    Description, Device, Examples, PlanSettings, PrivacyPlan, Recipe, Resources, Trainer, TrainingTerms,
    Units, Weights, engine,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Examples that go through a network at a time, on each thread.
const CHUNK: usize = 512;

/// Examples that go through a network at a time on a GPU, which divides them by its own memory.
const DEVICE_CHUNK: usize = 1 << 16;

/// One model on one thread, so that its weights do not depend on what else runs.
pub(crate) const ALONE: Resources = Resources::SINGLE;

/// A network and how it is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTraining {
    /// The network in words.
    pub description: Description,
    /// A guarantee or none.
    pub terms: TrainingTerms,
    /// How gradients become weights.
    pub recipe: Recipe,
}

/// Described networks.
///
/// Without a guarantee a network is a function of its records and its key, on the same kind of machine to the last
/// bit, unless it has dropout, which draws fresh numbers, or is computed on a GPU, which adds in another order every time. With a plan it draws fresh samples and noise every time and cannot be repeated. A plan under add-remove is used as
/// it is; one under replace-one is made anew for the number of records, with the same noise multiplier and sampling rate.
#[derive(Debug, Clone)]
pub struct NetworkLearner {
    population: Arc<Examples>,
    training: NetworkTraining,
    identity: String,
    is_repeatable: bool,
    /// The reference records of an adversarial training.
    references: Option<Arc<Examples>>,
    device: Device,
    resources: Resources,
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
        let graph = Graph::new(&training.description)?;
        graph.check(&population)?;
        check_plan(&training.terms, &graph)?;
        let identity = digest(&("network", &training, population.digest()));
        let is_repeatable = matches!(training.terms, TrainingTerms::NonPrivate(_)) && graph.is_repeatable();
        let (device, resources) = (Device::Cpu, ALONE);
        Ok(Self { population, training, identity, is_repeatable, references: None, device, resources })
    }

    /// The same with the reference records of an adversarial training, which are in none of the models: each is trained against an
    /// inference network of its own that learns from them.
    #[must_use]
    pub fn against(self, references: Arc<Examples>) -> Self {
        let identity = digest(&("against", &self.identity, references.digest()));
        Self { references: Some(references), identity, ..self }
    }

    /// The same on a device, so many examples at once or as many as fit. Each model opens it for itself, so several are trained on
    /// one GPU at the same time. Models have the same name on every device: they are of one kind, and some of them may be trained
    /// here and others there.
    #[must_use]
    pub fn computed_on(self, device: Device, chunk: Option<usize>) -> Self {
        let is_repeatable = self.is_repeatable && device == Device::Cpu;
        Self { device, resources: Resources { chunk, ..ALONE }, is_repeatable, ..self }
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
        let key = self.is_repeatable.then_some(key);
        let NetworkTraining { description, terms, recipe } = &self.training;
        if let TrainingTerms::NonPrivate(baseline) = terms
            && baseline.adversarial.is_some()
        {
            let Some(references) = self.references.clone() else {
                let remedy = "give the reference records of the adversarial training";
                return Err(AttackError::invalid("references", "none", remedy));
            };
            let network = engine(description, self.device, self.resources)?;
            return Ok(Trainer::adversarial(network, examples, units, *baseline, *recipe, references, key)?);
        }
        start(&self.training, examples, units, (self.device, self.resources), key)
    }
}

/// Refuses a plan for another number of weights.
pub(super) fn check_plan(terms: &TrainingTerms, graph: &Graph) -> Result<(), AttackError> {
    let TrainingTerms::Private(plan) = terms else { return Ok(()) };
    let (planned, dimension) = (plan.settings().dimension, graph.layout().gradients());
    if planned != dimension {
        let remedy = format!("make the plan for the network's {dimension} trained weights");
        return Err(AttackError::invalid("dimension", planned, remedy));
    }
    Ok(())
}

/// The beginning of a training on these examples: repeatable with a key, else with fresh randomness.
pub(crate) fn start(
    training: &NetworkTraining,
    examples: Arc<Examples>,
    units: Units,
    (device, resources): (Device, Resources),
    key: Option<&str>,
) -> Result<Trainer, AttackError> {
    let NetworkTraining { description, terms, recipe } = training;
    if matches!(terms, TrainingTerms::NonPrivate(baseline) if baseline.adversarial.is_some()) {
        let remedy = "such models are not trained against an inference network: leave it out";
        return Err(AttackError::premise("adversarial", "given", remedy));
    }
    let network = engine(description, device, resources)?;
    Ok(match (terms, key) {
        (TrainingTerms::NonPrivate(baseline), None) => {
            Trainer::non_private(network, examples, units, *baseline, *recipe)?
        }
        (TrainingTerms::NonPrivate(baseline), Some(key)) => {
            Trainer::repeatable(network, examples, units, *baseline, *recipe, key)?
        }
        (TrainingTerms::Private(plan), _) => {
            let plan = plan_for(plan, units.len())?;
            let permit = permit_without_limit(&plan)?;
            Trainer::private(network, examples, units, plan, *recipe, permit)?
        }
    })
}

/// The right to all steps of a plan, in a session without limit: models that an attack trains are for the owner of the data
/// alone.
pub(crate) fn permit_without_limit(plan: &PrivacyPlan) -> Result<Permit, AttackError> {
    let PlanSettings { unit, neighboring, .. } = plan.settings();
    Ok(plan.charge(&mut NoiseSession::without_limit(unit, *neighboring)?)?)
}

/// The plan for so many units.
fn plan_for(plan: &PrivacyPlan, size: usize) -> Result<PrivacyPlan, AttackError> {
    let settings = plan.settings();
    if settings.neighboring == Neighboring::AddRemove || settings.size == size as u64 {
        return Ok(plan.clone());
    }
    let settings = PlanSettings { size: size as u64, ..settings.clone() };
    Ok(PrivacyPlan::with_law(settings, plan.law(), plan.noise_multiplier(), plan.delta().get())?)
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

    fn kind(&self) -> &'static str {
        "networks"
    }

    fn offers(&self, _part: ArtifactPart) -> bool {
        true
    }

    fn fit(
        &self,
        inside: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        self.fitted(inside, &self.population, key, wanted, halt)
    }

    fn fit_about(
        &self,
        inside: &[usize],
        asked: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        self.fitted(inside, &self.population.subset(asked), key, wanted, halt)
    }
}

impl NetworkLearner {
    /// Trains on some records, and asks about examples.
    fn fitted(
        &self,
        inside: &[usize],
        asked: &Examples,
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        wanted.check(self)?;
        let mut trainer = self.trainer(inside, key)?;
        if let Some(late) = wanted.snapshots.iter().find(|step| **step > trainer.steps()) {
            let remedy = format!("give steps up to {}, the last one of the training", trainer.steps());
            return Err(AttackError::invalid("snapshots", late, remedy));
        }
        let mut snapshots = Vec::with_capacity(wanted.snapshots.len());
        for step in &wanted.snapshots {
            steps_to(&mut trainer, *step, halt)?;
            let weights = trainer.final_weights()?;
            let outputs = self.outputs(&weights, asked)?;
            snapshots.push(Snapshot { step: *step, weights, outputs });
        }
        take_steps(&mut trainer, halt)?;
        let weights = trainer.final_weights()?;
        let outputs = Some(self.outputs(&weights, asked)?);
        let signals = trajectory(asked, &snapshots, self.inspected(&weights, asked, wanted)?)?;
        Ok(Artifact { outputs, weights: wanted.weights.then_some(weights), signals, snapshots })
    }

    /// What a network says about examples.
    fn outputs(&self, weights: &[f32], asked: &Examples) -> Result<Outputs, AttackError> {
        network_outputs(&self.training.description, weights, asked, self.device, self.resources)
    }

    /// What a network that was trained elsewhere gives, such as a stored target: everything that follows from its weights.
    ///
    /// # Errors
    /// [`AttackError::NotOffered`] when snapshots are wanted, which weights do not have; otherwise as [`Learner::fit`].
    pub fn artifact(&self, weights: Vec<f32>, wanted: &Wanted) -> Result<Artifact, AttackError> {
        wanted.check(self)?;
        if !wanted.snapshots.is_empty() {
            let learner = "networks that are already trained";
            return Err(AttackError::NotOffered { part: ArtifactPart::Snapshots, learner });
        }
        let outputs = Some(self.outputs(&weights, &self.population)?);
        let signals = self.inspected(&weights, &self.population, wanted)?;
        let weights = wanted.weights.then_some(weights);
        Ok(Artifact { outputs, weights, signals, snapshots: Vec::new() })
    }

    /// Signals of gradients, activations and noisy copies at every example.
    fn inspected(&self, weights: &[f32], asked: &Examples, wanted: &Wanted) -> Result<Signals, AttackError> {
        let description = &self.training.description;
        let found = inspected(description, weights, asked, wanted, ALONE)?;
        if !wanted.labels {
            return Ok(found);
        }
        Ok(found.and(robustness(description, weights, asked, self.device, self.resources)?))
    }
}

/// Adds the log-probability of the true class of every example at every snapshot; nothing without snapshots.
fn trajectory(asked: &Examples, snapshots: &[Snapshot], signals: Signals) -> Result<Signals, AttackError> {
    if snapshots.is_empty() {
        return Ok(signals);
    }
    let labels = classes_of(asked)?;
    let losses: Vec<Vec<f64>> = snapshots
        .iter()
        .map(|snapshot| Signal::Loss.compute(&snapshot.outputs, labels))
        .collect::<Result<_, _>>()?;
    let row = |record: usize| losses.iter().map(move |loss| loss[record]);
    let values = (0..labels.len()).flat_map(row).collect();
    let values = SignalValues::rows(SignalSource::Snapshots, snapshots.len(), values)?;
    Ok(signals.with(LOSS_TRAJECTORY, values))
}

/// All steps of a training that are left.
pub(crate) fn take_steps(trainer: &mut Trainer, halt: Halt<'_>) -> Result<(), AttackError> {
    steps_to(trainer, u64::MAX, halt)
}

/// The steps of a training up to a number.
fn steps_to(trainer: &mut Trainer, last: u64, halt: Halt<'_>) -> Result<(), AttackError> {
    while !trainer.is_finished() && trainer.progress().taken < last {
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
    device: Device,
    resources: Resources,
) -> Result<Outputs, AttackError> {
    let mut network = engine(description, device, resources)?;
    network.load_weights(weights)?;
    let all: Vec<usize> = (0..examples.len()).collect();
    let mut values = Vec::new();
    let most = if device == Device::Cpu { CHUNK * resources.threads } else { DEVICE_CHUNK };
    for which in all.chunks(most) {
        values.extend(network.outputs(Weights::Current, examples, which)?);
    }
    let classes = values.len().checked_div(examples.len()).unwrap_or(0);
    Ok(Outputs::new(OutputsKind::Logits, classes, values)?)
}
