//! What sections are made of: paragraphs, lists, facts, tables and figures.

use crate::markup::{Element, Markup};
use std::collections::BTreeMap;

/// Where a statement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// By the audit.
    Measured,
    /// By people, or by the training run about itself.
    Declared,
    /// From both.
    Combined,
    /// About the report.
    About,
}

impl Block {
    fn class(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Declared => "declared",
            Self::Combined => "combined",
            Self::About => "about",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Measured => "Measured",
            Self::Declared => "Declared",
            Self::Combined => "Combined",
            Self::About => "About this report",
        }
    }
}

/// One section of the report.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) block: Block,
    pub(crate) body: Body,
}

impl Section {
    pub(crate) fn html(&self, number: usize) -> Markup {
        let Self { id, title, block, body } = self;
        let heading = format!("{id}-h");
        Element::new("section")
            .with_all(&[("id", id), ("class", block.class()), ("aria-labelledby", &heading)])
            .child(Element::of_class("p", "tag").child(block.name()))
            .child(numbered(&heading, number, title))
            .child(body.0.clone())
            .into()
    }

    pub(crate) fn entry(&self) -> Markup {
        let Self { id, title, block, .. } = self;
        let kind = Element::new("span").with("class", &format!("mini {}", block.class()));
        Element::new("li")
            .child(Element::link(&format!("#{id}")).child(*title))
            .child(" ")
            .child(kind.child(block.name()))
            .into()
    }
}

/// The heading of a section, with its number.
pub(crate) fn numbered(id: &str, number: usize, title: &str) -> Element {
    let shown = Element::of_class("span", "no").child(number.to_string());
    Element::new("h2").with("id", id).child(shown).child(" ").child(title)
}

/// A chart and what to see in it.
pub(crate) struct Figure {
    pub(crate) drawing: Markup,
    pub(crate) caption: String,
}

/// What stands in a cell of a table.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(String),
    /// Why there is none.
    Missing(String),
    /// Sections of this report, by id and title.
    Links(Vec<(&'static str, String)>),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.trim().is_empty() { Self::Missing("not recorded".to_owned()) } else { Self::Text(text) }
    }

    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self::Number(text.into())
    }

    /// A number, or why there is none.
    pub(crate) fn result(result: Result<String, String>) -> Self {
        result.map_or_else(Self::Missing, Self::Number)
    }

    fn html(&self, first: bool) -> Element {
        let cell = if first { Element::new("th").with("scope", "row") } else { Element::new("td") };
        match self {
            Self::Text(text) => cell.child(text.as_str()),
            Self::Number(text) => cell.with("class", "num").child(text.as_str()),
            Self::Missing(text) => cell.with("class", "missing").child(text.as_str()),
            Self::Links(links) => links.iter().enumerate().fold(cell, |cell, (place, (id, title))| {
                let cell = if place > 0 { cell.child(", ") } else { cell };
                cell.child(Element::link(&format!("#{id}")).child(title.as_str()))
            }),
        }
    }
}

/// Tables of at most so many rows are kept on one printed page.
const SHORT: usize = 10;

/// The inside of a section in the making.
#[derive(Default)]
pub(crate) struct Body(Markup);

impl Body {
    /// An element of one's own.
    pub(crate) fn push(&mut self, element: Element) -> &mut Self {
        self.0.push(element);
        self
    }

    /// A paragraph.
    pub(crate) fn p(&mut self, text: &str) -> &mut Self {
        self.push(Element::new("p").child(text))
    }

    /// A heading inside the section.
    pub(crate) fn h3(&mut self, text: &str) -> &mut Self {
        self.push(Element::new("h3").child(text))
    }

    /// A sentence that must not be overlooked.
    pub(crate) fn note(&mut self, text: &str) -> &mut Self {
        self.push(Element::of_class("p", "note").child(text))
    }

    /// That something is missing, and why.
    pub(crate) fn missing(&mut self, text: &str) -> &mut Self {
        self.push(Element::of_class("p", "missing").child(text))
    }

    /// Points without an order.
    pub(crate) fn list(&mut self, items: &[impl ToString]) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        self.push(list(items.iter().map(ToString::to_string)))
    }

    /// Names and values; a value that is absent is shown as not declared.
    pub(crate) fn facts(&mut self, facts: &[(&str, Option<String>)]) -> &mut Self {
        let fact = |(name, value): &(&str, Option<String>)| {
            let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
            let value = match value {
                Some(value) => Element::new("dd").child(value),
                None => Element::of_class("dd", "missing").child(crate::words::NOT_DECLARED),
            };
            Element::new("div").child(Element::new("dt").child(*name)).child(value)
        };
        self.push(Element::new("dl").child(facts.iter().map(fact).collect::<Markup>()))
    }

    /// A table that scrolls inside its own box where it is too wide.
    pub(crate) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<Cell>]) -> &mut Self {
        let names: Markup =
            head.iter().map(|name| Element::new("th").with("scope", "col").child(*name)).collect();
        let row = |row: &Vec<Cell>| {
            let cells: Markup = row.iter().enumerate().map(|(place, cell)| cell.html(place == 0)).collect();
            Element::new("tr").child(cells)
        };
        let table = Element::new("table")
            .child(Element::new("caption").child(Element::new("span").child(caption)))
            .child(Element::new("thead").child(Element::new("tr").child(names)))
            .child(Element::new("tbody").child(rows.iter().map(row).collect::<Markup>()));
        let class = if rows.len() <= SHORT { "scroll short" } else { "scroll" };
        let attributes = [("class", class), ("role", "region"), ("aria-label", caption), ("tabindex", "0")];
        self.push(Element::new("div").with_all(&attributes).child(table))
    }

    /// Charts side by side where there is room, each with what to see in it.
    pub(crate) fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) -> &mut Self {
        let figure = |Figure { drawing, caption }| {
            Element::new("figure").child(drawing).child(Element::new("figcaption").child(caption))
        };
        let figures: Markup = figures.into_iter().map(figure).collect();
        self.push(Element::of_class("div", "figures").child(figures))
    }

    /// The finished inside.
    pub(crate) fn finish(self) -> Markup {
        self.0
    }
}

/// Settings in one line.
pub(crate) fn settings(settings: &BTreeMap<String, String>) -> String {
    let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join("; ") }
}

/// A list without an order.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> Element {
    let items: Markup = items.into_iter().map(|item| Element::new("li").child(item)).collect();
    Element::new("ul").child(items)
}
