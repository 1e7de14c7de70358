//! An audit and a certificate as one page for a data-protection assessment.
//!
//! ```
//! use reticent_curator::audit::{Audit, ScoreAudit};
//! use reticent_curator::report::Report;
//! use reticent_curator::{Planned, Request, Session};
//!
//! let (folder, mut session) = (tempfile::tempdir()?, Session::without_limit()?);
//! let (scores, out) = (folder.path().join("scores.csv"), folder.path().join("audit"));
//! std::fs::write(&scores, "score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.3,0\n0.2,0\n")?;
//! Audit::Scores(ScoreAudit { scores, out: Some(out.clone()), ..ScoreAudit::default() }).check()?.run(&mut session)?;
//! let written = Report { folder: out, ..Report::default() }.check()?.run(&mut session)?;
//! assert!(std::fs::read_to_string(written.html)?.contains("<html"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod defence;
mod origin;
mod training;

use crate::audit::disclosed;
use crate::audit::folder::{
    AUDIT_FILE, HTML_FILE, JSON_FILE, Subject, Writer, audits_of, check_out, models_of, read_findings,
};
use crate::folder::layout::MODEL_FILE;
use crate::stored::{read_certificate, verified, verify};
use crate::{Planned, Refusal, Request, Session};
use reticent_audit::Findings;
use reticent_audit::attacks::AttackKind;
use reticent_core::{Certificate, Code, InvalidValue};
use reticent_data::toml::{self, locate};
use reticent_report::{Declared, Dossier, defences, html, json};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// As many letters of a declared value are repeated when it is refused.
const SHOWN: usize = 60;

/// A report of an audit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Report {
    /// A folder of an audit, or of an audited model.
    pub folder: PathBuf,
    /// Facts that the data do not contain: title, purpose, release context, prior, subjects (TOML).
    pub declared: Option<PathBuf>,
    /// The certificate to compare with the audit; by default the model's.
    pub certificate: Option<PathBuf>,
    /// Where report.html and report.json go; by default the folder of the audit. Not into the folder of a model, whose
    /// certificate does not cover what an audit found.
    pub out: Option<PathBuf>,
    /// Declares that training records whose pictures an attack recovered may be shown: the page shows them.
    pub pictures: bool,
    /// Folders of other audited models, which are set beside this one: a curve for every defence.
    pub compare: Vec<PathBuf>,
    /// The command line, which the report states.
    pub command: Option<String>,
}

/// The folders that a report is made from.
#[derive(Debug)]
struct Folders {
    /// Has the findings.
    audit: PathBuf,
    /// What is in there.
    findings: Findings,
    /// What they are about.
    subject: Subject,
    /// Has the model, its certificate and its training curve; none for anybody's model.
    run: Option<PathBuf>,
}

impl Folders {
    /// A folder of an audit, or one of a model with an audit beside or in it. Findings are set beside the model that they are
    /// about, and beside no other one of the same name.
    fn find(folder: &Path) -> Result<Self, Refusal> {
        let has = |folder: &Path, file: &str| folder.join(file).is_file();
        let is_run = |folder: &PathBuf| has(folder, MODEL_FILE);
        if has(folder, AUDIT_FILE) {
            let (findings, subject) = read_findings(&folder.join(AUDIT_FILE))?;
            let runs: Vec<PathBuf> = models_of(folder).filter(is_run).collect();
            let audit = folder.to_owned();
            let run = match subject {
                Subject::Scores => None,
                _ => Some(the_one(&runs, |run| subject.goes_with(run))?),
            };
            return match (run, runs.first()) {
                (Some(None), Some(other)) => Err(foreign(&audit, other)),
                (run, _) => Ok(Self { audit, findings, subject, run: run.flatten().cloned() }),
            };
        }
        let audits: Vec<PathBuf> = audits_of(folder).filter(|audit| has(audit, AUDIT_FILE)).collect();
        let run = Some(folder.to_owned()).filter(is_run);
        let goes = |audit: &Path| match &run {
            Some(run) => read_findings(&audit.join(AUDIT_FILE))?.1.goes_with(run),
            None => Ok(true),
        };
        match (the_one(&audits, goes)?, audits.first()) {
            (Some(audit), _) => {
                let (findings, subject) = read_findings(&audit.join(AUDIT_FILE))?;
                return Ok(Self { audit: audit.clone(), findings, subject, run });
            }
            (None, Some(other)) => return Err(foreign(other, folder)),
            (None, None) => {}
        }
        let why = match folder.is_dir() {
            true => {
                format!(
                    "no {AUDIT_FILE} in this folder: run 'reticent audit' first (for a score table with ⟦out⟧)"
                )
            }
            false => "no such folder: give the folder of an audit, or of an audited model".to_owned(),
        };
        Err(Refusal::new(Code::NoAudit, format!("{}: {why}", folder.display())))
    }
}

/// The first folder of which this is true.
fn the_one(
    folders: &[PathBuf],
    is_it: impl Fn(&Path) -> Result<bool, Refusal>,
) -> Result<Option<&PathBuf>, Refusal> {
    for folder in folders {
        if is_it(folder)? {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// The refusal of findings beside a model that they are not about.
fn foreign(audit: &Path, model: &Path) -> Refusal {
    let (audit, model) = (audit.display(), model.display());
    let text = format!("{audit}: not an audit of the current model in {model}: run 'reticent audit' again");
    Refusal::new(Code::NoAudit, text)
}

/// A checked report: everything it is made of.
#[derive(Debug)]
pub struct ReportPlan {
    dossier: Dossier,
    out: PathBuf,
}

/// The chart of a comparison.
const CHART_FILE: &str = "defences.svg";

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
    /// Their folder.
    pub out: PathBuf,
    /// The chart of a comparison with other models; none without one.
    pub chart: Option<PathBuf>,
}

impl Request for Report {
    type Planned = ReportPlan;

    fn check(&self) -> Result<ReportPlan, Refusal> {
        let Folders { audit, mut findings, subject, run } = Folders::find(&self.folder)?;
        let subject = run.as_deref().map_or(Ok(subject), Subject::of_model)?;
        disclosed::merge(&audit, &subject, &mut findings)?;
        let galleries = if self.pictures { disclosed::galleries(&audit, &findings)? } else { Vec::new() };
        if self.pictures && galleries.is_empty() {
            let remedy = "there are none beside this audit: run 'reticent attack reconstruct' on a model of images first";
            return Err(Refusal::conflict("pictures", true, remedy));
        }
        let out = self.out.clone().unwrap_or_else(|| audit.clone());
        check_out(&out)?;
        let declared = self.declared.as_deref().map(declared).transpose()?.unwrap_or_default();
        // Whichever certificate is set beside it: the digests of the model's files are stated.
        run.as_deref().map(verify).transpose()?;
        let certificate = match (&self.certificate, &run) {
            (Some(path), Some(run)) => own_certificate(path, run)?,
            (Some(path), None) => certificate(path)?,
            (None, Some(run)) => read_certificate(run)?,
            (None, None) => None,
        };
        let training = run.as_deref().map(training::read).transpose()?.flatten();
        let defences = defence::compared(&self.folder, &self.compare)?;
        let command = self.command.clone();
        let provenance = origin::of(&audit, run.as_deref(), &findings, command)?;
        let inapplicable = if run.is_some() { inapplicable() } else { BTreeMap::new() };
        let dossier = Dossier {
            findings,
            certificate,
            declared,
            training,
            provenance,
            defences,
            inapplicable,
            galleries,
        };
        Ok(ReportPlan { dossier, out })
    }
}

impl Planned for ReportPlan {
    type Outcome = Written;

    /// Writes the page and its JSON. Everything in them is in the audit already: nothing is charged.
    fn run(self, _: &mut Session) -> Result<Written, Refusal> {
        let out = self.out;
        let writer = Writer::open(&out)?;
        writer.write(JSON_FILE, json(&self.dossier).as_bytes())?;
        writer.write(HTML_FILE, html(&self.dossier).as_bytes())?;
        let chart = match &self.dossier.defences {
            Some(comparison) => {
                writer.write(CHART_FILE, defences(comparison).svg().as_bytes())?;
                Some(out.join(CHART_FILE))
            }
            None => None,
        };
        Ok(Written { html: out.join(HTML_FILE), json: out.join(JSON_FILE), chart, out })
    }
}

/// Kinds of attack that no model of ours allows.
fn inapplicable() -> BTreeMap<AttackKind, String> {
    let outputs = "the model outputs scores of classes or a number, and no records";
    let exfiltration =
        format!("{outputs}; what weights and gradients give away of records is under reconstruction");
    BTreeMap::from([
        (AttackKind::Exfiltration, exfiltration),
        (AttackKind::Regurgitation, outputs.to_owned()),
    ])
}

/// The declared facts.
fn declared(path: &Path) -> Result<Declared, Refusal> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { Code::NotFound } else { Code::Unreadable };
        Refusal::value("declared", &file, format!("cannot be read: {error}")).coded(code).because(error)
    })?;
    let declared: Declared = toml::read(&text, &file)?;
    declared.check().map_err(|invalid| {
        let InvalidValue { field, value, remedy, .. } = &invalid;
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
        .map_err(|error| refuse(Code::Unreadable, format!("cannot be read: {error}")).because(error))?;
    let certificate = serde_json::from_str(&text)
        .map_err(|error| refuse(Code::Json, format!("not a certificate: {error}")).because(error))?;
    verified(certificate, path)
}

/// A given certificate, which must be the one of the model that was audited.
fn own_certificate(path: &Path, run: &Path) -> Result<Option<Certificate>, Refusal> {
    let given = certificate(path)?;
    if given == read_certificate(run)? {
        return Ok(given);
    }
    let remedy = format!("not the certificate of the model in {}: leave it out", run.display());
    Err(Refusal::conflict("certificate", path.display(), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Fit;
    use crate::folder::CERTIFICATE_FILE;

    fn put(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    /// Findings about nothing; `more` is what follows the last field.
    fn findings(more: &str) -> String {
        format!(
            r#"{{"schema": "reticent-audit/2", "version": "1", "headline": "yeom-loss", "headline_choice": "rule", "auc": 0.5,
                "tpr_at_fpr": {{}}, "attacks": [], "not_run": [], "baseline": {{"about": ""}}, "groups": [], "key": "k",
                "warnings": []{more}}}"#
        )
    }

    type Found = Result<(PathBuf, Option<PathBuf>), Refusal>;

    fn found(folder: &Path) -> Found {
        Folders::find(folder).map(|found| (found.audit, found.run))
    }

    #[test]
    fn an_audit_and_its_model_find_each_other() {
        let place = tempfile::tempdir().unwrap();
        let (model, beside) = (place.path().join("model"), place.path().join("model-audit"));
        let within = model.join("audit");
        put(&model, MODEL_FILE, "");
        assert_eq!(found(&model).unwrap_err().code(), Code::NoAudit);
        // Where audits lay in the folder of their model, and did not say which model they were about.
        put(&within, AUDIT_FILE, &findings(""));
        assert_eq!(found(&model).unwrap(), (within.clone(), Some(model.clone())));
        assert_eq!(found(&within).unwrap(), (within.clone(), Some(model.clone())));
        put(&beside, AUDIT_FILE, &findings(""));
        assert_eq!(found(&model).unwrap(), (beside.clone(), Some(model.clone())));
        assert_eq!(found(&beside).unwrap(), (beside, Some(model.clone())));
        // One of anybody's model.
        let other = place.path().join("other-audit");
        put(&other, AUDIT_FILE, &findings(""));
        assert_eq!(found(&other).unwrap(), (other, None));
    }

    #[test]
    fn an_audit_is_not_set_beside_another_model_of_the_same_name() {
        let place = tempfile::tempdir().unwrap();
        let (model, beside) = (place.path().join("model"), place.path().join("model-audit"));
        put(&model, CERTIFICATE_FILE, "null");
        put(&model, MODEL_FILE, "first");
        let Subject::Model(digest) = Subject::of_model(&model).unwrap() else { panic!("no digest") };
        put(&beside, AUDIT_FILE, &findings(&format!(r#", "model": "{digest}""#)));
        assert_eq!(found(&model).unwrap(), (beside.clone(), Some(model.clone())));
        assert_eq!(found(&beside).unwrap(), (beside.clone(), Some(model.clone())));
        put(&model, MODEL_FILE, "second");
        for folder in [&model, &beside] {
            let refusal = found(folder).unwrap_err();
            assert!(refusal.to_string().contains("not an audit of the current model"), "{refusal}");
        }
        // An older audit within is not taken for one beside: the one that is about the model is.
        put(&model, MODEL_FILE, "first");
        put(&model.join("audit"), AUDIT_FILE, &findings(r#", "model": "sha256:0""#));
        assert_eq!(found(&model).unwrap(), (beside.clone(), Some(model.clone())));
        // A score table's is about no model here, wherever it lies.
        put(&beside, AUDIT_FILE, &findings(r#", "model": null"#));
        assert_eq!(found(&beside).unwrap(), (beside, None));
        assert!(found(&model).is_err());
    }

    #[test]
    fn a_report_is_of_the_files_that_belong_together_and_goes_where_the_audit_is() {
        let place = tempfile::tempdir().unwrap();
        let (model, beside) = (place.path().join("model"), place.path().join("model-audit"));
        let mut session = Session::without_limit().unwrap();
        let fit = Fit { epsilon: Some(1.0), out: Some(model.clone()), ..Fit::default() };
        fit.check().unwrap().run(&mut session).unwrap();
        put(&beside, AUDIT_FILE, &findings(""));
        let report = Report { folder: model.clone(), ..Report::default() };
        let written = report.check().unwrap().run(&mut session).unwrap();
        assert_eq!(written.out, beside);
        assert!(beside.join(HTML_FILE).is_file() && !model.join(HTML_FILE).exists());
        let within = Report { out: Some(model.clone()), ..report.clone() };
        assert_eq!(within.check().unwrap_err().code(), Code::Taken);
        // No other certificate is set beside it.
        let null = place.path().join("null.json");
        fs::write(&null, "null").unwrap();
        let foreign = Report { certificate: Some(null), ..report.clone() }.check().unwrap_err();
        assert_eq!((foreign.code(), foreign.field()), (Code::Conflict, Some("certificate")));
        let same = Report { certificate: Some(model.join(CERTIFICATE_FILE)), ..report.clone() };
        assert!(same.check().is_ok());
        // Other weights are refused, whichever certificate is given.
        put(&model, "weights.safetensors", "another's");
        let other = place.path().join("other.json");
        fs::write(&other, "null").unwrap();
        for certificate in [None, Some(model.join(CERTIFICATE_FILE)), Some(other)] {
            let refusal = Report { certificate, ..report.clone() }.check().unwrap_err();
            assert!(refusal.to_string().contains("weights.safetensors"), "{refusal}");
        }
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
