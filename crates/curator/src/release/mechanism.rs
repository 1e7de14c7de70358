//! The mechanism of an answer.

use super::plan::PlannedRelease;
use super::query::Query;
use reticent_core::Event;
use reticent_noise::mechanism::SelectionRule;
use reticent_noise::query::NoiseKind;
use reticent_report::digits;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A kind of mechanism; its JSON is its name in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MechanismKind {
    /// Discrete Laplace noise.
    DiscreteLaplace,
    /// Gaussian noise.
    Gaussian,
    /// Discrete Gaussian noise.
    DiscreteGaussian,
    /// Selection by the exponential mechanism.
    Exponential,
    /// Selection by permute-and-flip.
    PermuteAndFlip,
    /// The largest of noisy counts.
    ReportNoisyMax,
    /// A quantile: selected by permute-and-flip at half of ε, and its interval by two more selections and two noisy counts.
    Quantile,
}

/// The mechanism of an answer, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MechanismSummary {
    /// The kind.
    pub kind: MechanismKind,
    /// Its noise relative to the sensitivity, where it adds noise once.
    pub noise_multiplier: Option<f64>,
    /// Whether clamped values are counted beside the answer, with 5 % of ε and discrete Laplace noise.
    pub counts_clamped: bool,
}

impl MechanismKind {
    /// All kinds.
    const ALL: [Self; 7] = [
        Self::DiscreteLaplace,
        Self::Gaussian,
        Self::DiscreteGaussian,
        Self::Exponential,
        Self::PermuteAndFlip,
        Self::ReportNoisyMax,
        Self::Quantile,
    ];

    pub(super) fn of(plan: &PlannedRelease) -> Self {
        match (&plan.query, plan.terms.noise) {
            (Query::Mode { rule: SelectionRule::Exponential, .. }, _) => Self::Exponential,
            (Query::Mode { rule: SelectionRule::PermuteAndFlip, .. }, _) => Self::PermuteAndFlip,
            (Query::Mode { rule: SelectionRule::ReportNoisyMax, .. }, _) => Self::ReportNoisyMax,
            (Query::Quantile { .. }, _) => Self::Quantile,
            (_, NoiseKind::Laplace) => Self::DiscreteLaplace,
            (_, NoiseKind::Gaussian) => Self::Gaussian,
            (_, NoiseKind::DiscreteGaussian) => Self::DiscreteGaussian,
        }
    }

    /// Whether the answer is a number with noise on it.
    fn is_additive(self) -> bool {
        matches!(self, Self::DiscreteLaplace | Self::Gaussian | Self::DiscreteGaussian)
    }
}

impl MechanismSummary {
    /// The mechanism of a plan whose release had these events.
    pub(super) fn of(plan: &PlannedRelease, events: &[Event]) -> Self {
        let (kind, counts_clamped) = (MechanismKind::of(plan), plan.counting.is_some());
        // The count of clamped values comes last.
        let own = if counts_clamped { &events[..1] } else { events };
        let noise_multiplier = match own {
            [
                Event::DiscreteLaplace { noise_multiplier, .. }
                | Event::Gaussian { noise_multiplier }
                | Event::DiscreteGaussian { noise_multiplier, .. },
            ] if kind.is_additive() => Some(noise_multiplier.get()),
            _ => None,
        };
        Self { kind, noise_multiplier, counts_clamped }
    }
}

impl fmt::Display for MechanismKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiscreteLaplace => "discrete Laplace",
            Self::Gaussian => "Gaussian",
            Self::DiscreteGaussian => "discrete Gaussian",
            Self::Exponential => "exponential mechanism",
            Self::PermuteAndFlip => "permute-and-flip",
            Self::ReportNoisyMax => "report noisy max",
            Self::Quantile => {
                "permute-and-flip (half of ε); interval by two more selections and two noisy counts"
            }
        })
    }
}

impl Serialize for MechanismKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MechanismKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kind| kind.to_string() == words);
        known.ok_or_else(|| Error::custom(format!("unknown mechanism {words:?}")))
    }
}

impl fmt::Display for MechanismSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(noise) = self.noise_multiplier {
            write!(f, ", noise multiplier {}", digits::brief(noise))?;
        }
        if self.counts_clamped {
            f.write_str("; clamped values counted with 5 % of epsilon (discrete Laplace)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::release::{MechanismKind, Release, ReleaseQuestion};
    use crate::{Planned, Request, Session};

    #[test]
    fn an_outcome_says_how_it_was_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        std::fs::write(&file, "x\n1\n2\n").unwrap();
        let question = ReleaseQuestion::Sum {
            column: "x".to_owned(),
            bounds: [0.0, 4.0],
            integers: true,
            count_clamped: true,
            schema: None,
            error: None,
        };
        let planned = Release::new(&file, question, 1.0).check().unwrap();
        let preview = planned.preview().unwrap();
        assert_eq!(preview.mechanism, MechanismKind::DiscreteLaplace);
        assert_eq!(serde_json::to_value(&preview).unwrap()["mechanism"], "discrete Laplace");
        let made = planned.run(&mut Session::without_limit().unwrap()).unwrap().mechanism;
        assert!(made.counts_clamped && made.noise_multiplier.is_some());
        let words = made.to_string();
        assert!(words.starts_with("discrete Laplace, noise multiplier ") && words.contains("5 %"), "{words}");
    }
}
