//! The shape of what every layer yields, or why it cannot.

use super::size::{Need, lora_need, need};
use super::{Layer, LayerKind, Lora};
use crate::TrainError;

/// The window of a convolution or of pooling: height and width of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Places of the kernel.
    pub kernel: [usize; 2],
    /// Distance between windows.
    pub stride: [usize; 2],
    /// Zeros on each side.
    pub padding: [usize; 2],
    /// Distance between the kernel's places.
    pub dilation: [usize; 2],
}

/// Numbers above this are taken for mistakes, and keep products within bounds.
pub(super) const LARGEST: usize = 1 << 24;

/// How many places a window has in a plane, per dimension.
pub(crate) fn windows(size: [usize; 2], window: Window) -> Option<[usize; 2]> {
    let mut places = [0; 2];
    for (i, place) in places.iter_mut().enumerate() {
        let numbers = [window.kernel[i], window.stride[i], window.dilation[i]];
        if numbers.contains(&0) || numbers.iter().any(|n| *n > LARGEST) || window.padding[i] > LARGEST {
            return None;
        }
        let reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
        *place = (size[i] + 2 * window.padding[i]).checked_sub(reach)? / window.stride[i] + 1;
    }
    Some(places)
}

/// The shape after these layers, whose sizes are added to `whole`.
pub(super) fn outputs(
    layers: &[Layer],
    input: Vec<usize>,
    prefix: &str,
    whole: &mut Need,
) -> Result<Vec<usize>, TrainError> {
    let mut shape = input;
    let mut names: Vec<String> = Vec::new();
    for (place, layer) in layers.iter().enumerate() {
        let name = layer.name.clone().unwrap_or_else(|| place.to_string());
        let refuse = |why: String| {
            Err(TrainError::Layer { layer: format!("{prefix}{place} ({})", layer.kind.word()), why })
        };
        if names.contains(&name) || name.is_empty() || name.contains(char::is_whitespace) {
            return refuse(format!(
                "the name {name:?} is empty, has spaces or is taken: give each layer its own"
            ));
        }
        names.push(name);
        if let Some(lora) = &layer.lora
            && let Err(why) = adapter(&layer.kind, *lora)
        {
            return refuse(why);
        }
        if let LayerKind::Residual { layer: inner } = &layer.kind {
            if let Err(why) = whole.add(need(&layer.kind, &shape, &shape)) {
                return refuse(why);
            }
            let inside = outputs(inner, shape.clone(), &format!("{prefix}{place}."), whole)?;
            if inside != shape {
                return refuse(format!("its layers turn {shape:?} into {inside:?}: both must be equal"));
            }
            continue;
        }
        match after(&layer.kind, &shape, place == 0 && prefix.is_empty()) {
            Ok(next) => {
                if let Err(why) = whole.add(need(&layer.kind, &shape, &next)) {
                    return refuse(why);
                }
                if let Some(lora) = &layer.lora
                    && let Err(why) = whole.add(lora_need(&layer.kind, lora.rank, &shape, &next))
                {
                    return refuse(why);
                }
                shape = next;
            }
            Err(why) => return refuse(why),
        }
    }
    Ok(shape)
}

/// Why another kind of layer is refused with a low-rank update.
pub(super) const NO_LORA: &str = "only linear, attention and transformer layers have lora: leave it out";

/// Whether a layer can have this low-rank update.
fn adapter(kind: &LayerKind, lora: Lora) -> Result<(), String> {
    if !matches!(kind, LayerKind::Linear { .. } | LayerKind::Attention { .. } | LayerKind::Transformer { .. })
    {
        return Err(NO_LORA.to_owned());
    }
    if lora.rank == 0 || lora.rank > LARGEST {
        return Err(format!("the rank of lora is {}: give a number from 1 to {LARGEST}", lora.rank));
    }
    match lora.alpha {
        Some(alpha) if !(alpha.is_finite() && alpha > 0.0) => {
            Err(format!("alpha of lora is {alpha}: give a number above 0, such as 16"))
        }
        _ => Ok(()),
    }
}

/// What one layer makes of a shape.
fn after(kind: &LayerKind, shape: &[usize], first: bool) -> Result<Vec<usize>, String> {
    let positive = |name: &str, value: usize| match value {
        0 => Err(format!("{name} is 0: give at least 1")),
        value if value > LARGEST => Err(format!("{name} is {value}: give at most {LARGEST}")),
        _ => Ok(value),
    };
    let last = shape[shape.len() - 1];
    let with_last = |out: usize| {
        let mut next = shape.to_vec();
        next[shape.len() - 1] = out;
        next
    };
    match kind {
        LayerKind::Linear { out, .. } if shape.len() <= 2 => Ok(with_last(positive("out", *out)?)),
        LayerKind::Linear { .. } => Err(format!("it reads {shape:?}: put flatten before it")),
        LayerKind::Conv1d { out, kernel, stride, padding, dilation, groups, .. } => match shape {
            [channels, length] => {
                let window = Window {
                    kernel: [1, *kernel],
                    stride: [1, *stride],
                    padding: [0, *padding],
                    dilation: [1, *dilation],
                };
                let [_, length] =
                    convolved([1, *length], *channels, positive("out", *out)?, *groups, window)?;
                Ok(vec![*out, length])
            }
            _ => Err(format!("it reads {shape:?}: it needs [channels, length] (transpose exchanges two)")),
        },
        LayerKind::Conv2d { out, kernel, stride, padding, dilation, groups, .. } => match shape {
            [channels, height, width] => {
                let window =
                    Window { kernel: *kernel, stride: *stride, padding: *padding, dilation: *dilation };
                let size = [*height, *width];
                let [height, width] = convolved(size, *channels, positive("out", *out)?, *groups, window)?;
                Ok(vec![*out, height, width])
            }
            _ => Err(format!("it reads {shape:?}: it needs [channels, height, width]")),
        },
        LayerKind::Embedding { vocabulary, out } => match shape {
            [length] if first => {
                positive("vocabulary", *vocabulary)?;
                Ok(vec![*length, positive("out", *out)?])
            }
            _ => Err("it reads tokens: put it first, with input = [length]".to_owned()),
        },
        LayerKind::EmbeddingBag { vocabulary, out } => match shape {
            [_] if first => {
                positive("vocabulary", *vocabulary)?;
                Ok(vec![positive("out", *out)?])
            }
            _ => Err("it reads tokens: put it first, with input = [length]".to_owned()),
        },
        LayerKind::Position | LayerKind::MeanTime | LayerKind::LastTime | LayerKind::Transpose
            if shape.len() != 2 =>
        {
            Err(format!("it reads {shape:?}: it needs two dimensions"))
        }
        LayerKind::MeanTime | LayerKind::LastTime => Ok(vec![last]),
        LayerKind::Transpose => Ok(vec![shape[1], shape[0]]),
        LayerKind::LayerNorm if shape.len() > 2 => {
            Err(format!("it reads {shape:?}: use group-norm for images"))
        }
        LayerKind::GroupNorm { groups } => {
            let channels = shape[0];
            if shape.len() < 2 {
                Err(format!("it reads {shape:?}: it needs channels and places; layer-norm does without"))
            } else if positive("groups", *groups)? > channels || !channels.is_multiple_of(*groups) {
                Err(format!("{groups} groups do not divide {channels} channels"))
            } else {
                Ok(shape.to_vec())
            }
        }
        LayerKind::BatchNorm => {
            Err("batch normalisation mixes the examples of a batch, so no example has a gradient of \
                                its own to clip: use group-norm, or layer-norm on features"
                .to_owned())
        }
        LayerKind::Attention { heads, .. } | LayerKind::Transformer { heads, .. } => {
            if shape.len() != 2 {
                return Err(format!("it reads {shape:?}: it needs [time, features]"));
            }
            if positive("heads", *heads)? > last || !last.is_multiple_of(*heads) {
                return Err(format!("{heads} heads do not divide {last} features"));
            }
            if let LayerKind::Transformer { hidden, dropout, .. } = kind {
                positive("hidden", *hidden)?;
                share("dropout", *dropout)?;
            }
            Ok(shape.to_vec())
        }
        LayerKind::Lstm { hidden } | LayerKind::Gru { hidden } => match shape {
            [time, _] => Ok(vec![*time, positive("hidden", *hidden)?]),
            _ => Err(format!("it reads {shape:?}: it needs [time, features]")),
        },
        LayerKind::TemperedSigmoid { scale, temperature, offset } => {
            if !(scale.is_finite() && temperature.is_finite() && offset.is_finite()) || *scale == 0.0 {
                return Err("scale, temperature and offset must be finite, and scale not 0".to_owned());
            }
            Ok(shape.to_vec())
        }
        LayerKind::MaxPool { kernel, stride } | LayerKind::AveragePool { kernel, stride } => match shape {
            [channels, height, width] => {
                let stride = stride.unwrap_or(*kernel);
                let window = Window { kernel: *kernel, stride, padding: [0, 0], dilation: [1, 1] };
                let [height, width] = windows([*height, *width], window).ok_or_else(|| {
                    format!("a window of {kernel:?} with stride {stride:?} does not fit {shape:?}")
                })?;
                Ok(vec![*channels, height, width])
            }
            _ => Err(format!("it reads {shape:?}: it needs [channels, height, width]")),
        },
        LayerKind::GlobalPool => Ok(vec![shape[0]]),
        LayerKind::Dropout { rate } => {
            share("rate", *rate)?;
            Ok(shape.to_vec())
        }
        LayerKind::Flatten => Ok(vec![shape.iter().product()]),
        LayerKind::LayerNorm
        | LayerKind::Position
        | LayerKind::Relu
        | LayerKind::Tanh
        | LayerKind::Sigmoid
        | LayerKind::Gelu
        | LayerKind::Silu
        | LayerKind::Residual { .. } => Ok(shape.to_vec()),
    }
}

fn share(name: &str, value: f32) -> Result<(), String> {
    if (0.0..1.0).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} is {value}: give a number from 0 to below 1"))
    }
}

fn convolved(
    size: [usize; 2],
    channels: usize,
    out: usize,
    groups: usize,
    window: Window,
) -> Result<[usize; 2], String> {
    if groups == 0 || !channels.is_multiple_of(groups) || !out.is_multiple_of(groups) {
        return Err(format!("{groups} groups do not divide {channels} channels in and {out} out"));
    }
    windows(size, window).ok_or_else(|| {
        format!(
            "a kernel of {:?} with stride {:?}, padding {:?} and dilation {:?} does not fit {size:?}",
            window.kernel, window.stride, window.padding, window.dilation
        )
    })
}
