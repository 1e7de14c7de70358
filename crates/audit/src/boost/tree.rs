//! One shallow tree, grown greedily on histograms.

use super::BoostSettings;
use super::bins::{Bins, Row};
use std::collections::BTreeMap;

/// What one row asks of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gradient {
    pub(super) row: u32,
    /// The negative slope of the loss.
    pub(super) slope: f64,
    /// Its curvature.
    pub(super) weight: f64,
}

/// Rows are drawn towards 0 as if this much curvature spoke for it.
const RIDGE: f64 = 1.0;

#[derive(Debug, Clone)]
enum Node {
    Leaf(f64),
    Split {
        column: usize,
        /// The last bin that goes left.
        code: u8,
        /// The largest value that goes left.
        cut: f32,
        left: usize,
        right: usize,
    },
}

/// A tree; its first node is the root.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    slope: f64,
    weight: f64,
    rows: usize,
}

impl Sum {
    fn add(&mut self, g: &Gradient) {
        self.slope += g.slope;
        self.weight += g.weight;
        self.rows += 1;
    }

    fn plus(self, other: Sum) -> Sum {
        let (slope, weight) = (self.slope + other.slope, self.weight + other.weight);
        Sum { slope, weight, rows: self.rows + other.rows }
    }

    fn gain(self) -> f64 {
        self.slope * self.slope / (self.weight + RIDGE)
    }
}

struct Best {
    gain: f64,
    column: usize,
    code: u8,
}

impl Tree {
    /// Grows a tree on the chosen columns; the rows are reordered.
    pub(super) fn grow(
        bins: &Bins,
        columns: &[usize],
        rows: &mut [Gradient],
        settings: &BoostSettings,
    ) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        tree.grow_node(bins, columns, rows, settings.depth, settings.leaf);
        tree
    }

    fn grow_node(
        &mut self,
        bins: &Bins,
        columns: &[usize],
        rows: &mut [Gradient],
        depth: usize,
        leaf: usize,
    ) -> usize {
        let mut whole = Sum::default();
        rows.iter().for_each(|g| whole.add(g));
        let place = self.nodes.len();
        self.nodes.push(Node::Leaf(whole.slope / (whole.weight + RIDGE)));
        if depth == 0 || rows.len() < 2 * leaf {
            return place;
        }
        let mut best: Option<Best> = None;
        let mut sums = [Sum::default(); 256];
        for &column in columns {
            let count = bins.count(column);
            if count < 2 {
                continue;
            }
            let codes = bins.column(column);
            sums[..count].fill(Sum::default());
            for g in rows.iter() {
                sums[usize::from(codes[g.row as usize])].add(g);
            }
            let mut left = Sum::default();
            for (code, sum) in sums[..count - 1].iter().enumerate() {
                left = left.plus(*sum);
                if left.rows < leaf {
                    continue;
                }
                if whole.rows - left.rows < leaf {
                    break;
                }
                let right = Sum {
                    slope: whole.slope - left.slope,
                    weight: whole.weight - left.weight,
                    rows: whole.rows - left.rows,
                };
                let gain = left.gain() + right.gain() - whole.gain();
                if gain > 1e-9 && best.as_ref().is_none_or(|b| gain > b.gain) {
                    best = Some(Best { gain, column, code: code as u8 });
                }
            }
        }
        let Some(best) = best else { return place };
        let codes = bins.column(best.column);
        let left_rows = partition(rows, |g| codes[g.row as usize] <= best.code);
        let (low, high) = rows.split_at_mut(left_rows);
        let left = self.grow_node(bins, columns, low, depth - 1, leaf);
        let right = self.grow_node(bins, columns, high, depth - 1, leaf);
        let cut = bins.cut(best.column, best.code);
        self.nodes[place] = Node::Split { column: best.column, code: best.code, cut, left, right };
        place
    }

    /// Replaces every leaf by a quantile of what is left to explain among its rows.
    pub(super) fn refit<'a>(
        &mut self,
        rows: impl Iterator<Item = usize>,
        codes: impl Fn(usize) -> Row<'a>,
        rest: impl Fn(usize) -> f64,
        level: f64,
    ) {
        let mut leaves: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for row in rows {
            let codes = codes(row);
            let leaf = self.descend(|column, code, _| codes.code(column) <= code);
            leaves.entry(leaf).or_default().push(rest(row));
        }
        for (leaf, mut values) in leaves {
            self.nodes[leaf] = Node::Leaf(quantile(&mut values, level));
        }
    }

    /// Multiplies all leaves.
    pub(super) fn scale(&mut self, by: f64) {
        for node in &mut self.nodes {
            if let Node::Leaf(value) = node {
                *value *= by;
            }
        }
    }

    /// The value for a row given by its codes.
    pub(super) fn at_code(&self, code_of: impl Fn(usize) -> u8) -> f64 {
        self.value(self.descend(|column, code, _| code_of(column) <= code))
    }

    /// The value for a row given by its numbers.
    pub(super) fn at(&self, row: &[f32]) -> f64 {
        self.value(self.descend(|column, _, cut| row[column] <= cut))
    }

    fn value(&self, leaf: usize) -> f64 {
        match self.nodes[leaf] {
            Node::Leaf(value) => value,
            Node::Split { .. } => 0.0,
        }
    }

    fn descend(&self, goes_left: impl Fn(usize, u8, f32) -> bool) -> usize {
        let mut place = 0;
        while let Node::Split { column, code, cut, left, right } = self.nodes[place] {
            place = if goes_left(column, code, cut) { left } else { right };
        }
        place
    }
}

/// Moves rows that belong left to the front; how many there are.
fn partition(rows: &mut [Gradient], is_left: impl Fn(&Gradient) -> bool) -> usize {
    let mut front = 0;
    for place in 0..rows.len() {
        if is_left(&rows[place]) {
            rows.swap(front, place);
            front += 1;
        }
    }
    front
}

/// The smallest value with at least a share `level` at or below it; 0 without values.
pub(super) fn quantile(values: &mut [f64], level: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let place = ((level * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}
