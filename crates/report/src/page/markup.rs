//! The elements that sections are made of. All text that goes in is shown as it is: nothing of it becomes markup.

use crate::escape::escaped;

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
    pub(crate) fn html(&self, number: usize) -> String {
        let Self { id, title, block, body } = self;
        let (class, name) = (block.class(), block.name());
        format!(
            "<section id=\"{id}\" class=\"{class}\" aria-labelledby=\"{id}-h\">\n<p class=\"tag\">{name}</p>\n\
             <h2 id=\"{id}-h\"><span class=\"no\">{number}</span> {}</h2>\n{}</section>\n",
            escaped(title),
            body.0
        )
    }

    pub(crate) fn entry(&self) -> String {
        let Self { id, title, block, .. } = self;
        let (class, name) = (block.class(), block.name());
        format!(
            "<li><a href=\"#{id}\">{}</a> <span class=\"mini {class}\">{name}</span></li>\n",
            escaped(title)
        )
    }
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

    fn html(&self, first: bool) -> String {
        let (class, inner) = match self {
            Self::Text(text) => ("", escaped(text)),
            Self::Number(text) => (" class=\"num\"", escaped(text)),
            Self::Missing(text) => (" class=\"missing\"", escaped(text)),
            Self::Links(links) => {
                let links: Vec<String> = links
                    .iter()
                    .map(|(id, title)| format!("<a href=\"#{id}\">{}</a>", escaped(title)))
                    .collect();
                ("", links.join(", "))
            }
        };
        if first {
            format!("<th scope=\"row\"{class}>{inner}</th>")
        } else {
            format!("<td{class}>{inner}</td>")
        }
    }
}

/// Tables of at most so many rows are kept on one printed page.
const SHORT: usize = 10;

/// The inside of a section in the making.
#[derive(Default)]
pub(crate) struct Body(pub(crate) String);

impl Body {
    /// A paragraph.
    pub(crate) fn p(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&format!("<p>{}</p>\n", escaped(text)));
        self
    }

    /// A heading inside the section.
    pub(crate) fn h3(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&format!("<h3>{}</h3>\n", escaped(text)));
        self
    }

    /// A sentence that must not be overlooked.
    pub(crate) fn note(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(text)));
        self
    }

    /// That something is missing, and why.
    pub(crate) fn missing(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&format!("<p class=\"missing\">{}</p>\n", escaped(text)));
        self
    }

    /// Points without an order.
    pub(crate) fn list(&mut self, items: &[impl ToString]) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        self.0.push_str("<ul>\n");
        for item in items {
            self.0.push_str(&format!("<li>{}</li>\n", escaped(&item.to_string())));
        }
        self.0.push_str("</ul>\n");
        self
    }

    /// Names and values; a value that is absent is shown as not declared.
    pub(crate) fn facts(&mut self, facts: &[(&str, Option<String>)]) -> &mut Self {
        self.0.push_str("<dl>\n");
        for (name, value) in facts {
            let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
            let value = value.map_or_else(
                || format!("<dd class=\"missing\">{}</dd>", crate::words::NOT_DECLARED),
                |value| format!("<dd>{}</dd>", escaped(value)),
            );
            self.0.push_str(&format!("<div><dt>{}</dt>{value}</div>\n", escaped(name)));
        }
        self.0.push_str("</dl>\n");
        self
    }

    /// A table that scrolls inside its own box where it is too wide.
    pub(crate) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<Cell>]) -> &mut Self {
        let caption = escaped(caption);
        let class = if rows.len() <= SHORT { "scroll short" } else { "scroll" };
        self.0.push_str(&format!(
            "<div class=\"{class}\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table>\n\
             <caption><span>{caption}</span></caption>\n<thead><tr>"
        ));
        for name in head {
            self.0.push_str(&format!("<th scope=\"col\">{}</th>", escaped(name)));
        }
        self.0.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            let cells: String = row.iter().enumerate().map(|(place, cell)| cell.html(place == 0)).collect();
            self.0.push_str(&format!("<tr>{cells}</tr>\n"));
        }
        self.0.push_str("</tbody></table></div>\n");
        self
    }

    /// Charts side by side where there is room, each with what to see in it.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) -> &mut Self {
        self.0.push_str("<div class=\"figures\">\n");
        for (svg, caption) in figures {
            self.0.push_str(&format!(
                "<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n",
                escaped(caption)
            ));
        }
        self.0.push_str("</div>\n");
        self
    }
}
