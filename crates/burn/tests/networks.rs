//! Small modules with every tapped layer.

use burn::module::Module;
use burn::nn::conv::{Conv1d, Conv2d};
use burn::nn::{Embedding, GroupNorm, LayerNorm, Linear};
use burn::tensor::activation::{relu, tanh};
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor};
use reticent_burn::{PrivateModule, Taps};

/// Two linear layers.
#[derive(Module, Debug)]
pub(crate) struct Dense<B: Backend> {
    pub(crate) first: Linear<B>,
    pub(crate) second: Linear<B>,
}

impl<B: Backend> PrivateModule<B> for Dense<B> {
    type Inputs = Tensor<B, 2>;

    fn forward(&self, inputs: Tensor<B, 2>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let hidden = tanh(taps.linear(&self.first, inputs));
        taps.linear(&self.second, hidden)
    }
}

/// A convolution over images, normalised in groups of channels.
#[derive(Module, Debug)]
pub(crate) struct Image<B: Backend> {
    pub(crate) convolution: Conv2d<B>,
    pub(crate) norm: GroupNorm<B>,
    pub(crate) output: Linear<B>,
}

impl<B: Backend> PrivateModule<B> for Image<B> {
    type Inputs = Tensor<B, 4>;

    fn forward(&self, inputs: Tensor<B, 4>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let hidden = taps.conv2d(&self.convolution, inputs);
        let hidden = tanh(taps.group_norm(&self.norm, hidden)).flatten::<2>(1, 3);
        taps.linear(&self.output, hidden)
    }
}

/// Tokens, layers along time, and a convolution along it.
#[derive(Module, Debug)]
pub(crate) struct Sequence<B: Backend> {
    pub(crate) table: Embedding<B>,
    pub(crate) mix: Linear<B>,
    pub(crate) norm: LayerNorm<B>,
    pub(crate) convolution: Conv1d<B>,
    pub(crate) output: Linear<B>,
}

impl<B: Backend> PrivateModule<B> for Sequence<B> {
    type Inputs = Tensor<B, 2, Int>;

    fn forward(&self, inputs: Tensor<B, 2, Int>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let hidden = taps.embedding(&self.table, inputs);
        let hidden = hidden.clone() + tanh(taps.linear(&self.mix, hidden));
        let hidden = taps.layer_norm(&self.norm, hidden).swap_dims(1, 2);
        let hidden = relu(taps.conv1d(&self.convolution, hidden)).mean_dim(2).flatten::<2>(1, 2);
        taps.linear(&self.output, hidden)
    }
}

/// One linear layer used for every step in time, and an output layer tied to the embedding.
#[derive(Module, Debug)]
pub(crate) struct Tied<B: Backend> {
    pub(crate) table: Embedding<B>,
    pub(crate) step: Linear<B>,
    pub(crate) norm: LayerNorm<B>,
}

impl<B: Backend> PrivateModule<B> for Tied<B> {
    type Inputs = Tensor<B, 2, Int>;

    fn forward(&self, inputs: Tensor<B, 2, Int>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let [examples, length] = inputs.dims();
        let rows = taps.embedding(&self.table, inputs.clone());
        let reversed = taps.embedding(&self.table, inputs.flip([1]));
        let rows = rows + reversed;
        let width = rows.dims()[2];
        let mut state = Tensor::zeros([examples, width], &rows.device());
        for time in 0..length {
            let row = rows.clone().slice([0..examples, time..time + 1, 0..width]).reshape([examples, width]);
            state = tanh(taps.linear(&self.step, state + row));
            state = taps.layer_norm(&self.norm, state);
        }
        taps.unembed(&self.table, state)
    }
}
