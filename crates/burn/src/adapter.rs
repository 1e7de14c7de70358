//! A Burn module as a model of the trainer.

use super::backend::{AutodiffBackend, AutodiffModule, Inner, Tensor};
use super::batch::{Batch, BatchValues, ModuleInput, outside};
use super::chunk::{Chunk, chunks};
use super::factors::Factors;
use super::loss::{Wanted, beyond, class_count, fits};
use super::parameters::{Collect, Load, Settled, numbers, settle};
use super::taps::{Places, Taps};
use super::{PrivateModule, probe};
use reticent_train::gradients::{add_terms, inspect_gradients};
use reticent_train::inspect::{Inspected, Inspection};
use reticent_train::{ClippedSum, Examples, Gradients, Inputs, Layout, Targets, TrainError};
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

/// A Burn module as a [`Gradients`]: cross-entropy for classes (one score is the logit of class 1), half the
/// squared error for numbers.
///
/// Parameters of a submodule on which `no_grad` was called stay as they are. Parameters with a value (such as loaded
/// ones) start from it; the others are drawn by their own initialisers. Neither affects privacy.
///
/// # Guarantee
/// That of [`Gradients`]. It rests on the module's forward pass giving scores of an example that depend on that example only.
/// [`tapped`](Self::tapped) checks it with made-up inputs; [`looped`](Self::looped) gives the module one example at a
/// time. Dropout draws from Burn's generator, which noise and sampling never do.
#[derive(Debug)]
pub struct BurnModel<B: AutodiffBackend, M> {
    settled: Settled<B, M>,
    places: Arc<Places>,
    accepts: ModuleInput,
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
    pub fn tapped(module: M, accepts: ModuleInput) -> Result<Self, TrainError> {
        let mut model = Self::new(module, accepts, false)?;
        model.scores = probe::tapped(&model.settled, &model.places, &model.accepts)?;
        Ok(model)
    }

    /// A module with any layers but BatchNorm: one forward and one backward pass per example, which is slow.
    ///
    /// # Errors
    /// [`TrainError::Layer`] for BatchNorm; [`TrainError::Shape`] when the module does not read such inputs.
    pub fn looped(module: M, accepts: ModuleInput) -> Result<Self, TrainError> {
        let mut model = Self::new(module, accepts, true)?;
        model.scores = probe::plain(&model.settled, &model.accepts)?;
        Ok(model)
    }

    fn new(module: M, accepts: ModuleInput, looped: bool) -> Result<Self, TrainError> {
        let tokens = matches!(accepts, ModuleInput::Tokens { .. });
        let shape = accepts.shape();
        if tokens != M::Inputs::TOKENS || shape.len() + 1 != M::Inputs::RANK {
            let kind = if M::Inputs::TOKENS { "tokens" } else { "numbers" };
            return Err(TrainError::Shape(format!(
                "the module reads {kind} with {} axes per example, not {accepts:?}",
                M::Inputs::RANK - 1
            )));
        }
        if shape.contains(&0) || matches!(accepts, ModuleInput::Tokens { vocabulary: 0, .. }) {
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

    /// How many examples are computed together. It bounds the memory, and changes gradients in their last bits at most.
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

    /// The gradients of these examples, one entry a use of a parameter.
    fn factors(&self, module: &M, examples: &Examples, which: &[usize]) -> Result<Vec<Factors>, TrainError> {
        let mut taps = Taps::on(self.places.clone(), which.len());
        let mut gradients = self.backward(module, examples, which, &mut taps)?;
        taps.factors(&mut gradients)
    }

    /// The inputs of these examples on the device.
    fn inputs(&self, examples: &Examples, which: &[usize]) -> Result<M::Inputs, TrainError> {
        let values = BatchValues::read(&self.accepts, examples, which)?;
        Ok(M::Inputs::new(values, batch_shape(&self.accepts, which.len()), &self.settled.device))
    }

    /// One forward and one backward pass over the sum of these examples' losses.
    fn backward(
        &self,
        module: &M,
        examples: &Examples,
        which: &[usize],
        taps: &mut Taps<B>,
    ) -> Result<B::Gradients, TrainError> {
        self.backward_from(module, self.inputs(examples, which)?, examples, which, taps)
    }

    fn backward_from(
        &self,
        module: &M,
        inputs: M::Inputs,
        examples: &Examples,
        which: &[usize],
        taps: &mut Taps<B>,
    ) -> Result<B::Gradients, TrainError> {
        let wanted = Wanted::read(examples, which, self.scores)?;
        let scores = module.forward(inputs, taps);
        taps.fault()?;
        expect_scores(&scores, which.len(), self.scores)?;
        let gradient = wanted.gradient(scores.clone().inner());
        Ok((scores * Tensor::from_inner(gradient)).sum().backward())
    }

    /// The gradient of one unit, written out, a chunk of examples at a time.
    fn unit(&self, module: &M, examples: &Examples, unit: &[usize]) -> Result<Vec<f32>, TrainError> {
        let layout = &self.settled.layout;
        let mut gradient = vec![0.0; layout.gradients()];
        if self.looped {
            for example in unit {
                let gradients = self.backward(module, examples, &[*example], &mut Taps::off())?;
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
            for which in unit.chunks(self.chunk) {
                let factors = self.factors(module, examples, which)?;
                let terms: Vec<_> = factors.iter().map(Factors::term).collect();
                add_terms(layout, which.len(), &terms, &mut gradient)?;
            }
        }
        Ok(gradient)
    }
}

impl<B: AutodiffBackend, M: Trainable<B>> Gradients for BurnModel<B, M> {
    fn layout(&self) -> &Layout {
        &self.settled.layout
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(self.settled.weights.clone())
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.accepts.check(examples)?;
        fits(examples.targets(), self.scores)?;
        if let (ModuleInput::Tokens { vocabulary, .. }, Inputs::Tokens(ids)) =
            (&self.accepts, examples.inputs())
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

    fn separates_units(&self) -> bool {
        // Chunks of examples are one product, and back ends multiply as the number of rows suits them.
        self.looped
    }

    fn gradients(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        sink: &mut ClippedSum<'_>,
    ) -> Result<(), TrainError> {
        self.count("weights", weights.len(), self.settled.layout.weights())?;
        let selection = sink.selection();
        let module = self.settled.load(weights, self.looped);
        if self.looped {
            for unit in 0..selection.units() {
                sink.unit(unit, &self.unit(&module, examples, selection.unit(unit))?)?;
            }
            return Ok(());
        }
        for chunk in chunks(selection, self.chunk) {
            match chunk {
                Chunk::Large(unit) => {
                    sink.unit(unit, &self.unit(&module, examples, selection.unit(unit))?)?
                }
                Chunk::Together(units) => {
                    let which: Vec<usize> =
                        units.clone().flat_map(|unit| selection.unit(unit)).copied().collect();
                    let factors = self.factors(&module, examples, &which)?;
                    let terms: Vec<_> = factors.iter().map(Factors::term).collect();
                    sink.units(units, &terms)?;
                }
            }
        }
        Ok(())
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
            let values = BatchValues::read(&self.accepts, examples, which)?;
            let shape = batch_shape(&self.accepts, which.len());
            let inputs =
                <M::InnerModule as PrivateModule<Inner<B>>>::Inputs::new(values, shape, &self.settled.device);
            let scores = module.forward(inputs, &mut Taps::off());
            expect_scores(&scores, which.len(), self.scores)?;
            outputs.extend(numbers(scores.try_into_data())?);
        }
        Ok(outputs)
    }

    fn inspect(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
        inspection: &Inspection,
    ) -> Result<Inspected, TrainError> {
        let refused = |what, why: &str| Err(TrainError::Unsupported { what, why: why.to_owned() });
        if !inspection.activations.is_empty() {
            return refused("the activations of layers", "read them in the module's own forward pass");
        }
        if inspection.input_gradients && M::Inputs::TOKENS {
            return refused("the gradient of the input", "the inputs are tokens, which have none");
        }
        let mut seen = inspect_gradients(self, weights, examples, which, inspection)?;
        self.count("weights", weights.len(), self.settled.layout.weights())?;
        let module = self.settled.load(weights, false);
        let chunk = if self.looped { 1 } else { self.chunk };
        let (mut losses, mut gradients) = (Vec::new(), Vec::new());
        for which in which.chunks(chunk) {
            if inspection.losses {
                let wanted = Wanted::read(examples, which, self.scores)?;
                let scores = module.forward(self.inputs(examples, which)?, &mut Taps::off());
                expect_scores(&scores, which.len(), self.scores)?;
                losses.extend(numbers(wanted.losses(scores.inner()).try_into_data())?);
            }
            if inspection.input_gradients {
                let inputs = self.inputs(examples, which)?.tracked();
                let all = self.backward_from(&module, inputs.clone(), examples, which, &mut Taps::off())?;
                match inputs.gradient(&all) {
                    Some(data) => gradients.extend(numbers::<()>(Ok(data))?),
                    None => gradients.resize(gradients.len() + which.len() * examples.size(), 0.0),
                }
            }
        }
        seen.losses = inspection.losses.then(|| losses.into_iter().map(f64::from).collect());
        seen.input_gradients = inspection.input_gradients.then_some(gradients);
        Ok(seen)
    }
}

impl<B: AutodiffBackend, M: Trainable<B>> Settled<B, M> {
    /// The module with these weights.
    pub(crate) fn load(&self, weights: &[f32], tracked: bool) -> M {
        let mut load = Load { layout: &self.layout, numbers: &self.numbers, weights, tracked };
        self.module.clone().map(&mut load)
    }
}

/// The shape of a batch.
pub(crate) fn batch_shape(accepts: &ModuleInput, examples: usize) -> Vec<usize> {
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
