//! Charts as SVG files that stand alone: no script, no web font, nothing to load.
//!
//! | file | what is in it |
//! |---|---|
//! | `axis` | scales and their ticks |
//! | `chart` | a chart to SVG |
//! | `svg` | its elements |

mod axis;
mod chart;
mod svg;

pub(crate) use axis::Axis;
pub(crate) use chart::{Chart, Curve, Labels, Stroke};

use crate::file::Target;
use std::path::Path;

/// The file that `--plot` asks for.
pub(crate) fn file(path: &Path) -> Target<'_> {
    Target { flag: "--plot", path, extension: "svg" }
}
