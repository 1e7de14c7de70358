//! What makes a step private and moves the weights: plan, noise, divisor, optimizer, ledger.

use super::contribution::{check_grid, refuse_quantile};
use super::{Progress, Recipe, StopCause, TrainingTerms};
use crate::checkpoint::Ledger;
use crate::cyclic::{Correlation, refuse_cyclic};
use crate::denoise::{Denoiser, Denoising};
use crate::engine::{Engine, FixedSum, Weights};
use crate::evaluate::{Evaluation, evaluate, judge_each};
use crate::growth::refuse_growth;
use crate::noise::StepNoise;
use crate::optimizer::StepInput;
use crate::{Clipping, Examples, Layout, OptimizerSettings, PrivacyPlan, TrainError};
use reticent_core::{Certificate, Epsilon, Permit};
use reticent_noise::NoiseError;
use std::time::Instant;

/// A run: what was agreed, how far it is, and everything that happens to a sum of clipped gradients.
///
/// One process uses it inside a [`Trainer`](super::Trainer). Several parties each have a [`Contribution`](super::Contribution), and
/// one of them, or a server, has the aggregation: it gives out weights, and a step takes the parties' sums.
///
/// # Guarantee
/// With a plan, everything this type gives out (weights, evaluations, checkpoints, progress) is covered by
/// [`certificate`](Self::certificate), under the plan's neighbouring relation; see the crate's proof. No step goes beyond the
/// plan's number of steps. Sums that come from elsewhere are taken on trust: that they are sums of [`Contribution`
/// ](super::Contribution)s of this plan is the premise. How long a step takes is not covered.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
pub struct Aggregation {
    pub(super) engine: Box<dyn Engine>,
    pub(super) terms: TrainingTerms,
    pub(super) recipe: Recipe,
    /// None without privacy.
    pub(super) noise: Option<Box<StepNoise>>,
    pub(super) denoiser: Option<Box<Denoiser>>,
    /// The sums of earlier steps, with cyclic batches.
    pub(super) correlation: Option<Box<Correlation>>,
    pub(super) taken: u64,
    pub(super) counted: u64,
    pub(super) ledger: Option<Ledger>,
    /// Why the run ended before its last step, if it did.
    pub(super) stopped: Option<StopCause>,
    /// Whether everything is a function of a key.
    pub(super) is_repeatable: bool,
    pub(super) started: Instant,
    /// The clipping norm of the next step, with quantile clipping.
    pub(super) threshold: Option<f64>,
}

impl Aggregation {
    /// A run with the guarantee of a plan, from the engine's own initial weights, for the sums of several parties. The permit covers all
    /// its steps, as [`PrivacyPlan::charge`] gives one.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the permit does not cover all steps, or was charged under another neighboring relation than the
    /// plan's; [`TrainError::Invalid`] when the plan is for another number of weights, the recipe has no meaning, or gradients are
    /// encoded or clipped to a quantile by an engine that does not [separate units](Engine::separates_units); when there is no
    /// randomness.
    pub fn private(
        engine: Box<dyn Engine>,
        plan: PrivacyPlan,
        recipe: Recipe,
        mut permit: Permit,
    ) -> Result<Self, TrainError> {
        super::check_dimension(&plan, engine.layout())?;
        let settings = plan.settings();
        if let Some(session) = permit.neighboring().filter(|own| *own != settings.neighboring) {
            return Err(NoiseError::Relation { session, asked: settings.neighboring }.into());
        }
        if engine.draws_noise() {
            settings.clipping.check_by_norm("a GPU (or train with the device cpu)")?;
        }
        if !engine.separates_units() {
            settings.clipping.check_together()?;
        }
        if engine.draws_noise() {
            refuse_cyclic(&plan, "noise of cyclic batches is drawn on the CPU: train with the device cpu")?;
        }
        let noise = Box::new(plan.paid_noise(&mut permit)?);
        let weights = engine.initial_weights()?;
        Self::new(engine, TrainingTerms::Private(plan), recipe, Some(noise), &weights)
    }

    pub(crate) fn new(
        mut engine: Box<dyn Engine>,
        terms: TrainingTerms,
        recipe: Recipe,
        noise: Option<Box<StepNoise>>,
        weights: &[f32],
    ) -> Result<Self, TrainError> {
        recipe.check()?;
        check_weights(weights)?;
        let denoiser = denoiser(&recipe, &terms, engine.layout())?;
        let correlation = match &terms {
            TrainingTerms::Private(plan) => plan
                .settings()
                .cyclic
                .map(|own| Correlation::new(own, plan.steps()).map(Box::new))
                .transpose()?,
            TrainingTerms::NonPrivate(_) => None,
        };
        engine.load_weights(weights)?;
        engine.begin(&recipe)?;
        let threshold = match &terms {
            TrainingTerms::Private(plan) => plan.quantile().map(|(rule, _)| rule.norm),
            TrainingTerms::NonPrivate(_) => None,
        };
        Ok(Self {
            threshold,
            engine,
            terms,
            recipe,
            noise,
            denoiser,
            correlation,
            taken: 0,
            counted: 0,
            ledger: None,
            stopped: None,
            is_repeatable: false,
            started: Instant::now(),
        })
    }

    /// Starts from these weights instead, which no private example may have influenced.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] when their number is not the model's, one is not finite, or training has begun.
    pub fn start_from(&mut self, weights: &[f32]) -> Result<(), TrainError> {
        check_weights(weights)?;
        if self.taken > 0 {
            return Err(TrainError::invalid("weights", "given after the first step", "give them before it"));
        }
        self.engine.load_weights(weights)
    }

    /// One step with the parties' sums: adds the noise, divides by the public constant, moves the weights.
    ///
    /// # Guarantee
    /// Noise is drawn once, for the total: the step costs what it costs in one process, and is counted from the moment the noise is
    /// added.
    ///
    /// # Reference
    /// The crate's proof, "Sums of several parties".
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps are taken or counted; [`TrainError::Invalid`] without a plan, for sums on
    /// different grids or on one of another plan, and when they may have more units than the grid has room for. The weights have
    /// not changed then.
    pub fn step_with(&mut self, sums: &[FixedSum]) -> Result<Progress, TrainError> {
        self.check_unfinished()?;
        let Some((first, others)) = sums.split_first() else {
            return Err(TrainError::invalid("sums", 0, "give the sum of at least one party"));
        };
        let Some(plan) = self.plan() else {
            return Err(TrainError::invalid("plan", "none", "sums of several parties need a plan"));
        };
        refuse_quantile(plan)?;
        refuse_cyclic(plan, "parties sample their batches: leave it out")?;
        refuse_growth(plan, "parties sample at one rate in every step: leave it out")?;
        check_grid(first.grid(), plan)?;
        let mut total = first.clone();
        others.iter().try_for_each(|sum| total.merge(sum))?;
        self.engine.load_sum(&total.to_floats())?;
        self.finish(1.0)
    }

    /// One step without a guarantee: moves the weights by a sum over this divisor.
    pub(crate) fn step_without_noise(&mut self, sum: &[f32], divisor: f64) -> Result<Progress, TrainError> {
        self.check_unfinished()?;
        self.engine.load_sum(sum)?;
        self.finish(divisor)
    }

    /// The learning rate of the next step.
    pub(crate) fn rate(&self) -> f64 {
        self.recipe.schedule.rate(self.taken, self.steps())
    }

    /// Has everything be a function of a key: the run is kept in no folder.
    pub(crate) fn set_repeatable(&mut self) {
        self.is_repeatable = true;
    }

    /// The number of the next step, from 0, which decides its batch. Where batches grow, a step that may have been seen is never taken again
    /// under its number: the stages that were sampled are those that count. With cyclic batches it is the number of rows released here.
    pub(super) fn next_step(&self) -> u64 {
        self.correlation.as_ref().map_or(self.counted, |own| own.rows())
    }

    /// Refuses a step that would be one too many.
    pub(super) fn check_unfinished(&self) -> Result<(), TrainError> {
        if self.is_finished() {
            return Err(TrainError::Finished { steps: self.steps() });
        }
        if self.correlation.as_ref().is_some_and(|own| own.is_torn()) {
            let remedy = "the noise of a step depends on sums of earlier steps, which are private and kept in no file: end the run as \
                          it is, or begin a new one";
            return Err(TrainError::invalid("batching", "cyclic, resumed", remedy));
        }
        Ok(())
    }

    /// The second half of a step: noise on the engine's sum, and new weights. With a plan the divisor is the plan's,
    /// whatever is given here.
    pub(super) fn finish(&mut self, divisor: f64) -> Result<Progress, TrainError> {
        let (rate, step) = (self.rate(), self.next_step());
        let (divisor, noise_variance) = match (&self.terms, &mut self.noise) {
            (TrainingTerms::Private(plan), Some(noise)) => {
                let exact = match &mut self.correlation {
                    Some(correlation) => {
                        let exact = self.engine.read_sum()?;
                        self.engine.load_sum(&correlation.row(&exact))?;
                        Some(exact)
                    }
                    None => None,
                };
                self.engine.add_noise(noise)?;
                // From here on the step counts, whatever becomes of it.
                self.counted += 1;
                if let (Some(correlation), Some(exact)) = (&mut self.correlation, exact) {
                    let noisy = correlation.release(exact, &self.engine.read_sum()?);
                    self.engine.load_sum(&noisy)?;
                }
                if let Some(denoiser) = &mut self.denoiser {
                    let mut sum = self.engine.read_sum()?;
                    denoiser.apply(&mut sum)?;
                    self.engine.load_sum(&sum)?;
                }
                match (plan.quantile(), self.threshold) {
                    (Some((rule, parts)), Some(norm)) => {
                        // The sum is in units of the clipping norm, and what was counted decides the next one.
                        let count = self.engine.read_count()?.unwrap_or(0.0);
                        let unclipped = parts.unclipped(f64::from(count), plan.expected_batch(step));
                        self.threshold = Some(rule.next(norm, unclipped));
                        let unit = norm / parts.gradient;
                        (plan.expected_batch(step) / unit, Some(plan.noise_variance(step) * unit * unit))
                    }
                    // How much noise is left after denoising is not known.
                    _ => {
                        let spread = self.correlation.as_ref().map_or(1.0, |own| own.mean_variance());
                        let variance = match self.recipe.optimizer {
                            OptimizerSettings::Adam(adam) => plan.decayed_variance(step, adam.beta2),
                            OptimizerSettings::Sgd { .. } => plan.noise_variance(step),
                        };
                        (plan.expected_batch(step), self.denoiser.is_none().then_some(variance * spread))
                    }
                }
            }
            (TrainingTerms::NonPrivate(_), None) => (divisor, None),
            // Neither noise without a plan nor a plan without noise can be made.
            _ => return Err(TrainError::invalid("noise", "missing", "make a run with a permit")),
        };
        self.engine.update(StepInput { rate, scale: 1.0 / divisor, noise_variance })?;
        self.taken += 1;
        if self.plan().is_none() {
            self.counted += 1;
        }
        Ok(self.progress())
    }

    /// The clipping norm of the next step, with quantile clipping; none for a fixed one. The run's ledger is written first: from now on
    /// it may have been seen.
    ///
    /// # Guarantee
    /// A function of noisy counts that earlier steps paid for.
    ///
    /// # Reference
    /// The crate's proof, "Quantile clipping".
    ///
    /// # Errors
    /// As [`weights`](Self::weights).
    pub fn clipping_norm(&mut self) -> Result<Option<f64>, TrainError> {
        if self.threshold.is_some() {
            self.announce()?;
        }
        Ok(self.threshold)
    }

    /// The clipping of the next step, where it is not the plan's own.
    pub(super) fn step_clipping(&self) -> Option<Clipping> {
        let (_, parts) = self.plan()?.quantile()?;
        self.threshold.map(|threshold| parts.clipping(threshold))
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

    /// The number of steps of the whole run.
    pub fn steps(&self) -> u64 {
        match &self.terms {
            TrainingTerms::Private(plan) => plan.steps(),
            TrainingTerms::NonPrivate(baseline) => baseline.steps,
        }
    }

    /// Whether the run has taken all its steps. Steps of earlier attempts that may have been seen count, with a plan.
    pub fn is_finished(&self) -> bool {
        if self.stopped.is_some() {
            return true;
        }
        match &self.terms {
            TrainingTerms::Private(plan) => self.counted.max(self.taken) >= plan.steps(),
            TrainingTerms::NonPrivate(baseline) => self.taken >= baseline.steps,
        }
    }

    /// The plan; none without privacy.
    pub fn plan(&self) -> Option<&PrivacyPlan> {
        match &self.terms {
            TrainingTerms::Private(plan) => Some(plan),
            TrainingTerms::NonPrivate(_) => None,
        }
    }

    /// Whether the run has a guarantee, with its settings.
    pub fn terms(&self) -> &TrainingTerms {
        &self.terms
    }

    /// Optimizer, schedule and averaging.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The names and places of the weights.
    pub fn layout(&self) -> &Layout {
        self.engine.layout()
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
    pub fn weights(&mut self) -> Result<Vec<f32>, TrainError> {
        self.announce()?;
        self.engine.read_weights(Weights::Current)
    }

    /// The weights to use: their average where the recipe asks for one, the present ones otherwise.
    ///
    /// # Errors
    /// As [`weights`](Self::weights).
    pub fn final_weights(&mut self) -> Result<Vec<f32>, TrainError> {
        self.announce()?;
        self.engine.read_weights(Weights::Averaged)
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
    /// As [`weights`](Self::weights), and what the engine refuses.
    pub fn evaluate(&mut self, public: &Examples) -> Result<Evaluation, TrainError> {
        self.announce()?;
        evaluate(&mut *self.engine, Weights::Averaged, public)
    }

    /// What the weights to use make of single examples: 1 for a class that is predicted right and 0 for another; for a number the
    /// difference between prediction and truth, of a prediction clamped to -1 and 1.
    ///
    /// # Guarantee
    /// None: exact facts about the examples. They are for a mechanism that adds noise, or for public examples.
    ///
    /// # Errors
    /// As [`weights`](Self::weights), what the engine refuses, and for next tokens.
    pub fn judge(&mut self, examples: &Examples, which: &[usize]) -> Result<Vec<f64>, TrainError> {
        self.announce()?;
        judge_each(&mut *self.engine, Weights::Averaged, examples, which)
    }
}

/// What denoises the steps of a run.
fn denoiser(
    recipe: &Recipe,
    terms: &TrainingTerms,
    layout: &Layout,
) -> Result<Option<Box<Denoiser>>, TrainError> {
    match (recipe.denoise, terms) {
        (None, _) => Ok(None),
        (Some(rule), TrainingTerms::Private(plan)) if plan.quantile().is_some() => {
            let remedy = "the unit of the sums changes with quantile clipping: leave one of the two out";
            Err(TrainError::invalid("denoise", rule, remedy))
        }
        (Some(rule), TrainingTerms::Private(plan)) if plan.settings().cyclic.is_some() => {
            let remedy =
                "the rules are for noise that is independent between steps: leave it out with cyclic batches";
            Err(TrainError::invalid("denoise", rule, remedy))
        }
        (Some(rule @ Denoising::Wiener), TrainingTerms::Private(plan))
            if plan.settings().growth.is_some() =>
        {
            let remedy = "it compares sums of different steps, which grow with the batch: give james-stein, or leave it out";
            Err(TrainError::invalid("denoise", rule, remedy))
        }
        (Some(rule), TrainingTerms::Private(plan)) => {
            Ok(Some(Box::new(Denoiser::new(rule, layout, plan.law(), plan.sigma()))))
        }
        (Some(rule), TrainingTerms::NonPrivate(_)) => {
            Err(TrainError::invalid("denoise", rule, "there is no noise without privacy: leave it out"))
        }
    }
}

fn check_weights(weights: &[f32]) -> Result<(), TrainError> {
    match weights.iter().find(|weight| !weight.is_finite()) {
        Some(odd) => Err(TrainError::invalid("weights", odd, "give finite numbers")),
        None => Ok(()),
    }
}
