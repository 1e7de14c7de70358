//! From layers to nodes.

use super::freeze::Freezing;
use super::start::fan;
use super::{
    Activation, Geometry, GradientPlace, Graph, LayerOutput, Node, Operation, PoolKind, Start, Window,
};
use crate::describe::{Layer, LayerKind, Lora, Objective};
use crate::{Description, Layout, Parameter, TrainError};

/// The logistic function.
const LOGISTIC: Activation = Activation::Sigmoid { scale: 1.0, temperature: 1.0, offset: 0.0 };

/// Lowers a description; `to_input` asks for the gradient of the input too.
pub(super) fn lower(description: &Description, to_input: bool) -> Result<Graph, TrainError> {
    let outputs = description.outputs()?;
    let first = description.first_shape()?;
    let mut build = Build {
        nodes: Vec::new(),
        shapes: vec![first.clone()],
        parameters: Vec::new(),
        starts: Vec::new(),
        groups: 0,
        used_twice: vec![0],
        shape: first,
        buffer: 0,
        has_dropout: false,
        layers: Vec::new(),
        freezing: Freezing::new(&description.freeze),
    };
    build.layers(&description.layers, "", false)?;
    build.freezing.check(&build.parameters)?;
    let vocabulary = description.vocabulary();
    let to_input = to_input && vocabulary.is_none();
    // Convex: every start leads to the same weights, and the one without a direction needs no noise to be undone. A product of two
    // matrices is not, and has no gradient where both are 0.
    if description.features.is_some()
        && description.layers.iter().filter(|layer| has_weights(layer)).count() == 1
        && description.layers.iter().all(|layer| layer.lora.is_none())
    {
        build.starts.fill(Start::Constant(0.0));
    }
    let graph = build.finish(outputs, description.loss, vocabulary, to_input);
    Ok(Graph { label_smoothing: description.label_smoothing, ..graph })
}

/// Whether a layer is more than a fixed map; one that is not linear counts, too.
fn has_weights(layer: &Layer) -> bool {
    !matches!(layer.kind, LayerKind::Flatten | LayerKind::AveragePool { .. } | LayerKind::GlobalPool)
}

/// A parameter as a layer states it: name, shape, start.
type Stated = (&'static str, Vec<usize>, Start);

struct Build {
    nodes: Vec<Node>,
    /// The shape of one example in each buffer.
    shapes: Vec<Vec<usize>>,
    parameters: Vec<Parameter>,
    starts: Vec<Start>,
    groups: usize,
    /// Buffers that must not be overwritten.
    used_twice: Vec<usize>,
    shape: Vec<usize>,
    buffer: usize,
    has_dropout: bool,
    layers: Vec<LayerOutput>,
    freezing: Freezing,
}

impl Build {
    /// An operation into a fresh buffer of this shape; `parameters` are its weights in order.
    fn push(
        &mut self,
        operation: Operation,
        shape: Vec<usize>,
        prefix: &str,
        parameters: Vec<Stated>,
        frozen: bool,
    ) {
        let first: usize = self.parameters.iter().map(Parameter::size).sum();
        let named = parameters.iter().map(|(name, ..)| format!("{prefix}{name}"));
        let frozen = self.freezing.covers(named) || frozen;
        let trainable = !frozen && !parameters.is_empty();
        for (name, shape, start) in parameters {
            let name = format!("{prefix}{name}");
            self.parameters.push(Parameter { name, shape, group: self.groups, trainable });
            self.starts.push(start);
        }
        let end: usize = self.parameters.iter().map(Parameter::size).sum();
        let group = self.groups;
        self.groups += usize::from(trainable);
        self.shapes.push(shape.clone());
        let output = self.shapes.len() - 1;
        self.nodes.push(Node {
            operation,
            input: self.buffer,
            output,
            weights: first..end,
            trained: trainable.then_some(GradientPlace { gradient: 0..0, group }),
            below: false,
            add: false,
            skip: None,
        });
        self.shape = shape;
        self.buffer = output;
    }

    fn plain(&mut self, operation: Operation, shape: Vec<usize>) {
        self.push(operation, shape, "", Vec::new(), false);
    }

    fn activation(&mut self, activation: Activation) {
        if self.used_twice.contains(&self.buffer) {
            self.plain(Operation::Copy, self.shape.clone());
        }
        // The slope is taken from the value, so nothing may be written over it.
        self.used_twice.push(self.buffer);
        self.nodes.push(Node {
            operation: Operation::Activation(activation),
            input: self.buffer,
            output: self.buffer,
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
        self.push(Operation::Linear { inner, out, places, bias }, shape, prefix, parameters, frozen);
    }

    /// A linear layer, which `base` adds and is told whether to freeze. With a low-rank update the layer is frozen, and the update
    /// beside it is trained; the names of its weights begin with `update`.
    fn adapted(
        &mut self,
        lora: Option<Lora>,
        update: &str,
        frozen: bool,
        base: impl FnOnce(&mut Self, bool),
    ) {
        let Some(lora) = lora else { return base(self, frozen) };
        let (input, shape) = (self.buffer, self.shape.clone());
        let inner = shape[shape.len() - 1];
        self.used_twice.push(input);
        base(self, true);
        let (base, out) = (self.buffer, self.shape[self.shape.len() - 1]);
        self.used_twice.push(base);
        (self.buffer, self.shape) = (input, shape);
        let none = Start::Constant(0.0);
        self.linear(lora.rank, false, ["lora_a", ""], update, frozen, [fan(inner), none]);
        self.linear(out, false, ["lora_b", ""], update, frozen, [none; 2]);
        if lora.scale() != 1.0 {
            self.plain(Operation::Scale { factor: lora.scale() }, self.shape.clone());
        }
        self.add(base);
    }

    fn layer_norm(&mut self, prefix: &str, frozen: bool) {
        let width = self.shape[self.shape.len() - 1];
        let places = self.shape.iter().product::<usize>() / width;
        let parameters =
            vec![("weight", vec![width], Start::Constant(1.0)), ("bias", vec![width], Start::Constant(0.0))];
        self.push(Operation::LayerNorm { width, places }, self.shape.clone(), prefix, parameters, frozen);
    }

    /// The joint projection to queries, keys and values, attention, and the projection of its output; with `lora` each of the two
    /// projections has a low-rank update.
    fn attention(&mut self, (heads, causal): (usize, bool), lora: Option<Lora>, prefix: &str, frozen: bool) {
        let (time, width) = (self.shape[0], self.shape[1]);
        let spread = Start::Uniform((6.0 / (4 * width) as f32).sqrt());
        let none = Start::Constant(0.0);
        self.adapted(lora, &format!("{prefix}in_proj."), frozen, |build, frozen| {
            let names = ["in_proj_weight", "in_proj_bias"];
            build.linear(3 * width, true, names, prefix, frozen, [spread, none]);
        });
        self.plain(Operation::Attention { time, width, heads, causal }, vec![time, width]);
        self.adapted(lora, &format!("{prefix}out_proj."), frozen, |build, frozen| {
            let names = ["out_proj.weight", "out_proj.bias"];
            build.linear(width, true, names, prefix, frozen, [fan(width), none]);
        });
    }

    fn dropout(&mut self, rate: f32) {
        if rate > 0.0 {
            let size = self.shape.iter().product();
            self.has_dropout = true;
            self.plain(Operation::Dropout { rate, size }, self.shape.clone());
        }
    }

    fn residual(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let skip = self.buffer;
        self.used_twice.push(skip);
        inside(self)?;
        if self.buffer == skip {
            self.plain(Operation::Copy, self.shape.clone());
        }
        self.add(skip);
        Ok(())
    }

    /// Adds the buffer `skip` to the present one.
    fn add(&mut self, skip: usize) {
        let input = self.buffer;
        self.shapes.push(self.shapes[skip].clone());
        self.buffer = self.shapes.len() - 1;
        self.nodes.push(Node {
            operation: Operation::Add { skip },
            input,
            output: self.buffer,
            weights: 0..0,
            trained: None,
            below: false,
            add: false,
            skip: None,
        });
    }

    fn transformer(&mut self, layer: &Layer, prefix: &str) -> Result<(), TrainError> {
        let LayerKind::Transformer { heads, hidden, dropout, norm_first, causal } = &layer.kind else {
            return Ok(());
        };
        // With a low-rank update of the attention, all other weights of the block are frozen.
        let (frozen, width) = (layer.frozen || layer.lora.is_some(), self.shape[1]);
        let attend = |build: &mut Self| {
            let prefix = format!("{prefix}self_attn.");
            build.attention((*heads, *causal), layer.lora, &prefix, layer.frozen);
            build.dropout(*dropout);
        };
        let think = |build: &mut Self| {
            let name = |part: &str| format!("{prefix}{part}.");
            let names = ["weight", "bias"];
            build.linear(*hidden, true, names, &name("linear1"), frozen, [fan(width); 2]);
            build.activation(Activation::Relu);
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

    fn layers(&mut self, layers: &[Layer], prefix: &str, frozen: bool) -> Result<(), TrainError> {
        for (place, layer) in layers.iter().enumerate() {
            let own = frozen.then(|| Layer { frozen, ..layer.clone() });
            let layer = own.as_ref().unwrap_or(layer);
            let name = layer.name.clone().unwrap_or_else(|| place.to_string());
            self.layer(layer, &format!("{prefix}{name}."))?;
            self.layers.push(LayerOutput {
                name: format!("{prefix}{name}"),
                nodes: self.nodes.len(),
                buffer: self.buffer,
                shape: self.shape.clone(),
            });
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
        let places = crate::describe::windows(size, window).ok_or_else(misfit)?;
        let inner = channels / groups;
        let start = fan(inner * window.kernel[0] * window.kernel[1]);
        let mut weights = vec![out, inner];
        if matches!(layer.kind, LayerKind::Conv2d { .. }) {
            weights.push(window.kernel[0]);
        }
        weights.push(window.kernel[1]);
        let mut parameters = vec![("weight", weights, start)];
        if bias {
            parameters.push(("bias", vec![out], start));
        }
        self.push(Operation::Convolution(geometry), shape(places), prefix, parameters, layer.frozen);
        Ok(())
    }

    fn recurrent(&mut self, operation: Operation, hidden: usize, gates: usize, prefix: &str, frozen: bool) {
        let (time, inner) = (self.shape[0], self.shape[1]);
        let start = fan(hidden);
        let parameters = vec![
            ("weight_ih_l0", vec![gates, inner], start),
            ("weight_hh_l0", vec![gates, hidden], start),
            ("bias_ih_l0", vec![gates], start),
            ("bias_hh_l0", vec![gates], start),
        ];
        self.push(operation, vec![time, hidden], prefix, parameters, frozen);
    }

    fn layer(&mut self, layer: &Layer, prefix: &str) -> Result<(), TrainError> {
        let shape = self.shape.clone();
        let last = shape[shape.len() - 1];
        match &layer.kind {
            LayerKind::Linear { out, bias } => {
                self.adapted(layer.lora, prefix, layer.frozen, |build, frozen| {
                    build.linear(*out, *bias, ["weight", "bias"], prefix, frozen, [fan(last); 2]);
                });
            }
            LayerKind::Conv1d { out, kernel, stride, padding, dilation, groups, bias } => {
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
            LayerKind::Conv2d { out, kernel, stride, padding, dilation, groups, bias } => {
                let window =
                    Window { kernel: *kernel, stride: *stride, padding: *padding, dilation: *dilation };
                let (channels, size, out) = (shape[0], [shape[1], shape[2]], *out);
                let geometry = Geometry { channels, size, out, groups: *groups, window, bias: *bias };
                self.conv(geometry, |[height, width]| vec![out, height, width], layer, prefix)?;
            }
            LayerKind::Embedding { vocabulary, out } => {
                let parameters = vec![("weight", vec![*vocabulary, *out], Start::Normal)];
                let operation = Operation::Embedding { vocabulary: *vocabulary, out: *out, places: last };
                self.push(operation, vec![last, *out], prefix, parameters, layer.frozen);
            }
            LayerKind::EmbeddingBag { vocabulary, out } => {
                let parameters = vec![("weight", vec![*vocabulary, *out], Start::Constant(0.0))];
                let operation = Operation::EmbeddingBag { vocabulary: *vocabulary, out: *out, places: last };
                self.push(operation, vec![*out], prefix, parameters, layer.frozen);
            }
            LayerKind::Position => self.plain(Operation::Position { time: shape[0], width: last }, shape),
            LayerKind::LayerNorm => self.layer_norm(prefix, layer.frozen),
            LayerKind::GroupNorm { groups } => {
                let (channels, places) = (shape[0], shape[1..].iter().product());
                let parameters = vec![
                    ("weight", vec![channels], Start::Constant(1.0)),
                    ("bias", vec![channels], Start::Constant(0.0)),
                ];
                let operation = Operation::GroupNorm { channels, groups: *groups, places };
                self.push(operation, shape, prefix, parameters, layer.frozen);
            }
            LayerKind::Attention { heads, causal } => {
                self.attention((*heads, *causal), layer.lora, prefix, layer.frozen);
            }
            LayerKind::Transformer { .. } => self.transformer(layer, prefix)?,
            LayerKind::Lstm { hidden } => {
                let operation = Operation::Lstm { inner: last, hidden: *hidden, time: shape[0] };
                self.recurrent(operation, *hidden, 4 * hidden, prefix, layer.frozen);
            }
            LayerKind::Gru { hidden } => {
                let operation = Operation::Gru { inner: last, hidden: *hidden, time: shape[0] };
                self.recurrent(operation, *hidden, 3 * hidden, prefix, layer.frozen);
            }
            LayerKind::Relu => self.activation(Activation::Relu),
            LayerKind::Tanh => self.activation(Activation::Tanh),
            LayerKind::Sigmoid => self.activation(LOGISTIC),
            LayerKind::TemperedSigmoid { scale, temperature, offset } => {
                self.activation(Activation::Sigmoid {
                    scale: *scale,
                    temperature: *temperature,
                    offset: *offset,
                });
            }
            LayerKind::Gelu => self.plain(Operation::Gelu, shape),
            LayerKind::Silu => self.plain(Operation::Silu, shape),
            LayerKind::MaxPool { kernel, stride } => self.pool(PoolKind::Largest, *kernel, *stride),
            LayerKind::AveragePool { kernel, stride } => self.pool(PoolKind::Mean, *kernel, *stride),
            LayerKind::GlobalPool => {
                self.plain(Operation::GlobalMean { places: shape[1..].iter().product() }, vec![shape[0]]);
            }
            LayerKind::Dropout { rate } => self.dropout(*rate),
            LayerKind::Flatten => self.shape = vec![shape.iter().product()],
            LayerKind::Transpose => {
                self.plain(Operation::Transpose { rows: shape[0], cols: shape[1] }, vec![shape[1], shape[0]]);
            }
            LayerKind::MeanTime => {
                self.plain(Operation::MeanTime { time: shape[0], width: last }, vec![last])
            }
            LayerKind::LastTime => {
                self.plain(Operation::LastTime { time: shape[0], width: last }, vec![last])
            }
            LayerKind::Residual { layer: inner } => {
                self.residual(|build| build.layers(inner, prefix, layer.frozen))?;
            }
            LayerKind::BatchNorm => {}
        }
        Ok(())
    }

    fn pool(&mut self, kind: PoolKind, kernel: [usize; 2], stride: Option<[usize; 2]>) {
        let size = [self.shape[1], self.shape[2]];
        let stride = stride.unwrap_or(kernel);
        let window = Window { kernel, stride, padding: [0, 0], dilation: [1, 1] };
        if let Some([height, width]) = crate::describe::windows(size, window) {
            let operation = Operation::Pool { kind, kernel, stride, channels: self.shape[0], size };
            self.plain(operation, vec![self.shape[0], height, width]);
        }
    }

    fn finish(
        mut self,
        outputs: usize,
        objective: Objective,
        vocabulary: Option<usize>,
        to_input: bool,
    ) -> Graph {
        let layout = Layout::new(self.parameters);
        // Gradients are needed above trained weights, and everywhere for that of the input.
        let mut needs = vec![false; self.shapes.len()];
        needs[0] = to_input;
        for node in &mut self.nodes {
            node.below = needs[node.input];
            let skipped = match node.operation {
                Operation::Add { skip } => needs[skip],
                _ => false,
            };
            needs[node.output] |= node.below || skipped || node.trained.is_some();
            if let Some(trained) = &mut node.trained {
                let inside = |p: &usize| node.weights.contains(&layout.weight_range(*p).start);
                let parts = (0..layout.parameters().len()).filter(inside).map(|p| layout.gradient_range(p));
                trained.gradient = parts.reduce(|all, part| all.start..part.end).unwrap_or(0..0);
            }
        }
        let mut present = vec![false; self.shapes.len()];
        for node in self.nodes.iter_mut().rev() {
            if matches!(node.operation, Operation::Activation(_)) {
                continue;
            }
            node.add = present[node.input];
            present[node.input] |= node.below;
            if let Operation::Add { skip } = node.operation {
                node.skip = needs[skip].then_some(present[skip]);
                present[skip] |= needs[skip];
            }
        }
        Graph {
            nodes: self.nodes,
            sizes: self.shapes.iter().map(|shape| shape.iter().product()).collect(),
            shapes: self.shapes,
            layout,
            starts: self.starts,
            outputs,
            objective,
            label_smoothing: 0.0,
            vocabulary,
            has_dropout: self.has_dropout,
            layers: self.layers,
        }
    }
}
