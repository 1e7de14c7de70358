//! A module is tried on made-up inputs and weights before it sees an example: what the taps remember must be the whole
//! gradient of every trained parameter, and the scores of an example must not depend on another example.

use super::Trainable;
use super::adapter::batch_shape;
use super::backend::{AutodiffBackend, Tensor, TensorData};
use super::batch::{Batch, BatchValues, ModuleInput};
use super::factors::Factors;
use super::parameters::{Collect, Settled, numbers};
use super::taps::{Places, Taps};
use reticent_train::TrainError;
use reticent_train::gradients::add_terms;
use std::sync::Arc;

/// Examples of the trial.
const EXAMPLES: usize = 3;

/// A parameter's gradient may differ by this share of itself and by the second of the whole gradient.
const TOLERANCE: (f64, f64) = (1e-3, 1e-4);

/// Tries a module whose layers go through taps; the number of its scores.
pub(crate) fn tapped<B: AutodiffBackend, M: Trainable<B>>(
    settled: &Settled<B, M>,
    places: &Arc<Places>,
    accepts: &ModuleInput,
) -> Result<usize, TrainError> {
    let weights = shaken(settled);
    let scores = whole::<B, M>(settled, places, accepts, &weights)?;
    apart::<B, M>(settled, places, accepts, &weights)?;
    Ok(scores)
}

/// Tries a module without taps on one example; the number of its scores.
pub(crate) fn plain<B: AutodiffBackend, M: Trainable<B>>(
    settled: &Settled<B, M>,
    accepts: &ModuleInput,
) -> Result<usize, TrainError> {
    let module = settled.load(&settled.weights, false);
    let scores = module.forward(made_up::<B, M>(settled, accepts, 1), &mut Taps::off());
    expect(scores.dims(), 1)
}

/// Burn's own gradients of all trained parameters are those that follow from the taps.
fn whole<B: AutodiffBackend, M: Trainable<B>>(
    settled: &Settled<B, M>,
    places: &Arc<Places>,
    accepts: &ModuleInput,
    weights: &[f32],
) -> Result<usize, TrainError> {
    let layout = &settled.layout;
    let module = settled.load(weights, true);
    let mut taps = Taps::on(places.clone(), EXAMPLES);
    let scores = module.forward(made_up::<B, M>(settled, accepts, EXAMPLES), &mut taps);
    taps.fault()?;
    let count = expect(scores.dims(), EXAMPLES)?;
    let tapped = taps.tapped();
    for (number, parameter) in layout.parameters().iter().enumerate() {
        if parameter.trainable && !tapped.contains(&number) {
            let why = "it is used without a tap or not at all: call its layer through `taps`, stop its training with \
                       `no_grad`, or use `BurnModel::looped`";
            return Err(TrainError::Layer { layer: parameter.name.clone(), why: why.to_owned() });
        }
    }
    if layout.gradients() == 0 {
        return Ok(count);
    }
    let mut gradients = directed(scores).sum().backward();
    let mut expected = vec![0.0; layout.gradients()];
    let mut collect = Collect::<B> {
        layout,
        numbers: &settled.numbers,
        gradients: &gradients,
        into: &mut expected,
        failed: None,
    };
    module.visit(&mut collect);
    collect.failed.map_or(Ok(()), Err)?;
    let all = length(expected.iter().copied());
    let factors = taps.factors(&mut gradients)?;
    let terms: Vec<_> = factors.iter().map(Factors::term).collect();
    let mut seen = vec![0.0; layout.gradients()];
    add_terms(layout, EXAMPLES, &terms, &mut seen)?;
    for (number, parameter) in layout.parameters().iter().enumerate() {
        let range = layout.gradient_range(number);
        let (expected, seen) = (&expected[range.clone()], &seen[range]);
        let apart = length(expected.iter().zip(seen).map(|(expected, seen)| expected - seen));
        let allowed = TOLERANCE.0 * length(expected.iter().copied()) + TOLERANCE.1 * all;
        if !all.is_finite() || apart > allowed {
            let why = if all.is_finite() {
                "its taps see only a part of its gradient: call every use of its layer through `taps`, or use \
                 `BurnModel::looped`"
            } else {
                "on inputs between -1 and 1 the gradient is not finite: scale the inputs within the module, or use \
                 `BurnModel::looped`"
            };
            return Err(TrainError::Layer { layer: parameter.name.clone(), why: why.to_owned() });
        }
    }
    Ok(count)
}

/// The scores of the first example have no gradient at any other example.
fn apart<B: AutodiffBackend, M: Trainable<B>>(
    settled: &Settled<B, M>,
    places: &Arc<Places>,
    accepts: &ModuleInput,
    weights: &[f32],
) -> Result<(), TrainError> {
    if settled.layout.gradients() == 0 {
        return Ok(());
    }
    let module = settled.load(weights, false);
    let mut taps = Taps::on(places.clone(), EXAMPLES);
    let inputs = made_up::<B, M>(settled, accepts, EXAMPLES).tracked();
    let scores = module.forward(inputs.clone(), &mut taps);
    let [_, count] = scores.dims();
    let gradients = directed(scores.slice([0..1, 0..count])).sum().backward();
    let elsewhere = |data: Vec<f32>| data[data.len() / EXAMPLES..].iter().any(|gradient| *gradient != 0.0);
    for (parameter, gradient) in taps.raw(&gradients) {
        if elsewhere(numbers(gradient.try_into_data())?) {
            return Err(mixed(settled.layout.parameters()[parameter].name.clone()));
        }
    }
    if let Some(data) = inputs.gradient(&gradients)
        && elsewhere(numbers::<()>(Ok(data))?)
    {
        return Err(mixed("inputs".to_owned()));
    }
    Ok(())
}

fn mixed(layer: String) -> TrainError {
    let why = "from here on the scores of an example depend on other examples of the batch, so no example has a \
               gradient of its own: keep the examples along the first axis, and normalise within the example \
               (GroupNorm, LayerNorm)";
    TrainError::Layer { layer, why: why.to_owned() }
}

/// The number of scores, where their shape is right.
fn expect([examples, count]: [usize; 2], expected: usize) -> Result<usize, TrainError> {
    if examples != expected || count == 0 {
        return Err(TrainError::Shape(format!(
            "the module gave scores of the shape [{examples}, {count}] for {expected} examples: give one row each"
        )));
    }
    Ok(count)
}

/// Scores times made-up numbers, so that every score counts differently.
fn directed<B: AutodiffBackend>(scores: Tensor<B, 2>) -> Tensor<B, 2> {
    let dims = scores.dims();
    let numbers: Vec<f32> = (0..dims[0] * dims[1]).map(|i| spread(i, std::f64::consts::SQRT_2)).collect();
    let numbers = Tensor::from_data(TensorData::new(numbers, dims), &scores.device());
    scores * numbers
}

/// The starting weights, each moved a little, so that none is where its gradient happens to vanish.
fn shaken<B: AutodiffBackend, M: Trainable<B>>(settled: &Settled<B, M>) -> Vec<f32> {
    let mut weights = settled.weights.clone();
    for number in 0..settled.layout.parameters().len() {
        let part = &mut weights[settled.layout.weight_range(number)];
        let size = length(part.iter().copied()) / (part.len().max(1) as f64).sqrt();
        let scale = if size > 0.0 && size.is_finite() { 0.1 * size } else { 0.02 } as f32;
        part.iter_mut().enumerate().for_each(|(i, weight)| *weight += scale * spread(i, 3f64.sqrt()));
    }
    weights
}

/// Made-up inputs.
fn made_up<B: AutodiffBackend, M: Trainable<B>>(
    settled: &Settled<B, M>,
    accepts: &ModuleInput,
    examples: usize,
) -> M::Inputs {
    let shape = batch_shape(accepts, examples);
    let size: usize = shape.iter().product();
    let values = match accepts {
        ModuleInput::Numbers(_) => BatchValues::Numbers((0..size).map(|i| spread(i, 5f64.sqrt())).collect()),
        ModuleInput::Tokens { vocabulary, .. } => {
            let token = |i| (f64::from(spread(i, 5f64.sqrt()) + 1.0) / 2.0 * *vocabulary as f64) as i64;
            BatchValues::Tokens((0..size).map(|i| token(i).clamp(0, *vocabulary as i64 - 1)).collect())
        }
    };
    M::Inputs::new(values, shape, &settled.device)
}

/// Numbers between -1 and 1 that follow no short cycle.
fn spread(i: usize, step: f64) -> f32 {
    (((i + 1) as f64 * step).fract() * 2.0 - 1.0) as f32
}

fn length(numbers: impl Iterator<Item = f32>) -> f64 {
    numbers.map(|number| f64::from(number).powi(2)).sum::<f64>().sqrt()
}
