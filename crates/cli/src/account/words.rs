//! Events, accountants and relations in words.

use super::source::{Batches, Origin, Source};
use crate::digits;
use reticent::accounting::tight::Direction;
use reticent::accounting::words::{self, Digits};
use reticent::accounting::{Accountant, Answer, Method};
use reticent::core::{Event, Neighboring};

/// More kinds of events than this are only counted.
const MOST_KINDS: usize = 3;

/// What was added up.
pub(super) fn happened(source: &Source, account: &Accountant) -> String {
    if let Origin::Flags(training) = &source.origin {
        let noise = digits::exactly(training.noise.get());
        return format!("{}, noise multiplier {noise}", sampling(&training.batches));
    }
    let parts = account.tally().parts();
    match parts.len() {
        0 => "no events".to_owned(),
        1..=MOST_KINDS => {
            let each: Vec<String> = parts
                .iter()
                .map(
                    |(count, event)| {
                        if *count == 1 { named(event) } else { format!("{count} × {}", named(event)) }
                    },
                )
                .collect();
            each.join(", ")
        }
        kinds => {
            let total = parts.iter().fold(0u64, |sum, (count, _)| sum.saturating_add(*count));
            format!("{total} events of {kinds} kinds")
        }
    }
}

/// How the batches of a run were drawn.
pub(super) fn sampling(batches: &Batches) -> String {
    let steps = |count: u64| if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
    let epochs = |count: u64| if count == 1 { "1 epoch".to_owned() } else { format!("{count} epochs") };
    match *batches {
        Batches::Poisson { rate, steps: count } if rate.get() == 1.0 => {
            format!("{} on all records", steps(count))
        }
        Batches::Poisson { rate, steps: count } => {
            format!("{} on Poisson samples at rate {}", steps(count), digits::brief(rate.get()))
        }
        Batches::WithoutReplacement { dataset_size, batch_size, steps: count } => {
            format!("{} on {batch_size} of {dataset_size} records without replacement", steps(count))
        }
        Batches::Shuffled { per_epoch, epochs: count } => {
            format!("{} of {per_epoch} shuffled batches", epochs(count))
        }
        Batches::BallsInBins { per_epoch, epochs: count } => {
            format!("{} of {per_epoch} batches by balls in bins", epochs(count))
        }
    }
}

/// How batches were drawn, however many.
pub(super) fn batches(batches: &Batches) -> String {
    match *batches {
        Batches::Poisson { rate, .. } if rate.get() == 1.0 => "all records in every step".to_owned(),
        Batches::Poisson { rate, .. } => format!("Poisson samples at rate {}", digits::brief(rate.get())),
        Batches::WithoutReplacement { dataset_size, batch_size, .. } => {
            format!("{batch_size} of {dataset_size} records without replacement")
        }
        Batches::Shuffled { per_epoch, .. } => format!("{per_epoch} shuffled batches an epoch"),
        Batches::BallsInBins { per_epoch, .. } => format!("{per_epoch} batches an epoch by balls in bins"),
    }
}

/// `gaussian 1.1`, `poisson_sampled 0.01 (gaussian 1)`.
fn named(event: &Event) -> String {
    words::named(event, &Digits { exactly: digits::exactly, brief: digits::brief })
}

/// What a relation hides.
pub(super) fn relation(neighboring: Neighboring) -> String {
    let hidden = match neighboring {
        Neighboring::AddRemove => "that a record is there at all",
        Neighboring::ReplaceOne => "what a record holds",
    };
    format!("{neighboring} (hides {hidden})")
}

/// What a method is called in prose.
pub(super) fn theorem(method: Method) -> &'static str {
    match method {
        Method::Pld => "the privacy-loss distribution",
        Method::Rdp => "Rényi divergences",
        Method::Moments => "the moments accountant of Abadi et al.",
        Method::Optimal => "optimal composition",
        Method::Advanced => "advanced composition",
        Method::Basic => "basic composition",
    }
}

/// The method that answered, and why where it is not the one asked.
pub(super) fn answered(asked: Method, answer: &Answer, neighboring: Neighboring) -> String {
    let mut text = format!("{} ({})", answer.method.name(), theorem(answer.method));
    if answer.method != asked {
        text.push_str(&format!(": tighter here than {}", asked.name()));
    } else if asked == Method::Pld && neighboring == Neighboring::AddRemove {
        text.push_str(&format!(", worse direction: {}", direction(answer.direction)));
    }
    text
}

/// The direction on the wire.
pub(super) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Remove => "remove",
        Direction::Add => "add",
    }
}

/// `(between 6.1877123 and 6.1877124)`.
pub(super) fn between(answer: &Answer) -> String {
    if answer.lower <= 0.0 && answer.upper > 0.0 {
        return "(no lower bound is known)".to_owned();
    }
    let [lower, upper] = digits::bracket(answer.lower, answer.upper);
    if lower == upper { "(exact)".to_owned() } else { format!("(between {lower} and {upper})") }
}
