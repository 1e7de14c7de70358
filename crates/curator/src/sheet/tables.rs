//! One table a question.

use crate::page::{AnsweredQuestion, PageOutcome, PageRow, PageUnit, ReleasedPart};
use reticent_report::digits;
use reticent_report::sheet::{SheetRow, SheetTable, SheetValue};

/// The answers of a page: a table for each question, in the order of the request.
pub fn tables(outcome: &PageOutcome) -> Vec<SheetTable> {
    outcome.questions.iter().map(|question| table(outcome, question)).collect()
}

/// What was released and for which questions, a line each: `moments of age: gaussian; for mean of age, variance of age; …`.
pub fn parts_in_words(parts: &[ReleasedPart]) -> Vec<String> {
    let line = |part: &ReleasedPart| {
        let shared = match part.questions.as_slice() {
            [] | [_] => String::new(),
            several => format!(", shared by {}", several.join(", ")),
        };
        let why = if part.why.is_empty() { String::new() } else { format!(": {}", part.why) };
        format!("{} ({}{shared}){why}", part.about, part.mechanism)
    };
    parts.iter().map(line).collect()
}

/// The bounds that values were clamped to, a text for each column: `arr_delay to -60 … 300`.
pub fn clamping_in_words(outcome: &PageOutcome) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for question in &outcome.questions {
        for text in clamped(question) {
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

fn clamped(question: &AnsweredQuestion) -> impl Iterator<Item = String> {
    question.clamped.iter().map(|clamped| {
        let [low, high] = clamped.bounds.map(digits::exactly);
        let what = if clamped.person { "the total of each person in " } else { "" };
        format!("{what}{} to {low} … {high}", clamped.column)
    })
}

fn table(outcome: &PageOutcome, question: &AnsweredQuestion) -> SheetTable {
    let rows: Vec<&PageRow> = outcome.rows.iter().filter(|row| row.question == question.name).collect();
    let has_cells = rows.iter().any(|row| row.cell.is_some());
    let mut names = outcome.group_columns.clone();
    if has_cells {
        names.push(cell_name(question).to_owned());
    }
    let unit = rows.first().map_or(PageUnit::Number, |row| row.unit.clone());
    let mut notes: Vec<String> =
        clamped(question).map(|text| format!("Values are clamped: {text}.")).collect();
    let is_noise = |part: &usize| outcome.parts.get(*part).is_some_and(|part| part.mechanism != "selection");
    let own: Vec<usize> = question.parts.iter().copied().filter(is_noise).collect();
    let shares = |other: &AnsweredQuestion| {
        other.name != question.name && other.parts.iter().any(|part| own.contains(part))
    };
    if outcome.questions.iter().any(shares) {
        notes.push("It shares its noise with other statistics of this page.".to_owned());
    }
    SheetTable {
        title: question.name.clone(),
        notes,
        axis: axis(&unit, question),
        bars: matches!(unit, PageUnit::Rows | PageUnit::People | PageUnit::Values | PageUnit::Share),
        names,
        rows: rows.into_iter().map(|row| answer(row, has_cells)).collect(),
    }
}

/// What the cells of a question are.
fn cell_name(question: &AnsweredQuestion) -> &str {
    match question.kind.as_str() {
        "quantiles" => "quantile",
        "trend" => "coefficient",
        "histogram" | "mode" | "top-k" => question.columns.first().map_or("cell", String::as_str),
        _ => "cell",
    }
}

fn axis(unit: &PageUnit, question: &AnsweredQuestion) -> String {
    let column = || question.columns.join(", ");
    match unit {
        PageUnit::Rows => "rows".to_owned(),
        PageUnit::People => "people".to_owned(),
        PageUnit::Values => "values".to_owned(),
        PageUnit::Ranks => "ranks".to_owned(),
        PageUnit::Share => "share of rows".to_owned(),
        PageUnit::Column => column(),
        PageUnit::Squared => format!("{} squared", question.columns.join(" × ")),
        PageUnit::PerUnit | PageUnit::Number => question.kind.clone(),
    }
}

fn answer(row: &PageRow, has_cells: bool) -> SheetRow {
    let mut names = row.group.clone();
    if has_cells {
        names.push(row.cell.clone().unwrap_or_default());
    }
    let value = match row.estimate {
        Some(value) => {
            let whole = matches!(row.unit, PageUnit::Rows | PageUnit::People | PageUnit::Values);
            SheetValue::Number { value, interval: row.interval, whole }
        }
        None => SheetValue::Missing("too few rows beside the noise".to_owned()),
    };
    SheetRow { names, value }
}
