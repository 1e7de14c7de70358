//! A training run as it is described, and its checks.

use super::Unknown;
use super::run::{BatchSampling, TrainingRun};
use crate::Refusal;
use crate::account::check::{count, finite};
use crate::account::compare::sampled_gaussian;
use crate::account::question::not_for_a_rate;
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::rounding::div_up;
use reticent_core::{Certificate, Code, EventLog, Neighboring, NoiseMultiplier, SamplingRate};
use reticent_report::digits::exactly;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A training run with clipped gradients and Gaussian noise, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingShorthand {
    /// Noise of a step: σ / clipping norm, above 0. Needed but where it is what is asked for.
    #[serde(alias = "noise-multiplier")]
    pub noise_multiplier: Option<f64>,
    /// Probability of each record to be in a step; 1 where neither this nor a batch size is given.
    #[serde(alias = "sampling-rate")]
    pub sampling_rate: Option<f64>,
    /// Number of steps; 1 where neither this nor epochs are given.
    pub steps: Option<u64>,
    /// Number of records; with the batch size it gives the sampling rate.
    #[serde(alias = "dataset-size")]
    pub dataset_size: Option<u64>,
    /// Records in a batch (on average, when sampled).
    #[serde(alias = "batch-size")]
    pub batch_size: Option<u64>,
    /// Passes over the data, instead of steps.
    pub epochs: Option<f64>,
    /// How batches were really drawn.
    pub sampling: Sampling,
    /// What is hidden.
    pub neighboring: Neighboring,
}

impl TrainingShorthand {
    /// The training run that a certificate covers, where its events are Gaussian steps on Poisson samples under add-remove and
    /// nothing else: with its noise multiplier, sampling rate and steps.
    pub fn of(certificate: &Certificate) -> Option<Self> {
        let log = EventLog { neighboring: certificate.neighboring, events: certificate.events.clone() };
        let account = Accountant::of_log(&log, CompositionMethod::Pld).ok()?;
        let (rate, noise, steps) = sampled_gaussian(&account)?;
        Some(Self {
            noise_multiplier: Some(noise.get()),
            sampling_rate: Some(rate.get()),
            steps: Some(steps),
            neighboring: certificate.neighboring,
            ..Self::default()
        })
    }
}

impl Default for TrainingShorthand {
    fn default() -> Self {
        Self {
            noise_multiplier: None,
            sampling_rate: None,
            steps: None,
            dataset_size: None,
            batch_size: None,
            epochs: None,
            sampling: Sampling::Poisson,
            neighboring: Neighboring::AddRemove,
        }
    }
}

/// How batches are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Every record in every batch by its own coin.
    Poisson,
    /// Batches cut from a shuffled list.
    Shuffled,
    /// Batches of fixed size, each drawn anew.
    WithoutReplacement,
    /// Every record thrown into one of the batches of an epoch.
    BallsInBins,
}

impl Sampling {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Shuffled => "shuffled",
            Self::WithoutReplacement => "without-replacement",
            Self::BallsInBins => "balls-in-bins",
        }
    }
}

impl FromStr for Sampling {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        [Self::Poisson, Self::Shuffled, Self::WithoutReplacement, Self::BallsInBins]
            .into_iter()
            .find(|sampling| sampling.name() == name)
            .ok_or_else(|| {
                let remedy = "unknown: give poisson, shuffled, without-replacement or balls-in-bins";
                Refusal::unknown("sampling", name, remedy)
            })
    }
}

impl TrainingShorthand {
    /// Checks the description; the unknown is left at a value that has no meaning.
    pub(super) fn checked(&self, unknown: Unknown) -> Result<TrainingRun, Refusal> {
        self.refuse_unknown(unknown)?;
        let noise = match (self.noise_multiplier, unknown) {
            (Some(value), _) => noise(value)?,
            (None, Unknown::Noise) => NoiseMultiplier::new(1.0)?,
            (None, _) => {
                let remedy = "say how much noise a step had, e.g. ⟦noise_multiplier⟧ 1, or give ⟦events⟧";
                return Err(Refusal::missing("noise_multiplier", remedy));
            }
        };
        let dataset_size = self.dataset_size.map(|n| count("dataset_size", n)).transpose()?;
        let batch_size = self.batch_size.map(|n| count("batch_size", n)).transpose()?;
        let sizes = self.sizes(dataset_size, batch_size)?;
        let batches = match (self.sampling, sizes) {
            (Sampling::Poisson, _) => {
                BatchSampling::Poisson { rate: self.rate(sizes)?, steps: self.steps(sizes)? }
            }
            (fixed, Some((records, batch))) => self.fixed(fixed, records, batch)?,
            (fixed, None) => {
                let remedy = "give ⟦dataset_size⟧ and ⟦batch_size⟧ with it";
                return Err(Refusal::conflict("sampling", fixed.name(), remedy));
            }
        };
        Ok(TrainingRun { noise, batches, neighboring: self.neighboring, dataset_size, batch_size })
    }

    /// Refuses values of what the question is about to find.
    fn refuse_unknown(&self, unknown: Unknown) -> Result<(), Refusal> {
        let remedy = "leave it out: it is what this command finds";
        let refuse = |field: &str, value: Option<String>| match value {
            Some(value) => Err(Refusal::conflict(field, value, remedy)),
            None => Ok(()),
        };
        match unknown {
            Unknown::Nothing => {}
            Unknown::Noise => refuse("noise_multiplier", self.noise_multiplier.map(|z| z.to_string()))?,
            Unknown::Steps => {
                refuse("steps", self.steps.map(|steps| steps.to_string()))?;
                refuse("epochs", self.epochs.map(|epochs| epochs.to_string()))?;
            }
            Unknown::Rate => {
                refuse("sampling_rate", self.sampling_rate.map(|rate| rate.to_string()))?;
                refuse("batch_size", self.batch_size.map(|batch| batch.to_string()))?;
                if let Some(epochs) = self.epochs {
                    let remedy = "give ⟦steps⟧ instead: the length of an epoch depends on the rate to find";
                    return Err(Refusal::conflict("epochs", epochs, remedy));
                }
                if self.sampling != Sampling::Poisson {
                    return Err(not_for_a_rate(self.sampling.name()));
                }
            }
        }
        Ok(())
    }

    /// Number of records and size of a batch, where both are stated.
    fn sizes(&self, records: Option<u64>, batch: Option<u64>) -> Result<Option<(u64, u64)>, Refusal> {
        if let (Some(_), Some(batch)) = (self.sampling_rate, batch) {
            let remedy = "give either ⟦sampling_rate⟧ or ⟦batch_size⟧ with ⟦dataset_size⟧, not both";
            return Err(Refusal::conflict("batch_size", batch, remedy));
        }
        match (records, batch) {
            (Some(records), Some(batch)) if batch > records => {
                Err(Refusal::value("batch_size", batch, format!("give at most ⟦dataset_size⟧ {records}")))
            }
            (Some(records), Some(batch)) => Ok(Some((records, batch))),
            (None, Some(_)) => {
                Err(Refusal::missing("dataset_size", "with ⟦batch_size⟧ it sets the sampling rate"))
            }
            (Some(_), None) if self.epochs.is_some() && self.sampling_rate.is_none() => {
                let remedy = "with ⟦dataset_size⟧ it sets how many steps an epoch has";
                Err(Refusal::missing("batch_size", remedy))
            }
            (_, None) => Ok(None),
        }
    }

    fn rate(&self, sizes: Option<(u64, u64)>) -> Result<SamplingRate, Refusal> {
        let rate = match (self.sampling_rate, sizes) {
            (Some(rate), _) => {
                finite("sampling_rate", rate)?;
                if !(rate > 0.0 && rate <= 1.0) {
                    let remedy = "give a number above 0 and at most 1";
                    return Err(Refusal::value("sampling_rate", rate, remedy));
                }
                rate
            }
            // Rounded up, as a larger rate costs more.
            (None, Some((records, batch))) => div_up(batch as f64, records as f64).min(1.0),
            (None, None) => 1.0,
        };
        Ok(SamplingRate::new(rate)?)
    }

    /// Steps as stated, or as many as the epochs have.
    fn steps(&self, sizes: Option<(u64, u64)>) -> Result<u64, Refusal> {
        match (self.steps, self.epochs) {
            (Some(_), Some(epochs)) => {
                Err(Refusal::conflict("epochs", epochs, "give either ⟦steps⟧ or ⟦epochs⟧, not both"))
            }
            (Some(steps), None) => count("steps", steps),
            (None, None) => Ok(1),
            (None, Some(epochs)) => {
                finite("epochs", epochs)?;
                if epochs <= 0.0 {
                    return Err(Refusal::value("epochs", epochs, "give a number above 0"));
                }
                let steps = match sizes {
                    Some((records, batch)) => epochs * records as f64 / batch as f64,
                    None => epochs / self.rate(sizes)?.get(),
                };
                // A last bit of rounding is not another step.
                let nearest = steps.round();
                let steps = if (steps - nearest).abs() <= 1e-9 * nearest { nearest } else { steps.ceil() };
                if steps > (1u64 << 53) as f64 {
                    let remedy = format!("give fewer: these are {} steps", exactly(steps));
                    return Err(Refusal::value("epochs", epochs, remedy));
                }
                Ok((steps as u64).max(1))
            }
        }
    }

    /// Batches of fixed size.
    fn fixed(&self, sampling: Sampling, records: u64, batch: u64) -> Result<BatchSampling, Refusal> {
        let steps = self.steps(Some((records, batch)))?;
        let per_epoch = records.div_ceil(batch);
        // A pass that is begun counts as a whole one.
        let epochs = match self.epochs {
            Some(epochs) => epochs.ceil() as u64,
            None => steps.div_ceil(per_epoch),
        };
        match sampling {
            Sampling::WithoutReplacement if self.neighboring == Neighboring::AddRemove => {
                let remedy =
                    "give ⟦neighboring⟧ replace-one: fixed batches are accounted under that relation";
                Err(Refusal::value("sampling", sampling.name(), remedy).coded(Code::Relation))
            }
            Sampling::WithoutReplacement => {
                Ok(BatchSampling::WithoutReplacement { dataset_size: records, batch_size: batch, steps })
            }
            Sampling::Shuffled => Ok(BatchSampling::Shuffled { per_epoch, epochs }),
            Sampling::BallsInBins => Ok(BatchSampling::BallsInBins { per_epoch, epochs }),
            Sampling::Poisson => {
                Ok(BatchSampling::Poisson { rate: self.rate(Some((records, batch)))?, steps })
            }
        }
    }
}

fn noise(value: f64) -> Result<NoiseMultiplier, Refusal> {
    finite("noise_multiplier", value)?;
    NoiseMultiplier::new(value).map_err(|_| {
        let remedy = "give a number above 0: without noise nothing is private";
        Refusal::value("noise_multiplier", value, remedy)
    })
}
