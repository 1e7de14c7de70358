//! HTML and SVG from elements: text is escaped by the type that holds it.
//!
//! [`Markup`] is made of [`Element`]s and of text. Text and the values of attributes are escaped where they enter; the names of elements
//! and attributes are literals of the program. No other module can turn a string into markup: `Markup::literal` is the one constructor
//! that takes characters as they are, it is private, and it gets constants only (the document type and the style sheet).

use crate::escape::escaped;
use crate::picture::Png;

/// Escaped markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

impl Markup {
    /// Text, escaped.
    pub(crate) fn text(text: &str) -> Self {
        Self(escaped(text))
    }

    /// Constants of the program, as they are. The only way from characters to markup.
    fn literal(constant: &'static str) -> Self {
        Self(constant.to_owned())
    }

    /// Adds text, an element or markup at the end.
    pub(crate) fn push(&mut self, part: impl Into<Self>) -> &mut Self {
        self.0.push_str(&part.into().0);
        self
    }

    /// A whole HTML document.
    pub(crate) fn document(root: Element) -> String {
        let mut document = Self::literal("<!DOCTYPE html>\n");
        document.push(root);
        document.0
    }

    /// An SVG file.
    pub(crate) fn file(root: Element) -> String {
        Self::from(root).0
    }

    #[cfg(test)]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Element> for Markup {
    fn from(element: Element) -> Self {
        element.finish()
    }
}

impl From<&str> for Markup {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Markup {
    fn from(text: String) -> Self {
        Self::text(&text)
    }
}

impl<T: Into<Markup>> FromIterator<T> for Markup {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        let mut markup = Self::default();
        for part in parts {
            markup.push(part);
        }
        markup
    }
}

/// An element with its attributes and children.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    name: &'static str,
    attributes: Markup,
    children: Markup,
}

impl Element {
    /// An element without attributes and children.
    pub(crate) fn new(name: &'static str) -> Self {
        debug_assert!(is_name(name) && name != "script", "<{name}>");
        Self { name, attributes: Markup::default(), children: Markup::default() }
    }

    /// An element of a class.
    pub(crate) fn of_class(name: &'static str, class: &str) -> Self {
        Self::new(name).with("class", class)
    }

    /// The style sheet of a page.
    pub(crate) fn style(css: &'static str) -> Self {
        debug_assert!(!css.contains("</"), "a style sheet ends where an end tag begins");
        Self::new("style").child(Markup::literal(css))
    }

    /// A link to a section of the same page, or to a file beside or below the page.
    pub(crate) fn link(target: &str) -> Self {
        Self::new("a").attribute("href", &relative(target))
    }

    /// A picture that is part of the page.
    pub(crate) fn picture(png: &Png, described: &str) -> Self {
        Self::new("img").attribute("src", &png.data()).with("alt", described)
    }

    /// With an attribute; its value is escaped. Links go through [`Element::link`], and attributes that run code have no place here.
    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        debug_assert!(
            !["href", "src", "style"].contains(&name) && !name.starts_with("on"),
            "{name} could load or run something"
        );
        self.attribute(name, value)
    }

    /// With several attributes.
    pub(crate) fn with_all(self, attributes: &[(&'static str, &str)]) -> Self {
        attributes.iter().fold(self, |element, (name, value)| element.with(name, value))
    }

    /// With a number as an attribute, at one decimal.
    pub(crate) fn at(self, name: &'static str, value: f64) -> Self {
        self.with(name, &format!("{value:.1}"))
    }

    fn attribute(mut self, name: &'static str, value: &str) -> Self {
        debug_assert!(is_name(name), "{name}=");
        let attributes = &mut self.attributes;
        attributes.push(Markup::literal(" ")).push(Markup::literal(name)).push(Markup::literal("=\""));
        attributes.push(value).push(Markup::literal("\""));
        self
    }

    /// With text (escaped), an element or markup inside, after what is there.
    pub(crate) fn child(mut self, child: impl Into<Markup>) -> Self {
        self.push(child);
        self
    }

    /// Adds text (escaped), an element or markup inside, after what is there.
    pub(crate) fn push(&mut self, child: impl Into<Markup>) {
        self.children.push(child);
    }

    fn finish(self) -> Markup {
        let Self { name, attributes, children } = self;
        let end = Markup::literal(if is_inline(name) { "" } else { "\n" });
        let mut markup = Markup::literal("<");
        markup.push(Markup::literal(name)).push(attributes);
        if matches!(name, "meta" | "img") {
            markup.push(Markup::literal(">"));
        } else if children.0.is_empty() && is_shape(name) {
            markup.push(Markup::literal("/>"));
        } else {
            let start = if is_container(name) { ">\n" } else { ">" };
            markup.push(Markup::literal(start)).push(children);
            markup.push(Markup::literal("</")).push(Markup::literal(name)).push(Markup::literal(">"));
        }
        markup.push(end);
        markup
    }
}

/// Letters of names of elements and attributes.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Elements that stand in a line of text or beside each other: white space would be shown, or is not needed.
fn is_inline(name: &str) -> bool {
    matches!(name, "a" | "code" | "dd" | "dt" | "img" | "span" | "strong" | "td" | "th")
}

/// Elements that hold others, one on a line.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "body"
            | "div"
            | "dl"
            | "figure"
            | "footer"
            | "head"
            | "header"
            | "html"
            | "main"
            | "nav"
            | "ol"
            | "section"
            | "style"
            | "svg"
            | "table"
            | "tbody"
            | "ul"
    )
}

/// Elements of SVG that may be empty.
fn is_shape(name: &str) -> bool {
    matches!(name, "circle" | "path" | "rect")
}

/// A target that leads to the page itself or to a file beside or below it: with anything that could be a scheme, a host or a path
/// from the root, the target counts as the name of a file.
fn relative(target: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '#');
    let begins = target.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '#' || c == '_');
    match begins && target.chars().all(is_plain) {
        true => target.to_owned(),
        false => format!("./{target}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: [&str; 6] = [
        "<script>alert(1)</script>",
        "\" onload=\"alert(1)",
        "' autofocus onfocus='alert(1)",
        "&lt;b&gt; &amp; &",
        "</text></svg><img src=x onerror=alert(1)>",
        "\u{0}\u{1b}[31m\n\t\u{202e}\u{2066}\u{200b}",
    ];

    /// Everything that a browser would read as markup in the inside of `<p title="…">…</p>`.
    fn is_text_only(html: &str) -> bool {
        let inside = html.strip_prefix("<p title=\"").and_then(|rest| rest.strip_suffix("</p>\n"));
        let Some((title, text)) = inside.and_then(|rest| rest.split_once("\">")) else { return false };
        let is_safe = |part: &str| {
            let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            let bare = entities.iter().fold(part.to_owned(), |part, entity| part.replace(entity, ""));
            !bare.contains(['<', '>', '"', '\'', '&'])
                && !bare.chars().any(|c| c.is_control() || crate::is_unseen(c))
        };
        is_safe(title) && is_safe(text)
    }

    #[test]
    fn text_and_attributes_never_become_markup() {
        for text in HOSTILE {
            let html = Markup::from(Element::new("p").with("title", text).child(text));
            assert!(is_text_only(html.as_str()), "{}", html.as_str());
            // A builder that forgets one of the two is found out by the same check, if there is anything to escape.
            let safe = escaped(text);
            for twin in
                [format!("<p title=\"{text}\">{safe}</p>\n"), format!("<p title=\"{safe}\">{text}</p>\n")]
            {
                assert!(!is_text_only(&twin), "{twin}");
            }
        }
    }

    #[test]
    fn links_stay_beside_the_page() {
        for (target, shown) in [
            ("#scope", "#scope"),
            ("audit/report.html", "audit/report.html"),
            ("javascript:alert(1)", "./javascript:alert(1)"),
            (" javascript:alert(1)", "./ javascript:alert(1)"),
            ("data:text/html,x", "./data:text/html,x"),
            ("//host/x", ".///host/x"),
            ("\\\\host\\x", "./\\\\host\\x"),
            ("/etc/passwd", ".//etc/passwd"),
            ("", "./"),
        ] {
            let html = Markup::from(Element::link(target).child("x"));
            assert_eq!(html.as_str(), format!("<a href=\"{shown}\">x</a>"));
        }
    }

    #[test]
    fn elements_are_closed_as_their_kind_asks() {
        let rows: Markup = ["a", "b"].map(|text| Element::new("li").child(text)).into_iter().collect();
        let list = Markup::from(Element::of_class("ul", "x").child(rows));
        assert_eq!(list.as_str(), "<ul class=\"x\">\n<li>a</li>\n<li>b</li>\n</ul>\n");
        let shape = Markup::from(Element::new("rect").at("x", 0.25));
        assert_eq!(shape.as_str(), "<rect x=\"0.2\"/>\n");
        let page =
            Markup::document(Element::new("html").child(Element::new("meta").with("charset", "utf-8")));
        assert_eq!(page, "<!DOCTYPE html>\n<html>\n<meta charset=\"utf-8\">\n</html>\n");
    }
}
