//! The numbers of the demo: those of its trainings were chosen beforehand, on the same public data.

/// The settings that differ between the demo and its quick variant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    /// How the network of part 2 is trained.
    pub(super) network: &'static str,
    /// Records for which a coin is flipped.
    pub(super) records: usize,
    /// Public approximate number of members.
    pub(super) size: usize,
    /// How the overfitted model is trained.
    pub(super) overfitted: &'static str,
    /// How its private twin is trained.
    pub(super) twin: &'static str,
    /// Reference models of the attacker.
    pub(super) references: usize,
}

/// ε of the statistic.
pub(super) const STATISTIC_EPSILON: &str = "0.1";
/// The share of rows that is kept for testing, and the key of the hash that chooses them.
pub(super) const TEST_SHARE: f64 = 0.2;
pub(super) const SPLIT_KEY: &str = "reticent";
/// Public approximate number of training rows.
pub(super) const TRAINING_SIZE: &str = "26000";
/// δ of the network.
pub(super) const NETWORK_DELTA: &str = "1e-6";
/// The guarantee of the private twin.
pub(super) const TWIN_EPSILON: &str = "3";
pub(super) const TWIN_DELTA: &str = "1e-5";

/// The network that is overfitted: wide enough to memorize its training data.
pub(super) const WIDE: &str = r#"input = [125]

[[layer]]
kind = "linear"
out = 512

[[layer]]
kind = "relu"

[[layer]]
kind = "linear"
out = 2
"#;

/// The demo.
pub(super) const FULL: Recipe = Recipe {
    network: "--epochs 20 --batch-size 1024 --lr 1 --clip 0.5",
    records: 2200,
    size: 1100,
    overfitted: "--optimizer adam --lr 0.01 --schedule linear --epochs 300 --batch-size 256 --checkpoint-every 100epochs",
    twin: "--epochs 30 --batch-size 220 --lr 0.5 --schedule linear",
    references: 96,
};

/// A quick try.
pub(super) const QUICK: Recipe = Recipe {
    network: "--epochs 1 --batch-size 2048 --lr 1",
    records: 300,
    size: 150,
    overfitted: "--optimizer adam --lr 0.01 --schedule cosine --epochs 20 --batch-size 32 --checkpoint-every 20epochs",
    twin: "--epochs 5 --batch-size 50 --lr 0.5 --schedule linear",
    references: 4,
};
