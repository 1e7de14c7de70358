//! Described networks on a GPU.
//!
//! A machine runs kernels and products over its own memory, in the order in which they are launched: weights, sums, optimizer,
//! average, examples and noise stay there. One backward pass yields the gradient at every layer's output. Gradients of single units are
//! written out, except those of linear layers with one place, whose norm is a product, and of tables, which are rows.
//!
//! | file | contents |
//! |---|---|
//! | `machine` | what runs kernels: memory, launches, products |
//! | `driver` | an NVIDIA GPU, by libraries that are loaded when asked for |
//! | `pinned` | memory of the CPU that it copies from and to |
//! | `library` | where those libraries are found |
//! | `image` | the kernels, compiled for a GPU |
//! | `kernels` | names and sources |
//! | `run` | buffers, and the one place that calls a machine |
//! | `op` | layers: forward, backward, gradients of units |
//! | `chunk` | the buffers of some rows, and the passes over them |
//! | `data` | examples on a machine |
//! | `noise` | noise that a machine draws and adds |
//! | `guest` | clipping and noise for sums of another framework |
//! | `engine` | the engine |

mod chunk;
mod data;
mod driver;
mod engine;
mod guest;
mod image;
pub mod kernels;
mod library;
pub mod machine;
mod noise;
mod op;
mod pinned;
mod run;

use crate::graph::Graph;
use crate::{Description, Engine, Resources, TrainError};
use engine::MachineEngine;
pub use guest::{GuestJob, GuestJobs, GuestSums};
use machine::Machine;

/// An engine for a described network on a machine.
///
/// # Errors
/// [`TrainError::Layer`] when layers do not fit together; [`TrainError::Invalid`] for resources without meaning;
/// [`TrainError::Device`] and [`TrainError::Memory`] when the machine fails.
pub fn engine_on(
    machine: Box<dyn Machine>,
    description: &Description,
    resources: Resources,
) -> Result<Box<dyn Engine>, TrainError> {
    resources.check()?;
    Ok(Box::new(MachineEngine::new(machine, Graph::new(description)?, resources)?))
}

/// An engine on the first GPU of this computer.
///
/// # Errors
/// As [`engine_on`]; [`TrainError::Device`] when there is no GPU, or no library for it.
pub(crate) fn engine(description: &Description, resources: Resources) -> Result<Box<dyn Engine>, TrainError> {
    resources.check()?;
    engine_on(driver::Gpu::open()?, description, resources)
}
