//! The input of every fit: sparse rows of bounded norm.
//!
//! [`SparseRows`] borrows arrays in compressed-row form and checks, once, everything the proofs need: finite
//! values, strictly increasing columns, ℓ2 norm at most 1 and labels in [−1, 1]. Rows that are too long are
//! brought to the ball by the public rule of [`clip`].

use crate::ErmError;
use crate::problem::Compensated;

/// Rows may exceed norm 1 by this much, which the losses' constants pay for.
pub const NORM_SLACK: f64 = 1e-12;

/// The most rows there can be.
pub(crate) const MOST_ROWS: u64 = 1 << 32;

/// Rows of features with their labels, borrowed from arrays in compressed-row form.
///
/// Row i has the columns `columns[offsets[i]..offsets[i + 1]]` with the `values` of the same places.
///
/// # Guarantee
/// Every value is finite, columns increase strictly within a row, every row has ℓ2 norm at most
/// 1 + 10⁻¹² and ℓ1 norm at most [`l1_bound`](Self::l1_bound), and every label is in [−1, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRows<'a> {
    dimension: usize,
    offsets: &'a [usize],
    columns: &'a [u32],
    values: &'a [f64],
    labels: &'a [f64],
    l1_bound: f64,
    longest: usize,
}

impl<'a> SparseRows<'a> {
    /// Checks the arrays. The ℓ1 bound is √dimension until [`with_l1_bound`](Self::with_l1_bound).
    ///
    /// # Errors
    /// [`ErmError::Shape`] when the arrays do not fit together, [`ErmError::Row`] for the first row that breaks
    /// the contract.
    pub fn new(
        dimension: usize,
        offsets: &'a [usize],
        columns: &'a [u32],
        values: &'a [f64],
        labels: &'a [f64],
    ) -> Result<Self, ErmError> {
        check_shape(dimension, offsets, columns, values, labels)?;
        let mut longest = 0;
        for (row, (ends, label)) in offsets.windows(2).zip(labels).enumerate() {
            let bad = |why: String| Err(ErmError::Row { row, why });
            let (columns, values) = (&columns[ends[0]..ends[1]], &values[ends[0]..ends[1]]);
            longest = longest.max(columns.len());
            if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
                return bad("columns must increase strictly".into());
            }
            if let Some(column) = columns.last().filter(|column| **column as usize >= dimension) {
                return bad(format!("column {column} is not below the dimension {dimension}"));
            }
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return bad(format!("the value {value} is not finite: clean the data first"));
            }
            let norm = l2(values);
            if norm > 1.0 + NORM_SLACK {
                return bad(format!("its norm {norm} is above 1: clip the rows first"));
            }
            if !(-1.0..=1.0).contains(label) {
                return bad(format!("the label {label} is outside -1..1"));
            }
        }
        let l1_bound = libm::sqrt(dimension as f64) * (1.0 + 2.0 * NORM_SLACK);
        Ok(Self { dimension, offsets, columns, values, labels, l1_bound, longest })
    }

    /// The same rows with a public bound on their ℓ1 norm. A row with at most k non-zeros has ℓ1 norm at most
    /// √k, so a schema of k columns, one-hot or numeric, gives √k.
    ///
    /// The bound must come from public knowledge such as the schema, never from the rows.
    ///
    /// # Errors
    /// [`ErmError::Row`] for the first row above the bound, [`ErmError::Invalid`] when it is not positive.
    pub fn with_l1_bound(mut self, bound: f64) -> Result<Self, ErmError> {
        if !(bound.is_finite() && bound > 0.0) {
            return Err(ErmError::invalid("l1_bound", bound, "give a finite number above 0"));
        }
        for row in 0..self.len() {
            let norm = total(self.row(row).1.iter().map(|value| value.abs()));
            if norm > bound * (1.0 + NORM_SLACK) {
                return Err(ErmError::Row { row, why: format!("its l1 norm {norm} is above {bound}") });
            }
        }
        self.l1_bound = self.l1_bound.min(bound * (1.0 + 2.0 * NORM_SLACK));
        Ok(self)
    }

    /// The same rows with other labels, such as one class against the rest.
    ///
    /// # Errors
    /// [`ErmError::Shape`] or [`ErmError::Row`] as in [`new`](Self::new).
    pub fn with_labels(mut self, labels: &'a [f64]) -> Result<Self, ErmError> {
        if labels.len() != self.len() {
            return Err(ErmError::Shape(format!("{} labels for {} rows", labels.len(), self.len())));
        }
        if let Some(row) = labels.iter().position(|label| !(-1.0..=1.0).contains(label)) {
            let why = format!("the label {} is outside -1..1", labels[row]);
            return Err(ErmError::Row { row, why });
        }
        self.labels = labels;
        Ok(self)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of features.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The labels.
    pub fn labels(&self) -> &'a [f64] {
        self.labels
    }

    /// The public bound on the ℓ1 norm of a row, slack included.
    pub fn l1_bound(&self) -> f64 {
        self.l1_bound
    }

    /// The most non-zeros of a row.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Columns and values of a row.
    #[inline]
    pub fn row(&self, index: usize) -> (&'a [u32], &'a [f64]) {
        let (from, to) = (self.offsets[index], self.offsets[index + 1]);
        (&self.columns[from..to], &self.values[from..to])
    }

    /// Checks that labels are −1 or 1, as classification losses need them.
    pub(crate) fn check_classes(&self) -> Result<(), ErmError> {
        match self.labels.iter().position(|label| label.abs() != 1.0) {
            None => Ok(()),
            Some(row) => {
                Err(ErmError::Row { row, why: format!("the label {} is neither -1 nor 1", self.labels[row]) })
            }
        }
    }
}

fn check_shape(
    dimension: usize,
    offsets: &[usize],
    columns: &[u32],
    values: &[f64],
    labels: &[f64],
) -> Result<(), ErmError> {
    let bad = |why: String| Err(ErmError::Shape(why));
    if dimension == 0 || dimension > 1 << 31 {
        return bad(format!("{dimension} features: give from 1 to 2^31"));
    }
    if labels.len() as u64 > MOST_ROWS {
        return bad(format!("{} rows: give at most 2^32", labels.len()));
    }
    if columns.len() != values.len() {
        return bad(format!("{} columns and {} values", columns.len(), values.len()));
    }
    if offsets.len() != labels.len() + 1 {
        return bad(format!("{} offsets for {} labels: one more is needed", offsets.len(), labels.len()));
    }
    let ends = (offsets.first().copied(), offsets.last().copied());
    if ends != (Some(0), Some(values.len())) || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return bad(format!("offsets must rise from 0 to the number of values, {}", values.len()));
    }
    Ok(())
}

/// Brings every row with ℓ2 norm above 1 to norm 1 by scaling it. A row is changed by its own values alone,
/// so neighbouring data sets stay neighbours.
///
/// A row with a value that is not finite is left unchanged: [`SparseRows::new`] reports it.
pub fn clip(offsets: &[usize], values: &mut [f64]) {
    for ends in offsets.windows(2) {
        if let Some(row) = values.get_mut(ends[0]..ends[1]) {
            let largest = row.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            if largest == 0.0 || row.iter().any(|value| !value.is_finite()) {
                continue;
            }
            let norm = l2(row);
            if norm.is_finite() && norm > 1.0 {
                row.iter_mut().for_each(|value| *value /= norm);
            } else if !norm.is_finite() {
                row.iter_mut().for_each(|value| *value /= largest);
                let norm = l2(row);
                row.iter_mut().for_each(|value| *value /= norm);
            }
        }
    }
}

fn l2(values: &[f64]) -> f64 {
    libm::sqrt(total(values.iter().map(|value| value * value)))
}

/// The sum of terms that are not negative, off by at most 2⁻⁴³ of itself for up to 2³¹ of them; infinite where it
/// overflows.
fn total(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = Compensated::default();
    terms.for_each(|term| sum.add(term));
    let value = sum.value();
    if value.is_nan() { f64::INFINITY } else { value }
}
