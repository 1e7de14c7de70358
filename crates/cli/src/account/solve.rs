//! `account noise`, `account steps` and `account rate`: the one unknown of a budget.

use super::words;
use crate::digits::{self, RoundingSide};
use crate::text::aligned;
use reticent::curator::account::{AccountAnswer, Solved};

/// The number that was found, and what it achieves.
pub(super) fn solved(found: &Solved, answered: &AccountAnswer) -> String {
    let target =
        format!("epsilon = {} at delta = {}", digits::exactly(found.epsilon), digits::exactly(found.delta));
    let mut headline = String::new();
    if let Some(noise) = found.noise_multiplier {
        headline =
            format!("noise multiplier = {} for {target}\n", digits::significant(noise, 5, RoundingSide::Up));
    }
    if let Some(steps) = found.steps {
        headline = match found.run {
            Some(_) => format!("steps = {steps} within {target}\n"),
            None => format!("the whole list {steps} times within {target}\n"),
        };
    }
    if let Some(rate) = found.sampling_rate {
        headline =
            format!("sampling rate = {} within {target}\n", digits::significant(rate, 5, RoundingSide::Down));
    }
    let (achieved, neighboring) = (found.achieved, found.neighboring);
    let how = words::answered(answered.asked, found.accountant, found.direction, neighboring);
    let between = words::between(achieved.lower, achieved.upper);
    let mut lines = vec![
        ("achieved".to_owned(), format!("epsilon = {} {between}", digits::spent(achieved.upper))),
        ("accountant".to_owned(), how),
        ("neighboring".to_owned(), words::relation(neighboring)),
    ];
    if let Some(run) = &found.run {
        lines.push(("batches".to_owned(), run.batches.words()));
        if let (Some(rate), Some(records)) = (found.sampling_rate, run.dataset_size) {
            let batch = (rate * records as f64).floor();
            lines.push(("batch size".to_owned(), format!("{batch} of {records} records on average")));
        }
    }
    headline + &aligned(&lines)
}
