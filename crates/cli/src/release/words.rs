//! Titles of answers.

use reticent::curator::release::{SettledQuestion, StatisticKind};

/// The title of the answer to a question.
pub(super) fn title(question: &SettledQuestion) -> String {
    let column = question.column.as_deref().unwrap_or("rows");
    let text = match question.kind {
        StatisticKind::Count => format!("count of {column}"),
        StatisticKind::Sum => format!("clamped sum of {column}"),
        StatisticKind::Mean => format!("clamped mean of {column}"),
        StatisticKind::Histogram => format!("histogram of {column}"),
        StatisticKind::Quantile => match question.quantile {
            None | Some(0.5) => format!("clamped median of {column}"),
            Some(level) => format!("clamped {level}-quantile of {column}"),
        },
        StatisticKind::Mode => format!("mode of {column}"),
        StatisticKind::Proportion => {
            format!("proportion of {column} = {}", question.value.as_deref().unwrap_or_default())
        }
    };
    question.filter.as_ref().map_or(text.clone(), |filter| format!("{text} where {filter}"))
}
