//! What must fit together in an event beyond what the types of its fields say.

use super::kind::{
    BallsInBins, DiscreteLaplace, EncodedStudentT, MixtureOfGaussians, RandomizedResponse, RepeatAndSelect,
    SampledWithoutReplacement, Shuffled, StudentT, TreeAggregation, TruncatedPoisson,
};
use crate::{Code, InvalidValue};

/// The types of the fields say it all.
pub(super) fn by_types<T>(_: &T) -> Result<(), InvalidValue> {
    Ok(())
}

pub(super) fn randomized_response(event: &RandomizedResponse<'_>) -> Result<(), InvalidValue> {
    at_least("categories", *event.categories, 2).map_err(|invalid| invalid.coded(Code::List))?;
    let (keep, uniform) = (event.keep_probability.get(), 1.0 / *event.categories as f64);
    if keep < uniform || keep >= 1.0 {
        return Err(InvalidValue::new(
            "keep_probability",
            keep,
            format!("give a number from 1/categories = {uniform} to below 1"),
        ));
    }
    Ok(())
}

pub(super) fn discrete_laplace(event: &DiscreteLaplace<'_>) -> Result<(), InvalidValue> {
    at_least("sensitivity", event.sensitivity.unwrap_or(1), 1)
}

pub(super) fn student_t(event: &StudentT<'_>) -> Result<(), InvalidValue> {
    at_least("degrees_of_freedom", *event.degrees_of_freedom, 1)
}

/// Levels of a profile at most.
const MOST_LEVELS: usize = 64;

/// Entries of a profile at most.
const MOST_ENTRIES: u64 = 1_000_000_000;

/// Degrees of freedom at most.
const MOST_FREEDOM: u64 = 1000;

pub(super) fn encoded_student_t(event: &EncodedStudentT<'_>) -> Result<(), InvalidValue> {
    let (levels, counts) = (event.levels, event.counts);
    if !(1..=MOST_FREEDOM).contains(event.degrees_of_freedom) {
        return Err(InvalidValue::new(
            "degrees_of_freedom",
            *event.degrees_of_freedom,
            format!("give a whole number from 1 to {MOST_FREEDOM}"),
        ));
    }
    if !(1..=MOST_LEVELS).contains(&levels.len()) {
        return Err(InvalidValue::new(
            "levels",
            format!("{} levels", levels.len()),
            format!("give 1 to {MOST_LEVELS} levels: magnitudes in between may be rounded up to them"),
        ));
    }
    if let Some(bad) = levels.iter().find(|level| !(1e-100..=1e100).contains(*level)) {
        return Err(InvalidValue::new("levels", bad, "give numbers from 1e-100 to 1e100, in any unit"));
    }
    if let Some(pair) = levels.windows(2).find(|pair| pair[0] <= pair[1]) {
        return Err(InvalidValue::new(
            "levels",
            pair[1],
            "sort the levels from the largest, each of them once",
        ));
    }
    if counts.len() != levels.len() {
        return Err(InvalidValue::new(
            "counts",
            format!("{} entries", counts.len()),
            format!("give one per level ({})", levels.len()),
        ));
    }
    counts.iter().try_for_each(|count| at_least("counts", *count, 1))?;
    let total = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    if total > MOST_ENTRIES {
        return Err(InvalidValue::new(
            "counts",
            format!("{total} in all"),
            format!("give at most {MOST_ENTRIES} in all"),
        ));
    }
    Ok(())
}

pub(super) fn tree_aggregation(event: &TreeAggregation<'_>) -> Result<(), InvalidValue> {
    at_least("steps", *event.steps, 1)
}

pub(super) fn sampled_without_replacement(event: &SampledWithoutReplacement<'_>) -> Result<(), InvalidValue> {
    at_least("dataset_size", *event.dataset_size, 1)?;
    at_most("batch_size", *event.batch_size, *event.dataset_size, "dataset_size")
}

pub(super) fn truncated_poisson(event: &TruncatedPoisson<'_>) -> Result<(), InvalidValue> {
    at_least("dataset_size", *event.dataset_size, 1)?;
    at_least("max_batch", *event.max_batch, 1)
}

pub(super) fn shuffled(event: &Shuffled<'_>) -> Result<(), InvalidValue> {
    at_least("steps_per_epoch", *event.steps_per_epoch, 1)
}

pub(super) fn balls_in_bins(event: &BallsInBins<'_>) -> Result<(), InvalidValue> {
    at_least("bins", *event.bins, 1)
}

pub(super) fn repeat_and_select(event: &RepeatAndSelect<'_>) -> Result<(), InvalidValue> {
    let (mean, shape) = (*event.mean, *event.shape);
    if !(mean.is_finite() && mean >= 1.0) {
        return Err(InvalidValue::new("mean", mean, "give a finite number of at least 1"));
    }
    if shape.is_nan() || shape <= -1.0 {
        return Err(InvalidValue::new(
            "shape",
            shape,
            "give a number above -1, or poisson for a Poisson number of trials",
        ));
    }
    Ok(())
}

pub(super) fn mixture_of_gaussians(event: &MixtureOfGaussians<'_>) -> Result<(), InvalidValue> {
    let (sensitivities, probabilities) = (event.sensitivities, event.probabilities);
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
