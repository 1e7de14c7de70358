//! Descriptions of networks: the `model.toml` of a run, presets, and the shapes that follow.

mod causal;
mod locate;
mod preset;
mod shape;
mod size;
#[cfg(test)]
mod tests;

pub use preset::{PRESETS, is_language_model, preset};
pub use shape::Window;
pub(crate) use shape::windows;
pub use size::{MOST_LAYERS, MOST_NUMBERS, MOST_WEIGHTS};

use crate::{FixedFeatures, TrainError};
use serde::{Deserialize, Serialize};

/// A network: what it reads, its layers in order, and its loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The shape of one example: `[features]`, `[channels, height, width]`, or `[length]` of tokens.
    pub input: Vec<usize>,
    /// What training minimizes.
    #[serde(default)]
    pub loss: Objective,
    /// The share of the target that the cross-entropy spreads evenly over all classes (label smoothing), from 0 to below 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub label_smoothing: f32,
    /// The fixed features of an image that the first layer reads in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<FixedFeatures>,
    /// Frozen weights, by the name of a layer or a parameter, such as `2` or `3.self_attn`; a `*` at the end stands for any ending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freeze: Vec<String>,
    /// The layers, first to last.
    #[serde(default, rename = "layer", skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
}

/// What training minimizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// −ln softmax of the example's class; the last layer has one output per class.
    #[default]
    CrossEntropy,
    /// (output − target)²/2; the last layer has one output.
    Squared,
    /// The mean over an example's scored positions of −ln softmax of the next token; the last layer yields `[length, vocabulary]`, and
    /// no position sees a later one.
    NextToken,
}

/// One layer with its name in the stored weights and whether it is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The name before the parameter's own, as in `NAME.weight`; its place from 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether its weights stay as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// What it computes.
    #[serde(flatten)]
    pub kind: LayerKind,
    /// A low-rank update beside frozen weights; for linear layers, attention and transformer blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lora: Option<Lora>,
}

/// A low-rank update of a linear layer: W·x + b + (alpha / rank)·B·A·x, where W and b are frozen, A starts at random and B at 0.
///
/// Attention and transformer blocks have one of the joint projection to queries, keys and values and one of the projection of the
/// output; all other weights of the layer are frozen.
///
/// # Reference
/// Hu et al., *LoRA: low-rank adaptation of large language models* (2022).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lora {
    /// The rows of A, and the columns of B.
    pub rank: usize,
    /// What the update is multiplied by, times the rank; the rank itself if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f32>,
}

impl Lora {
    /// What B·A·x is multiplied by.
    pub fn scale(&self) -> f32 {
        self.alpha.map_or(1.0, |alpha| alpha / self.rank as f32)
    }
}

impl From<LayerKind> for Layer {
    fn from(kind: LayerKind) -> Self {
        Self { name: None, frozen: false, kind, lora: None }
    }
}

fn yes() -> bool {
    true
}

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

fn one() -> usize {
    1
}

fn pair_of_ones() -> [usize; 2] {
    [1, 1]
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// The kinds of layers. Tensors of one example are `[features]`, `[time, features]`, `[channels, length]` or `[channels,
/// height, width]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields are those of the layer of the same name everywhere.
pub enum LayerKind {
    /// W·x + b on the last dimension.
    Linear {
        out: usize,
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        bias: bool,
    },
    /// Convolution along one dimension.
    Conv1d {
        out: usize,
        kernel: usize,
        #[serde(default = "one")]
        stride: usize,
        #[serde(default)]
        padding: usize,
        #[serde(default = "one")]
        dilation: usize,
        #[serde(default = "one")]
        groups: usize,
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        bias: bool,
    },
    /// Convolution over an image.
    Conv2d {
        out: usize,
        kernel: [usize; 2],
        #[serde(default = "pair_of_ones")]
        stride: [usize; 2],
        #[serde(default)]
        padding: [usize; 2],
        #[serde(default = "pair_of_ones")]
        dilation: [usize; 2],
        #[serde(default = "one")]
        groups: usize,
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        bias: bool,
    },
    /// A row of a table per token.
    Embedding { vocabulary: usize, out: usize },
    /// The mean of the embeddings of a text's tokens, padding left out; it starts at 0.
    EmbeddingBag { vocabulary: usize, out: usize },
    /// Sines and cosines of the place, added; no weights.
    Position,
    /// Normalised over the last dimension.
    #[serde(rename = "layer-norm")]
    LayerNorm,
    /// Normalised over groups of channels.
    #[serde(rename = "group-norm")]
    GroupNorm { groups: usize },
    /// Refused: it mixes the examples of a batch.
    #[serde(rename = "batch-norm")]
    BatchNorm,
    /// Multi-head self-attention.
    Attention {
        heads: usize,
        /// Whether a position attends to itself and earlier ones only.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        causal: bool,
    },
    /// A transformer encoder block: attention and two linear layers, each with a residual connection and a normalisation.
    Transformer {
        heads: usize,
        hidden: usize,
        #[serde(default)]
        dropout: f32,
        /// Whether the normalisations come first in their branches.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        norm_first: bool,
        /// Whether a position attends to itself and earlier ones only.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        causal: bool,
    },
    /// A long short-term memory; all its states.
    Lstm { hidden: usize },
    /// A gated recurrent unit; all its states.
    Gru { hidden: usize },
    /// max(x, 0).
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// 1/(1 + e^−x).
    Sigmoid,
    /// x·Φ(x), by the hyperbolic tangent.
    Gelu,
    /// x·sigmoid(x).
    Silu,
    /// scale/(1 + e^(−temperature·x)) − offset (Papernot et al., *Tempered sigmoid activations*, 2020).
    TemperedSigmoid { scale: f32, temperature: f32, offset: f32 },
    /// The largest in each window.
    MaxPool {
        kernel: [usize; 2],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<[usize; 2]>,
    },
    /// The mean of each window.
    AveragePool {
        kernel: [usize; 2],
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stride: Option<[usize; 2]>,
    },
    /// The mean over everything but the first dimension.
    GlobalPool,
    /// Zeroes a random share in training.
    Dropout { rate: f32 },
    /// One dimension out of all.
    Flatten,
    /// The two dimensions exchanged.
    Transpose,
    /// The mean over time.
    MeanTime,
    /// The last place in time.
    LastTime,
    /// x + layers(x).
    Residual { layer: Vec<Layer> },
}

impl LayerKind {
    /// The name in a description.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Conv1d { .. } => "conv1d",
            Self::Conv2d { .. } => "conv2d",
            Self::Embedding { .. } => "embedding",
            Self::EmbeddingBag { .. } => "embedding-bag",
            Self::Position => "position",
            Self::LayerNorm => "layer-norm",
            Self::GroupNorm { .. } => "group-norm",
            Self::BatchNorm => "batch-norm",
            Self::Attention { .. } => "attention",
            Self::Transformer { .. } => "transformer",
            Self::Lstm { .. } => "lstm",
            Self::Gru { .. } => "gru",
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Gelu => "gelu",
            Self::Silu => "silu",
            Self::TemperedSigmoid { .. } => "tempered-sigmoid",
            Self::MaxPool { .. } => "max-pool",
            Self::AveragePool { .. } => "average-pool",
            Self::GlobalPool => "global-pool",
            Self::Dropout { .. } => "dropout",
            Self::Flatten => "flatten",
            Self::Transpose => "transpose",
            Self::MeanTime => "mean-time",
            Self::LastTime => "last-time",
            Self::Residual { .. } => "residual",
        }
    }
}

impl Description {
    /// Reads a `model.toml`.
    ///
    /// # Errors
    /// [`TrainError::Toml`] with what the text says wrongly; [`TrainError::Described`] when the layers do not fit together.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, TrainError> {
        locate::check(text, file).map_err(|error| TrainError::Toml(Box::new(error)))?;
        let description: Self =
            reticent_data::toml::read(text, file).map_err(|error| TrainError::Toml(Box::new(error)))?;
        description.check().map_err(|error| locate::described(text, file, error))?;
        Ok(description)
    }

    /// The text of a `model.toml`.
    ///
    /// # Errors
    /// [`TrainError::File`] when a number cannot be written.
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|error| {
            TrainError::file(std::path::Path::new("model.toml"), error.to_string()).because(error)
        })
    }

    /// Starts a network that reads examples of this shape.
    pub fn reading(input: &[usize]) -> Self {
        Self {
            input: input.to_vec(),
            loss: Objective::default(),
            label_smoothing: 0.0,
            features: None,
            freeze: Vec::new(),
            layers: Vec::new(),
        }
    }

    /// Replaces the image by fixed features.
    #[must_use]
    pub fn with_features(mut self, features: FixedFeatures) -> Self {
        self.features = Some(features);
        self
    }

    /// Adds a layer.
    #[must_use]
    pub fn then(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }

    /// Whether the first layer reads tokens.
    pub fn reads_tokens(&self) -> bool {
        self.vocabulary().is_some()
    }

    /// Checks that every layer fits the one before it.
    ///
    /// # Errors
    /// [`TrainError::Layer`], naming the first that does not.
    pub fn check(&self) -> Result<(), TrainError> {
        self.outputs().map(|_| ())
    }

    /// How many tokens the embedding has; none where the network reads numbers.
    pub fn vocabulary(&self) -> Option<usize> {
        match self.layers.first().map(|layer| &layer.kind) {
            Some(LayerKind::Embedding { vocabulary, .. } | LayerKind::EmbeddingBag { vocabulary, .. }) => {
                Some(*vocabulary)
            }
            _ => None,
        }
    }

    /// How many numbers the last layer yields.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn outputs(&self) -> Result<usize, TrainError> {
        if self.input.is_empty() || self.input.contains(&0) || self.input.len() > 3 {
            return Err(TrainError::invalid(
                "input",
                format!("{:?}", self.input),
                "give one to three dimensions, each at least 1",
            ));
        }
        if !(0.0..1.0).contains(&self.label_smoothing) {
            let remedy = "give a number from 0 to below 1, such as 0.1";
            return Err(TrainError::invalid("label_smoothing", self.label_smoothing, remedy));
        }
        if self.label_smoothing > 0.0 && self.loss != Objective::CrossEntropy {
            let remedy = "only the cross-entropy of classes can be smoothed: leave it out";
            return Err(TrainError::invalid("label_smoothing", self.label_smoothing, remedy));
        }
        let mut whole = size::Need::default();
        let numbers = size::product(self.input.iter().copied());
        if self.input.iter().any(|size| *size > shape::LARGEST)
            || whole.add(size::Need { numbers, ..Default::default() }).is_err()
        {
            return Err(TrainError::invalid(
                "input",
                format!("{:?}", self.input),
                format!("give dimensions of at most {}, and {MOST_NUMBERS} numbers in all", shape::LARGEST),
            ));
        }
        let first = self.first_shape()?;
        if self.features.is_some() {
            let numbers = size::product(first.iter().copied());
            whole.add(size::Need { numbers, ..Default::default() }).map_err(|_| {
                let remedy =
                    format!("its features would be {first:?}: at most {MOST_NUMBERS} numbers are possible");
                TrainError::invalid("input", format!("{:?}", self.input), remedy)
            })?;
        }
        let shape = shape::outputs(&self.layers, first, "", &mut whole)?;
        let last = self.layers.len().saturating_sub(1);
        let refuse = |why: String| {
            let word = self.layers.last().map_or("none", |layer| layer.kind.word());
            Err(TrainError::Layer { layer: format!("{last} ({word})"), why })
        };
        match (shape.as_slice(), self.loss) {
            ([1], Objective::CrossEntropy) => {
                refuse("it yields one number: cross-entropy needs at least two classes".to_owned())
            }
            ([1], Objective::Squared) => Ok(1),
            ([_], Objective::Squared) => refuse("the squared loss needs one output".to_owned()),
            ([classes], Objective::CrossEntropy) => Ok(*classes),
            (shape, Objective::NextToken) => {
                let vocabulary = causal::vocabulary(&self.layers)?;
                match shape {
                    [length, scores] if *scores == vocabulary => Ok(length * scores),
                    _ => refuse(format!(
                        "it yields the shape {shape:?}: next-token needs a score per token at every position, [{}, {vocabulary}] \
                         (end with linear, out = {vocabulary})",
                        self.input[0]
                    )),
                }
            }
            (shape, _) => refuse(format!(
                "it yields the shape {shape:?}: end with one dimension (flatten, mean-time or last-time, then linear)"
            )),
        }
    }
}
