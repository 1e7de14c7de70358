//! `reticent audit`: membership inference attacks and lower bounds on ε.
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
use crate::learn;
use reticent::curator::audit as curator;
use std::path::Path;

/// Audits a model of this tool, or a table of scores.
pub(crate) fn audit(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    answer(&request::audit(arguments)?, arguments.statement.plot.as_deref(), arguments.json, progress)
}

/// Runs an audit; its findings as text or JSON.
pub(crate) fn answer(
    request: &curator::Audit,
    plot: Option<&Path>,
    json: bool,
    progress: bool,
) -> Result<Output, Fail> {
    shown(&learn::run(request, progress && !json)?, plot, json)
}
