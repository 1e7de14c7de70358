//! A tree over the cells of a line: one node a level for each row, few nodes for each range.

use crate::NoiseError;
use crate::query::NoiseKind;
use reticent_core::Code;

/// Branchings that are tried.
const WIDEST: usize = 256;

/// How many nodes there are on each level of a tree over `leaves` cells, the root left out: its count is the sum of its children's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeShape {
    leaves: usize,
    branching: usize,
    /// Cells under a node, and where the level begins, from the top.
    levels: Vec<(usize, usize)>,
    nodes: usize,
}

impl TreeShape {
    /// A tree over this many cells, each node with `branching` children.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless there are from 2 to 2²⁴ cells, and 2 children or more.
    pub fn new(leaves: usize, branching: usize) -> Result<Self, NoiseError> {
        if !(2..=1 << 24).contains(&leaves) {
            return Err(NoiseError::coded(Code::List, "candidates", leaves, "give from 2 to 2^24"));
        }
        if branching < 2 {
            return Err(NoiseError::invalid("branching", branching, "give at least 2"));
        }
        let (mut levels, mut nodes, mut span) = (Vec::new(), 0, 1usize);
        let mut spans = vec![1];
        while leaves.div_ceil(span) > branching {
            span *= branching;
            spans.push(span);
        }
        for span in spans.into_iter().rev() {
            levels.push((span, nodes));
            nodes += leaves.div_ceil(span);
        }
        Ok(Self { leaves, branching, levels, nodes })
    }

    /// The tree whose ranks have the least worst-case variance at the sensitivity that it needs.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_ranks(leaves: usize, noise: NoiseKind) -> Result<Self, NoiseError> {
        let mut best: Option<(f64, Self)> = None;
        for branching in (2..=leaves.clamp(2, WIDEST)).chain(Some(leaves.max(2))) {
            let shape = Self::new(leaves, branching)?;
            let levels = shape.levels.len() as f64;
            let variance = price(noise, levels) * (levels * (branching as f64 - 1.0) + 1.0);
            if best.as_ref().is_none_or(|(least, _)| variance < *least) {
                best = Some((variance, shape));
            }
        }
        best.map(|(_, shape)| shape)
            .ok_or_else(|| NoiseError::coded(Code::List, "candidates", leaves, "give from 2 to 2^24"))
    }

    /// The number of cells.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// Children of a node.
    pub fn branching(&self) -> usize {
        self.branching
    }

    /// Levels, the root left out: how many counts one row is in.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The number of counts.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The nodes that a cell is under, from the top.
    pub fn path(&self, leaf: usize) -> impl Iterator<Item = usize> + '_ {
        let leaf = leaf.min(self.leaves - 1);
        self.levels.iter().map(move |(span, first)| first + leaf / span)
    }

    /// The nodes that make up the cells up to and including `leaf`, and those that make up the rest.
    pub(super) fn parts(&self, leaf: usize, mut visit: impl FnMut(usize, bool)) {
        let end = (leaf + 1).min(self.leaves);
        // The node that is split: its first and last cell.
        let (mut from, mut to) = (0, self.leaves);
        for (span, first) in &self.levels {
            let (mut next_from, mut next_to) = (to, to);
            for node in from / span..to.div_ceil(*span) {
                let (start, stop) = (node * span, ((node + 1) * span).min(self.leaves));
                if stop <= end {
                    visit(first + node, true);
                } else if start >= end {
                    visit(first + node, false);
                } else {
                    (next_from, next_to) = (start, stop);
                }
            }
            (from, to) = (next_from, next_to);
            if from >= to {
                return;
            }
        }
    }

    /// How many nodes a range of cells takes on average, over all ranges.
    fn nodes_per_range(&self) -> f64 {
        let n = self.leaves as f64;
        let ranges = n * (n + 1.0) / 2.0;
        // A node is used by the ranges that contain it and not its parent.
        let inside = |from: usize, to: usize| (from as f64 + 1.0) * (n - to as f64 + 1.0) / ranges;
        let mut above = self.leaves;
        let mut total = 0.0;
        for (depth, (span, _)) in self.levels.iter().enumerate() {
            for node in 0..self.leaves.div_ceil(*span) {
                let (from, to) = (node * span, ((node + 1) * span).min(self.leaves));
                let parent = if depth == 0 { 0 } else { from / above * above };
                let parent_end = if depth == 0 { self.leaves } else { (parent + above).min(self.leaves) };
                // The root is not a node: the range of everything is made of its children.
                let whole = if depth == 0 { 0.0 } else { inside(parent, parent_end) };
                total += inside(from, to) - whole;
            }
            above = *span;
        }
        total
    }
}

/// The variance that noise needs for a row in this many counts, in units of that for one.
fn price(noise: NoiseKind, counts: f64) -> f64 {
    match noise {
        NoiseKind::Laplace => counts * counts,
        NoiseKind::Gaussian | NoiseKind::DiscreteGaussian => counts,
    }
}

/// Which release answers ranges of cells best.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeStrategy {
    /// Children of a node; as many as there are cells for a flat histogram.
    pub branching: usize,
    /// Counts that one row is in.
    pub levels: usize,
    /// Variance of the count of a range, averaged over all ranges, in units of the noise of one cell of a flat histogram.
    pub variance: f64,
    /// The same for the flat histogram.
    pub flat_variance: f64,
}

impl RangeStrategy {
    /// Whether a tree is better than a flat histogram.
    pub fn is_tree(&self) -> bool {
        self.levels > 1
    }
}

/// The branching at which a tree answers an average range of `cells` cells best, flat where no tree is better.
///
/// The average is over all ranges and exact; the noise grows with the levels, as the sensitivity does.
///
/// # Errors
/// [`NoiseError::Invalid`] unless there are from 2 to 2²⁴ cells.
pub fn better_tree(cells: usize, noise: NoiseKind) -> Result<RangeStrategy, NoiseError> {
    let strategy = |branching: usize| -> Result<RangeStrategy, NoiseError> {
        let shape = TreeShape::new(cells, branching)?;
        let levels = shape.levels();
        let variance = price(noise, levels as f64) * shape.nodes_per_range();
        Ok(RangeStrategy { branching, levels, variance, flat_variance: (cells as f64 + 2.0) / 3.0 })
    };
    let mut best = strategy(cells.max(2))?;
    // Beyond these the top level alone costs more than a tree with fewer children.
    for branching in 2..=cells.clamp(2, 64) {
        let tried = strategy(branching)?;
        if tried.variance < best.variance {
            best = tried;
        }
    }
    Ok(best)
}

/// Whether a table of counts with one-way margins is answered better when the margins have counts of their own.
///
/// Variances of all cells and all margins are added up for both. A margin with a count of its own is the best combination of that
/// count and the sum of its cells.
///
/// # Errors
/// [`NoiseError::Invalid`] unless every axis has from 2 to 2²⁴ categories and there are at most 2²⁴ cells.
pub fn better_margins(sizes: &[usize], noise: NoiseKind) -> Result<bool, NoiseError> {
    let cells = checked_cells(sizes)? as f64;
    if sizes.len() < 2 {
        return Ok(false);
    }
    let axes = sizes.len() as f64;
    let summed: f64 = sizes.iter().map(|size| *size as f64 * (cells / *size as f64)).sum();
    let combined: f64 = sizes
        .iter()
        .map(|size| {
            let under = cells / *size as f64;
            *size as f64 * under / (under + 1.0)
        })
        .sum();
    Ok(price(noise, 1.0 + axes) * (cells + combined) < cells + summed)
}

/// The number of cells of a table with these axes.
pub(super) fn checked_cells(sizes: &[usize]) -> Result<usize, NoiseError> {
    let cells = sizes.iter().try_fold(1usize, |cells, size| cells.checked_mul(*size));
    match cells.filter(|cells| !sizes.is_empty() && (1..=1 << 24).contains(cells)) {
        Some(cells) => Ok(cells),
        None => Err(NoiseError::coded(
            Code::List,
            "categories",
            sizes.len(),
            "declare from 1 to 2^24 cells in all",
        )),
    }
}
