//! Training without sampling: batches that come round in every epoch, and noise that is correlated between steps (banded matrix
//! factorization, DP-FTRL).

mod correlation;
mod sampler;

pub(crate) use correlation::Correlation;
pub(crate) use sampler::CyclicSampler;

use crate::clip::Clipping;
use crate::{PlanSettings, PrivacyPlan, TrainError};
use reticent_accounting::correlated::{BandedFactor, Participation};
use reticent_core::rounding::mul_up;
use reticent_core::{Fact, Neighboring, NoiseMultiplier, Scale, Sensitivity};
use reticent_noise::bulk::BulkGaussian;
use serde::{Deserialize, Serialize};

/// The most bands that [`CyclicBatches::usual_bands`] chooses.
const MOST_USUAL_BANDS: u64 = 64;

/// Batches that are drawn once and come round in every epoch, with noise of a banded factor.
///
/// Each unit is put into one of the batches, by a draw of its own, before the first step. Step t takes batch t mod `per_epoch`, so a unit is in
/// every `per_epoch`-th step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclicBatches {
    /// The bands of the factor, at most `per_epoch`; 1 for independent noise.
    pub bands: u64,
    /// The number of batches, which is public: the steps of an epoch.
    pub per_epoch: u64,
}

impl CyclicBatches {
    /// The number of bands, of the powers of two up to 64, whose running sums have the least noise at equal privacy: a function of public
    /// numbers. A run keeps two vectors of the gradient's length for each band but one.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] without batches or steps.
    pub fn usual_bands(per_epoch: u64, steps: u64) -> Result<u64, TrainError> {
        let mut best: Option<(f64, u64)> = None;
        let mut bands = 1;
        while bands <= MOST_USUAL_BANDS.min(per_epoch).min(steps).max(1) {
            let own = Self { per_epoch, bands };
            own.check(steps)?;
            let error = own.factor(steps)?.running_sum_variance(own.participation(steps))?;
            if best.is_none_or(|(least, _)| error < least) {
                best = Some((error, bands));
            }
            bands *= 2;
        }
        Ok(best.map_or(1, |(_, bands)| bands))
    }

    /// In which steps a unit takes part.
    pub fn participation(&self, steps: u64) -> Participation {
        Participation { times: steps.div_ceil(self.per_epoch), separation: self.per_epoch }
    }

    /// The factor of a run of so many steps.
    ///
    /// # Errors
    /// [`TrainError::Accounting`] for more bands than steps.
    pub fn factor(&self, steps: u64) -> Result<BandedFactor, TrainError> {
        Ok(BandedFactor::square_root(self.bands, steps)?)
    }

    fn check(&self, steps: u64) -> Result<(), TrainError> {
        if self.per_epoch == 0 {
            return Err(TrainError::invalid("batching", 0, "give at least one batch per epoch"));
        }
        let most = self.per_epoch.min(steps);
        if !(1..=most).contains(&self.bands) {
            let remedy = format!(
                "give a number from 1 to {most}: a unit's steps must be at least as far apart as there are bands, and the run must \
                 have as many steps"
            );
            return Err(TrainError::invalid("bands", self.bands, remedy));
        }
        Ok(())
    }

    /// Refuses settings that the proof does not cover.
    pub(crate) fn check_plan(&self, settings: &PlanSettings) -> Result<(), TrainError> {
        let refuse = |field, value: &str, remedy| Err(TrainError::invalid(field, value, remedy));
        if settings.neighboring != Neighboring::AddRemove {
            let remedy =
                "cyclic batches are accounted for under add-remove alone: give add-remove, or sample batches";
            return Err(TrainError::invalid("neighboring", settings.neighboring, remedy));
        }
        if settings.sampling_rate != 1.0 {
            let remedy = "give 1: nothing is sampled from cyclic batches, and no amplification is claimed";
            return Err(TrainError::invalid("sampling_rate", settings.sampling_rate, remedy));
        }
        match settings.clipping {
            Clipping::Quantile(_) => {
                let remedy =
                    "the unit of the sums changes from step to step: give flat, per-layer or automatic";
                return refuse("clipping", "quantile", remedy);
            }
            Clipping::Encoded { .. } => {
                let remedy = "noise that is correlated between steps needs clipping by norm: give flat, per-layer or automatic";
                return refuse("clipping", "encoded", remedy);
            }
            _ => {}
        }
        if self.per_epoch > settings.size {
            let remedy = format!("give at most as many batches per epoch as units, {}", settings.size);
            return Err(TrainError::invalid("batching", self.per_epoch, remedy));
        }
        self.check(settings.steps)?;
        self.factor(settings.steps).map(drop)
    }

    /// The noise on one row of C·G: a unit is in at most one of the sums that a row is made of.
    pub(crate) fn step_noise(&self, settings: &PlanSettings, sigma: f64) -> Result<BulkGaussian, TrainError> {
        let factor = self.factor(settings.steps)?;
        let largest = factor.coefficients().iter().fold(0.0f64, |most, c| most.max(c.abs()));
        let sensitivity = Sensitivity::new(mul_up(settings.clipping.norm(), largest))?;
        Ok(BulkGaussian::new(sensitivity, Scale::new(sigma)?, settings.dimension)?)
    }

    /// The noise multiplier of the whole run with noise of deviation σ on every row, rounded down. It pays for rounding the rows that a
    /// unit changes, which are at most `bands` for each of its steps.
    pub(crate) fn run_multiplier(
        &self,
        settings: &PlanSettings,
        sigma: f64,
    ) -> Result<NoiseMultiplier, TrainError> {
        let participation = self.participation(settings.steps);
        let sensitivity = self.factor(settings.steps)?.sensitivity(participation)?;
        let rows = participation.times.saturating_mul(self.bands).min(settings.steps);
        let length = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(settings.dimension);
        let sensitivity = Sensitivity::new(mul_up(settings.clipping.norm(), sensitivity))?;
        Ok(BulkGaussian::new(sensitivity, Scale::new(sigma)?, length)?.noise_multiplier())
    }

    /// What a certificate takes as public.
    pub(crate) fn facts(&self, steps: u64) -> [Fact; 2] {
        let Participation { times, separation } = self.participation(steps);
        let batches =
            if self.per_epoch == 1 { "1 batch".to_owned() } else { format!("{} batches", self.per_epoch) };
        let often =
            if times == 1 { "1 step".to_owned() } else { format!("{times} steps, {separation} apart") };
        let noise = match self.bands {
            1 => "noise independent between steps".to_owned(),
            bands => format!("noise correlated between steps by a factor of {bands} bands (BandMF)"),
        };
        [
            Fact::Other(format!(
                "{batches} per epoch, the same in every epoch; the batch of each unit is drawn by itself, so a unit is in at most {often}"
            )),
            Fact::Other(format!("{noise}; no sampling, and no amplification by it")),
        ]
    }
}

/// Refuses a plan with cyclic batches where steps are sampled.
pub(crate) fn refuse_cyclic(plan: &PrivacyPlan, instead: &str) -> Result<(), TrainError> {
    match plan.settings().cyclic {
        None => Ok(()),
        Some(_) => Err(TrainError::invalid("batching", "cyclic", instead)),
    }
}

#[cfg(test)]
mod tests;
