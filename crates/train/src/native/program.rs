//! A description as a list of steps over numbered buffers.

use super::kernel::curve::{Curve, LOGISTIC};
use super::op::{
    Attention, Conv, Copy, Dropout, Embedding, Geometry, GlobalMean, GroupNorm, Gru, LastTime, LayerNorm,
    Linear, Lstm, MeanTime, Op, Pool, PoolKind, Position, Smooth, Transpose,
};
use crate::describe::{Kind, Layer, Loss, Window};
use crate::{Description, Layout, Parameter, TrainError};
use std::ops::Range;

/// How a parameter starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// Uniform between ± this.
    Uniform(f32),
    Normal,
    Constant(f32),
}

pub(super) enum Step {
    Op(Box<dyn Op>),
    /// In place.
    Curve(Curve),
    /// Adds the buffer of a residual connection.
    Add {
        skip: usize,
    },
}

/// One step: what it reads and writes, and where its weights lie.
pub(super) struct Node {
    pub(super) step: Step,
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) weights: Range<usize>,
    /// Where its gradient lies in the sum, and its group; nothing for steps without trained weights.
    pub(super) trained: Option<(Range<usize>, usize)>,
    /// Whether anything below needs a gradient, and whether one is there already.
    pub(super) below: bool,
    pub(super) add: bool,
    /// As `add`, for the skipped buffer of a residual connection; nothing if it needs none.
    pub(super) skip: Option<bool>,
}

pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    /// Numbers per example in each buffer; the first holds the input.
    pub(super) sizes: Vec<usize>,
    pub(super) layout: Layout,
    pub(super) starts: Vec<Start>,
    pub(super) outputs: usize,
    pub(super) loss: Loss,
    /// Tokens must be below this.
    pub(super) vocabulary: Option<usize>,
    /// Whether training drops numbers at random.
    pub(super) drops: bool,
}

impl Program {
    pub(super) fn new(description: &Description) -> Result<Self, TrainError> {
        let outputs = description.outputs()?;
        let mut build = Build {
            nodes: Vec::new(),
            sizes: vec![description.input.iter().product()],
            parameters: Vec::new(),
            starts: Vec::new(),
            groups: 0,
            used_twice: vec![0],
            shape: description.input.clone(),
            slot: 0,
            drops: false,
        };
        build.layers(&description.layers, "")?;
        let vocabulary = match description.layers.first().map(|layer| &layer.kind) {
            Some(Kind::Embedding { vocabulary, .. }) => Some(*vocabulary),
            _ => None,
        };
        Ok(build.finish(outputs, description.loss, vocabulary))
    }
}

/// A parameter as a layer states it: name, shape, start.
type Stated = (&'static str, Vec<usize>, Start);

struct Build {
    nodes: Vec<Node>,
    sizes: Vec<usize>,
    parameters: Vec<Parameter>,
    starts: Vec<Start>,
    groups: usize,
    /// Buffers that must not be overwritten.
    used_twice: Vec<usize>,
    shape: Vec<usize>,
    slot: usize,
    drops: bool,
}

/// U(±1/√fan), the usual start of linear layers and convolutions.
fn fan(inputs: usize) -> Start {
    Start::Uniform(1.0 / (inputs.max(1) as f32).sqrt())
}

impl Build {
    /// A step into a fresh buffer of this shape; `parameters` are its weights in order.
    fn push(
        &mut self,
        op: impl Op + 'static,
        shape: Vec<usize>,
        prefix: &str,
        parameters: Vec<Stated>,
        frozen: bool,
    ) {
        let first: usize = self.parameters.iter().map(Parameter::size).sum();
        let trainable = !frozen && !parameters.is_empty();
        for (name, shape, start) in parameters {
            let name = format!("{prefix}{name}");
            self.parameters.push(Parameter { name, shape, group: self.groups, trainable });
            self.starts.push(start);
        }
        let end: usize = self.parameters.iter().map(Parameter::size).sum();
        let group = self.groups;
        self.groups += usize::from(trainable);
        self.sizes.push(shape.iter().product());
        let output = self.sizes.len() - 1;
        self.nodes.push(Node {
            step: Step::Op(Box::new(op)),
            input: self.slot,
            output,
            weights: first..end,
            trained: trainable.then_some((0..0, group)),
            below: false,
            add: false,
            skip: None,
        });
        self.shape = shape;
        self.slot = output;
    }

    fn plain(&mut self, op: impl Op + 'static, shape: Vec<usize>) {
        self.push(op, shape, "", Vec::new(), false);
    }

    fn curve(&mut self, curve: Curve) {
        if self.used_twice.contains(&self.slot) {
            self.plain(Copy, self.shape.clone());
        }
        // The slope is taken from the value, so nothing may be written over it.
        self.used_twice.push(self.slot);
        self.nodes.push(Node {
            step: Step::Curve(curve),
            input: self.slot,
            output: self.slot,
            weights: 0..0,
            trained: None,
            below: false,
            add: false,
            skip: None,
        });
    }

    fn linear(
        &mut self,
        out: usize,
        bias: bool,
        names: [&'static str; 2],
        prefix: &str,
        frozen: bool,
        start: [Start; 2],
    ) {
        let inner = self.shape[self.shape.len() - 1];
        let places = self.shape.iter().product::<usize>() / inner;
        let mut parameters = vec![(names[0], vec![out, inner], start[0])];
        if bias {
            parameters.push((names[1], vec![out], start[1]));
        }
        let mut shape = self.shape.clone();
        shape[self.shape.len() - 1] = out;
        self.push(Linear::new(inner, out, places, bias), shape, prefix, parameters, frozen);
    }

    fn layer_norm(&mut self, prefix: &str, frozen: bool) {
        let width = self.shape[self.shape.len() - 1];
        let places = self.shape.iter().product::<usize>() / width;
        let parameters =
            vec![("weight", vec![width], Start::Constant(1.0)), ("bias", vec![width], Start::Constant(0.0))];
        self.push(LayerNorm { width, places }, self.shape.clone(), prefix, parameters, frozen);
    }

    fn attention(&mut self, heads: usize, prefix: &str, frozen: bool) {
        let (time, width) = (self.shape[0], self.shape[1]);
        let spread = Start::Uniform((6.0 / (4 * width) as f32).sqrt());
        let none = Start::Constant(0.0);
        self.linear(3 * width, true, ["in_proj_weight", "in_proj_bias"], prefix, frozen, [spread, none]);
        self.plain(Attention { time, width, heads }, vec![time, width]);
        self.linear(width, true, ["out_proj.weight", "out_proj.bias"], prefix, frozen, [fan(width), none]);
    }

    fn dropout(&mut self, rate: f32) {
        if rate > 0.0 {
            let size = self.shape.iter().product();
            self.drops = true;
            self.plain(Dropout { rate, size }, self.shape.clone());
        }
    }

    fn residual(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let skip = self.slot;
        self.used_twice.push(skip);
        inside(self)?;
        if self.slot == skip {
            self.plain(Copy, self.shape.clone());
        }
        let input = self.slot;
        self.sizes.push(self.sizes[skip]);
        self.slot = self.sizes.len() - 1;
        let node = Node {
            step: Step::Add { skip },
            input,
            output: self.slot,
            weights: 0..0,
            trained: None,
            below: false,
            add: false,
            skip: None,
        };
        self.nodes.push(node);
        Ok(())
    }

    fn transformer(&mut self, layer: &Layer, prefix: &str) -> Result<(), TrainError> {
        let Kind::Transformer { heads, hidden, dropout, norm_first } = &layer.kind else { return Ok(()) };
        let (frozen, width) = (layer.frozen, self.shape[1]);
        let attend = |build: &mut Self| {
            build.attention(*heads, &format!("{prefix}self_attn."), frozen);
            build.dropout(*dropout);
        };
        let think = |build: &mut Self| {
            let name = |part: &str| format!("{prefix}{part}.");
            let names = ["weight", "bias"];
            build.linear(*hidden, true, names, &name("linear1"), frozen, [fan(width); 2]);
            build.curve(Curve::Relu);
            build.dropout(*dropout);
            build.linear(width, true, names, &name("linear2"), frozen, [fan(*hidden); 2]);
            build.dropout(*dropout);
        };
        let (first, second) = (format!("{prefix}norm1."), format!("{prefix}norm2."));
        if *norm_first {
            self.residual(|build| {
                build.layer_norm(&first, frozen);
                attend(build);
                Ok(())
            })?;
            self.residual(|build| {
                build.layer_norm(&second, frozen);
                think(build);
                Ok(())
            })
        } else {
            self.residual(|build| {
                attend(build);
                Ok(())
            })?;
            self.layer_norm(&first, frozen);
            self.residual(|build| {
                think(build);
                Ok(())
            })?;
            self.layer_norm(&second, frozen);
            Ok(())
        }
    }

    fn layers(&mut self, layers: &[Layer], prefix: &str) -> Result<(), TrainError> {
        for (place, layer) in layers.iter().enumerate() {
            let name = layer.name.clone().unwrap_or_else(|| place.to_string());
            self.layer(layer, &format!("{prefix}{name}."))?;
        }
        Ok(())
    }

    fn conv(
        &mut self,
        geometry: Geometry,
        shape: impl Fn([usize; 2]) -> Vec<usize>,
        layer: &Layer,
        prefix: &str,
    ) -> Result<(), TrainError> {
        let Geometry { channels, out, groups, window, bias, size } = geometry;
        let misfit = || TrainError::Layer {
            layer: prefix.trim_end_matches('.').to_owned(),
            why: "its window does not fit its input".to_owned(),
        };
        let op = Conv::new(geometry).ok_or_else(misfit)?;
        let places = crate::describe::windows(size, window).ok_or_else(misfit)?;
        let inner = channels / groups;
        let start = fan(inner * window.kernel[0] * window.kernel[1]);
        let mut weights = vec![out, inner];
        if matches!(layer.kind, Kind::Conv2d { .. }) {
            weights.push(window.kernel[0]);
        }
        weights.push(window.kernel[1]);
        let mut parameters = vec![("weight", weights, start)];
        if bias {
            parameters.push(("bias", vec![out], start));
        }
        self.push(op, shape(places), prefix, parameters, layer.frozen);
        Ok(())
    }

    fn recurrent(&mut self, op: impl Op + 'static, hidden: usize, gates: usize, prefix: &str, frozen: bool) {
        let (time, inner) = (self.shape[0], self.shape[1]);
        let start = fan(hidden);
        let parameters = vec![
            ("weight_ih_l0", vec![gates, inner], start),
            ("weight_hh_l0", vec![gates, hidden], start),
            ("bias_ih_l0", vec![gates], start),
            ("bias_hh_l0", vec![gates], start),
        ];
        self.push(op, vec![time, hidden], prefix, parameters, frozen);
    }

    fn layer(&mut self, layer: &Layer, prefix: &str) -> Result<(), TrainError> {
        let shape = self.shape.clone();
        let last = shape[shape.len() - 1];
        match &layer.kind {
            Kind::Linear { out, bias } => {
                self.linear(*out, *bias, ["weight", "bias"], prefix, layer.frozen, [fan(last); 2]);
            }
            Kind::Conv1d { out, kernel, stride, padding, dilation, groups, bias } => {
                let window = Window {
                    kernel: [1, *kernel],
                    stride: [1, *stride],
                    padding: [0, *padding],
                    dilation: [1, *dilation],
                };
                let (channels, size, out) = (shape[0], [1, shape[1]], *out);
                let geometry = Geometry { channels, size, out, groups: *groups, window, bias: *bias };
                self.conv(geometry, |[_, length]| vec![out, length], layer, prefix)?;
            }
            Kind::Conv2d { out, kernel, stride, padding, dilation, groups, bias } => {
                let window =
                    Window { kernel: *kernel, stride: *stride, padding: *padding, dilation: *dilation };
                let (channels, size, out) = (shape[0], [shape[1], shape[2]], *out);
                let geometry = Geometry { channels, size, out, groups: *groups, window, bias: *bias };
                self.conv(geometry, |[height, width]| vec![out, height, width], layer, prefix)?;
            }
            Kind::Embedding { vocabulary, out } => {
                let parameters = vec![("weight", vec![*vocabulary, *out], Start::Normal)];
                let op = Embedding { out: *out, places: last };
                self.push(op, vec![last, *out], prefix, parameters, layer.frozen);
            }
            Kind::Position => self.plain(Position { time: shape[0], width: last }, shape),
            Kind::LayerNorm => self.layer_norm(prefix, layer.frozen),
            Kind::GroupNorm { groups } => {
                let (channels, places) = (shape[0], shape[1..].iter().product());
                let parameters = vec![
                    ("weight", vec![channels], Start::Constant(1.0)),
                    ("bias", vec![channels], Start::Constant(0.0)),
                ];
                let op = GroupNorm { channels, groups: *groups, places };
                self.push(op, shape, prefix, parameters, layer.frozen);
            }
            Kind::Attention { heads } => self.attention(*heads, prefix, layer.frozen),
            Kind::Transformer { .. } => self.transformer(layer, prefix)?,
            Kind::Lstm { hidden } => {
                self.recurrent(Lstm::new(last, *hidden, shape[0]), *hidden, 4 * hidden, prefix, layer.frozen);
            }
            Kind::Gru { hidden } => {
                self.recurrent(Gru::new(last, *hidden, shape[0]), *hidden, 3 * hidden, prefix, layer.frozen);
            }
            Kind::Relu => self.curve(Curve::Relu),
            Kind::Tanh => self.curve(Curve::Tanh),
            Kind::Sigmoid => self.curve(LOGISTIC),
            Kind::TemperedSigmoid { scale, temperature, offset } => {
                self.curve(Curve::Sigmoid { scale: *scale, temperature: *temperature, offset: *offset });
            }
            Kind::Gelu => self.plain(Smooth::Gelu, shape),
            Kind::Silu => self.plain(Smooth::Silu, shape),
            Kind::MaxPool { kernel, stride } => self.pool(PoolKind::Largest, *kernel, *stride),
            Kind::AveragePool { kernel, stride } => self.pool(PoolKind::Mean, *kernel, *stride),
            Kind::GlobalPool => {
                self.plain(GlobalMean { places: shape[1..].iter().product() }, vec![shape[0]]);
            }
            Kind::Dropout { rate } => self.dropout(*rate),
            Kind::Flatten => self.shape = vec![shape.iter().product()],
            Kind::Transpose => {
                self.plain(Transpose { rows: shape[0], cols: shape[1] }, vec![shape[1], shape[0]]);
            }
            Kind::MeanTime => self.plain(MeanTime { time: shape[0], width: last }, vec![last]),
            Kind::LastTime => self.plain(LastTime { time: shape[0], width: last }, vec![last]),
            Kind::Residual { layer: inner } => self.residual(|build| build.layers(inner, prefix))?,
            Kind::BatchNorm => {}
        }
        Ok(())
    }

    fn pool(&mut self, kind: PoolKind, kernel: [usize; 2], stride: Option<[usize; 2]>) {
        let size = [self.shape[1], self.shape[2]];
        let stride = stride.unwrap_or(kernel);
        let window = Window { kernel, stride, padding: [0, 0], dilation: [1, 1] };
        if let (Some(op), Some([height, width])) =
            (Pool::new(kind, kernel, stride, self.shape[0], size), crate::describe::windows(size, window))
        {
            self.plain(op, vec![self.shape[0], height, width]);
        }
    }

    fn finish(mut self, outputs: usize, loss: Loss, vocabulary: Option<usize>) -> Program {
        let layout = Layout::new(self.parameters);
        // Gradients are needed above trained weights only.
        let mut needs = vec![false; self.sizes.len()];
        for node in &mut self.nodes {
            node.below = needs[node.input];
            let skipped = match node.step {
                Step::Add { skip } => needs[skip],
                _ => false,
            };
            needs[node.output] |= node.below || skipped || node.trained.is_some();
            if let Some((range, _)) = &mut node.trained {
                let inside = |p: &usize| node.weights.contains(&layout.weight_range(*p).start);
                let parts = (0..layout.parameters().len()).filter(inside).map(|p| layout.gradient_range(p));
                *range = parts.reduce(|all, part| all.start..part.end).unwrap_or(0..0);
            }
        }
        let mut present = vec![false; self.sizes.len()];
        for node in self.nodes.iter_mut().rev() {
            if matches!(node.step, Step::Curve(_)) {
                continue;
            }
            node.add = present[node.input];
            present[node.input] |= node.below;
            if let Step::Add { skip } = node.step {
                node.skip = needs[skip].then_some(present[skip]);
                present[skip] |= needs[skip];
            }
        }
        Program {
            nodes: self.nodes,
            sizes: self.sizes,
            layout,
            starts: self.starts,
            outputs,
            loss,
            vocabulary,
            drops: self.drops,
        }
    }
}
