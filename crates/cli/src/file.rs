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

/// The file of `--csv`.
pub(crate) fn csv(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "csv", path, extension: "csv" }
}

/// The file of `--parquet`.
pub(crate) fn parquet(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "parquet", path, extension: "parquet" }
}

/// The file of `--html`.
pub(crate) fn html(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "html", path, extension: "html" }
}
