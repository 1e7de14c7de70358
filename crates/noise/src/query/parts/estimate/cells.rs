//! Histograms, tables of counts, shares, the most frequent categories, distinct values.

use super::super::part::Part;
use super::super::release::NoisyPart;
use super::{Figure, Sums, unavailable};
use crate::NoiseError;
use reticent_core::Confidence;
use serde::{Deserialize, Serialize};

/// Rounds of the search for consistent counts; the result is post-processing whatever it is.
const ROUNDS: usize = 200;

/// A table of counts whose margins and total are the sums of its cells, none of them negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountTable {
    /// The cells, the last list of categories fastest.
    pub cells: Vec<Figure>,
    /// One-way margins, a list for each list of categories.
    pub margins: Vec<Vec<Figure>>,
    /// The number of rows in the table.
    pub total: Figure,
}

impl NoisyPart {
    fn table_cells(&self, figure: &'static str) -> Result<usize, NoiseError> {
        match self.part() {
            Part::Cells(count) => Ok(*count),
            Part::Contingency { sizes, .. } => Ok(sizes.iter().product()),
            part => Err(unavailable(part, figure)),
        }
    }

    /// The count of every cell of a histogram or table.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no cells.
    pub fn cells(&self, group: usize, confidence: Confidence) -> Result<Vec<Figure>, NoiseError> {
        let count = self.table_cells("cells")?;
        let sums = Sums::of(self, group)?;
        let error = sums.law.pointwise(&[(1.0, 1)], confidence.beta());
        Ok(sums.values[..count].iter().map(|value| Figure::around(*value, error).counted()).collect())
    }

    /// The margin of a table along one of its lists of categories.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or list, or the part is not a table.
    pub fn margin(
        &self,
        group: usize,
        axis: usize,
        confidence: Confidence,
    ) -> Result<Vec<Figure>, NoiseError> {
        let Part::Contingency { sizes, margins } = self.part() else {
            return Err(unavailable(self.part(), "margins"));
        };
        let Some(size) = sizes.get(axis) else {
            return Err(NoiseError::invalid("axis", axis, format!("give a number below {}", sizes.len())));
        };
        let sums = Sums::of(self, group)?;
        let cells: usize = sizes.iter().product();
        let under: usize = sizes[axis + 1..].iter().product();
        let in_each = (cells / size) as u64;
        let weights = margin_weights(in_each, *margins);
        let own_weight = weights[0].0;
        let first = cells + sizes[..axis].iter().sum::<usize>();
        let error = sums.law.pointwise(&weights, confidence.beta());
        Ok((0..*size)
            .map(|category| {
                let members = (0..cells).filter(|cell| cell / under % size == category);
                let summed: f64 = members.map(|cell| sums.values[cell]).sum();
                let own = if *margins { sums.values[first + category] } else { 0.0 };
                let value = own_weight * own + (1.0 - own_weight) * summed;
                Figure::around(value, error + value.abs() * 1e-12).counted()
            })
            .collect())
    }

    /// The cells, margins and total of a table as counts that are not negative and add up.
    ///
    /// The cells are those, without negative ones, that fit the noisy cells and margins best. Intervals are those of the figures by
    /// themselves, widened to hold the consistent figure.
    ///
    /// # Errors
    /// As [`margin`](Self::margin).
    pub fn consistent_table(&self, group: usize, confidence: Confidence) -> Result<CountTable, NoiseError> {
        let Part::Contingency { sizes, margins } = self.part() else {
            return Err(unavailable(self.part(), "table"));
        };
        let cells = self.cells(group, confidence)?;
        let by_axis = (0..sizes.len())
            .map(|axis| self.margin(group, axis, confidence))
            .collect::<Result<Vec<_>, _>>()?;
        let total = self.rows(group, confidence)?;
        let noisy: Vec<f64> = self.group(group).iter().map(|value| *value as f64).collect();
        let fitted = fitted_cells(sizes, *margins, &noisy, total.value.max(0.0));
        let margin_values = |axis: usize| {
            let under: usize = sizes[axis + 1..].iter().product();
            let mut margin = vec![0.0; sizes[axis]];
            for (cell, value) in fitted.iter().enumerate() {
                margin[cell / under % sizes[axis]] += value;
            }
            margin
        };
        let moved = |figures: Vec<Figure>, values: Vec<f64>| {
            figures.into_iter().zip(values).map(|(figure, value)| moved_to(figure, value)).collect()
        };
        Ok(CountTable {
            margins: by_axis
                .into_iter()
                .enumerate()
                .map(|(axis, figures)| moved(figures, margin_values(axis)))
                .collect(),
            total: moved_to(total, fitted.iter().sum()),
            cells: moved(cells, fitted),
        })
    }

    /// The share of the rows that are in one cell.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or cell, or the part has no cells.
    pub fn proportion(
        &self,
        group: usize,
        cell: usize,
        confidence: Confidence,
    ) -> Result<Figure, NoiseError> {
        let count = self.table_cells("share of a cell")?;
        if cell >= count {
            return Err(NoiseError::invalid("cell", cell, format!("give a number below {count}")));
        }
        let sums = Sums::of(self, group)?;
        let table = Sums { values: sums.values[..count].to_vec(), law: sums.law };
        let weights: Vec<f64> = (0..count).map(|at| f64::from(u8::from(at == cell))).collect();
        Ok(table.fixed_ratio(&weights, confidence.beta()).within(0.0, 1.0))
    }

    /// The cells with the largest noisy counts, the largest first, as their indices and counts.
    ///
    /// The intervals hold for all cells of the group together, so choosing cells by their noise does not spoil them.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no cells.
    pub fn top(
        &self,
        group: usize,
        count: usize,
        confidence: Confidence,
    ) -> Result<Vec<(usize, Figure)>, NoiseError> {
        let cells = self.table_cells("most frequent categories")?;
        let sums = Sums::of(self, group)?;
        let error = sums.law.pointwise(&[(1.0, 1)], confidence.beta() / cells as f64);
        let mut order: Vec<usize> = (0..cells).collect();
        order.sort_by(|a, b| sums.values[*b].total_cmp(&sums.values[*a]));
        let figure = |cell: usize| (cell, Figure::around(sums.values[cell], error).counted());
        Ok(order.into_iter().take(count).map(figure).collect())
    }

    /// How many of the declared values occur.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part is not a distinct count.
    pub fn distinct(&self, group: usize, confidence: Confidence) -> Result<Figure, NoiseError> {
        let Part::Distinct(values) = self.part() else {
            return Err(unavailable(self.part(), "distinct count"));
        };
        let figure = Sums::of(self, group)?.linear(&[1.0], confidence.beta());
        Ok(figure.within(0.0, *values as f64))
    }
}

/// How a margin of so many cells weighs a count of its own, if there is one, and each of its cells: by their variances, 1 and the
/// number of cells.
pub(super) fn margin_weights(in_each: u64, has_own: bool) -> [(f64, u64); 2] {
    let own_weight = if has_own { in_each as f64 / (in_each as f64 + 1.0) } else { 0.0 };
    [(own_weight, u64::from(has_own)), (1.0 - own_weight, in_each)]
}

/// A figure with another value: the interval still holds, and is widened to hold the value too.
fn moved_to(figure: Figure, value: f64) -> Figure {
    Figure { value, interval: figure.interval.map(|[low, high]| [low.min(value), high.max(value)]) }
}

/// Counts that are not negative and add up to `total`, as close to the figures as possible; intervals as of
/// [`consistent_table`](NoisyPart::consistent_table).
///
/// # Guarantee
/// A function of the figures alone: post-processing.
///
/// # Reference
/// Hay et al., *Boosting the Accuracy of Differentially Private Histograms Through Consistency* (2010).
pub fn consistent_counts(figures: &[Figure], total: f64) -> Vec<Figure> {
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    let fitted = on_simplex(&values, total.max(0.0));
    figures.iter().zip(fitted).map(|(figure, value)| moved_to(figure.counted(), value)).collect()
}

/// The nearest point whose entries are not negative and add up to `total`.
fn on_simplex(values: &[f64], total: f64) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, f64::NEG_INFINITY);
    for (i, value) in sorted.iter().enumerate() {
        sum += value;
        let tried = (sum - total) / (i as f64 + 1.0);
        if *value > tried {
            level = tried;
        }
    }
    if !level.is_finite() {
        return vec![0.0; values.len()];
    }
    values.iter().map(|value| (value - level).max(0.0)).collect()
}

/// Cells without negative ones that fit noisy cells, and noisy margins where there are some, in least squares: one cell after the
/// other is set to its best value.
fn fitted_cells(sizes: &[usize], margins: bool, noisy: &[f64], total: f64) -> Vec<f64> {
    let cells: usize = sizes.iter().product();
    if !margins {
        return on_simplex(&noisy[..cells], total);
    }
    let unders: Vec<usize> = (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect();
    let firsts: Vec<usize> =
        (0..sizes.len()).map(|axis| cells + sizes[..axis].iter().sum::<usize>()).collect();
    let place = |cell: usize, axis: usize| firsts[axis] + cell / unders[axis] % sizes[axis];
    let mut fitted: Vec<f64> = noisy[..cells].iter().map(|value| value.max(0.0)).collect();
    // What each margin has too many.
    let mut excess: Vec<f64> = noisy.iter().map(|value| -value).collect();
    for (cell, value) in fitted.iter().enumerate() {
        (0..sizes.len()).for_each(|axis| excess[place(cell, axis)] += value);
    }
    for _ in 0..ROUNDS {
        for cell in 0..cells {
            let over: f64 = (0..sizes.len()).map(|axis| excess[place(cell, axis)]).sum();
            let step = (over + fitted[cell] - noisy[cell]) / (1.0 + sizes.len() as f64);
            let next = (fitted[cell] - step).max(0.0);
            (0..sizes.len()).for_each(|axis| excess[place(cell, axis)] += next - fitted[cell]);
            fitted[cell] = next;
        }
    }
    fitted
}
