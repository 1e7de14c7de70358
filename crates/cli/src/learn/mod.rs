//! `reticent train`, `predict` and `evaluate`: linear models from tables.
//!
//! | file | step |
//! |---|---|
//! | `plan` | arguments to a checked [`plan::Plan`]; opens files, reads no rows |
//! | `task` | what the label makes of the problem: two classes, several, a number |
//! | `fit` | rows to a model with its certificate |
//! | `held_out` | the accuracy on held-out rows, released with noise |
//! | `folder` | a model on disk with its schema |
//! | `predict`, `evaluate` | a stored model on another table |
//! | `render` | text and JSON of a training run |

mod evaluate;
mod fit;
mod folder;
mod held_out;
mod plan;
mod predict;
mod render;
mod task;

pub(crate) use evaluate::evaluate;
pub(crate) use predict::predict;

use crate::Output;
use crate::args::learn::Train;
use crate::fail::Fail;
use reticent::noise::Entropy;

/// Trains a model.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    let plan = plan::plan(arguments)?;
    let trained = fit::fit(&plan, &mut Entropy::new()?, progress)?;
    if let Some(folder) = &plan.out {
        folder::save(folder, &trained, plan.encoder.schema())?;
    }
    render::trained(&plan, &trained)
}
