use super::{Canaries, CanaryKind, Dirac};
use crate::AttackError;
use crate::learner::{Halt, NetworkTraining, network_outputs, permit_without_limit, take_steps};
use crate::population::classes_of;
use reticent_audit::{Membership, Signal};
use reticent_core::{Certificate, Neighboring};
use reticent_train::{Device, Engine, Resources, Trainer, TrainingTerms, Units, engine};

/// A finished run with canaries in it.
#[derive(Debug, Clone)]
pub struct CanaryRun {
    /// The canaries' scores beside their coins.
    pub membership: Membership,
    /// What the run claims; none without privacy.
    pub certificate: Option<Certificate>,
    /// How many canaries were randomised: the m of a one-run bound, whatever is left out later.
    pub canaries: usize,
    /// What a reader should know about the scores.
    pub notes: Vec<String>,
}

/// Trains once with the canaries whose coins say so, and scores all of them.
///
/// Mislabelled and blank canaries are scored by how far training lowered their loss, from the released weights. A gradient
/// canary is scored by w⁰ − w at its coordinate, from the last weights. With plain descent and a constant rate that is the
/// rate times the sum of all noisy mean gradients there, all that the run says about the canary; with momentum, decay,
/// a schedule or Adam it is a function of the weights still, and a bound from it holds, but it is weaker.
///
/// # Guarantee
/// None is made. Everything here is post-processing of the run's weights, so that a valid lower bound from these scores
/// and coins is one on the ε of the run, for units that are single examples under add-remove.
///
/// # Reference
/// Steinke, Nasr, Jagielski, *Privacy auditing with one (1) training run* (2023).
///
/// # Errors
/// [`AttackError::Invalid`] for a plan under replace-one, since a coin adds or leaves out, and for gradient canaries
/// without a plan; [`AttackError::Audit`] when all coins fell on one side; [`AttackError::Interrupted`]; what the network
/// refuses.
pub fn run(
    canaries: &Canaries,
    training: &NetworkTraining,
    device: Device,
    resources: Resources,
    halt: Halt<'_>,
) -> Result<CanaryRun, AttackError> {
    let NetworkTraining { description, terms, recipe } = training;
    if let TrainingTerms::Private(plan) = terms
        && plan.settings().neighboring != Neighboring::AddRemove
    {
        let remedy = "give an add-remove plan: a coin adds a canary or leaves it out";
        return Err(AttackError::invalid("neighboring", plan.settings().neighboring, remedy));
    }
    let (settings, examples) = (canaries.settings(), canaries.training()?);
    let network = engine(description, device, resources)?;
    network.check(canaries.planted())?;
    let layout = network.layout().clone();
    let coordinates = match settings.kind {
        CanaryKind::Dirac => Dirac::coordinates(&layout, settings.count, &settings.key)?,
        _ => Vec::new(),
    };
    let engine: Box<dyn Engine> = match (settings.kind, terms) {
        (CanaryKind::Dirac, TrainingTerms::NonPrivate(_)) => {
            let remedy = "give a plan: a gradient canary has the length of its clipping norm";
            return Err(AttackError::premise("terms", "non-private", remedy));
        }
        (CanaryKind::Dirac, TrainingTerms::Private(_)) => {
            let own: Vec<usize> = canaries.included().iter().map(|canary| coordinates[*canary]).collect();
            Box::new(Dirac::new(network, canaries.ordinary().len(), &own)?)
        }
        _ => network,
    };
    let units = Units::examples(examples.len());
    let mut trainer = match terms {
        TrainingTerms::Private(plan) => {
            let permit = permit_without_limit(plan)?;
            Trainer::private(engine, examples, units, plan.clone(), *recipe, permit)?
        }
        TrainingTerms::NonPrivate(baseline) => {
            Trainer::non_private(engine, examples, units, *baseline, *recipe)?
        }
    };
    let start = trainer.weights()?;
    take_steps(&mut trainer, halt)?;
    let mut notes = Vec::new();
    let scores = if settings.kind == CanaryKind::Dirac {
        if !is_plain(training) {
            notes.push("the optimiser is not plain descent at one rate: the scores are weaker".to_owned());
        }
        let end = trainer.weights()?;
        let moved = |coordinate: &usize| {
            let place = Dirac::weight_of(&layout, *coordinate);
            place.map_or(0.0, |place| f64::from(start[place]) - f64::from(end[place]))
        };
        coordinates.iter().map(moved).collect()
    } else {
        let end = trainer.final_weights()?;
        let labels = classes_of(canaries.planted())?;
        let sure = |weights: &[f32]| -> Result<Vec<f64>, AttackError> {
            let outputs = network_outputs(description, weights, canaries.planted(), device, resources)?;
            Ok(Signal::Loss.compute(&outputs, labels)?)
        };
        sure(&end)?.iter().zip(sure(&start)?).map(|(end, start)| end - start).collect()
    };
    Ok(CanaryRun {
        membership: Membership::new(scores, canaries.coins().to_vec())?,
        certificate: trainer.certificate()?,
        canaries: settings.count,
        notes,
    })
}

/// Whether the way of a weight is the sum of its gradients times one number.
fn is_plain(training: &NetworkTraining) -> bool {
    use reticent_train::{Decay, OptimizerSettings};
    let plain = OptimizerSettings::sgd(0.0);
    let schedule = training.recipe.schedule;
    training.recipe.optimizer == plain && schedule.warm_up == 0 && schedule.decay == Decay::Constant
}
