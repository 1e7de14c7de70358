//! What one record does to the weights of a linear model, or of the last layer of a network: the inverse-Hessian attack and the
//! leave-one-out influence.
#![doc = include_str!("proof.md")]

mod dense;
mod last_layer;

use crate::AttackError;
use dense::{dot, inverse, solve};
use reticent_audit::{INVERSE_HESSIAN, SELF_INFLUENCE, SignalSource, SignalValues, Signals};

/// The most weights whose Hessian is formed.
const MOST_WEIGHTS: usize = 2048;

/// The ridge of a Hessian, relative to the mean of its diagonal.
const RIDGE: f64 = 1e-9;

/// Records as a linear map of features sees them: losses of `outputs` numbers ⟨wₖ, x⟩, with their derivatives at the weights.
#[derive(Debug, Clone)]
pub(crate) struct LinearLosses<'a> {
    /// The features of every record, `width` a record.
    pub(crate) features: &'a [f64],
    /// How many features a record has.
    pub(crate) width: usize,
    /// How many outputs.
    pub(crate) outputs: usize,
    /// The gradient of every record's loss in its outputs.
    pub(crate) slopes: Vec<f64>,
    /// The Hessian of every record's loss in its outputs, row by row.
    pub(crate) curvatures: Vec<f64>,
    /// The weights, output by output.
    pub(crate) weights: Vec<f64>,
    /// λ of the penalty (λ/2)‖w‖² on the sum over all training records.
    pub(crate) penalty: f64,
    /// How much of λ belongs to each record; 0 where it does not depend on their number.
    pub(crate) share: f64,
    /// The ridge of the Hessian besides, relative to the mean of its diagonal.
    pub(crate) ridge: f64,
}

/// Scores of records, larger for members.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Influences {
    /// Of the inverse-Hessian attack.
    pub(crate) inverse_hessian: Vec<f64>,
    /// Minus the leave-one-out influence of a record on its own loss.
    pub(crate) self_influence: Vec<f64>,
}

impl Influences {
    /// The sum with those of another model on the same records, whose noise is its own.
    pub(crate) fn and(mut self, other: Self) -> Self {
        if self.inverse_hessian.is_empty() {
            return other;
        }
        let add =
            |own: &mut [f64], more: &[f64]| own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        add(&mut self.inverse_hessian, &other.inverse_hessian);
        add(&mut self.self_influence, &other.self_influence);
        self
    }

    /// As signals.
    pub(crate) fn signals(self) -> Signals {
        let scalar = |values| SignalValues::scalar(SignalSource::Gradients, values);
        Signals::none()
            .with(INVERSE_HESSIAN, scalar(self.inverse_hessian))
            .with(SELF_INFLUENCE, scalar(self.self_influence))
    }
}

/// How a record would move the weights, and how far they are from where the others would have them.
struct Moves {
    /// d = H⁻¹g.
    record: Vec<f64>,
    /// u = H⁻¹G.
    others: Vec<f64>,
    /// ⟨g, d⟩.
    influence: f64,
}

/// The sums over the training records.
struct Trained<'a> {
    losses: &'a LinearLosses<'a>,
    /// The inverse of the Hessian.
    inverse: Vec<f64>,
    /// The inverse times the gradient.
    newton: Vec<f64>,
    /// The inverse times the weights.
    shrunk: Vec<f64>,
}

impl LinearLosses<'_> {
    fn size(&self) -> usize {
        self.outputs * self.width
    }

    fn row(&self, record: usize) -> &[f64] {
        &self.features[record * self.width..][..self.width]
    }

    fn slope(&self, record: usize) -> &[f64] {
        &self.slopes[record * self.outputs..][..self.outputs]
    }

    fn curvature(&self, record: usize) -> &[f64] {
        &self.curvatures[record * self.outputs * self.outputs..][..self.outputs * self.outputs]
    }

    /// Scores of the records `asked` for a model trained on `inside`.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for more weights than a Hessian may have, and for one that has no inverse.
    pub(crate) fn influences(&self, inside: &[usize], asked: &[usize]) -> Result<Influences, AttackError> {
        let trained = Trained::of(self, inside)?;
        let mut is_inside = vec![false; self.features.len() / self.width.max(1)];
        inside.iter().for_each(|record| is_inside[*record] = true);
        let mut found = Influences::default();
        for record in asked {
            let moves = trained.moves(*record, is_inside[*record])?;
            let score = -2.0 * dot(&moves.others, &moves.record) - dot(&moves.record, &moves.record);
            found.inverse_hessian.push(score);
            found.self_influence.push(-moves.influence);
        }
        Ok(found)
    }
}

impl<'a> Trained<'a> {
    fn of(losses: &'a LinearLosses<'a>, inside: &[usize]) -> Result<Self, AttackError> {
        let (size, width, outputs) = (losses.size(), losses.width, losses.outputs);
        if size == 0 || size > MOST_WEIGHTS {
            let remedy = format!(
                "the Hessian is formed for 1 to {MOST_WEIGHTS} weights of a linear model or last layer"
            );
            return Err(AttackError::invalid("weights", size, remedy));
        }
        let mut hessian = vec![0.0; size * size];
        let mut gradient: Vec<f64> = losses.weights.iter().map(|weight| losses.penalty * weight).collect();
        for record in inside {
            let (row, slope, curvature) =
                (losses.row(*record), losses.slope(*record), losses.curvature(*record));
            for first in 0..outputs {
                add(&mut gradient[first * width..][..width], slope[first], row);
                for second in 0..=first {
                    let bend = curvature[first * outputs + second];
                    for (place, x) in row.iter().enumerate().filter(|(_, x)| bend * **x != 0.0) {
                        add(
                            &mut hessian[(first * width + place) * size + second * width..][..width],
                            bend * x,
                            row,
                        );
                    }
                }
            }
        }
        let mean = (0..size).map(|place| hessian[place * size + place]).sum::<f64>() / size as f64;
        let ridge = losses.penalty + (losses.ridge + RIDGE) * mean;
        (0..size).for_each(|place| hessian[place * size + place] += ridge);
        let inverse = inverse(hessian, size).ok_or_else(no_inverse)?;
        let times =
            |vector: &[f64]| -> Vec<f64> { inverse.chunks_exact(size).map(|row| dot(row, vector)).collect() };
        let (newton, shrunk) = (times(&gradient), times(&losses.weights));
        Ok(Self { losses, inverse, newton, shrunk })
    }

    /// Both with the gradient and the Hessian over the other records.
    fn moves(&self, record: usize, is_inside: bool) -> Result<Moves, AttackError> {
        let LinearLosses { width, outputs, share, weights, .. } = self.losses;
        let (width, outputs, size) = (*width, *outputs, self.losses.size());
        let (row, slope, curvature) =
            (self.losses.row(record), self.losses.slope(record), self.losses.curvature(record));
        // T = ME, one row a weight, and Eᵀv for a vector v over all weights.
        let through =
            |vector: &[f64]| -> Vec<f64> { vector.chunks_exact(width).map(|part| dot(part, row)).collect() };
        let table: Vec<f64> = self.inverse.chunks_exact(size).flat_map(through).collect();
        let spread = |small: &[f64]| -> Vec<f64> {
            table.chunks_exact(outputs).map(|line| dot(line, small)).collect()
        };
        // Q = EᵀT.
        let mut leverage = vec![0.0; outputs * outputs];
        for (place, line) in table.chunks_exact(outputs).enumerate() {
            add(&mut leverage[place / width * outputs..][..outputs], row[place % width], line);
        }
        let mut record = spread(slope);
        add(&mut record, *share, &self.shrunk);
        let mut others = self.newton.clone();
        if is_inside {
            others.iter_mut().zip(&record).for_each(|(sum, own)| *sum -= own);
            for solved in [&mut record, &mut others] {
                let mut small = through(solved);
                let mut matrix = vec![0.0; outputs * outputs];
                for (place, entry) in matrix.iter_mut().enumerate() {
                    let (first, second) = (place / outputs, place % outputs);
                    let product: f64 = (0..outputs)
                        .map(|inner| leverage[first * outputs + inner] * curvature[inner * outputs + second])
                        .sum();
                    *entry = f64::from(u8::from(first == second)) - product;
                }
                solve(&mut matrix, &mut small).ok_or_else(no_inverse)?;
                let bent: Vec<f64> = curvature.chunks_exact(outputs).map(|line| dot(line, &small)).collect();
                solved.iter_mut().zip(spread(&bent)).for_each(|(sum, more)| *sum += more);
            }
        }
        let through_record = through(&record);
        let influence = dot(slope, &through_record) + share * dot(weights, &record);
        Ok(Moves { record, others, influence })
    }
}

fn add(into: &mut [f64], factor: f64, values: &[f64]) {
    into.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

fn no_inverse() -> AttackError {
    AttackError::invalid("weights", "a singular Hessian", "train with a larger penalty on the weights")
}

#[cfg(test)]
mod tests;
