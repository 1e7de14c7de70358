//! Defences compared: how much each leaks at the same utility.
//!
//! A defence is a curve: one point for every strength, with the utility of the model and what an attack finds. Between points the
//! curve is a straight line, and outside of them it is not known. So two curves are compared over the utilities that both have, and
//! not at all where they have none in common: a defence that costs more accuracy than another one is not better for leaking less.
//!
//! # Reference
//! Aerni, Zhang, Tramèr, *Evaluations of machine learning privacy defenses are misleading* (2024).

mod run;
#[cfg(test)]
mod tests;

pub use run::{DefenceComparison, DefenceCurves, DefenceLabel, DefendedModel};

use crate::AuditError;
use serde::{Deserialize, Serialize};

/// A model with a defence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DefencePoint {
    /// The strength: λ, a rate, a number of epochs, or ε.
    pub strength: f64,
    /// How useful the model is, such as its test accuracy.
    pub utility: f64,
    /// What an attack finds, such as its AUC.
    pub leakage: f64,
}

/// Models with one defence at several strengths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefenceCurve {
    /// The defence.
    pub defence: String,
    /// Its models, from the least utility.
    pub points: Vec<DefencePoint>,
}

/// Two defences over the utilities that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveComparison {
    /// One defence.
    pub defence: String,
    /// The other one.
    pub beside: String,
    /// The utilities that both have, lowest and highest; none where they have none in common.
    pub utilities: Option<[f64; 2]>,
    /// The mean leakage of the first less that of the second over these utilities: below 0, the first leaks less.
    pub difference: Option<f64>,
    /// The least and the largest difference.
    pub range: Option<[f64; 2]>,
}

impl DefenceCurve {
    /// The curve through these points.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] without points, and for numbers that are not finite.
    pub fn new(defence: impl Into<String>, mut points: Vec<DefencePoint>) -> Result<Self, AuditError> {
        let defence = defence.into();
        let is_finite = |point: &DefencePoint| point.utility.is_finite() && point.leakage.is_finite();
        if points.is_empty() || !points.iter().all(is_finite) {
            let remedy = "give at least one model, with finite utility and leakage";
            return Err(AuditError::invalid("points", defence, remedy));
        }
        points.sort_by(|a, b| a.utility.total_cmp(&b.utility).then(a.leakage.total_cmp(&b.leakage)));
        Ok(Self { defence, points })
    }

    /// The least and the largest utility.
    pub fn utilities(&self) -> [f64; 2] {
        let end = |point: Option<&DefencePoint>| point.map_or(f64::NAN, |point| point.utility);
        [end(self.points.first()), end(self.points.last())]
    }

    /// The leakage at a utility; of models of one utility the least. None outside of the curve.
    pub fn leakage_at(&self, utility: f64) -> Option<f64> {
        let after = self.points.iter().position(|point| point.utility >= utility)?;
        let above = self.points[after];
        if above.utility == utility {
            return Some(above.leakage);
        }
        let below = self.points.get(after.checked_sub(1)?)?;
        let share = (utility - below.utility) / (above.utility - below.utility);
        Some(below.leakage + share * (above.leakage - below.leakage))
    }

    /// This curve beside another one.
    pub fn beside(&self, other: &Self) -> CurveComparison {
        let ([low, high], [other_low, other_high]) = (self.utilities(), other.utilities());
        let (low, high) = (low.max(other_low), high.min(other_high));
        let mut comparison = CurveComparison {
            defence: self.defence.clone(),
            beside: other.defence.clone(),
            utilities: None,
            difference: None,
            range: None,
        };
        if low > high {
            return comparison;
        }
        let inside = |point: &&DefencePoint| point.utility > low && point.utility < high;
        let mut places: Vec<f64> =
            self.points.iter().chain(&other.points).filter(inside).map(|point| point.utility).collect();
        places.extend([low, high]);
        places.sort_by(f64::total_cmp);
        places.dedup();
        let apart: Vec<(f64, f64)> = places
            .into_iter()
            .filter_map(|at| Some((at, self.leakage_at(at)? - other.leakage_at(at)?)))
            .collect();
        let Some((_, first)) = apart.first() else { return comparison };
        // Lines between points: the trapezoids are exact.
        let area: f64 =
            apart.windows(2).map(|pair| 0.5 * (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1)).sum();
        let fold = |pick: fn(f64, f64) -> f64| apart.iter().map(|(_, by)| *by).fold(*first, pick);
        comparison.utilities = Some([low, high]);
        comparison.difference = Some(if high > low { area / (high - low) } else { *first });
        comparison.range = Some([fold(f64::min), fold(f64::max)]);
        comparison
    }
}

/// Every curve beside every later one.
pub fn compare_curves(curves: &[DefenceCurve]) -> Vec<CurveComparison> {
    let rest = |place: usize| curves[place + 1..].iter().map(move |other| curves[place].beside(other));
    (0..curves.len()).flat_map(rest).collect()
}
