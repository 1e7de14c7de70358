//! What an audit leaves on disk.
//!
//! One process at a time writes into the folder of an audit, under [`LOCK_FILE`], which is gone when it has finished. The findings are
//! taken away before the first of the other files is replaced and come back last, so that a folder with findings holds the
//! files of one audit. Jobs that train reference models share their folder without the lock: every model is a file of its own.

use crate::Refusal;
use crate::folder::digest;
use crate::folder::layout::{CERTIFICATE_FILE, LEDGER_FILE, MODEL_FILE, NETWORK_WEIGHTS_FILE, RUN_FILE};
use crate::refusal::fields_named;
use reticent_audit::table::write_scores;
use reticent_audit::{Examination, Findings, Study};
use reticent_core::Code;
use reticent_files::{Lock, make_private, sweep, write_atomic, write_private};
use reticent_report::escaped_json;
use serde::{Deserialize, Deserializer, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The findings.
pub(crate) const AUDIT_FILE: &str = "audit.json";
/// The records most at risk, by name.
const PRIVATE_FILE: &str = "private.json";
/// Every attack's score of every record.
const SCORES_FILE: &str = "scores.csv";
/// Which rows the audited records are.
const ORIGINS_FILE: &str = "records.csv";
/// The page of a report, and the same as JSON.
pub(crate) const HTML_FILE: &str = "report.html";
pub(crate) const JSON_FILE: &str = "report.json";
/// Locked by the process that writes.
const LOCK_FILE: &str = "audit.lock";

/// All files whose temporary names are swept.
const ALL: &[&str] = &[AUDIT_FILE, PRIVATE_FILE, SCORES_FILE, ORIGINS_FILE, HTML_FILE, JSON_FILE];

/// Files that only the folder of a model or a run has.
const OF_MODEL: &[&str] = &[MODEL_FILE, RUN_FILE, CERTIFICATE_FILE, LEDGER_FILE];

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

/// The folder of a model's audit: the one that is named, or that beside the model.
pub(super) fn place(model: &Path, named: Option<&Path>) -> Result<PathBuf, Refusal> {
    let out = named.map(Path::to_owned).or_else(|| beside(model)).ok_or_else(|| {
        let remedy = format!("there is no place beside {}: give a folder", model.display());
        Refusal::missing("out", remedy)
    })?;
    check_out(&out)?;
    Ok(out)
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

/// Refuses a place for an audit where a model is: the certificate there does not speak for what an audit finds.
pub(crate) fn check_out(folder: &Path) -> Result<(), Refusal> {
    match OF_MODEL.iter().any(|name| folder.join(name).is_file()) {
        true => {
            let remedy = "a model is there, whose certificate does not speak for what audits find: give another folder";
            Err(Refusal::value("out", folder.display(), remedy).coded(Code::Taken))
        }
        false => Ok(()),
    }
}

/// A folder of an audit that this process alone writes into. A folder that was made for it and in which nothing was
/// written goes with it.
pub(crate) struct Writer {
    folder: PathBuf,
    /// There until it is dropped.
    lock: Option<Lock>,
    is_new: bool,
}

impl Writer {
    /// Locks a folder, which is made if it is not there, and takes away what killed writers left.
    pub(crate) fn open(folder: &Path) -> Result<Self, Refusal> {
        check_out(folder)?;
        let is_new = !folder.exists();
        fs::create_dir_all(folder).map_err(|error| {
            Refusal::value("out", folder.display(), format!("cannot be made: {error}"))
                .coded(Code::Unwritable)
        })?;
        let Some(lock) = Lock::take(&folder.join(LOCK_FILE))? else {
            let remedy =
                "another process is writing an audit or a report there: wait for it, or give another folder";
            return Err(Refusal::value("out", folder.display(), remedy).coded(Code::Taken));
        };
        let writer = Self { folder: folder.to_owned(), lock: Some(lock), is_new };
        // No training begins beside the lock; one may have before it.
        check_out(folder)?;
        ALL.iter().for_each(|name| sweep(&folder.join(name)));
        Ok(writer)
    }

    /// Where it writes.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        Ok(write_atomic(&self.folder.join(name), bytes)?)
    }

    /// Writes the findings, with what they are about, and what tells who is a member: for the auditor only. `origins` says which rows
    /// the records are.
    pub(super) fn audit(
        &self,
        study: &Study,
        examination: &Examination,
        subject: &Subject,
        origins: Option<&str>,
    ) -> Result<(), Refusal> {
        let path = |name: &str| self.folder.join(name);
        for name in [AUDIT_FILE, ORIGINS_FILE] {
            match fs::remove_file(path(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let text = format!("{}: cannot be replaced: {error}", path(name).display());
                    return Err(Refusal::new(Code::Unwritable, text));
                }
                _ => {}
            }
        }
        let scores: Vec<(&str, &[f64])> =
            examination.scores.iter().map(|(attack, scores)| (attack.name(), scores.as_slice())).collect();
        write_scores(&path(SCORES_FILE), study, &scores)?;
        make_private(&path(SCORES_FILE))?;
        write_private(&path(PRIVATE_FILE), pretty(&examination.private)?.as_bytes())?;
        if let Some(origins) = origins {
            write_private(&path(ORIGINS_FILE), origins.as_bytes())?;
        }
        let model = match subject {
            Subject::Model(digest) => Some(Some(digest.as_str())),
            Subject::Scores => Some(None),
            Subject::Unknown => None,
        };
        // A file shows fields by their names, whoever asked for it.
        let named = |text: &String| fields_named(text, |field| format!("`{field}`"));
        let warnings = examination.findings.warnings.iter().map(named).collect();
        let findings = Findings { warnings, ..examination.findings.clone() };
        let written = Written { findings: &findings, model };
        self.write(AUDIT_FILE, pretty(&written)?.as_bytes())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            lock.remove();
        }
        if self.is_new {
            // Only an empty one goes.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// What findings are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A model of ours, by its digest.
    Model(String),
    /// A table of scores, whose model is not known here.
    Scores,
    /// An audit from before this was written does not say.
    Unknown,
}

impl Subject {
    /// The model of a folder; unknown where nothing was stored.
    pub(crate) fn of_model(folder: &Path) -> Result<Self, Refusal> {
        // The model's own file holds the digests of the others, or all that was drawn.
        for name in [MODEL_FILE, NETWORK_WEIGHTS_FILE] {
            let path = folder.join(name);
            match fs::read(&path) {
                Ok(bytes) => return Ok(Self::Model(digest(&bytes))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let text = format!("{}: cannot be read: {error}", path.display());
                    return Err(Refusal::new(Code::Unreadable, text));
                }
            }
        }
        Ok(Self::Unknown)
    }

    /// Whether findings about this may be set beside the model of a folder.
    pub(crate) fn goes_with(&self, folder: &Path) -> Result<bool, Refusal> {
        Ok(match self {
            Self::Model(_) => Self::of_model(folder)? == *self,
            Self::Scores => false,
            Self::Unknown => true,
        })
    }
}

/// The findings as they are written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    findings: &'a Findings,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Option<&'a str>>,
}

/// What findings say about their model.
#[derive(Deserialize)]
struct About {
    #[serde(default, deserialize_with = "given")]
    model: Option<Option<String>>,
}

/// A field that is there, whether it is null or not.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(super) fn pretty(value: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Refusal::internal(format!("cannot write JSON: {error}")))?;
    Ok(escaped_json(&text) + "\n")
}

/// Reads findings back, with what they are about.
pub(crate) fn read_findings(path: &Path) -> Result<(Findings, Subject), Refusal> {
    let refuse = |why: String| Refusal::new(Code::NoAudit, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let broken = |error: serde_json::Error| {
        refuse(format!("not the findings of an audit ({error}): run 'reticent audit' again"))
    };
    let findings: Findings = serde_json::from_str(&text).map_err(broken)?;
    if findings.schema != reticent_audit::findings::SCHEMA {
        return Err(refuse(format!("its schema {} is not known here: use a newer version", findings.schema)));
    }
    let subject = match serde_json::from_str::<About>(&text).map_err(broken)?.model {
        Some(Some(digest)) => Subject::Model(digest),
        Some(None) => Subject::Scores,
        None => Subject::Unknown,
    };
    Ok((findings, subject))
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

    #[test]
    fn one_process_writes_and_not_where_a_model_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("audit");
        let writer = Writer::open(&folder).unwrap();
        let refusal = Writer::open(&folder).err().unwrap();
        assert!(
            refusal.code() == Code::Taken && refusal.to_string().contains("another process"),
            "{refusal}"
        );
        drop(writer);
        assert!(!folder.exists(), "nothing was written");
        let writer = Writer::open(&folder).unwrap();
        writer.write(HTML_FILE, b"page").unwrap();
        drop(writer);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the lock is gone");
        // What a killed writer left.
        fs::write(folder.join(".scores.csv.4711-0.tmp"), "half").unwrap();
        fs::write(folder.join(LOCK_FILE), "").unwrap();
        drop(Writer::open(&folder).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        for name in OF_MODEL {
            let model = place.path().join(name);
            fs::create_dir(&model).unwrap();
            fs::write(model.join(name), "{}").unwrap();
            let refusal = Writer::open(&model).err().unwrap();
            assert_eq!((refusal.code(), refusal.field()), (Code::Taken, Some("out")), "{refusal}");
            assert_eq!(fs::read_dir(&model).unwrap().count(), 1);
        }
    }

    #[test]
    fn findings_go_with_the_model_they_are_about() {
        let place = tempfile::tempdir().unwrap();
        let model = place.path();
        assert_eq!(Subject::of_model(model).unwrap(), Subject::Unknown);
        fs::write(model.join(NETWORK_WEIGHTS_FILE), "weights").unwrap();
        let weights = Subject::of_model(model).unwrap();
        fs::write(model.join(MODEL_FILE), "one").unwrap();
        let one = Subject::of_model(model).unwrap();
        assert!(one != weights && one.goes_with(model).unwrap() && !weights.goes_with(model).unwrap());
        fs::write(model.join(MODEL_FILE), "another").unwrap();
        assert!(!one.goes_with(model).unwrap());
        assert!(!Subject::Scores.goes_with(model).unwrap());
        assert!(Subject::Unknown.goes_with(model).unwrap());
        for (text, subject) in [
            ("{}", None),
            (r#"{"model": null}"#, Some(None)),
            (r#"{"model": "sha256:1"}"#, Some(Some("sha256:1".to_owned()))),
        ] {
            assert_eq!(serde_json::from_str::<About>(text).unwrap().model, subject);
        }
    }
}
