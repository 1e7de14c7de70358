//! `reticent audit`: what a model leaks about who was in its training data.
//!
//! | file | step |
//! |---|---|
//! | `request` | flags to requests |
//! | `render` | outcomes to text and JSON |

mod render;
pub(crate) mod request;

pub(crate) use render::{interrupted, shown};

use crate::Output;
use crate::args::audit::Audit;
use crate::fail::Fail;
use crate::learn::asked;
use reticent::curator::audit as curator;
use std::path::Path;

/// Audits a model of ours, or anybody's scores.
pub(crate) fn audit(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    answer(&request::audit(arguments)?, arguments.statement.plot.as_deref(), arguments.json, progress)
}

/// Runs an audit and prints what it found.
pub(crate) fn answer(
    request: &curator::Audit,
    plot: Option<&Path>,
    json: bool,
    progress: bool,
) -> Result<Output, Fail> {
    shown(&asked(request, progress && !json)?, plot, json)
}
