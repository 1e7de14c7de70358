//! Text and JSON of an evaluation.

use super::warned;
use crate::Output;
use crate::digits::brief;
use crate::fail::{Fail, plain};
use crate::screen::present;
use crate::text::{aligned, json_line};
use reticent::curator::evaluate::{ClassScore, Evaluated, Scores};
use std::mem::take;

const NOTE: &str = "exact numbers: they do not protect the rows of the evaluated table";

/// An evaluation as JSON or text.
pub(super) fn printed(mut evaluated: Evaluated, json: bool) -> Result<Output, Fail> {
    let warnings = warned(&take(&mut evaluated.warnings));
    let stdout = if json { json_line(&evaluated)? } else { text(&evaluated.scores) };
    Ok(Output { stdout, warnings, ..Output::default() })
}

fn text(scores: &Scores) -> String {
    let (mut lines, classes) = match scores {
        Scores::Values(found) => {
            let mut lines = vec![("rmse", brief(found.rmse)), ("mean absolute error", brief(found.mae))];
            lines.extend(found.r2.map(|r2| ("R²", format!("{r2:.4}"))));
            (lines, String::new())
        }
        Scores::Classes(found) => {
            let mut lines = vec![
                ("accuracy", format!("{} of {} rows", percent(found.accuracy), found.rows)),
                ("largest class", percent(found.majority)),
            ];
            lines.extend(found.auc.map(|auc| ("AUC", format!("{auc:.4}"))));
            (lines, found.classes.iter().map(line).collect())
        }
        Scores::Texts(found) => {
            let lines = vec![
                ("perplexity", format!("{} per token", brief(found.perplexity))),
                ("loss", format!("{} nats per token", brief(found.loss))),
                ("accuracy", format!("{} of {} next tokens", percent(found.accuracy), found.tokens)),
                ("texts", found.rows.to_string()),
            ];
            (lines, String::new())
        }
    };
    lines.push(("note", NOTE.to_owned()));
    let lines: Vec<(String, String)> =
        lines.into_iter().map(|(label, text)| (label.to_owned(), text)).collect();
    present(&(aligned(&lines) + &classes))
}

/// A class, on a line of its own.
fn line(class: &ClassScore) -> String {
    // NaN is shown as "none", and is null in JSON.
    let share =
        |share: Option<f64>| share.filter(|share| share.is_finite()).map_or("none".to_owned(), percent);
    format!(
        "  {}: {} rows, recall {}, precision {}\n",
        plain(&class.class),
        class.rows,
        share(class.recall),
        share(class.precision)
    )
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
