//! The language between mechanisms and accountants.

use crate::{
    Delta, Epsilon, InvalidValue, Mu, Neighboring, NoiseMultiplier, Order, Probability, Rho, SamplingRate,
    Sensitivity,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// One thing that touched private data, described by what it costs and nothing else.
///
/// `noise_multiplier` is the noise scale (Gaussian σ, Laplace b, Student-t scale) divided by the
/// sensitivity (ℓ1 for Laplace, ℓ2 otherwise) under the neighbouring relation of the [`EventLog`], but for
/// [`ClippedSum`](Self::ClippedSum), which says the same under either.
/// The JSON form is stable: names are only ever added, and the meaning of a name never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// Continuous Gaussian noise, or a post-processing of it.
    Gaussian {
        /// σ / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
    },
    /// Continuous Gaussian noise on a sum to which every record adds a vector of norm at most C, or 0 where it is not
    /// in the batch. It means the same under both relations: adding a record moves the sum by at most C, replacing one
    /// by at most 2C.
    ClippedSum {
        /// σ / C, the noise over what one record can add.
        noise_multiplier: NoiseMultiplier,
    },
    /// Continuous Laplace noise, or a post-processing of it.
    Laplace {
        /// b / ℓ1 sensitivity.
        noise_multiplier: NoiseMultiplier,
    },
    /// k-ary randomized response.
    RandomizedResponse {
        /// Probability of answering with the true category.
        keep_probability: Probability,
        /// Number of categories, at least 2.
        categories: u64,
    },
    /// A selection whose privacy loss has range ε (exponential mechanism).
    Exponential {
        /// The ε of the selection.
        epsilon: Epsilon,
    },
    /// Discrete Gaussian noise on the integers.
    DiscreteGaussian {
        /// σ / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// The ℓ2 sensitivity of the integers. The loss depends on it; where it is not given, any is allowed, and only what
        /// holds for all of them is claimed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<Sensitivity>,
    },
    /// Discrete Laplace (two-sided geometric) noise on the integers.
    DiscreteLaplace {
        /// scale / ℓ1 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// The ℓ1 sensitivity of the integers, at least 1; 1 when it is not given, which is the worst that the multiplier
        /// allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<u64>,
    },
    /// Independent Student-t noise on every coordinate, or a post-processing of it.
    StudentT {
        /// scale / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// Degrees of freedom, at least 1.
        degrees_of_freedom: u64,
    },
    /// Anything ε-differentially private.
    Pure {
        /// The ε.
        epsilon: Epsilon,
    },
    /// Anything (ε, δ)-differentially private.
    Approximate {
        /// The ε.
        epsilon: Epsilon,
        /// The δ.
        delta: Delta,
    },
    /// Anything ρ-zCDP.
    Zcdp {
        /// The ρ.
        rho: Rho,
    },
    /// Anything with Rényi divergence at most ε at one order.
    Rdp {
        /// The order α.
        order: Order,
        /// The divergence bound.
        epsilon: Epsilon,
    },
    /// Anything μ-Gaussian differentially private.
    Gdp {
        /// The μ.
        mu: Mu,
    },
    /// An event run on a Poisson sample. Under replace-one, leaving a record out must move the input no further than
    /// replacing it. Of a clipped sum more is known, as `clipped_sum` says: leaving a record out moves it half as far.
    PoissonSampled {
        /// Probability of each record to be in the sample.
        rate: SamplingRate,
        /// What is run on the sample.
        event: Box<Event>,
    },
    /// An event run on a fixed-size sample without replacement.
    SampledWithoutReplacement {
        /// Number of records.
        dataset_size: u64,
        /// Sample size, at most `dataset_size`.
        batch_size: u64,
        /// What is run on the sample.
        event: Box<Event>,
    },
    /// The same event, `count` times in sequence.
    Repeated {
        /// How often.
        count: u64,
        /// What is repeated.
        event: Box<Event>,
    },
    /// A Poisson sample cut to at most `max_batch` records.
    TruncatedPoisson {
        /// Number of records.
        dataset_size: u64,
        /// Probability of each record to be in the sample before truncation.
        rate: SamplingRate,
        /// Largest batch.
        max_batch: u64,
        /// What is run on the sample.
        event: Box<Event>,
    },
    /// Fixed batches over a shuffled data set. A record that is removed leaves its place empty: the other batches stay as
    /// they are.
    Shuffled {
        /// Batches per epoch.
        steps_per_epoch: u64,
        /// Passes over the data.
        epochs: u64,
        /// What is run on each batch.
        event: Box<Event>,
    },
    /// Each record thrown into one of `bins` batches, anew each epoch.
    BallsInBins {
        /// Number of batches.
        bins: u64,
        /// Passes over the data.
        epochs: u64,
        /// What is run on each batch.
        event: Box<Event>,
    },
    /// Gaussian noise on a sum whose sensitivity is random.
    MixtureOfGaussians {
        /// The possible sensitivities.
        sensitivities: Vec<f64>,
        /// Their probabilities.
        probabilities: Vec<f64>,
        /// σ in units of sensitivity 1.
        noise_multiplier: NoiseMultiplier,
    },
    /// Binary-tree aggregation over a stream.
    TreeAggregation {
        /// σ / sensitivity of one node.
        noise_multiplier: NoiseMultiplier,
        /// Length of the stream.
        steps: u64,
    },
    /// A random number of runs of an event, of which the best is kept.
    RepeatAndSelect {
        /// Mean number of trials.
        mean: f64,
        /// Shape of the truncated negative binomial, or infinite for a Poisson number ("poisson" in JSON).
        #[serde(with = "crate::trials")]
        shape: f64,
        /// One trial.
        event: Box<Event>,
    },
    /// Events in sequence on the same data.
    Composed {
        /// The events.
        events: Vec<Event>,
    },
    /// Events on disjoint parts of the data. Under replace-one a record may leave one part and enter another: the parameters
    /// of each part must then hold for a record that comes or goes, as well as for one that is replaced.
    Parallel {
        /// The events.
        events: Vec<Event>,
    },
}

impl Event {
    /// Checks what the field types cannot: relations between fields, and nested events.
    ///
    /// # Errors
    /// [`InvalidValue`] naming the field that does not fit.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            Self::Gaussian { .. }
            | Self::ClippedSum { .. }
            | Self::Laplace { .. }
            | Self::Exponential { .. }
            | Self::DiscreteGaussian { .. }
            | Self::Pure { .. }
            | Self::Approximate { .. }
            | Self::Zcdp { .. }
            | Self::Rdp { .. }
            | Self::Gdp { .. } => Ok(()),
            Self::RandomizedResponse { keep_probability, categories } => {
                at_least("categories", *categories, 2)?;
                let (keep, uniform) = (keep_probability.get(), 1.0 / *categories as f64);
                if keep < uniform || keep >= 1.0 {
                    return Err(InvalidValue::new(
                        "keep_probability",
                        keep,
                        format!("give a number from 1/categories = {uniform} to below 1"),
                    ));
                }
                Ok(())
            }
            Self::DiscreteLaplace { sensitivity, .. } => at_least("sensitivity", sensitivity.unwrap_or(1), 1),
            Self::StudentT { degrees_of_freedom, .. } => {
                at_least("degrees_of_freedom", *degrees_of_freedom, 1)
            }
            Self::TreeAggregation { steps, .. } => at_least("steps", *steps, 1),
            Self::PoissonSampled { event, .. } | Self::Repeated { event, .. } => event.validate(),
            Self::SampledWithoutReplacement { dataset_size, batch_size, event } => {
                at_least("dataset_size", *dataset_size, 1)?;
                at_most("batch_size", *batch_size, *dataset_size, "dataset_size")?;
                event.validate()
            }
            Self::TruncatedPoisson { dataset_size, max_batch, event, .. } => {
                at_least("dataset_size", *dataset_size, 1)?;
                at_least("max_batch", *max_batch, 1)?;
                event.validate()
            }
            Self::Shuffled { steps_per_epoch, event, .. } => {
                at_least("steps_per_epoch", *steps_per_epoch, 1)?;
                event.validate()
            }
            Self::BallsInBins { bins, event, .. } => {
                at_least("bins", *bins, 1)?;
                event.validate()
            }
            Self::MixtureOfGaussians { sensitivities, probabilities, .. } => {
                validate_mixture(sensitivities, probabilities)
            }
            Self::RepeatAndSelect { mean, shape, event } => {
                if !(mean.is_finite() && *mean >= 1.0) {
                    return Err(InvalidValue::new("mean", mean, "give a finite number of at least 1"));
                }
                if shape.is_nan() || *shape <= -1.0 {
                    return Err(InvalidValue::new(
                        "shape",
                        shape,
                        "give a number above -1, or poisson for a Poisson number of trials",
                    ));
                }
                event.validate()
            }
            Self::Composed { events } | Self::Parallel { events } => {
                events.iter().try_for_each(Self::validate)
            }
        }
    }
}

fn validate_mixture(sensitivities: &[f64], probabilities: &[f64]) -> Result<(), InvalidValue> {
    if sensitivities.is_empty() || sensitivities.len() != probabilities.len() {
        return Err(InvalidValue::new(
            "probabilities",
            format!("{} entries", probabilities.len()),
            format!("give one per sensitivity ({}), and at least one", sensitivities.len()),
        ));
    }
    if let Some(bad) = sensitivities.iter().find(|s| !(s.is_finite() && **s >= 0.0)) {
        return Err(InvalidValue::new("sensitivities", bad, "give finite numbers that are not negative"));
    }
    if let Some(bad) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(InvalidValue::new("probabilities", bad, "give numbers from 0 to 1"));
    }
    let total: f64 = probabilities.iter().sum();
    if (total - 1.0).abs() > 1e-9 {
        return Err(InvalidValue::new("probabilities", format!("sum {total}"), "make them sum to 1"));
    }
    Ok(())
}

fn at_least(field: &'static str, value: u64, least: u64) -> Result<(), InvalidValue> {
    if value < least {
        return Err(InvalidValue::new(field, value, format!("give a whole number of at least {least}")));
    }
    Ok(())
}

fn at_most(field: &'static str, value: u64, most: u64, other: &str) -> Result<(), InvalidValue> {
    if value > most {
        return Err(InvalidValue::new(field, value, format!("give at most {other} = {most}")));
    }
    Ok(())
}

/// Events together with the neighbouring relation their parameters refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventLog {
    /// The relation under which every sensitivity was taken.
    pub neighboring: Neighboring,
    /// What happened, in sequence.
    #[serde(deserialize_with = "validated")]
    pub events: Vec<Event>,
}

/// Reads events and refuses those whose fields do not fit together.
pub(crate) fn validated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Event>, D::Error> {
    let events = Vec::<Event>::deserialize(deserializer)?;
    events.iter().try_for_each(Event::validate).map_err(D::Error::custom)?;
    Ok(events)
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
