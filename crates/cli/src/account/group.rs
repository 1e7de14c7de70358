//! `account group`: what several together are promised.

use super::words;
use crate::digits;
use crate::text::aligned;
use reticent::core::Neighboring;
use reticent::curator::account::{AccountAnswer, GroupClaim, GroupDivergence};

/// The (ε, δ) that a group is promised.
pub(super) fn claim(found: &GroupClaim, answered: &AccountAnswer) -> String {
    let (epsilon, size) = (digits::spent(found.epsilon), found.size);
    let (headline, how) = match (found.lower, found.upper) {
        (Some(lower), Some(upper)) => {
            let (at, between) = (digits::exactly(found.delta), words::between(lower, upper));
            let how = words::answered(answered.asked, found.accountant, found.direction, found.neighboring);
            (format!("epsilon = {epsilon} at delta = {at} for a group of {size} {between}"), how)
        }
        _ => {
            let delta = digits::spent(found.delta);
            let how = "group privacy, basic composition".to_owned();
            (format!("epsilon = {epsilon} at delta = {delta} for a group of {size}"), how)
        }
    };
    told(answered, &headline, how, found.neighboring)
}

/// The divergence that a group is promised.
pub(super) fn divergence(found: &GroupDivergence, answered: &AccountAnswer) -> String {
    let (divergence, order) = (digits::spent(found.rdp), digits::exactly(found.order));
    let headline = format!("rdp = {divergence} at order {order} for a group of {}", found.size);
    told(answered, &headline, format!("Rényi group privacy, for {}", found.doubled), found.neighboring)
}

fn told(answered: &AccountAnswer, headline: &str, how: String, neighboring: Neighboring) -> String {
    let lines = [
        ("by".to_owned(), how),
        ("neighboring".to_owned(), words::relation(neighboring)),
        ("events".to_owned(), words::happened(answered)),
    ];
    format!("{headline}\n{}", aligned(&lines))
}
