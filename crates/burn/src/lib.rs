//! Modules of the Burn framework trained with a privacy guarantee: bring your own network.
//!
//! A module implements [`PrivateModule`]: its forward pass, with every layer that has parameters called through
//! [`Taps`]. [`BurnModel::tapped`] makes a [`Gradients`](reticent_train::Gradients) of it, and checks on made-up inputs that the
//! taps see the whole gradient of every parameter and that no example's scores depend on another example.
//! [`BurnModel::looped`] takes modules with any other layers, at the cost of one backward pass per example.
//!
//! What comes out of a backward pass goes to the [`ClippedSum`](reticent_train::ClippedSum), which clips it; nothing here decides
//! how much of a gradient counts.
//!
//! | module | contents |
//! |---|---|
//! | `backend` | the names of Burn that are used here, and the back ends |
//! | `batch`, `loss` | examples and targets on their way to a device |
//! | `taps`, `convolution` | layers that remember what their gradients are made of |
//! | `factors` | what the taps remember, as arrays on the host |
//! | `parameters` | a module's parameters as one vector |
//! | `chunk` | units in chunks of bounded size |
//! | `probe` | the check of a module before it is trained |
//! | `adapter` | the [`Gradients`](reticent_train::Gradients) |

mod adapter;
mod backend;
mod batch;
mod chunk;
mod convolution;
mod factors;
mod loss;
mod parameters;
mod probe;
mod taps;

pub use adapter::{BurnModel, Trainable};
pub use backend::Cpu;
#[cfg(feature = "cuda")]
pub use backend::Cuda;
pub use batch::{Batch, BatchValues, ModuleInput};
pub use taps::Taps;

use backend::{Backend, Module, Tensor};

/// A Burn module that can be trained privately. Implement it for every back end (`impl<B: Backend> PrivateModule<B> for
/// ...`), as training and evaluation run on different ones.
pub trait PrivateModule<B: Backend>: Module<B> {
    /// What it reads: `Tensor<B, D>` for numbers, `Tensor<B, 2, Int>` for tokens, the examples along the first axis.
    type Inputs: Batch<B>;

    /// Scores `[examples, classes]`, or `[examples, 1]` for a number or two classes. Every layer whose parameters are trained is called
    /// through `taps`, and the examples stay along the first axis. An example's scores may depend on that example only.
    fn forward(&self, inputs: Self::Inputs, taps: &mut Taps<B>) -> Tensor<B, 2>;
}
