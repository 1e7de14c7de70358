//! The demo's folder: its files, whether a demo made it, and how it is emptied without touching other files.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::files::write_atomic;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Marks the folder of a demo, and holds its numbers when it is finished.
pub(super) const MARKER: &str = "demo.json";
/// The name of that file's layout.
pub(super) const SCHEMA: &str = "reticent-demo/1";

/// Files of the demo itself.
const TOP: &[&str] = &["report.html", "accounting.svg"];
/// Tables and settings.
const DATA: &[&str] = &[
    "adult.parquet",
    "schema.toml",
    "train.csv",
    "test.csv",
    "members.csv",
    "others.csv",
    "wide.toml",
    "overfitted.toml",
    "twin.toml",
];
/// What a model's folder may hold.
const MODEL: &[&str] = &[
    "run.json",
    "run.toml",
    "run.lock",
    "model.json",
    "model.toml",
    "model.safetensors",
    "weights.safetensors",
    "checkpoint.safetensors",
    "schema.toml",
    "certificate.json",
    "ledger.json",
    "fingerprint.json",
    "metrics.jsonl",
    "report.html",
    "report.json",
];
const AUDIT: &[&str] =
    &["audit.json", "audit.lock", "scores.csv", "records.csv", "private.json", "report.html", "report.json"];
/// Folders of models.
const MODELS: &[&str] = &["exact", "logistic", "network", "overfitted", "twin"];

/// The folder of a demo.
pub(super) struct Folder {
    path: PathBuf,
    /// As it stands in commands.
    shown: String,
}

impl Folder {
    /// Takes a new or empty folder, or one that an earlier demo filled, which is emptied.
    pub(super) fn take(out: &Path) -> Result<Self, Fail> {
        let shown = out.to_str().unwrap_or_default().trim_end_matches(['/', '\\']).to_owned();
        let refuse = |remedy: &str| Fail::flag("--out", &out.display().to_string(), remedy);
        if shown.is_empty() || shown.chars().any(char::is_control) {
            return Err(refuse("give the name of a folder without control characters"));
        }
        // Commands must not take it for a flag.
        let shown = if shown.starts_with('-') { format!("./{shown}") } else { shown };
        let folder = Self { path: PathBuf::from(&shown), shown };
        match fs::read_dir(&folder.path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) if folder.is_ours() => folder.empty()?,
            Ok(false) => {
                return Err(refuse("the folder contains other files: give a new folder with --out"));
            }
            Err(_) if fs::symlink_metadata(&folder.path).is_ok() => {
                return Err(refuse("not a readable folder: give a new folder with --out"));
            }
            Err(_) => fs::create_dir_all(&folder.path).map_err(|error| {
                refuse(&format!("cannot be created ({error}): give another folder with --out"))
            })?,
        }
        folder.write(MARKER, format!("{}\n", json!({"schema": SCHEMA, "finished": false})).as_bytes())?;
        let data = folder.path.join("data");
        fs::create_dir_all(&data).map_err(|error| {
            Fail::new(Code::Unwritable, format!("{}: cannot be created: {error}", data.display()))
        })?;
        Ok(folder)
    }

    /// Whether a demo has made it.
    fn is_ours(&self) -> bool {
        let Ok(text) = fs::read_to_string(self.path.join(MARKER)) else { return false };
        serde_json::from_str::<Value>(&text).is_ok_and(|marker| marker["schema"] == SCHEMA)
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A path in it, as commands name it.
    pub(super) fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }

    /// The folder, as commands name it.
    pub(super) fn name(&self) -> &str {
        &self.shown
    }

    /// Writes a file.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Fail> {
        Ok(write_atomic(&self.path(name), bytes)?)
    }

    /// Removes what a demo may have made, but for the marker. Where something else lies among it, that stays, and the
    /// demo is refused: it could not say whose numbers are whose.
    fn empty(&self) -> Result<(), Fail> {
        for model in MODELS {
            let beside = self.path.join(format!("{model}-audit"));
            let model = self.path.join(model);
            // Older demos had audits in the folders of their models.
            for audit in [beside, model.join("audit")] {
                remove(&audit.join("references"), &|name| {
                    name.starts_with("reference-") && name.ends_with(".safetensors")
                })?;
                remove(&audit, &|name| AUDIT.contains(&name))?;
            }
            remove(&model, &|name| MODEL.contains(&name))?;
        }
        remove(&self.path.join("data"), &|name| DATA.contains(&name))?;
        remove_files(&self.path, &|name| TOP.contains(&name))
    }
}

/// Removes a folder of known files; one that is not there is fine.
fn remove(folder: &Path, is_known: &dyn Fn(&str) -> bool) -> Result<(), Fail> {
    match fs::symlink_metadata(folder) {
        Err(_) => return Ok(()),
        Ok(found) if !found.is_dir() => return Err(foreign(folder)),
        Ok(_) => {}
    }
    remove_files(folder, is_known)?;
    fs::remove_dir(folder).map_err(|_| foreign(folder))
}

/// Removes the known files of a folder, and those that were being written when an earlier run was ended.
fn remove_files(folder: &Path, is_known: &dyn Fn(&str) -> bool) -> Result<(), Fail> {
    let refuse = |error: std::io::Error| {
        Fail::new(Code::Unwritable, format!("{}: cannot be emptied: {error}", folder.display()))
    };
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let entry = entry.map_err(refuse)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        // As in `.model.json.4711-0.tmp`.
        let half = name
            .strip_prefix('.')
            .and_then(|name| name.strip_suffix(".tmp"))
            .and_then(|name| name.rsplit_once('.'));
        let is_ours = is_known(name) || half.is_some_and(|(name, _)| is_known(name) || name == MARKER);
        if is_ours && !entry.file_type().map_err(refuse)?.is_dir() {
            fs::remove_file(entry.path()).map_err(refuse)?;
        }
    }
    Ok(())
}

fn foreign(folder: &Path) -> Fail {
    Fail::new(
        Code::Taken,
        format!(
            "{}: contains a file that no demo wrote: move it away, or give a new folder with --out",
            folder.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_demo_made_is_removed() {
        let place = tempfile::TempDir::new().unwrap();
        let out = place.path().join("demo");
        let folder = Folder::take(&out).unwrap();
        for name in [
            "report.html",
            "data/train.csv",
            "network/model.json",
            "twin/audit/references/reference-1-a.safetensors",
            "twin-audit/references/reference-1-a.safetensors",
            "twin-audit/private.json",
        ] {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::write(folder.path("network/.model.json.4711-0.tmp"), "half").unwrap();
        fs::write(folder.path("mine.txt"), "mine").unwrap();
        Folder::take(&out).unwrap();
        let mut left: Vec<String> = fs::read_dir(&out)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["data", "demo.json", "mine.txt"]);

        fs::create_dir_all(folder.path("exact")).unwrap();
        fs::write(folder.path("exact/notes.txt"), "mine").unwrap();
        let refusal = Folder::take(&out).err().unwrap().to_string();
        assert!(refusal.contains("exact") && refusal.contains("--out"), "{refusal}");
        assert_eq!(fs::read_to_string(folder.path("exact/notes.txt")).unwrap(), "mine");
    }

    #[test]
    fn the_folder_of_somebody_else_is_left_alone() {
        let place = tempfile::TempDir::new().unwrap();
        for text in ["", "{}", r#"{"schema":"another/1"}"#] {
            fs::write(place.path().join(MARKER), text).unwrap();
            assert!(Folder::take(place.path()).err().unwrap().to_string().contains("--out"));
            assert_eq!(fs::read_to_string(place.path().join(MARKER)).unwrap(), text);
        }
        let file = place.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(Folder::take(&file).is_err());
    }
}
