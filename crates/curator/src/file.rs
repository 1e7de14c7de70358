//! Where a file may be written, and writing it: under a temporary name, then renamed.

use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::{DataError, check_regular, write_atomic};
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
            let remedy = "this is a file in the folder of a model: give a name in another folder";
            Err(Refusal::value(field, path.display(), remedy).coded(Code::Taken))
        }
        _ => Ok(()),
    }
}

/// A file that a field of a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The field, for refusals.
    pub field: &'a str,
    /// Where the file goes.
    pub path: &'a Path,
    /// How its name ends, without the dot.
    pub extension: &'a str,
}

impl Target<'_> {
    fn refuse(&self, code: Code, remedy: impl Into<String>) -> Refusal {
        Refusal::value(self.field, self.path.display(), remedy).coded(code)
    }

    /// Refuses a place where no file can go, before anything is worked out.
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
            DataError::NotReplaced { kind, .. } => {
                let remedy =
                    format!("this is {kind}, and only a regular file is replaced: give another name");
                self.refuse(Code::Taken, remedy)
            }
            error => Refusal::data(self.field)(error),
        })?;
        check_no_model(self.field, path)?;
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => {
                Err(self.refuse(Code::Unwritable, "there is no such folder: make it first"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to replace a file that is there already.
    ///
    /// # Errors
    /// [`Refusal`] of the field.
    pub fn check_new(&self) -> Result<(), Refusal> {
        self.check()?;
        if self.path.exists() {
            let remedy = "there is such a file: give another name, or ⟦force⟧ to replace it";
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
