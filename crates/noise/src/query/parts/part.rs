//! The linear statistics that everything else is computed from.

use super::column::PartColumn;
use super::limits::{ContributionLimits, PartSensitivity, scalar, vector};
use super::moments::{WHOLE, joint, linear, quadratic};
use super::tree::{TreeShape, checked_cells};
use crate::NoiseError;
use crate::query::{NoiseKind, RankTable};
use reticent_core::{Code, Neighboring};

/// A statistic that is a sum over rows: each row adds a vector of integers to the sums of its group.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// How many rows.
    Rows,
    /// How many privacy units. Added once for each unit and group it has rows in, not for each row.
    People,
    /// The sum of a column's values.
    Sum(PartColumn),
    /// The sum over units of each unit's own total in the group, which is clamped to the bounds. Added once for each unit and
    /// group, by [`add_total`](Self::add_total), or not at all; a total of 0 is clamped too.
    PersonSum(PartColumn),
    /// Rows, sum and mean of a column, and its variance if asked for.
    Moments {
        /// The column.
        column: PartColumn,
        /// 1 for the mean, 2 for the variance too.
        order: u8,
    },
    /// Means, variances and covariance of two columns.
    Joint(PartColumn, PartColumn),
    /// A histogram of this many cells.
    Cells(usize),
    /// A table of counts over several lists of categories, the last one fastest, with counts of their own for the one-way
    /// margins where that is better.
    Contingency {
        /// The categories of each list.
        sizes: Vec<usize>,
        /// Whether margins have counts of their own.
        margins: bool,
    },
    /// Ranks of candidates.
    Tree(RankTree),
    /// How many of this many declared values occur. Rows are gathered in a cell for each value; [`settled`](Self::settled) counts
    /// the cells that are not empty.
    Distinct(usize),
}

/// Sorted candidates and a tree over them.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTree {
    candidates: Vec<f64>,
    shape: TreeShape,
}

impl RankTree {
    /// A tree over sorted public candidates, with the branching that ranks are best answered with.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless the candidates are at least two finite numbers in rising order.
    pub fn new(candidates: Vec<f64>, noise: NoiseKind) -> Result<Self, NoiseError> {
        let shape = TreeShape::for_ranks(candidates.len().max(2), noise)?;
        Self::with_shape(candidates, shape)
    }

    /// A tree with this branching.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_branching(candidates: Vec<f64>, branching: usize) -> Result<Self, NoiseError> {
        let shape = TreeShape::new(candidates.len().max(2), branching)?;
        Self::with_shape(candidates, shape)
    }

    fn with_shape(candidates: Vec<f64>, shape: TreeShape) -> Result<Self, NoiseError> {
        RankTable::new(candidates.clone())?;
        Ok(Self { candidates, shape })
    }

    /// The candidates.
    pub fn candidates(&self) -> &[f64] {
        &self.candidates
    }

    /// The tree.
    pub fn shape(&self) -> &TreeShape {
        &self.shape
    }

    /// The first candidate at or above a value; the last one for values above all, the first for what is not a number.
    pub fn leaf(&self, value: f64) -> usize {
        if value.is_nan() {
            return 0;
        }
        self.candidates.partition_point(|candidate| *candidate < value).min(self.candidates.len() - 1)
    }
}

/// What a row brings to a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowValue {
    /// That it is there.
    Present,
    /// A number.
    Number(f64),
    /// Two numbers.
    Numbers(f64, f64),
    /// The index of its cell; beyond the last cell it adds nothing.
    Cell(usize),
}

impl Part {
    /// Moments of a column up to this order.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless the order is 1 or 2.
    pub fn moments(column: PartColumn, order: u8) -> Result<Self, NoiseError> {
        let part = Self::Moments { column, order };
        part.check().map(|()| part)
    }

    /// A histogram.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless there are from 1 to 2²⁴ cells.
    pub fn cells(count: usize) -> Result<Self, NoiseError> {
        let part = Self::Cells(count);
        part.check().map(|()| part)
    }

    /// A table of counts.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless there are from 1 to 2²⁴ cells.
    pub fn contingency(sizes: Vec<usize>, margins: bool) -> Result<Self, NoiseError> {
        let part = Self::Contingency { margins: margins && sizes.len() > 1, sizes };
        part.check().map(|()| part)
    }

    /// A distinct count of this many declared values.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless there are from 1 to 2²⁴ values.
    pub fn distinct(values: usize) -> Result<Self, NoiseError> {
        let part = Self::Distinct(values);
        part.check().map(|()| part)
    }

    /// Checks what the constructors check, for parts that were put together by hand.
    pub(super) fn check(&self) -> Result<(), NoiseError> {
        match self {
            Self::Cells(count) | Self::Distinct(count) => checked_cells(&[*count]).map(|_| ()),
            Self::Contingency { sizes, .. } => checked_cells(sizes).map(|_| ()),
            Self::Moments { order, .. } if !(1..=2).contains(order) => {
                Err(NoiseError::invalid("order", order, "give 1 or 2"))
            }
            _ => Ok(()),
        }
    }

    /// How many numbers of a group are released.
    pub fn width(&self) -> usize {
        match self {
            Self::Rows | Self::People | Self::Sum(_) | Self::PersonSum(_) | Self::Distinct(_) => 1,
            _ => self.gathered_width(),
        }
    }

    /// How many numbers of a group are gathered.
    pub fn gathered_width(&self) -> usize {
        match self {
            Self::Rows | Self::People | Self::Sum(_) | Self::PersonSum(_) => 1,
            Self::Moments { order, .. } => 1 + usize::from(*order).clamp(1, 2),
            Self::Joint(..) => 9,
            Self::Cells(count) | Self::Distinct(count) => *count,
            Self::Contingency { sizes, margins } => {
                let own = if *margins { sizes.iter().sum() } else { 0 };
                sizes.iter().product::<usize>() + own
            }
            Self::Tree(tree) => tree.shape.nodes(),
        }
    }

    /// How far one privacy unit moves the sums of all `groups` groups.
    ///
    /// # Guarantee
    /// For the sums of units that keep to the limits, of which one is added or removed, or has its rows replaced by others that
    /// keep to them. ℓ1 is exact for the limits, ℓ2 rounded up.
    ///
    /// # Reference
    /// Derived in the proof of the parts.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the sensitivity is beyond 2⁶⁴.
    pub fn sensitivity(
        &self,
        limits: &ContributionLimits,
        neighboring: Neighboring,
        groups: u64,
    ) -> Result<PartSensitivity, NoiseError> {
        self.check()?;
        let once = limits.with_rows_per_group(1);
        match self {
            Self::Rows => scalar(limits, neighboring, groups, 1, 0),
            Self::People => scalar(&once, neighboring, groups, 1, 0),
            Self::Sum(column) => {
                let [up, down] = reach(column)?;
                scalar(limits, neighboring, groups, up, down)
            }
            Self::PersonSum(column) => {
                let [up, down] = reach(column)?;
                scalar(&once, neighboring, groups, up, down)
            }
            Self::Moments { .. } | Self::Joint(..) => {
                vector(limits, neighboring, groups, WHOLE, u128::from(WHOLE) * u128::from(WHOLE))
            }
            Self::Cells(1) => scalar(limits, neighboring, groups, 1, 0),
            Self::Cells(_) => vector(limits, neighboring, groups, 1, 1),
            Self::Contingency { sizes, margins } => {
                let counts = if *margins { 1 + sizes.len() as u64 } else { 1 };
                vector(limits, neighboring, groups, counts, counts.into())
            }
            Self::Tree(tree) => {
                let counts = tree.shape.levels() as u64;
                vector(limits, neighboring, groups, counts, counts.into())
            }
            Self::Distinct(values) => {
                scalar(&limits.with_rows_per_group(*values as u64), neighboring, groups, 1, 0)
            }
        }
    }

    /// Adds one row to the gathered sums of its group.
    ///
    /// # Guarantee
    /// What is added depends on the row alone; for [`Part::People`] the caller adds a unit once. A value of another kind than the part has, or a group of another width, adds
    /// nothing.
    ///
    /// # Reference
    /// The proof of the parts.
    pub fn add(&self, sums: &mut [i128], value: RowValue) {
        if sums.len() != self.gathered_width() {
            return;
        }
        match (self, value) {
            (Self::Rows | Self::People, _) => sums[0] += 1,
            (Self::Sum(column), RowValue::Number(value)) => sums[0] += column.point(value),
            (Self::PersonSum(column), RowValue::Number(total)) => sums[0] += column.point(total),
            (Self::Moments { column, order: 1 }, RowValue::Number(value)) => {
                add_entries(sums, &linear(column.place(value)));
            }
            (Self::Moments { column, .. }, RowValue::Number(value)) => {
                add_entries(sums, &quadratic(column.place(value)));
            }
            (Self::Joint(first, second), RowValue::Numbers(x, y)) => {
                add_entries(sums, &joint(first.place(x), second.place(y)));
            }
            (Self::Cells(count) | Self::Distinct(count), RowValue::Cell(cell)) if cell < *count => {
                sums[cell] += 1
            }
            (Self::Contingency { sizes, margins }, RowValue::Cell(cell)) => {
                let cells: usize = sizes.iter().product();
                if cell >= cells {
                    return;
                }
                sums[cell] += 1;
                if *margins {
                    let (mut first, mut under) = (cells, cells);
                    for size in sizes {
                        under /= size;
                        sums[first + cell / under % size] += 1;
                        first += size;
                    }
                }
            }
            (Self::Tree(tree), RowValue::Number(value)) => {
                tree.shape.path(tree.leaf(value)).for_each(|node| sums[node] += 1);
            }
            _ => {}
        }
    }

    /// One row's number in steps of the column, for the total of a unit in a group ([`Part::PersonSum`]); totals of steps do not
    /// depend on the order of rows.
    pub fn steps(&self, value: f64) -> i128 {
        match self {
            Self::Sum(column) | Self::PersonSum(column) => column.steps(value),
            _ => 0,
        }
    }

    /// Adds a unit's own total in a group, in steps, clamped to the bounds ([`Part::PersonSum`]).
    pub fn add_total(&self, sums: &mut [i128], steps: i128) {
        if let (Self::PersonSum(column), [sum]) = (self, sums) {
            *sum += column.clamped_point(steps);
        }
    }

    /// What is released of what was gathered in one group.
    pub fn settled(&self, gathered: &[i128]) -> Vec<i128> {
        match self {
            Self::Distinct(_) => vec![gathered.iter().filter(|count| **count > 0).count() as i128],
            _ => gathered.to_vec(),
        }
    }
}

fn add_entries(sums: &mut [i128], entries: &[u64]) {
    for (sum, entry) in sums.iter_mut().zip(entries) {
        *sum += i128::from(*entry);
    }
}

/// How far one value moves a sum, up and down.
fn reach(column: &PartColumn) -> Result<[u64; 2], NoiseError> {
    let [low, high] = column.points();
    let size = |steps: i128| {
        u64::try_from(steps.max(0)).map_err(|_| {
            NoiseError::coded(Code::Bounds, "bounds", steps, "give bounds of at most 2^52 in size")
        })
    };
    Ok([size(high)?, size(-low)?])
}
