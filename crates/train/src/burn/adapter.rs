//! A Burn module as a model of the trainer.

use super::backend::{AutodiffBackend, AutodiffModule, Inner, Tensor};
use super::batch::{Accepts, Batch, Values, outside};
use super::loss::{Wanted, beyond, class_count, fits};
use super::parameters::{Collect, Load, Settled, add, numbers, settle};
use super::taps::{Places, Taps};
use super::term::{Term, Weights};
use super::units::{Chunk, chunks};
use super::{PrivateModule, probe};
use crate::clip::Clipping;
use crate::{Beside, Examples, Inputs, Layout, Model, Selection, Targets, TrainError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Examples that are computed together unless [`BurnModel::with_chunk`] says otherwise.
const CHUNK: usize = 256;

/// A module that can be trained: a [`PrivateModule`] on the back end with gradients and on the one without. Every module
/// with `#[derive(Module)]` that implements [`PrivateModule`] for all back ends is one.
pub trait Trainable<B: AutodiffBackend>:
    PrivateModule<B> + AutodiffModule<B, InnerModule: PrivateModule<Inner<B>>>
{
}

impl<B, M> Trainable<B> for M
where
    B: AutodiffBackend,
    M: PrivateModule<B> + AutodiffModule<B, InnerModule: PrivateModule<Inner<B>>>,
{
}

/// A Burn module as a [`Model`]: cross-entropy for classes (one score speaks for class 1 against class 0), half the
/// squared error for numbers.
///
/// Parameters of a submodule on which `no_grad` was called stay as they are. Parameters with a value (such as loaded
/// ones) start from it; the others are drawn by their own initialisers. Neither affects privacy.
///
/// # Guarantee
/// That of [`Model`]. It rests on the module's forward pass giving scores of an example that depend on that example only.
/// [`tapped`](Self::tapped) checks it with made-up inputs; [`looped`](Self::looped) gives the module one example at a
/// time. Dropout draws from Burn's generator, which noise and sampling never do.
#[derive(Debug)]
pub struct BurnModel<B: AutodiffBackend, M> {
    settled: Settled<B, M>,
    places: Arc<Places>,
    accepts: Accepts,
    scores: usize,
    looped: bool,
    chunk: usize,
}

impl<B: AutodiffBackend, M: Trainable<B>> BurnModel<B, M> {
    /// A module whose layers all go through [`Taps`]: one forward and one backward pass for many examples.
    ///
    /// # Errors
    /// [`TrainError::Layer`] for BatchNorm, for a trained parameter that does not go through a tap or is also used
    /// without one, and where the scores of an example depend on another; [`TrainError::Shape`] when the module does not
    /// read such inputs.
    pub fn tapped(module: M, accepts: Accepts) -> Result<Self, TrainError> {
        let mut model = Self::new(module, accepts, false)?;
        model.scores = probe::tapped(&model.settled, &model.places, &model.accepts)?;
        Ok(model)
    }

    /// A module with any layers but BatchNorm: one forward and one backward pass per example, which is slow.
    ///
    /// # Errors
    /// [`TrainError::Layer`] for BatchNorm; [`TrainError::Shape`] when the module does not read such inputs.
    pub fn looped(module: M, accepts: Accepts) -> Result<Self, TrainError> {
        let mut model = Self::new(module, accepts, true)?;
        model.scores = probe::plain(&model.settled, &model.accepts)?;
        Ok(model)
    }

    fn new(module: M, accepts: Accepts, looped: bool) -> Result<Self, TrainError> {
        let tokens = matches!(accepts, Accepts::Tokens { .. });
        let shape = accepts.shape();
        if tokens != M::Inputs::TOKENS || shape.len() + 1 != M::Inputs::RANK {
            let kind = if M::Inputs::TOKENS { "tokens" } else { "numbers" };
            return Err(TrainError::Shape(format!(
                "the module reads {kind} with {} axes per example, not {accepts:?}",
                M::Inputs::RANK - 1
            )));
        }
        if shape.contains(&0) || matches!(accepts, Accepts::Tokens { vocabulary: 0, .. }) {
            return Err(TrainError::Shape(format!("{accepts:?} has no numbers in it")));
        }
        let settled = settle::<B, M>(module)?;
        let parameters = settled.layout.parameters();
        let trained = settled.numbers.iter().filter(|(_, number)| parameters[**number].trainable);
        let places = Places {
            numbers: trained.map(|(id, number)| (*id, *number)).collect(),
            names: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        };
        Ok(Self { settled, places: Arc::new(places), accepts, scores: 0, looped, chunk: CHUNK })
    }

    /// How many examples are computed together. It bounds the memory, and changes nothing else.
    pub fn with_chunk(mut self, examples: usize) -> Self {
        self.chunk = examples.max(1);
        self
    }

    /// The module with these weights, without gradients: to evaluate or store it with Burn's own means.
    ///
    /// # Errors
    /// [`TrainError::Shape`] when the number of weights is not the module's.
    pub fn module(&self, weights: &[f32]) -> Result<M::InnerModule, TrainError> {
        self.count("weights", weights.len(), self.settled.layout.weights())?;
        Ok(self.settled.load(weights, false).valid())
    }

    fn count(&self, what: &str, given: usize, wanted: usize) -> Result<(), TrainError> {
        if given == wanted {
            return Ok(());
        }
        Err(TrainError::Shape(format!("the module has {wanted} {what}, not {given}")))
    }

    /// The gradients of units of `width` examples each, parameter by parameter.
    fn terms(
        &self,
        module: &M,
        examples: &Examples,
        which: &[usize],
        fillers: &[bool],
        width: usize,
    ) -> Result<BTreeMap<usize, Term<Inner<B>>>, TrainError> {
        let mut taps = Taps::on(self.places.clone(), which.len());
        let mut gradients = self.backward(module, examples, which, fillers, &mut taps)?;
        Ok(taps.terms(&mut gradients, width))
    }

    /// One forward and one backward pass over the sum of these examples' losses.
    fn backward(
        &self,
        module: &M,
        examples: &Examples,
        which: &[usize],
        fillers: &[bool],
        taps: &mut Taps<B>,
    ) -> Result<B::Gradients, TrainError> {
        let values = Values::read(&self.accepts, examples, which)?;
        let wanted = Wanted::read(examples, which, self.scores)?;
        let inputs = M::Inputs::new(values, batch_shape(&self.accepts, which.len()), &self.settled.device);
        let scores = module.forward(inputs, taps);
        taps.fault()?;
        expect_scores(&scores, which.len(), self.scores)?;
        let gradient = wanted.gradient(scores.clone().inner(), fillers);
        Ok((scores * Tensor::from_inner(gradient)).sum().backward())
    }

    /// Adds the clipped gradients of a chunk to the totals.
    fn together(
        &self,
        terms: BTreeMap<usize, Term<Inner<B>>>,
        units: usize,
        clipping: Option<&Clipping>,
        totals: &mut BTreeMap<usize, Tensor<Inner<B>, 1>>,
    ) -> Result<(), TrainError> {
        let mut add = |parameter: usize, sum: Tensor<Inner<B>, 1>| {
            let sum = match totals.remove(&parameter) {
                Some(total) => total + sum,
                None => sum,
            };
            totals.insert(parameter, sum);
        };
        let Some(clipping) = clipping else {
            terms.into_iter().for_each(|(parameter, term)| add(parameter, term.sum(None)));
            return Ok(());
        };
        let layout = &self.settled.layout;
        let device = &self.settled.device;
        let mut norms: Vec<Tensor<Inner<B>, 1>> =
            (0..layout.groups()).map(|_| Tensor::zeros([units], device)).collect();
        let mut ready = Vec::with_capacity(terms.len());
        for (parameter, term) in terms {
            let (squared, term) = term.norms();
            let group = layout.parameters()[parameter].group;
            norms[group] = norms[group].clone() + squared;
            ready.push((parameter, group, term));
        }
        let squared = numbers(Tensor::stack::<2>(norms, 1).try_into_data())?;
        let squared: Vec<f64> = squared.into_iter().map(f64::from).collect();
        let mut factors = vec![0.0; squared.len()];
        clipping.factors(layout.groups(), &squared, &mut factors);
        let weights: Vec<Weights<Inner<B>>> = (0..layout.groups())
            .map(|group| {
                let own: Vec<f32> = factors.iter().skip(group).step_by(layout.groups()).copied().collect();
                Weights::new(&own, device)
            })
            .collect();
        ready
            .into_iter()
            .for_each(|(parameter, group, term)| add(parameter, term.sum(Some(&weights[group]))));
        Ok(())
    }

    /// Adds totals from the device to a gradient.
    fn fetch(&self, totals: BTreeMap<usize, Tensor<Inner<B>, 1>>, sum: &mut [f32]) -> Result<(), TrainError> {
        for (parameter, total) in totals {
            add(total.try_into_data(), self.settled.layout.gradient_range(parameter), sum)?;
        }
        Ok(())
    }

    /// The gradient of one unit, written out, a chunk of examples at a time.
    fn unit(&self, module: &M, examples: &Examples, unit: &[usize]) -> Result<Vec<f32>, TrainError> {
        let layout = &self.settled.layout;
        let mut gradient = vec![0.0; layout.gradients()];
        if self.looped {
            for example in unit {
                let gradients = self.backward(module, examples, &[*example], &[], &mut Taps::off())?;
                let numbers = &self.settled.numbers;
                let mut collect = Collect::<B> {
                    layout,
                    numbers,
                    gradients: &gradients,
                    into: &mut gradient,
                    failed: None,
                };
                module.visit(&mut collect);
                collect.failed.map_or(Ok(()), Err)?;
            }
        } else {
            let mut totals = BTreeMap::new();
            for which in unit.chunks(self.chunk) {
                let terms = self.terms(module, examples, which, &[], 1)?;
                self.together(terms, which.len(), None, &mut totals)?;
            }
            self.fetch(totals, &mut gradient)?;
        }
        Ok(gradient)
    }

    /// Adds one unit's written-out gradient to the sum, times its factor.
    fn clip(&self, gradient: &[f32], clipping: Option<&Clipping>, sum: &mut [f32]) {
        let layout = &self.settled.layout;
        let mut factors = vec![1.0; layout.groups()];
        if let Some(clipping) = clipping {
            let mut squared = vec![0.0f64; layout.groups()];
            for (number, parameter) in layout.parameters().iter().enumerate() {
                let numbers = gradient[layout.gradient_range(number)].iter();
                squared[parameter.group] += numbers.map(|g| f64::from(*g).powi(2)).sum::<f64>();
            }
            clipping.factors(layout.groups(), &squared, &mut factors);
        }
        for (number, parameter) in layout.parameters().iter().enumerate() {
            let (range, factor) = (layout.gradient_range(number), factors[parameter.group]);
            if factor != 0.0 {
                sum[range.clone()].iter_mut().zip(&gradient[range]).for_each(|(sum, g)| *sum += factor * g);
            }
        }
    }
}

impl<B: AutodiffBackend, M: Trainable<B>> Model for BurnModel<B, M> {
    fn layout(&self) -> &Layout {
        &self.settled.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(self.settled.weights.clone())
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.accepts.check(examples)?;
        fits(examples.targets(), self.scores)?;
        if let (Accepts::Tokens { vocabulary, .. }, Inputs::Tokens(ids)) = (&self.accepts, examples.inputs())
            && let Some(place) = ids.iter().position(|id| *id as usize >= *vocabulary)
        {
            return Err(outside(place / examples.size(), ids[place], *vocabulary));
        }
        if let Targets::Classes(classes) = examples.targets()
            && let Some(example) =
                classes.iter().position(|class| *class as usize >= class_count(self.scores))
        {
            return Err(beyond(example, classes[example], self.scores));
        }
        Ok(())
    }

    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        _: Beside<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        let layout = &self.settled.layout;
        self.count("weights", weights.len(), layout.weights())?;
        self.count("trained weights", sum.len(), layout.gradients())?;
        if layout.gradients() == 0 || selection.units() == 0 {
            return Ok(());
        }
        clipping.map_or(Ok(()), Clipping::check)?;
        let module = self.settled.load(weights, self.looped);
        if self.looped {
            for unit in 0..selection.units() {
                self.clip(&self.unit(&module, examples, selection.unit(unit))?, clipping, sum);
            }
            return Ok(());
        }
        let mut totals = BTreeMap::new();
        for chunk in chunks(selection, self.chunk) {
            match chunk {
                Chunk::Large(unit) => {
                    self.clip(&self.unit(&module, examples, selection.unit(unit))?, clipping, sum);
                }
                Chunk::Together { examples: which, fillers, width } => {
                    let terms = self.terms(&module, examples, &which, &fillers, width)?;
                    self.together(terms, which.len() / width, clipping, &mut totals)?;
                }
            }
        }
        self.fetch(totals, sum)
    }

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        let module = self.module(weights)?;
        let mut outputs = Vec::with_capacity(which.len() * self.scores);
        for which in which.chunks(self.chunk) {
            let values = Values::read(&self.accepts, examples, which)?;
            let shape = batch_shape(&self.accepts, which.len());
            let inputs =
                <M::InnerModule as PrivateModule<Inner<B>>>::Inputs::new(values, shape, &self.settled.device);
            let scores = module.forward(inputs, &mut Taps::off());
            expect_scores(&scores, which.len(), self.scores)?;
            outputs.extend(numbers(scores.try_into_data())?);
        }
        Ok(outputs)
    }
}

impl<B: AutodiffBackend, M: Trainable<B>> Settled<B, M> {
    /// The module with these weights.
    pub(super) fn load(&self, weights: &[f32], tracked: bool) -> M {
        let mut load = Load { layout: &self.layout, numbers: &self.numbers, weights, tracked };
        self.module.clone().map(&mut load)
    }
}

/// The shape of a batch.
pub(super) fn batch_shape(accepts: &Accepts, examples: usize) -> Vec<usize> {
    std::iter::once(examples).chain(accepts.shape()).collect()
}

/// Refuses scores of another shape.
fn expect_scores<B: super::Backend>(
    scores: &Tensor<B, 2>,
    examples: usize,
    each: usize,
) -> Result<(), TrainError> {
    if scores.dims() == [examples, each] {
        return Ok(());
    }
    Err(TrainError::Shape(format!(
        "the module gave scores of the shape {:?}, not [{examples}, {each}]",
        scores.dims()
    )))
}
