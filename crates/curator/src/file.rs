//! Output files: where they may be written, and writing them under a temporary name that is then renamed.

use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_files::{FileError, check_regular, write_atomic};
use std::path::Path;

/// What a model is, with the digests of the files that belong to it. A folder that has it holds a model.
pub const MODEL_FILE: &str = "model.json";

/// Refuses to replace a file in a model's folder: they belong together.
///
/// # Errors
/// [`Refusal`] of the field.
pub(crate) fn check_no_model(field: &str, path: &Path) -> Result<(), Refusal> {
    match path.parent() {
        Some(folder) if path.exists() && folder.join(MODEL_FILE).is_file() => {
            let remedy = "this file is in the folder of a model: give a name in another folder";
            Err(Refusal::value(field, path.display(), remedy).coded(Code::Taken))
        }
        _ => Ok(()),
    }
}

/// An output file named by a field of a request.
#[derive(Debug, Clone, Copy)]
pub struct OutputFile<'a> {
    /// The field, for refusals.
    pub field: &'a str,
    /// The path.
    pub path: &'a Path,
    /// How its name ends, without the dot.
    pub extension: &'a str,
}

impl OutputFile<'_> {
    fn refuse(&self, code: Code, remedy: impl Into<String>) -> Refusal {
        Refusal::value(self.field, self.path.display(), remedy).coded(code)
    }

    /// Refuses a path that cannot be written, before any work is done.
    ///
    /// # Errors
    /// [`Refusal`] of the field.
    pub fn check(&self) -> Result<(), Refusal> {
        let Self { path, extension, .. } = self;
        let fits = path.extension().is_some_and(|given| given.eq_ignore_ascii_case(extension));
        if !fits || path.file_name().is_none() {
            return Err(self.refuse(Code::Unwritable, format!("give a name that ends in .{extension}")));
        }
        check_regular(path).map_err(|error| match error {
            FileError::NotReplaced { kind, .. } => {
                let remedy =
                    format!("this is {kind}, and only regular files are overwritten: give another name");
                self.refuse(Code::Taken, remedy)
            }
            error => Refusal::data(self.field)(error),
        })?;
        check_no_model(self.field, path)?;
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => {
                Err(self.refuse(Code::Unwritable, "no such folder: create it first"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to overwrite an existing file.
    ///
    /// # Errors
    /// [`Refusal`] of the field.
    pub fn check_new(&self) -> Result<(), Refusal> {
        self.check()?;
        if self.path.exists() {
            let remedy = "the file exists: give another name, or ⟦force⟧ to overwrite it";
            return Err(self.refuse(Code::Taken, remedy));
        }
        Ok(())
    }

    /// Writes the file; nothing is left behind when that fails.
    ///
    /// # Errors
    /// [`Refusal`] of the field.
    pub fn write(&self, text: &str) -> Result<(), Refusal> {
        self.check()?;
        write_atomic(self.path, text.as_bytes()).map_err(Refusal::data(self.field))
    }
}
