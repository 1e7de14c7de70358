//! The privacy of a training run as one checked object.

mod account;

use crate::TrainError;
use crate::clip::Clipping;
use crate::digest::digest;
use account::{account_at, sampler_share};
use reticent_accounting::calibrate;
use reticent_core::rounding::mul_down;
use reticent_core::{
    Certificate, Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Permit, SamplingRate, Scale,
    Sensitivity,
};
use reticent_noise::Payer;
use reticent_noise::bulk::BulkGaussian;
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
    /// Probability of a unit to be in a step, at most 1.
    pub sampling_rate: f64,
    /// Number of steps.
    pub steps: u64,
    /// What one unit can add to a step's sum.
    pub clipping: Clipping,
    /// How many weights are trained.
    pub dimension: usize,
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
        if self.dimension == 0 {
            return Err(TrainError::invalid("dimension", 0, "give a model with weights that can be trained"));
        }
        self.clipping.check()
    }

    /// The expected number of units in a step of a data set of the public size, by which every sum is divided.
    pub fn expected_batch(&self) -> f64 {
        self.sampling_rate * self.size as f64
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
    sigma: f64,
    delta: Delta,
    noise: BulkGaussian,
    event: Event,
}

/// A plan as it is stored: what determines it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    settings: PlanSettings,
    sigma: f64,
    delta: f64,
}

impl TryFrom<Stored> for PrivacyPlan {
    type Error = TrainError;

    fn try_from(stored: Stored) -> Result<Self, TrainError> {
        Self::with_sigma(stored.settings, stored.sigma, stored.delta)
    }
}

impl From<PrivacyPlan> for Stored {
    fn from(plan: PrivacyPlan) -> Self {
        Self { settings: plan.settings, sigma: plan.sigma, delta: plan.delta.get() }
    }
}

impl PrivacyPlan {
    /// A plan with noise of standard deviation `noise_multiplier` times the clipping norm, under either relation, and claims
    /// at this δ.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming a field without meaning: a rate above 1, a clipping norm or a multiplier that is
    /// not above 0, δ outside (0, 1), no steps; or when noise so small leaves no finite ε.
    pub fn new(settings: PlanSettings, noise_multiplier: f64, delta: f64) -> Result<Self, TrainError> {
        if !(noise_multiplier > 0.0 && noise_multiplier.is_finite()) {
            let remedy = "give a finite number above 0: without noise there is no guarantee; training without privacy has no plan";
            return Err(TrainError::invalid("noise_multiplier", noise_multiplier, remedy));
        }
        settings.check()?;
        let sigma = noise_multiplier * settings.clipping.norm();
        Self::with_sigma(settings, sigma, delta)
    }

    /// The plan with the least noise that stays within the budget after all its steps, by the tight accountant.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] as for [`new`](Self::new), for ε = 0, and when no noise is enough;
    /// [`TrainError::Accounting`] from the accountant.
    pub fn target(settings: PlanSettings, budget: Guarantee) -> Result<Self, TrainError> {
        settings.check()?;
        budget.epsilon.positive()?;
        check_delta(budget.delta.get())?;
        // What the sampler adds depends on the number of weights and not on σ.
        let share = sampler_share(&noise_of(&settings, settings.clipping.norm())?, settings.steps, budget)?;
        let spare = Guarantee { delta: Delta::new(mul_down(budget.delta.get(), 1.0 - share))?, ..budget };
        let multiplier = calibrate::noise_multiplier(spare, |z| {
            account_at(
                &step_event(&settings, NoiseMultiplier::new(z)?)?,
                settings.neighboring,
                settings.steps,
            )
        })?;
        // The grid of the noise takes a little of the multiplier, which a little more noise gives back.
        let mut more = 1e-9;
        while more < 1.0 {
            let sigma = multiplier * settings.clipping.norm() * (1.0 + more);
            let noise = noise_of(&settings, sigma)?;
            if noise.noise_multiplier().get() >= multiplier {
                return Self::with_sigma(settings, sigma, budget.delta.get());
            }
            more *= 4.0;
        }
        Err(TrainError::invalid(
            "dimension",
            settings.dimension,
            "train fewer weights: the noise grid is too coarse",
        ))
    }

    fn with_sigma(settings: PlanSettings, sigma: f64, delta: f64) -> Result<Self, TrainError> {
        settings.check()?;
        check_delta(delta)?;
        let noise = noise_of(&settings, sigma)?;
        let event = step_event(&settings, noise.noise_multiplier())?;
        let plan = Self { settings, sigma, delta: Delta::new(delta)?, noise, event };
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

    /// σ of the noise on a step's sum.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// σ over the clipping norm, as asked for; the event's is a little smaller.
    pub fn noise_multiplier(&self) -> f64 {
        self.sigma / self.settings.clipping.norm()
    }

    /// By what a step's noisy sum is divided: a public constant.
    pub fn expected_batch(&self) -> f64 {
        self.settings.expected_batch()
    }

    /// The variance of the noise in one coordinate of a step's mean gradient.
    pub fn noise_variance(&self) -> f64 {
        (self.sigma / self.expected_batch()).powi(2)
    }

    /// The noise of a step.
    pub fn noise(&self) -> &BulkGaussian {
        &self.noise
    }

    /// What one step costs.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// What all steps cost, as one event.
    pub(crate) fn whole(&self) -> Event {
        Event::Repeated { count: self.settings.steps, event: Box::new(self.event.clone()) }
    }

    /// What a run of all steps costs: the event that a permit for it must cover.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for an event without meaning.
    pub fn charges(&self) -> Result<reticent_core::Plan, TrainError> {
        Ok(reticent_core::Plan::new(vec![self.whole()])?)
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

    /// ε after this many steps, at the plan's δ, rounded up.
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

    /// The largest number of steps of this plan's kind that stays within a budget, also beyond the plan's own number;
    /// 0 when not even one does.
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

fn noise_of(settings: &PlanSettings, sigma: f64) -> Result<BulkGaussian, TrainError> {
    let norm = Sensitivity::new(settings.clipping.norm())?;
    Ok(BulkGaussian::new(norm, Scale::new(sigma)?, settings.dimension)?)
}

fn step_event(
    settings: &PlanSettings,
    multiplier: NoiseMultiplier,
) -> Result<Event, reticent_core::InvalidValue> {
    // Adding a unit moves the sum by the clipping norm at most; of replacing one, more is known than its sensitivity.
    let event = match settings.neighboring {
        Neighboring::AddRemove => Event::Gaussian { noise_multiplier: multiplier },
        Neighboring::ReplaceOne => Event::ClippedSum { noise_multiplier: multiplier },
    };
    if settings.sampling_rate == 1.0 {
        return Ok(event);
    }
    Ok(Event::PoissonSampled { rate: SamplingRate::new(settings.sampling_rate)?, event: Box::new(event) })
}

#[cfg(test)]
mod tests;
