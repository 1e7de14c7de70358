//! Language models of speeches, author by author: one file of JSON.
//!
//! ```text
//! bench-text authors FOLDER --device cuda --targets 5 --models 16 --out FILE.json [--key judged] [--recipes …] [--quick]
//! ```
//!
//! `authors` trains models on halves of the speakers and asks of some of them who was in, by the samples they were trained on and by
//! fresh ones; and it plants secrets of four digits, as often as 1, 4 and 16 times, and ranks them among all 10 000.

mod authors;
mod corpus;
mod recipe;
mod secrets;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use recipe::RecipeName;
use reticent_train::Device;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Measures what language models give away of authors.
#[derive(Parser)]
struct Asked {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Who was in, and how exposed planted secrets are.
    Authors(AuthorsAsked),
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

#[derive(Args)]
pub(crate) struct AuthorsAsked {
    /// Holds `speeches.parquet`, or a folder `shakespeare` with it.
    folder: PathBuf,
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    device: Place,
    /// How many of the models are attacked: one of each pair of complementary halves.
    #[arg(long, default_value_t = 5)]
    targets: usize,
    /// Models, each trained on half of the speakers.
    #[arg(long, default_value_t = 16)]
    models: usize,
    /// Trainings with secrets, each with fresh ones.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Models at a time.
    #[arg(long, default_value_t = 4)]
    threads: usize,
    /// Which recipes, comma-separated; all if absent.
    #[arg(long, value_delimiter = ',')]
    recipes: Vec<RecipeName>,
    /// Everything random that is not private noise follows from it. Settings are tuned with another key than they are judged by.
    #[arg(long, default_value = "judged")]
    key: String,
    /// How many settings were tried with another key before these were fixed: written down, and nothing else.
    #[arg(long, default_value_t = recipe::TRIES)]
    tries: u64,
    /// Small: few samples and steps, to see that it runs.
    #[arg(long)]
    quick: bool,
    /// The file of the results.
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<()> {
    let What::Authors(asked) = Asked::parse().what;
    let begun = Instant::now();
    let corpus = corpus::Corpus::read(&asked.folder, asked.quick)?;
    let recipes = match &asked.recipes[..] {
        [] => RecipeName::value_variants().to_vec(),
        some => some.to_vec(),
    };
    let (mut membership, mut exposed) = (Vec::new(), Vec::new());
    for recipe in recipes {
        if asked.targets > 0 {
            membership.push(authors::measure(&asked, &corpus, recipe)?);
        }
        if asked.runs > 0 && recipe.has_secrets() {
            exposed.push(secrets::measure(&asked, &corpus, recipe)?);
        }
    }
    let found = json!({
        "bench": "text authors",
        "version": env!("CARGO_PKG_VERSION"),
        "data": corpus.described(),
        "device": if asked.device == Place::Cuda { "cuda" } else { "cpu" },
        "key": asked.key, "tries": asked.tries, "quick": asked.quick,
        "membership": membership, "exposure": exposed,
        "seconds": begun.elapsed().as_secs_f64(),
    });
    std::fs::write(&asked.out, serde_json::to_string_pretty(&found)? + "\n")
        .with_context(|| format!("{} cannot be written", asked.out.display()))?;
    println!("{}: {:.0} s", asked.out.display(), begun.elapsed().as_secs_f64());
    Ok(())
}
