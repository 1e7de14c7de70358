//! A set of rows of a batch.

use arrow_array::Array;

/// Some of the rows of a batch, one bit each.
///
/// ```
/// use reticent_data::RowMask;
///
/// let mut rows = RowMask::from_fn(100, |row| row % 2 == 0);
/// rows.intersect(&RowMask::from_fn(100, |row| row < 10));
/// assert_eq!(rows.iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowMask {
    /// Row r is bit r % 64 of word r / 64; bits from `rows` on are 0.
    words: Vec<u64>,
    rows: usize,
}

impl RowMask {
    /// All of so many rows.
    pub fn all(rows: usize) -> Self {
        let mut mask = Self { words: vec![u64::MAX; rows.div_ceil(64)], rows };
        mask.trim();
        mask
    }

    /// None of so many rows.
    pub fn none(rows: usize) -> Self {
        Self { words: vec![0; rows.div_ceil(64)], rows }
    }

    /// The rows for which `is_in` holds.
    pub fn from_fn(rows: usize, mut is_in: impl FnMut(usize) -> bool) -> Self {
        let word = |first: usize| {
            let bits = (0..64.min(rows - first)).map(|bit| u64::from(is_in(first + bit)) << bit);
            bits.fold(0, |word, bit| word | bit)
        };
        Self { words: (0..rows).step_by(64).map(word).collect(), rows }
    }

    /// The rows whose value passes a test; faster than [`from_fn`](Self::from_fn) where the test is a comparison.
    pub fn of_values<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> Self {
        let mut words = Vec::with_capacity(values.len().div_ceil(64));
        let (chunks, rest) = values.as_chunks::<64>();
        for chunk in chunks {
            let mut passed = [0u8; 64];
            passed.iter_mut().zip(chunk).for_each(|(passed, value)| *passed = u8::from(test(*value)));
            let word = passed.as_chunks::<8>().0.iter().rev().fold(0, |word, eight| {
                // The product has the eight bytes, each 0 or 1, as the bits of its highest byte.
                word << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
            });
            words.push(word);
        }
        if !rest.is_empty() {
            let bits = rest.iter().enumerate().map(|(bit, value)| u64::from(test(*value)) << bit);
            words.push(bits.fold(0, |word, bit| word | bit));
        }
        Self { words, rows: values.len() }
    }

    /// The rows that have a value by the validity bits of an array.
    pub(super) fn valid(array: &dyn Array) -> Self {
        match array.nulls() {
            None => Self::all(array.len()),
            Some(nulls) => {
                let rows = array.len();
                let words = nulls.inner().bit_chunks().iter_padded().take(rows.div_ceil(64)).collect();
                let mut mask = Self { words, rows };
                mask.trim();
                mask
            }
        }
    }

    /// Bits beyond the rows become 0.
    fn trim(&mut self) {
        let beyond = self.words.len() * 64 - self.rows;
        if let Some(last) = self.words.last_mut() {
            *last &= u64::MAX >> beyond;
        }
    }

    /// The number of rows of the batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Row r is bit r % 64 of word r / 64; bits beyond the batch are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The number of rows in the set.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether a row is in the set.
    ///
    /// # Panics
    /// If the batch does not have the row.
    pub fn contains(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// Takes a row out of the set.
    ///
    /// # Panics
    /// If the batch does not have the row.
    pub fn remove(&mut self, row: usize) {
        self.words[row / 64] &= !(1 << (row % 64));
    }

    /// Keeps the rows that are also in `other`, a set of rows of the same batch.
    pub fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own &= other);
    }

    /// Adds the rows of `other`, a set of rows of the same batch.
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }

    /// Takes out the rows of `other`, a set of rows of the same batch.
    pub fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own &= !other);
    }

    /// The rows that are not in the set, and no others.
    pub fn invert(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.trim();
    }

    /// The rows of the set, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * place + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int32Array;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_of_rows_are_sets(one in proptest::collection::vec(any::<bool>(), 0..200), other: u64) {
            let rows = one.len();
            let two: Vec<bool> = (0..rows).map(|row| other >> (row % 64) & 1 == 1).collect();
            let (a, b) = (RowMask::from_fn(rows, |row| one[row]), RowMask::from_fn(rows, |row| two[row]));
            let of = |mask: &RowMask| (0..rows).map(|row| mask.contains(row)).collect::<Vec<_>>();
            prop_assert_eq!(of(&a), one.clone());
            prop_assert_eq!(&RowMask::of_values(&one, |is_in| is_in), &a);
            prop_assert_eq!(a.iter().count() as u64, a.count());
            prop_assert!(a.iter().all(|row| one[row]) && a.iter().is_sorted());
            let (mut both, mut either, mut not, mut less) = (a.clone(), a.clone(), a.clone(), a.clone());
            both.intersect(&b);
            either.unite(&b);
            not.invert();
            less.subtract(&b);
            for row in 0..rows {
                prop_assert_eq!(both.contains(row), one[row] && two[row]);
                prop_assert_eq!(either.contains(row), one[row] || two[row]);
                prop_assert_eq!(not.contains(row), !one[row]);
                prop_assert_eq!(less.contains(row), one[row] && !two[row]);
            }
            prop_assert_eq!(not.count() + a.count(), rows as u64);
            prop_assert_eq!(RowMask::all(rows).count(), rows as u64);
            prop_assert_eq!(RowMask::none(rows).count(), 0);
        }

        #[test]
        fn validity_bits_are_read_at_any_offset(values in proptest::collection::vec(any::<Option<i32>>(), 1..300), start: u16) {
            let start = usize::from(start) % values.len();
            let array = Int32Array::from(values.clone()).slice(start, values.len() - start);
            let mask = RowMask::valid(&array);
            prop_assert_eq!(mask.rows(), values.len() - start);
            for (row, value) in values[start..].iter().enumerate() {
                prop_assert_eq!(mask.contains(row), value.is_some());
            }
        }
    }
}
