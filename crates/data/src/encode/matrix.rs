//! A sparse matrix of features with its labels.

use std::collections::BTreeMap;

use crate::error::DataError;

/// Rows of features in compressed sparse row form, with labels, under a bound on every row's ℓ2 norm.
///
/// Labels are −1 and +1 for two classes, the position of the class for several, and a number from −1 to
/// 1 (the bounds' ends) for regression. A matrix may have no labels. Users, where the schema has a
/// privacy unit, are numbered from 0 in the order they first appear in.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMatrix {
    pub(super) dimension: usize,
    /// Where each row's entries start, and at the end where the last row's end.
    pub(super) offsets: Vec<usize>,
    /// Increasing within a row.
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
    pub(super) labels: Vec<f64>,
    pub(super) users: Option<Vec<u32>>,
    pub(super) norm_bound: f64,
}

impl FeatureMatrix {
    /// A matrix without rows.
    pub(super) fn empty(dimension: usize, has_users: bool, norm_bound: f64) -> Self {
        let users = has_users.then(Vec::new);
        let (columns, values, labels) = (Vec::new(), Vec::new(), Vec::new());
        Self { dimension, offsets: vec![0], columns, values, labels, users, norm_bound }
    }

    /// A matrix from its parts. Every row that exceeds the norm bound is scaled down to it.
    ///
    /// `labels` is empty or has one per row. A value that is not finite becomes 0 before its row is scaled.
    ///
    /// # Guarantee
    /// Every row's norm is at most the bound, in exact arithmetic and as summed up in floats in any
    /// order, and is a function of that row alone.
    ///
    /// # Errors
    /// If the parts do not fit together or the bound is not a positive number.
    pub fn sparse(
        dimension: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
        labels: Vec<f64>,
        norm_bound: f64,
    ) -> Result<Self, DataError> {
        let refuse = |problem| Err(DataError::InvalidMatrix { problem });
        if !norm_bound.is_finite() || norm_bound <= 0.0 {
            return refuse("its norm bound is not positive");
        }
        if offsets.first() != Some(&0) || offsets.last() != Some(&values.len()) || !offsets.is_sorted() {
            return refuse("its rows do not cover its entries");
        }
        if columns.len() != values.len() {
            return refuse("its columns and values differ in number");
        }
        if !labels.is_empty() && labels.len() + 1 != offsets.len() {
            return refuse("its labels and rows differ in number");
        }
        if labels.iter().any(|label| !label.is_finite()) {
            return refuse("a label is not finite");
        }
        let mut design = Self { dimension, offsets, columns, values, labels, users: None, norm_bound };
        for row in design.offsets.windows(2) {
            let entries = &design.columns[row[0]..row[1]];
            if !entries.is_sorted_by(|a, b| a < b)
                || entries.last().is_some_and(|last| *last as usize >= dimension)
            {
                return refuse("the columns of a row do not increase, or exceed its dimension");
            }
            clip(&mut design.values[row[0]..row[1]], norm_bound);
        }
        Ok(design)
    }

    /// A matrix from dense rows of `dimension` values each; otherwise as [`FeatureMatrix::sparse`].
    ///
    /// # Errors
    /// If the values do not fill the rows, or as [`FeatureMatrix::sparse`].
    pub fn dense(
        dimension: usize,
        values: &[f64],
        labels: Vec<f64>,
        norm_bound: f64,
    ) -> Result<Self, DataError> {
        let fits =
            dimension > 0 && values.len().is_multiple_of(dimension) && u32::try_from(dimension).is_ok();
        if !fits {
            return Err(DataError::InvalidMatrix { problem: "its values do not fill its rows" });
        }
        let mut sparse = Self::empty(dimension, false, norm_bound);
        for row in values.chunks_exact(dimension) {
            for (column, value) in (0..).zip(row) {
                if *value != 0.0 {
                    sparse.columns.push(column);
                    sparse.values.push(*value);
                }
            }
            sparse.offsets.push(sparse.values.len());
        }
        Self::sparse(dimension, sparse.offsets, sparse.columns, sparse.values, labels, norm_bound)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many features a row has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The bound on the norm of a row.
    pub fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// The features of a row that are not 0, in increasing order, and their values.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let entries = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    /// Where each row's entries start, and at the end where the last row's end: one more than there are
    /// rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The feature of every entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of every entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One label per row, or none at all.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The number of every row's user, if the privacy unit is one.
    pub fn users(&self) -> Option<&[u32]> {
        self.users.as_deref()
    }

    /// These rows, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn subset(&self, which: &[usize]) -> Self {
        let mut chosen = Self::empty(self.dimension, self.users.is_some(), self.norm_bound);
        for row in which {
            let (columns, values) = self.row(*row);
            chosen.columns.extend_from_slice(columns);
            chosen.values.extend_from_slice(values);
            chosen.offsets.push(chosen.values.len());
            chosen.labels.extend(self.labels.get(*row));
            if let (Some(users), Some(own)) = (&mut chosen.users, &self.users) {
                users.push(own[*row]);
            }
        }
        chosen
    }

    /// These rows followed by those of another matrix of the same kind; users are dropped.
    ///
    /// # Errors
    /// If the other has another number of features, or labels where these have none.
    pub fn followed_by(mut self, other: &Self) -> Result<Self, DataError> {
        if self.dimension != other.dimension || self.labels.is_empty() != other.labels.is_empty() {
            return Err(DataError::InvalidMatrix {
                problem: "the matrices to join have different shapes or bounds",
            });
        }
        let start = self.values.len();
        self.offsets.extend(other.offsets.iter().skip(1).map(|end| start + end));
        self.columns.extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
        self.labels.extend_from_slice(&other.labels);
        self.users = None;
        self.norm_bound = self.norm_bound.max(other.norm_bound);
        Ok(self)
    }

    /// One row per user: the mean of the user's rows. Labels become the mean, or for classes the most
    /// frequent one (of equals, the smallest). A matrix without users is returned unchanged.
    ///
    /// # Guarantee
    /// A row of the result depends on one user's rows alone, and its norms are at most the largest of
    /// theirs: adding or removing a user adds or removes one row.
    pub fn by_user(self, labels_are_classes: bool) -> Self {
        let Some(users) = &self.users else { return self };
        let mut rows_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (row, user) in users.iter().enumerate() {
            rows_of.entry(*user).or_default().push(row);
        }
        let mut merged = Self::empty(self.dimension, true, self.norm_bound);
        for (user, rows) in &rows_of {
            let mut entries: BTreeMap<u32, f64> = BTreeMap::new();
            for row in rows {
                let (columns, values) = self.row(*row);
                for (column, value) in columns.iter().zip(values) {
                    *entries.entry(*column).or_default() += value;
                }
            }
            let count = rows.len() as f64 * (1.0 + slack(rows.len()));
            merged.columns.extend(entries.keys());
            merged.values.extend(entries.values().map(|sum| sum / count));
            merged.offsets.push(merged.values.len());
            merged.users.get_or_insert_default().push(*user);
            if !self.labels.is_empty() {
                let labels: Vec<f64> = rows.iter().map(|row| self.labels[*row]).collect();
                merged.labels.push(if labels_are_classes { most_frequent(labels) } else { mean(&labels) });
            }
        }
        merged
    }

    /// Removes the rows and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.offsets.truncate(1);
        self.columns.clear();
        self.values.clear();
        self.labels.clear();
        if let Some(users) = &mut self.users {
            users.clear();
        }
    }
}

fn mean(labels: &[f64]) -> f64 {
    (labels.iter().sum::<f64>() / labels.len() as f64).clamp(-1.0, 1.0)
}

fn most_frequent(mut labels: Vec<f64>) -> f64 {
    labels.sort_by(f64::total_cmp);
    let runs = labels.chunk_by(|a, b| a == b);
    // Of several longest runs, the first.
    let longest = runs.rev().max_by_key(|run| run.len());
    longest.map_or(0.0, |run| run[0])
}

/// How far a factor must stay below 1 for a norm of that many entries to keep its bound after rounding.
pub(super) fn slack(entries: usize) -> f64 {
    (entries + 8) as f64 * f64::EPSILON
}

/// Scales a row down to the bound, if it exceeds it.
fn clip(row: &mut [f64], bound: f64) {
    row.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
    let largest = row.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return;
    }
    // The largest entry is factored out: squares neither overflow nor underflow.
    let square: f64 = row.iter().map(|value| (value / largest) * (value / largest)).sum();
    let factor = bound / largest / square.sqrt() * (1.0 - slack(row.len()));
    if factor < 1.0 {
        row.iter_mut().for_each(|value| *value *= factor);
    }
}
