//! `reticent tune` as clap reads it.

use super::learn::Train;
use clap::{Arg, Args};

/// Flags of `train` that a search has no use for.
const UNUSED: &[&str] = &[
    "method",
    "regularization",
    "no_intercept",
    "sampling_rate",
    "test_share",
    "test",
    "adversarial",
    "reference_share",
    "reference_data",
    "noise_multiplier",
    "non_private",
    "federated",
    "checkpoint_every",
    "patience",
    "batching",
    "bands",
    "batch_growth",
    "noise",
    "degrees_of_freedom",
    "init",
    "init_public",
    "init_map",
    "init_partial",
    "vectors",
    "pretrain",
    "pretrain_epochs",
    "resume",
    "finish",
    "stopped_by",
];

/// Flags that the short help of `train` shows and that of a search leaves out.
const LONG: &[&str] = &["optimizer", "dataset_size", "size", "json", "device"];

/// Leaves flags of `train` out of the help of a search.
pub(super) fn fitted(argument: Arg) -> Arg {
    let name = argument.get_id().as_str().to_owned();
    if UNUSED.contains(&name.as_str()) {
        return argument.hide(true);
    }
    match LONG.contains(&name.as_str()) {
        true => argument.hide_short_help(true),
        false => argument,
    }
}

#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// The settings to search, e.g. "lr=0.5..8 log, clip=0.1|0.5|1"
    ///
    /// Numbers from A..B (uniform in the logarithm with log), or one of A|B|C: lr, clip, clipping, momentum, weight-decay,
    /// label-smoothing, optimizer, schedule, warmup, average, model; and as lists epochs (or steps) and batch-size, each value with noise of
    /// its own.
    #[arg(long, value_name = "SETTINGS")]
    pub(crate) search: Option<String>,
    /// Mean number of trials; the number itself is drawn at random and stays hidden [default: 10]
    #[arg(long, value_name = "MEAN", allow_hyphen_values = true)]
    pub(crate) trials: Option<String>,
    /// Distribution of the number of trials: geometric or logarithmic [default: geometric]
    ///
    /// At the same mean, logarithmic costs less epsilon and has one trial more often.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "NAME")]
    pub(crate) trials_distribution: Option<String>,
    /// What trials are scored on: held-out rows, with noise as part of the cost, or public validation data [default: held-out]
    ///
    /// held-out scores on --held-out of the rows [default: 0.1], validation on --validation (or the test split of a dataset), exactly.
    #[arg(long, value_name = "DATA")]
    pub(crate) select_on: Option<String>,
    #[command(flatten)]
    pub(crate) train: Train,
}
