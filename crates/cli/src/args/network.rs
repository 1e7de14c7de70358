//! The flags of `reticent train` that go with networks only.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Networks")]
pub(crate) struct Network {
    /// Passes over the data, on average [default: 20]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) epochs: Option<String>,
    /// Expected number of rows (or users) in a step [default: from the size]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) batch_size: Option<String>,
    /// C: the most that the gradient of one row (or user) may weigh [default: 1]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) clip: Option<String>,
    /// Rule of clipping: flat (the whole gradient), per-layer, or automatic (every gradient brought to length C) [default: flat]
    #[arg(long, value_name = "RULE")]
    pub(crate) clipping: Option<String>,
    /// Rule of descent: sgd, adam or adamw [default: sgd]
    #[arg(long, value_name = "RULE")]
    pub(crate) optimizer: Option<String>,
    /// Share of the last move that sgd keeps, from 0 to below 1 [default: 0.9]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) momentum: Option<String>,
    /// What pulls weights to 0 [default: 0, or 0.01 for adamw]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) weight_decay: Option<String>,
    /// How the learning rate goes on: constant, linear, cosine or exponential [default: constant]
    #[arg(long, value_name = "NAME")]
    pub(crate) schedule: Option<String>,
    /// Steps on which the learning rate rises to its full size [default: 0]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) warmup: Option<String>,
    /// Use the moving average of the weights with this decay, such as 0.99
    #[arg(long, value_name = "DECAY", allow_hyphen_values = true)]
    pub(crate) average: Option<String>,
    /// A layer whose weights stay as they are: its name, or its place from 0; may be given several times
    #[arg(long, value_name = "LAYER")]
    pub(crate) freeze: Vec<String>,
    /// Noise of a step: sigma / clipping norm, above 0; instead of --epsilon, and what it costs is printed
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) noise_multiplier: Option<String>,
    /// Train without any protection, for comparison
    #[arg(long)]
    pub(crate) non_private: bool,
    /// PUBLIC labelled data to watch the training with (a table, or an image folder): NOT protected
    #[arg(long, value_name = "DATA")]
    pub(crate) validation: Option<PathBuf>,
    /// The column with texts
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text_column: Option<String>,
    /// A PUBLIC file with one token per line; it must not be made from the private texts
    #[arg(long, value_name = "FILE")]
    pub(crate) vocabulary: Option<PathBuf>,
    /// Tokens per text: longer ones are cut, shorter ones padded [default: 64]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) length: Option<String>,
    /// The column that a model will predict; for texts without a schema
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// The public names of the classes, comma-separated; for images also their number [default: 10, for images]
    #[arg(long, value_name = "A,B,…")]
    pub(crate) classes: Option<String>,
    /// Pixels enter as (pixel / 255 - shift) / scale: a public number, or one per channel [default: 0.5]
    #[arg(long, value_name = "X[,X,X]", allow_hyphen_values = true)]
    pub(crate) shift: Option<String>,
    /// Pixels enter as (pixel / 255 - shift) / scale: a public number, or one per channel [default: 0.5]
    #[arg(long, value_name = "X[,X,X]", allow_hyphen_values = true)]
    pub(crate) scale: Option<String>,
    /// The most rows of a user in one step, drawn at random; where the schema's unit is a column
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) examples_per_user: Option<String>,
    /// How often the run is stored: a number of steps, or as in 2epochs [default: every epoch, or rarer if there are
    /// very many]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) checkpoint_every: Option<String>,
    /// Threads to use [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Go on with the run in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// End the run in this folder as it was last stored, and make its model usable; see --stopped-by
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) finish: Option<PathBuf>,
    /// Why the run stopped: time-limit (set before it began) or crash, if that did not depend on what the run showed, so
    /// only the steps taken count (all of them where a noisy count or a learnt schema decided the plan); choice counts all steps
    /// of the plan [default: choice]
    #[arg(long, value_name = "CAUSE", requires = "finish")]
    pub(crate) stopped_by: Option<String>,
}
