//! A page of private statistics: for every question a chart with error bars and a table, and what they cost together.
//!
//! | file | what is in it |
//! |---|---|
//! | `content` | what it is made of |
//! | `parts` | the summary and the sections |

mod content;
mod parts;

pub use content::{Sheet, SheetRow, SheetTable, SheetValue};

use crate::markup::Markup;
use crate::page::{Opening, document};

impl Sheet {
    /// The statistics as one page of HTML: no script, nothing to load.
    pub fn html(&self) -> String {
        let opening = Opening { kicker: "Private statistics", title: &self.title, by: &self.subtitle };
        let mut main = Markup::default();
        main.push(parts::summary(self)).push(parts::sections(self));
        let footer = "Every figure has noise that hides each privacy unit. Its interval holds the figure without that noise; it \
                      says nothing about sampling, and nothing about what clamping and contribution limits leave out.";
        document(&opening, main, footer.into())
    }
}
