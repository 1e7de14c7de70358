//! Events, batches and theorems as statements name them.

use super::happened::{BatchSampling, TrainingRun};
use reticent_accounting::CompositionMethod;
use reticent_accounting::amplification::BatchRule;
use reticent_accounting::words::{self, Digits};
use reticent_core::Event;
use reticent_report::digits;

/// More kinds of events than this are only counted.
const MOST_KINDS: usize = 3;

/// What was added up, for people.
#[derive(Debug, Clone, PartialEq)]
pub enum Summary {
    /// A training run.
    Run(TrainingRun),
    /// A list of events.
    Events(EventSummary),
}

/// A list of events, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct EventSummary {
    /// Number of events, repetitions counted.
    pub total: u64,
    /// Number of different ones.
    pub kinds: usize,
    /// Each of them with its number, where they are few: `gaussian 1.1`, `poisson_sampled 0.01 (gaussian 1)`.
    pub named: Vec<(u64, String)>,
    /// Whether batches were cut from a shuffled list anywhere.
    pub is_shuffled: bool,
    /// Whether records were sampled by their own coins anywhere.
    pub is_poisson_sampled: bool,
}

impl EventSummary {
    /// The tally of a list of events, in short.
    pub(super) fn of(parts: &[(u64, Event)], rules: &[BatchRule]) -> Self {
        let few = if parts.len() <= MOST_KINDS { parts } else { &[] };
        Self {
            total: parts.iter().fold(0u64, |sum, (count, _)| sum.saturating_add(*count)),
            kinds: parts.len(),
            named: few.iter().map(|(count, event)| (*count, named(event))).collect(),
            is_shuffled: rules.contains(&BatchRule::Shuffled),
            is_poisson_sampled: rules.contains(&BatchRule::Poisson),
        }
    }
}

impl Summary {
    /// The training run, where it is one.
    pub fn run(&self) -> Option<&TrainingRun> {
        match self {
            Self::Run(run) => Some(run),
            Self::Events(_) => None,
        }
    }

    /// What was added up: `1000 steps on all records, noise multiplier 1`.
    pub fn words(&self) -> String {
        match self {
            Self::Run(run) => {
                let noise = digits::exactly(run.noise.get());
                format!("{}, noise multiplier {noise}", run.batches.words())
            }
            Self::Events(EventSummary { kinds: 0, .. }) => "no events".to_owned(),
            Self::Events(EventSummary { total, kinds, named, .. }) if named.is_empty() => {
                format!("{total} events of {kinds} kinds")
            }
            Self::Events(EventSummary { named, .. }) => {
                let each = |(count, name): &(u64, String)| match count {
                    1 => name.clone(),
                    _ => format!("{count} × {name}"),
                };
                named.iter().map(each).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl BatchSampling {
    /// How the batches of a run were drawn, and how many: `10 steps on all records`.
    pub fn words(&self) -> String {
        let steps = |count: u64| if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
        let epochs = |count: u64| if count == 1 { "1 epoch".to_owned() } else { format!("{count} epochs") };
        match *self {
            BatchSampling::Poisson { rate, steps: count } if rate.get() == 1.0 => {
                format!("{} on all records", steps(count))
            }
            BatchSampling::Poisson { rate, steps: count } => {
                format!("{} on Poisson samples at rate {}", steps(count), digits::brief(rate.get()))
            }
            BatchSampling::WithoutReplacement { dataset_size, batch_size, steps: count } => {
                format!("{} on {batch_size} of {dataset_size} records without replacement", steps(count))
            }
            BatchSampling::Shuffled { per_epoch, epochs: count } => {
                format!("{} of {per_epoch} shuffled batches", epochs(count))
            }
            BatchSampling::BallsInBins { per_epoch, epochs: count } => {
                format!("{} of {per_epoch} batches by balls in bins", epochs(count))
            }
        }
    }
}

/// `gaussian 1.1`, `poisson_sampled 0.01 (gaussian 1)`.
fn named(event: &Event) -> String {
    words::named(event, &Digits { exactly: digits::exactly, brief: digits::brief })
}

/// What a method is called in prose.
pub fn theorem(method: CompositionMethod) -> &'static str {
    match method {
        CompositionMethod::Pld => "the privacy-loss distribution",
        CompositionMethod::Rdp => "Rényi divergences",
        CompositionMethod::Moments => "the moments accountant of Abadi et al.",
        CompositionMethod::Optimal => "optimal composition",
        CompositionMethod::Advanced => "advanced composition",
        CompositionMethod::Basic => "basic composition",
    }
}
