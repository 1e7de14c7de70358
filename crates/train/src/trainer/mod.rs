//! Training, step by step.

mod run;
mod stop;
mod terms;

pub use stop::StopCause;
pub use terms::{Baseline, Batches, Progress, Recipe, Terms};

use crate::average::Average;
use crate::checkpoint::Ledger;
use crate::evaluate::{Evaluation, evaluate};
use crate::noise::StepNoise;
use crate::optimizer::{Optimizer, Segments, StepInput};
use crate::sampler::{PoissonSampler, Repeated, Shuffler, Units};
use crate::{Examples, Layout, Model, PrivacyPlan, Selection, TrainError};
use reticent_core::{Certificate, Epsilon, Neighboring, Permit, SamplingRate};
use reticent_data::keyed_hash;
use reticent_noise::entropy::Repeatable;
use reticent_noise::{Entropy, NoiseError};
use std::sync::Arc;
use std::time::Instant;

/// Where the units of a step come from. What is private draws from [`Entropy`] and from nothing else.
enum Source {
    Private { sampler: PoissonSampler, noise: Box<StepNoise>, entropy: Box<Entropy> },
    Poisson { sampler: PoissonSampler, expected: f64, entropy: Box<Entropy> },
    Shuffled { shuffler: Shuffler, entropy: Box<Entropy> },
    Repeated(Box<Repeatable>, Batch),
}

/// The batches of a training that can be repeated.
enum Batch {
    Poisson { sampler: Repeated, expected: f64 },
    Shuffled(Shuffler),
}

impl Source {
    fn sample(&mut self, units: &Units, selection: &mut Selection) {
        match self {
            Self::Private { sampler, entropy, .. } | Self::Poisson { sampler, entropy, .. } => {
                sampler.sample(units, entropy, selection);
            }
            Self::Shuffled { shuffler, entropy } => shuffler.sample(units, &mut **entropy, selection),
            Self::Repeated(bits, Batch::Poisson { sampler, .. }) => sampler.sample(units, bits, selection),
            Self::Repeated(bits, Batch::Shuffled(shuffler)) => shuffler.sample(units, &mut **bits, selection),
        }
    }

    /// The expected number of units, where the mean is over it.
    fn expected(&self) -> Option<f64> {
        match self {
            Self::Poisson { expected, .. } | Self::Repeated(_, Batch::Poisson { expected, .. }) => {
                Some(*expected)
            }
            _ => None,
        }
    }
}

/// A model in training.
///
/// # Guarantee
/// With a plan, everything this type gives out (weights, evaluations, checkpoints, progress) is covered by
/// [`certificate`](Self::certificate), under the plan's neighbouring relation; see the crate's proof. [`step`](Self::step)
/// refuses to go beyond the plan's number of steps. How long a step takes is not covered.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
pub struct Trainer {
    model: Box<dyn Model>,
    layout: Layout,
    segments: Segments,
    examples: Arc<Examples>,
    units: Units,
    terms: Terms,
    recipe: Recipe,
    source: Source,
    selection: Selection,
    weights: Vec<f32>,
    sum: Vec<f32>,
    optimizer: Optimizer,
    average: Option<Average>,
    taken: u64,
    counted: u64,
    ledger: Option<Ledger>,
    /// Why the run ended before its last step, if it did.
    stopped: Option<StopCause>,
    started: Instant,
}

impl Trainer {
    /// A training with the guarantee of a plan, from the model's own initial weights. The permit covers all its steps, as
    /// [`PrivacyPlan::charge`] gives one; a run that is resumed needs one as well.
    ///
    /// Without a permit there is no private trainer:
    ///
    /// ```compile_fail,E0061
    /// use reticent_train::{Examples, Model, PrivacyPlan, Recipe, Trainer, Units};
    /// use std::sync::Arc;
    ///
    /// fn unpaid(model: Box<dyn Model>, examples: Arc<Examples>, plan: PrivacyPlan, recipe: Recipe) {
    ///     let units = Units::examples(examples.len());
    ///     let trainer = Trainer::private(model, examples, units, plan, recipe);
    /// }
    /// ```
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the permit does not cover all steps, or was charged under another neighboring relation than the
    /// plan's; [`TrainError::Invalid`] when the units do not belong to the examples, the plan is for another number of weights or,
    /// with replace-one, of units; what the model says about the examples; when there is no randomness.
    pub fn private(
        model: Box<dyn Model>,
        examples: Arc<Examples>,
        units: Units,
        plan: PrivacyPlan,
        recipe: Recipe,
        mut permit: Permit,
    ) -> Result<Self, TrainError> {
        let (dimension, settings) = (model.layout().gradients(), plan.settings());
        if settings.dimension != dimension {
            let remedy = format!("make the plan for the model's {dimension} trained weights");
            return Err(TrainError::invalid("dimension", settings.dimension, remedy));
        }
        // With add-remove the true number is private, and nothing may depend on whether it is the declared one.
        if settings.neighboring == Neighboring::ReplaceOne && settings.size != units.len() as u64 {
            let remedy = format!("give the number of units there are, {}", units.len());
            return Err(TrainError::invalid("size", settings.size, remedy));
        }
        if let Some(session) = permit.neighboring().filter(|own| *own != settings.neighboring) {
            return Err(NoiseError::Relation { session, asked: settings.neighboring }.into());
        }
        let sampler = PoissonSampler::new(SamplingRate::new(settings.sampling_rate)?)?;
        let noise = Box::new(StepNoise::new(*plan.noise(), &mut permit, &plan.whole())?);
        let entropy = Box::new(Entropy::new()?);
        let weights = model.initial_weights()?;
        let source = Source::Private { sampler, noise, entropy };
        Self::new(model, examples, units, Terms::Private(plan), recipe, source, weights)
    }

    /// A training without any guarantee, for comparison.
    ///
    /// # Errors
    /// As [`private`](Self::private), and for batches without meaning.
    pub fn non_private(
        model: Box<dyn Model>,
        examples: Arc<Examples>,
        units: Units,
        baseline: Baseline,
        recipe: Recipe,
    ) -> Result<Self, TrainError> {
        baseline.check(&units)?;
        let entropy = Box::new(Entropy::new()?);
        let source = match baseline.batches {
            Batches::Shuffled { size } => Source::Shuffled { shuffler: Shuffler::new(size), entropy },
            Batches::Poisson { rate } => Source::Poisson {
                sampler: PoissonSampler::new(SamplingRate::new(rate)?)?,
                expected: rate * units.len() as f64,
                entropy,
            },
        };
        let weights = model.initial_weights()?;
        Self::new(model, examples, units, Terms::NonPrivate(baseline), recipe, source, weights)
    }

    /// A training without any guarantee whose starting weights and batches are a function of a key. On the same kind of
    /// machine, and with a model on one thread, it ends in the same weights every time, to the last bit. It is not kept
    /// in a folder: it can be repeated.
    ///
    /// Nothing private can be trained so. A plan's noise and samples come from the operating system's randomness.
    ///
    /// # Errors
    /// As [`non_private`](Self::non_private), and for a model that draws its starting weights by itself.
    pub fn repeatable(
        model: Box<dyn Model>,
        examples: Arc<Examples>,
        units: Units,
        baseline: Baseline,
        recipe: Recipe,
        key: &str,
    ) -> Result<Self, TrainError> {
        baseline.check(&units)?;
        let word = |place: u64| keyed_hash(key, format!("training, word {place}").as_bytes());
        let mut bits = Box::new(Repeatable::new([word(0), word(1), word(2), word(3)]));
        let weights = model.repeatable_weights(&mut bits)?;
        let batch = match baseline.batches {
            Batches::Shuffled { size } => Batch::Shuffled(Shuffler::new(size)),
            Batches::Poisson { rate } => Batch::Poisson {
                sampler: Repeated::new(SamplingRate::new(rate)?),
                expected: rate * units.len() as f64,
            },
        };
        let source = Source::Repeated(bits, batch);
        Self::new(model, examples, units, Terms::NonPrivate(baseline), recipe, source, weights)
    }

    fn new(
        model: Box<dyn Model>,
        examples: Arc<Examples>,
        units: Units,
        terms: Terms,
        recipe: Recipe,
        source: Source,
        weights: Vec<f32>,
    ) -> Result<Self, TrainError> {
        recipe.check()?;
        if units.example_count() != examples.len() {
            let remedy = format!("give units for all {} examples", examples.len());
            return Err(TrainError::invalid("units", units.example_count(), remedy));
        }
        model.check(&examples)?;
        let layout = model.layout().clone();
        let dimension = layout.gradients();
        check_weights(&weights, &layout)?;
        Ok(Self {
            segments: Segments::of(&layout),
            optimizer: Optimizer::new(recipe.optimizer, dimension)?,
            average: recipe.average.map(|decay| Average::new(decay, dimension)).transpose()?,
            sum: vec![0.0; dimension],
            selection: Selection::default(),
            taken: 0,
            counted: 0,
            ledger: None,
            stopped: None,
            started: Instant::now(),
            model,
            layout,
            examples,
            units,
            terms,
            recipe,
            source,
            weights,
        })
    }

    /// Starts from these weights instead, which no private example may have influenced.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] when their number is not the model's, one is not finite, or training has begun.
    pub fn start_from(&mut self, weights: &[f32]) -> Result<(), TrainError> {
        check_weights(weights, &self.layout)?;
        if self.taken > 0 {
            return Err(TrainError::invalid("weights", "given after the first step", "give them before it"));
        }
        self.weights.copy_from_slice(weights);
        Ok(())
    }

    /// One step: sample, clip and add up, add noise, divide by the public constant, move the weights.
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps are taken or counted; what the model refuses. The weights have not
    /// changed then.
    pub fn step(&mut self) -> Result<Progress, TrainError> {
        let steps = self.steps();
        if self.is_finished() {
            return Err(TrainError::Finished { steps });
        }
        let selection = &mut self.selection;
        self.source.sample(&self.units, selection);
        let clipping = match &self.terms {
            Terms::Private(plan) => Some(&plan.settings().clipping),
            Terms::NonPrivate(_) => None,
        };
        self.sum.fill(0.0);
        let drawing = match &mut self.source {
            Source::Private { noise, .. } => Some(noise.begin()),
            _ => None,
        };
        if selection.units() > 0 {
            // Whoever cannot draw leaves it to the end of the drawing, which says why.
            let beside = || drawing.as_ref().map_or((), |drawing| drawing.help().unwrap_or(()));
            let (weights, examples) = (&self.weights, &self.examples);
            self.model.accumulate(weights, examples, selection, clipping, &beside, &mut self.sum)?;
        }
        if let Some(drawing) = drawing {
            drawing.finish()?;
        }
        let divisor = match (&mut self.source, &self.terms) {
            (Source::Private { noise, .. }, Terms::Private(plan)) => {
                noise.add(&mut self.sum)?;
                // From here on the step counts, whatever becomes of it.
                self.counted += 1;
                plan.expected_batch()
            }
            (source, _) => source.expected().unwrap_or(self.selection.units().max(1) as f64),
        };
        let noise_variance = match &self.terms {
            Terms::Private(plan) => Some(plan.noise_variance()),
            Terms::NonPrivate(_) => None,
        };
        let rate = self.recipe.schedule.rate(self.taken, steps);
        let input = StepInput { rate, scale: 1.0 / divisor, noise_variance };
        self.optimizer.step(&mut self.weights, &self.segments, &self.sum, input);
        if let Some(average) = &mut self.average {
            average.take(&self.weights, &self.segments);
        }
        self.taken += 1;
        if self.plan().is_none() {
            self.counted += 1;
        }
        Ok(self.progress())
    }

    /// Where the training stands.
    pub fn progress(&self) -> Progress {
        Progress {
            taken: self.taken,
            counted: self.counted,
            steps: self.steps(),
            elapsed: self.started.elapsed(),
        }
    }

    /// How many steps there are to be.
    pub fn steps(&self) -> u64 {
        match &self.terms {
            Terms::Private(plan) => plan.steps(),
            Terms::NonPrivate(baseline) => baseline.steps,
        }
    }

    /// Whether another step would be one too many. Steps of earlier attempts that may have been seen count, with a plan.
    pub fn is_finished(&self) -> bool {
        if self.stopped.is_some() {
            return true;
        }
        match &self.terms {
            Terms::Private(plan) => self.counted.max(self.taken) >= plan.steps(),
            Terms::NonPrivate(baseline) => self.taken >= baseline.steps,
        }
    }

    /// The plan; none without privacy.
    pub fn plan(&self) -> Option<&PrivacyPlan> {
        match &self.terms {
            Terms::Private(plan) => Some(plan),
            Terms::NonPrivate(_) => None,
        }
    }

    /// What the run has agreed to.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// How gradients become weights.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The names and places of the weights.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// ε spent so far; none without privacy. It takes the accountant some milliseconds.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn spent(&self) -> Result<Option<Epsilon>, TrainError> {
        self.plan().map(|plan| plan.epsilon(self.counted)).transpose()
    }

    /// What is guaranteed for everything that has been given out so far; none without privacy. While steps are left it rests on
    /// the premise that looking at it here does not depend on what the run showed; [`certificate_if_stopped`
    /// ](Self::certificate_if_stopped) does without.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn certificate(&self) -> Result<Option<Certificate>, TrainError> {
        if let Some(cause) = self.stopped {
            return self.certificate_if_stopped(cause);
        }
        self.plan().map(|plan| plan.certificate(self.counted)).transpose()
    }

    /// The present weights. The run's ledger is written first: from now on they may have been seen.
    ///
    /// # Errors
    /// [`TrainError::File`] when the ledger cannot be written.
    pub fn weights(&mut self) -> Result<&[f32], TrainError> {
        self.announce()?;
        Ok(&self.weights)
    }

    /// The weights to use: their average where the recipe asks for one, the present ones otherwise.
    ///
    /// # Errors
    /// As [`weights`](Self::weights).
    pub fn final_weights(&mut self) -> Result<Vec<f32>, TrainError> {
        self.announce()?;
        let mut weights = self.weights.clone();
        if let Some(average) = &self.average {
            average.write(&mut weights, &self.segments);
        }
        Ok(weights)
    }

    /// Mean loss and accuracy of the weights to use on public examples.
    ///
    /// # Guarantee
    /// Covered by the certificate when the examples are public or disjoint from what is protected. On private examples it
    /// is not covered.
    ///
    /// # Reference
    /// Post-processing of released weights.
    ///
    /// # Errors
    /// As [`weights`](Self::weights), and what the model refuses.
    pub fn evaluate(&mut self, public: &Examples) -> Result<Evaluation, TrainError> {
        let weights = self.final_weights()?;
        evaluate(&mut *self.model, &weights, public)
    }
}

fn check_weights(weights: &[f32], layout: &Layout) -> Result<(), TrainError> {
    if weights.len() != layout.weights() {
        let remedy = format!("give as many as the model has: {}", layout.weights());
        return Err(TrainError::invalid("weights", weights.len(), remedy));
    }
    if let Some(odd) = weights.iter().find(|w| !w.is_finite()) {
        return Err(TrainError::invalid("weights", odd, "give finite numbers"));
    }
    Ok(())
}
