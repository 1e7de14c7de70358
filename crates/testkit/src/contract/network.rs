//! Described networks in double precision, one example at a time, number by number: the reference for gradients.

use super::loss::loss;
use super::tape::{Number, Tape};
use reticent_train::describe::{Layer, LayerKind, Lora};
use reticent_train::{Description, Examples, Inputs, Layout};

/// What normalizations add to a variance.
const STABILITY: f64 = 1e-5;

/// One example's pass through a network, with all derivatives.
#[derive(Debug, Clone)]
pub struct Passed {
    /// The outputs of the last layer.
    pub outputs: Vec<f64>,
    /// The loss.
    pub loss: f64,
    /// The gradient of the loss in the trained weights, in the order of the layout.
    pub gradient: Vec<f64>,
    /// The gradient of the loss in the input; empty for tokens.
    pub input_gradient: Vec<f64>,
    /// What each of the outermost layers gave.
    pub activations: Vec<Vec<f64>>,
}

/// Takes one example through a network and back.
///
/// # Panics
/// If the description, the weights or the example do not belong together, or a layer draws at random.
pub fn pass(
    description: &Description,
    layout: &Layout,
    weights: &[f32],
    examples: &Examples,
    example: usize,
) -> Passed {
    let mut input = vec![0.0f32; examples.size()];
    examples.read(example, &mut input);
    let mut tape = Tape::default();
    let weights = tape.leaves(weights.iter().map(|w| f64::from(*w)));
    let tokens = matches!(examples.inputs(), Inputs::Tokens(_));
    let inputs = tape.leaves(input.iter().map(|x| f64::from(*x)));
    let mut run = Run { tape, weights: &weights, next: 0 };
    let mut state = State { values: inputs.clone(), shape: description.input.clone() };
    let mut activations = Vec::new();
    for layer in &description.layers {
        state = run.layer(layer, state);
        activations.push(state.values.iter().map(|number| run.tape.value(*number)).collect());
    }
    assert_eq!(run.next, weights.len(), "all weights are used");
    let mut tape = run.tape;
    let outputs: Vec<f64> = state.values.iter().map(|number| tape.value(*number)).collect();
    let loss = loss(&mut tape, &state.values, description, examples, example);
    let slopes = tape.slopes(loss);
    let trained = layout.parameters().iter().enumerate().filter(|(_, parameter)| parameter.trainable);
    let gradient = trained.flat_map(|(number, _)| &slopes[layout.weight_range(number)]).copied().collect();
    let input_gradient = if tokens { Vec::new() } else { inputs.iter().map(|x| slopes[*x]).collect() };
    Passed { outputs, loss: tape.value(loss), gradient, input_gradient, activations }
}

/// What one layer hands to the next.
#[derive(Debug, Clone)]
struct State {
    values: Vec<Number>,
    shape: Vec<usize>,
}

impl State {
    fn last(&self) -> usize {
        self.shape[self.shape.len() - 1]
    }
}

/// Weights are taken in the order of the layout.
struct Run<'a> {
    tape: Tape,
    weights: &'a [Number],
    next: usize,
}

/// Kernel, stride, padding and dilation of a convolution.
struct Sliding {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

impl<'a> Run<'a> {
    fn take(&mut self, count: usize) -> &'a [Number] {
        let taken = &self.weights[self.next..self.next + count];
        self.next += count;
        taken
    }

    fn map(&mut self, state: State, mut f: impl FnMut(&mut Tape, Number) -> Number) -> State {
        let values = state.values.iter().map(|x| f(&mut self.tape, *x)).collect();
        State { values, ..state }
    }

    /// W·x + b on rows.
    fn affine(
        &mut self,
        rows: &[Number],
        inner: usize,
        weight: &[Number],
        bias: Option<&[Number]>,
    ) -> Vec<Number> {
        let mut out = Vec::new();
        for row in rows.chunks_exact(inner) {
            for (i, weights) in weight.chunks_exact(inner).enumerate() {
                let dot = self.tape.dot(weights, row);
                out.push(bias.map_or(dot, |bias| self.tape.add(dot, bias[i])));
            }
        }
        out
    }

    fn linear(&mut self, mut state: State, out: usize, bias: bool) -> State {
        let inner = state.last();
        let weight = self.take(out * inner);
        let bias = bias.then(|| self.take(out));
        state.values = self.affine(&state.values, inner, weight, bias);
        if let Some(last) = state.shape.last_mut() {
            *last = out;
        }
        state
    }

    /// W·x + b + (alpha / rank)·B·A·x.
    fn adapted(&mut self, state: State, (out, bias): (usize, bool), lora: Lora) -> State {
        let base = self.linear(state.clone(), out, bias);
        let down = self.linear(state, lora.rank, false);
        let up = self.linear(down, out, false);
        let scale = f64::from(lora.scale());
        let pairs = base.values.iter().zip(&up.values);
        let values = pairs
            .map(|(base, up)| {
                let scaled = self.tape.sum(&[*up], scale, 0.0);
                self.tape.add(*base, scaled)
            })
            .collect();
        State { values, ..base }
    }

    fn projected(&mut self, state: State, (out, bias): (usize, bool), lora: Option<Lora>) -> State {
        match lora {
            Some(lora) => self.adapted(state, (out, bias), lora),
            None => self.linear(state, out, bias),
        }
    }

    fn convolution(
        &mut self,
        state: State,
        out: usize,
        groups: usize,
        bias: bool,
        sliding: &Sliding,
    ) -> State {
        let line = state.shape.len() == 2;
        let (channels, size) =
            (state.shape[0], if line { [1, state.shape[1]] } else { [state.shape[1], state.shape[2]] });
        let Sliding { kernel, stride, padding, dilation } = sliding;
        let inner = channels / groups;
        let weight = self.take(out * inner * kernel[0] * kernel[1]);
        let bias = bias.then(|| self.take(out));
        let places =
            [0, 1].map(|i| (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1);
        let mut values = Vec::new();
        for o in 0..out {
            let group = o / (out / groups);
            for (y, x) in grid(places) {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for c in 0..inner {
                    for (i, j) in grid(*kernel) {
                        let at = [y * stride[0] + i * dilation[0], x * stride[1] + j * dilation[1]];
                        let inside =
                            |axis: usize| at[axis].checked_sub(padding[axis]).filter(|at| *at < size[axis]);
                        if let (Some(row), Some(column)) = (inside(0), inside(1)) {
                            left.push(weight[((o * inner + c) * kernel[0] + i) * kernel[1] + j]);
                            right
                                .push(state.values[((group * inner + c) * size[0] + row) * size[1] + column]);
                        }
                    }
                }
                let dot = self.tape.dot(&left, &right);
                values.push(bias.map_or(dot, |bias| self.tape.add(dot, bias[o])));
            }
        }
        let shape = if line { vec![out, places[1]] } else { vec![out, places[0], places[1]] };
        State { values, shape }
    }

    /// (x − mean)/√(variance + stability).
    fn normalized(&mut self, x: &[Number]) -> Vec<Number> {
        let share = 1.0 / x.len() as f64;
        let mean = self.tape.sum(x, share, 0.0);
        let centred: Vec<Number> = x.iter().map(|x| self.tape.subtract(*x, mean)).collect();
        let squares = self.tape.dot(&centred, &centred);
        let scale = self.tape.function(squares, |s| {
            let variance = s * share + STABILITY;
            (1.0 / variance.sqrt(), -0.5 * share / (variance * variance.sqrt()))
        });
        centred.iter().map(|x| self.tape.multiply(*x, scale)).collect()
    }

    fn scaled(&mut self, x: Number, weight: Number, bias: Number) -> Number {
        let product = self.tape.multiply(x, weight);
        self.tape.add(product, bias)
    }

    fn layer_norm(&mut self, state: State) -> State {
        let width = state.last();
        let (weight, bias) = (self.take(width), self.take(width));
        let mut values = Vec::new();
        for row in state.values.chunks_exact(width) {
            for (i, x) in self.normalized(row).into_iter().enumerate() {
                values.push(self.scaled(x, weight[i], bias[i]));
            }
        }
        State { values, ..state }
    }

    fn group_norm(&mut self, state: State, groups: usize) -> State {
        let channels = state.shape[0];
        let places = state.values.len() / channels;
        let (weight, bias) = (self.take(channels), self.take(channels));
        let mut values = Vec::new();
        for group in state.values.chunks_exact(channels / groups * places) {
            for x in self.normalized(group) {
                let channel = values.len() / places;
                values.push(self.scaled(x, weight[channel], bias[channel]));
            }
        }
        State { values, ..state }
    }

    fn attention(&mut self, state: State, (heads, causal): (usize, bool), lora: Option<Lora>) -> State {
        let (time, width) = (state.shape[0], state.shape[1]);
        let projected = self.projected(state.clone(), (3 * width, true), lora).values;
        let each = width / heads;
        let part = |t: usize, part: usize, head: usize| {
            let start = (t * 3 + part) * width + head * each;
            &projected[start..start + each]
        };
        let mut mixed = vec![0; time * width];
        for head in 0..heads {
            for t in 0..time {
                let seen = if causal { t + 1 } else { time };
                let scores: Vec<Number> = (0..seen)
                    .map(|s| {
                        let dot = self.tape.dot(part(t, 0, head), part(s, 1, head));
                        self.tape.sum(&[dot], 1.0 / (each as f64).sqrt(), 0.0)
                    })
                    .collect();
                let shares = self.softmax(&scores);
                for j in 0..each {
                    let column: Vec<Number> = (0..seen).map(|s| part(s, 2, head)[j]).collect();
                    mixed[t * width + head * each + j] = self.tape.dot(&shares, &column);
                }
            }
        }
        self.projected(State { values: mixed, ..state }, (width, true), lora)
    }

    fn softmax(&mut self, scores: &[Number]) -> Vec<Number> {
        let most = scores.iter().map(|s| self.tape.value(*s)).fold(f64::MIN, f64::max);
        let powers: Vec<f64> = scores.iter().map(|s| libm::exp(self.tape.value(*s) - most)).collect();
        let total: f64 = powers.iter().sum();
        let shares: Vec<f64> = powers.iter().map(|power| power / total).collect();
        let slope = |i: usize, j: usize| shares[i] * (if i == j { 1.0 } else { 0.0 } - shares[j]);
        (0..scores.len())
            .map(|i| {
                let made_of = scores.iter().enumerate().map(|(j, score)| (*score, slope(i, j))).collect();
                self.tape.push(shares[i], made_of)
            })
            .collect()
    }

    fn added(&mut self, one: &State, two: State) -> State {
        let values = one.values.iter().zip(&two.values).map(|(a, b)| self.tape.add(*a, *b)).collect();
        State { values, ..two }
    }

    fn transformer(
        &mut self,
        state: State,
        attention: (usize, bool),
        lora: Option<Lora>,
        (hidden, norm_first): (usize, bool),
    ) -> State {
        let width = state.last();
        let think = |run: &mut Self, state: State| {
            let inner = run.linear(state, hidden, true);
            let inner = run.map(inner, relu);
            run.linear(inner, width, true)
        };
        if norm_first {
            let inner = self.layer_norm(state.clone());
            let inner = self.attention(inner, attention, lora);
            let state = self.added(&state, inner);
            let inner = self.layer_norm(state.clone());
            let inner = think(self, inner);
            self.added(&state, inner)
        } else {
            let inner = self.attention(state.clone(), attention, lora);
            let state = self.added(&state, inner);
            let state = self.layer_norm(state);
            let inner = think(self, state.clone());
            let state = self.added(&state, inner);
            self.layer_norm(state)
        }
    }

    /// A recurrent layer: `step` makes the next state of the gates from input and state, and the states before.
    fn recurrent(
        &mut self,
        state: State,
        hidden: usize,
        gates: usize,
        mut step: impl FnMut(&mut Tape, &[Number], &[Number], &mut Vec<Number>),
    ) -> State {
        let (time, inner) = (state.shape[0], state.shape[1]);
        let (of_input, of_state) = (self.take(gates * inner), self.take(gates * hidden));
        let (bias, state_bias) = (self.take(gates), self.take(gates));
        let mut before = self.tape.leaves(vec![0.0; hidden]);
        let mut values = Vec::new();
        for t in 0..time {
            let row = &state.values[t * inner..(t + 1) * inner];
            let from_input = self.affine(row, inner, of_input, Some(bias));
            let from_state = self.affine(&before, hidden, of_state, Some(state_bias));
            step(&mut self.tape, &from_input, &from_state, &mut before);
            values.extend_from_slice(&before);
        }
        State { values, shape: vec![time, hidden] }
    }

    fn lstm(&mut self, state: State, hidden: usize) -> State {
        let mut cell = self.tape.leaves(vec![0.0; hidden]);
        self.recurrent(state, hidden, 4 * hidden, |tape, input, from, before| {
            for j in 0..hidden {
                let gate: [Number; 4] =
                    std::array::from_fn(|g| tape.add(input[g * hidden + j], from[g * hidden + j]));
                let (enter, keep, fresh, leave) =
                    (tape.sigmoid(gate[0]), tape.sigmoid(gate[1]), tape.tanh(gate[2]), tape.sigmoid(gate[3]));
                cell[j] = tape.dot(&[keep, enter], &[cell[j], fresh]);
                let squashed = tape.tanh(cell[j]);
                before[j] = tape.multiply(leave, squashed);
            }
        })
    }

    fn gru(&mut self, state: State, hidden: usize) -> State {
        self.recurrent(state, hidden, 3 * hidden, |tape, input, from, before| {
            for j in 0..hidden {
                let gate = |tape: &mut Tape, g: usize| tape.add(input[g * hidden + j], from[g * hidden + j]);
                let (reset, update) = (gate(tape, 0), gate(tape, 1));
                let (reset, update) = (tape.sigmoid(reset), tape.sigmoid(update));
                let share = tape.multiply(reset, from[2 * hidden + j]);
                let fresh = tape.add(input[2 * hidden + j], share);
                let fresh = tape.tanh(fresh);
                let away = tape.subtract(before[j], fresh);
                let moved = tape.multiply(update, away);
                before[j] = tape.add(fresh, moved);
            }
        })
    }

    fn pool(&mut self, state: State, kernel: [usize; 2], stride: Option<[usize; 2]>, largest: bool) -> State {
        let stride = stride.unwrap_or(kernel);
        let size = [state.shape[1], state.shape[2]];
        let places = [0, 1].map(|i| (size[i] - kernel[i]) / stride[i] + 1);
        let mut values = Vec::new();
        for channel in state.values.chunks_exact(size[0] * size[1]) {
            for (y, x) in grid(places) {
                let at = |(i, j): (usize, usize)| channel[(y * stride[0] + i) * size[1] + x * stride[1] + j];
                let window: Vec<Number> = grid(kernel).map(at).collect();
                values.push(if largest {
                    let most =
                        |a: Number, b: Number| if self.tape.value(b) > self.tape.value(a) { b } else { a };
                    window[1..].iter().fold(window[0], |a, b| most(a, *b))
                } else {
                    self.tape.sum(&window, 1.0 / window.len() as f64, 0.0)
                });
            }
        }
        State { values, shape: vec![state.shape[0], places[0], places[1]] }
    }

    fn layer(&mut self, layer: &Layer, mut state: State) -> State {
        let (last, count) = (state.last(), state.values.len());
        match &layer.kind {
            LayerKind::Linear { out, bias } => self.projected(state, (*out, *bias), layer.lora),
            LayerKind::Conv1d { out, kernel, stride, padding, dilation, groups, bias } => {
                let sliding = Sliding {
                    kernel: [1, *kernel],
                    stride: [1, *stride],
                    padding: [0, *padding],
                    dilation: [1, *dilation],
                };
                self.convolution(state, *out, *groups, *bias, &sliding)
            }
            LayerKind::Conv2d { out, kernel, stride, padding, dilation, groups, bias } => {
                let sliding =
                    Sliding { kernel: *kernel, stride: *stride, padding: *padding, dilation: *dilation };
                self.convolution(state, *out, *groups, *bias, &sliding)
            }
            LayerKind::Embedding { vocabulary, out } => {
                let table = self.take(vocabulary * out);
                let row = |token: &Number| self.tape.value(*token) as usize * out;
                let rows: Vec<usize> = state.values.iter().map(row).collect();
                let values = rows.into_iter().flat_map(|row| &table[row..row + out]).copied().collect();
                State { values, shape: vec![last, *out] }
            }
            LayerKind::EmbeddingBag { vocabulary, out } => {
                let table = self.take(vocabulary * out);
                let tokens: Vec<usize> = state.values.iter().map(|x| self.tape.value(*x) as usize).collect();
                let tokens: Vec<usize> = tokens.into_iter().filter(|token| *token != 0).collect();
                let share = 1.0 / tokens.len().max(1) as f64;
                let column = |j: usize| tokens.iter().map(|token| table[token * out + j]).collect::<Vec<_>>();
                let values = (0..*out).map(|j| self.tape.sum(&column(j), share, 0.0)).collect();
                State { values, shape: vec![*out] }
            }
            LayerKind::Position => {
                let shift = |i: usize| {
                    let (place, j) = ((i / last) as f64, i % last);
                    let rate = libm::pow(10_000.0, -((j / 2 * 2) as f64) / last as f64);
                    if j % 2 == 0 { libm::sin(place * rate) } else { libm::cos(place * rate) }
                };
                for (i, x) in state.values.iter_mut().enumerate() {
                    *x = self.tape.sum(&[*x], 1.0, shift(i));
                }
                state
            }
            LayerKind::LayerNorm => self.layer_norm(state),
            LayerKind::GroupNorm { groups } => self.group_norm(state, *groups),
            LayerKind::Attention { heads, causal } => self.attention(state, (*heads, *causal), layer.lora),
            LayerKind::Transformer { heads, hidden, norm_first, causal, .. } => {
                self.transformer(state, (*heads, *causal), layer.lora, (*hidden, *norm_first))
            }
            LayerKind::Lstm { hidden } => self.lstm(state, *hidden),
            LayerKind::Gru { hidden } => self.gru(state, *hidden),
            LayerKind::Relu => self.map(state, relu),
            LayerKind::Tanh => self.map(state, Tape::tanh),
            LayerKind::Sigmoid => self.map(state, Tape::sigmoid),
            LayerKind::TemperedSigmoid { scale, temperature, offset } => {
                let [scale, temperature, offset] = [*scale, *temperature, *offset].map(f64::from);
                self.map(state, |tape, x| {
                    let warm = tape.sum(&[x], temperature, 0.0);
                    let y = tape.sigmoid(warm);
                    tape.sum(&[y], scale, -offset)
                })
            }
            LayerKind::Gelu => self.map(state, |tape, x| {
                let spread = (2.0 / std::f64::consts::PI).sqrt();
                let inner = tape.function(x, |x| {
                    (spread * (x + 0.044_715 * x.powi(3)), spread * (1.0 + 3.0 * 0.044_715 * x * x))
                });
                let t = tape.tanh(inner);
                let half = tape.sum(&[t], 0.5, 0.5);
                tape.multiply(x, half)
            }),
            LayerKind::Silu => self.map(state, |tape, x| {
                let share = tape.sigmoid(x);
                tape.multiply(x, share)
            }),
            LayerKind::MaxPool { kernel, stride } => self.pool(state, *kernel, *stride, true),
            LayerKind::AveragePool { kernel, stride } => self.pool(state, *kernel, *stride, false),
            LayerKind::GlobalPool => {
                let places = count / state.shape[0];
                let mean = |plane: &[Number]| self.tape.sum(plane, 1.0 / places as f64, 0.0);
                let values = state.values.chunks_exact(places).map(mean).collect();
                State { values, shape: vec![state.shape[0]] }
            }
            LayerKind::Flatten => State { shape: vec![count], ..state },
            LayerKind::Transpose => {
                let (rows, columns) = (state.shape[0], state.shape[1]);
                let values = grid([columns, rows]).map(|(j, i)| state.values[i * columns + j]).collect();
                State { values, shape: vec![columns, rows] }
            }
            LayerKind::MeanTime => {
                let time = state.shape[0];
                let column = |j: usize| (0..time).map(|t| state.values[t * last + j]).collect::<Vec<_>>();
                let values = (0..last).map(|j| self.tape.sum(&column(j), 1.0 / time as f64, 0.0)).collect();
                State { values, shape: vec![last] }
            }
            LayerKind::LastTime => State { values: state.values.split_off(count - last), shape: vec![last] },
            LayerKind::Residual { layer: inner } => {
                let mut inside = state.clone();
                for layer in inner {
                    inside = self.layer(layer, inside);
                }
                self.added(&state, inside)
            }
            LayerKind::Dropout { rate } if *rate == 0.0 => state,
            other => panic!("{} has no reference", other.word()),
        }
    }
}

fn relu(tape: &mut Tape, x: Number) -> Number {
    tape.function(x, |x| if x > 0.0 { (x, 1.0) } else { (0.0, 0.0) })
}

/// All pairs below these sizes, row by row.
fn grid(size: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    (0..size[0]).flat_map(move |i| (0..size[1]).map(move |j| (i, j)))
}
