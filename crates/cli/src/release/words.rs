//! A question in words.

use reticent::curator::release::{Asked, Kind};

/// The question in words.
pub(super) fn title(asked: &Asked) -> String {
    let column = asked.column.as_deref().unwrap_or("rows");
    let text = match asked.kind {
        Kind::Count => format!("count of {column}"),
        Kind::Sum => format!("clamped sum of {column}"),
        Kind::Mean => format!("clamped mean of {column}"),
        Kind::Histogram => format!("histogram of {column}"),
        Kind::Quantile => match asked.quantile {
            None | Some(0.5) => format!("clamped median of {column}"),
            Some(level) => format!("clamped {level}-quantile of {column}"),
        },
        Kind::Mode => format!("mode of {column}"),
        Kind::Proportion => {
            format!("share of {column} = {}", asked.value.as_deref().unwrap_or_default())
        }
    };
    asked.filter.as_ref().map_or(text.clone(), |filter| format!("{text} where {filter}"))
}
