//! A page for the terminal: aligned tables with intervals, then the cost.

use super::Wanted;
use crate::budget;
use crate::cost::{Whole, cost};
use crate::digits;
use crate::fail::{Fail, plain};
use crate::release::render::{CERTIFICATE_FLAG, percent};
use crate::screen::present;
use crate::text::{aligned, columns, spent};
use reticent::core::Fact;
use reticent::curator::budget::BudgetStanding;
use reticent::curator::page::{PageOutcome, PagePreview, PageUnit};
use reticent::curator::sheet::{clamping_in_words, parts_in_words, tables};
use reticent::report::sheet::{SheetTable, SheetValue};

/// Columns that a table may take.
const WIDTH: usize = 80;
/// The longest bar.
const BAR: f64 = 20.0;
/// Rows that are shown of a table; files have all of them.
const SHOWN: usize = 200;

/// The released page.
pub(super) fn released(
    outcome: &PageOutcome,
    wanted: &Wanted,
    standing: Option<&BudgetStanding>,
) -> Result<String, Fail> {
    if wanted.json {
        return budget::json(outcome, standing);
    }
    let level = percent(outcome.confidence);
    let tables = tables(outcome);
    let mut text = String::new();
    let is_grouped = !outcome.group_columns.is_empty();
    // One figure a group stands beside the others; one figure at all stands on a line; several stand below each other.
    let single = |table: &&SheetTable| table.names.len() == outcome.group_columns.len();
    let (one, many): (Vec<&SheetTable>, Vec<&SheetTable>) = tables.iter().partition(single);
    if is_grouped {
        text += &wide(&outcome.group_columns, &one, &level);
    }
    for table in many {
        text += &long(table, &level);
    }
    let mut lines = Vec::new();
    if !is_grouped {
        for table in one {
            for row in &table.rows {
                let [value, interval] = row.value.shown();
                let interval =
                    if interval.is_empty() { interval } else { format!("  ({level}: {interval})") };
                lines.push((table.title.clone(), format!("{value}{interval}")));
            }
        }
    }
    let clamped = clamping_in_words(outcome);
    if !clamped.is_empty() {
        lines.push(("clamped".to_owned(), clamped.join("; ")));
    }
    let whole = wanted.certificate.as_deref().map_or(Whole::Flag(CERTIFICATE_FLAG), Whole::File);
    let mut cost = cost(&outcome.certificate, String::new(), whole);
    cost.splice(1..2, listed("released", parts_in_words(&outcome.parts)));
    lines.extend(cost);
    lines.extend(budget::lines(standing));
    let files = &wanted.files;
    for (name, path) in [("csv", &files.csv), ("parquet", &files.parquet), ("page", &files.html)] {
        if let Some(path) = path {
            lines.push((name.to_owned(), path.display().to_string()));
        }
    }
    Ok(present(&(text + &aligned(&lines))))
}

/// Texts below each other, the first with a label.
fn listed(label: &str, texts: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let labels = std::iter::once(label.to_owned()).chain(std::iter::repeat(String::new()));
    labels.zip(texts)
}

/// A figure and its interval.
fn figure(value: &SheetValue) -> String {
    let [value, interval] = value.shown();
    if interval.is_empty() { value } else { format!("{value} ({interval})") }
}

/// Groups below each other, statistics beside each other: as many as fit into the width, the others in further tables.
fn wide(groups: &[String], tables: &[&SheetTable], level: &str) -> String {
    let column = |table: &SheetTable| -> Vec<String> {
        let figures = table.rows.iter().take(SHOWN).map(|row| figure(&row.value));
        std::iter::once(table.title.clone()).chain(figures).collect()
    };
    let size = |column: &[String]| column.iter().map(|cell| plain(cell).chars().count()).max().unwrap_or(0);
    let Some(first) = tables.first() else { return String::new() };
    let names: Vec<Vec<String>> = (0..groups.len())
        .map(|place| {
            let names =
                first.rows.iter().take(SHOWN).map(|row| row.names.get(place).cloned().unwrap_or_default());
            std::iter::once(groups[place].clone()).chain(names).collect()
        })
        .collect();
    let taken: usize = names.iter().map(|column| size(column) + 2).sum();
    let (mut text, mut rest) = (String::new(), tables);
    while let Some((next, after)) = rest.split_first() {
        let mut shown = names.clone();
        let mut width = taken;
        let mut chosen = Some((*next, after));
        while let Some((table, after)) = chosen {
            let own = column(table);
            let wanted = size(&own) + 2;
            if shown.len() > names.len() && width + wanted > WIDTH + 2 {
                break;
            }
            width += wanted;
            shown.push(own);
            rest = after;
            chosen = after.split_first().map(|(table, after)| (*table, after));
        }
        let rows: Vec<Vec<String>> = (0..shown[0].len())
            .map(|line| shown.iter().map(|column| column.get(line).cloned().unwrap_or_default()).collect())
            .collect();
        text += &format!("each interval: {level}\n");
        text += &indented(&rows);
        text += &left_out(first.rows.len());
    }
    text
}

fn indented(rows: &[Vec<String>]) -> String {
    columns(rows).into_iter().map(|line| format!("  {line}\n")).collect()
}

fn left_out(rows: usize) -> String {
    match rows.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("  … {more} more: write all of them with --csv, --parquet or --html\n"),
    }
}

/// A table of cells below each other, with bars where there is room for them.
fn long(table: &SheetTable, level: &str) -> String {
    let number = |value: &SheetValue| match value {
        SheetValue::Number { value, .. } => Some(*value),
        _ => None,
    };
    let most = table.rows.iter().filter_map(|row| number(&row.value)).fold(1e-300, f64::max);
    let mut rows: Vec<Vec<String>> = vec![table.names.clone()];
    let shown: Vec<[String; 2]> = table.rows.iter().take(SHOWN).map(|row| row.value.shown()).collect();
    let width = shown.iter().map(|[value, _]| value.chars().count()).max().unwrap_or(0);
    for (row, [value, interval]) in table.rows.iter().zip(&shown) {
        let mut cells = row.names.clone();
        cells.push(format!("{value:>width$}"));
        cells.push(if interval.is_empty() { String::new() } else { format!("({interval})") });
        rows.push(cells);
    }
    let lines = columns(&rows);
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let room = (WIDTH.saturating_sub(longest + 4) as f64).min(BAR);
    let mut text = format!("{} (each interval: {level})\n", plain(&table.title));
    for (place, line) in lines.iter().enumerate() {
        let value = place.checked_sub(1).and_then(|row| number(&table.rows[row].value));
        let bar = match value {
            Some(value) if table.bars && room >= 8.0 => {
                "█".repeat((value.max(0.0) / most * room).round() as usize)
            }
            _ => String::new(),
        };
        text += format!("  {line:longest$}  {bar}").trim_end();
        text.push('\n');
    }
    text + &left_out(table.rows.len())
}

/// The expected errors and the cost of a page.
pub(super) fn preview(
    preview: &PagePreview,
    json: bool,
    standing: Option<&BudgetStanding>,
) -> Result<String, Fail> {
    if json {
        return budget::json(preview, standing);
    }
    let level = percent(preview.confidence);
    let mut rows = vec![vec!["statistic".to_owned(), format!("expected error at {level}")]];
    for question in &preview.questions {
        let size = match question.size {
            Some(size) => format!(" for {size} rows"),
            None => String::new(),
        };
        let unit = match question.unit {
            PageUnit::Rows => " rows",
            PageUnit::People => " people",
            PageUnit::Values => " values",
            PageUnit::Ranks => " ranks",
            _ => "",
        };
        let error = match question.error {
            Some(error) => format!("{}{unit}{size}", digits::error(error)),
            None => "depends on the data".to_owned(),
        };
        rows.push(vec![question.name.clone(), error]);
    }
    let read = match &preview.keys_file {
        Some(_) => "no values of the table were read",
        None => "no values were read",
    };
    let text = format!("not released: dry run, {read}\n{}", indented(&rows));
    let mut lines = vec![(
        "privacy to spend".to_owned(),
        format!("{} ({}, unit: {})", spent(&preview.guarantee), preview.neighboring, preview.unit),
    )];
    if let Some(groups) = preview.groups {
        let from = preview.keys_file.as_ref();
        let from = from.map(|file| format!(", read from {}", plain(&file.display().to_string())));
        lines.push(("groups".to_owned(), format!("{groups}{}", from.unwrap_or_default())));
    }
    lines.extend(listed("releases", parts_in_words(&preview.parts)));
    if !preview.public.is_empty() {
        lines.push(("taken as public".to_owned(), Fact::line(&preview.public)));
    }
    lines.extend(budget::lines(standing));
    Ok(present(&(text + &aligned(&lines))))
}
