//! Where a file may be written, and writing it: under a temporary name, then renamed.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::data::{DataError, check_regular, write_atomic};
use std::path::Path;

/// A file that a flag asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The flag, for messages.
    pub(crate) flag: &'static str,
    /// Where the file goes.
    pub(crate) path: &'a Path,
    /// How its name ends, without the dot.
    pub(crate) extension: &'static str,
}

impl<'a> Target<'a> {
    /// The file that `--plot` asks for.
    pub(crate) fn plot(path: &'a Path) -> Self {
        Self { flag: "--plot", path, extension: "svg" }
    }

    /// The table that `--out` asks for.
    pub(crate) fn csv(path: &'a Path) -> Self {
        Self { flag: "--out", path, extension: "csv" }
    }

    fn refuse(&self, code: Code, remedy: impl std::fmt::Display) -> Fail {
        Fail::flag(self.flag, &self.path.display().to_string(), remedy).coded(code)
    }

    /// Refuses a place where no file can go, before anything is worked out.
    pub(crate) fn check(&self) -> Result<(), Fail> {
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
            error => Fail::data(self.flag)(error),
        })?;
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => {
                Err(self.refuse(Code::Unwritable, "there is no such folder: make it first"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to replace a file that is there already.
    pub(crate) fn check_new(&self) -> Result<(), Fail> {
        self.check()?;
        if self.path.exists() {
            return Err(
                self.refuse(Code::Taken, "there is such a file: give another name, or --force to replace it")
            );
        }
        Ok(())
    }

    /// Writes the file; nothing is left behind when that fails.
    pub(crate) fn write(&self, text: &str) -> Result<(), Fail> {
        self.check()?;
        write_atomic(self.path, text.as_bytes()).map_err(Fail::data(self.flag))
    }
}
