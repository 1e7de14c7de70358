//! `reticent audit`: what a model leaks about who was in its training data.
//!
//! | file | step |
//! |---|---|
//! | `settings` | flags to checked settings |
//! | `table` | a score table to a study |
//! | `folder` | audit.json, private.json and scores.csv |
//! | `render` | text and JSON |

mod folder;
mod render;
mod settings;
mod table;

pub(crate) use folder::{AUDIT_FILE, read_findings, write};
pub(crate) use render::{Shown, answer};
pub(crate) use settings::{Asked, count, share};
pub(crate) use table::{draw, drawn, study};

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
    if let Some((flag, value)) = arguments.fitting.for_models() {
        let remedy = "is for models of ours, and a table of scores does not use it: leave it out (--references-from gives \
                      reference models)";
        return Err(Fail::conflict(flag, &value, remedy));
    }
    let asked = Asked::of(&arguments.statement, &arguments.attacks, None)?;
    let flag = draw(arguments.fitting.drawn.as_deref())?;
    let study = drawn(table::study(&arguments.table)?, flag, &arguments.statement)?;
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
