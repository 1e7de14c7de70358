//! Evaluation on labelled rows. It reads the rows exactly and protects nothing about them.

use crate::ErmError;
use crate::fit::FittedModel;
use crate::multiclass::Multiclass;
use crate::rows::SparseRows;
use crate::store::AnyModel;
use serde::{Deserialize, Serialize};

/// The metrics of one class in a [`ClassificationReport`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// The label, −1 or 1, or the number of the class.
    pub class: i64,
    /// Rows of this class.
    pub rows: u64,
    /// Recall: the share of them that is predicted as this class; none without such rows.
    pub recall: Option<f64>,
    /// Precision: the share of predictions of this class that are right; none without such predictions.
    pub precision: Option<f64>,
}

/// The metrics of a classifier on labelled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassificationReport {
    /// Accuracy: the share of rows with the right class.
    pub accuracy: f64,
    /// Share of the largest class: what a constant prediction reaches.
    pub majority: f64,
    /// AUC: the probability that a row of class 1 has a larger margin than one of class −1; none for one class or several.
    pub auc: Option<f64>,
    /// Every class.
    pub classes: Vec<ClassMetrics>,
}

/// Evaluates a binary model; a margin of 0 counts as class 1.
///
/// # Errors
/// [`ErmError::Shape`] for other features or no rows, [`ErmError::Row`] for labels other than ±1.
pub fn evaluate(fit: &FittedModel, rows: &SparseRows<'_>) -> Result<ClassificationReport, ErmError> {
    rows.check_classes()?;
    let margins = fit.margins(rows)?;
    let truth: Vec<i64> = rows.labels().iter().map(|label| *label as i64).collect();
    let said: Vec<i64> = margins.iter().map(|margin| if *margin >= 0.0 { 1 } else { -1 }).collect();
    let mut evaluation = class_metrics(&truth, &said, &[-1, 1])?;
    evaluation.auc = auc(&margins, rows.labels());
    Ok(evaluation)
}

/// Evaluates a model of several classes.
///
/// # Errors
/// [`ErmError::Shape`] for other features, no rows, or another number of classes than rows.
pub fn evaluate_multiclass(
    model: &Multiclass,
    rows: &SparseRows<'_>,
    class_of: &[u32],
) -> Result<ClassificationReport, ErmError> {
    if class_of.len() != rows.len() {
        return Err(ErmError::Shape(format!("{} classes for {} rows", class_of.len(), rows.len())));
    }
    let said: Vec<i64> = model.predict(rows)?.into_iter().map(i64::from).collect();
    let truth: Vec<i64> = class_of.iter().map(|class| i64::from(*class)).collect();
    let classes: Vec<i64> = (0..model.models.len() as i64).collect();
    class_metrics(&truth, &said, &classes)
}

/// The metrics of a regression model whose values are from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueMetrics {
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// R²: the share of the labels' variance that is explained; none if they do not vary.
    pub r2: Option<f64>,
}

/// Evaluates predicted values; predictions are clamped to what labels can be.
///
/// # Errors
/// [`ErmError::Shape`] for other features or no rows.
pub fn evaluate_values(fit: &FittedModel, rows: &SparseRows<'_>) -> Result<ValueMetrics, ErmError> {
    value_metrics(&fit.margins(rows)?, rows.labels())
}

/// Evaluates predicted values against labels from -1 to 1; predictions are clamped to that.
///
/// # Errors
/// [`ErmError::Shape`] for no rows, or another number of predictions than rows.
pub fn value_metrics(margins: &[f64], labels: &[f64]) -> Result<ValueMetrics, ErmError> {
    if margins.len() != labels.len() {
        return Err(ErmError::Shape(format!("{} predictions for {} rows", margins.len(), labels.len())));
    }
    if labels.is_empty() {
        return Err(ErmError::Shape("no rows to evaluate on".into()));
    }
    let n = labels.len() as f64;
    let errors = || margins.iter().zip(labels).map(|(margin, label)| margin.clamp(-1.0, 1.0) - label);
    let mean = labels.iter().sum::<f64>() / n;
    let varied: f64 = labels.iter().map(|label| (label - mean) * (label - mean)).sum();
    let squares: f64 = errors().map(|error| error * error).sum();
    Ok(ValueMetrics {
        rmse: libm::sqrt(squares / n),
        mae: errors().map(f64::abs).sum::<f64>() / n,
        r2: (varied > 1e-12 * n).then(|| 1.0 - squares / varied),
    })
}

/// The class that a model predicts for every row, by number: 0 or 1 for two classes, a margin of 0 counting as 1.
///
/// # Errors
/// [`ErmError::Shape`] when the rows have another number of features.
pub fn predicted_classes(model: &AnyModel, rows: &SparseRows<'_>) -> Result<Vec<u32>, ErmError> {
    match model {
        AnyModel::Binary(fit) => {
            Ok(fit.margins(rows)?.into_iter().map(|margin| u32::from(margin >= 0.0)).collect())
        }
        AnyModel::Multiclass(many) => many.predict(rows),
    }
}

/// Evaluates predicted classes.
///
/// # Errors
/// [`ErmError::Shape`] for no rows, or another number of predictions than rows.
pub fn class_metrics(truth: &[i64], said: &[i64], classes: &[i64]) -> Result<ClassificationReport, ErmError> {
    if truth.len() != said.len() {
        return Err(ErmError::Shape(format!("{} predictions for {} rows", said.len(), truth.len())));
    }
    if truth.is_empty() {
        return Err(ErmError::Shape("no rows to evaluate on".into()));
    }
    let n = truth.len() as f64;
    let count = |keep: &dyn Fn(i64, i64) -> bool| {
        truth.iter().zip(said).filter(|(t, s)| keep(**t, **s)).count() as u64
    };
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let classes: Vec<ClassMetrics> = classes
        .iter()
        .map(|&class| {
            let (rows, named) = (count(&|t, _| t == class), count(&|_, s| s == class));
            let both = count(&|t, s| t == class && s == class);
            ClassMetrics { class, rows, recall: share(both, rows), precision: share(both, named) }
        })
        .collect();
    let largest = classes.iter().map(|score| score.rows).max().unwrap_or(0);
    Ok(ClassificationReport {
        accuracy: count(&|t, s| t == s) as f64 / n,
        majority: largest as f64 / n,
        auc: None,
        classes,
    })
}

/// The Mann–Whitney statistic, ties counted half; none unless both classes occur.
fn auc(margins: &[f64], labels: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by(|a, b| margins[*a].total_cmp(&margins[*b]));
    let (mut below, mut won, mut from) = (0.0, 0.0, 0);
    while from < order.len() {
        let mut to = from;
        let (mut ones, mut others) = (0.0, 0.0);
        while to < order.len() && margins[order[to]] == margins[order[from]] {
            if labels[order[to]] > 0.0 {
                ones += 1.0
            } else {
                others += 1.0
            }
            to += 1;
        }
        won += ones * (below + 0.5 * others);
        below += others;
        from = to;
    }
    let ones = margins.len() as f64 - below;
    (ones > 0.0 && below > 0.0).then(|| won / (ones * below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auc_counts_pairs() {
        assert_eq!(auc(&[1.0, 2.0, 3.0], &[-1.0, 1.0, 1.0]), Some(1.0));
        assert_eq!(auc(&[1.0, 1.0], &[-1.0, 1.0]), Some(0.5));
        assert_eq!(auc(&[3.0, 1.0, 2.0, 0.0], &[1.0, 1.0, -1.0, -1.0]), Some(0.75));
        assert_eq!(auc(&[1.0], &[1.0]), None);
    }

    #[test]
    fn scores_by_class() {
        let found = class_metrics(&[0, 0, 1, 2], &[0, 1, 1, 1], &[0, 1, 2]).unwrap();
        assert_eq!((found.accuracy, found.majority), (0.5, 0.5));
        assert_eq!((found.classes[1].recall, found.classes[2].precision), (Some(1.0), None));
        assert!(class_metrics(&[], &[], &[0]).is_err());
    }
}
