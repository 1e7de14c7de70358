//! `reticent release`: flags → request of the curator → output.
//!
//! | file | step |
//! |---|---|
//! | `request` | flags to a request |
//! | `render`, `words`, `plot` | text and JSON, a picture |
//! | `page` | several statistics, by group or about people |
//! | `survey` | randomize and estimate, the local model |

mod page;
mod plot;
mod render;
mod request;
mod survey;
mod words;

use crate::Output;
use crate::args::Question;
use crate::bar::Terminal;
use crate::budget::{answered, foreseen};
use crate::cost::certificate_text;
use crate::explain::Code;
use crate::fail::{Fail, warnings};
use crate::file;
use request::ParsedRelease;
use reticent::curator::release::Release;
use reticent::curator::{Request, Session};
use std::mem::take;

/// Answers one question.
pub(crate) fn run(question: Question, progress: bool) -> Result<Output, Fail> {
    let question = match page::single(question)? {
        page::Single::Page(own) => return page::release(&own.0, &own.1, progress),
        page::Single::Other(question) => *question,
    };
    let parsed = match question {
        Question::Randomize(arguments) => return survey::randomize(arguments, progress),
        Question::Estimate(arguments) => return survey::estimate(arguments, progress),
        Question::Page(arguments) => return page::run(*arguments, progress),
        Question::Limits(arguments) => return page::limits(arguments, progress),
        other => request::parsed(other),
    };
    let Some(ParsedRelease { request, typed, json, dry_run, plot, certificate, budget }) = parsed else {
        return Err(Fail::new(Code::Internal, "a question without a request"));
    };
    let planned = typed.checked(request.check())?;
    request::undrawn(&request, plot.as_ref())?;
    let schema = request::schema(&request);
    if dry_run {
        let mut preview = planned.preview()?;
        let standing = foreseen(&request, &planned, &budget.payer, schema)?;
        let warnings = warnings(&take(&mut preview.warnings));
        let stdout = render::preview(&preview, json, standing.as_ref())?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let (mut released, standing) = answered(&request, planned, &budget, schema, progress)?;
    if let Some(path) = &plot {
        file::plot(path).write(&plot::answer(&released))?;
    }
    if let Some(path) = &certificate {
        file::certificate(path).write(&certificate_text(&released.certificate)?)?;
    }
    let warnings = warnings(&take(&mut released.warnings));
    let files = render::Files { plot: plot.as_deref(), certificate: certificate.as_deref() };
    let stdout = render::released(&released, json, files, standing.as_ref())?;
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// What the flags of one of the seven questions ask for.
pub(crate) fn request(question: Question) -> Option<Release> {
    request::parsed(question).map(|parsed| parsed.request)
}

/// A session of this terminal without a limit: the user keeps track of the budget.
fn session(progress: bool) -> Result<Session, Fail> {
    Ok(Session::without_limit()?.watched(Box::new(Terminal { progress })))
}

#[cfg(test)]
mod tests;
