//! What attacks on attributes and on whole records leave in the folder of an audit, one file each.
//!
//! A file names the model that it is about, as the findings do. Pictures of records go into a file of their own for their owner alone.

use super::folder::{Subject, Writer, pretty};
use crate::Refusal;
use crate::folder::digest;
use reticent_audit::Findings;
use reticent_audit::disclosure::Disclosure;
use reticent_audit::findings::NotRun;
use reticent_core::{Certificate, Code};
use reticent_files::{write_atomic, write_private};
use reticent_report::{Gallery, Picture};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder within that of an audit.
const FOLDER: &str = "disclosures";
/// How the names of private files with pictures end.
const PICTURES: &str = ".pictures.json";
/// The most letters of a disclosure's name in that of its file.
const NAME: usize = 80;

/// What an attack on attributes or on whole records found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disclosed {
    /// What may be shared.
    pub disclosures: Vec<Disclosure>,
    /// The certificate of the model, where there is one.
    #[serde(skip)]
    pub certificate: Option<Certificate>,
    /// The folder of the audit that it was written to.
    #[serde(skip)]
    pub out: Option<PathBuf>,
    /// Records beside what was recovered of them: private.
    #[serde(skip)]
    pub galleries: Vec<Gallery>,
}

impl Disclosed {
    /// Writes what was found about a subject into the folder of an audit.
    pub(super) fn written(
        disclosures: Vec<Disclosure>,
        galleries: Vec<Gallery>,
        certificate: Option<Certificate>,
        subject: &Subject,
        out: PathBuf,
    ) -> Result<Self, Refusal> {
        Writer::open(&out)?.disclosures(&disclosures, &galleries, subject)?;
        Ok(Self { disclosures, certificate, out: Some(out), galleries })
    }
}

/// A disclosure as it is written.
#[derive(Serialize, Deserialize)]
struct Kept<D> {
    #[serde(flatten)]
    disclosure: D,
    /// The digest of the model; none for a subject that is not a model of ours.
    model: Option<String>,
}

impl Writer {
    /// Writes what was found about a subject, in place of what files of the same names held.
    pub(super) fn disclosures(
        &self,
        disclosures: &[Disclosure],
        galleries: &[Gallery],
        subject: &Subject,
    ) -> Result<(), Refusal> {
        let folder = self.folder().join(FOLDER);
        fs::create_dir_all(&folder).map_err(|error| {
            let text = format!("{}: cannot be made: {error}", folder.display());
            Refusal::new(Code::Unwritable, text)
        })?;
        let model = match subject {
            Subject::Model(digest) => Some(digest.clone()),
            Subject::Scores | Subject::Unknown => None,
        };
        for disclosure in disclosures {
            let name = file_name(&disclosure.name);
            let (file, pictures) = (folder.join(format!("{name}.json")), folder.join(name + PICTURES));
            // Pictures are of the figures beside them, or they are not there.
            for old in [&file, &pictures] {
                remove(old)?;
            }
            let own: Vec<&Gallery> =
                galleries.iter().filter(|gallery| gallery.disclosure == disclosure.name).collect();
            if !own.is_empty() {
                write_private(&pictures, pretty(&own)?.as_bytes())?;
            }
            let kept = Kept { disclosure, model: model.clone() };
            write_atomic(&file, pretty(&kept)?.as_bytes())?;
        }
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), Refusal> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let text = format!("{}: cannot be replaced: {error}", path.display());
            Err(Refusal::new(Code::Unwritable, text))
        }
        _ => Ok(()),
    }
}

/// The name of a disclosure where letters of all file systems are enough, else with a digest that tells it apart.
fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.len() <= NAME && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let plain: String = name.chars().take(NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
    let digest = digest(name.as_bytes());
    format!("{plain}-{}", digest.get(7..23).unwrap_or(&digest))
}

/// The files of disclosures in the folder of an audit, by name.
pub(crate) fn files(audit: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let folder = audit.join(FOLDER);
    let unreadable =
        |error| Refusal::new(Code::Unreadable, format!("{}: cannot be read: {error}", folder.display()));
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let is_disclosure = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".json") && !name.ends_with(PICTURES) && !name.starts_with('.')
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths: Vec<PathBuf> = paths.map_err(unreadable)?.into_iter().filter(is_disclosure).collect();
    paths.sort();
    Ok(paths)
}

/// Adds what was found about a subject to its findings. What was found about another one is listed as not run.
pub(crate) fn merge(audit: &Path, subject: &Subject, findings: &mut Findings) -> Result<(), Refusal> {
    for path in files(audit)? {
        let Kept { disclosure, model } = read::<Kept<Disclosure>>(&path)?;
        let is_own = match subject {
            Subject::Model(digest) => model.as_ref() == Some(digest),
            Subject::Scores | Subject::Unknown => model.is_none(),
        };
        if is_own {
            findings.disclosures.retain(|other| other.name != disclosure.name);
            findings.disclosures.push(disclosure);
        } else {
            let Disclosure { name, kind, .. } = disclosure;
            let reason = format!("{} is about another model: run it again", path.display());
            findings.not_run.push(NotRun { name, kind, reason });
        }
    }
    Ok(())
}

/// The pictures that belong to these findings.
pub(crate) fn galleries(audit: &Path, findings: &Findings) -> Result<Vec<Gallery>, Refusal> {
    let mut galleries: Vec<Gallery> = Vec::new();
    for disclosure in &findings.disclosures {
        let path = audit.join(FOLDER).join(file_name(&disclosure.name) + PICTURES);
        if path.is_file() {
            galleries.extend(read::<Vec<Gallery>>(&path)?);
        }
    }
    let pictures = galleries.iter().flat_map(|gallery| &gallery.strips).flat_map(|strip| &strip.pictures);
    match pictures.clone().all(Picture::is_sound) {
        true => Ok(galleries),
        false => {
            let text = format!("{}: a picture does not fit its size: run the attack again", audit.display());
            Err(Refusal::new(Code::Broken, text))
        }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Refusal> {
    let refuse = |code, why: String| Refusal::new(code, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path)
        .map_err(|error| refuse(Code::Unreadable, format!("cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| {
        refuse(Code::Json, format!("not what an attack wrote ({error}): run it again, or remove the file"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_audit::attacks::AttackKind;
    use reticent_audit::findings::Threat;
    use reticent_report::PictureStrip;
    use std::collections::BTreeMap;

    fn disclosure(name: &str) -> Disclosure {
        Disclosure {
            name: name.to_owned(),
            kind: AttackKind::Reconstruction,
            about: "about".to_owned(),
            settings: BTreeMap::new(),
            threat: Threat { access: String::new(), knowledge: String::new(), goal: String::new() },
            records: 1,
            measures: Vec::new(),
            bound: None,
            warnings: Vec::new(),
        }
    }

    fn findings() -> Findings {
        serde_json::from_str(
            r#"{"schema": "reticent-audit/2", "version": "1", "headline": "yeom-loss", "headline_choice": "rule", "auc": 0.5,
                "tpr_at_fpr": {}, "attacks": [], "not_run": [], "baseline": {"about": ""}, "groups": [], "key": "k", "warnings": []}"#,
        )
        .unwrap()
    }

    #[test]
    fn disclosures_come_back_with_the_model_they_are_about_and_their_pictures_on_request() {
        let place = tempfile::tempdir().unwrap();
        let audit = place.path().join("audit");
        let (own, other) = (Subject::Model("sha256:1".to_owned()), Subject::Model("sha256:2".to_owned()));
        let pictures = vec![Picture::new(1, 1, vec![7]).unwrap()];
        let strips = vec![PictureStrip { label: "records".to_owned(), pictures }];
        let (name, condition) = ("attribute of Ü/..".to_owned(), "one".to_owned());
        let gallery = Gallery { disclosure: name.clone(), condition, strips };
        let writer = Writer::open(&audit).unwrap();
        let both = [disclosure(&name), disclosure("inversion")];
        writer.disclosures(&both, std::slice::from_ref(&gallery), &own).unwrap();
        drop(writer);
        let mut merged = findings();
        merge(&audit, &own, &mut merged).unwrap();
        merge(&audit, &own, &mut merged).unwrap();
        assert_eq!(merged.disclosures.len(), 2);
        assert_eq!(galleries(&audit, &merged).unwrap(), [gallery]);
        let mut foreign = findings();
        merge(&audit, &other, &mut foreign).unwrap();
        assert!(foreign.disclosures.is_empty() && foreign.not_run.len() == 2);
        assert!(foreign.not_run[0].reason.contains("another model"), "{}", foreign.not_run[0].reason);
        // What is run again without pictures leaves none of the old ones.
        let writer = Writer::open(&audit).unwrap();
        writer.disclosures(&both, &[], &own).unwrap();
        drop(writer);
        assert!(galleries(&audit, &merged).unwrap().is_empty());
        assert_eq!(files(&audit).unwrap().len(), 2);
        fs::write(&files(&audit).unwrap()[0], "{").unwrap();
        assert_eq!(merge(&audit, &own, &mut merged).unwrap_err().code(), Code::Json);
    }
}
