//! What a module reads: numbers or tokens, the examples along the first axis.

use super::backend::{AutodiffBackend, Backend, Int, Tensor, TensorData};
use reticent_train::{Examples, Inputs, TrainError};

/// The inputs that a module was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleInput {
    /// Numbers (or pixels) of this shape per example.
    Numbers(Vec<usize>),
    /// Tokens.
    Tokens {
        /// How many per example.
        length: usize,
        /// One more than the largest token.
        vocabulary: usize,
    },
}

impl ModuleInput {
    /// The shape of one example.
    pub(crate) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Numbers(shape) => shape.clone(),
            Self::Tokens { length, .. } => vec![*length],
        }
    }

    /// Refuses examples of another shape or kind.
    pub(crate) fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        let tokens = matches!(examples.inputs(), Inputs::Tokens(_));
        if tokens != matches!(self, Self::Tokens { .. }) {
            let (wanted, given) = if tokens { ("numbers", "tokens") } else { ("tokens", "numbers") };
            return Err(TrainError::Shape(format!("the module reads {wanted}; the examples hold {given}")));
        }
        if examples.shape() != self.shape() {
            return Err(TrainError::Shape(format!(
                "the module reads inputs of the shape {:?}; the examples have {:?}",
                self.shape(),
                examples.shape()
            )));
        }
        Ok(())
    }
}

/// The numbers of some examples, ready for a device.
#[derive(Debug, Clone)]
pub enum BatchValues {
    /// For numbers.
    Numbers(Vec<f32>),
    /// For tokens.
    Tokens(Vec<i64>),
}

impl BatchValues {
    /// The inputs of these examples; a token outside the vocabulary is an error.
    pub(crate) fn read(
        accepts: &ModuleInput,
        examples: &Examples,
        which: &[usize],
    ) -> Result<Self, TrainError> {
        accepts.check(examples)?;
        let size = examples.size();
        if let Some(&example) = which.iter().find(|&&example| example >= examples.len()) {
            let why = format!("there are only {} examples", examples.len());
            return Err(TrainError::Example { example, why });
        }
        match (accepts, examples.inputs()) {
            (ModuleInput::Tokens { vocabulary, .. }, Inputs::Tokens(ids)) => {
                let mut tokens = Vec::with_capacity(which.len() * size);
                for &example in which {
                    for &id in &ids[example * size..(example + 1) * size] {
                        if id as usize >= *vocabulary {
                            return Err(outside(example, id, *vocabulary));
                        }
                        tokens.push(i64::from(id));
                    }
                }
                Ok(Self::Tokens(tokens))
            }
            _ => {
                let mut numbers = vec![0.0; which.len() * size];
                for (&example, into) in which.iter().zip(numbers.chunks_exact_mut(size)) {
                    examples.read(example, into);
                }
                Ok(Self::Numbers(numbers))
            }
        }
    }
}

/// The error for a token that the module has no row for.
pub(crate) fn outside(example: usize, id: u32, vocabulary: usize) -> TrainError {
    let why =
        format!("the token {id} is outside the vocabulary of {vocabulary}: encode it as a token of its own");
    TrainError::Example { example, why }
}

/// What [`PrivateModule::forward`](super::PrivateModule::forward) may read: a tensor of numbers or of tokens.
pub trait Batch<B: Backend>: Clone + sealed::Sealed {
    /// Whether it holds tokens.
    const TOKENS: bool;
    /// Its number of axes, the examples' included.
    const RANK: usize;

    /// The values on a device, in this shape.
    fn new(values: BatchValues, shape: Vec<usize>, device: &B::Device) -> Self;

    /// The same values as a leaf whose gradient is kept, where that has a meaning.
    fn tracked(self) -> Self;

    /// The gradient of a tracked leaf.
    fn gradient(&self, gradients: &B::Gradients) -> Option<TensorData>
    where
        B: AutodiffBackend;
}

mod sealed {
    pub trait Sealed {}
    impl<B: super::Backend, const D: usize> Sealed for super::Tensor<B, D> {}
    impl<B: super::Backend, const D: usize> Sealed for super::Tensor<B, D, super::Int> {}
}

impl<B: Backend, const D: usize> Batch<B> for Tensor<B, D> {
    const TOKENS: bool = false;
    const RANK: usize = D;

    fn new(values: BatchValues, shape: Vec<usize>, device: &B::Device) -> Self {
        match values {
            BatchValues::Numbers(numbers) => Self::from_data(TensorData::new(numbers, shape), device),
            BatchValues::Tokens(tokens) => Self::from_data(TensorData::new(tokens, shape), device),
        }
    }

    fn tracked(self) -> Self {
        self.require_grad()
    }

    fn gradient(&self, gradients: &B::Gradients) -> Option<TensorData>
    where
        B: AutodiffBackend,
    {
        self.grad(gradients).and_then(|gradient| gradient.try_into_data().ok())
    }
}

impl<B: Backend, const D: usize> Batch<B> for Tensor<B, D, Int> {
    const TOKENS: bool = true;
    const RANK: usize = D;

    fn new(values: BatchValues, shape: Vec<usize>, device: &B::Device) -> Self {
        match values {
            BatchValues::Numbers(numbers) => Self::from_data(TensorData::new(numbers, shape), device),
            BatchValues::Tokens(tokens) => Self::from_data(TensorData::new(tokens, shape), device),
        }
    }

    fn tracked(self) -> Self {
        self
    }

    fn gradient(&self, _gradients: &B::Gradients) -> Option<TensorData>
    where
        B: AutodiffBackend,
    {
        None
    }
}
