//! The GPU, as the driver's own command tells it.

use std::process::Command;

/// The first GPU.
pub(crate) struct Card {
    /// Its name.
    pub(crate) name: String,
    /// Memory in use on it by all processes, in MB of 2²⁰ bytes.
    pub(crate) used_mb: f64,
}

impl Card {
    /// None where there is no such command, or it tells something else.
    pub(crate) fn read() -> Option<Self> {
        let asked = ["--id=0", "--query-gpu=name,memory.used", "--format=csv,noheader,nounits"];
        let output = Command::new("nvidia-smi").args(asked).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let (name, used) = text.trim().rsplit_once(", ")?;
        Some(Self { name: name.to_owned(), used_mb: used.parse().ok()? })
    }
}
