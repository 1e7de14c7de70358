//! `reticent train`, `predict` and `evaluate` as clap reads them.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// A table (.csv with a header line, or .parquet), a folder of images, a run.toml, or the name of a dataset in
    /// --data-dir; without one, the bundled census records
    pub(crate) file: Option<PathBuf>,
    /// A folder of datasets, each a folder with NAME_train.parquet and NAME_test.parquet, or with images [default:
    /// $RETICENT_DATA]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// What is publicly known of the table: bounds, categories, the label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    /// Linear: logistic, svm or ridge [default: logistic, or ridge where the label is a number]. Networks: mlp,
    /// cnn-mnist, cnn-mnist-tanh, cnn-cifar, transformer-text, lstm-text, or a model.toml
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Privacy to spend, above 0; smaller protects more (0.1 to 3 is usual)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// The delta of the claim: far below 1 / number of records, e.g. 1e-6; without it the guarantee is pure; networks need
    /// one
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Method of a linear model: auto, output, objective, gradient, sgd, chaudhuri-2011, kifer-2012, iyengar-2019, or exact (not private)
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// What is hidden: add-remove (that a record is there at all) or replace-one (what it holds) [default:
    /// add-remove]
    #[arg(long, value_name = "RELATION")]
    pub(crate) neighboring: Option<String>,
    /// A public number near the number of training rows; without it, part of epsilon goes into counting them
    #[arg(long = "dataset-size", alias = "size", value_name = "N", allow_hyphen_values = true)]
    pub(crate) size: Option<String>,
    /// The weight of |w|^2 / 2 beside the mean loss [default: from public numbers]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) regularization: Option<String>,
    /// Fit no intercept
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Steps of gradient, sgd or a network [default: from public numbers, or --epochs]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) steps: Option<String>,
    /// Learning rate of gradient, sgd or a network [default: from public numbers; networks: 0.1, or 0.001 for adam]
    #[arg(long, visible_alias = "lr", value_name = "X", allow_hyphen_values = true)]
    pub(crate) learning_rate: Option<String>,
    /// Share of the rows in each step of sgd
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub(crate) sampling_rate: Option<String>,
    /// Share of the rows to hold out for testing [default: 0.2, or 0 with --test or under replace-one]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) test_share: Option<String>,
    /// The key of the hash that tells training rows from held-out ones
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) split_key: String,
    /// Another labelled table to test on; its rows are NOT protected
    #[arg(long, value_name = "FILE", conflicts_with = "test_share")]
    pub(crate) test: Option<PathBuf>,
    /// The folder to save the model to; for networks the run's folder, which must be new
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) network: super::network::Network,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// The folder of a model that 'reticent train --out' wrote
    pub(crate) model: PathBuf,
    /// The table, the folder of images or the idx file of images; labels are not needed
    pub(crate) file: PathBuf,
    /// The part of a set of images or of a dataset: train or test [default: test, where there is one]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// Where to write the predictions, as CSV [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The folder of a model that 'reticent train --out' wrote
    pub(crate) model: PathBuf,
    /// The labelled table or folder of images; what is in it is NOT protected
    pub(crate) file: PathBuf,
    /// The part of a set of images or of a dataset: train or test [default: test, where there is one]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
