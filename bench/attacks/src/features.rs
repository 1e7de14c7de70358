//! How long the white-box signals of an example take: its loss, the norm of its gradient layer by layer, and that of the gradient
//! of its input.

use crate::network::Network;
use anyhow::{Context, Result};
use reticent_train::inspect::{Inspection, Inspector};
use reticent_train::{Device, Resources, engine};
use serde_json::{Value, json};
use std::time::Instant;

pub(crate) fn measure(network: Network, seconds: f64, threads: usize) -> Result<Value> {
    let (description, examples) = (network.description()?, network.examples()?);
    let resources = Resources { threads, ..Resources::default() };
    let weights = engine(&description, Device::Cpu, resources)?.initial_weights()?;
    let mut inspector = Inspector::new(&description, resources)?;
    network.check(inspector.layout())?;
    let inspection = Inspection {
        losses: true,
        layer_norms: true,
        input_gradients: !matches!(network, Network::Transformer | Network::Lstm),
        ..Inspection::default()
    };
    let all: Vec<usize> = (0..examples.len()).collect();
    let mut times = Vec::new();
    let begun = Instant::now();
    // The first pass makes the buffers.
    inspector.inspect(&weights, &examples, &all, &inspection)?;
    while begun.elapsed().as_secs_f64() < seconds || times.len() < 5 {
        let started = Instant::now();
        let seen = inspector.inspect(&weights, &examples, &all, &inspection)?;
        times.push(started.elapsed().as_secs_f64() / examples.len() as f64);
        let norms = seen.layer_norms.context("no norms")?;
        anyhow::ensure!(norms.iter().all(|norm| norm.is_finite()), "a norm is not finite");
    }
    times.sort_by(f64::total_cmp);
    Ok(
        json!({"network": network.word(), "mode": "ours", "threads": threads, "passes": times.len(), "example_s": times[times.len() / 2]}),
    )
}
