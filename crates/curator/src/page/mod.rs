//! A page of statistics of one table: by group, about rows or people, under one budget.
//!
//! | file | step |
//! |---|---|
//! | `request`, `statistic` | the page and its questions, as plain data |
//! | `outcome` | figures with intervals, the certificate, and the preview |
//! | `suggest` | limits per person from a paid estimate |

mod outcome;
mod request;
mod statistic;
mod suggest;

pub use outcome::{
    AnsweredQuestion, ClampedColumn, ExpectedQuestion, PageOutcome, PagePreview, PageRow, PageUnit,
    ReleasedPart,
};
pub use request::{BudgetSplit, GroupBy, Keys, Page, PageQuestion, SelectedKeys, UnitLimits};
pub use statistic::{CellColumn, ColumnPair, NumberColumn, PageStatistic, RankedColumn};
pub use suggest::{PeopleUpTo, SuggestLimits, SuggestedLimits};
