//! Columns as small codes: the bin between two cuts that a value falls into.

use crate::Features;

/// The codes of all rows, column by column, and the cuts they come from.
pub(super) struct Bins {
    rows: usize,
    columns: usize,
    codes: Vec<u8>,
    cuts: Vec<Vec<f32>>,
}

/// One row of [`Bins`].
pub(super) struct Row<'a> {
    bins: &'a Bins,
    row: usize,
}

impl Row<'_> {
    pub(super) fn code(&self, column: usize) -> u8 {
        self.bins.code(column, self.row)
    }
}

impl Bins {
    /// At most `most` bins per column, with about as many rows in each.
    pub(super) fn new(features: &Features, most: usize) -> Self {
        let columns = features.columns;
        let rows = features.values.len() / columns.max(1);
        let mut codes = Vec::with_capacity(rows * columns);
        let mut cuts = Vec::with_capacity(columns);
        let mut sorted = Vec::with_capacity(rows);
        for column in 0..columns {
            let values = features.values.iter().skip(column).step_by(columns.max(1));
            sorted.clear();
            sorted.extend(values.clone().copied());
            sorted.sort_unstable_by(f32::total_cmp);
            let own = cut(&sorted, most);
            codes.extend(values.map(|value| own.partition_point(|c| c < value) as u8));
            cuts.push(own);
        }
        Self { rows, columns, codes, cuts }
    }

    pub(super) fn column(&self, column: usize) -> &[u8] {
        &self.codes[column * self.rows..(column + 1) * self.rows]
    }

    pub(super) fn code(&self, column: usize, row: usize) -> u8 {
        self.codes[column * self.rows + row]
    }

    pub(super) fn row(&self, row: usize) -> Row<'_> {
        debug_assert!(row < self.rows && self.columns > 0);
        Row { bins: self, row }
    }

    /// How many bins a column has.
    pub(super) fn count(&self, column: usize) -> usize {
        self.cuts[column].len() + 1
    }

    /// The largest value of a bin that is not the last.
    pub(super) fn cut(&self, column: usize, code: u8) -> f32 {
        self.cuts[column][usize::from(code)]
    }
}

/// Values of a sorted column after which a new bin begins: all but the largest when there are few, else quantiles.
fn cut(sorted: &[f32], most: usize) -> Vec<f32> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    let Some(largest) = distinct.last().copied() else { return Vec::new() };
    if distinct.len() <= most {
        distinct.pop();
        return distinct;
    }
    let mut cuts: Vec<f32> = (1..most).map(|bin| sorted[bin * sorted.len() / most]).collect();
    cuts.dedup();
    cuts.retain(|c| *c < largest);
    cuts
}
