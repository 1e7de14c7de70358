//! The names of Burn that this room uses, and the back ends it offers: a later release of Burn changes this file.

pub(super) use burn::module::{AutodiffModule, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
pub(super) use burn::nn::conv::{Conv1d, Conv2d};
pub(super) use burn::nn::{Embedding, GroupNorm, LayerNorm, Linear, PaddingConfig1d, PaddingConfig2d};
pub(super) use burn::tensor::activation::{sigmoid, softmax};
pub(super) use burn::tensor::backend::{AutodiffBackend, Backend};
pub(super) use burn::tensor::module::unfold4d;
pub(super) use burn::tensor::ops::{PadMode, UnfoldOptions};
pub(super) use burn::tensor::{Bool, IndexingUpdateOp, Int, Tensor, TensorData};

/// Burn's back end on the CPU, with gradients.
pub type Cpu = burn::backend::Autodiff<burn::backend::Flex>;

/// Burn's back end on NVIDIA devices, with gradients.
#[cfg(feature = "cuda")]
pub type Cuda = burn::backend::Autodiff<burn::backend::Cuda>;

/// The back end below the one with gradients.
pub(super) type Inner<B> = <B as AutodiffBackend>::InnerBackend;

/// The device type of a back end.
pub(super) type Device<B> = burn::tensor::Device<B>;
