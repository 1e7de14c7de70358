//! The six networks, and a batch for each.

use anyhow::{Result, ensure};
use clap::ValueEnum;
use reticent_train::describe::{LayerKind, preset};
use reticent_train::{Description, Examples, Inputs, Layout, Targets};

/// Size of the vocabulary of text.
const VOCABULARY: usize = 10_000;

/// The networks of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Network {
    /// 784-10.
    Logreg,
    /// 784-512-256-10, relu.
    Mlp,
    /// Opacus's MNIST network.
    MnistCnn,
    /// Six convolutions, tanh.
    CifarCnn,
    /// Two encoder blocks.
    Transformer,
    /// One LSTM layer.
    Lstm,
}

impl Network {
    /// The name in the results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Logreg => "logreg",
            Self::Mlp => "mlp",
            Self::MnistCnn => "mnist_cnn",
            Self::CifarCnn => "cifar_cnn",
            Self::Transformer => "transformer",
            Self::Lstm => "lstm",
        }
    }

    /// Examples in a step.
    pub(crate) fn batch(self) -> usize {
        match self {
            Self::Logreg | Self::Mlp => 512,
            Self::MnistCnn => 256,
            Self::CifarCnn => 128,
            Self::Transformer | Self::Lstm => 64,
        }
    }

    /// How many weights it has.
    pub(crate) fn parameters(self) -> usize {
        match self {
            Self::Logreg => 7_850,
            Self::Mlp => 535_818,
            Self::MnistCnn => 26_010,
            Self::CifarCnn => 550_570,
            Self::Transformer => 1_545_218,
            Self::Lstm => 739_586,
        }
    }

    /// The preset, the shape of an example and the number of classes.
    fn preset(self) -> (&'static str, &'static [usize], usize) {
        match self {
            Self::Logreg => ("logistic", &[784], 10),
            Self::Mlp => ("mlp", &[784], 10),
            Self::MnistCnn => ("cnn-mnist", &[1, 28, 28], 10),
            Self::CifarCnn => ("cnn-cifar", &[3, 32, 32], 10),
            Self::Transformer => ("transformer-text", &[128], 2),
            Self::Lstm => ("lstm-text", &[100], 2),
        }
    }

    /// The layers: those of the preset, but for the places in time, which the peers' transformer does not have.
    pub(crate) fn description(self) -> Result<Description> {
        let (name, shape, classes) = self.preset();
        let vocabulary = matches!(self, Self::Transformer | Self::Lstm).then_some(VOCABULARY);
        let mut description = preset(name, shape, vocabulary, classes)?;
        description.layers.retain(|layer| layer.kind != LayerKind::Position);
        Ok(description)
    }

    /// Checks that the network has the size of the peers'.
    pub(crate) fn check(self, layout: &Layout) -> Result<()> {
        let (found, expected) = (layout.gradients(), self.parameters());
        ensure!(found == expected, "{}: {found} trained weights instead of {expected}", self.word());
        Ok(())
    }

    /// A batch of examples that are the same in every run.
    pub(crate) fn examples(self) -> Result<Examples> {
        let (_, shape, classes) = self.preset();
        let (batch, size) = (self.batch(), shape.iter().product::<usize>());
        let mut stream = Stream(1);
        let inputs = match self {
            Self::Transformer | Self::Lstm => {
                Inputs::Tokens((0..batch * size).map(|_| stream.below(VOCABULARY)).collect())
            }
            _ => Inputs::Real((0..batch * size).map(|_| stream.spread()).collect()),
        };
        let targets = Targets::Classes((0..batch).map(|_| stream.below(classes)).collect());
        Ok(Examples::new(shape, inputs, targets)?)
    }
}

/// Numbers that look random: a counter, mixed (Steele, Lea and Flood, *SplitMix*, 2014). Nothing private depends on them.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `end`.
    fn below(&mut self, end: usize) -> u32 {
        (self.next() % end as u64) as u32
    }

    /// A number of mean 0 and variance 1, near normal: the sum of twelve uniform ones.
    fn spread(&mut self) -> f32 {
        let uniform = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
        ((0..12).map(|_| uniform(self.next())).sum::<f64>() - 6.0) as f32
    }
}
