//! Text and JSON of `reticent budget`.

use crate::digits;
use crate::fail::{Fail, plain};
use crate::screen::present;
use crate::text::{aligned, json_line, spent};
use reticent::core::Guarantee;
use reticent::curator::budget::{
    BudgetChanged, BudgetState, BudgetSummary, ChargeHistory, ExportedBudget, PastCharge, VerifiedBudget,
    WrittenSpending,
};

/// How a budget stands.
pub(super) fn shown(summary: &BudgetSummary, json: bool) -> Result<String, Fail> {
    if json {
        return json_line(summary);
    }
    Ok(present(&aligned(&lines(summary))))
}

/// A budget after a change.
pub(super) fn changed(changed: &BudgetChanged, json: bool) -> Result<String, Fail> {
    if json {
        return json_line(changed);
    }
    let mut all = vec![(
        "budget".to_owned(),
        format!("{}: {}", changed.summary.file.display(), changed.changes.join("; ")),
    )];
    all.extend(lines(&changed.summary).into_iter().skip(1));
    Ok(present(&aligned(&all)))
}

fn lines(summary: &BudgetSummary) -> Vec<(String, String)> {
    let BudgetSummary { file, name, limit, unit, neighboring, data, state, valid_until, .. } = summary;
    let until = valid_until.map_or_else(String::new, |until| format!(", valid until {until}"));
    let mut lines = vec![
        ("budget".to_owned(), file.display().to_string()),
        ("population".to_owned(), name.clone()),
        ("limit".to_owned(), spent(limit)),
        ("protects".to_owned(), format!("{unit} ({neighboring})")),
        ("data".to_owned(), data.join(", ")),
        ("state".to_owned(), format!("{}{until}", state.name())),
        ("spent".to_owned(), used(summary)),
        ("left".to_owned(), left(summary)),
    ];
    for part in &summary.parts {
        let (kind, who) = match (&part.analyst, &part.purpose) {
            (Some(analyst), _) => ("analyst", analyst.as_str()),
            (None, purpose) => ("purpose", purpose.as_deref().unwrap_or_default()),
        };
        let text = format!(
            "{}, left: epsilon = {}, {}",
            spent(&part.limit),
            down(part.left),
            counted(part.charges, "charge")
        );
        lines.push((format!("{kind} {who}"), text));
    }
    lines
}

fn used(summary: &BudgetSummary) -> String {
    let by = format!(
        "by {}; {} remembered",
        counted(summary.charges, "charge"),
        counted(summary.answers, "answer")
    );
    let unanswered = match summary.unanswered {
        0 => String::new(),
        some => format!("; {} without an answer, counted as spent", some),
    };
    match &summary.spent {
        _ if summary.charges == 0 => "nothing".to_owned(),
        Some(most) => format!("at most {} {by}{unanswered}", spent(most)),
        None => format!("at most the limit {by}{unanswered}"),
    }
}

fn left(summary: &BudgetSummary) -> String {
    match summary.state {
        BudgetState::Open => {
            format!("one more question of up to epsilon = {} (without delta)", down(summary.left))
        }
        state => format!("nothing: the budget is {}", state.name()),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

pub(super) fn down(value: f64) -> String {
    let text = digits::significant(value, 3, digits::RoundingSide::Down);
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

/// The charges of a budget.
pub(super) fn history(history: &ChargeHistory, json: bool) -> Result<String, Fail> {
    if json {
        return json_line(history);
    }
    if history.charges.is_empty() {
        let text = plain(&format!("{}: no charges{}", history.file.display(), of(history)));
        return Ok(present(&format!("{text}\n")));
    }
    let row = |past: &PastCharge| {
        [
            past.entry.to_string(),
            past.time.to_string(),
            past.cost.as_ref().map_or_else(|| "no epsilon by itself".to_owned(), brief),
            [past.analyst.as_deref(), past.purpose.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" / "),
            past.about.clone(),
            PastCharge::words(past.answered, past.remembered).to_owned(),
        ]
    };
    let head = ["charge", "time", "cost by itself", "who", "question", "state"].map(str::to_owned);
    let has_names = history.charges.iter().any(|past| past.analyst.is_some() || past.purpose.is_some());
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(history.charges.iter().map(row)).collect();
    let columns: Vec<usize> = (0..6).filter(|column| *column != 3 || has_names).collect();
    let width = |column: usize| rows.iter().map(|row| plain(&row[column]).chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|column| width(*column)).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| format!("{:width$}", plain(&row[*column])))
            .collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    let mut text: String = rows.iter().map(line).collect();
    if (history.charges.len() as u64) < history.total {
        text += &format!("{} of {} charges\n", history.charges.len(), history.total);
    }
    Ok(present(&text))
}

fn of(history: &ChargeHistory) -> String {
    if history.total > 0 { format!(" of {}", history.total) } else { String::new() }
}

/// `0.5` or `0.5, 1e-6`.
fn brief(cost: &Guarantee) -> String {
    let epsilon = format!("epsilon {}", digits::spent(cost.epsilon.get()));
    match cost.delta.get() {
        0.0 => epsilon,
        delta => format!("{epsilon}, delta {}", digits::spent(delta)),
    }
}

/// The result of a verification.
pub(super) fn verified(verified: &VerifiedBudget, json: bool) -> Result<String, Fail> {
    if json {
        return json_line(verified);
    }
    let result = match verified.problems.len() {
        0 => "in order".to_owned(),
        count => format!("NOT in order: {}", counted(count as u64, "problem")),
    };
    let mut lines = vec![
        ("budget".to_owned(), verified.file.display().to_string()),
        ("record".to_owned(), format!("{} recomputed", entries(verified.entries))),
        ("result".to_owned(), result),
        ("digest".to_owned(), verified.digest.clone()),
    ];
    lines.extend(verified.problems.iter().map(|problem| ("problem".to_owned(), problem.to_string())));
    Ok(present(&aligned(&lines)))
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// The record as one document.
pub(super) fn exported(exported: &ExportedBudget, json: bool) -> Result<String, Fail> {
    match &exported.out {
        Some(out) if !json => {
            let text =
                format!("{} written to {}", entries(exported.export.entries.len() as u64), out.display());
            Ok(present(&aligned(&[("exported".to_owned(), text)])))
        }
        _ => json_line(exported),
    }
}

/// A page that was written.
pub(super) fn drawn(written: &WrittenSpending, json: bool) -> Result<String, Fail> {
    if json {
        return json_line(written);
    }
    let text = format!("{} in {}", counted(written.charges, "charge"), written.out.display());
    Ok(present(&aligned(&[("page".to_owned(), text)])))
}
