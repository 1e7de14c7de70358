//! The privacy of a training run as one checked object.

mod account;

use crate::TrainError;
use crate::clip::{Clipping, MagnitudeProfile};
use crate::cyclic::{CyclicBatches, refuse_cyclic};
use crate::digest::digest;
use crate::growth::{BatchGrowth, Stage, refuse_growth};
use crate::noise::{NoiseLaw, StepNoise};
use crate::quantile::{Division, QuantileClipping};
use account::{account_of, sampler_share};
use reticent_accounting::calibrate;
use reticent_core::rounding::mul_down;
use reticent_core::{
    Certificate, Delta, Epsilon, Event, Guarantee, InvalidValue, Neighboring, NoiseMultiplier, Permit,
    SamplingRate, Scale, Sensitivity,
};
use reticent_noise::Payer;
use reticent_noise::bulk::{BulkGaussian, BulkNoise, BulkStudent};
use reticent_noise::sampler::Inclusion;
use serde::{Deserialize, Serialize};

/// What is public about a private training run, before its noise is settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSettings {
    /// Which pairs of data sets must be hard to tell apart.
    pub neighboring: Neighboring,
    /// Whose presence is protected, e.g. `example` or `user`.
    pub unit: String,
    /// The number of units as it is publicly known. With add-remove the true number is private and may differ.
    pub size: u64,
    /// Probability of a unit to be in a step, at most 1; of the first stage, where batches grow. With cyclic batches nothing is sampled,
    /// and it is 1.
    pub sampling_rate: f64,
    /// Number of steps.
    pub steps: u64,
    /// What one unit can add to a step's sum.
    pub clipping: Clipping,
    /// How many weights are trained.
    pub dimension: usize,
    /// Batches that come round in every epoch, with correlated noise; none where batches are sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cyclic: Option<CyclicBatches>,
    /// Batches that grow during the run; none where all have one expected size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<BatchGrowth>,
}

impl PlanSettings {
    /// Checks everything that needs no noise.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming the first field without meaning.
    pub fn check(&self) -> Result<(), TrainError> {
        if self.unit.is_empty() {
            return Err(TrainError::invalid("unit", "\"\"", "say whose presence is protected, e.g. example"));
        }
        if self.size == 0 || self.size > 1 << 50 {
            return Err(TrainError::invalid(
                "size",
                self.size,
                "give the public number of units, at least 1",
            ));
        }
        if !(self.sampling_rate > 0.0 && self.sampling_rate <= 1.0) {
            let remedy = "give a number above 0 and at most 1: the batch size over the number of units";
            return Err(TrainError::invalid("sampling_rate", self.sampling_rate, remedy));
        }
        Inclusion::new(SamplingRate::new(self.sampling_rate)?)?;
        if self.steps == 0 || self.steps > 1 << 40 {
            return Err(TrainError::invalid("steps", self.steps, "give at least 1 and at most 2^40"));
        }
        if matches!(self.clipping, Clipping::Quantile(_)) && self.neighboring == Neighboring::ReplaceOne {
            let remedy = "its cost is known under add-remove alone: give add-remove, or another clipping";
            return Err(TrainError::invalid("clipping", "quantile", remedy));
        }
        if matches!(self.clipping, Clipping::Threshold { .. }) {
            let remedy = "it is one step of quantile clipping: give quantile";
            return Err(TrainError::invalid("clipping", "threshold", remedy));
        }
        if self.dimension == 0 {
            return Err(TrainError::invalid("dimension", 0, "give a model with weights that can be trained"));
        }
        self.clipping.check()?;
        if let Some(kept) =
            self.clipping.profile().map(MagnitudeProfile::kept).filter(|kept| *kept > self.dimension as u64)
        {
            let remedy = format!("make it for the model's {} trained weights", self.dimension);
            return Err(TrainError::invalid("profile", format!("of {kept} coordinates"), remedy));
        }
        self.growth.map_or(Ok(()), |own| own.check_plan(self))?;
        self.cyclic.map_or(Ok(()), |own| own.check_plan(self))
    }

    /// Refuses noise of a law that has no tight account with these settings.
    fn check_law(&self, law: NoiseLaw) -> Result<(), TrainError> {
        law.check()?;
        if law.is_gaussian() {
            return Ok(());
        }
        if self.cyclic.is_some() {
            let remedy = "cyclic batches need Gaussian noise: its steps add up to one event";
            return Err(TrainError::invalid("noise", "student-t", remedy));
        }
        let Some(profile) = self.clipping.profile() else {
            let remedy = "a norm alone bounds no single number, and Student-t noise has no tight account then: give clipping \
                          encoded, or Gaussian noise";
            return Err(TrainError::invalid("noise", "student-t", remedy));
        };
        // Rounding of a sum may reach coordinates that a unit leaves at 0, where the profile allows nothing.
        if profile.kept() < self.dimension as u64 {
            let remedy = format!(
                "its account needs a bound on each of the model's {} trained weights: keep all, or give Gaussian noise",
                self.dimension
            );
            return Err(TrainError::invalid("profile", format!("of {} coordinates", profile.kept()), remedy));
        }
        if self.neighboring != Neighboring::AddRemove {
            let remedy = "its account is for adding or removing a unit: give add-remove, or Gaussian noise";
            return Err(TrainError::invalid("noise", "student-t", remedy));
        }
        Ok(())
    }

    /// What one step costs with Gaussian noise of this multiplier.
    ///
    /// # Errors
    /// [`InvalidValue`] for a sampling rate without meaning, with cyclic batches, whose steps have one event together, and where batches
    /// grow, whose stages have an event each.
    pub fn event(&self, multiplier: NoiseMultiplier) -> Result<Event, InvalidValue> {
        if self.cyclic.is_some() {
            let remedy = "steps with correlated noise have one event together: ask a plan for it";
            return Err(InvalidValue::new("batching", "cyclic", remedy));
        }
        if let Some(own) = self.growth {
            let remedy = "steps of different stages cost differently: ask a plan for the events of a run";
            return Err(InvalidValue::new("batch_growth", own.factor, remedy));
        }
        sampled(self.sampling_rate, event_at(self, NoiseLaw::Gaussian, multiplier))
    }

    /// The event of a step of each stage, where `event` is that of a sum of all units. With cyclic batches it is that of the whole run.
    fn each(&self, event: &Event) -> Result<Vec<Event>, InvalidValue> {
        self.stages().into_iter().map(|Stage { rate, .. }| sampled(rate, event.clone())).collect()
    }

    /// How often each of these events happens in so many steps, from the first one on.
    fn counts(&self, steps: u64) -> Vec<u64> {
        match self.cyclic {
            Some(_) => vec![1],
            None => self.reached(steps).into_iter().map(|stage| stage.steps).collect(),
        }
    }

    /// What the sampler of Gaussian noise adds to δ over all steps at ε, rounded up; infinite when ε is too large for it.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for settings that have no noise.
    pub fn sampler_delta_up(&self, epsilon: Epsilon) -> Result<f64, TrainError> {
        let noise = noise_of(self, NoiseLaw::Gaussian, self.clipping.norm())?;
        Ok(account::sampler_delta_up(&noise, self.steps, epsilon))
    }

    /// The expected number of units in a step, counted from 0, of a data set of the public size: its sum is divided by it.
    pub fn expected_batch(&self, step: u64) -> f64 {
        let share = self.cyclic.map_or(1.0, |own| own.per_epoch as f64);
        self.rate(step) * self.size as f64 / share
    }
}

/// The privacy of a training run: sampling, clipping, noise, steps and the relation they are counted under.
///
/// # Guarantee
/// A run of [`Trainer`](crate::Trainer) with this plan, seen after any `k` of its steps, with everything that was ever
/// released from it, has the (ε, δ) of [`certificate`](Self::certificate)`(k)` under the plan's neighbouring relation
/// between sets of units. ε is rounded up; δ includes what the noise sampler's distance from the ideal adds. See the
/// crate's proof for the model of arithmetic.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct PrivacyPlan {
    settings: PlanSettings,
    law: NoiseLaw,
    sigma: f64,
    delta: Delta,
    noise: Box<BulkNoise>,
    /// What a step of each stage costs; with cyclic batches, what all steps cost together.
    events: Vec<Event>,
    /// A noise multiplier below the noise's own that the event states instead.
    claimed: Option<f64>,
}

/// A plan as it is stored: what determines it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    settings: PlanSettings,
    #[serde(default, skip_serializing_if = "NoiseLaw::is_gaussian")]
    law: NoiseLaw,
    sigma: f64,
    delta: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claimed: Option<f64>,
}

impl TryFrom<Stored> for PrivacyPlan {
    type Error = TrainError;

    fn try_from(stored: Stored) -> Result<Self, TrainError> {
        let plan = Self::with_sigma(stored.settings, stored.law, stored.sigma, stored.delta)?;
        match stored.claimed {
            Some(claimed) => plan.claiming(claimed),
            None => Ok(plan),
        }
    }
}

impl From<PrivacyPlan> for Stored {
    fn from(plan: PrivacyPlan) -> Self {
        Self {
            settings: plan.settings,
            law: plan.law,
            sigma: plan.sigma,
            delta: plan.delta.get(),
            claimed: plan.claimed,
        }
    }
}

impl PrivacyPlan {
    /// A plan with Gaussian noise of standard deviation `noise_multiplier` times the clipping norm, under either relation, and claims
    /// at this δ.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming a field without meaning: a rate above 1, a clipping norm or a multiplier that is
    /// not above 0, δ outside (0, 1), no steps; or when noise so small leaves no finite ε.
    pub fn new(settings: PlanSettings, noise_multiplier: f64, delta: f64) -> Result<Self, TrainError> {
        Self::with_law(settings, NoiseLaw::Gaussian, noise_multiplier, delta)
    }

    /// As [`new`](Self::new), with noise of this law and of a scale of `noise_multiplier` times the clipping norm.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`TrainError::Invalid`] for Student-t noise without encoded gradients, or under replace-one.
    pub fn with_law(
        settings: PlanSettings,
        law: NoiseLaw,
        noise_multiplier: f64,
        delta: f64,
    ) -> Result<Self, TrainError> {
        if !(noise_multiplier > 0.0 && noise_multiplier.is_finite()) {
            let remedy = "give a finite number above 0: without noise there is no guarantee; training without privacy has no plan";
            return Err(TrainError::invalid("noise_multiplier", noise_multiplier, remedy));
        }
        settings.check()?;
        let sigma = noise_multiplier * settings.clipping.norm();
        Self::with_sigma(settings, law, sigma, delta)
    }

    /// The plan with the least Gaussian noise that stays within the budget after all its steps, by the tight accountant.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] as for [`new`](Self::new), for ε = 0, and when no noise is enough;
    /// [`TrainError::Accounting`] from the accountant.
    pub fn target(settings: PlanSettings, budget: Guarantee) -> Result<Self, TrainError> {
        Self::target_with_law(settings, NoiseLaw::Gaussian, budget)
    }

    /// As [`target`](Self::target), with noise of this law.
    ///
    /// # Errors
    /// As [`target`](Self::target) and [`with_law`](Self::with_law).
    pub fn target_with_law(
        settings: PlanSettings,
        law: NoiseLaw,
        budget: Guarantee,
    ) -> Result<Self, TrainError> {
        settings.check()?;
        settings.check_law(law)?;
        budget.epsilon.positive()?;
        check_delta(budget.delta.get())?;
        // What the sampler adds depends on the number of weights and not on σ.
        let share =
            sampler_share(&noise_of(&settings, law, settings.clipping.norm())?, settings.steps, budget)?;
        let spare = Guarantee { delta: Delta::new(mul_down(budget.delta.get(), 1.0 - share))?, ..budget };
        let multiplier = calibrate::noise_multiplier(spare, |z| {
            let events = settings.each(&event_at(&settings, law, NoiseMultiplier::new(z)?))?;
            account_of(&settings, &events, settings.steps)
        })?;
        Self::with_at_least(settings, law, multiplier, (Some(budget.epsilon), budget.delta.get()))
    }

    /// The plan with the least Gaussian noise whose event has at least this noise multiplier.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when the grid of the noise is too coarse for so many weights.
    pub fn at_least(settings: PlanSettings, multiplier: f64, delta: f64) -> Result<Self, TrainError> {
        Self::with_at_least(settings, NoiseLaw::Gaussian, multiplier, (None, delta))
    }

    /// The plan with the least noise whose event has at least this noise multiplier; of another law than the Gaussian also within ε.
    fn with_at_least(
        settings: PlanSettings,
        law: NoiseLaw,
        multiplier: f64,
        (epsilon, delta): (Option<Epsilon>, f64),
    ) -> Result<Self, TrainError> {
        settings.check()?;
        // The grid of the noise takes a little of the multiplier, which a little more noise gives back.
        let mut more = 1e-9;
        let base = match settings.cyclic {
            Some(own) => own.factor(settings.steps)?.sensitivity(own.participation(settings.steps))?,
            None => 1.0,
        };
        while more < 1.0 {
            let sigma = multiplier * base * settings.clipping.norm() * (1.0 + more);
            let reached = match settings.cyclic {
                Some(own) => own.run_multiplier(&settings, sigma)?,
                None => noise_of(&settings, law, sigma)?.noise_multiplier(),
            };
            if reached.get() >= multiplier {
                let plan = Self::with_sigma(settings.clone(), law, sigma, delta)?;
                // Rounding changes the shape of a profile a little, and so a little more than the multiplier.
                let most = epsilon.filter(|_| !law.is_gaussian());
                if most.map_or(Ok::<_, TrainError>(true), |most| {
                    Ok(plan.epsilon(plan.settings.steps)? <= most)
                })? {
                    return Ok(plan);
                }
            }
            more *= 4.0;
        }
        Err(TrainError::invalid(
            "dimension",
            settings.dimension,
            "train fewer weights: the noise grid is too coarse",
        ))
    }

    /// The same plan with an event that states less noise than there is, so that several plans have one event.
    ///
    /// # Guarantee
    /// More Gaussian noise is a post-processing of less, so the event covers the steps.
    ///
    /// # Reference
    /// A Gaussian of variance σ² + τ² is one of variance σ² with independent noise of variance τ² added.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a noise multiplier above the event's own, for noise of another law, with cyclic batches, and where
    /// batches grow.
    pub fn claiming(mut self, multiplier: f64) -> Result<Self, TrainError> {
        refuse_cyclic(&self, "its event is that of a whole run: sample batches")?;
        refuse_growth(&self, "each of its stages has an event of its own: leave it out")?;
        if !self.law.is_gaussian() || multiplier > self.noise.noise_multiplier().get() {
            let remedy = "state at most as much noise as there is, and Gaussian noise";
            return Err(TrainError::invalid("noise_multiplier", multiplier, remedy));
        }
        self.events = vec![self.settings.event(NoiseMultiplier::new(multiplier)?)?];
        self.claimed = Some(multiplier);
        Ok(self)
    }

    fn with_sigma(settings: PlanSettings, law: NoiseLaw, sigma: f64, delta: f64) -> Result<Self, TrainError> {
        settings.check()?;
        settings.check_law(law)?;
        check_delta(delta)?;
        let noise = noise_of(&settings, law, sigma)?;
        let event = match (settings.cyclic, &noise) {
            (Some(own), _) => Event::Gaussian { noise_multiplier: own.run_multiplier(&settings, sigma)? },
            (None, BulkNoise::Gaussian(noise)) => event_at(&settings, law, noise.noise_multiplier()),
            (None, BulkNoise::Student(noise)) => noise.event(),
        };
        let events = settings.each(&event)?;
        let (delta, noise) = (Delta::new(delta)?, Box::new(noise));
        let plan = Self { settings, law, sigma, delta, noise, events, claimed: None };
        let whole = plan.epsilon(plan.settings.steps)?;
        if !(whole.get().is_finite() && whole.get() < 1e6) {
            let remedy = "give more noise or fewer steps: the epsilon would be without limit";
            return Err(TrainError::invalid("noise_multiplier", plan.noise_multiplier(), remedy));
        }
        Ok(plan)
    }

    /// The public numbers.
    pub fn settings(&self) -> &PlanSettings {
        &self.settings
    }

    /// Number of steps.
    pub fn steps(&self) -> u64 {
        self.settings.steps
    }

    /// The δ of all claims.
    pub fn delta(&self) -> Delta {
        self.delta
    }

    /// The law of the noise.
    pub fn law(&self) -> NoiseLaw {
        self.law
    }

    /// σ of the noise on a step's sum; of Student-t noise, its scale; with cyclic batches, σ of the noise on a row of C·G.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// σ, or the scale, over the clipping norm, as asked for; the event's is a little smaller.
    pub fn noise_multiplier(&self) -> f64 {
        self.sigma / self.settings.clipping.norm()
    }

    /// By what the noisy sum of a step, counted from 0, is divided: a public number.
    pub fn expected_batch(&self, step: u64) -> f64 {
        self.settings.expected_batch(step)
    }

    /// The variance of the noise in one coordinate of the mean gradient of a step, counted from 0; with cyclic batches, before the noise is
    /// correlated.
    pub fn noise_variance(&self, step: u64) -> f64 {
        self.law.variance(self.sigma / self.expected_batch(step))
    }

    /// The mean of the noise variances of the steps up to this one, in which a step weighs `decay` times as much as the next: the noise in
    /// a second moment that decays so, where no step was lost. Where batches do not grow it is that of every step.
    pub(crate) fn decayed_variance(&self, step: u64, decay: f64) -> f64 {
        let steps = step.saturating_add(1);
        let after = |first: u64| libm::pow(decay, (steps - first) as f64);
        let whole = 1.0 - after(0);
        let (mut start, mut sum) = (0, 0.0);
        for stage in self.settings.reached(steps).into_iter().filter(|stage| stage.steps > 0) {
            let end = start + stage.steps;
            sum += (after(end) - after(start)) / whole * self.noise_variance(start);
            start = end;
        }
        sum
    }

    /// Quantile clipping, and how its steps divide their sensitivity; none for a fixed clipping norm.
    pub(crate) fn quantile(&self) -> Option<(QuantileClipping, Division)> {
        match &self.settings.clipping {
            // Batches do not grow with it.
            Clipping::Quantile(rule) => Some((*rule, rule.division(self.sigma, self.expected_batch(0)))),
            _ => None,
        }
    }

    /// The noise of a step.
    pub fn noise(&self) -> &BulkNoise {
        &self.noise
    }

    /// What one step costs; with cyclic batches, what all steps cost together.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] where batches grow: steps of different stages cost differently, as [`events`](Self::events) says.
    pub fn event(&self) -> Result<&Event, TrainError> {
        refuse_growth(self, "steps of different stages cost differently: ask for the events of a run")?;
        Ok(&self.events[0])
    }

    /// What so many steps cost together, from the first one on. With cyclic batches it is what all steps cost.
    ///
    /// # Guarantee
    /// The events that a run is charged for, that its ε is computed from and that its certificate states: every stage that was reached has
    /// one, of its own sampling rate, with the number of its steps.
    ///
    /// # Reference
    /// The crate's proof, section 5 and "Batches that grow".
    pub fn events(&self, steps: u64) -> Vec<Event> {
        if self.settings.cyclic.is_some() {
            return self.events.clone();
        }
        let repeated =
            |(event, count): (&Event, u64)| Event::Repeated { count, event: Box::new(event.clone()) };
        let counts = self.settings.counts(steps);
        self.events.iter().zip(counts).filter(|(_, count)| *count > 0).map(repeated).collect()
    }

    /// The noise of all steps, which the permit pays for.
    pub(crate) fn paid_noise(&self, permit: &mut Permit) -> Result<StepNoise, TrainError> {
        match (self.settings.cyclic, &*self.noise) {
            (Some(_), BulkNoise::Gaussian(noise)) => {
                StepNoise::together(*noise, permit, self.event()?, self.settings.steps)
            }
            _ => StepNoise::new((*self.noise).clone(), permit, &self.events(self.settings.steps)),
        }
    }

    /// What a run of all steps costs: the events that a permit for it must cover.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for an event without meaning.
    pub fn charges(&self) -> Result<reticent_core::Plan, TrainError> {
        Ok(reticent_core::Plan::new(self.events(self.settings.steps))?)
    }

    /// Charges a run of all steps.
    ///
    /// # Guarantee
    /// The event of all steps is on record before the permit exists.
    ///
    /// # Reference
    /// [`reticent_core::charge`].
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the session refuses the charge or protects under another neighbouring relation.
    pub fn charge(&self, session: &mut impl Payer) -> Result<Permit, TrainError> {
        Ok(session.charge_under(self.settings.neighboring, &self.charges()?)?)
    }

    /// ε after this many steps, at the plan's δ, rounded up. With cyclic batches it is that of all steps from the first one on.
    ///
    /// # Errors
    /// What the accountant refuses; [`TrainError::Invalid`] when the sampler's own δ does not fit.
    pub fn epsilon(&self, steps: u64) -> Result<Epsilon, TrainError> {
        account::epsilon(self, steps)
    }

    /// What has been protected and spent after this many steps.
    ///
    /// # Errors
    /// As [`epsilon`](Self::epsilon).
    pub fn certificate(&self, steps: u64) -> Result<Certificate, TrainError> {
        account::certificate(self, steps)
    }

    /// The same plan with claims at another δ.
    pub(crate) fn at_delta(&self, delta: Delta) -> Result<Self, TrainError> {
        let plan = Self::with_sigma(self.settings.clone(), self.law, self.sigma, delta.get())?;
        self.claimed.map_or(Ok(plan.clone()), |claimed| plan.clone().claiming(claimed))
    }

    /// The largest number of steps of this plan's kind that stays within a budget, also beyond the plan's own number;
    /// 0 when not even one does. With cyclic batches the plan's own number, or 0; where batches grow, at most the plan's own number.
    ///
    /// # Errors
    /// As [`epsilon`](Self::epsilon).
    pub fn steps_within(&self, budget: Guarantee) -> Result<u64, TrainError> {
        account::steps_within(self, budget)
    }

    /// A short name for exactly this plan.
    pub fn digest(&self) -> String {
        digest(&Stored::from(self.clone()))
    }

    /// The first field in which another plan differs, with both values.
    pub fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        crate::digest::difference(&Stored::from(self.clone()), &Stored::from(other.clone()))
    }
}

fn check_delta(delta: f64) -> Result<(), TrainError> {
    if delta > 0.0 && delta < 1.0 {
        return Ok(());
    }
    Err(TrainError::invalid(
        "delta",
        delta,
        "give a number above 0 and below 1, well below 1 over the number of units",
    ))
}

fn noise_of(settings: &PlanSettings, law: NoiseLaw, sigma: f64) -> Result<BulkNoise, TrainError> {
    if let Some(own) = settings.cyclic {
        return Ok(own.step_noise(settings, sigma)?.into());
    }
    let (scale, dimension) = (Scale::new(sigma)?, settings.dimension + settings.clipping.further());
    Ok(match (law, settings.clipping.profile()) {
        (NoiseLaw::StudentT { degrees_of_freedom }, Some(profile)) => {
            let (levels, counts) = (profile.levels(), profile.counts());
            BulkStudent::new(levels, counts, scale, degrees_of_freedom, dimension)?.into()
        }
        // Student-t noise without a profile has been refused.
        _ => BulkGaussian::new(Sensitivity::new(settings.clipping.norm())?, scale, dimension)?.into(),
    })
}

/// What noise of this multiplier costs on a sum of all units.
fn event_at(settings: &PlanSettings, law: NoiseLaw, noise_multiplier: NoiseMultiplier) -> Event {
    match (law, settings.clipping.profile(), settings.neighboring) {
        (NoiseLaw::StudentT { degrees_of_freedom }, Some(profile), _) => Event::EncodedStudentT {
            noise_multiplier,
            degrees_of_freedom: degrees_of_freedom.into(),
            levels: profile.levels().to_vec(),
            counts: profile.counts().to_vec(),
        },
        // Adding a unit moves the sum by the clipping norm at most; of replacing one, more is known than its sensitivity.
        (_, _, Neighboring::AddRemove) => Event::Gaussian { noise_multiplier },
        (_, _, Neighboring::ReplaceOne) => Event::ClippedSum { noise_multiplier },
    }
}

/// The event on a sample of the units at this rate.
fn sampled(rate: f64, event: Event) -> Result<Event, InvalidValue> {
    if rate == 1.0 {
        return Ok(event);
    }
    Ok(Event::PoissonSampled { rate: SamplingRate::new(rate)?, event: Box::new(event) })
}

#[cfg(test)]
mod tests;
