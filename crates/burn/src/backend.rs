//! The names of Burn that this crate uses, and the back ends it offers: a later release of Burn changes this file.

pub(crate) use burn::module::{AutodiffModule, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
pub(crate) use burn::nn::conv::{Conv1d, Conv2d};
pub(crate) use burn::nn::{Embedding, GroupNorm, LayerNorm, Linear, PaddingConfig1d, PaddingConfig2d};
pub(crate) use burn::tensor::activation::{log_sigmoid, log_softmax, sigmoid, softmax};
pub(crate) use burn::tensor::backend::{AutodiffBackend, Backend};
pub(crate) use burn::tensor::module::unfold4d;
pub(crate) use burn::tensor::ops::{PadMode, UnfoldOptions};
pub(crate) use burn::tensor::{Int, Tensor, TensorData};

/// Burn's back end on the CPU, with gradients.
pub type Cpu = burn::backend::Autodiff<burn::backend::Flex>;

/// Burn's back end on NVIDIA devices, with gradients.
#[cfg(feature = "cuda")]
pub type Cuda = burn::backend::Autodiff<burn::backend::Cuda>;

/// The back end below the one with gradients.
pub(crate) type Inner<B> = <B as AutodiffBackend>::InnerBackend;

/// The device type of a back end.
pub(crate) type Device<B> = burn::tensor::Device<B>;
