//! Files that flags ask for.

use crate::fail::Fail;
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

    fn place(&self) -> reticent::curator::file::Target<'_> {
        let (path, extension) = (self.path, self.extension);
        reticent::curator::file::Target { field: self.flag.trim_start_matches("--"), path, extension }
    }

    /// Refuses a place where no file can go, before anything is worked out.
    pub(crate) fn check(&self) -> Result<(), Fail> {
        Ok(self.place().check()?)
    }

    /// Refuses to replace a file that is there already.
    pub(crate) fn check_new(&self) -> Result<(), Fail> {
        Ok(self.place().check_new()?)
    }

    /// Writes the file; nothing is left behind when that fails.
    pub(crate) fn write(&self, text: &str) -> Result<(), Fail> {
        Ok(self.place().write(text)?)
    }
}
