//! `reticent train`, `predict`, `evaluate` and `sample` as clap reads them.

use super::reading::ReadingFlags;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// The training data [default: the bundled census records]
    ///
    /// A table (CSV, Parquet or Arrow, a folder of Parquet files, or - for standard input), a folder of images, a run.toml, or the
    /// name of a dataset in --data-dir.
    pub(crate) file: Option<PathBuf>,
    /// A folder of datasets [default: $RETICENT_DATA]
    ///
    /// Each dataset is a folder with NAME_train.parquet and NAME_test.parquet, or with images.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The public schema of the table: bounds, categories, label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    /// The model: logistic, svm or ridge; or a network, such as mlp or a model.toml
    ///
    /// Linear: logistic, svm or ridge [default: logistic, or ridge if the label is a number]. Networks: mlp, cnn-mnist,
    /// cnn-mnist-tanh, cnn-cifar, scatter-linear, scatter-cnn, bag-of-embeddings, transformer-text, lstm-text, lstm-lm,
    /// transformer-lm, or a model.toml.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Privacy budget epsilon, above 0; smaller is more private (0.1 to 3 is usual)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Delta, well below 1 / number of records, e.g. 1e-6; networks need one
    ///
    /// A linear model without a delta has a pure epsilon guarantee.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// How a linear model is fitted: auto, output, objective, gradient, sgd, or exact (not private)
    ///
    /// The published algorithms are chaudhuri-2011, kifer-2012 and iyengar-2019.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// Neighboring relation: add-remove or replace-one [default: add-remove]
    ///
    /// add-remove hides whether a record is in the data, replace-one hides what a record contains.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "RELATION")]
    pub(crate) neighboring: Option<String>,
    /// Public approximate number of training rows; without it, part of epsilon pays for a noisy count
    #[arg(long = "dataset-size", alias = "size", value_name = "N", allow_hyphen_values = true)]
    pub(crate) size: Option<String>,
    /// L2 regularization strength of a linear model [default: from public numbers]
    ///
    /// The coefficient of |w|^2 / 2 in the objective, next to the mean loss.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) regularization: Option<String>,
    /// Fit a linear model without an intercept
    #[arg(hide_short_help = true)]
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Number of steps of gradient, sgd or a network [default: from public numbers, or --epochs]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) steps: Option<String>,
    /// Learning rate of gradient, sgd or a network [default: from public numbers; networks: 0.1, or 0.001 for adam]
    #[arg(long, visible_alias = "lr", value_name = "X", allow_hyphen_values = true)]
    pub(crate) learning_rate: Option<String>,
    /// Sampling rate of sgd: the expected fraction of rows in each step
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub(crate) sampling_rate: Option<String>,
    /// Fraction of rows held out for testing [default: 0.2, or 0 with --test or under replace-one]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) test_share: Option<String>,
    /// Key of the hash that splits rows into training and held-out rows
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) split_key: String,
    /// A labelled test table; its rows are NOT protected
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE", conflicts_with = "test_share")]
    pub(crate) test: Option<PathBuf>,
    /// Folder of the model or run; it must be new
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) budget: super::budget::BudgetFlags,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
    #[command(flatten)]
    pub(crate) network: super::network::Network,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Folder of a model written by 'reticent train --out'
    pub(crate) model: PathBuf,
    /// A table, a folder of images or an idx file of images; labels are not needed
    pub(crate) file: PathBuf,
    /// Which split of a dataset to use: train or test [default: test, if there is one]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
    /// Write the predictions to this CSV file [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Folder of a model written by 'reticent train --out'
    pub(crate) model: PathBuf,
    /// A labelled table or folder of images; its rows are NOT protected
    pub(crate) file: PathBuf,
    /// Which split of a dataset to use: train or test [default: test, if there is one]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Sample {
    /// Folder of a language model written by 'reticent train --out'
    pub(crate) model: PathBuf,
    /// How every text begins
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Maximum number of tokens after the prompt [default: 200]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) tokens: Option<String>,
    /// What scores are divided by: below 1 for likelier texts, 0 for the likeliest token every time [default: 1]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) temperature: Option<String>,
    /// Draw from the K likeliest tokens only [default: all]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) top_k: Option<String>,
    /// Number of texts [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) count: Option<String>,
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
