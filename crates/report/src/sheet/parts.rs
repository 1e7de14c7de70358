//! The summary and the sections of a page of statistics.

use super::{Sheet, SheetRow, SheetTable, SheetValue};
use crate::markup::{Element, Markup};
use crate::page::section::{Body, Cell, list, numbered};
use crate::plot::{Axis, BarPlot, BarRow};
use crate::words;

/// Rows that a chart shows; the table has all of them.
const DRAWN: usize = 60;

/// The box at the top: what the page cost.
pub(super) fn summary(sheet: &Sheet) -> Element {
    let fact = |(name, text): &(String, String)| {
        let name = Element::new("dt").child(name.as_str());
        Element::new("div").child(name).child(Element::new("dd").child(text.as_str()))
    };
    let facts: Markup = sheet.facts.iter().map(fact).collect();
    let mut summary = Element::of_class("div", "summary")
        .child(Element::new("h2").child("Privacy cost"))
        .child(Element::new("dl").child(facts));
    if !sheet.warnings.is_empty() {
        summary.push(Element::new("h3").child("Warnings"));
        summary.push(list(sheet.warnings.iter().cloned()));
    }
    summary
}

/// A section for each question.
pub(super) fn sections(sheet: &Sheet) -> Markup {
    let section = |(table, number): (&SheetTable, usize)| {
        let (id, heading) = (format!("answer-{number}"), format!("answer-{number}-h"));
        Element::new("section")
            .with_all(&[("id", &id), ("class", "measured"), ("aria-labelledby", &heading)])
            .child(numbered(&heading, number, &table.title))
            .child(body(table, sheet.confidence, &id).finish())
    };
    sheet.tables.iter().zip(1..).map(section).collect()
}

fn body(table: &SheetTable, confidence: f64, id: &str) -> Body {
    let mut body = Body::default();
    for note in &table.notes {
        body.p(note);
    }
    let level = words::level(confidence);
    let drawn: Vec<BarRow> = table.rows.iter().take(DRAWN).filter_map(drawn).collect();
    if drawn.len() > 1 {
        let of = match table.rows.len() {
            all if all > DRAWN => format!("The first {DRAWN} of {all} rows. "),
            _ => String::new(),
        };
        let caption = format!("{of}Error bars: {level} intervals, each by itself.");
        let drawing = chart(table, drawn).page(&format!("{id}-chart"), &caption);
        let figure = Element::of_class("figure", "wide")
            .child(drawing)
            .child(Element::new("figcaption").child(caption.as_str()));
        body.push(figure);
    }
    let interval = format!("{level} interval");
    let mut head: Vec<&str> = table.names.iter().map(String::as_str).collect();
    head.extend(["value", interval.as_str()]);
    let rows: Vec<Vec<Cell>> = table.rows.iter().map(cells).collect();
    body.table(&table.title, &head, &rows);
    body
}

impl SheetTable {
    /// The chart of its first rows as an SVG file; none where there is no number.
    pub fn svg(&self, confidence: f64) -> Option<String> {
        let rows: Vec<BarRow> = self.rows.iter().take(DRAWN).filter_map(drawn).collect();
        let each = if rows.len() > 1 { "each interval" } else { "interval" };
        let subtitle = format!("{each}: {}", words::level(confidence));
        (!rows.is_empty()).then(|| chart(self, rows).svg(&subtitle))
    }
}

fn cells(row: &SheetRow) -> Vec<Cell> {
    let names = row.names.iter().map(|name| Cell::text(name.as_str()));
    let [value, interval] = row.value.shown();
    let figures = match row.value {
        SheetValue::Number { .. } => [Cell::number(value), Cell::number(interval)],
        SheetValue::Words(_) => [Cell::text(value), Cell::Text(interval)],
        SheetValue::Missing(_) => [Cell::Missing(value), Cell::Text(interval)],
    };
    names.chain(figures).collect()
}

/// A row of the chart; none where there is no number.
fn drawn(row: &SheetRow) -> Option<BarRow> {
    let SheetValue::Number { value, interval, .. } = row.value else { return None };
    let [shown, ends] = row.value.shown();
    let label = row.names.join(", ");
    Some(BarRow { label, value: format!("{shown} ({ends})"), place: value, interval })
}

fn chart(table: &SheetTable, rows: Vec<BarRow>) -> BarPlot {
    let ends = rows.iter().flat_map(|row| [row.interval[0], row.interval[1], row.place]);
    let (low, high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    let (low, high) = if table.bars { (low.min(0.0), high.max(0.0)) } else { (low, high) };
    let x = Axis::linear(&table.axis, low, high);
    BarPlot { title: table.title.clone(), x, from_zero: table.bars, rows }
}
