//! Networks with names.

use super::{Description, LayerKind, Objective};
use crate::{FixedFeatures, TrainError};

/// The presets and what they are.
pub const PRESETS: &[(&str, &str)] = &[
    ("logistic", "one linear layer: multinomial logistic regression; on text, of the words' frequencies"),
    ("bag-of-embeddings", "on text: the mean of embeddings of width 64, and one linear layer"),
    ("mlp", "two hidden layers of 512 and 256 with relu; on text, after the mean of embeddings"),
    ("cnn-mnist", "two convolutions and two linear layers for 28 x 28 images (Opacus's MNIST network)"),
    ("cnn-mnist-tanh", "the same network with tanh, which learns better under noise"),
    ("cnn-cifar", "six convolutions with tanh for 32 x 32 colour images"),
    (
        "scatter-linear",
        "ScatterNet features of images, which no data decide, and one linear layer (Tramèr and Boneh)",
    ),
    ("scatter-cnn", "ScatterNet features of images and two convolutions with tanh (Tramèr and Boneh)"),
    ("transformer-text", "embedding, two encoder blocks of width 128, mean over time"),
    ("lstm-text", "embedding, one LSTM of width 128, last state"),
    ("lstm-lm", "language model: embedding of width 64, one LSTM of width 128, scores for the next token"),
    (
        "transformer-lm",
        "language model: two causal blocks of width 64 with 4 heads, scores for the next token",
    ),
];

/// Whether a preset is a language model: it has no label, and its loss is that of the next token.
pub fn is_language_model(name: &str) -> bool {
    matches!(name, "lstm-lm" | "transformer-lm")
}

/// The network of a preset for examples of this shape; text needs the size of the vocabulary. One class stands for a
/// number: the loss is squared then. Language models ignore the number of classes.
///
/// # Errors
/// [`TrainError::Invalid`] for an unknown name; [`TrainError::Layer`] when the network cannot read this shape.
pub fn preset(
    name: &str,
    input: &[usize],
    vocabulary: Option<usize>,
    classes: usize,
) -> Result<Description, TrainError> {
    let loss = if classes == 1 { Objective::Squared } else { Objective::CrossEntropy };
    let start = Description { loss, ..Description::reading(input) };
    let words = || {
        vocabulary.ok_or_else(|| {
            TrainError::invalid("model", name, "it reads text: give a vocabulary, or choose another model")
        })
    };
    let description = match name {
        "logistic" => match vocabulary {
            Some(vocabulary) => start.then(LayerKind::EmbeddingBag { vocabulary, out: classes }),
            None => flat(start, None).then(linear(classes)),
        },
        "bag-of-embeddings" => {
            start.then(LayerKind::EmbeddingBag { vocabulary: words()?, out: 64 }).then(linear(classes))
        }
        "mlp" => flat(start, vocabulary)
            .then(linear(512))
            .then(LayerKind::Relu)
            .then(linear(256))
            .then(LayerKind::Relu)
            .then(linear(classes)),
        "cnn-mnist" => mnist(start, LayerKind::Relu, classes),
        "cnn-mnist-tanh" => mnist(start, LayerKind::Tanh, classes),
        "cnn-cifar" => {
            let mut network = start;
            for width in [32, 64, 128] {
                network = network
                    .then(conv(width, 3, 1, 1))
                    .then(LayerKind::Tanh)
                    .then(conv(width, 3, 1, 1))
                    .then(LayerKind::Tanh)
                    .then(LayerKind::MaxPool { kernel: [2, 2], stride: None });
            }
            network.then(LayerKind::Flatten).then(linear(128)).then(LayerKind::Tanh).then(linear(classes))
        }
        "scatter-linear" => scattered(start, 27).then(LayerKind::Flatten).then(linear(classes)),
        "scatter-cnn" => {
            let pool = LayerKind::MaxPool { kernel: [2, 2], stride: None };
            let network = scattered(start, 81).then(conv(64, 3, 1, 1)).then(LayerKind::Tanh);
            let network = network.then(pool).then(conv(64, 3, 1, 1)).then(LayerKind::Tanh);
            network.then(LayerKind::Flatten).then(linear(classes))
        }
        "transformer-text" => {
            let block = LayerKind::Transformer {
                heads: 4,
                hidden: 256,
                dropout: 0.0,
                norm_first: false,
                causal: false,
            };
            start
                .then(LayerKind::Embedding { vocabulary: words()?, out: 128 })
                .then(LayerKind::Position)
                .then(block.clone())
                .then(block)
                .then(LayerKind::MeanTime)
                .then(linear(classes))
        }
        "lstm-text" => start
            .then(LayerKind::Embedding { vocabulary: words()?, out: 64 })
            .then(LayerKind::Lstm { hidden: 128 })
            .then(LayerKind::LastTime)
            .then(linear(classes)),
        "lstm-lm" => {
            let vocabulary = words()?;
            Description { loss: Objective::NextToken, ..start }
                .then(LayerKind::Embedding { vocabulary, out: 64 })
                .then(LayerKind::Lstm { hidden: 128 })
                .then(linear(vocabulary))
        }
        "transformer-lm" => {
            let vocabulary = words()?;
            let block = LayerKind::Transformer {
                heads: 4,
                hidden: 256,
                dropout: 0.0,
                norm_first: true,
                causal: true,
            };
            Description { loss: Objective::NextToken, ..start }
                .then(LayerKind::Embedding { vocabulary, out: 64 })
                .then(LayerKind::Position)
                .then(block.clone())
                .then(block)
                .then(LayerKind::LayerNorm)
                .then(linear(vocabulary))
        }
        _ => {
            let known: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            return Err(TrainError::invalid(
                "model",
                name,
                format!("give one of {}, or a model.toml", known.join(", ")),
            ));
        }
    };
    description.check()?;
    Ok(description)
}

/// Features of an image, in so many groups that are normalised.
fn scattered(start: Description, groups: usize) -> Description {
    start.with_features(FixedFeatures::Scatternet { scales: 2, orientations: 8, groups: Some(groups) })
}

fn linear(out: usize) -> LayerKind {
    LayerKind::Linear { out, bias: true }
}

fn conv(out: usize, kernel: usize, stride: usize, padding: usize) -> LayerKind {
    LayerKind::Conv2d {
        out,
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding: [padding; 2],
        dilation: [1; 2],
        groups: 1,
        bias: true,
    }
}

/// One dimension out of any input.
fn flat(start: Description, vocabulary: Option<usize>) -> Description {
    match vocabulary {
        Some(vocabulary) => start.then(LayerKind::EmbeddingBag { vocabulary, out: 128 }),
        None if start.input.len() > 1 => start.then(LayerKind::Flatten),
        None => start,
    }
}

fn mnist(start: Description, activation: LayerKind, classes: usize) -> Description {
    let pool = LayerKind::MaxPool { kernel: [2, 2], stride: Some([1, 1]) };
    start
        .then(conv(16, 8, 2, 3))
        .then(activation.clone())
        .then(pool.clone())
        .then(conv(32, 4, 2, 0))
        .then(activation.clone())
        .then(pool)
        .then(LayerKind::Flatten)
        .then(linear(32))
        .then(activation)
        .then(linear(classes))
}
