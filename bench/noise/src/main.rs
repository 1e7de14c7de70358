//! Times the samplers and mechanisms of `reticent-noise`.
//!
//! Prints one JSON object per measurement. Arguments are beginnings of case names; without any, every
//! case runs. `run.py` runs this beside the peers and writes the results down.

mod cases;
mod clock;
mod measure;

use anyhow::Result;

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    cases::run(&|name: &str| wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start.as_str())))
}
