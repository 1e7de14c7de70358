//! Writing into a folder: one process at a time, and nothing stays of what was refused.

use super::layout::{ModelKind, check_new, clear_beginning, is_beginning, missing, remove_empty, sweep};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_files::{sync_folder, write_atomic, write_private};
use reticent_train::RunLock;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder that this process alone writes into.
///
/// The lock comes first, then the ledger ([`begin`](Self::begin)), then whatever is public of the request, and only then is
/// anything drawn. Until [`keep`](Self::keep), dropping this takes away all that was written: a training that is refused leaves
/// nothing behind, and one that is killed leaves a beginning, which the next one replaces.
pub(crate) struct Writer {
    folder: PathBuf,
    /// Gone when a trainer has taken it over.
    run_lock: Option<RunLock>,
    /// The folders that were made here, the innermost first.
    made: Vec<PathBuf>,
    is_kept: bool,
}

impl Writer {
    /// Locks the place of something new.
    pub(crate) fn of_new(folder: &Path, kind: ModelKind) -> Result<Self, Refusal> {
        check_new(folder, kind)?;
        let made = missing(folder);
        let run_lock = RunLock::take(folder).inspect_err(|_| remove_empty(&made))?;
        // Nobody else writes from here on: what another process has made since the first look is refused as well.
        if !is_beginning(folder) {
            let refusal = check_new(folder, kind).err();
            if !run_lock.has_ledger() {
                run_lock.abandon();
                remove_empty(&made);
            }
            let taken = || Refusal::value("out", folder.display(), "the folder is not empty: give a new one");
            return Err(refusal.unwrap_or_else(|| taken().coded(Code::Taken)));
        }
        let folder = folder.to_owned();
        Ok(Self { folder, run_lock: Some(run_lock), made, is_kept: false })
    }

    /// Locks the folder of a resumed run.
    pub(crate) fn of_run(folder: &Path) -> Result<Self, Refusal> {
        let run_lock = RunLock::take(folder)?;
        sweep(folder);
        let folder = folder.to_owned();
        Ok(Self { folder, run_lock: Some(run_lock), made: Vec::new(), is_kept: true })
    }

    /// Writes the first entry of the ledger, in the place of what an earlier beginning left.
    pub(crate) fn begin(&mut self, request: Value) -> Result<(), Refusal> {
        if let Some(run_lock) = &mut self.run_lock {
            clear_beginning(run_lock)?;
            run_lock.begin(request)?;
        }
        // A new folder is a name in the one above it.
        for made in &self.made {
            sync_folder(above(made))?;
        }
        Ok(())
    }

    /// The request that started the run; none if the ledger does not state it.
    pub(crate) fn request(&self) -> Option<&Value> {
        self.run_lock.as_ref().and_then(RunLock::request)
    }

    /// Whether the ledger holds the terms of a run.
    pub(crate) fn has_run(&self) -> bool {
        self.run_lock.as_ref().is_some_and(RunLock::has_run)
    }

    /// Adds to the request in the ledger what was drawn before the terms of the run were known; written with those.
    pub(crate) fn add(&mut self, key: &str, value: Value) {
        if let Some(run_lock) = &mut self.run_lock {
            run_lock.add(key, value);
        }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        Ok(write_atomic(&self.folder.join(name), bytes)?)
    }

    /// Writes a file whose name is on disk as well when this returns.
    pub(crate) fn write_durably(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        self.write(name, bytes)?;
        Ok(sync_folder(&self.folder)?)
    }

    /// Writes a file that only its owner may read.
    pub(crate) fn write_private(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        Ok(write_private(&self.folder.join(name), bytes)?)
    }

    /// From here on what is written stays, however the process ends: what was drawn is about to be seen.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// The lock with the ledger, for a trainer. Files may be written for as long as it lives.
    pub(crate) fn hand_over(&mut self) -> Result<RunLock, Refusal> {
        self.is_kept = true;
        self.run_lock.take().ok_or_else(|| Refusal::internal("the folder's lock was handed over before"))
    }
}

/// The folder that a path lies in.
fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Some(run_lock) = self.run_lock.take().filter(|run_lock| !self.is_kept && !run_lock.has_run())
        else {
            return;
        };
        // What cannot be taken away is a beginning, and is replaced by the next one.
        if clear_beginning(&run_lock).is_err() {
            return;
        }
        run_lock.abandon();
        remove_empty(&self.made);
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{FIT_FILE, LEDGER_FILE, LOCK_FILE, MODEL_FILE, SCHEMA_FILE};
    use super::*;
    use serde_json::json;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_kept_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("model");
        let mut writer = Writer::of_new(&folder, ModelKind::Linear).unwrap();
        assert_eq!(names(&folder), [LOCK_FILE]);
        writer.begin(json!({"epsilon": 1})).unwrap();
        assert_eq!(names(&folder), [LEDGER_FILE, LOCK_FILE]);
        writer.write(SCHEMA_FILE, b"x").unwrap();
        assert!(
            Writer::of_new(&folder, ModelKind::Linear)
                .is_err_and(|e| e.to_string().contains("another process"))
        );
        drop(writer);
        assert!(!folder.exists());
        fs::create_dir(&folder).unwrap();
        drop(Writer::of_new(&folder, ModelKind::Network).unwrap());
        assert!(folder.exists() && names(&folder).is_empty());
    }

    #[test]
    fn a_beginning_is_replaced_and_a_model_is_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("model");
        let mut writer = Writer::of_new(&folder, ModelKind::Linear).unwrap();
        writer.begin(json!({"epsilon": 1})).unwrap();
        writer.write(SCHEMA_FILE, b"old").unwrap();
        writer.write(FIT_FILE, b"old").unwrap();
        // As a kill leaves it: nothing is taken away.
        writer.keep();
        drop(writer);
        fs::write(folder.join(".fingerprint.json.4711-0.tmp"), "half").unwrap();
        assert_eq!(names(&folder).len(), 5);
        let mut writer = Writer::of_new(&folder, ModelKind::Network).unwrap();
        writer.begin(json!({"epsilon": 2})).unwrap();
        assert_eq!(names(&folder), [LEDGER_FILE, LOCK_FILE]);
        assert_eq!(writer.request(), Some(&json!({"epsilon": 2})));
        writer.keep();
        writer.write(MODEL_FILE, b"{}").unwrap();
        drop(writer);
        let before = names(&folder);
        for kind in [ModelKind::Linear, ModelKind::Network] {
            let refusal = Writer::of_new(&folder, kind).err().unwrap();
            assert_eq!(refusal.code(), Code::Taken, "{refusal}");
        }
        assert_eq!(names(&folder), before);
    }

    #[test]
    fn a_run_is_no_beginning_and_its_ledger_stays() {
        let place = tempfile::tempdir().unwrap();
        // As a run is left whose process was killed before the first checkpoint, without its run.toml.
        fs::write(place.path().join(LOCK_FILE), "").unwrap();
        fs::write(place.path().join(SCHEMA_FILE), "x").unwrap();
        let ledger = place.path().join(LEDGER_FILE);
        for text in [r#"{"format":2,"request":{},"run":{},"counted":3}"#, "not a ledger"] {
            fs::write(&ledger, text).unwrap();
            for kind in [ModelKind::Linear, ModelKind::Network] {
                let refusal = Writer::of_new(place.path(), kind).err().unwrap();
                assert!(refusal.to_string().contains("without its run.toml"), "{refusal}");
            }
            assert_eq!(names(place.path()), [LEDGER_FILE, LOCK_FILE, SCHEMA_FILE]);
            assert_eq!(fs::read_to_string(&ledger).unwrap(), text);
        }
        fs::write(&ledger, r#"{"format":2,"request":{},"counted":0}"#).unwrap();
        drop(Writer::of_new(place.path(), ModelKind::Network).unwrap());
        assert!(names(place.path()).is_empty());
    }

    #[test]
    fn folders_that_were_made_in_vain_go_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("one/two/three");
        check_new(&folder, ModelKind::Network).unwrap();
        assert!(names(place.path()).is_empty());
        drop(Writer::of_new(&folder, ModelKind::Network).unwrap());
        assert!(names(place.path()).is_empty());
        // What was there before stays.
        fs::create_dir(place.path().join("one")).unwrap();
        let mut writer = Writer::of_new(&folder, ModelKind::Network).unwrap();
        writer.begin(json!({})).unwrap();
        drop(writer);
        assert_eq!(names(place.path()), ["one"]);
        assert!(names(&place.path().join("one")).is_empty());
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        for name in ["notes.txt", SCHEMA_FILE, ".hidden"] {
            let folder = place.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(name), "mine").unwrap();
            assert!(Writer::of_new(&folder, ModelKind::Linear).is_err_and(|e| e.code() == Code::Taken));
            assert_eq!(names(&folder), [name]);
            // Not even beside a lock.
            if name != SCHEMA_FILE {
                fs::write(folder.join(LOCK_FILE), "").unwrap();
                assert!(Writer::of_new(&folder, ModelKind::Linear).is_err());
                assert_eq!(names(&folder).len(), 2);
            }
        }
    }
}
