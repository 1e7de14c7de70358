//! Quantiles from a tree of counts.

use super::super::part::Part;
use super::super::release::NoisyPart;
use super::super::tree::TreeShape;
use super::{Figure, Sums, unavailable};
use crate::NoiseError;
use reticent_core::Confidence;
use std::collections::BTreeMap;

impl NoisyPart {
    /// Quantiles of the values, one for each level, from the candidates.
    ///
    /// Quantile q is the first candidate at or below which at least a share q of the rows lies. The estimates rise with the level;
    /// each interval holds by itself.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group, the part has no ranks, or a level is not strictly between 0 and 1.
    pub fn quantiles(
        &self,
        group: usize,
        levels: &[f64],
        confidence: Confidence,
    ) -> Result<Vec<Figure>, NoiseError> {
        let Part::Tree(tree) = self.part() else {
            return Err(unavailable(self.part(), "quantiles"));
        };
        if let Some(level) = levels.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
            return Err(NoiseError::invalid("quantile", level, "give a number strictly between 0 and 1"));
        }
        let sums = Sums::of(self, group)?;
        let counts = Counts::of(tree.shape(), &sums.values);
        let smooth = counts.rising();
        let candidates = tree.candidates();
        let last = candidates.len() - 1;
        Ok(levels
            .iter()
            .map(|level| {
                let target = level * counts.total;
                let found = smooth.iter().position(|below| *below >= target).unwrap_or(last);
                let [low, high] = counts.ends(&sums, *level, confidence.beta());
                let low = if low == 0 { candidates[0] } else { candidates[low - 1] };
                let high = candidates[high];
                // An estimate beside its interval would be no estimate; the interval grows to hold it.
                let value = candidates[found];
                Figure { value, interval: Some([low.min(value), high.max(value)]) }
            })
            .collect())
    }

    /// How many rows lie at or below each candidate, rising.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there is no such group or the part has no ranks.
    pub fn ranks(&self, group: usize, confidence: Confidence) -> Result<Vec<Figure>, NoiseError> {
        let Part::Tree(tree) = self.part() else {
            return Err(unavailable(self.part(), "ranks"));
        };
        let sums = Sums::of(self, group)?;
        let counts = Counts::of(tree.shape(), &sums.values);
        let mut errors = BTreeMap::new();
        let rising = counts.rising();
        Ok(counts
            .below
            .iter()
            .zip(&counts.nodes)
            .zip(rising)
            .map(|((below, (nodes, _)), value)| {
                let error = *errors
                    .entry(*nodes)
                    .or_insert_with(|| sums.law.pointwise(&[(1.0, *nodes)], confidence.beta()));
                let [low, high] = [(below - error).max(0.0), (below + error).max(0.0)];
                Figure { value, interval: Some([low.min(value), high.max(value)]) }
            })
            .collect())
    }
}

/// Noisy counts up to each candidate.
struct Counts {
    below: Vec<f64>,
    above: Vec<f64>,
    /// How many nodes each of the two is the sum of.
    nodes: Vec<(u64, u64)>,
    total: f64,
}

impl Counts {
    fn of(shape: &TreeShape, values: &[f64]) -> Self {
        let (mut below, mut above, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for leaf in 0..shape.leaves() {
            let (mut sums, mut used) = ([0.0, 0.0], [0, 0]);
            shape.parts(leaf, |node, is_below| {
                let side = usize::from(!is_below);
                sums[side] += values[node];
                used[side] += 1;
            });
            below.push(sums[0]);
            above.push(sums[1]);
            nodes.push((used[0], used[1]));
        }
        let total = below[below.len() - 1];
        Self { below, above, nodes, total }
    }

    /// The counts as a rising sequence: the mean of the running maximum from the left and the running minimum from the right.
    fn rising(&self) -> Vec<f64> {
        let mut up = self.below.clone();
        for i in 1..up.len() {
            up[i] = up[i].max(up[i - 1]);
        }
        let mut down = self.below.clone();
        for i in (1..down.len()).rev() {
            down[i - 1] = down[i - 1].min(down[i]);
        }
        up.iter().zip(down).map(|(up, down)| ((up + down) / 2.0).max(0.0)).collect()
    }

    /// The first and the last candidate that may be the quantile.
    ///
    /// The true value of W = (1 − q)·below − q·above rises with the candidate, and the quantile is the first at which it is not
    /// negative. From the left, the first candidate where noise could hide that; from the right, the first where noise could hide
    /// that W is still negative.
    fn ends(&self, sums: &Sums<'_>, level: f64, beta: f64) -> [usize; 2] {
        let mut errors = BTreeMap::new();
        // Noise is symmetric: a miss on one side has half the probability of a miss on either.
        let mut error = |leaf: usize| {
            let (below, above) = self.nodes[leaf];
            let size = self.below[leaf].abs() + self.above[leaf].abs();
            *errors
                .entry((below, above))
                .or_insert_with(|| sums.law.pointwise(&[(1.0 - level, below), (level, above)], beta))
                + size * 1e-13
        };
        let offset = |leaf: usize| (1.0 - level) * self.below[leaf] - level * self.above[leaf];
        let last = self.below.len() - 1;
        let low = (0..=last).find(|leaf| offset(*leaf) >= -error(*leaf)).unwrap_or(last);
        let high = (0..=last).rev().find(|leaf| offset(*leaf) <= error(*leaf)).map_or(0, |leaf| leaf + 1);
        [low, high.min(last)]
    }
}
