//! `reticent train`, `predict` and `evaluate`: linear models from tables.
//!
//! | file | step |
//! |---|---|
//! | `plan` | arguments to a checked [`plan::Plan`]; opens files, reads no rows |
//! | `task` | what the label makes of the problem: two classes, several, a number |
//! | `bill` | what was paid before the fit: counting the rows |
//! | `fit` | rows to a model with its certificate |
//! | `held_out` | the accuracy on held-out rows, released with noise |
//! | `folder`, `replay` | a model on disk with its schema and the flags that made it |
//! | `predict`, `evaluate` | a stored model on another table |
//! | `target` | a stored model, its training rows and others, for an audit |
//! | `render` | text and JSON of a training run |

mod bill;
mod evaluate;
mod fit;
mod folder;
mod held_out;
mod plan;
mod predict;
mod render;
mod replay;
mod target;
mod task;

pub(crate) use bill::{Bill, DECIDED, count_rows};
pub(crate) use evaluate::{class_lines, evaluated, value_lines};
pub(crate) use fit::public_warnings;
pub(crate) use plan::{no_schema, spent, tables};
pub(crate) use predict::{Said, written};
pub(crate) use target::target;
pub(crate) use task::Task;

use crate::Output;
use crate::args::learn::{Evaluate, Predict, Train};
use crate::fail::Fail;
use crate::network;
use reticent::data::check_regular;
use reticent::noise::Entropy;

/// Trains a model.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    if network::is_asked(arguments)? {
        return network::train(arguments, progress);
    }
    network::refuse_flags(arguments)?;
    let plan = plan::plan(arguments)?;
    let trained = fit::fit(&plan, &mut Entropy::new()?, progress)?;
    if let Some(folder) = &plan.out {
        folder::save(folder, &trained, plan.encoder.schema(), arguments)?;
    }
    render::trained(&plan, &trained)
}

/// What a stored model says about rows without labels.
pub(crate) fn predict(arguments: &Predict, progress: bool) -> Result<Output, Fail> {
    if let Some(path) = &arguments.out {
        check_regular(path).map_err(Fail::data("--out"))?;
    }
    match network::is_network(&arguments.model) {
        true => network::predict(arguments, progress),
        false => predict::predict(arguments, progress),
    }
}

/// How well a stored model does on labelled rows.
pub(crate) fn evaluate(arguments: &Evaluate, progress: bool) -> Result<Output, Fail> {
    match network::is_network(&arguments.model) {
        true => network::evaluate(arguments, progress),
        false => evaluate::evaluate(arguments, progress),
    }
}
