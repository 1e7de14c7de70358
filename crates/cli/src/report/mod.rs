//! `reticent report`: an audit and a certificate as one page.

mod open;
mod origin;
mod training;

pub(crate) use open::open;

use crate::Output;
use crate::args::audit::Report;
use crate::audit::{AUDIT_FILE, read_findings};
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::core::{Certificate, InvalidValue};
use reticent::curator::folder::CERTIFICATE_FILE;
use reticent::data::{toml, write_atomic};
use reticent::report::{Declared, Dossier, html, json};
use serde_json::json as value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const HTML_FILE: &str = "report.html";
const JSON_FILE: &str = "report.json";

/// The folders that a report is made from.
struct Folders {
    /// Has the findings.
    audit: PathBuf,
    /// Has the model, its certificate and its training curve; none for anybody's model.
    run: Option<PathBuf>,
}

impl Folders {
    /// A folder of an audit, or one of a model with an audit in it.
    fn find(folder: &Path) -> Result<Self, Fail> {
        let has = |folder: &Path, file: &str| folder.join(file).is_file();
        let run_of = |folder: &Path| has(folder, CERTIFICATE_FILE).then(|| folder.to_owned());
        if has(folder, AUDIT_FILE) {
            let run = run_of(folder).or_else(|| folder.parent().and_then(run_of));
            return Ok(Self { audit: folder.to_owned(), run });
        }
        let inner = folder.join("audit");
        if has(&inner, AUDIT_FILE) {
            return Ok(Self { audit: inner, run: run_of(folder) });
        }
        let why = match folder.is_dir() {
            true => {
                format!("no {AUDIT_FILE} there: run 'reticent audit' first (for a score table with --out)")
            }
            false => "no such folder: give the one of an audit, or of an audited model".to_owned(),
        };
        Err(Fail::new(Code::NoAudit, format!("{}: {why}", folder.display())))
    }
}

/// Writes the page and its JSON.
pub(crate) fn report(arguments: &Report) -> Result<Output, Fail> {
    let folders = Folders::find(&arguments.folder)?;
    let declared = arguments.declared.as_deref().map(declared).transpose()?.unwrap_or_default();
    let findings = read_findings(&folders.audit.join(AUDIT_FILE))?;
    let own = folders.run.as_ref().map(|run| run.join(CERTIFICATE_FILE));
    let certificate = match arguments.certificate.clone().or(own) {
        Some(path) => certificate(&path)?,
        None => None,
    };
    let training = folders.run.as_deref().map(training::read).transpose()?.flatten();
    let provenance = origin::of(&folders.audit, folders.run.as_deref(), &findings)?;
    let dossier = Dossier { findings, certificate, declared, training, provenance };
    let out = arguments.out.as_deref().unwrap_or(&arguments.folder);
    fs::create_dir_all(out).map_err(|error| {
        Fail::flag("--out", &out.display().to_string(), format!("cannot be made: {error}"))
            .coded(Code::Unwritable)
    })?;
    let (page, data) = (out.join(HTML_FILE), out.join(JSON_FILE));
    write_atomic(&data, json(&dossier).as_bytes())?;
    write_atomic(&page, html(&dossier).as_bytes())?;
    let warnings = match arguments.open {
        true => open(&page),
        false => String::new(),
    };
    let stdout = match arguments.json {
        true => json_line(&value!({"out": out, "html": page, "json": data}))?,
        false => format!("Report written to {}\nand as JSON to {}\n", page.display(), data.display()),
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// What people say about the model.
fn declared(path: &Path) -> Result<Declared, Fail> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { Code::NotFound } else { Code::Unreadable };
        Fail::flag("--declared", &file, format!("cannot be read: {error}")).coded(code)
    })?;
    let declared: Declared = toml::read(&text, &file)?;
    declared.check().map_err(|InvalidValue { field, value, remedy }| {
        Fail::flag(&format!("--{field}"), &value, remedy).in_file(&file, &text)
    })?;
    Ok(declared)
}

/// A certificate; none for a model without privacy.
fn certificate(path: &Path) -> Result<Option<Certificate>, Fail> {
    let refuse = |code: Code, why: String| Fail::new(code, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path)
        .map_err(|error| refuse(Code::Unreadable, format!("cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| refuse(Code::Json, format!("not a certificate: {error}")))
}
