//! Small networks with every kind of layer, and examples for them.

use reticent_noise::entropy::{Bits, SeededForTests};
use reticent_train::describe::{Layer, LayerKind, Lora, Objective};
use reticent_train::{Description, Examples, Inputs, Targets, UNSCORED};

/// A network, weights for it and examples.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is about.
    pub name: &'static str,
    /// The network.
    pub description: Description,
    /// Examples that fit it.
    pub examples: Examples,
}

/// A number between −1 and 1.
pub fn uniform(bits: &mut SeededForTests) -> f32 {
    (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Examples for a network of so many outputs, the same in every run.
///
/// # Panics
/// If the description makes no network.
pub fn examples(description: &Description, count: usize, seed: u64) -> Examples {
    let mut bits = SeededForTests::new(seed);
    let size: usize = description.input.iter().product();
    let inputs = match description.layers.first().map(|layer| &layer.kind) {
        Some(LayerKind::Embedding { vocabulary, .. } | LayerKind::EmbeddingBag { vocabulary, .. }) => {
            let token = |bits: &mut SeededForTests| (bits.word() % *vocabulary as u64) as u32;
            Inputs::Tokens((0..count * size).map(|_| token(&mut bits)).collect())
        }
        _ => Inputs::Real((0..count * size).map(|_| uniform(&mut bits)).collect()),
    };
    let outputs = description.outputs().unwrap_or(0) as u64;
    let targets = match description.loss {
        Objective::CrossEntropy => {
            Targets::Classes((0..count).map(|_| (bits.word() % outputs) as u32).collect())
        }
        Objective::Squared => Targets::Numbers((0..count).map(|_| uniform(&mut bits)).collect()),
        Objective::NextToken => {
            let vocabulary = outputs / size as u64;
            // About a fifth of the positions are not scored, and the first always is.
            let next = |place: usize| match bits.word() % 5 {
                0 if !place.is_multiple_of(size) => UNSCORED,
                _ => (bits.word() % vocabulary) as u32,
            };
            Targets::Next((0..count * size).map(next).collect())
        }
    };
    match Examples::new(&description.input, inputs, targets) {
        Ok(examples) => examples,
        Err(error) => panic!("{error}"),
    }
}

fn linear(out: usize) -> LayerKind {
    LayerKind::Linear { out, bias: true }
}

fn conv2d(out: usize, kernel: [usize; 2], groups: usize) -> LayerKind {
    LayerKind::Conv2d { out, kernel, stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups, bias: true }
}

fn frozen(kind: LayerKind) -> Layer {
    Layer { frozen: true, ..kind.into() }
}

fn adapted(kind: LayerKind, rank: usize, alpha: Option<f32>) -> Layer {
    Layer { lora: Some(Lora { rank, alpha }), ..kind.into() }
}

/// One network for every kind of layer, with eight examples each.
pub fn cases() -> Vec<Case> {
    let network = Description::reading;
    let sequence = |kind: LayerKind| {
        network(&[4, 6]).then(linear(6)).then(kind).then(LayerKind::MeanTime).then(linear(3))
    };
    let elementwise = |kind: LayerKind| network(&[5]).then(linear(6)).then(kind).then(linear(3));
    let image = |kind: LayerKind| {
        network(&[2, 6, 5]).then(conv2d(4, [3, 2], 1)).then(kind).then(LayerKind::Flatten).then(linear(3))
    };
    let strided = LayerKind::Conv2d {
        out: 4,
        kernel: [2, 3],
        stride: [2, 1],
        padding: [0, 1],
        dilation: [1, 2],
        groups: 2,
        bias: false,
    };
    let line =
        LayerKind::Conv1d { out: 5, kernel: 3, stride: 2, padding: 1, dilation: 1, groups: 1, bias: true };
    let block =
        |norm_first, causal| LayerKind::Transformer { heads: 2, hidden: 7, dropout: 0.0, norm_first, causal };
    let squared = |description: Description| Description { loss: Objective::Squared, ..description };
    let text = |layer: Layer| {
        let table = LayerKind::Embedding { vocabulary: 5, out: 6 };
        network(&[7]).then(table).then(layer).then(LayerKind::MeanTime).then(linear(3))
    };
    let language = |layers: Vec<Layer>| {
        let table = LayerKind::Embedding { vocabulary: 5, out: 6 };
        let start = Description { loss: Objective::NextToken, ..network(&[7]) }.then(table);
        layers.into_iter().fold(start, Description::then).then(linear(5))
    };
    let networks = vec![
        ("linear", network(&[5]).then(linear(3))),
        (
            "linear, squared loss",
            squared(network(&[5]).then(linear(6)).then(LayerKind::Tanh).then(linear(1))),
        ),
        (
            "linear, label smoothing",
            Description {
                label_smoothing: 0.2,
                ..network(&[5]).then(linear(6)).then(LayerKind::Tanh).then(linear(3))
            },
        ),
        (
            "linear without bias",
            network(&[5])
                .then(LayerKind::Linear { out: 4, bias: false })
                .then(LayerKind::Tanh)
                .then(linear(3)),
        ),
        ("wide linear", network(&[60]).then(linear(50)).then(LayerKind::Relu).then(linear(4))),
        (
            "linear along time",
            network(&[3, 20]).then(linear(24)).then(LayerKind::Tanh).then(LayerKind::Flatten).then(linear(3)),
        ),
        (
            "frozen layers",
            network(&[5])
                .then(frozen(linear(6)))
                .then(LayerKind::Tanh)
                .then(linear(4))
                .then(frozen(linear(4)))
                .then(linear(3)),
        ),
        ("relu", elementwise(LayerKind::Relu)),
        ("sigmoid", elementwise(LayerKind::Sigmoid)),
        ("gelu", elementwise(LayerKind::Gelu)),
        ("silu", elementwise(LayerKind::Silu)),
        (
            "tempered sigmoid",
            elementwise(LayerKind::TemperedSigmoid { scale: 2.0, temperature: 1.5, offset: 1.0 }),
        ),
        (
            "two activations",
            network(&[5]).then(linear(6)).then(LayerKind::Tanh).then(LayerKind::Sigmoid).then(linear(3)),
        ),
        ("convolution", image(conv2d(3, [2, 2], 1))),
        ("strided convolution in groups", image(strided)),
        (
            "convolution along a line",
            network(&[2, 9]).then(line).then(LayerKind::Transpose).then(LayerKind::MeanTime).then(linear(3)),
        ),
        ("group norm", image(LayerKind::GroupNorm { groups: 2 })),
        ("max pool", image(LayerKind::MaxPool { kernel: [2, 2], stride: Some([1, 2]) })),
        ("average pool", image(LayerKind::AveragePool { kernel: [2, 3], stride: None })),
        (
            "global pool",
            network(&[2, 6, 5]).then(conv2d(4, [3, 3], 2)).then(LayerKind::GlobalPool).then(linear(3)),
        ),
        ("embedding", text(LayerKind::Position.into())),
        (
            "embedding bag",
            network(&[7])
                .then(LayerKind::EmbeddingBag { vocabulary: 4, out: 6 })
                .then(LayerKind::Tanh)
                .then(linear(3)),
        ),
        (
            "low-rank updates",
            network(&[5])
                .then(linear(6))
                .then(LayerKind::Tanh)
                .then(adapted(linear(4), 2, Some(3.0)))
                .then(LayerKind::Relu)
                .then(adapted(LayerKind::Linear { out: 3, bias: false }, 1, None)),
        ),
        (
            "low-rank updates along time",
            network(&[4, 5])
                .then(adapted(linear(6), 3, Some(1.5)))
                .then(LayerKind::Tanh)
                .then(adapted(linear(6), 2, Some(4.0)))
                .then(LayerKind::MeanTime)
                .then(linear(3)),
        ),
        ("layer norm", sequence(LayerKind::LayerNorm)),
        ("attention", sequence(LayerKind::Attention { heads: 2, causal: false })),
        ("causal attention", sequence(LayerKind::Attention { heads: 2, causal: true })),
        ("transformer", text(block(false, false).into())),
        ("transformer, norm first", text(block(true, false).into())),
        ("causal transformer", text(block(false, true).into())),
        ("next token, lstm", language(vec![LayerKind::Lstm { hidden: 4 }.into()])),
        ("next token, transformer", language(vec![LayerKind::Position.into(), block(true, true).into()])),
        (
            "lstm",
            network(&[4, 6]).then(LayerKind::Lstm { hidden: 5 }).then(LayerKind::LastTime).then(linear(3)),
        ),
        (
            "gru",
            network(&[4, 6]).then(LayerKind::Gru { hidden: 5 }).then(LayerKind::MeanTime).then(linear(3)),
        ),
        (
            "residual",
            elementwise(LayerKind::Residual { layer: vec![linear(6).into(), LayerKind::Tanh.into()] }),
        ),
        (
            "low-rank updates of attention",
            network(&[4, 6])
                .then(adapted(LayerKind::Attention { heads: 2, causal: false }, 2, Some(3.0)))
                .then(LayerKind::Tanh)
                .then(adapted(LayerKind::Attention { heads: 3, causal: true }, 1, None))
                .then(LayerKind::MeanTime)
                .then(linear(3)),
        ),
        ("low-rank updates of a transformer", text(adapted(block(false, false), 2, Some(3.0)))),
        (
            "next token, low-rank updates of a transformer",
            language(vec![block(true, true).into(), adapted(block(true, true), 3, None)]),
        ),
    ];
    let case = |(place, (name, description)): (usize, (&'static str, Description))| {
        let examples = examples(&description, 8, place as u64 + 1);
        Case { name, description, examples }
    };
    networks.into_iter().enumerate().map(case).collect()
}
