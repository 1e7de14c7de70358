//! Predictions. They are post-processing of a private model and cost no further privacy.

use crate::ErmError;
use crate::fit::FittedModel;
use crate::rows::SparseRows;
use serde::{Deserialize, Serialize};

/// Weights and an intercept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// One weight per feature.
    pub weights: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
}

impl Linear {
    /// wᵀx + intercept for every row.
    ///
    /// # Errors
    /// [`ErmError::Shape`] when the rows have another number of features.
    pub fn margins(&self, rows: &SparseRows<'_>) -> Result<Vec<f64>, ErmError> {
        margins(&self.weights, self.intercept, rows)
    }
}

fn margins(weights: &[f64], intercept: f64, rows: &SparseRows<'_>) -> Result<Vec<f64>, ErmError> {
    if weights.len() != rows.dimension() {
        return Err(ErmError::Shape(format!(
            "the model has {} features, the rows have {}",
            weights.len(),
            rows.dimension()
        )));
    }
    let margin = |row: usize| {
        let (columns, values) = rows.row(row);
        columns.iter().zip(values).map(|(c, x)| weights[*c as usize] * x).sum::<f64>() + intercept
    };
    Ok((0..rows.len()).map(margin).collect())
}

impl FittedModel {
    /// wᵀx + intercept for every row: the predicted value for the squared loss, positive for class 1 otherwise.
    ///
    /// # Errors
    /// [`ErmError::Shape`] when the rows have another number of features.
    pub fn margins(&self, rows: &SparseRows<'_>) -> Result<Vec<f64>, ErmError> {
        margins(&self.weights, self.intercept, rows)
    }

    /// P(y = 1) for every row.
    ///
    /// # Errors
    /// [`ErmError::Kind`] for a loss other than the logistic, [`ErmError::Shape`] as in [`margins`](Self::margins).
    pub fn probabilities(&self, rows: &SparseRows<'_>) -> Result<Vec<f64>, ErmError> {
        let margins = self.margins(rows)?;
        margins.iter().map(|margin| self.loss.probability(*margin)).collect::<Option<_>>().ok_or(
            ErmError::Kind {
                method: "this loss",
                remedy: "only the logistic loss gives probabilities: use margins",
            },
        )
    }
}
