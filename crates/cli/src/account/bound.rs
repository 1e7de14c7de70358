//! `account epsilon` and `account delta`.

use super::words;
use crate::digits;
use crate::text::aligned;
use reticent::core::Neighboring;
use reticent::curator::account::{AccountAnswer, CompositionMethod, DeltaBounds, Direction, EpsilonBounds};

/// ε at δ.
pub(super) fn epsilon(found: &EpsilonBounds, answered: &AccountAnswer) -> String {
    let (shown, at) = (digits::spent(found.epsilon), digits::exactly(found.delta));
    format!("epsilon = {shown} at delta = {at} {}\n", words::between(found.lower, found.upper))
        + &how(answered, found.accountant, found.direction, found.neighboring)
}

/// δ at ε.
pub(super) fn delta(found: &DeltaBounds, answered: &AccountAnswer) -> String {
    let (shown, at) = (digits::spent(found.delta), digits::exactly(found.epsilon));
    format!("delta = {shown} at epsilon = {at} {}\n", words::between(found.lower, found.upper))
        + &how(answered, found.accountant, found.direction, found.neighboring)
}

/// The lines about how the answer came about.
fn how(
    answered: &AccountAnswer,
    by: CompositionMethod,
    direction: Direction,
    neighboring: Neighboring,
) -> String {
    aligned(&[
        ("accountant".to_owned(), words::answered(answered.asked, by, direction, neighboring)),
        ("neighboring".to_owned(), words::relation(neighboring)),
        ("events".to_owned(), words::happened(answered)),
    ])
}
