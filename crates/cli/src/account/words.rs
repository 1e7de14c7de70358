//! Answers, batches and relations in words.

use crate::digits;
use reticent::core::Neighboring;
use reticent::curator::account::{
    AccountAnswer, BatchSampling, CompositionMethod, Direction, Summary, theorem,
};

/// What was added up.
pub(super) fn happened(answered: &AccountAnswer) -> String {
    answered.happened.as_ref().map_or_else(String::new, Summary::words)
}

/// How batches were drawn, however many.
pub(super) fn batches(batches: &BatchSampling) -> String {
    match *batches {
        BatchSampling::Poisson { rate, .. } if rate.get() == 1.0 => "all records in every step".to_owned(),
        BatchSampling::Poisson { rate, .. } => {
            format!("Poisson samples at rate {}", digits::brief(rate.get()))
        }
        BatchSampling::WithoutReplacement { dataset_size, batch_size, .. } => {
            format!("{batch_size} of {dataset_size} records without replacement")
        }
        BatchSampling::Shuffled { per_epoch, .. } => format!("{per_epoch} shuffled batches an epoch"),
        BatchSampling::BallsInBins { per_epoch, .. } => {
            format!("{per_epoch} batches an epoch by balls in bins")
        }
    }
}

/// What a relation hides.
pub(super) fn relation(neighboring: Neighboring) -> String {
    let hidden = match neighboring {
        Neighboring::AddRemove => "that a record is there at all",
        Neighboring::ReplaceOne => "what a record holds",
    };
    format!("{neighboring} (hides {hidden})")
}

/// The method that answered, and why where it is not the one asked.
pub(super) fn answered(
    asked: CompositionMethod,
    by: CompositionMethod,
    direction: Direction,
    neighboring: Neighboring,
) -> String {
    let mut text = format!("{} ({})", by.name(), theorem(by));
    if by != asked {
        text.push_str(&format!(": tighter here than {}", asked.name()));
    } else if asked == CompositionMethod::Pld && neighboring == Neighboring::AddRemove {
        let worse = match direction {
            Direction::Remove => "remove",
            Direction::Add => "add",
        };
        text.push_str(&format!(", worse direction: {worse}"));
    }
    text
}

/// `(between 6.1877123 and 6.1877124)`.
pub(super) fn between(lower: f64, upper: f64) -> String {
    if lower <= 0.0 && upper > 0.0 {
        return "(no lower bound is known)".to_owned();
    }
    let [lower, upper] = digits::bracket(lower, upper);
    if lower == upper { "(exact)".to_owned() } else { format!("(between {lower} and {upper})") }
}
