//! Files that flags ask for.

pub(crate) use reticent::curator::file::Target;

use std::path::Path;

/// The file that `--plot` asks for.
pub(crate) fn plot(path: &Path) -> Target<'_> {
    Target { field: "plot", path, extension: "svg" }
}
