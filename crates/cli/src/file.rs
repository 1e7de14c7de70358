//! Output files named by flags.

pub(crate) use reticent::curator::file::OutputFile;

use std::path::Path;

/// The file of `--certificate`.
pub(crate) fn certificate(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "certificate", path, extension: "json" }
}

/// The file of `--plot`.
pub(crate) fn plot(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "plot", path, extension: "svg" }
}
