//! Where a network is computed and where everything lives that a step changes: weights, sum, optimizer state and average.
//!
//! | file | contents |
//! |---|---|
//! | `host` | engines that keep all of it in main memory |
//! | `fixed` | clipped sums as integers, for several parties |
//! | `threads` | the threads of an engine |

mod fixed;
mod host;
mod threads;

pub use fixed::{FixedGrid, FixedSum, MOST_UNITS};
pub(crate) use host::Passes;
pub use threads::Resources;

use crate::clip::RoundingMargin;
use crate::gradients::Gradients;
use crate::graph::Graph;
use crate::native::Network;
use crate::noise::StepNoise;
use crate::optimizer::StepInput;
use crate::trainer::Recipe;
use crate::{Clipping, Description, Examples, Layout, Selection, TrainError};
use host::{HostEngine, Modelled};
use reticent_noise::entropy::Repeatable;
pub(crate) use threads::Threads;

/// Work for threads that have nothing else to do; it returns when there is no more of it.
pub type Background<'a> = &'a (dyn Fn() + Sync);

/// What computes a described network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Device {
    /// This machine's processors.
    #[default]
    Cpu,
    /// The first NVIDIA GPU. Its libraries are loaded when it is asked for.
    Cuda,
}

/// Which weights are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Those of the last step.
    Current,
    /// Their moving average where the recipe asks for one and a step has been taken; the current ones otherwise.
    Averaged,
}

/// What an optimizer and a moving average remember, for a checkpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EngineState {
    /// The velocity, or the first moment; empty when the optimizer has none.
    pub first: Vec<f32>,
    /// The second moment; empty when the optimizer has none.
    pub second: Vec<f32>,
    /// Steps of the optimizer.
    pub optimizer_steps: u64,
    /// The unscaled moving average; none when the recipe asks for none.
    pub average: Option<Vec<f32>>,
    /// Steps that the average has taken in.
    pub average_steps: u64,
}

/// A network on a device, with the weights, the sum of a step, the optimizer's state and the moving average there too: a step moves
/// none of them.
///
/// # Guarantee
/// The privacy of training rests on [`sum`](Self::sum) and [`fixed_sum`](Self::fixed_sum): what is added for a unit must depend on
/// the weights and that unit's own examples only, multiplied by the factors that [`Clipping::factors`] makes of its norms with this
/// engine's [`rounding_margin`](Self::rounding_margin); a factor of 0 must add nothing at all, whatever the gradient holds.
/// [`read_sum`](Self::read_sum) before [`add_noise`](Self::add_noise) gives an exact, unprotected sum.
pub trait Engine: Send {
    /// The names and places of all weights.
    fn layout(&self) -> &Layout;

    /// The share by which clipped gradients are kept shorter than the clipping norm, so that the rounding of this engine's arithmetic
    /// cannot bring them above it.
    fn rounding_margin(&self) -> RoundingMargin;

    /// Whether the gradient of a unit is the same, bit for bit, whatever other units are selected with it; see
    /// [`Gradients::separates_units`].
    fn separates_units(&self) -> bool {
        false
    }

    /// Whether the engine draws noise itself, so that nothing is to be drawn for it.
    fn draws_noise(&self) -> bool {
        false
    }

    /// Begins to draw the noise of a step on the device, before or while the sum is made; for engines that
    /// [draw noise themselves](Self::draws_noise).
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the noise is not paid for, or there is no randomness; when the device fails.
    fn draw_noise(&mut self, _: &mut StepNoise) -> Result<(), TrainError> {
        Ok(())
    }

    /// Weights to start from: random ones that no example has influenced.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    fn initial_weights(&self) -> Result<Vec<f32>, TrainError>;

    /// Weights to start from as a function of a key, for training that can be repeated and guarantees nothing.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a model that cannot be repeated.
    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError>;

    /// Checks that every example fits the network: shape, kind, classes in range.
    ///
    /// # Errors
    /// [`TrainError::Shape`], or [`TrainError::Example`] naming the first that does not fit.
    fn check(&self, examples: &Examples) -> Result<(), TrainError>;

    /// Forgets the state of optimizer and average, and makes room for those of this recipe.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] from the recipe.
    fn begin(&mut self, recipe: &Recipe) -> Result<(), TrainError>;

    /// Takes over weights, trained and frozen.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for another number of weights. Nothing has changed then.
    fn load_weights(&mut self, weights: &[f32]) -> Result<(), TrainError>;

    /// A copy of the weights.
    ///
    /// # Errors
    /// When the device fails.
    fn read_weights(&mut self, which: Weights) -> Result<Vec<f32>, TrainError>;

    /// Makes the engine's sum that of the units' gradients, each multiplied by its clip factor; without `clipping` as they are. A unit's
    /// gradient is the sum over its examples.
    ///
    /// `background` is work of the caller's own: a thread that has nothing left to do may call it.
    ///
    /// # Errors
    /// When the arguments do not fit the network, or the device fails.
    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
    ) -> Result<(), TrainError>;

    /// Makes the engine's sum that of the units' gradients, not clipped, where `slopes` is added to the gradient at the outputs of every
    /// selected example: as many numbers an example as the network has outputs.
    ///
    /// # Guarantee
    /// None: a unit may add any amount, and slopes may depend on other units. It is for training without a guarantee.
    ///
    /// # Errors
    /// As [`sum`](Self::sum); [`TrainError::Shape`] for another number of slopes; [`TrainError::Unsupported`] for an engine that cannot add
    /// them.
    fn sum_steered(&mut self, _: &Examples, _: &Selection, _slopes: &[f32]) -> Result<(), TrainError> {
        Err(unsteered())
    }

    /// Adds the units' clipped gradients to a sum of integers, each computed by itself and rounded before it is added, so that the
    /// result does not depend on which other units there are, nor on their order.
    ///
    /// # Errors
    /// As [`sum`](Self::sum); [`TrainError::Invalid`] when the sum has no room for so many units.
    fn fixed_sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError>;

    /// The coordinate of the sum beside the gradient's, which counts unclipped units; none where there is none. Before
    /// [`add_noise`](Self::add_noise) it is exact.
    ///
    /// # Errors
    /// When the device fails.
    fn read_count(&mut self) -> Result<Option<f32>, TrainError> {
        Ok(None)
    }

    /// A copy of the sum. Before [`add_noise`](Self::add_noise) it is exact and must not leave the party whose data it is of.
    ///
    /// # Errors
    /// When the device fails.
    fn read_sum(&mut self) -> Result<Vec<f32>, TrainError>;

    /// Takes over a sum.
    ///
    /// # Errors
    /// [`TrainError::Shape`] for another length than the gradient's.
    fn load_sum(&mut self, sum: &[f32]) -> Result<(), TrainError>;

    /// Adds numbers to coordinates of the sum: for auditing with gradients of one's own making.
    ///
    /// # Errors
    /// [`TrainError::Shape`] for a coordinate that does not exist.
    fn add_to_sum(&mut self, added: &[(usize, f32)]) -> Result<(), TrainError>;

    /// Adds the noise of a step to the sum; what has not been drawn is drawn first.
    ///
    /// # Errors
    /// [`TrainError::Noise`] when the noise is not paid for or for another length, or there is no randomness.
    fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError>;

    /// Moves the trained weights by the sum, and the moving average with them.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] before [`begin`](Self::begin); when the device fails.
    fn update(&mut self, input: StepInput) -> Result<(), TrainError>;

    /// What a checkpoint holds besides the weights.
    ///
    /// # Errors
    /// When the device fails.
    fn read_state(&mut self) -> Result<EngineState, TrainError>;

    /// Takes over what a checkpoint held.
    ///
    /// # Errors
    /// [`TrainError::Shape`] when it belongs to another recipe or network. Nothing has changed then.
    fn load_state(&mut self, state: EngineState) -> Result<(), TrainError>;

    /// The network's outputs for these examples, example by example: a score per class, one number, or a score per token at every
    /// position.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn outputs(
        &mut self,
        weights: Weights,
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError>;
}

/// Slopes at the outputs are for described networks on the CPU.
pub(crate) fn unsteered() -> TrainError {
    let why = "it needs a described network on the CPU: train with the device cpu".to_owned();
    TrainError::Unsupported { what: "adversarial training", why }
}

/// Refuses another number of weights than the network has.
pub(crate) fn check_weights(layout: &Layout, weights: &[f32]) -> Result<(), TrainError> {
    let expected = layout.weights();
    if weights.len() == expected {
        return Ok(());
    }
    let remedy = format!("give as many as the model has: {expected}");
    Err(TrainError::invalid("weights", weights.len(), remedy))
}

/// Refuses a sum of another length than the gradient's.
pub(crate) fn check_sum(layout: &Layout, sum: &[f32]) -> Result<(), TrainError> {
    let (expected, given) = (layout.gradients(), sum.len());
    if given == expected {
        return Ok(());
    }
    Err(TrainError::Shape(format!("the sum has {given} numbers, not {expected}")))
}

/// Refuses coordinates that a sum does not have.
pub(crate) fn check_coordinates(layout: &Layout, added: &[(usize, f32)]) -> Result<(), TrainError> {
    let dimension = layout.gradients();
    match added.iter().find(|(coordinate, _)| *coordinate >= dimension) {
        Some((coordinate, _)) => Err(TrainError::Shape(format!(
            "coordinate {coordinate} of a sum of {dimension} numbers, numbered from 0"
        ))),
        None => Ok(()),
    }
}

/// An engine for a described network on a device.
///
/// ```
/// use reticent_train::describe::preset;
/// use reticent_train::{Device, Resources, engine};
///
/// let engine = engine(&preset("mlp", &[2], None, 3)?, Device::Cpu, Resources::default())?;
/// assert!(engine.layout().gradients() > 0);
/// # Ok::<(), reticent_train::TrainError>(())
/// ```
///
/// # Errors
/// [`TrainError::Layer`] when layers do not fit together; [`TrainError::Invalid`] for resources without meaning;
/// [`TrainError::Device`] when the device cannot be used.
pub fn engine(
    description: &Description,
    device: Device,
    resources: Resources,
) -> Result<Box<dyn Engine>, TrainError> {
    match device {
        Device::Cpu => {
            resources.check()?;
            let network = Network::compile(Graph::new(description)?, resources)?;
            Ok(Box::new(HostEngine::new(network, Threads::new(resources.threads)?)))
        }
        Device::Cuda => crate::cuda::engine(description, resources),
    }
}

/// An engine for a model that is not described. The model computes gradients by means of its own; everything else of a step is on
/// the host.
///
/// # Errors
/// [`TrainError::Invalid`] for resources without meaning; [`TrainError::Device`] when threads cannot be started.
pub fn model_engine(model: Box<dyn Gradients>, resources: Resources) -> Result<Box<dyn Engine>, TrainError> {
    resources.check()?;
    Ok(Box::new(HostEngine::new(Modelled(model), Threads::pool(resources.threads)?)))
}
