//! Summaries of parts of a table that add up to the summary of the whole table.

use crate::{Code, Coded};
use std::collections::BTreeMap;
use thiserror::Error;

/// A summary of some rows that can be merged with the summary of other rows: a count, a sum on a fixed grid, a table of ranks.
///
/// # Guarantee
/// Merging is exact. For any partition of the rows, merging the summaries of the parts in any order gives the summary of one pass
/// over all rows, bit for bit. Implementations therefore hold integers: sums of floating-point numbers depend on their order.
///
/// # Reference
/// Integer sums: Casacuberta et al., *Widespread Underestimation of Sensitivity in Differentially Private Libraries* (2022).
pub trait Partial {
    /// Adds the summary of other rows.
    ///
    /// # Errors
    /// [`MergeError`] if the two answer different questions or are too large to be added. Nothing has changed then.
    fn merge(&mut self, other: &Self) -> Result<(), MergeError>;
}

/// Why two summaries cannot be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MergeError {
    /// They answer different questions.
    #[error("the summaries have different {what}: merge summaries of one question only")]
    Mismatch {
        /// What differs, in the plural, such as `bounds`.
        what: &'static str,
    },
    /// Together they count more rows than fit 64 bits.
    #[error("the summaries together count more rows than fit 64 bits: merge every part once only")]
    Overflow,
}

impl Coded for MergeError {
    fn code(&self) -> Code {
        Code::Internal
    }
}

impl Partial for u64 {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        *self = self.checked_add(*other).ok_or(MergeError::Overflow)?;
        Ok(())
    }
}

/// Counts of the same cells.
impl Partial for Vec<u64> {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.len() != other.len() {
            return Err(MergeError::Mismatch { what: "cells" });
        }
        let added = self.iter().zip(other).map(|(own, more)| own.checked_add(*more));
        *self = added.collect::<Option<_>>().ok_or(MergeError::Overflow)?;
        Ok(())
    }
}

/// Counts of the labels that occur.
impl<K: Ord + Clone> Partial for BTreeMap<K, u64> {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let fits =
            |(label, more): (&K, &u64)| self.get(label).is_none_or(|own| own.checked_add(*more).is_some());
        if !other.iter().all(fits) {
            return Err(MergeError::Overflow);
        }
        for (label, more) in other {
            *self.entry(label.clone()).or_default() += more;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_that_fails_changes_nothing() {
        let mut count = u64::MAX - 1;
        assert_eq!(count.merge(&2), Err(MergeError::Overflow));
        assert_eq!((count.merge(&1), count), (Ok(()), u64::MAX));
        let mut cells = vec![1, u64::MAX];
        assert_eq!(cells.merge(&vec![1, 1]), Err(MergeError::Overflow));
        assert_eq!(cells.merge(&vec![1]), Err(MergeError::Mismatch { what: "cells" }));
        assert_eq!(cells, [1, u64::MAX]);
        let labels = |list: &[(&str, u64)]| -> BTreeMap<String, u64> {
            list.iter().map(|(label, count)| ((*label).to_owned(), *count)).collect()
        };
        let mut counts = labels(&[("a", u64::MAX)]);
        assert_eq!(Partial::merge(&mut counts, &labels(&[("b", 1), ("a", 1)])), Err(MergeError::Overflow));
        assert_eq!(counts, labels(&[("a", u64::MAX)]));
        assert_eq!(Partial::merge(&mut counts, &labels(&[("b", 2)])), Ok(()));
        assert_eq!(counts, labels(&[("a", u64::MAX), ("b", 2)]));
    }
}
