//! `reticent audit`: what a model leaks about who was in its training data.
//!
//! | file | step |
//! |---|---|
//! | `settings` | flags to checked settings |
//! | `request` | flags to requests |
//! | `folder` | audit.json, private.json and scores.csv |
//! | `render` | text and JSON |

mod folder;
mod render;
pub(crate) mod request;
mod settings;

pub(crate) use folder::{AUDIT_FILE, read_findings, write};
pub(crate) use render::{Shown, answer};
pub(crate) use settings::{Asked, count, share};

use crate::Output;
use crate::args::audit::Audit;
use crate::attack;
use crate::bar::Terminal;
use crate::fail::Fail;
use reticent::curator::audit::{self as curator, Outcome};
use reticent::curator::{Planned, Request, Session};
use std::path::Path;

/// Audits a model of ours, or anybody's scores.
pub(crate) fn audit(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    let Some(run) = &arguments.run else { return audit_table(arguments, progress) };
    attack::audit_run(run, arguments, progress)
}

fn audit_table(arguments: &Audit, progress: bool) -> Result<Output, Fail> {
    let plan = curator::Audit::Scores(request::scores(arguments)?).check()?;
    let outcome = plan.run(&mut session(progress && !arguments.json)?)?;
    shown(&outcome, arguments.statement.plot.as_deref(), arguments.json)
}

/// A session under the eyes of the terminal.
pub(crate) fn session(progress: bool) -> Result<Session, Fail> {
    Ok(Session::without_limit()?.watched(Box::new(Terminal { progress })))
}

/// What an audit found, as it is printed.
pub(crate) fn shown(outcome: &Outcome, plot: Option<&Path>, json: bool) -> Result<Output, Fail> {
    match outcome {
        Outcome::Found(found) => {
            let (certificate, folder) = (found.certificate.as_ref(), found.out.as_deref());
            answer(&found.findings, &Shown { certificate, folder, plot, json })
        }
        Outcome::Interrupted(_) => Ok(Output { status: crate::INTERRUPTED, ..Output::default() }),
    }
}
