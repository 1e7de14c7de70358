//! Charts as SVG: files that stand alone, or figures inside a page that take its colours. No script, no web font, nothing
//! to load.
//!
//! | file | what is in it |
//! |---|---|
//! | `axis` | scales and their ticks |
//! | `bars` | bars and dots with error bars, one a line |
//! | `chart` | curves over two axes |
//! | `dots` | values with intervals and one-sided bounds, one below the other, on one axis |
//! | `ink` | colours and dashes |
//! | `svg` | the elements of SVG |

mod axis;
mod bars;
mod chart;
mod dots;
mod ink;
mod svg;

pub use axis::Axis;
pub use bars::{BarPlot, BarRow};
pub use chart::{Chart, Labels, Line};
pub use dots::{DotPlot, DotRow, Mark};
pub use ink::Stroke;
