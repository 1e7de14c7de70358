//! Training, step by step.

mod aggregation;
mod contribution;
mod run;
mod share;
mod stop;
mod terms;

pub use aggregation::Aggregation;
pub use contribution::Contribution;
pub(crate) use share::{Sampling, Share};
pub use stop::StopCause;
pub use terms::{Baseline, Batching, Progress, Recipe, TrainingTerms};

use crate::adversarial::Adversary;
use crate::engine::Engine;
use crate::{Examples, Layout, PrivacyPlan, TrainError, Units};
use reticent_core::{Neighboring, Permit};
use reticent_data::keyed_hash;
use reticent_noise::entropy::Repeatable;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A model in training: an [`Aggregation`] together with all the examples, in one process. Everything about the run that is not a step
/// is a method of the aggregation.
///
/// # Guarantee
/// With a plan, everything this type gives out (weights, evaluations, checkpoints, progress) is covered by
/// [`certificate`](Aggregation::certificate), under the plan's neighbouring relation; see the crate's proof. [`step`](Self::step)
/// refuses to go beyond the plan's number of steps. How long a step takes is not covered.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
pub struct Trainer {
    aggregation: Aggregation,
    share: Share,
    /// The inference network that the model is trained against; never with a plan.
    adversary: Option<Box<Adversary>>,
}

impl Deref for Trainer {
    type Target = Aggregation;

    fn deref(&self) -> &Aggregation {
        &self.aggregation
    }
}

impl DerefMut for Trainer {
    fn deref_mut(&mut self) -> &mut Aggregation {
        &mut self.aggregation
    }
}

impl Trainer {
    /// A training with the guarantee of a plan, from the engine's own initial weights. The permit covers all its steps, as
    /// [`PrivacyPlan::charge`] gives one; a run that is resumed needs one as well.
    ///
    /// Without a permit there is no private trainer:
    ///
    /// ```compile_fail,E0061
    /// use reticent_train::{Engine, Examples, PrivacyPlan, Recipe, Trainer, Units};
    /// use std::sync::Arc;
    ///
    /// fn unpaid(engine: Box<dyn Engine>, examples: Arc<Examples>, plan: PrivacyPlan, recipe: Recipe) {
    ///     let units = Units::examples(examples.len());
    ///     let trainer = Trainer::private(engine, examples, units, plan, recipe);
    /// }
    /// ```
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the permit does not cover all steps, or was charged under another neighboring relation than the
    /// plan's; [`TrainError::Invalid`] when the units do not belong to the examples, the plan is for another number of weights or,
    /// with replace-one, of units; what the engine says about the examples; when there is no randomness.
    pub fn private(
        engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        units: Units,
        plan: PrivacyPlan,
        recipe: Recipe,
        permit: Permit,
    ) -> Result<Self, TrainError> {
        check_dimension(&plan, engine.layout())?;
        let settings = plan.settings();
        // With add-remove the true number is private, and nothing may depend on whether it is the declared one.
        if settings.neighboring == Neighboring::ReplaceOne && settings.size != units.len() as u64 {
            let remedy = format!("give the number of units there are, {}", units.len());
            return Err(TrainError::invalid("size", settings.size, remedy));
        }
        let sampling = match settings.cyclic {
            Some(own) => Sampling::cyclic(own, units.len())?,
            None => Sampling::staged(settings)?,
        };
        let clipping = settings.clipping.clone();
        let share = Share::new(&*engine, examples, units, sampling, Some(clipping))?;
        Ok(Self { aggregation: Aggregation::private(engine, plan, recipe, permit)?, share, adversary: None })
    }

    /// A training without any guarantee, for comparison.
    ///
    /// # Errors
    /// As [`private`](Self::private), and for batches without meaning.
    pub fn non_private(
        engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        units: Units,
        baseline: Baseline,
        recipe: Recipe,
    ) -> Result<Self, TrainError> {
        baseline.check(&units)?;
        let share = Share::new(&*engine, examples, units, Sampling::of(baseline.batches)?, None)?;
        let weights = engine.initial_weights()?;
        let terms = TrainingTerms::NonPrivate(baseline);
        Ok(Self {
            aggregation: Aggregation::new(engine, terms, recipe, None, &weights)?,
            share,
            adversary: None,
        })
    }

    /// A training without any guarantee whose initial weights and batches are a function of a key. On the same kind of
    /// machine, and with an engine on one thread, it ends in the same weights every time, to the last bit. It is not kept
    /// in a folder: it can be repeated.
    ///
    /// Nothing private can be trained this way: a plan's noise and samples come from the operating system's randomness.
    ///
    /// # Errors
    /// As [`non_private`](Self::non_private), and for a model that draws its initial weights itself.
    pub fn repeatable(
        engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        units: Units,
        baseline: Baseline,
        recipe: Recipe,
        key: &str,
    ) -> Result<Self, TrainError> {
        baseline.check(&units)?;
        let mut bits = repeatable_bits(key);
        let weights = engine.repeatable_weights(&mut bits)?;
        let sampling = Sampling::repeated(baseline.batches, bits)?;
        let share = Share::new(&*engine, examples, units, sampling, None)?;
        let terms = TrainingTerms::NonPrivate(baseline);
        let mut aggregation = Aggregation::new(engine, terms, recipe, None, &weights)?;
        aggregation.set_repeatable();
        Ok(Self { aggregation, share, adversary: None })
    }

    /// A training without any guarantee against an inference network, which learns to tell the examples from the references by the
    /// model's outputs. With a key everything is a function of it, as in [`repeatable`](Self::repeatable).
    ///
    /// # Guarantee
    /// None, whatever the strength: see [the module](crate::adversarial).
    ///
    /// # Reference
    /// Nasr, Shokri, Houmansadr, *Machine learning with membership privacy using adversarial regularization* (2018).
    ///
    /// # Errors
    /// [`TrainError::Invalid`] without adversarial settings, for a strength out of range, and for references that are too few; as
    /// [`non_private`](Self::non_private) and [`repeatable`](Self::repeatable).
    pub fn adversarial(
        mut engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        units: Units,
        baseline: Baseline,
        recipe: Recipe,
        references: Arc<Examples>,
        key: Option<&str>,
    ) -> Result<Self, TrainError> {
        let plain = Baseline { adversarial: None, ..baseline };
        plain.check(&units)?;
        let adversary = Adversary::new(&mut *engine, &examples, references, &baseline, key)?;
        let mut trainer = match key {
            Some(key) => Self::repeatable(engine, examples, units, plain, recipe, key)?,
            None => Self::non_private(engine, examples, units, plain, recipe)?,
        };
        trainer.aggregation.terms = TrainingTerms::NonPrivate(baseline);
        trainer.adversary = Some(Box::new(adversary));
        Ok(trainer)
    }

    /// How often the inference network of an adversarial training tells examples from references by the present weights: the mean of
    /// its hit rates on both. None for other trainings.
    ///
    /// # Guarantee
    /// None: it is an exact fact about the examples.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn inference_accuracy(&mut self) -> Result<Option<f64>, TrainError> {
        let Self { aggregation, share, adversary } = self;
        let found = adversary.as_mut().map(|own| own.accuracy(&mut *aggregation.engine, share.examples()));
        found.transpose()
    }

    /// One step: sample, clip and add up, add noise, divide by the step's public divisor, move the weights.
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps are taken or counted; what the engine refuses. The weights have not
    /// changed then.
    pub fn step(&mut self) -> Result<Progress, TrainError> {
        let Self { aggregation, share, adversary } = self;
        aggregation.check_unfinished()?;
        if let Some(clipping) = aggregation.step_clipping() {
            share.set_clipping(clipping);
        }
        let step = aggregation.next_step();
        share.set_step(step);
        let Aggregation { engine, noise, .. } = &mut *aggregation;
        match noise {
            // An adversary has no plan beside it, and so no noise.
            None if adversary.is_some() => {
                share.sample();
                let (examples, selection) = (share.examples(), share.selection());
                if let Some(adversary) = adversary {
                    let slopes = adversary.step(&mut **engine, examples, selection)?;
                    engine.sum_steered(examples, selection, &slopes)?;
                }
            }
            Some(noise) if !engine.draws_noise() => {
                let drawing = noise.begin();
                // A thread that cannot draw leaves it to the end of the drawing, which says why.
                share.sum_on(&mut **engine, &|| drawing.help().unwrap_or(()))?;
                drawing.finish()?;
            }
            Some(noise) => {
                engine.draw_noise(noise)?;
                share.sum_on(&mut **engine, &|| ())?;
            }
            None => share.sum_on(&mut **engine, &|| ())?,
        }
        let divisor = match &aggregation.terms {
            TrainingTerms::Private(plan) => plan.expected_batch(step),
            TrainingTerms::NonPrivate(baseline) => share.divisor(baseline),
        };
        aggregation.finish(divisor)
    }

    /// The units that are trained on.
    pub fn units(&self) -> &Units {
        self.share.units()
    }
}

/// The random bits of a training that is a function of a key.
pub(crate) fn repeatable_bits(key: &str) -> Box<Repeatable> {
    let word = |place: u64| keyed_hash(key, format!("training, word {place}").as_bytes());
    Box::new(Repeatable::new([word(0), word(1), word(2), word(3)]))
}

/// Refuses a plan for another number of weights.
fn check_dimension(plan: &PrivacyPlan, layout: &Layout) -> Result<(), TrainError> {
    let (planned, dimension) = (plan.settings().dimension, layout.gradients());
    if planned == dimension {
        return Ok(());
    }
    let remedy = format!("make the plan for the model's {dimension} trained weights");
    Err(TrainError::invalid("dimension", planned, remedy))
}
