//! Times the training step of one network, private or plain, and prints one line of JSON.
//!
//! ```text
//! bench-dpsgd MODEL private|plain [--threads 2] [--seconds 2.5] [--least-steps 8]
//! ```
//!
//! Three steps to warm up, then at least the seconds and the least steps. The batch is fixed and synthetic, the same size
//! in every step.

mod network;
mod step;
mod usage;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};
use network::Network;
use serde_json::json;
use std::time::{Duration, Instant};
use step::Steps;
use usage::{Window, memory_mb};

const WARM_UP: usize = 3;

/// Times the training step of one network.
#[derive(Parser)]
struct Asked {
    /// Which network.
    model: Network,
    /// With a guarantee or without.
    mode: Mode,
    /// Threads for the arithmetic.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Time to measure, at least.
    #[arg(long, default_value_t = 2.5)]
    seconds: f64,
    /// Steps to measure, at least.
    #[arg(long, default_value_t = 8)]
    least_steps: usize,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    /// Clipping, noise and accounting.
    Private,
    /// The same network without them.
    Plain,
}

fn main() -> Result<()> {
    let asked = Asked::parse();
    ensure!((0.0..=3600.0).contains(&asked.seconds), "--seconds {}: give 0 to 3600", asked.seconds);
    ensure!(
        (1..=1 << 20).contains(&asked.least_steps),
        "--least-steps {}: give at least 1",
        asked.least_steps
    );
    rayon::ThreadPoolBuilder::new().num_threads(asked.threads).build_global()?;
    let mut steps = Steps::new(asked.model, asked.mode == Mode::Private, asked.threads)?;
    let base = memory_mb("VmRSS")?;
    for _ in 0..WARM_UP {
        steps.step()?;
    }
    let (window, begun) = (Window::open()?, Instant::now());
    let mut times: Vec<Duration> = Vec::new();
    while begun.elapsed().as_secs_f64() < asked.seconds || times.len() < asked.least_steps {
        let start = Instant::now();
        steps.step()?;
        times.push(start.elapsed());
    }
    let (others, own) = window.close()?;
    times.sort_unstable();
    let median = (times[(times.len() - 1) / 2] + times[times.len() / 2]).as_secs_f64() / 2.0;
    let batch = asked.model.batch();
    let line = json!({
        "model": asked.model.word(),
        "mode": if asked.mode == Mode::Private { "private" } else { "plain" },
        "batch": batch,
        "parameters": asked.model.parameters(),
        "threads": asked.threads,
        "steps": times.len(),
        "step_s": median,
        "best_step_s": times[0].as_secs_f64(),
        "cpu_s_per_step": own / times.len() as f64,
        "examples_per_s": batch as f64 / median,
        "peak_mb": memory_mb("VmHWM")?,
        "base_mb": base,
        "other_cpu": others,
    });
    println!("{line}");
    Ok(())
}
