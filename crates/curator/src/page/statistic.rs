//! The statistics of a page.

use serde::{Deserialize, Serialize};

/// A statistic of the rows of each group.
///
/// Bounds and categories that are left out are taken from the schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PageStatistic {
    /// The number of rows.
    Count {
        /// Only rows that have a value in this column. Beside a mean or variance of the column it shares that release, and counts
        /// rows whose value is a number.
        #[serde(default)]
        column: Option<String>,
    },
    /// The number of people: of distinct privacy units.
    People,
    /// The sum of a column whose values are clamped to public bounds.
    Sum(NumberColumn),
    /// The mean.
    Mean(NumberColumn),
    /// The variance of the values, with the number of values as divisor.
    Variance(NumberColumn),
    /// The root of the variance.
    StandardDeviation(NumberColumn),
    /// The median.
    Median(RankedColumn),
    /// Several quantiles, which share one release and never cross.
    Quantiles {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        #[serde(default)]
        bounds: Option<[f64; 2]>,
        /// Whether the column holds integers; Parquet files declare this themselves.
        #[serde(default)]
        integers: bool,
        /// The quantiles, each between 0 and 1.
        quantiles: Vec<f64>,
        /// The number of candidates, evenly spaced between the bounds.
        #[serde(default)]
        candidates: Option<u64>,
    },
    /// The number of rows in each cell: of declared categories, between edges of numbers, or between dates.
    Histogram(CellColumn),
    /// The most common of the declared categories.
    Mode(CellColumn),
    /// The most common categories, as many as are asked for, with their counts.
    TopK {
        /// How many.
        k: u64,
        /// The column.
        column: String,
        /// Public categories.
        #[serde(default)]
        categories: Option<Vec<String>>,
    },
    /// The proportion of rows with a given value.
    Proportion {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// How many of the declared values occur.
    DistinctCount {
        /// The column.
        column: String,
        /// Public categories.
        #[serde(default)]
        categories: Option<Vec<String>>,
    },
    /// The covariance of two columns, with the number of pairs as divisor.
    Covariance(ColumnPair),
    /// The correlation of two columns.
    Correlation(ColumnPair),
    /// The straight line of the second column on the first by least squares: slope and intercept.
    Trend(ColumnPair),
    /// The number of rows in each combination of cells of several columns.
    Contingency {
        /// The columns with their cells.
        columns: Vec<CellColumn>,
        /// Whether the totals of each column are released too.
        #[serde(default)]
        margins: bool,
    },
}

/// A column of numbers that are clamped to public bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberColumn {
    /// The column.
    pub column: String,
    /// Public bounds, the lower one first.
    #[serde(default)]
    pub bounds: Option<[f64; 2]>,
    /// Whether the column holds integers; Parquet files declare this themselves.
    #[serde(default)]
    pub integers: bool,
}

/// A column of numbers whose ranks are released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankedColumn {
    /// The column.
    pub column: String,
    /// Public bounds, the lower one first.
    #[serde(default)]
    pub bounds: Option<[f64; 2]>,
    /// Whether the column holds integers; Parquet files declare this themselves.
    #[serde(default)]
    pub integers: bool,
    /// The number of candidates, evenly spaced between the bounds.
    #[serde(default)]
    pub candidates: Option<u64>,
}

/// A column whose values fall into declared cells: one of `categories`, `bins` and `dates`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellColumn {
    /// The column.
    pub column: String,
    /// Public categories.
    #[serde(default)]
    pub categories: Option<Vec<String>>,
    /// Public bin edges, increasing: 0, 10, 20 give [0, 10) and [10, 20].
    #[serde(default)]
    pub bins: Option<Vec<f64>>,
    /// Public dates or times, increasing, as `2026-01-31` or `2026-01-31T08:00:00`: each cell begins with one and ends before the
    /// next.
    #[serde(default)]
    pub dates: Option<Vec<String>>,
}

/// Two columns of numbers, each clamped to public bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnPair {
    /// The columns.
    pub columns: [String; 2],
    /// Public bounds of each, the lower one first.
    #[serde(default)]
    pub bounds: Option<[[f64; 2]; 2]>,
}
