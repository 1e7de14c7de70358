use super::{Answer, NoiseKind, QueryTerms, Reach, SortedPoints, release_integers};
use crate::mechanism::{Accuracy, DiscreteLaplace, PrivateSelection, SelectionRule};
use crate::{NoiseError, Released, Releaser};
use reticent_core::{Code, Event, Guarantee, MergeError, Neighboring, Partial};

/// A quantile as a ratio: `part` of `whole` of the rows lie below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    part: u64,
    whole: u64,
}

impl Quantile {
    /// The median.
    pub const MEDIAN: Self = Self { part: 1, whole: 2 };

    /// The nearest thousandth to `level`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless 0.001 ≤ level ≤ 0.999.
    pub fn new(level: f64) -> Result<Self, NoiseError> {
        if !(0.001..=0.999).contains(&level) {
            return Err(NoiseError::invalid(
                "quantile",
                level,
                "give a number from 0.001 to 0.999, e.g. 0.5 for the median",
            ));
        }
        let part = (level * 1000.0).round() as u64;
        let divisor =
            (1..=1000).rev().find(|d| part.is_multiple_of(*d) && 1000u64.is_multiple_of(*d)).unwrap_or(1);
        Ok(Self { part: part / divisor, whole: 1000 / divisor })
    }

    /// How far one privacy unit moves whole·#{below} − part·#{all}.
    fn sensitivity(self, neighboring: Neighboring) -> u64 {
        match neighboring {
            Neighboring::AddRemove => self.part.max(self.whole - self.part),
            Neighboring::ReplaceOne => self.whole,
        }
    }
}

/// At most `count` evenly spaced numbers from `low` to `high`; whole numbers when `integers` and
/// there are few enough of them.
///
/// # Errors
/// [`NoiseError::Invalid`] naming `bounds` unless low < high, both finite, or `candidates` below 2.
pub fn even_candidates(low: f64, high: f64, count: usize, integers: bool) -> Result<Vec<f64>, NoiseError> {
    if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) {
        return Err(NoiseError::coded(
            Code::Bounds,
            "bounds",
            format!("{low},{high}"),
            "give two finite numbers, the lower one first",
        ));
    }
    if count < 2 {
        return Err(NoiseError::coded(Code::List, "candidates", count, "give at least 2"));
    }
    let (first, last) = (low.ceil(), high.floor());
    if integers
        && last - first + 1.0 <= count as f64
        && last > first
        && last.abs() <= 1e15
        && first.abs() <= 1e15
    {
        return Ok((first as i64..=last as i64).map(|v| v as f64).collect());
    }
    let mut points: Vec<f64> =
        (0..count).map(|i| (low + (high - low) * (i as f64 / (count - 1) as f64)).clamp(low, high)).collect();
    points.dedup();
    Ok(points)
}

/// How many values lie below, at and above each of a sorted list of public candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTable {
    candidates: SortedPoints,
    /// Values strictly between the previous candidate and this one; the last entry is above all.
    between: Vec<u64>,
    at: Vec<u64>,
}

impl RankTable {
    /// An empty table.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless the candidates are at least two finite numbers in rising order.
    pub fn new(candidates: Vec<f64>) -> Result<Self, NoiseError> {
        if candidates.len() < 2
            || !candidates.iter().all(|c| c.is_finite())
            || !candidates.windows(2).all(|w| w[0] < w[1])
        {
            return Err(NoiseError::coded(
                Code::List,
                "candidates",
                candidates.len(),
                "give at least two finite numbers in rising order",
            ));
        }
        let (between, at) = (vec![0; candidates.len() + 1], vec![0; candidates.len()]);
        Ok(Self { candidates: SortedPoints::new(candidates)?, between, at })
    }

    /// Counts one value, clamped to the candidates' range; not-a-number counts as the lowest.
    pub fn add(&mut self, value: f64) {
        let value = if value.is_nan() { self.first() } else { value.clamp(self.first(), self.last()) };
        let below = self.candidates.below(value);
        // −0 and +0 are the same value.
        match self.candidates.points().get(below) == Some(&value) {
            true => self.at[below] += 1,
            false => self.between[below] += 1,
        }
    }

    /// Counts the finite ones of some values. Value i is looked at if bit i % 64 of word i / 64 of `rows` is set.
    pub fn add_rows(&mut self, values: &[f64], rows: &[u64]) {
        for (values, word) in values.chunks(64).zip(rows) {
            for (place, value) in values.iter().enumerate() {
                if word >> place & 1 == 1 && value.is_finite() {
                    self.add(*value);
                }
            }
        }
    }

    fn first(&self) -> f64 {
        self.candidates.points()[0]
    }

    fn last(&self) -> f64 {
        self.candidates.points()[self.candidates.points().len() - 1]
    }

    /// For each candidate: whole·#{x < c} − part·n and whole·#{x ≤ c} − part·n.
    fn offsets(&self, quantile: Quantile) -> Vec<(i128, i128)> {
        let n: u64 = self.between.iter().sum::<u64>() + self.at.iter().sum::<u64>();
        let target = i128::from(quantile.part) * i128::from(n);
        let mut below = 0i128;
        let mut offsets = Vec::with_capacity(self.at.len());
        for (between, at) in self.between.iter().zip(&self.at) {
            below += i128::from(*between);
            let (strictly, upto) = (below, below + i128::from(*at));
            offsets.push((
                i128::from(quantile.whole) * strictly - target,
                i128::from(quantile.whole) * upto - target,
            ));
            below = upto;
        }
        offsets
    }

    /// A candidate close to the quantile, chosen by permute-and-flip.
    ///
    /// The score is minus the number of (weighted) rows by which a candidate misses the quantile.
    ///
    /// # Guarantee
    /// Pure ε under the terms' neighbouring relation, with a score that moves as for [`quantile`](Self::quantile).
    ///
    /// # Reference
    /// Smith, *Privacy-preserving statistical estimation with optimal convergence rates* (2011), for
    /// quantiles by the exponential mechanism.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the terms cannot be met.
    pub fn choose(
        &self,
        source: &mut impl Releaser,
        terms: &QueryTerms,
        quantile: Quantile,
    ) -> Result<Released<f64>, NoiseError> {
        if terms.delta.get() > 0.0 {
            return Err(NoiseError::invalid(
                "delta",
                terms.delta,
                "leave delta out: a private choice is pure",
            ));
        }
        terms.check(source)?;
        let sensitivity = quantile.sensitivity(terms.neighboring);
        let selection =
            PrivateSelection::for_integers(SelectionRule::PermuteAndFlip, sensitivity, terms.epsilon)?;
        // Zero where the quantile falls on the candidate, else the weighted rows it misses by.
        let misses = |(strictly, upto): (i128, i128)| strictly.max(-upto).max(0);
        let scores: Vec<i128> = self.offsets(quantile).into_iter().map(|offset| -misses(offset)).collect();
        let Released { value, event, guarantee } = source.release(&selection, &scores[..])?;
        Ok(Released { value: self.candidates.points()[value], event, guarantee })
    }

    /// A candidate close to the quantile, and an interval of candidates that holds it.
    ///
    /// Half of the budget [chooses](Self::choose) the answer. A quarter proposes the two ends
    /// of the interval, aimed outside by as much as the noise may err, and a quarter checks each end
    /// with a noisy count; an end that fails its check becomes the bound of the candidates. So the
    /// interval holds at the terms' confidence whatever was proposed.
    ///
    /// # Guarantee
    /// Pure ε under the terms' neighbouring relation: five releases, composed. The score of quantile
    /// p/w moves by at most max(p, w − p) under add-remove and w under replace-one.
    ///
    /// # Reference
    /// Smith, *Privacy-preserving statistical estimation with optimal convergence rates* (2011), for
    /// quantiles by the exponential mechanism.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the terms cannot be met.
    pub fn quantile(
        &self,
        source: &mut impl Releaser,
        terms: &QueryTerms,
        quantile: Quantile,
    ) -> Result<QuantileAnswer, NoiseError> {
        let sensitivity = quantile.sensitivity(terms.neighboring);
        let offsets = self.offsets(quantile);
        let mut bill = Bill::default();

        let Released { value, event, guarantee } = self.choose(source, &terms.share(2.0)?, quantile)?;
        bill.add(event, guarantee)?;

        let eighth = terms.share(8.0)?.surer(2.0)?;
        let proposal =
            PrivateSelection::for_integers(SelectionRule::PermuteAndFlip, sensitivity, eighth.epsilon)?;
        let probe = QueryTerms { noise: NoiseKind::Laplace, ..eighth };
        let check_error = DiscreteLaplace::new(sensitivity, probe.epsilon)?.error(probe.confidence);
        let aim = (proposal.shortfall(self.at.len() as u64, 1, terms.confidence)? + 2.0 * check_error).ceil()
            as i128;

        let mut end =
            |offset: &dyn Fn(&(i128, i128)) -> i128, side: i128, fallback: f64| -> Result<f64, NoiseError> {
                let scores: Vec<i128> = offsets.iter().map(|o| -wide_of(offset(o) * side, aim)).collect();
                let released = source.release(&proposal, &scores[..])?;
                bill.add(released.event, released.guarantee)?;
                let reach = Reach { l1: sensitivity, l2: sensitivity as f64 };
                let check = release_integers(source, &probe, reach, &[offset(&offsets[released.value])])?;
                bill.add(check.event, check.guarantee)?;
                let clear = (check.values[0] * side) as f64 > check.error;
                Ok(if clear { self.candidates.points()[released.value] } else { fallback })
            };
        let low = end(&|o| o.0, -1, self.first())?;
        let high = end(&|o| o.1, 1, self.last())?;
        let guarantee = bill.total(terms)?;
        Ok(Answer { value, interval: vec![[low.min(high), high.max(low)]], events: bill.events, guarantee })
    }
}

/// The candidates must be the same.
impl Partial for RankTable {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.candidates != other.candidates {
            return Err(MergeError::Mismatch { what: "candidates" });
        }
        let rows = |table: &Self| {
            table.between.iter().chain(&table.at).map(|count| u128::from(*count)).sum::<u128>()
        };
        if rows(self) + rows(other) > u128::from(u64::MAX) {
            return Err(MergeError::Overflow);
        }
        let (mut between, mut at) = (self.between.clone(), self.at.clone());
        between.merge(&other.between)?;
        at.merge(&other.at)?;
        (self.between, self.at) = (between, at);
        Ok(())
    }
}

/// How far an offset lies from the aim; beyond it counts an eighth, so that among lumps of equal
/// values the end is rather proposed too far out than too far in. No steeper than the offset itself.
fn wide_of(offset: i128, aim: i128) -> i128 {
    if offset < aim { aim - offset } else { (offset - aim) / 8 }
}

/// A quantile's answer: a candidate.
pub type QuantileAnswer = Answer<f64>;

/// Releases as they add up.
#[derive(Default)]
struct Bill {
    events: Vec<Event>,
    total: Option<Guarantee>,
}

impl Bill {
    fn add(&mut self, event: Event, guarantee: Guarantee) -> Result<(), NoiseError> {
        self.total = Some(match self.total {
            None => guarantee,
            Some(total) => total.then(guarantee)?,
        });
        self.events.push(event);
        Ok(())
    }

    fn total(&self, terms: &QueryTerms) -> Result<Guarantee, NoiseError> {
        self.total
            .ok_or_else(|| NoiseError::invalid("epsilon", terms.epsilon, "spend on at least one release"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ranks by the order of all doubles.
    fn by_total_order(candidates: &[f64], values: &[f64], rows: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let (mut between, mut at) = (vec![0; candidates.len() + 1], vec![0; candidates.len()]);
        let (first, last) = (candidates[0], candidates[candidates.len() - 1]);
        for (place, value) in values.iter().enumerate() {
            if rows[place / 64] >> (place % 64) & 1 == 0 || !value.is_finite() {
                continue;
            }
            let value = value.clamp(first, last);
            match candidates.binary_search_by(|candidate| candidate.total_cmp(&value)) {
                Ok(index) => at[index] += 1,
                // −0 and +0 are the same value but not the same order.
                Err(index) if candidates.get(index) == Some(&value) => at[index] += 1,
                Err(index) if index > 0 && candidates[index - 1] == value => at[index - 1] += 1,
                Err(index) => between[index] += 1,
            }
        }
        (between, at)
    }

    proptest! {
        #[test]
        fn ranks_of_rows_are_those_of_their_values(
            mut candidates in proptest::collection::vec(prop_oneof![any::<f64>(), -2.0f64..2.0, (-9i32..9).prop_map(f64::from)], 2..60),
            values in proptest::collection::vec(prop_oneof![any::<f64>(), -3.0f64..3.0, (-9i32..9).prop_map(f64::from), Just(-0.0)], 0..200),
            rows in proptest::array::uniform4(prop_oneof![Just(u64::MAX), any::<u64>()]),
        ) {
            candidates.retain(|candidate| candidate.is_finite());
            candidates.sort_by(f64::total_cmp);
            candidates.dedup();
            if let Ok(mut table) = RankTable::new(candidates.clone()) {
                table.add_rows(&values, &rows);
                prop_assert_eq!((table.between, table.at), by_total_order(&candidates, &values, &rows));
            }
        }
    }
}
