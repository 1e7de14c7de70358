//! Attacks beside each other, each as one line of JSON.
//!
//! ```text
//! bench-attacks table RECIPE FOLDER --store DIR [--models 12] [--targets 6] [--records N] [--device cpu] [--key K]
//! bench-attacks features NETWORK [--seconds 2] [--threads 2]
//! bench-attacks federated FOLDER [--runs 5] [--threads 2] [--key K]
//! ```
//!
//! `table` trains models on halves of the records and attacks some of them: by their outputs, by what inner layers compute,
//! and by gradients. `features` times the white-box signals of every example.

mod features;
mod federated;
#[path = "../../audit/src/data.rs"]
mod location;
#[path = "../../dpsgd/src/network.rs"]
mod network;
mod recipe;
mod table;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use network::Network;
use reticent_train::Device;

/// Measures attacks.
#[derive(Parser)]
struct Asked {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Attacks on several targets of one recipe, by what the attacker sees.
    Table(table::Asked),
    /// What observers of a federation find, by the rounds that they see, and what interference adds.
    Federated(federated::Asked),
    /// The time for the white-box signals of an example.
    Features {
        /// Which network.
        network: Network,
        /// How long to measure, at least.
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
}

/// Where models are trained.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Place {
    /// This machine's processors.
    Cpu,
    /// The first GPU.
    Cuda,
}

impl From<Place> for Device {
    fn from(place: Place) -> Self {
        match place {
            Place::Cpu => Self::Cpu,
            Place::Cuda => Self::Cuda,
        }
    }
}

fn main() -> Result<()> {
    let found = match Asked::parse().what {
        What::Table(asked) => table::measure(&asked)?,
        What::Federated(asked) => federated::measure(&asked)?,
        What::Features { network, seconds, threads } => features::measure(network, seconds, threads)?,
    };
    println!("{found}");
    Ok(())
}
