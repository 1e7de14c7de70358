//! `account rdp`: the Rényi curve of everything together.

use super::words;
use crate::digits::{self, RoundingSide};
use crate::text::aligned;
use reticent::curator::account::{AccountAnswer, Converted, Divergences};

/// Divergences at orders, and ε at the best of all orders.
pub(super) fn rdp(found: &Divergences, answered: &AccountAnswer) -> String {
    let mut lines: Vec<(String, String)> = found
        .orders
        .iter()
        .zip(&found.rdp)
        .map(|(order, value)| (format!("order {}", digits::exactly(*order)), divergence(*value)))
        .collect();
    if let Some(Converted { epsilon, delta, best_order }) = found.converted {
        let (epsilon, delta) = (digits::spent(epsilon), digits::exactly(delta));
        let order = digits::brief(best_order);
        lines.push(("epsilon".to_owned(), format!("{epsilon} at delta = {delta}, by order {order}")));
    }
    lines.push(("neighboring".to_owned(), words::relation(found.neighboring)));
    lines.push(("events".to_owned(), words::happened(answered)));
    aligned(&lines)
}

fn divergence(value: Option<f64>) -> String {
    value
        .map_or_else(|| "no finite bound".to_owned(), |value| digits::significant(value, 7, RoundingSide::Up))
}
