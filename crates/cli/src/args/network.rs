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

/// What the weights of a network start from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StartFlags {
    /// Start from these weights: a safetensors file, or the folder of a run on other data
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE")]
    pub(crate) init: Option<PathBuf>,
    /// Declare that the weights of --init were made without the private data
    #[arg(hide_short_help = true)]
    #[arg(long)]
    pub(crate) init_public: bool,
    /// Which array of --init goes to which parameter, such as fc.weight=3.weight,fc.bias=3.bias [default: by name]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "THEIRS=OURS,...")]
    pub(crate) init_map: Option<String>,
    /// Leave parameters at random that --init does not have, or has in another shape
    #[arg(hide_short_help = true)]
    #[arg(long)]
    pub(crate) init_partial: bool,
    /// PUBLIC word vectors for the first layer: lines of a word and its numbers (GloVe, word2vec), .npy or .safetensors
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE")]
    pub(crate) vectors: Option<PathBuf>,
    /// PUBLIC labelled data to train on first: NOT protected
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "DATA")]
    pub(crate) pretrain: Option<PathBuf>,
    /// Number of epochs on --pretrain [default: 10]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) pretrain_epochs: Option<String>,
}

/// Encoded gradients, Student-t noise and denoising.
#[derive(Debug, Default, Args)]
pub(crate) struct EncodingFlags {
    /// Share of the weights whose gradients are kept by --clipping encoded, the largest ones [default: 1]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) kept_share: Option<String>,
    /// Factor of gradients before --clipping encoded cuts them to its profile [default: 4]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) encoding_gain: Option<String>,
    /// Noise: gaussian, or student-t with --clipping encoded [default: gaussian]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "LAW")]
    pub(crate) noise: Option<String>,
    /// Degrees of freedom of --noise student-t, from 3 to 1000 [default: 9]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) degrees_of_freedom: Option<String>,
    /// Denoise the noisy gradients: james-stein, wiener or weighted; it costs no privacy [default: not at all]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "RULE")]
    pub(crate) denoise: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Networks")]
pub(crate) struct Network {
    /// Number of epochs (expected passes over the data) [default: 20]
    ///
    /// mnist, fashion-mnist and cifar10 have recipes with defaults of their own: docs/training.md lists them.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) epochs: Option<String>,
    /// Expected batch size: rows (or users) per step [default: from the dataset size]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) batch_size: Option<String>,
    /// Double the expected batch size during the run until it is FACTOR times --batch-size; a power of two
    ///
    /// The run goes through stages: 4 has three, of --batch-size, twice and four times that. Every stage sees about the same number of
    /// rows (or users), so with --epochs each has an equal part of them. The noise of a step stays as it is, so its share of the mean
    /// gradient falls from stage to stage. The privacy cost is that of the stages' own sampling rates.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub(crate) batch_growth: Option<String>,
    /// Batches: poisson samples them, cyclic goes through the data in fixed batches without sampling [default: poisson]
    ///
    /// cyclic is for trainings that cannot sample anew in every step, because the same batches come round in every epoch. Each row (or
    /// user) is put into one batch at random, once. The noise of a step is correlated with that of
    /// earlier steps (banded matrix factorization, DP-FTRL), so that more of it cancels over the run. Where sampling is
    /// possible, stay with poisson: the accuracy is about the same, and such runs can be resumed and trained on a GPU.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "KIND")]
    pub(crate) batching: Option<String>,
    /// Bands of the correlated noise of --batching cyclic, at most the steps of an epoch; 1 is independent noise [default: the
    /// power of two up to 64 with the least noise in running sums of gradients]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) bands: Option<String>,
    /// Clipping norm C: the maximum L2 norm of one row's (or user's) gradient [default: 1]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) clip: Option<String>,
    /// Clipping mode: flat, per-layer, automatic, quantile or encoded [default: flat]
    ///
    /// flat clips the whole gradient to norm C, per-layer clips each layer, automatic rescales every gradient to norm C, quantile starts
    /// at C and follows a quantile of the gradients' norms, at a cost that is part of every step, encoded cuts the sorted magnitudes to a
    /// public profile of norm C.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "MODE")]
    pub(crate) clipping: Option<String>,
    /// Share of the gradients that --clipping quantile leaves unclipped [default: 0.5]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub(crate) clip_quantile: Option<String>,
    #[command(flatten)]
    pub(crate) encoding: EncodingFlags,
    /// Optimizer: sgd, adam or adamw [default: sgd]
    ///
    /// With privacy, adam, its other name adam-bc (DP-AdamBC) and adamw subtract the variance of the noise from the second moment;
    /// adam-uncorrected does not.
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
    /// Label smoothing: the share of every label that the loss spreads over all classes, below 1 [default: 0]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) label_smoothing: Option<String>,
    /// Copies of every image to train on: none, flip (mirrored) or shift (moved by a pixel) [default: by the dataset]
    ///
    /// The gradient of an image is the mean over its copies, taken before clipping; the unit is still the image.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "KIND")]
    pub(crate) augment: Option<String>,
    /// Adversarial regularization of this strength, such as 3, with --non-private: NO guarantee
    ///
    /// The network is trained against an inference network that tells members from reference records by its outputs.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "LAMBDA", allow_hyphen_values = true)]
    pub(crate) adversarial: Option<String>,
    /// Share of the records held out as reference records for --adversarial [default: 0.5]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) reference_share: Option<String>,
    /// Reference records for --adversarial from this file instead; they are not trained on
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "DATA")]
    pub(crate) reference_data: Option<PathBuf>,
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
    /// Freeze weights: a layer by name or by index from 0, a part such as 3.self_attn, or a prefix with *; may be repeated
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "NAME")]
    pub(crate) freeze: Vec<String>,
    #[command(flatten)]
    pub(crate) start: StartFlags,
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
    /// End after this many scores without a better one, on --validation or on --held-out; the epsilon is that of the whole plan
    ///
    /// --validation is PUBLIC and is scored after every epoch. Without it the rows of --held-out are scored with noise, after every epoch or
    /// 19 times in a longer run. All planned steps and scores are charged ahead, also if the run ends early.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) patience: Option<String>,
    /// Share of the rows (or users) held out of the training, on which a noisy accuracy is released, such as 0.1
    ///
    /// Rows are held out by a hash of their content under --split-key. The accuracy costs no extra epsilon under add-remove: no row is
    /// both trained and tested on.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) held_out: Option<String>,
    /// The column that holds the texts
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text_column: Option<String>,
    /// A PUBLIC vocabulary file, one token per line, not from the private texts [default: 10,000 common English words]
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
