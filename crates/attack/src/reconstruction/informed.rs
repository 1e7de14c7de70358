//! An informed adversary: all records but one are known, and a model that was trained on all of them is seen.
//!
//! A linear model with an intercept minimizes F(u, t) = Σᵢ ℓ(uᵀxᵢ + t, yᵢ) + (λ/2)(‖u‖²/a² + t²/c²), where c is the constant feature of
//! the intercept and a² = 1 − c². At the minimum the gradient is 0, so with sᵢ = ℓ′(uᵀxᵢ + t, yᵢ) the unknown record z has
//!
//! ```text
//!  s_z     = −(Σ_{i≠z} sᵢ    + λ·t/c²)
//!  s_z·x_z = −(Σ_{i≠z} sᵢxᵢ  + λ·u/a²)
//! ```
//!
//! and x_z is their quotient. The losses here fall with y·margin, so the sign of s_z is that of −y_z. With one model a class, each told
//! from the rest, every class k gives such a pair, and x_z = Σₖ s_k(s_k x) / Σₖ s_k² has the smallest squared error.
//!
//! Balle, Cherubin, Hayes, *Reconstructing training data with informed adversaries* (2022), section III.

use super::{Reconstruction, measure, threat};
use crate::AttackError;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_audit::findings::Estimate;
use reticent_audit::interval;
use reticent_data::{FeatureMatrix, keyed_hash};
use reticent_erm::{FitMethod, Linear, MarginLoss};
use std::collections::BTreeMap;

/// A record counts as recovered when the error is below this share of its norm.
const RECOVERED: f64 = 0.01;

/// The largest relative error that is stated.
const MOST: f64 = 10.0;

/// A fitted linear classifier as an informed adversary knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearTarget<'a> {
    /// One set of weights for two classes, one a class for several.
    pub models: &'a [Linear],
    /// The loss.
    pub loss: MarginLoss,
    /// How it was fitted.
    pub method: FitMethod,
    /// Λ of the mean objective.
    pub regularization: f64,
    /// The public number of rows.
    pub size: u64,
    /// The value of the constant feature.
    pub intercept: f64,
}

/// How many records are attacked, and how it is stated.
#[derive(Debug, Clone, PartialEq)]
pub struct InformedSettings {
    /// How many training records are attacked, one at a time.
    pub records: usize,
    /// The confidence of intervals.
    pub confidence: f64,
    /// What the choice of records depends on.
    pub key: String,
}

/// The margin of a row.
trait Margin {
    fn margin(&self, rows: &FeatureMatrix, row: usize) -> f64;
}

impl Margin for Linear {
    fn margin(&self, rows: &FeatureMatrix, row: usize) -> f64 {
        let (columns, values) = rows.row(row);
        columns.iter().zip(values).map(|(c, x)| self.weights[*c as usize] * x).sum::<f64>() + self.intercept
    }
}

/// Sums over records, for one model.
#[derive(Debug, Clone)]
struct Sums {
    slopes: f64,
    products: Vec<f64>,
}

impl LinearTarget<'_> {
    /// Refuses what the closed form is not about.
    pub(super) fn check(&self) -> Result<(), AttackError> {
        if matches!(self.method, FitMethod::Descent | FitMethod::Sgd) {
            let remedy =
                "the closed form is about minimizers, exact or with noise: a descent stops elsewhere";
            return Err(AttackError::premise("method", self.method, remedy));
        }
        if self.intercept <= 0.0 {
            let remedy = "without an intercept the gradient tells the direction of a record only";
            return Err(AttackError::premise("intercept", self.intercept, remedy));
        }
        Ok(())
    }

    /// 1 where a record of this class is on the positive side of a model, -1 otherwise.
    fn side(&self, model: usize, label: f64) -> f64 {
        match self.models.len() {
            1 => label,
            _ if label == model as f64 => 1.0,
            _ => -1.0,
        }
    }

    /// Minus the loss of every row, summed over the models.
    pub fn log_likelihoods(&self, rows: &FeatureMatrix) -> Vec<f64> {
        let loss = |row: usize, model: usize| {
            self.loss.value(self.models[model].margin(rows, row), self.side(model, rows.labels()[row]))
        };
        let each = |row: usize| -(0..self.models.len()).map(|model| loss(row, model)).sum::<f64>();
        (0..rows.rows()).map(each).collect()
    }

    /// s and s·x of the record that a second model has beside these rows, to first order in the difference of both.
    pub(super) fn moved_to(&self, second: &Self, model: usize, rows: &FeatureMatrix) -> (f64, Vec<f64>) {
        let (own, other) = (&self.models[model], &second.models[model]);
        let lambdas = [self, second].map(|own| own.regularization * own.size as f64);
        let (c, a) = (self.intercept * self.intercept, 1.0 - self.intercept * self.intercept);
        // λ′RΔ + (λ′ − λ)Rθ = R(λ′θ′ − λθ).
        let shift = |own: f64, other: f64, scale: f64| (lambdas[1] * other - lambdas[0] * own) / scale;
        let products =
            own.weights.iter().zip(&other.weights).map(|(own, other)| shift(*own, *other, a)).collect();
        let mut sums = Sums { slopes: shift(own.intercept, other.intercept, c), products };
        for row in 0..rows.rows() {
            let margin = own.margin(rows, row);
            let (_, curvature) = self.loss.derivatives(margin, self.side(model, rows.labels()[row]));
            sums.add(rows, row, curvature * (other.margin(rows, row) - margin));
        }
        (-sums.slopes, sums.products.iter().map(|sum| -sum).collect())
    }

    fn slope(&self, model: usize, rows: &FeatureMatrix, row: usize) -> f64 {
        let margin = self.models[model].margin(rows, row);
        self.loss.derivatives(margin, self.side(model, rows.labels()[row])).0
    }

    /// The gradient of the objective over all rows, with the number of rows that it was fitted to.
    fn gradient(&self, model: usize, rows: &FeatureMatrix) -> Sums {
        let Linear { weights, intercept } = &self.models[model];
        let lambda = self.regularization * self.size as f64;
        let (c, a) = (self.intercept * self.intercept, 1.0 - self.intercept * self.intercept);
        let products = weights.iter().map(|weight| lambda * weight / a).collect();
        let mut sums = Sums { slopes: lambda * intercept / c, products };
        (0..rows.rows()).for_each(|row| sums.add(rows, row, self.slope(model, rows, row)));
        sums
    }
}

impl Sums {
    fn add(&mut self, rows: &FeatureMatrix, row: usize, slope: f64) {
        let (columns, values) = rows.row(row);
        columns
            .iter()
            .zip(values)
            .for_each(|(column, value)| self.products[*column as usize] += slope * value);
        self.slopes += slope;
    }
}

/// A record and its label from what its gradient comes to in every model: s and s·x.
pub(super) fn solve(found: &[(f64, Vec<f64>)]) -> (Vec<f64>, f64) {
    let squares: f64 = found.iter().map(|(slope, _)| slope * slope).sum::<f64>().max(f64::MIN_POSITIVE);
    let width = found.first().map_or(0, |(_, products)| products.len());
    let each =
        |column: usize| found.iter().map(|(slope, products)| slope * products[column]).sum::<f64>() / squares;
    let steepest = found.iter().enumerate().min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
    let label = match (found, steepest) {
        ([(slope, _)], _) => {
            if *slope < 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        (_, Some((class, _))) => class as f64,
        (_, None) => 0.0,
    };
    ((0..width).map(each).collect(), label)
}

/// ‖a − b‖/‖b‖, at most [`MOST`].
pub(super) fn relative_error(guess: &[f64], record: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let size = norm(&mut record.iter().copied()).max(1e-12);
    let error = norm(&mut guess.iter().zip(record).map(|(a, b)| a - b)) / size;
    if error.is_nan() { MOST } else { error.min(MOST) }
}

/// A row with its zeros.
pub(super) fn dense(rows: &FeatureMatrix, row: usize) -> Vec<f64> {
    let mut dense = vec![0.0; rows.dimension()];
    let (columns, values) = rows.row(row);
    columns.iter().zip(values).for_each(|(column, value)| dense[*column as usize] = *value);
    dense
}

/// The mean of rows.
pub(super) fn mean(rows: &FeatureMatrix) -> Vec<f64> {
    let mut sums = Sums { slopes: 0.0, products: vec![0.0; rows.dimension()] };
    let share = 1.0 / rows.rows().max(1) as f64;
    (0..rows.rows()).for_each(|row| sums.add(rows, row, share));
    sums.products
}

/// Recovers training records of a linear model, one at a time, by somebody who knows all the others.
///
/// # Errors
/// [`AttackError::Invalid`] for a model that was fitted by descent or has no intercept, and for fewer than two rows.
pub fn informed(
    rows: &FeatureMatrix,
    model: &LinearTarget<'_>,
    settings: &InformedSettings,
) -> Result<Reconstruction, AttackError> {
    model.check()?;
    if rows.rows() < 2 || settings.records == 0 {
        let remedy = "give at least two training records, and attack at least one";
        return Err(AttackError::invalid("records", rows.rows().min(settings.records), remedy));
    }
    let mut order: Vec<usize> = (0..rows.rows()).collect();
    order.sort_by_cached_key(|row| (keyed_hash(&settings.key, format!("informed {row}").as_bytes()), *row));
    order.truncate(settings.records);
    let whole: Vec<Sums> = (0..model.models.len()).map(|own| model.gradient(own, rows)).collect();
    let (guess, count) = (mean(rows), rows.rows() as f64);
    let (mut errors, mut labels) = (Vec::new(), [0_u64; 2]);
    let usual = most_frequent(rows.labels());
    for row in &order {
        let of_model = |own: usize| {
            let mut others = whole[own].clone();
            others.add(rows, *row, -model.slope(own, rows, *row));
            (-others.slopes, others.products.iter().map(|sum| -sum).collect())
        };
        let (record, label) = solve(&(0..model.models.len()).map(of_model).collect::<Vec<_>>());
        let (truth, own) = (dense(rows, *row), rows.labels()[*row]);
        // The mean of the others.
        let without: Vec<f64> =
            guess.iter().zip(&truth).map(|(mean, own)| (mean * count - own) / (count - 1.0)).collect();
        errors.push([relative_error(&record, &truth), relative_error(&without, &truth)]);
        labels[0] += u64::from(label == own);
        labels[1] += u64::from(usual == own);
    }
    let found = |side: usize| errors.iter().filter(|pair| pair[side] < RECOVERED).count() as u64;
    let trials = order.len() as u64;
    let condition = "one unknown record";
    let counted = |what: &str, [attack, baseline]: [u64; 2]| {
        compared(what, condition, [attack, baseline], trials, settings.confidence)
    };
    let measures = vec![
        counted("share of records recovered with an error below 1 %", [found(0), found(1)]),
        measure(
            "median relative error of a record",
            condition,
            [0.0, MOST],
            &errors,
            false,
            settings.confidence,
        ),
        counted("share of labels recovered", labels),
    ];
    let disclosure = Disclosure {
        name: "informed-adversary".to_owned(),
        kind: AttackKind::Reconstruction,
        about: "solves for the one record that makes the gradient of the training objective vanish at the model".to_owned(),
        settings: BTreeMap::from([
            ("method of the model".to_owned(), model.method.to_string()),
            ("regularization".to_owned(), format!("{:e}", model.regularization)),
        ]),
        threat: threat("all weights of the model", "all training records but one, and how the model was fitted"),
        records: trials,
        measures,
        bound: None,
        warnings: vec![
            "knowing all records but one is the worst case that differential privacy is about: few attackers know as much".to_owned(),
        ],
    };
    Ok(Reconstruction { disclosure, shown: Vec::new() })
}

/// The label that occurs most often.
fn most_frequent(labels: &[f64]) -> f64 {
    let count = |wanted: &f64| labels.iter().filter(|label| *label == wanted).count();
    let mut kinds = labels.to_vec();
    kinds.sort_by(f64::total_cmp);
    kinds.dedup();
    kinds.into_iter().max_by_key(count).unwrap_or(0.0)
}

/// Shares of an attack and of the guess without it, with the difference of both, whose interval holds whatever they have to do with each
/// other: each share's is taken at half of the error.
pub(super) fn compared(
    what: &str,
    condition: &str,
    [attack, baseline]: [u64; 2],
    trials: u64,
    confidence: f64,
) -> DisclosureMeasure {
    let at = |successes: u64, alpha: f64| {
        let (lower, upper) = interval::two_sided(successes, trials, alpha);
        let value = successes as f64 / trials.max(1) as f64;
        Estimate { value, lower, upper, confidence }
    };
    let alpha = 1.0 - confidence;
    let (own, other) = (at(attack, 0.5 * alpha), at(baseline, 0.5 * alpha));
    let difference = Estimate {
        value: own.value - other.value,
        lower: own.lower - other.upper,
        upper: own.upper - other.lower,
        confidence,
    };
    DisclosureMeasure {
        what: what.to_owned(),
        condition: condition.to_owned(),
        rises: true,
        attack: at(attack, alpha),
        baseline: Some(at(baseline, alpha)),
        difference: Some(difference),
    }
}
