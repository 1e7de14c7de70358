//! What an audit leaves on disk.

use crate::Refusal;
use reticent_audit::table::write_scores;
use reticent_audit::{Examination, Findings, Study};
use reticent_core::Code;
use reticent_data::{make_private, write_atomic, write_private};
use reticent_report::escaped_json;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The findings.
pub(crate) const AUDIT_FILE: &str = "audit.json";
/// The records most at risk, by name.
const PRIVATE_FILE: &str = "private.json";
/// Every attack's score of every record.
const SCORES_FILE: &str = "scores.csv";

/// What the name of a model's folder gets to name that of its audit.
const SUFFIX: &str = "-audit";
/// Where audits lay when they were in the folder of their model.
const WITHIN: &str = "audit";

/// The path with this done to its last name, be it written as `..` or not.
fn renamed(path: &Path, name: impl Fn(&OsStr) -> Option<OsString>) -> Option<PathBuf> {
    match path.file_name() {
        Some(last) => Some(path.with_file_name(name(last)?)),
        None => {
            let whole = path.canonicalize().ok()?;
            Some(whole.with_file_name(name(whole.file_name()?)?))
        }
    }
}

/// The folder of a model's audit where none is named: beside the model's own, whose certificate does not speak for it.
pub(super) fn beside(model: &Path) -> Option<PathBuf> {
    renamed(model, |name| {
        let mut name = name.to_owned();
        name.push(SUFFIX);
        Some(name)
    })
}

/// The audits that the folder of a model may have, those beside it first.
pub(crate) fn audits_of(model: &Path) -> impl Iterator<Item = PathBuf> {
    beside(model).into_iter().chain([model.join(WITHIN)])
}

/// The folders whose model a folder may be the audit of, the likelier first.
pub(crate) fn models_of(audit: &Path) -> impl Iterator<Item = PathBuf> {
    let named = renamed(audit, |name| Some(name.to_str()?.strip_suffix(SUFFIX)?.into()));
    let above = audit.parent().map(Path::to_owned);
    [audit.to_owned()].into_iter().chain(named).chain(above)
}

/// Writes the findings, and what tells who is a member: for nobody else's eyes.
pub(crate) fn write(folder: &Path, study: &Study, examination: &Examination) -> Result<(), Refusal> {
    fs::create_dir_all(folder).map_err(|error| {
        Refusal::value("out", folder.display(), format!("cannot be made: {error}")).coded(Code::Unwritable)
    })?;
    let scores: Vec<(&str, &[f64])> =
        examination.scores.iter().map(|(attack, scores)| (attack.name(), scores.as_slice())).collect();
    write_scores(&folder.join(SCORES_FILE), study, &scores)?;
    make_private(&folder.join(SCORES_FILE))?;
    write_private(&folder.join(PRIVATE_FILE), pretty(&examination.private)?.as_bytes())?;
    Ok(write_atomic(&folder.join(AUDIT_FILE), pretty(&examination.findings)?.as_bytes())?)
}

fn pretty(value: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Refusal::internal(format!("cannot write JSON: {error}")))?;
    Ok(escaped_json(&text) + "\n")
}

/// Reads findings back.
pub(crate) fn read_findings(path: &Path) -> Result<Findings, Refusal> {
    let refuse = |why: String| Refusal::new(Code::NoAudit, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let findings: Findings = serde_json::from_str(&text).map_err(|error| {
        refuse(format!("not the findings of an audit ({error}): run 'reticent audit' again"))
    })?;
    if findings.schema != reticent_audit::findings::SCHEMA {
        return Err(refuse(format!("its schema {} is not known here: use a newer version", findings.schema)));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_lies_beside_its_model() {
        for (model, audit) in
            [("m", "m-audit"), ("a/m/", "a/m-audit"), ("./m/.", "./m-audit"), ("/m", "/m-audit")]
        {
            let found = beside(Path::new(model)).unwrap();
            assert_eq!(found, Path::new(audit));
            let models: Vec<PathBuf> = models_of(&found).collect();
            assert_eq!(models[1].file_name(), Path::new(model).file_name());
        }
        assert!(beside(Path::new("/")).is_none());
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model/inner");
        fs::create_dir_all(&model).unwrap();
        let whole = folder.path().canonicalize().unwrap();
        assert_eq!(beside(&model.join("..")).unwrap(), whole.join("model-audit"));
    }
}
