//! Networks with names.

use super::{Description, Kind, Loss};
use crate::TrainError;

/// The presets and what they are.
pub const PRESETS: &[(&str, &str)] = &[
    ("logistic", "one linear layer: multinomial logistic regression; on text, of the words' frequencies"),
    ("mlp", "two hidden layers of 512 and 256 with relu; on text, after the mean of embeddings"),
    ("cnn-mnist", "two convolutions and two linear layers for 28 x 28 images (Opacus's MNIST network)"),
    ("cnn-mnist-tanh", "the same network with tanh, which learns better under noise"),
    ("cnn-cifar", "six convolutions with tanh for 32 x 32 colour images"),
    ("transformer-text", "embedding, two encoder blocks of width 128, mean over time"),
    ("lstm-text", "embedding, one LSTM of width 128, last state"),
];

/// The network of a preset for examples of this shape; text needs the size of the vocabulary. One class stands for a
/// number: the loss is squared then.
///
/// # Errors
/// [`TrainError::Invalid`] for an unknown name; [`TrainError::Layer`] when the network cannot read this shape.
pub fn preset(
    name: &str,
    input: &[usize],
    vocabulary: Option<usize>,
    classes: usize,
) -> Result<Description, TrainError> {
    let loss = if classes == 1 { Loss::Squared } else { Loss::CrossEntropy };
    let start = Description { loss, ..Description::reading(input) };
    let words = || {
        vocabulary.ok_or_else(|| {
            TrainError::invalid("model", name, "it reads text: give a vocabulary, or choose another model")
        })
    };
    let description = match name {
        "logistic" => match vocabulary {
            Some(vocabulary) => start.then(Kind::Embedding { vocabulary, out: classes }).then(Kind::MeanTime),
            None => flat(start, None).then(linear(classes)),
        },
        "mlp" => flat(start, vocabulary)
            .then(linear(512))
            .then(Kind::Relu)
            .then(linear(256))
            .then(Kind::Relu)
            .then(linear(classes)),
        "cnn-mnist" => mnist(start, Kind::Relu, classes),
        "cnn-mnist-tanh" => mnist(start, Kind::Tanh, classes),
        "cnn-cifar" => {
            let mut network = start;
            for width in [32, 64, 128] {
                network = network
                    .then(conv(width, 3, 1, 1))
                    .then(Kind::Tanh)
                    .then(conv(width, 3, 1, 1))
                    .then(Kind::Tanh)
                    .then(Kind::MaxPool { kernel: [2, 2], stride: None });
            }
            network.then(Kind::Flatten).then(linear(128)).then(Kind::Tanh).then(linear(classes))
        }
        "transformer-text" => {
            let block = Kind::Transformer { heads: 4, hidden: 256, dropout: 0.0, norm_first: false };
            start
                .then(Kind::Embedding { vocabulary: words()?, out: 128 })
                .then(Kind::Position)
                .then(block.clone())
                .then(block)
                .then(Kind::MeanTime)
                .then(linear(classes))
        }
        "lstm-text" => start
            .then(Kind::Embedding { vocabulary: words()?, out: 64 })
            .then(Kind::Lstm { hidden: 128 })
            .then(Kind::LastTime)
            .then(linear(classes)),
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

fn linear(out: usize) -> Kind {
    Kind::Linear { out, bias: true }
}

fn conv(out: usize, kernel: usize, stride: usize, padding: usize) -> Kind {
    Kind::Conv2d {
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
        Some(vocabulary) => start.then(Kind::Embedding { vocabulary, out: 128 }).then(Kind::MeanTime),
        None if start.input.len() > 1 => start.then(Kind::Flatten),
        None => start,
    }
}

fn mnist(start: Description, activation: Kind, classes: usize) -> Description {
    let pool = Kind::MaxPool { kernel: [2, 2], stride: Some([1, 1]) };
    start
        .then(conv(16, 8, 2, 3))
        .then(activation.clone())
        .then(pool.clone())
        .then(conv(32, 4, 2, 0))
        .then(activation.clone())
        .then(pool)
        .then(Kind::Flatten)
        .then(linear(32))
        .then(activation)
        .then(linear(classes))
}
