//! The score of a model on rows it was not trained on: with noise, or exact and unprotected.

use super::plan::FitPlan;
use super::rows::rows;
use super::task::Task;
use crate::refusal::Refusal;
use reticent_core::{Code, Epsilon, Event, Guarantee};
use reticent_data::schema::Bounds;
use reticent_data::{FeatureMatrix, Split};
use reticent_erm::{AnyModel, evaluate_values, predicted_classes};
use reticent_noise::Releaser;
use reticent_noise::query::{self, BoundedSum, QueryTerms};

/// A test and what it cost.
pub(crate) enum Tested {
    /// With noise, on held-out rows.
    Released { score: Score, event: Event, guarantee: Guarantee },
    /// Exact.
    Exact(Score),
}

/// What a test found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Score {
    /// Shares of rows: predicted right, and of the largest class with its number. None where noise drowned them.
    Classes {
        accuracy: Option<f64>,
        /// What noise may have added or taken, about 95 % of the time.
        noise: f64,
        /// By how much fresh rows of the same kind may differ because these are only so many, about 95 % of the time.
        sampling: f64,
        majority: Option<(usize, f64)>,
    },
    /// The root of the mean squared error, in the label's own unit, with an interval for the noise and one for the sampling.
    Number { rmse: f64, interval: [f64; 2], sampling: [f64; 2] },
}

impl Tested {
    pub(crate) fn score(&self) -> &Score {
        match self {
            Self::Released { score, .. } | Self::Exact(score) => score,
        }
    }

    /// Caveats.
    pub(crate) fn warnings(&self, classes: &[String]) -> Vec<String> {
        match self.score() {
            Score::Classes { accuracy: None, .. } => {
                vec!["too few held-out rows for this epsilon: the accuracy is too noisy to report".to_owned()]
            }
            Score::Classes { accuracy: Some(accuracy), majority: Some((class, share)), .. }
                if accuracy <= share =>
            {
                let name = classes.get(*class).cloned().unwrap_or_default();
                vec![format!(
                    "the model is not better than always predicting '{name}': give a larger epsilon or more rows, and check that the \
                     labels in the schema are spelt as in the table"
                )]
            }
            Score::Number { rmse, interval: [low, high], .. } if high - low > *rmse => {
                vec!["too few held-out rows for this epsilon: the rmse is mostly noise".to_owned()]
            }
            _ => Vec::new(),
        }
    }
}

/// For every class, how many of its rows were predicted right and wrong.
fn hits(plan: &FitPlan, model: &AnyModel, design: &FeatureMatrix) -> Result<Vec<[u64; 2]>, Refusal> {
    let blank = vec![-1.0; design.rows()];
    let said = predicted_classes(model, &rows(plan, design, &blank)?)?;
    let mut hits = vec![[0, 0]; plan.task.classes().len()];
    for (label, said) in design.labels().iter().zip(said) {
        let truth = plan.task.class_of(*label);
        if let Some(cell) = hits.get_mut(truth) {
            cell[usize::from(said as usize != truth)] += 1;
        }
    }
    Ok(hits)
}

/// Accuracy and the largest class from counts, which noise of that standard deviation may have made negative. Where
/// the total is not clear of its own noise, nothing is told.
fn shares(right: &[f64], wrong: &[f64], noise: f64) -> Score {
    let classes: Vec<f64> = right.iter().zip(wrong).map(|(right, wrong)| right + wrong).collect();
    let total: f64 = classes.iter().sum();
    let of_total = noise * (2.0 * right.len() as f64).sqrt();
    let share = |part: f64| (total >= (5.0 * of_total).max(1.0)).then(|| (part / total).clamp(0.0, 1.0));
    let largest = classes.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let accuracy = share(right.iter().sum());
    Score::Classes {
        accuracy,
        sampling: accuracy.map_or(1.0, |accuracy| sampling_error(accuracy, total)),
        noise: (2.0 * of_total / total.max(1.0)).min(1.0),
        majority: largest.and_then(|(class, rows)| Some((class, share(rows)?))),
    }
}

/// The half-width of Wilson's 95 % interval for a share among that many rows.
fn sampling_error(share: f64, rows: f64) -> f64 {
    let (z, rows) = (1.96, rows.max(1.0));
    let spread = (share * (1.0 - share) / rows + z * z / (4.0 * rows * rows)).sqrt();
    (z * spread / (1.0 + z * z / rows)).min(1.0)
}

/// What 95 % of samples of that many rows would give for the mean of squares from 0 to 4, at most: their variance is at most
/// mean·(4 − mean).
fn square_sampling(mean: f64, rows: f64) -> [f64; 2] {
    let half = 1.96 * (mean * (4.0 - mean).max(0.0) / rows.max(1.0)).sqrt();
    [(mean - half).max(0.0), (mean + half).min(4.0)]
}

/// What a score is made of.
#[derive(Debug, Clone)]
pub(crate) enum Tally {
    /// For every class, how many of its rows were predicted right and wrong.
    Classes(Vec<[u64; 2]>),
    /// Squared errors of numbers from -1 to 1, how many rows there are as far as is public, and the label's bounds.
    Number { squares: BoundedSum, rows: f64, bounds: Bounds },
}

impl Tally {
    /// Squared errors, each of at most 2, of about so many rows.
    pub(crate) fn number(errors: &[f64], rows: f64, bounds: &Bounds) -> Result<Self, Refusal> {
        let mut squares = BoundedSum::new(0.0, 4.0, false)?;
        errors.iter().for_each(|error| squares.add(error * error));
        Ok(Self::Number { squares, rows, bounds: *bounds })
    }

    /// The score with noise, where every row or unit counts once.
    ///
    /// # Guarantee
    /// ε of the terms, about rows that are in nothing else; [`cost`](Self::cost) is what it costs.
    pub(crate) fn released(&self, terms: &QueryTerms, source: &mut impl Releaser) -> Result<Tested, Refusal> {
        let (score, events, guarantee) = match self {
            Self::Number { squares, rows, bounds } => {
                let mean = query::mean(source, terms, squares, None)?;
                let root = |square: f64| unscaled(square.max(0.0).sqrt(), bounds);
                let interval = mean.interval.first().map_or([0.0, 4.0], |ends| *ends).map(root);
                let sampling = square_sampling(mean.value.clamp(0.0, 4.0), *rows).map(root);
                (Score::Number { rmse: root(mean.value), interval, sampling }, mean.events, mean.guarantee)
            }
            Self::Classes(hits) => {
                let noisy = query::histogram(source, terms, &hits.concat())?;
                let side = |first: usize| -> Vec<f64> {
                    noisy.value.iter().skip(first).step_by(2).map(|count| *count as f64).collect()
                };
                // The standard deviation of a cell is at most that of continuous Laplace noise.
                let noise = std::f64::consts::SQRT_2 / terms.epsilon.get();
                (shares(&side(0), &side(1), noise), noisy.events, noisy.guarantee)
            }
        };
        Ok(Tested::Released { score, event: one(events), guarantee })
    }

    /// What the score with noise will cost, whatever is counted, and its guarantee.
    pub(crate) fn cost(&self, terms: &QueryTerms) -> Result<(Event, Guarantee), Refusal> {
        let (guarantee, charges) = match self {
            Self::Number { .. } => {
                let squares = BoundedSum::new(0.0, 4.0, false)?;
                let (mean, plan) =
                    query::rehearse_unpaid(|source| query::mean(source, terms, &squares, None))?;
                (mean.guarantee, plan)
            }
            Self::Classes(hits) => {
                let cells = vec![0; 2 * hits.len()];
                let (counts, plan) =
                    query::rehearse_unpaid(|source| query::histogram(source, terms, &cells))?;
                (counts.guarantee, plan)
            }
        };
        Ok((one(charges.events().to_vec()), guarantee))
    }

    /// The score itself.
    pub(crate) fn exact(&self, errors: &[f64]) -> Score {
        match self {
            Self::Number { rows, bounds, .. } => {
                let mean = errors.iter().map(|error| error * error).sum::<f64>() / rows.max(1.0);
                let root = |square: f64| unscaled(square.max(0.0).sqrt(), bounds);
                let rmse = root(mean);
                let sampling = square_sampling(mean, *rows).map(root);
                Score::Number { rmse, interval: [rmse, rmse], sampling }
            }
            Self::Classes(hits) => {
                let side = |at: usize| -> Vec<f64> { hits.iter().map(|cell| cell[at] as f64).collect() };
                shares(&side(0), &side(1), 0.0)
            }
        }
    }
}

/// The score with noise of ε: a row counts in one cell. `size` is the public number of training rows.
pub(crate) fn released(
    plan: &FitPlan,
    model: &AnyModel,
    held_out: &FeatureMatrix,
    size: u64,
    epsilon: Epsilon,
    source: &mut impl Releaser,
) -> Result<Tested, Refusal> {
    let terms = QueryTerms { neighboring: plan.settings.neighboring, ..QueryTerms::pure(epsilon) };
    let tally = match &plan.task {
        Task::Number(bounds) => {
            // The true number of held-out rows is private: this is how many there are on average.
            let share = plan.split.as_ref().map_or(0.0, Split::test_share);
            let rows = size as f64 * share / (1.0 - share).max(f64::MIN_POSITIVE);
            Tally::number(&errors(plan, model, held_out)?, rows, bounds)?
        }
        _ => Tally::Classes(hits(plan, model, held_out)?),
    };
    tally.released(&terms, source)
}

/// What the score with noise will cost, before a row is read.
pub(crate) fn test_event(plan: &FitPlan, epsilon: Epsilon) -> Result<Event, Refusal> {
    let terms = QueryTerms { neighboring: plan.settings.neighboring, ..QueryTerms::pure(epsilon) };
    let empty = match &plan.task {
        Task::Number(bounds) => Tally::number(&[], 0.0, bounds)?,
        task => Tally::Classes(vec![[0, 0]; task.classes().len()]),
    };
    Ok(empty.cost(&terms)?.0)
}

/// Several events as one.
fn one(events: Vec<Event>) -> Event {
    match <[Event; 1]>::try_from(events) {
        Ok([event]) => event,
        Err(events) => Event::Composed { events },
    }
}

/// The score itself.
pub(crate) fn exactly(plan: &FitPlan, model: &AnyModel, design: &FeatureMatrix) -> Result<Tested, Refusal> {
    Ok(Tested::Exact(match &plan.task {
        Task::Number(bounds) => {
            let AnyModel::Binary(fit) = model else {
                return Err(Refusal::new(Code::Internal, "the model has no value to test"));
            };
            let score = evaluate_values(fit, &rows(plan, design, design.labels())?)?;
            let rmse = unscaled(score.rmse, bounds);
            let mean = score.rmse * score.rmse;
            let root = |square: f64| unscaled(square.max(0.0).sqrt(), bounds);
            let sampling = square_sampling(mean, design.rows() as f64).map(root);
            Score::Number { rmse, interval: [rmse, rmse], sampling }
        }
        _ => Tally::Classes(hits(plan, model, design)?).exact(&[]),
    }))
}

/// Predicted minus true values, clamped to what bounded labels allow.
fn errors(plan: &FitPlan, model: &AnyModel, design: &FeatureMatrix) -> Result<Vec<f64>, Refusal> {
    let AnyModel::Binary(fit) = model else {
        return Err(Refusal::new(Code::Internal, "the model has no value to test"));
    };
    let margins = fit.margins(&rows(plan, design, design.labels())?)?;
    Ok(margins.iter().zip(design.labels()).map(|(m, y)| m.clamp(-1.0, 1.0) - y).collect())
}

/// A distance between -1 and 1 in the label's own unit.
pub(crate) fn unscaled(distance: f64, bounds: &Bounds) -> f64 {
    distance * 0.5 * (bounds.high() - bounds.low())
}
