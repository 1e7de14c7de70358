use super::{Answer, NoiseKind, QueryTerms, Reach, release_integers, share_of};
use crate::mechanism::{Accuracy, StableHistogram, l2_of_units};
use crate::{NoiseError, Releaser};
use reticent_core::{Code, Neighboring};
use std::collections::BTreeMap;

fn integer(value: u64) -> i128 {
    i128::from(value)
}

/// How many rows there are, or satisfy a condition.
///
/// # Guarantee
/// Sensitivity 1 under add-remove and under replace-one.
///
/// # Reference
/// Dwork, Roth (2014), section 3.3.
///
/// # Errors
/// [`NoiseError::Invalid`] when the terms cannot be met.
pub fn count(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    matching: u64,
) -> Result<Answer<i128>, NoiseError> {
    let noisy = release_integers(source, terms, Reach { l1: 1, l2: 1.0 }, &[integer(matching)])?;
    Ok(Answer {
        value: noisy.values[0],
        interval: vec![noisy.interval(0)],
        events: vec![noisy.event],
        guarantee: noisy.guarantee,
    })
}

/// Several counts at once, of conditions that may overlap: a row may count in all of them.
///
/// # Guarantee
/// With k counts, ℓ1 sensitivity k and ℓ2 sensitivity √k, under either neighbouring relation.
///
/// # Reference
/// Dwork, Roth (2014), section 3.3.
///
/// # Errors
/// [`NoiseError::Invalid`] when there are no counts or the terms cannot be met.
pub fn counts(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    matching: &[u64],
) -> Result<Answer<Vec<i128>>, NoiseError> {
    if matching.is_empty() {
        return Err(NoiseError::invalid("counts", "none", "ask for at least one"));
    }
    let k = matching.len() as u64;
    release_vector(source, terms, Reach { l1: k, l2: l2_of_units(k) }, matching)
}

/// How many rows fall into each of the declared categories.
///
/// # Guarantee
/// A row is in at most one category. Under add-remove ℓ1 and ℓ2 sensitivity 1; under replace-one a
/// row can leave one category and enter another: ℓ1 sensitivity 2, ℓ2 sensitivity √2.
///
/// # Reference
/// Dwork, Roth (2014), section 3.3.
///
/// # Errors
/// [`NoiseError::Invalid`] when there are no categories or the terms cannot be met.
pub fn histogram(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    cells: &[u64],
) -> Result<Answer<Vec<i128>>, NoiseError> {
    if cells.is_empty() {
        return Err(NoiseError::coded(Code::List, "categories", "none", "declare at least one"));
    }
    release_vector(source, terms, disjoint_reach(terms.neighboring), cells)
}

/// Which labels the data have, and how many rows each: labels need not be declared, and those with few rows
/// are not named.
///
/// `rows` are the counts of the labels that occur. The value holds the labels whose noisy count reached the
/// threshold of a [`StableHistogram`], in the order of their text. Any one label comes out with an interval
/// that misses its count with probability at most 1 − confidence.
///
/// # Guarantee
/// A row has at most one label. (ε, δ) under the terms' neighbouring relation.
///
/// # Reference
/// As [`StableHistogram`].
///
/// # Errors
/// [`NoiseError::Invalid`] when δ is 0, the noise is not Laplace or the terms cannot be met.
pub fn stable_histogram(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    rows: &BTreeMap<String, u64>,
) -> Result<Answer<BTreeMap<String, i128>>, NoiseError> {
    if terms.noise != NoiseKind::Laplace {
        return Err(NoiseError::invalid("noise", "Gaussian", "choose Laplace: the threshold is made for it"));
    }
    let mechanism = StableHistogram::new(terms.neighboring, terms.epsilon, terms.delta)?;
    let error = mechanism.error(terms.confidence);
    terms.check(source)?;
    let released = source.release(&mechanism, rows)?;
    let around = |count: &i128| [(*count as f64 - error).next_down(), (*count as f64 + error).next_up()];
    Ok(Answer {
        interval: released.value.values().map(around).collect(),
        value: released.value,
        events: vec![released.event],
        guarantee: released.guarantee,
    })
}

fn disjoint_reach(neighboring: Neighboring) -> Reach {
    let units = match neighboring {
        Neighboring::AddRemove => 1,
        Neighboring::ReplaceOne => 2,
    };
    Reach { l1: units, l2: l2_of_units(units) }
}

fn release_vector(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    reach: Reach,
    cells: &[u64],
) -> Result<Answer<Vec<i128>>, NoiseError> {
    let values: Vec<i128> = cells.iter().copied().map(integer).collect();
    let noisy = release_integers(source, terms, reach, &values)?;
    let interval = (0..values.len()).map(|i| noisy.interval(i)).collect();
    Ok(Answer { interval, value: noisy.values, events: vec![noisy.event], guarantee: noisy.guarantee })
}

/// The share of rows that satisfy a condition.
///
/// With `rows_public` (replace-one, no filter: the number of rows is public) one count is released
/// and divided by it. Otherwise the matching and the other rows are two cells of one histogram, so
/// the whole budget serves both.
///
/// # Guarantee
/// As [`count`] or [`histogram`], under the terms' neighbouring relation.
///
/// # Reference
/// Dwork, Roth (2014), section 3.3.
///
/// # Errors
/// [`NoiseError::Invalid`] when `rows_public` is set under add-remove, is 0, or the terms cannot be met.
pub fn proportion(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    matching: u64,
    others: u64,
    rows_public: Option<u64>,
) -> Result<Answer<f64>, NoiseError> {
    if let Some(rows) = checked_rows(terms, rows_public)? {
        let answer = count(source, terms, matching)?;
        let clamp = |v: f64| (v / rows as f64).clamp(0.0, 1.0);
        let [low, high] = answer.interval[0];
        return Ok(Answer {
            value: clamp(answer.value as f64),
            interval: vec![[clamp(low), clamp(high)]],
            events: answer.events,
            guarantee: answer.guarantee,
        });
    }
    let cells = [integer(matching), integer(others)];
    let noisy = release_integers(source, &terms.surer(2.0)?, disjoint_reach(terms.neighboring), &cells)?;
    let (value, interval) = share_of(noisy.values[0] as f64, noisy.values[1] as f64, noisy.error);
    Ok(Answer { value, interval: vec![interval], events: vec![noisy.event], guarantee: noisy.guarantee })
}

/// The public number of rows, which only replace-one has.
pub(super) fn checked_rows(terms: &QueryTerms, rows_public: Option<u64>) -> Result<Option<u64>, NoiseError> {
    match rows_public {
        Some(rows) if terms.neighboring == Neighboring::AddRemove => Err(NoiseError::coded(
            Code::Relation,
            "rows_public",
            rows,
            "leave it out: under add-remove the number of rows is private",
        )),
        Some(0) => Err(NoiseError::coded(Code::Relation, "rows_public", 0, "give at least one row")),
        other => Ok(other),
    }
}
