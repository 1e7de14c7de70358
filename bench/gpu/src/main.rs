//! Times the start and the training steps of one network on a GPU, private or plain, and prints one line of JSON.
//!
//! ```text
//! reticent-bench-gpu MODEL private|plain [--batch 1024] [--blocks 7] [--seconds 0.15] [--chunk N] [--device cuda]
//! ```
//!
//! The start is everything from asking for the device to the weights after the first step. Steps are then issued back to
//! back in blocks that last at least the seconds; a block ends when the weights have been read. No blocks: the start
//! alone. `RETICENT_CACHE` names the folder of compiled kernels.

mod card;
#[path = "../../dpsgd/src/network.rs"]
mod network;
mod step;

use anyhow::{Result, ensure};
use card::Card;
use clap::{Parser, ValueEnum};
use network::Network;
use reticent_train::{Device, Resources};
use serde_json::json;
use step::{Prepared, Steps};

/// A block has at most so many steps.
const MOST_STEPS: u64 = 1 << 14;

/// Times the start and the training steps of one network on a GPU.
#[derive(Parser)]
struct Asked {
    /// Which network.
    model: Network,
    /// With a guarantee or without.
    mode: Mode,
    /// Examples in a step.
    #[arg(long, default_value_t = 1024)]
    batch: usize,
    /// Blocks to measure; 0 for the start alone.
    #[arg(long, default_value_t = 7)]
    blocks: usize,
    /// How long a block lasts, at least.
    #[arg(long, default_value_t = 0.15)]
    seconds: f64,
    /// Examples in a chunk; chosen by memory if absent.
    #[arg(long)]
    chunk: Option<usize>,
    /// Where to compute; `cpu` is for trials without a GPU.
    #[arg(long, value_enum, default_value_t = Place::Cuda)]
    device: Place,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    /// Clipping, noise and accounting.
    Private,
    /// The same network without them.
    Plain,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Place {
    /// The first GPU.
    Cuda,
    /// This machine's processors.
    Cpu,
}

fn main() -> Result<()> {
    let asked = Asked::parse();
    ensure!((1..=1 << 20).contains(&asked.batch), "--batch {}: give 1 to 1048576", asked.batch);
    ensure!(asked.blocks <= 1000, "--blocks {}: give 0 to 1000", asked.blocks);
    ensure!((0.0..=60.0).contains(&asked.seconds), "--seconds {}: give 0 to 60", asked.seconds);
    let is_private = asked.mode == Mode::Private;
    let device = match asked.device {
        Place::Cuda => Device::Cuda,
        Place::Cpu => Device::Cpu,
    };
    let resources = Resources { chunk: asked.chunk, ..Resources::default() };
    let (mut steps, start) = Prepared::new(asked.model, is_private, asked.batch)?.begin(device, resources)?;
    let mut times = Vec::new();
    let mut size = 0;
    if asked.blocks > 0 {
        size = block_size(&mut steps, asked.seconds)?;
        for _ in 0..asked.blocks {
            times.push(steps.block(size)?.as_secs_f64() / size as f64);
        }
    }
    let card = (asked.device == Place::Cuda).then(Card::read).flatten();
    let in_order = sorted(&times);
    let median = (!in_order.is_empty())
        .then(|| (in_order[(in_order.len() - 1) / 2] + in_order[in_order.len() / 2]) / 2.0);
    let line = json!({
        "model": asked.model.word(),
        "mode": if is_private { "private" } else { "plain" },
        "batch": asked.batch,
        "parameters": asked.model.parameters(),
        "engine_s": start.engine.as_secs_f64(),
        "start_s": start.whole.as_secs_f64(),
        "steps_in_block": size,
        "block_step_s": times,
        "step_s": median,
        "best_step_s": in_order.first(),
        "gpu": card.as_ref().map(|card| &card.name),
        "card_mb": card.as_ref().map(|card| card.used_mb),
    });
    println!("{line}");
    Ok(())
}

/// How many steps take the seconds at least, found by doubling; this warms up as well.
fn block_size(steps: &mut Steps, seconds: f64) -> Result<u64> {
    let mut size = 1;
    while steps.block(size)?.as_secs_f64() < seconds && size < MOST_STEPS {
        size *= 2;
    }
    Ok(size)
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut times = times.to_vec();
    times.sort_unstable_by(f64::total_cmp);
    times
}
