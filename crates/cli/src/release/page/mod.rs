//! A page of statistics: flags or a `report.toml` → request of the curator → table, files.
//!
//! | file | step |
//! |---|---|
//! | `question` | a statistic in words |
//! | `request` | flags to a request |
//! | `one` | a command of one statistic as a page of one question |
//! | `render` | a table for the terminal |
//! | `limits` | suggested limits per person |

mod limits;
mod one;
mod question;
mod render;
mod request;

use crate::Output;
use crate::args::budget::RememberedFlags;
use crate::args::page::{Page as Flags, PageFiles};
use crate::budget::{answered, foreseen};
use crate::cost::certificate_text;
use crate::fail::{Fail, warnings};
use crate::file;
use reticent::curator::page::Page;
use reticent::curator::{Request, sheet};
use std::mem::take;
use std::path::PathBuf;

pub(super) use limits::limits;
pub(super) use one::{Single, single};

/// What is done with the answers.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) json: bool,
    pub(super) dry_run: bool,
    pub(super) files: PageFiles,
    pub(super) certificate: Option<PathBuf>,
    /// Where the chart of the only question is written.
    pub(super) plot: Option<PathBuf>,
    /// Which budget is charged.
    pub(super) budget: RememberedFlags,
}

impl Wanted {
    /// Refuses files that cannot be written, before anything is read.
    fn check(&self) -> Result<(), Fail> {
        let PageFiles { csv, parquet, html } = &self.files;
        csv.iter().try_for_each(|path| file::csv(path).check())?;
        parquet.iter().try_for_each(|path| file::parquet(path).check())?;
        html.iter().try_for_each(|path| file::html(path).check())?;
        self.certificate.iter().try_for_each(|path| file::certificate(path).check())?;
        self.plot.iter().try_for_each(|path| file::plot(path).check())?;
        Ok(())
    }
}

/// `reticent release page`.
pub(super) fn run(arguments: Flags, progress: bool) -> Result<Output, Fail> {
    let (request, wanted) = request::request(arguments)?;
    release(&request, &wanted, progress).map_err(|failure| failure.renamed(question::clause))
}

/// Releases a page, writes its files and shows it.
pub(super) fn release(request: &Page, wanted: &Wanted, progress: bool) -> Result<Output, Fail> {
    wanted.check()?;
    let planned = request.check()?;
    if wanted.dry_run {
        let mut preview = planned.preview()?;
        let standing = foreseen(request, &planned, &wanted.budget.payer, request.schema.as_deref())?;
        let warnings = warnings(&take(&mut preview.warnings));
        let stdout = render::preview(&preview, wanted.json, standing.as_ref())?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let (mut released, standing) =
        answered(request, planned, &wanted.budget, request.schema.as_deref(), progress)?;
    let about = request.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let about = about.unwrap_or_else(|| "a table".to_owned());
    let PageFiles { csv, parquet, html } = &wanted.files;
    if let Some(path) = csv {
        sheet::write_csv(&released, path)?;
    }
    if let Some(path) = parquet {
        sheet::write_parquet(&released, path)?;
    }
    if let Some(path) = html {
        file::html(path).write(&sheet::html(&released, &about))?;
    }
    if let Some(path) = &wanted.plot {
        let tables = sheet::tables(&released);
        let drawn = tables.first().and_then(|table| table.svg(released.confidence));
        file::plot(path).write(&drawn.unwrap_or_default())?;
    }
    if let Some(path) = &wanted.certificate {
        file::certificate(path).write(&certificate_text(&released.certificate)?)?;
    }
    let warnings =
        warnings(&if wanted.json { released.warnings.clone() } else { take(&mut released.warnings) });
    Ok(Output {
        stdout: render::released(&released, wanted, standing.as_ref())?,
        warnings,
        ..Output::default()
    })
}

#[cfg(test)]
mod tests;
