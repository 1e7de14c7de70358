//! Networks in which no position sees a later one: what the next-token loss needs.

use super::{Layer, LayerKind};
use crate::TrainError;

/// The vocabulary of a network whose positions see only themselves and earlier ones.
///
/// # Errors
/// [`TrainError::Layer`], naming the first layer that looks ahead, or that the network reads no tokens.
pub(super) fn vocabulary(layers: &[Layer]) -> Result<usize, TrainError> {
    let vocabulary = match layers.first().map(|layer| &layer.kind) {
        Some(LayerKind::Embedding { vocabulary, .. }) => *vocabulary,
        first => {
            let word = first.map_or("none", LayerKind::word);
            let why = "next-token reads tokens: begin with an embedding".to_owned();
            return Err(TrainError::Layer { layer: format!("0 ({word})"), why });
        }
    };
    check(layers, "")?;
    Ok(vocabulary)
}

fn check(layers: &[Layer], prefix: &str) -> Result<(), TrainError> {
    for (place, layer) in layers.iter().enumerate() {
        let remedy = match &layer.kind {
            LayerKind::Attention { causal: false, .. } | LayerKind::Transformer { causal: false, .. } => {
                "set causal = true"
            }
            LayerKind::EmbeddingBag { .. }
            | LayerKind::MeanTime
            | LayerKind::LastTime
            | LayerKind::GlobalPool
            | LayerKind::Flatten => "leave it out: every position needs its own scores",
            LayerKind::GroupNorm { .. } => "use layer-norm",
            LayerKind::Transpose
            | LayerKind::Conv1d { .. }
            | LayerKind::Conv2d { .. }
            | LayerKind::MaxPool { .. }
            | LayerKind::AveragePool { .. } => "use lstm, gru, or attention with causal = true",
            LayerKind::Residual { layer: inner } => {
                check(inner, &format!("{prefix}{place}."))?;
                continue;
            }
            LayerKind::Attention { causal: true, .. }
            | LayerKind::Transformer { causal: true, .. }
            | LayerKind::Linear { .. }
            | LayerKind::Embedding { .. }
            | LayerKind::Position
            | LayerKind::LayerNorm
            | LayerKind::BatchNorm
            | LayerKind::Lstm { .. }
            | LayerKind::Gru { .. }
            | LayerKind::Relu
            | LayerKind::Tanh
            | LayerKind::Sigmoid
            | LayerKind::Gelu
            | LayerKind::Silu
            | LayerKind::TemperedSigmoid { .. }
            | LayerKind::Dropout { .. } => continue,
        };
        let layer = format!("{prefix}{place} ({})", layer.kind.word());
        let why = format!("it lets a position see later tokens, which next-token predicts: {remedy}");
        return Err(TrainError::Layer { layer, why });
    }
    Ok(())
}
