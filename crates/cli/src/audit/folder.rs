//! What an audit leaves on disk.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::audit::table::write_scores;
use reticent::audit::{Examination, Findings, Study};
use reticent::data::{make_private, write_atomic, write_private};
use reticent::report::escaped_json;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The findings.
pub(crate) const AUDIT_FILE: &str = "audit.json";
/// The records most at risk, by name.
const PRIVATE_FILE: &str = "private.json";
/// Every attack's score of every record.
const SCORES_FILE: &str = "scores.csv";

/// Writes the findings, and what tells who is a member: for nobody else's eyes.
pub(crate) fn write(folder: &Path, study: &Study, examination: &Examination) -> Result<(), Fail> {
    fs::create_dir_all(folder).map_err(|error| {
        Fail::flag("--out", &folder.display().to_string(), format!("cannot be made: {error}"))
            .coded(Code::Unwritable)
    })?;
    let scores: Vec<(&str, &[f64])> =
        examination.scores.iter().map(|(attack, scores)| (attack.name(), scores.as_slice())).collect();
    write_scores(&folder.join(SCORES_FILE), study, &scores)?;
    make_private(&folder.join(SCORES_FILE))?;
    write_private(&folder.join(PRIVATE_FILE), pretty(&examination.private)?.as_bytes())?;
    Ok(write_atomic(&folder.join(AUDIT_FILE), pretty(&examination.findings)?.as_bytes())?)
}

fn pretty(value: &impl Serialize) -> Result<String, Fail> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fail::new(Code::Internal, format!("cannot write JSON: {error}")))?;
    Ok(escaped_json(&text) + "\n")
}

/// Reads findings back.
pub(crate) fn read_findings(path: &Path) -> Result<Findings, Fail> {
    let refuse = |why: String| Fail::new(Code::NoAudit, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let findings: Findings = serde_json::from_str(&text).map_err(|error| {
        refuse(format!("not the findings of an audit ({error}): run 'reticent audit' again"))
    })?;
    if findings.schema != reticent::audit::findings::SCHEMA {
        return Err(refuse(format!("its schema {} is not known here: use a newer version", findings.schema)));
    }
    Ok(findings)
}
