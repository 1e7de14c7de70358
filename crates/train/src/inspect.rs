//! What a network does with single examples: losses, gradients in weights and inputs, activations.
//!
//! White-box attacks score members by such quantities (Nasr, Shokri, Houmansadr, *Comprehensive privacy analysis of deep learning*,
//! 2019), and canaries are made with gradients of the input.
//!
//! # Guarantee
//! None: everything here is exact access to the examples that are looked at. It is for attacks on one's own models, with examples
//! one may look at. Nothing that is released with a guarantee may depend on it: no release, trainer or certificate uses this module.

pub use crate::native::Inspector;

use crate::TrainError;

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// The loss of every example.
    pub losses: bool,
    /// The gradient of every example's loss in the trained weights.
    pub gradients: bool,
    /// The norm of that gradient, layer by layer.
    pub layer_norms: bool,
    /// The gradient of every example's loss in its input.
    pub input_gradients: bool,
    /// The outputs of these layers, by name: the place from 0, or the name given in the description.
    pub activations: Vec<String>,
}

/// Numbers to keep of the gradient of every example's loss in the trained weights, which itself is not kept.
#[derive(Clone, Copy)]
pub struct GradientSummary<'a> {
    /// How many numbers.
    pub width: usize,
    /// Writes them.
    pub of: &'a (dyn Fn(&[f32], &mut [f64]) + Sync),
}

impl std::fmt::Debug for GradientSummary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GradientSummary").field("width", &self.width).finish_non_exhaustive()
    }
}

/// What was seen. Arrays hold one example after the other; what was not asked for is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inspected {
    /// One loss per example.
    pub losses: Option<Vec<f64>>,
    /// [`Layout::gradients`](crate::Layout::gradients) numbers per example.
    pub gradients: Option<Vec<f32>>,
    /// As many numbers per example as the summary has.
    pub summaries: Option<Vec<f64>>,
    /// [`Layout::groups`](crate::Layout::groups) norms per example: one for each layer with trained weights.
    pub layer_norms: Option<Vec<f64>>,
    /// As many numbers per example as its input has.
    pub input_gradients: Option<Vec<f32>>,
    /// In the order in which they were asked for.
    pub activations: Vec<Activations>,
}

/// The outputs of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Activations {
    /// The layer's name.
    pub layer: String,
    /// The shape of one example's output.
    pub shape: Vec<usize>,
    /// One example after the other.
    pub values: Vec<f32>,
}

impl Inspection {
    /// Everything but activations.
    pub fn everything() -> Self {
        Self {
            losses: true,
            gradients: true,
            layer_norms: true,
            input_gradients: true,
            activations: Vec::new(),
        }
    }

    /// Refuses what a model that only hands over gradients cannot show.
    pub(crate) fn only_gradients(&self) -> Result<(), TrainError> {
        let refused = |what| Err(TrainError::Unsupported { what, why: ONLY_GRADIENTS.to_owned() });
        match self {
            Self { losses: true, .. } => refused("the loss"),
            Self { input_gradients: true, .. } => refused("the gradient of the input"),
            Self { activations, .. } if !activations.is_empty() => refused("the activations of layers"),
            _ => Ok(()),
        }
    }
}

const ONLY_GRADIENTS: &str = "this model hands over gradients of its weights only: implement `Gradients::inspect` for it, or describe the network";
