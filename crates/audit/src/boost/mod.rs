//! One small learner: gradient-boosted histogram trees for two losses.
//!
//! Columns are cut at quantiles into a few bins, trees are shallow, and every choice is a function of the rows, the settings
//! and a key: the same rows give the same trees on every machine.

mod bins;
mod tree;

use crate::{AuditError, Features};
use bins::Bins;
use libm::{exp, log};
use reticent_data::keyed_hash;
use tree::{Gradient, Tree};

/// What is minimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoostLoss {
    /// The log-loss of targets that are 0 or 1; predictions are log-odds.
    Logistic,
    /// The pinball loss at a level between 0 and 1; predictions are that quantile of the target.
    Pinball(f64),
}

/// How trees are grown.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostSettings {
    /// How many trees.
    pub rounds: usize,
    /// How deep each is.
    pub depth: usize,
    /// How much of every tree is added.
    pub shrinkage: f64,
    /// The most bins per column, at most 256.
    pub bins: usize,
    /// The fewest rows of a leaf.
    pub leaf: usize,
    /// The share of rows that each tree sees.
    pub row_share: f64,
    /// The most columns that each tree sees.
    pub most_columns: usize,
    /// What the choice of rows and columns depends on.
    pub key: String,
}

impl Default for BoostSettings {
    fn default() -> Self {
        Self {
            rounds: 100,
            depth: 3,
            shrinkage: 0.1,
            bins: 64,
            leaf: 10,
            row_share: 0.7,
            most_columns: 100,
            key: "boost".to_owned(),
        }
    }
}

impl BoostSettings {
    fn check(&self) -> Result<(), AuditError> {
        let refuse = |field, value: String, remedy: &str| Err(AuditError::invalid(field, value, remedy));
        if !(1..=256).contains(&self.bins) {
            return refuse("bins", self.bins.to_string(), "give 1 to 256");
        }
        if !(self.row_share > 0.0 && self.row_share <= 1.0) {
            return refuse("row_share", self.row_share.to_string(), "give a share above 0, at most 1");
        }
        if !(self.shrinkage > 0.0 && self.shrinkage <= 1.0) {
            return refuse("shrinkage", self.shrinkage.to_string(), "give a number above 0, at most 1");
        }
        if self.leaf == 0 || self.most_columns == 0 || self.depth > 8 {
            let value =
                format!("leaf {}, most_columns {}, depth {}", self.leaf, self.most_columns, self.depth);
            return refuse("boost", value, "give at least 1 row per leaf and 1 column, and a depth up to 8");
        }
        Ok(())
    }
}

/// A sum of trees.
#[derive(Debug, Clone)]
pub struct Boost {
    base: f64,
    columns: usize,
    trees: Vec<Tree>,
}

impl Boost {
    /// Trees that predict the targets from the features.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for settings out of range, a number of targets other than that of the rows, and targets that
    /// do not fit the loss; [`AuditError::NotMeasurable`] without rows, and for 0/1 targets of which there is only one.
    pub fn fit(
        features: &Features,
        targets: &[f64],
        loss: BoostLoss,
        settings: &BoostSettings,
    ) -> Result<Self, AuditError> {
        settings.check()?;
        let rows = targets.len();
        if features.columns * rows != features.values.len() {
            let remedy =
                format!("give one for each of the {} rows", features.values.len() / features.columns.max(1));
            return Err(AuditError::invalid("target", format!("{rows} targets"), remedy));
        }
        if rows == 0 {
            return Err(AuditError::not_measurable("there are no rows to learn from"));
        }
        let base = start(targets, loss)?;
        let bins = Bins::new(features, settings.bins);
        let mut margins = vec![base; rows];
        let mut trees = Vec::with_capacity(settings.rounds);
        let mut gradients = Vec::with_capacity(rows);
        for round in 0..settings.rounds {
            let chosen_columns = columns_of(features.columns, round, settings);
            gradients.clear();
            // A byte per row says whether this tree sees it.
            let mut lots = [0; 8];
            for row in 0..rows {
                if row % 8 == 0 {
                    lots = hash(&settings.key, "row", round, row / 8).to_le_bytes();
                }
                if f64::from(lots[row % 8]) >= 256.0 * settings.row_share {
                    continue;
                }
                let (slope, weight) = slope(loss, targets[row], margins[row]);
                gradients.push(Gradient { row: row as u32, slope, weight });
            }
            let mut tree = Tree::grow(&bins, &chosen_columns, &mut gradients, settings);
            if let BoostLoss::Pinball(level) = loss {
                let leaves = gradients.iter().map(|g| g.row as usize);
                tree.refit(leaves, |row| bins.row(row), |row| targets[row] - margins[row], level);
            }
            tree.scale(settings.shrinkage);
            for (row, margin) in margins.iter_mut().enumerate() {
                *margin += tree.at_code(|column| bins.code(column, row));
            }
            trees.push(tree);
        }
        Ok(Self { base, columns: features.columns, trees })
    }

    /// The prediction for every row: log-odds, or a quantile.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for other columns than those learnt from.
    pub fn predict(&self, features: &Features) -> Result<Vec<f64>, AuditError> {
        if features.columns != self.columns || !features.values.len().is_multiple_of(self.columns.max(1)) {
            let remedy = format!("give the {} columns that were learnt from", self.columns);
            return Err(AuditError::invalid("features", format!("{} columns", features.columns), remedy));
        }
        let rows = features.values.chunks_exact(self.columns.max(1));
        Ok(rows.map(|row| self.base + self.trees.iter().map(|tree| tree.at(row)).sum::<f64>()).collect())
    }

    /// What is predicted before any tree.
    pub fn base(&self) -> f64 {
        self.base
    }
}

/// The best constant.
fn start(targets: &[f64], loss: BoostLoss) -> Result<f64, AuditError> {
    match loss {
        BoostLoss::Logistic => {
            if let Some(odd) = targets.iter().find(|t| **t != 0.0 && **t != 1.0) {
                return Err(AuditError::invalid("target", odd, "give 0 or 1"));
            }
            let ones = targets.iter().sum::<f64>();
            let zeros = targets.len() as f64 - ones;
            if ones == 0.0 || zeros == 0.0 {
                return Err(AuditError::not_measurable("all rows to learn from are of one kind"));
            }
            Ok(log(ones / zeros))
        }
        BoostLoss::Pinball(level) => {
            if !(level > 0.0 && level < 1.0) {
                return Err(AuditError::setting("level", level, "give a quantile between 0 and 1"));
            }
            if let Some(odd) = targets.iter().find(|t| !t.is_finite()) {
                return Err(AuditError::invalid("target", odd, "give finite numbers"));
            }
            Ok(tree::quantile(&mut targets.to_vec(), level))
        }
    }
}

/// The negative slope of the loss, and its curvature.
fn slope(loss: BoostLoss, target: f64, margin: f64) -> (f64, f64) {
    match loss {
        BoostLoss::Logistic => {
            let p = 1.0 / (1.0 + exp(-margin));
            (target - p, (p * (1.0 - p)).max(1e-9))
        }
        BoostLoss::Pinball(level) => (if target > margin { level } else { level - 1.0 }, 1.0),
    }
}

/// The columns of one tree, in order.
fn columns_of(columns: usize, round: usize, settings: &BoostSettings) -> Vec<usize> {
    let mut order: Vec<usize> = (0..columns).collect();
    if columns > settings.most_columns {
        order.sort_by_cached_key(|column| hash(&settings.key, "column", round, *column));
        order.truncate(settings.most_columns);
        order.sort_unstable();
    }
    order
}

fn hash(key: &str, what: &str, round: usize, place: usize) -> u64 {
    let mut bytes = what.as_bytes().to_vec();
    bytes.extend((round as u64).to_le_bytes());
    bytes.extend((place as u64).to_le_bytes());
    keyed_hash(key, &bytes)
}

#[cfg(test)]
mod tests;
