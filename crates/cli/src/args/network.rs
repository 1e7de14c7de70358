//! The flags that go with networks only.

use clap::Args;
use std::path::PathBuf;

/// What computes a network.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ComputingFlags {
    /// Device for networks: cpu, or cuda for an NVIDIA GPU [default: cpu]
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Number of examples computed at once; give fewer if memory runs out [default: as many as fit]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) chunk: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Networks")]
pub(crate) struct Network {
    /// Number of epochs (expected passes over the data) [default: 20]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) epochs: Option<String>,
    /// Expected batch size: rows (or users) per step [default: from the dataset size]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) batch_size: Option<String>,
    /// Clipping norm C: the maximum L2 norm of one row's (or user's) gradient [default: 1]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) clip: Option<String>,
    /// Clipping mode: flat, per-layer or automatic [default: flat]
    ///
    /// flat clips the whole gradient to norm C, per-layer clips each layer, automatic rescales every gradient to norm C.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "MODE")]
    pub(crate) clipping: Option<String>,
    /// Optimizer: sgd, adam or adamw [default: sgd]
    #[arg(long, value_name = "NAME")]
    pub(crate) optimizer: Option<String>,
    /// Momentum of sgd, at least 0 and below 1 [default: 0.9]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) momentum: Option<String>,
    /// Weight decay (L2) [default: 0, or 0.01 for adamw]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) weight_decay: Option<String>,
    /// Learning-rate schedule: constant, linear, cosine or exponential [default: constant]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "NAME")]
    pub(crate) schedule: Option<String>,
    /// Number of warm-up steps, over which the learning rate rises linearly [default: 0]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) warmup: Option<String>,
    /// Use an exponential moving average of the weights with this decay, such as 0.99
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "DECAY", allow_hyphen_values = true)]
    pub(crate) average: Option<String>,
    /// Freeze a layer, by name or by index from 0; may be repeated
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "LAYER")]
    pub(crate) freeze: Vec<String>,
    /// Noise multiplier (sigma / clipping norm), above 0, instead of --epsilon; the resulting epsilon is printed
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) noise_multiplier: Option<String>,
    /// Train without privacy, for comparison
    #[arg(long)]
    pub(crate) non_private: bool,
    /// Train parties together, as this file says: FedSGD or FedAvg, rounds, and who holds which data
    #[arg(hide_short_help = true, long, value_name = "parties.toml")]
    pub(crate) federated: Option<PathBuf>,
    /// PUBLIC labelled validation data (a table or a folder of images): NOT protected
    #[arg(long, value_name = "DATA")]
    pub(crate) validation: Option<PathBuf>,
    /// The column that holds the texts
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text_column: Option<String>,
    /// A PUBLIC vocabulary file, one token per line; it must not come from the private texts
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE")]
    pub(crate) vocabulary: Option<PathBuf>,
    /// Tokens of the texts: words of --vocabulary, or characters (printable ASCII, no file needed) [default: words]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "KIND")]
    pub(crate) tokens: Option<String>,
    /// Tokens per text; longer texts are truncated (for language models: cut into pieces), shorter ones padded [default: 64]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) length: Option<String>,
    /// The column to predict, for texts without a schema
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Public class names, comma-separated, or for images the number of classes [default: 10 for images]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "A,B,…")]
    pub(crate) classes: Option<String>,
    /// Pixels are normalized to (pixel / 255 - shift) / scale: a public number, or one per channel [default: 0.5]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "X[,X,X]", allow_hyphen_values = true)]
    pub(crate) shift: Option<String>,
    /// Pixels are normalized to (pixel / 255 - shift) / scale: a public number, or one per channel [default: 0.5]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "X[,X,X]", allow_hyphen_values = true)]
    pub(crate) scale: Option<String>,
    /// Maximum number of rows of one user in a step, drawn at random, if the schema's unit is a column; for language
    /// models, of pieces of one user or row [default: all rows or pieces of a user, one piece of a row]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) examples_per_user: Option<String>,
    /// Checkpoint interval: a number of steps, or of epochs as in 2epochs [default: every epoch, less often for long runs]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) checkpoint_every: Option<String>,
    /// Number of threads [default: all processors]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: ComputingFlags,
    /// Resume the run in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Finish the run in this folder at its last checkpoint, so that its model can be used; see --stopped-by
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) finish: Option<PathBuf>,
    /// Why the run stopped: time-limit, crash or choice [default: choice]
    ///
    /// With time-limit (set before the run began) or crash, the stop did not depend on what the run showed, so only the steps
    /// taken are charged; all planned steps are charged if a noisy count or a learnt schema decided the plan. With choice, all
    /// planned steps are charged.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "CAUSE", requires = "finish")]
    pub(crate) stopped_by: Option<String>,
}
