//! What to mind about an answer.

use super::happened::Source;
use reticent_accounting::amplification::BatchRule;
use serde::Serialize;

/// Above this ε an output may tell nearly everything.
const HARDLY: f64 = 10.0;

/// Something to mind about an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Batches were cut from a shuffled list: no amplification by sampling is claimed for them.
    Shuffled {
        /// The ε that they certainly lose, where that is known.
        lower: Option<f64>,
    },
    /// Balls in bins: the claim holds only if every record really drew its batch at random.
    BallsInBins,
    /// Balls in bins of other events, or of replaced records: an epoch is charged as the event itself.
    BallsInBinsUnamplified,
    /// δ is not below 1 / number of records.
    LargeDelta {
        /// The δ.
        delta: f64,
        /// The number of records.
        records: u64,
    },
    /// Such an ε hardly protects.
    LargeEpsilon {
        /// The ε.
        epsilon: f64,
    },
    /// More steps than 2⁴⁰ were not looked for.
    MostSteps,
    /// Hardly any noise meets the budget: less was not looked for.
    LeastNoise,
}

/// The δ and ε that an answer states, as far as it does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stated {
    pub(super) epsilon: Option<f64>,
    pub(super) delta: Option<f64>,
    /// The ε that is certainly lost, where that is known.
    pub(super) lower: Option<f64>,
}

/// Each thing to mind.
pub(super) fn warnings(source: &Source, stated: Stated) -> Vec<Warning> {
    let mut found = Vec::new();
    let rules = source.batch_rules();
    if rules.contains(&BatchRule::Shuffled) {
        found.push(Warning::Shuffled { lower: stated.lower.filter(|lower| *lower > 0.0) });
    }
    if rules.iter().any(|rule| matches!(rule, BatchRule::BallsInBins { .. })) {
        found.push(Warning::BallsInBins);
    }
    if rules.contains(&BatchRule::BallsInBins { is_amplified: false }) {
        found.push(Warning::BallsInBinsUnamplified);
    }
    let records = source.run().and_then(|run| run.dataset_size);
    if let (Some(records), Some(delta)) = (records, stated.delta)
        && delta * records as f64 >= 1.0
    {
        found.push(Warning::LargeDelta { delta, records });
    }
    if let Some(epsilon) = stated.epsilon.filter(|epsilon| *epsilon > HARDLY) {
        found.push(Warning::LargeEpsilon { epsilon });
    }
    found
}
