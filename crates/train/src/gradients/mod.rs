//! Models that are not described: anything that can say what the gradient of a unit is.
//!
//! A model implements [`Gradients`] and hands its units' gradients to a [`ClippedSum`], which measures, clips and adds them. The
//! clipping is not the model's business, so it cannot be forgotten.
//!
//! | file | contents |
//! |---|---|
//! | `sink` | [`ClippedSum`] |
//! | `form` | gradients in factors: [`Term`], [`Form`] |
//! | `record` | the gradients of single units, for attacks on one's own models |

mod error;
mod form;
mod record;
mod sink;
#[cfg(test)]
mod tests;

pub use error::GradientError;
pub use form::{Form, Term, add_terms};
pub use record::{inspect_gradients, unit_gradients};
pub use sink::ClippedSum;
pub(crate) use sink::UnitTarget;

use crate::inspect::{Inspected, Inspection};
use crate::{Clipping, Examples, Layout, Selection, TrainError};
use reticent_noise::entropy::Repeatable;

/// A model that knows the gradients of its units. Weights are held by the trainer.
///
/// # Guarantee
/// The privacy of training rests on one property of [`gradients`](Self::gradients): what is handed over for a unit depends on the
/// weights and on that unit's own examples only. Everything else is the [`ClippedSum`]'s part.
///
/// ```
/// use reticent_train::gradients::{ClippedSum, Gradients, clipped_sum};
/// use reticent_train::{Clipping, Examples, Inputs, Layout, Parameter, Selection, Targets, TrainError};
///
/// /// Predicts a number by one weight: the loss is (w·x − y)²/2.
/// struct Slope(Layout);
///
/// impl Gradients for Slope {
///     fn layout(&self) -> &Layout {
///         &self.0
///     }
///     fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
///         Ok(vec![0.0])
///     }
///     fn check(&self, examples: &Examples) -> Result<(), TrainError> {
///         let fits = examples.shape() == [1];
///         fits.then_some(()).ok_or_else(|| TrainError::Shape("give one number per example".to_owned()))
///     }
///     fn gradients(
///         &mut self,
///         weights: &[f32],
///         examples: &Examples,
///         sink: &mut ClippedSum<'_>,
///     ) -> Result<(), TrainError> {
///         let Targets::Numbers(targets) = examples.targets() else { return Ok(()) };
///         let selection = sink.selection();
///         for unit in 0..selection.units() {
///             let mut gradient = 0.0;
///             for &example in selection.unit(unit) {
///                 let mut x = [0.0];
///                 examples.read(example, &mut x);
///                 gradient += (weights[0] * x[0] - targets[example]) * x[0];
///             }
///             sink.unit(unit, &[gradient])?;
///         }
///         Ok(())
///     }
///     fn outputs(&mut self, w: &[f32], examples: &Examples, which: &[usize]) -> Result<Vec<f32>, TrainError> {
///         let mut x = [0.0];
///         let mut output = |example: &usize| {
///             examples.read(*example, &mut x);
///             w[0] * x[0]
///         };
///         Ok(which.iter().map(&mut output).collect())
///     }
/// }
///
/// let parameter = Parameter { name: "w".to_owned(), shape: vec![1], group: 0, trainable: true };
/// let mut model = Slope(Layout::new(vec![parameter]));
/// let examples = Examples::new(&[1], Inputs::Real(vec![2.0, 3.0]), Targets::Numbers(vec![0.1, 1e9]))?;
/// let both = Selection::of_examples(vec![0, 1]);
/// let rule = Clipping::Flat { norm: 1.0 };
/// let sum = clipped_sum(&mut model, &[0.0], &examples, &both, Some(&rule))?;
/// // −0.2 from the first example; the second adds no more than the norm.
/// assert!((sum[0] + 1.2).abs() < 1e-3);
/// # Ok::<(), TrainError>(())
/// ```
pub trait Gradients: Send {
    /// The names and places of all weights.
    fn layout(&self) -> &Layout;

    /// Weights to start from: random ones that no example has influenced.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    fn initial_weights(&self) -> Result<Vec<f32>, TrainError>;

    /// Weights to start from as a function of a key, for training that can be repeated and guarantees nothing.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a model that cannot.
    fn repeatable_weights(&self, _bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        let remedy = "leave it out: this model draws its initial weights itself";
        Err(TrainError::invalid("key", "given", remedy))
    }

    /// Checks that every example fits the model: shape, kind, classes in range.
    ///
    /// # Errors
    /// [`TrainError::Example`] or [`TrainError::Shape`], naming the first that does not.
    fn check(&self, examples: &Examples) -> Result<(), TrainError>;

    /// Whether the gradient of a unit is the same, bit for bit, whatever other units are selected with it. Encoded gradients and
    /// quantile clipping need that, because last bits can decide there. It is seldom so where several units are computed by one
    /// product: libraries choose how to multiply by the number of rows.
    fn separates_units(&self) -> bool {
        false
    }

    /// Hands the gradients of the units of [`ClippedSum::selection`] to the sink, each once; the gradient of a unit is the sum over
    /// its examples. There are as many weights as the layout has, and all examples of the selection exist.
    ///
    /// # Errors
    /// When an example does not fit the model, or the device fails; [`TrainError::Gradient`] from the sink.
    fn gradients(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        sink: &mut ClippedSum<'_>,
    ) -> Result<(), TrainError>;

    /// The model's outputs for these examples, example by example: a score per class, or one number.
    ///
    /// # Errors
    /// As [`gradients`](Self::gradients).
    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError>;

    /// Looks at single examples, for attacks on one's own models. By default their gradients and the norms of these, layer by layer,
    /// from what [`gradients`](Self::gradients) hands over.
    ///
    /// # Guarantee
    /// None: see [`inspect`](crate::inspect). Nothing that is released may depend on it.
    ///
    /// # Errors
    /// [`TrainError::Unsupported`] for what the model cannot show; else as [`gradients`](Self::gradients).
    fn inspect(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
        inspection: &Inspection,
    ) -> Result<Inspected, TrainError> {
        inspection.only_gradients()?;
        inspect_gradients(self, weights, examples, which, inspection)
    }
}

/// The sum of the clipped gradients of a selection's units, without noise; without `clipping` the gradients as they are.
///
/// # Guarantee
/// That of [`ClippedSum`]: a bounded contribution of each unit. The sum itself is exact and not private.
///
/// # Errors
/// [`TrainError::Shape`] for another number of weights or an example that is not there; [`TrainError::Invalid`] for a clipping rule
/// without meaning; [`TrainError::Gradient`] for gradients that do not fit; what the model says.
pub fn clipped_sum(
    model: &mut (impl Gradients + ?Sized),
    weights: &[f32],
    examples: &Examples,
    selection: &Selection,
    clipping: Option<&Clipping>,
) -> Result<Vec<f32>, TrainError> {
    let mut sum = vec![0.0; model.layout().gradients()];
    add_clipped_sum(model, weights, examples, selection, clipping, &mut sum)?;
    Ok(sum)
}

/// As [`clipped_sum`], added to `sum`.
pub(crate) fn add_clipped_sum(
    model: &mut (impl Gradients + ?Sized),
    weights: &[f32],
    examples: &Examples,
    selection: &Selection,
    clipping: Option<&Clipping>,
    sum: &mut [f32],
) -> Result<(), TrainError> {
    fits(model, weights, examples, selection)?;
    let layout = model.layout().clone();
    let mut sink = ClippedSum::new(&layout, selection, clipping, sum)?;
    if layout.gradients() > 0 && selection.units() > 0 {
        model.gradients(weights, examples, &mut sink)?;
    }
    sink.finish()
}

/// Checks weights and examples against a model.
fn fits(
    model: &(impl Gradients + ?Sized),
    weights: &[f32],
    examples: &Examples,
    selection: &Selection,
) -> Result<(), TrainError> {
    let expected = model.layout().weights();
    if weights.len() != expected {
        return Err(TrainError::Shape(format!("the model has {expected} weights, not {}", weights.len())));
    }
    match selection.examples().iter().find(|example| **example >= examples.len()) {
        Some(example) => Err(TrainError::Shape(format!(
            "the selection names example {example}, and there are {} examples, numbered from 0",
            examples.len()
        ))),
        None => Ok(()),
    }
}
