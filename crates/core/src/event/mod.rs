//! The language between mechanisms and accountants.
//!
//! # Kinds of events
//! The list of kinds is the one in this file, between the braces of `kinds!`: a name, its name in JSON, its fields with their
//! documentation, and what checks that they fit together. From it follow [`Event`] and its JSON, [`Event::key`], the walk over
//! what an event is made of, the reader of files ([`read()`]) and [`Visitor`].
//!
//! What a kind costs, and how it is told in words, stands in one file of its own in `reticent-accounting`, under `src/kind/`. So a
//! new kind is an entry here and a file there; until both are complete the compiler names what is missing.

#[macro_use]
mod declare;
mod check;
mod field;
mod key;
mod read;
mod trials;
mod walk;

pub use field::Knob;
pub use key::EventKey;
pub use read::{EventList, ReadProblem, Step, read};
pub use walk::Walk;

use crate::{
    Delta, Epsilon, InvalidValue, Mu, Neighboring, NoiseMultiplier, Order, Probability, Rho, SamplingRate,
    Sensitivity,
};
use field::Field;
use read::Fields;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use trials::Trials;

/// A kind of events as JSON has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventForm {
    /// Its name.
    pub name: &'static str,
    /// Its fields, in their order.
    pub fields: &'static [FieldShape],
}

/// A field of a kind of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldShape {
    /// Its name.
    pub name: &'static str,
    /// Whether it may be left out.
    pub is_optional: bool,
}

kinds! {
    ($)
    /// One thing that touched private data, described by what it costs and nothing else.
    ///
    /// `noise_multiplier` is the noise scale (Gaussian σ, Laplace b, Student-t scale) divided by the
    /// sensitivity (ℓ1 for Laplace, ℓ2 otherwise) under the neighbouring relation of the [`EventLog`], but for
    /// [`ClippedSum`](Self::ClippedSum), which says the same under either.
    /// The JSON form is stable: names are only ever added, and the meaning of a name never changes.
    pub enum Event;

    /// Continuous Gaussian noise, or a post-processing of it.
    Gaussian as gaussian, checked by check::by_types {
        /// σ / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
    }
    /// Continuous Gaussian noise on a sum to which every record adds a vector of norm at most C, or 0 where it is not
    /// in the batch. It means the same under both relations: adding a record moves the sum by at most C, replacing one
    /// by at most 2C.
    ClippedSum as clipped_sum, checked by check::by_types {
        /// σ / C, the noise over what one record can add.
        noise_multiplier: NoiseMultiplier,
    }
    /// Continuous Laplace noise, or a post-processing of it.
    Laplace as laplace, checked by check::by_types {
        /// b / ℓ1 sensitivity.
        noise_multiplier: NoiseMultiplier,
    }
    /// k-ary randomized response.
    RandomizedResponse as randomized_response, checked by check::randomized_response {
        /// Probability of answering with the true category.
        keep_probability: Probability,
        /// Number of categories, at least 2.
        categories: u64,
    }
    /// A selection whose privacy loss has range ε (exponential mechanism).
    Exponential as exponential, checked by check::by_types {
        /// The ε of the selection.
        epsilon: Epsilon,
    }
    /// Discrete Gaussian noise on the integers.
    DiscreteGaussian as discrete_gaussian, checked by check::by_types {
        /// σ / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// The ℓ2 sensitivity of the integers. The loss depends on it; where it is not given, any is allowed, and only what
        /// holds for all of them is claimed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<Sensitivity>,
    }
    /// Discrete Laplace (two-sided geometric) noise on the integers.
    DiscreteLaplace as discrete_laplace, checked by check::discrete_laplace {
        /// scale / ℓ1 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// The ℓ1 sensitivity of the integers, at least 1; 1 when it is not given, which is the worst that the multiplier
        /// allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<u64>,
    }
    /// Independent Student-t noise on every coordinate, or a post-processing of it.
    StudentT as student_t, checked by check::student_t {
        /// scale / ℓ2 sensitivity.
        noise_multiplier: NoiseMultiplier,
        /// Degrees of freedom, at least 1.
        degrees_of_freedom: u64,
    }
    /// Independent Student-t noise on every coordinate of a sum to which every record adds a vector of bounded shape, or a
    /// post-processing of it. The magnitudes of the vector's entries, sorted from the largest, are at most those of a public
    /// profile: the first `counts[0]` at most `levels[0]`, the next `counts[1]` at most `levels[1]` and so on, and all others
    /// exactly 0. Adding or removing a record moves the sum by such a vector.
    EncodedStudentT as encoded_student_t, checked by check::encoded_student_t {
        /// scale / ℓ2 norm of the profile.
        noise_multiplier: NoiseMultiplier,
        /// Degrees of freedom, from 1 to 1000.
        degrees_of_freedom: u64,
        /// The magnitudes of the profile, strictly decreasing, in any unit: only their ratios count.
        levels: Vec<f64>,
        /// How many entries have each of them.
        counts: Vec<u64>,
    }
    /// Anything ε-differentially private.
    Pure as pure, checked by check::by_types {
        /// The ε.
        epsilon: Epsilon,
    }
    /// Anything (ε, δ)-differentially private.
    Approximate as approximate, checked by check::by_types {
        /// The ε.
        epsilon: Epsilon,
        /// The δ.
        delta: Delta,
    }
    /// Anything ρ-zCDP.
    Zcdp as zcdp, checked by check::by_types {
        /// The ρ.
        rho: Rho,
    }
    /// Anything with Rényi divergence at most ε at one order.
    Rdp as rdp, checked by check::by_types {
        /// The order α.
        order: Order,
        /// The divergence bound.
        epsilon: Epsilon,
    }
    /// Anything μ-Gaussian differentially private.
    Gdp as gdp, checked by check::by_types {
        /// The μ.
        mu: Mu,
    }
    /// An event run on a Poisson sample. Under replace-one, leaving a record out must move the input no further than
    /// replacing it. Of a clipped sum more is known, as `clipped_sum` says: leaving a record out moves it half as far.
    PoissonSampled as poisson_sampled, checked by check::by_types {
        /// Probability of each record to be in the sample.
        rate: SamplingRate,
        /// What is run on the sample.
        event: Box<Event>,
    }
    /// An event run on a fixed-size sample without replacement.
    SampledWithoutReplacement as sampled_without_replacement, checked by check::sampled_without_replacement {
        /// Number of records.
        dataset_size: u64,
        /// Sample size, at most `dataset_size`.
        batch_size: u64,
        /// What is run on the sample.
        event: Box<Event>,
    }
    /// The same event, `count` times in sequence.
    Repeated as repeated, checked by check::by_types {
        /// How often.
        count: u64,
        /// What is repeated.
        event: Box<Event>,
    }
    /// A Poisson sample cut to at most `max_batch` records.
    TruncatedPoisson as truncated_poisson, checked by check::truncated_poisson {
        /// Number of records.
        dataset_size: u64,
        /// Probability of each record to be in the sample before truncation.
        rate: SamplingRate,
        /// Largest batch.
        max_batch: u64,
        /// What is run on the sample.
        event: Box<Event>,
    }
    /// Fixed batches over a shuffled data set. A record that is removed leaves its place empty: the other batches stay as
    /// they are.
    Shuffled as shuffled, checked by check::shuffled {
        /// Batches per epoch.
        steps_per_epoch: u64,
        /// Passes over the data.
        epochs: u64,
        /// What is run on each batch.
        event: Box<Event>,
    }
    /// Each record thrown into one of `bins` batches, anew each epoch.
    BallsInBins as balls_in_bins, checked by check::balls_in_bins {
        /// Number of batches.
        bins: u64,
        /// Passes over the data.
        epochs: u64,
        /// What is run on each batch.
        event: Box<Event>,
    }
    /// Gaussian noise on a sum whose sensitivity is random.
    MixtureOfGaussians as mixture_of_gaussians, checked by check::mixture_of_gaussians {
        /// The possible sensitivities.
        sensitivities: Vec<f64>,
        /// Their probabilities.
        probabilities: Vec<f64>,
        /// σ in units of sensitivity 1.
        noise_multiplier: NoiseMultiplier,
    }
    /// Binary-tree aggregation over a stream.
    TreeAggregation as tree_aggregation, checked by check::tree_aggregation {
        /// σ / sensitivity of one node.
        noise_multiplier: NoiseMultiplier,
        /// Length of the stream.
        steps: u64,
    }
    /// A random number of runs of an event, of which the best is kept.
    RepeatAndSelect as repeat_and_select, checked by check::repeat_and_select {
        /// Mean number of trials.
        mean: f64,
        /// Shape of the truncated negative binomial, or infinite for a Poisson number ("poisson" in JSON).
        #[serde(with = "trials")]
        shape: f64 as Trials,
        /// One trial.
        event: Box<Event>,
    }
    /// Events in sequence on the same data.
    Composed as composed, checked by check::by_types {
        /// The events.
        events: Vec<Event>,
    }
    /// Events on disjoint parts of the data. Under replace-one a record may leave one part and enter another: the parameters
    /// of each part must then hold for a record that comes or goes, as well as for one that is replaced.
    Parallel as parallel, checked by check::by_types {
        /// The events.
        events: Vec<Event>,
    }
}

impl Event {
    /// Checks what the field types cannot: relations between fields, and nested events.
    ///
    /// # Errors
    /// [`InvalidValue`] naming the field that does not fit.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.check()?;
        self.children().iter().try_for_each(Self::validate)
    }
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
mod kind_tests;
#[cfg(test)]
mod tests;
