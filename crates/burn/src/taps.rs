//! Layers that remember what their per-example gradients are made of.

use super::backend::{
    AutodiffBackend, Backend, Conv1d, Conv2d, Embedding, GroupNorm, Inner, Int, LayerNorm, Linear, Param,
    ParamId, Tensor,
};
use super::convolution::Window;
use super::factors::Factors;
use reticent_train::TrainError;
use std::collections::HashMap;
use std::sync::Arc;

/// The parameters that are trained: their numbers in the layout, and their names.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) numbers: HashMap<ParamId, usize>,
    pub(crate) names: Vec<String>,
}

/// Stands between a module and its layers: each layer's forward pass goes through the method that has its name.
///
/// A tap is a tensor of zeros added to a layer's output. The gradient of the loss with respect to it is every example's
/// gradient at that output, from which, with the layer's input, the gradient of the weights follows example by example.
#[derive(Debug)]
pub struct Taps<B: Backend> {
    places: Option<Arc<Places>>,
    examples: usize,
    records: Vec<Record<B>>,
    fault: Option<TrainError>,
}

/// One use of a layer.
#[derive(Debug)]
struct Record<B: Backend> {
    tap: Tensor<B, 3>,
    kept: Kept<B>,
}

/// What a layer's gradient needs beside that at its output. The numbers are those of trained parameters.
#[derive(Debug)]
enum Kept<B: Backend> {
    /// Input `[n, T, p]`, tap `[n, T, q]`; the weight is `[p, q]`, or `[q, p]` where it is flipped.
    Linear { weight: Option<usize>, bias: Option<usize>, input: Tensor<B, 3>, flipped: bool },
    /// Input `[n, channels, height, width]`, tap `[n, channels, places]`.
    Convolution { weight: Option<usize>, bias: Option<usize>, input: Tensor<B, 4>, window: Window },
    /// Places `[n, T]`, tap `[n, T, q]`.
    Embedding { weight: usize, places: Tensor<B, 2, Int> },
    /// What gamma multiplies, in the shape of the tap, and the axis (1 or 2) of gamma.
    Scale { gamma: Option<usize>, beta: Option<usize>, scaled: Tensor<B, 3>, axis: usize },
}

impl<B: Backend> Taps<B> {
    /// Taps that let everything through and remember nothing.
    pub fn off() -> Self {
        Self { places: None, examples: 0, records: Vec::new(), fault: None }
    }

    /// Taps for a batch of this many examples.
    pub(crate) fn on(places: Arc<Places>, examples: usize) -> Self {
        Self { places: Some(places), examples, records: Vec::new(), fault: None }
    }

    /// A linear layer on `[examples, ..., features]`.
    pub fn linear<const D: usize>(&mut self, layer: &Linear<B>, input: Tensor<B, D>) -> Tensor<B, D> {
        let output = layer.forward(input.clone());
        let (weight, bias) = (self.place(&layer.weight), self.place_of(&layer.bias));
        if weight.is_none() && bias.is_none() {
            return output;
        }
        let ([examples, times, p], [_, _, q]) = (rows(input.dims()), rows(output.dims()));
        let input = input.reshape([examples, times, p]);
        self.tap(output, [examples, times, q], Kept::Linear { weight, bias, input, flipped: false })
    }

    /// Scores against the rows of an embedding, `[examples, ..., features]` to `[examples, ..., rows]`: an output layer
    /// tied to the embedding.
    pub fn unembed<const D: usize>(&mut self, layer: &Embedding<B>, input: Tensor<B, D>) -> Tensor<B, D> {
        let ([examples, times, p], mut dims) = (rows(input.dims()), input.dims());
        let [vocabulary, _] = layer.weight.dims();
        dims[D - 1] = vocabulary;
        let input = input.reshape([examples * times, p]);
        let output = input.clone().matmul(layer.weight.val().transpose()).reshape(dims);
        let weight = self.place(&layer.weight);
        if weight.is_none() {
            return output;
        }
        let input = input.reshape([examples, times, p]);
        self.tap(
            output,
            [examples, times, vocabulary],
            Kept::Linear { weight, bias: None, input, flipped: true },
        )
    }

    /// A convolution over images `[examples, channels, height, width]`.
    pub fn conv2d(&mut self, layer: &Conv2d<B>, input: Tensor<B, 4>) -> Tensor<B, 4> {
        let output = layer.forward(input.clone());
        let (weight, bias) = (self.place(&layer.weight), self.place_of(&layer.bias));
        if weight.is_none() && bias.is_none() {
            return output;
        }
        let [_, _, height, width] = input.dims();
        let window = Window::of_plane(layer, [height, width]);
        let [examples, channels, height, width] = output.dims();
        let kept = Kept::Convolution { weight, bias, input, window };
        self.tap(output, [examples, channels, height * width], kept)
    }

    /// A convolution over sequences `[examples, channels, length]`.
    pub fn conv1d(&mut self, layer: &Conv1d<B>, input: Tensor<B, 3>) -> Tensor<B, 3> {
        let output = layer.forward(input.clone());
        let (weight, bias) = (self.place(&layer.weight), self.place_of(&layer.bias));
        if weight.is_none() && bias.is_none() {
            return output;
        }
        let [examples, channels, length] = input.dims();
        let window = Window::of_line(layer, length);
        let input = input.reshape([examples, channels, 1, length]);
        let shape = output.dims();
        self.tap(output, shape, Kept::Convolution { weight, bias, input, window })
    }

    /// Rows of a table for tokens `[examples, length]`.
    pub fn embedding(&mut self, layer: &Embedding<B>, tokens: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let output = layer.forward(tokens.clone());
        let Some(weight) = self.place(&layer.weight) else { return output };
        let shape = output.dims();
        self.tap(output, shape, Kept::Embedding { weight, places: tokens })
    }

    /// Layer normalisation of `[examples, ..., features]`.
    pub fn layer_norm<const D: usize>(&mut self, layer: &LayerNorm<B>, input: Tensor<B, D>) -> Tensor<B, D> {
        let (gamma, beta) = (self.place(&layer.gamma), self.place_of(&layer.beta));
        if gamma.is_none() && beta.is_none() {
            return layer.forward(input);
        }
        let mut plain = layer.clone();
        plain.gamma = Param::initialized(layer.gamma.id, Tensor::ones(layer.gamma.dims(), &input.device()));
        plain.beta = None;
        let scaled = plain.forward(input);
        let mut column = [1; D];
        column[D - 1] = scaled.dims()[D - 1];
        let output = affine(&scaled, Some(&layer.gamma), layer.beta.as_ref(), column);
        let shape = rows(scaled.dims());
        let kept = Kept::Scale { gamma, beta, scaled: scaled.reshape(shape), axis: 2 };
        self.tap(output, shape, kept)
    }

    /// Group normalisation of `[examples, channels, ...]`.
    pub fn group_norm<const D: usize>(&mut self, layer: &GroupNorm<B>, input: Tensor<B, D>) -> Tensor<B, D> {
        let (gamma, beta) = (self.place_of(&layer.gamma), self.place_of(&layer.beta));
        if gamma.is_none() && beta.is_none() {
            return layer.forward(input);
        }
        let mut plain = layer.clone();
        (plain.gamma, plain.beta, plain.affine) = (None, None, false);
        let scaled = plain.forward(input);
        let dims = scaled.dims();
        let mut column = [1; D];
        column[1] = dims[1];
        let output = affine(&scaled, layer.gamma.as_ref(), layer.beta.as_ref(), column);
        let shape = [dims[0], dims[1], dims[2..].iter().product()];
        let kept = Kept::Scale { gamma, beta, scaled: scaled.reshape(shape), axis: 1 };
        self.tap(output, shape, kept)
    }

    /// The number of a trained parameter.
    fn place<const D: usize>(&self, parameter: &Param<Tensor<B, D>>) -> Option<usize> {
        self.places.as_ref()?.numbers.get(&parameter.id).copied()
    }

    fn place_of<const D: usize>(&self, parameter: &Option<Param<Tensor<B, D>>>) -> Option<usize> {
        self.place(parameter.as_ref()?)
    }

    /// Adds the tap and remembers the use.
    fn tap<const D: usize>(
        &mut self,
        output: Tensor<B, D>,
        shape: [usize; 3],
        kept: Kept<B>,
    ) -> Tensor<B, D> {
        let dims = output.dims();
        if dims[0] != self.examples || D < 2 {
            let name = self.places.as_ref().and_then(|places| places.names.get(kept.parameter()));
            self.fault.get_or_insert_with(|| TrainError::Layer {
                layer: name.cloned().unwrap_or_default(),
                why: format!(
                    "its output has the shape {dims:?} for {} examples: keep the examples along the first axis, and \
                     time or places along further axes",
                    self.examples
                ),
            });
            return output;
        }
        let tap = Tensor::zeros(shape, &output.device()).require_grad();
        self.records.push(Record { tap: tap.clone(), kept });
        output + tap.reshape(dims)
    }

    /// The first layer that could not be tapped.
    pub(crate) fn fault(&self) -> Result<(), TrainError> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

impl<B: AutodiffBackend> Taps<B> {
    /// The gradients of all trained parameters that were used, one entry a use.
    pub(crate) fn factors(self, gradients: &mut B::Gradients) -> Result<Vec<Factors>, TrainError> {
        let mut factors = Vec::new();
        for record in self.records {
            if let Some(gradient) = record.tap.grad_remove(gradients) {
                record.kept.factors(gradient, &mut factors)?;
            }
        }
        Ok(factors)
    }

    /// The gradient at every tap, and the number of a parameter of its layer.
    pub(crate) fn raw(&self, gradients: &B::Gradients) -> Vec<(usize, Tensor<Inner<B>, 3>)> {
        let raw = |record: &Record<B>| Some((record.kept.parameter(), record.tap.grad(gradients)?));
        self.records.iter().filter_map(raw).collect()
    }

    /// The numbers of all parameters that went through a tap.
    pub(crate) fn tapped(&self) -> Vec<usize> {
        self.records.iter().flat_map(|record| record.kept.parameters()).flatten().collect()
    }
}

impl<B: Backend> Kept<B> {
    fn parameters(&self) -> [Option<usize>; 2] {
        match self {
            Self::Linear { weight, bias, .. } | Self::Convolution { weight, bias, .. } => [*weight, *bias],
            Self::Embedding { weight, .. } => [Some(*weight), None],
            Self::Scale { gamma, beta, .. } => [*gamma, *beta],
        }
    }

    fn parameter(&self) -> usize {
        self.parameters().into_iter().flatten().next().unwrap_or(usize::MAX)
    }
}

impl<B: AutodiffBackend> Kept<B> {
    /// Adds the gradients of this use to a list.
    fn factors(self, gradient: Tensor<Inner<B>, 3>, to: &mut Vec<Factors>) -> Result<(), TrainError> {
        let [examples, a, b] = gradient.dims();
        match self {
            Self::Linear { weight, bias, input, flipped } => {
                if let Some(weight) = weight {
                    let p = input.dims()[2];
                    let left = input.inner().reshape([1, examples, a, p]);
                    let right = gradient.clone().reshape([1, examples, a, b]);
                    let (left, right) = if flipped { (right, left) } else { (left, right) };
                    to.push(Factors::product(weight, left, right)?);
                }
                if let Some(bias) = bias {
                    to.push(Factors::whole(bias, over_places(gradient, 2))?);
                }
            }
            Self::Convolution { weight, bias, input, window } => {
                if let Some(weight) = weight {
                    let fold = |tensor: Tensor<Inner<B>, 3>| {
                        let [_, channels, places] = tensor.dims();
                        let each = channels / window.groups;
                        tensor.reshape([examples, window.groups, each, places]).permute([1, 0, 3, 2])
                    };
                    let (left, right) = (fold(gradient.clone()), fold(window.unfold(input.inner())));
                    to.push(Factors::product(weight, left, right)?);
                }
                if let Some(bias) = bias {
                    to.push(Factors::whole(bias, over_places(gradient, 1))?);
                }
            }
            Self::Embedding { weight, places } => {
                to.push(Factors::rows(weight, places.inner(), gradient)?);
            }
            Self::Scale { gamma, beta, scaled, axis } => {
                if let Some(gamma) = gamma {
                    to.push(Factors::whole(gamma, over_places(gradient.clone() * scaled.inner(), axis))?);
                }
                if let Some(beta) = beta {
                    to.push(Factors::whole(beta, over_places(gradient, axis))?);
                }
            }
        }
        Ok(())
    }
}

/// The sum over each example's places, leaving one axis (1 or 2).
fn over_places<I: Backend>(gradient: Tensor<I, 3>, axis: usize) -> Tensor<I, 2> {
    let dims = gradient.dims();
    gradient.sum_dim(3 - axis).reshape([dims[0], dims[axis]])
}

/// A shape as examples, rows of each, and the row's length.
fn rows<const D: usize>(dims: [usize; D]) -> [usize; 3] {
    match D {
        0 | 1 => [1, 1, dims.iter().product()],
        _ => [dims[0], dims[1..D - 1].iter().product(), dims[D - 1]],
    }
}

/// Normalised numbers times gamma plus beta.
fn affine<B: Backend, const D: usize>(
    scaled: &Tensor<B, D>,
    gamma: Option<&Param<Tensor<B, 1>>>,
    beta: Option<&Param<Tensor<B, 1>>>,
    column: [usize; D],
) -> Tensor<B, D> {
    let mut output = scaled.clone();
    if let Some(gamma) = gamma {
        output = output * gamma.val().reshape(column);
    }
    if let Some(beta) = beta {
        output = output + beta.val().reshape(column);
    }
    output
}
