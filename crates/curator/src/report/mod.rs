//! An audit and a certificate as one page for a data-protection assessment.
//!
//! ```
//! use reticent_curator::audit::{Audit, Scores};
//! use reticent_curator::report::Report;
//! use reticent_curator::{Planned, Request, Session};
//!
//! let (folder, mut session) = (tempfile::tempdir()?, Session::without_limit()?);
//! let (scores, out) = (folder.path().join("scores.csv"), folder.path().join("audit"));
//! std::fs::write(&scores, "score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.3,0\n0.2,0\n")?;
//! Audit::Scores(Scores { scores, out: Some(out.clone()), ..Scores::default() }).check()?.run(&mut session)?;
//! let written = Report { folder: out, ..Report::default() }.check()?.run(&mut session)?;
//! assert!(std::fs::read_to_string(written.html)?.contains("<html"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod origin;
mod training;

use crate::audit::folder::{AUDIT_FILE, audits_of, models_of};
use crate::audit::read_findings;
use crate::folder::CERTIFICATE_FILE;
use crate::stored::{read_certificate, verified};
use crate::{Planned, Refusal, Request, Session};
use reticent_core::{Certificate, Code, InvalidValue};
use reticent_data::toml::{self, locate};
use reticent_data::write_atomic;
use reticent_report::{Declared, Dossier, html, json};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const HTML_FILE: &str = "report.html";
const JSON_FILE: &str = "report.json";
/// As many letters of a declared value are repeated when it is refused.
const SHOWN: usize = 60;

/// A report of an audit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Report {
    /// A folder of an audit, or of an audited model.
    pub folder: PathBuf,
    /// What only people know: title, purpose, release context, prior, subjects (TOML).
    pub declared: Option<PathBuf>,
    /// The certificate to set beside the audit; by default the model's.
    pub certificate: Option<PathBuf>,
    /// Where report.html and report.json go; by default the folder itself.
    pub out: Option<PathBuf>,
    /// The command line that asks for it, which the report repeats.
    pub command: Option<String>,
}

/// The folders that a report is made from.
#[derive(Debug)]
struct Folders {
    /// Has the findings.
    audit: PathBuf,
    /// Has the model, its certificate and its training curve; none for anybody's model.
    run: Option<PathBuf>,
}

impl Folders {
    /// A folder of an audit, or one of a model with an audit beside or in it.
    fn find(folder: &Path) -> Result<Self, Refusal> {
        let has = |folder: &Path, file: &str| folder.join(file).is_file();
        let is_run = |folder: &PathBuf| has(folder, CERTIFICATE_FILE);
        if has(folder, AUDIT_FILE) {
            return Ok(Self { audit: folder.to_owned(), run: models_of(folder).find(is_run) });
        }
        if let Some(audit) = audits_of(folder).find(|audit| has(audit, AUDIT_FILE)) {
            return Ok(Self { audit, run: Some(folder.to_owned()).filter(is_run) });
        }
        let why = match folder.is_dir() {
            true => {
                format!("no {AUDIT_FILE} there: run 'reticent audit' first (for a score table with ⟦out⟧)")
            }
            false => "no such folder: give the one of an audit, or of an audited model".to_owned(),
        };
        Err(Refusal::new(Code::NoAudit, format!("{}: {why}", folder.display())))
    }
}

/// A checked report: everything it is made of.
#[derive(Debug)]
pub struct ReportPlan {
    dossier: Dossier,
    out: PathBuf,
}

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
    /// Their folder.
    pub out: PathBuf,
}

impl Request for Report {
    type Planned = ReportPlan;

    fn check(&self) -> Result<ReportPlan, Refusal> {
        let folders = Folders::find(&self.folder)?;
        let declared = self.declared.as_deref().map(declared).transpose()?.unwrap_or_default();
        let findings = read_findings(&folders.audit.join(AUDIT_FILE))?;
        let certificate = match (&self.certificate, &folders.run) {
            (Some(path), _) => certificate(path)?,
            (None, Some(run)) => read_certificate(run)?,
            (None, None) => None,
        };
        let training = folders.run.as_deref().map(training::read).transpose()?.flatten();
        let command = self.command.clone();
        let provenance = origin::of(&folders.audit, folders.run.as_deref(), &findings, command)?;
        let dossier = Dossier { findings, certificate, declared, training, provenance };
        Ok(ReportPlan { dossier, out: self.out.as_deref().unwrap_or(&self.folder).to_owned() })
    }
}

impl Planned for ReportPlan {
    type Outcome = Written;

    /// Writes the page and its JSON. Everything in them is in the audit already: nothing is charged.
    fn run(self, _: &mut Session) -> Result<Written, Refusal> {
        let out = self.out;
        fs::create_dir_all(&out).map_err(|error| {
            Refusal::value("out", out.display(), format!("cannot be made: {error}")).coded(Code::Unwritable)
        })?;
        let (page, data) = (out.join(HTML_FILE), out.join(JSON_FILE));
        write_atomic(&data, json(&self.dossier).as_bytes())?;
        write_atomic(&page, html(&self.dossier).as_bytes())?;
        Ok(Written { html: page, json: data, out })
    }
}

/// What people say about the model.
fn declared(path: &Path) -> Result<Declared, Refusal> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { Code::NotFound } else { Code::Unreadable };
        Refusal::value("declared", &file, format!("cannot be read: {error}")).coded(code)
    })?;
    let declared: Declared = toml::read(&text, &file)?;
    declared.check().map_err(|invalid| {
        let InvalidValue { field, value, remedy } = &invalid;
        let more = if value.chars().nth(SHOWN).is_some() { "…" } else { "" };
        let value: String = value.chars().take(SHOWN).collect();
        let place = locate(&text, &[field]);
        let line = place.as_ref().map_or_else(String::new, |place| format!(":{}", place.line));
        Refusal::new(Code::TomlValue, format!("{file}{line}: {field} = {value}{more}: {remedy}"))
            .at(place.map(Box::new))
            .because(invalid)
    })?;
    Ok(declared)
}

/// A certificate; none for a model without privacy.
fn certificate(path: &Path) -> Result<Option<Certificate>, Refusal> {
    let refuse = |code: Code, why: String| Refusal::new(code, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path)
        .map_err(|error| refuse(Code::Unreadable, format!("cannot be read: {error}")))?;
    let certificate = serde_json::from_str(&text)
        .map_err(|error| refuse(Code::Json, format!("not a certificate: {error}")))?;
    verified(certificate, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_and_its_model_find_each_other() {
        let place = tempfile::tempdir().unwrap();
        let (model, beside) = (place.path().join("model"), place.path().join("model-audit"));
        let within = model.join("audit");
        let put = |folder: &Path, name: &str| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), "").unwrap();
        };
        let found = |folder: &Path| Folders::find(folder).map(|found| (found.audit, found.run));
        put(&model, CERTIFICATE_FILE);
        assert_eq!(found(&model).unwrap_err().code(), Code::NoAudit);
        // Where audits lay in the folder of their model.
        put(&within, AUDIT_FILE);
        assert_eq!(found(&model).unwrap(), (within.clone(), Some(model.clone())));
        assert_eq!(found(&within).unwrap(), (within.clone(), Some(model.clone())));
        put(&beside, AUDIT_FILE);
        assert_eq!(found(&model).unwrap(), (beside.clone(), Some(model.clone())));
        assert_eq!(found(&beside).unwrap(), (beside, Some(model.clone())));
        // One of anybody's model.
        let other = place.path().join("other-audit");
        put(&other, AUDIT_FILE);
        assert_eq!(found(&other).unwrap(), (other, None));
    }

    #[test]
    fn a_given_certificate_that_its_events_refute_is_not_reported() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("claim.json");
        let text = r#"{"unit":"row","neighboring":"add-remove","events":[{"pure":{"epsilon":1.0}}],"epsilon":1.0,"delta":0.0,"accountant":"stated","public":[]}"#;
        fs::write(&file, text).unwrap();
        assert!(certificate(&file).unwrap().is_some());
        fs::write(&file, text.replace(r#"0}}],"epsilon":1.0"#, r#"0}}],"epsilon":0.01"#)).unwrap();
        let refusal = certificate(&file).unwrap_err();
        assert_eq!(refusal.code(), Code::Broken);
        assert!(refusal.to_string().contains("claim.json: it claims ε = 0.01, "), "{refusal}");
    }

    #[test]
    fn what_people_declare_is_refused_where_it_stands() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("declared.toml");
        fs::write(&file, "title = \"A\"\nprior = 2\n").unwrap();
        let refusal = declared(&file).unwrap_err();
        assert_eq!((refusal.code(), refusal.place().map(|place| place.line)), (Code::TomlValue, Some(2)));
    }
}
