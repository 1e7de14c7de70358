//! `account outcome`: how much likelier a bad outcome becomes for a person whose record is used.

use super::words;
use crate::digits;
use crate::text::aligned;
use reticent::curator::account::{AccountAnswer, OutcomeBounds, Theorem};

/// The range of the probability without the record.
pub(super) fn outcome(found: &OutcomeBounds, answered: &AccountAnswer) -> String {
    let [least, most] = [(found.lower, digits::RoundingSide::Down), (found.upper, digits::RoundingSide::Up)]
        .map(|(end, side)| digits::significant(end, 4, side));
    let with = digits::exactly(found.probability);
    let (lower_by, upper_by) = (name(found.lower_by), name(found.upper_by));
    let by = if found.lower_by == found.upper_by {
        upper_by.to_owned()
    } else {
        format!("{lower_by} (lower end), {upper_by} (upper end)")
    };
    let headline = format!("probability {with} with the record: {least} to {most} without it\n");
    let lines = [
        ("by".to_owned(), by),
        ("neighboring".to_owned(), words::relation(found.neighboring)),
        ("events".to_owned(), words::happened(answered)),
    ];
    headline + &aligned(&lines)
}

fn name(theorem: Theorem) -> &'static str {
    match theorem {
        Theorem::Nothing => "nothing",
        Theorem::OrderOfTheEvent => "probability preservation at the order of the event",
        Theorem::BestOrder => "probability preservation at the best Rényi order",
        Theorem::LargestLoss => "the largest privacy loss",
        Theorem::Tradeoff => "the trade-off curve",
        Theorem::Claim => "the (epsilon, delta) claim",
    }
}
