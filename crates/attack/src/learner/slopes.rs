//! Derivatives of linear models at every record: signals of gradients, and what one record does to the weights.

use super::gradients::{ROWS, ratio};
use super::linear::LinearLearner;
use crate::AttackError;
use crate::influence::{Influences, LinearLosses};
use reticent_audit::{
    GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM, SignalSource,
    SignalValues, Signals,
};
use reticent_erm::{FitMethod, Linear, MarginLoss};

/// The derivatives of every record's loss in the margins of all models.
struct Derivatives {
    /// One for every model and record, record by record.
    slopes: Vec<f64>,
    /// The second ones: one for every pair of models where they share a loss, one a model otherwise.
    curvatures: Vec<f64>,
    /// Whether all models share one loss: the softmax.
    is_joint: bool,
}

impl LinearLearner {
    fn derivatives(&self, models: &[Linear]) -> Result<Derivatives, AttackError> {
        let how = self.settings();
        let is_joint = how.classes > 2
            && how.loss == MarginLoss::Logistic
            && matches!(how.method, FitMethod::Descent | FitMethod::Sgd);
        let margins = self.margins(models)?;
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        for (row, label) in self.labels().iter().enumerate() {
            let own = margins.iter().map(|margins| margins[row]);
            if is_joint {
                let (slope, curvature) = softmax(own.collect(), *label as usize);
                slopes.extend(slope);
                curvatures.extend(curvature);
            } else {
                for (class, margin) in own.enumerate() {
                    // The only model of two classes is that of the second one.
                    let is_own = *label as usize == if how.classes == 2 { 1 } else { class };
                    let (slope, curvature) = how.loss.derivatives(margin, if is_own { 1.0 } else { -1.0 });
                    slopes.push(slope);
                    curvatures.push(curvature);
                }
            }
        }
        Ok(Derivatives { slopes, curvatures, is_joint })
    }

    /// Signals of the gradient of the loss at every record, as those of networks, negated so that they are larger for members.
    pub(super) fn gradient_signals(&self, models: &[Linear]) -> Result<Signals, AttackError> {
        let (count, dimension) = (models.len(), self.design().dimension());
        let constant = f64::from(u8::from(self.settings().settings.intercept > 0.0));
        let slopes = self.derivatives(models)?.slopes;
        // The mean gradient of every model: its weights, then its intercept.
        let mut mean = vec![0.0; count * (dimension + 1)];
        for (row, slopes) in slopes.chunks_exact(count).enumerate() {
            let (columns, values) = self.design().row(row);
            for (slope, mean) in slopes.iter().zip(mean.chunks_exact_mut(dimension + 1)) {
                columns.iter().zip(values).for_each(|(column, x)| mean[*column as usize] += slope * x);
                mean[dimension] += slope * constant;
            }
        }
        let length = mean.iter().map(|value| value * value).sum::<f64>().sqrt();
        let (mut norms, mut cosines, mut inputs, mut sorted) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (row, slopes) in slopes.chunks_exact(count).enumerate() {
            let (columns, values) = self.design().row(row);
            let size = (values.iter().map(|x| x * x).sum::<f64>() + constant).sqrt();
            let mut of_models: Vec<f64> = slopes.iter().map(|slope| slope.abs() * size).collect();
            let norm = of_models.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
            let along: f64 = slopes
                .iter()
                .zip(mean.chunks_exact(dimension + 1))
                .map(|(slope, mean)| {
                    let inner: f64 =
                        columns.iter().zip(values).map(|(column, x)| mean[*column as usize] * x).sum();
                    slope * (inner + mean[dimension] * constant)
                })
                .sum();
            let of_input = |column: usize| -> f64 {
                slopes.iter().zip(models).map(|(slope, model)| slope * model.weights[column]).sum()
            };
            of_models.sort_unstable_by(|a, b| b.total_cmp(a));
            norms.push(-norm);
            cosines.push(-ratio(along, norm * length));
            inputs.push(-(0..dimension).map(|column| of_input(column).powi(2)).sum::<f64>().sqrt());
            sorted.extend((0..ROWS).map(|rank| -of_models[rank * (count - 1) / (ROWS - 1)]));
        }
        let scalar = |values| SignalValues::scalar(SignalSource::Gradients, values);
        Ok(Signals::none()
            .with(GRADIENT_COSINE, scalar(cosines))
            .with(GRADIENT_NORMS, scalar(norms.clone()))
            .with(GRADIENT_NORM, scalar(norms))
            .with(INPUT_GRADIENT_NORM, scalar(inputs))
            .with(GRADIENT_ROWS, SignalValues::rows(SignalSource::Gradients, ROWS, sorted)?))
    }

    /// What each of the records `asked` does to the weights of models that were trained on the records `inside`, with `regularization`
    /// as the models were fitted: the signals of the inverse-Hessian attack and of the leave-one-out influence.
    ///
    /// # Errors
    /// [`AttackError::Erm`] for models of other features; [`AttackError::Invalid`] for more weights than a Hessian may have.
    pub fn influence(
        &self,
        models: &[Linear],
        regularization: f64,
        inside: &[usize],
        asked: &[usize],
    ) -> Result<Signals, AttackError> {
        let (count, design) = (models.len(), self.design());
        // Penalty and noise are on weights of features that are scaled to make room for the constant one.
        let constant = self.settings().settings.intercept;
        let scale = (1.0 - constant * constant).sqrt();
        let width = design.dimension() + usize::from(constant > 0.0);
        let mut features = vec![0.0; width * design.rows()];
        for (row, into) in features.chunks_exact_mut(width).enumerate() {
            let (columns, values) = design.row(row);
            columns.iter().zip(values).for_each(|(column, x)| into[*column as usize] = scale * x);
            into[design.dimension()..].fill(constant);
        }
        let weights = |model: &Linear| -> Vec<f64> {
            let given = model.weights.iter().map(|weight| weight / scale);
            given.chain((constant > 0.0).then(|| model.intercept / constant)).collect()
        };
        let Derivatives { slopes, curvatures, is_joint } = self.derivatives(models)?;
        // The penalty of an exact fit grows with the number of its rows.
        let (penalty, share) = match self.settings().method {
            FitMethod::Exact => (regularization * inside.len() as f64, regularization),
            _ => (regularization * self.settings().settings.size.unwrap_or(inside.len() as u64) as f64, 0.0),
        };
        let losses = LinearLosses {
            features: &features,
            width,
            outputs: count,
            slopes,
            curvatures,
            weights: models.iter().flat_map(weights).collect(),
            penalty,
            share,
            ridge: 0.0,
        };
        if is_joint {
            return Ok(losses.influences(inside, asked)?.signals());
        }
        let every =
            |values: &[f64], model: usize| values.iter().skip(model).step_by(count).copied().collect();
        let mut found = Influences::default();
        for model in 0..count {
            let alone = LinearLosses {
                outputs: 1,
                slopes: every(&losses.slopes, model),
                curvatures: every(&losses.curvatures, model),
                weights: losses.weights[model * width..][..width].to_vec(),
                ..losses.clone()
            };
            found = found.and(alone.influences(inside, asked)?);
        }
        Ok(found.signals())
    }
}

/// The gradient and the Hessian of the log-loss in the logits.
pub(crate) fn softmax(mut logits: Vec<f64>, label: usize) -> (Vec<f64>, Vec<f64>) {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter_mut().for_each(|logit| *logit = libm::exp(*logit - most));
    let sum: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|part| *part /= sum);
    let curvature = (0..logits.len() * logits.len()).map(|place| {
        let (a, b) = (place / logits.len(), place % logits.len());
        logits[a] * (f64::from(u8::from(a == b)) - logits[b])
    });
    let curvature = curvature.collect();
    logits[label] -= 1.0;
    (logits, curvature)
}
