//! `reticent audit`: what a model leaks about who was in its training data.
//!
//! | file | step |
//! |---|---|
//! | `settings` | flags to checked settings |
//! | `table` | a score table to a study |
//! | `folder` | audit.json and scores.csv |
//! | `render` | text and JSON |

mod folder;
mod render;
mod settings;
mod table;

pub(crate) use folder::{AUDIT_FILE, read_findings, write};
pub(crate) use render::{Shown, answer};
pub(crate) use settings::{Asked, count, share};
pub(crate) use table::study;

use crate::Output;
use crate::args::audit::Audit;
use crate::attack;
use crate::bar::Stage;
use crate::fail::Fail;
use reticent::audit::examine;

/// Audits a model of ours, or anybody's scores.
pub(crate) fn audit(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    let Some(run) = &arguments.run else { return audit_table(arguments, progress) };
    attack::audit_run(run, arguments, progress)
}

fn audit_table(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    let asked = Asked::of(&arguments.statement, &arguments.attacks, None)?;
    let study = table::study(&arguments.table)?;
    let stage = Stage::new(progress && !arguments.json);
    let examination = examine(&study, &asked.settings, &|words| stage.say(words))?;
    drop(stage);
    if let Some(folder) = &arguments.out {
        folder::write(folder, &study, &examination)?;
    }
    let shown = Shown {
        certificate: None,
        folder: arguments.out.as_deref(),
        plot: arguments.statement.plot.as_deref(),
        json: arguments.json,
    };
    answer(&examination.findings, &shown)
}
