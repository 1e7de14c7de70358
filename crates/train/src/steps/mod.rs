//! The private half of a training whose gradients are computed elsewhere: which units enter a step, the noise of its sum, and how many
//! steps count.

mod record;

use crate::cuda::GuestSums;
use crate::cyclic::refuse_cyclic;
use crate::growth::refuse_growth;
use crate::noise::StepNoise;
use crate::sampler::PoissonSampler;
use crate::trainer::StopCause;
use crate::{PrivacyPlan, Selection, Team, TrainError, Units};
use record::StepRecord;
use reticent_core::{Certificate, Delta, Epsilon, Fact, Neighboring, Permit, SamplingRate};
use reticent_noise::{Entropy, NoiseError};
use std::path::Path;

/// The steps of a training whose weights and gradients live in another framework. Each step begins with a sample and ends with noise
/// on the sum of its clipped gradients; whoever computes the sum moves the weights.
///
/// # Guarantee
/// Everything that is computed from noisy sums and public numbers is covered by [`certificate`](Self::certificate), under the plan's
/// neighboring relation, if three premises hold, which only the caller can establish: the sum handed to
/// [`add_noise`](Self::add_noise) is that of the units of one sample; each of them adds a vector of ℓ2 norm at most the plan's clipping
/// norm that depends on the weights and on that unit alone; and nothing else leaves the computation. Noise is added at most once for each
/// sample and at most as often as was paid for. A step counts from the moment its noise is added.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016); the crate's proof.
pub struct PrivateSteps {
    plan: PrivacyPlan,
    noise: StepNoise,
    sampler: PoissonSampler,
    entropy: Entropy,
    units: Units,
    selection: Selection,
    /// Samples that no noise was added for yet.
    open: u64,
    counted: u64,
    /// Steps that were paid for.
    allowed: u64,
    record: Option<StepRecord>,
}

impl PrivateSteps {
    /// The steps of a plan over these units. The permit covers all of them, as [`PrivacyPlan::charge`] gives one.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the permit does not cover all steps, or was charged under another neighboring relation than the
    /// plan's; [`TrainError::Invalid`] when the plan is, with replace-one, for another number of units; when there is no randomness.
    pub fn new(plan: PrivacyPlan, units: Units, permit: Permit) -> Result<Self, TrainError> {
        let settings = plan.settings();
        refuse_cyclic(&plan, "steps of another framework are sampled: leave it out")?;
        refuse_growth(&plan, "steps of another framework are sampled at one rate: leave it out")?;
        if settings.clipping.further() > 0 || settings.clipping.profile().is_some() {
            let remedy = "gradients that are computed elsewhere are clipped by their norm: give flat, per-layer or automatic";
            return Err(TrainError::invalid("clipping", "quantile or encoded", remedy));
        }
        // With add-remove the true number is private, and nothing may depend on whether it is the declared one.
        if settings.neighboring == Neighboring::ReplaceOne && settings.size != units.len() as u64 {
            let remedy = format!("give the number of units there are, {}", units.len());
            return Err(TrainError::invalid("size", settings.size, remedy));
        }
        let sampler = PoissonSampler::new(SamplingRate::new(settings.constant_rate()?)?)?;
        let (noise, allowed) = (paid(&plan, permit)?, settings.steps);
        let (entropy, selection) = (Entropy::new()?, Selection::default());
        Ok(Self {
            plan,
            noise,
            sampler,
            entropy,
            units,
            selection,
            open: 0,
            counted: 0,
            allowed,
            record: None,
        })
    }

    /// Pays for as many steps again, of the same kind: for a run whose length was not fixed when it began.
    ///
    /// # Guarantee
    /// The number of steps then depends on whoever extends the run; [`certificate`](Self::certificate) states that premise.
    ///
    /// # Reference
    /// The crate's proof, section 7.
    ///
    /// # Errors
    /// As [`new`](Self::new) about the permit.
    pub fn extend(&mut self, permit: Permit) -> Result<(), TrainError> {
        self.noise = paid(&self.plan, permit)?;
        self.allowed = self.allowed.max(self.counted).saturating_add(self.plan.steps());
        Ok(())
    }

    /// Keeps the count of steps in a file, which must not exist.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is such a file, another process uses it, or it cannot be written.
    pub fn begin_in(&mut self, file: &Path) -> Result<(), TrainError> {
        self.record = Some(StepRecord::begin(file, &self.plan)?);
        Ok(())
    }

    /// Goes on with the count in a file: every step that may have been seen stays counted.
    ///
    /// # Errors
    /// [`TrainError::Changed`] when the plan is another; [`TrainError::File`] when the file is missing, corrupt or in use.
    pub fn resume_in(&mut self, file: &Path) -> Result<(), TrainError> {
        let (record, counted) = StepRecord::resume(file, &self.plan)?;
        self.record = Some(record);
        self.count_from(counted);
        Ok(())
    }

    /// Counts at least this many steps as taken: those of an earlier process. The count never falls.
    pub fn count_from(&mut self, steps: u64) {
        self.counted = self.counted.max(steps);
    }

    /// Which units enter the next step, and their examples.
    ///
    /// # Guarantee
    /// Every unit is in the sample with the plan's sampling rate, independently of all units and steps.
    ///
    /// # Reference
    /// [`PoissonSampler`].
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps that were paid for are counted.
    pub fn sample(&mut self) -> Result<&Selection, TrainError> {
        self.check_unfinished()?;
        self.sampler.sample(&self.units, &mut self.entropy, &mut self.selection);
        self.open += 1;
        Ok(&self.selection)
    }

    /// Draws the noise of the next step, while its sum is computed elsewhere.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the operating system provides no randomness.
    pub fn draw(&mut self, team: Team) -> Result<(), TrainError> {
        if self.noise.is_drawn() {
            return Ok(());
        }
        self.noise.draw_on(|tasks, work| team.run(tasks, work))
    }

    /// Adds the noise of a step to the sum of its units' clipped gradients. From here on the step counts, whatever becomes of it; where
    /// the count is kept in a file, it is on disk before.
    ///
    /// # Guarantee
    /// The noise is that of the plan's event, fresh for every call.
    ///
    /// # Reference
    /// [`reticent_noise::bulk::BulkGaussian::add_now_on`].
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps that were paid for are counted; [`TrainError::Invalid`] when no sample is open or the sum
    /// has another length; [`TrainError::File`] when the count cannot be written; [`TrainError::Noise`] when the operating system provides
    /// no randomness, and the step counts then. The sum has not changed then.
    pub fn add_noise(&mut self, sum: &mut [f32], team: Team) -> Result<(), TrainError> {
        self.check_step(sum.len())?;
        self.count_step()?;
        let spread = |tasks: usize, work: &(dyn Fn() + Sync)| team.run(tasks, work);
        if self.noise.is_drawn() {
            self.noise.add_on(sum, spread)
        } else {
            self.noise.add_now_on(sum, spread)
        }
    }

    /// As [`add_noise`](Self::add_noise), on the sum that the other framework keeps on a GPU, which draws the noise.
    ///
    /// # Guarantee
    /// As [`add_noise`](Self::add_noise), if nothing of the sum is shown after an error.
    ///
    /// # Reference
    /// [`GuestSums`].
    ///
    /// # Errors
    /// As [`add_noise`](Self::add_noise); [`TrainError::Device`] when the GPU fails, and the step counts then.
    pub fn add_noise_on(&mut self, guest: &mut GuestSums) -> Result<(), TrainError> {
        self.check_step(guest.length())?;
        self.count_step()?;
        guest.add_noise(&mut self.noise)
    }

    /// Refuses noise that is not that of a step.
    fn check_step(&self, length: usize) -> Result<(), TrainError> {
        self.check_unfinished()?;
        if self.open == 0 {
            let remedy =
                "take a sample for every step: noise for the same sum twice is not what the plan counts";
            return Err(TrainError::invalid("sample", "none", remedy));
        }
        let dimension = self.plan.settings().dimension;
        if length != dimension {
            let remedy = format!("give the sum of the plan's {dimension} trained weights");
            return Err(TrainError::invalid("sum", format!("{length} numbers"), remedy));
        }
        Ok(())
    }

    /// Has a step count, on disk first.
    fn count_step(&mut self) -> Result<(), TrainError> {
        if let Some(record) = &mut self.record {
            record.announce(self.counted + 1, self.allowed)?;
        }
        self.open -= 1;
        self.counted += 1;
        Ok(())
    }

    /// Writes the exact count where it was announced ahead.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be written.
    pub fn settle(&mut self) -> Result<(), TrainError> {
        self.record.as_mut().map_or(Ok(()), |record| record.settle(self.counted))
    }

    /// The plan.
    pub fn plan(&self) -> &PrivacyPlan {
        &self.plan
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Steps that count, those of earlier processes included.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// Steps that were paid for.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// ε of the counted steps at this δ, rounded up.
    ///
    /// # Errors
    /// As [`PrivacyPlan::epsilon`].
    pub fn epsilon(&self, delta: Delta) -> Result<Epsilon, TrainError> {
        match delta == self.plan.delta() {
            true => self.plan.epsilon(self.counted),
            false => self.plan.at_delta(delta)?.epsilon(self.counted),
        }
    }

    /// What is guaranteed for everything that was computed from noisy sums, if the run ends here for this cause.
    ///
    /// # Guarantee
    /// All steps of the plan are counted unless the cause is blind ([`StopCause::is_blind`]). A run that was
    /// [extended](Self::extend) counts its steps on the premise that their number does not depend on what it showed. Premises are
    /// stated.
    ///
    /// # Reference
    /// The crate's proof, section 7.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn certificate(&self, cause: StopCause) -> Result<Certificate, TrainError> {
        let (steps, counted) = (self.plan.steps(), self.counted);
        let whole = if cause.is_blind() { counted } else { counted.max(steps) };
        let certificate = self.plan.certificate(whole)?;
        let premise = match counted.cmp(&steps) {
            std::cmp::Ordering::Less => cause.premise(counted, steps),
            std::cmp::Ordering::Equal => return Ok(certificate),
            std::cmp::Ordering::Greater => {
                format!("{counted} steps: their number is declared not to depend on what the run showed")
            }
        };
        Ok(certificate.taking(Fact::Stopped(premise)))
    }

    fn check_unfinished(&self) -> Result<(), TrainError> {
        if self.counted >= self.allowed {
            return Err(TrainError::Finished { steps: self.allowed });
        }
        Ok(())
    }
}

impl Drop for PrivateSteps {
    fn drop(&mut self) {
        // A count that cannot be written stays the larger one that was announced.
        let _ = self.settle();
    }
}

/// The noise that a permit pays for.
fn paid(plan: &PrivacyPlan, mut permit: Permit) -> Result<StepNoise, TrainError> {
    let asked = plan.settings().neighboring;
    if let Some(session) = permit.neighboring().filter(|own| *own != asked) {
        return Err(NoiseError::Relation { session, asked }.into());
    }
    StepNoise::new(plan.noise().clone(), &mut permit, &plan.events(plan.steps()))
}

#[cfg(test)]
mod tests;
