//! Modules of the Burn framework as models: bring your own network, and train it with a privacy guarantee.
//!
//! A module implements [`PrivateModule`]: its forward pass, with every layer that has parameters called through
//! [`Taps`]. [`BurnModel::tapped`] makes a [`Model`](crate::Model) of it, and checks on made-up inputs that the taps see
//! the whole gradient of every parameter and that no example's scores depend on another example.
//! [`BurnModel::looped`] takes modules with any other layers, at the cost of one backward pass per example.
//!
//! | room | what is in it |
//! |---|---|
//! | `backend` | the names of Burn that are used here, and the back ends |
//! | `batch`, `loss` | examples and targets on their way to a device |
//! | `taps`, `convolution` | layers that remember what their gradients are made of |
//! | `term` | norms and weighted sums of per-unit gradients |
//! | `parameters` | a module's parameters as one vector |
//! | `units` | units in chunks of bounded size |
//! | `probe` | the check of a module before it is trained |
//! | `adapter` | the [`Model`](crate::Model) |

mod adapter;
mod backend;
mod batch;
mod convolution;
mod loss;
mod parameters;
mod probe;
mod taps;
mod term;
mod units;

pub use adapter::{BurnModel, Trainable};
pub use backend::Cpu;
#[cfg(feature = "cuda")]
pub use backend::Cuda;
pub use batch::{Accepts, Batch, Values};
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
