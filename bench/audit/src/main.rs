//! A whole audit of networks on Location-30, the story of one model with and without privacy, and the speed of RMIA's
//! scores, each as one line of JSON.
//!
//! ```text
//! bench-audit audit FOLDER [--models 34] [--epochs 100] [--threads 2]
//! bench-audit overfitting FOLDER
//! bench-audit story FOLDER [--references 32]
//! bench-audit rmia
//! ```

mod audit;
mod data;
mod models;
mod rmia;
mod story;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Measures audits.
#[derive(Parser)]
struct Asked {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Trains networks on halves of the records and attacks ten of them.
    Audit {
        /// Holds `location30.parquet`.
        folder: PathBuf,
        #[arg(long, default_value_t = 34)]
        models: usize,
        #[arg(long, default_value_t = 100)]
        epochs: usize,
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
    /// The gap between training and test accuracy beside the simplest attack, from one pass over the data to many.
    Overfitting {
        /// Holds `location30.parquet`.
        folder: PathBuf,
    },
    /// One model without privacy, and with DP-SGD at two budgets.
    Story {
        /// Holds `location30.parquet`.
        folder: PathBuf,
        #[arg(long, default_value_t = 32)]
        references: usize,
    },
    /// RMIA's scores of 10 000 records against a population of 10 000.
    Rmia,
}

fn main() -> Result<()> {
    let found = match Asked::parse().what {
        What::Audit { folder, models, epochs, threads } => audit::measure(&folder, models, epochs, threads)?,
        What::Overfitting { folder } => audit::overfitted(&folder)?,
        What::Story { folder, references } => story::tell(&folder, references)?,
        What::Rmia => rmia::measure(),
    };
    println!("{found}");
    Ok(())
}
