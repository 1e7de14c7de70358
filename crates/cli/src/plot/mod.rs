//! Charts as SVG files that stand alone: no script, no web font, nothing to load.
//!
//! | file | what is in it |
//! |---|---|
//! | `axis` | scales and their ticks |
//! | `chart` | a chart to SVG |
//! | `svg` | its elements |
//! | `file` | where it may be written, and writing it |

mod axis;
mod chart;
mod file;
mod svg;

pub(crate) use axis::Axis;
pub(crate) use chart::{Chart, Curve, Labels, Stroke};
pub(crate) use file::{check, write};
