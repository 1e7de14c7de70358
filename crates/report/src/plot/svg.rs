//! The few elements of SVG that charts are made of.

use super::ink::Theme;
use crate::markup::{Element, Markup};

/// Attributes by their names.
pub(super) type Attributes<'a> = [(&'static str, &'a str)];

/// A drawing in the making.
pub(super) struct Svg {
    root: Element,
    theme: Theme,
}

/// Letters of a subtitle that fit into a line.
const SUBTITLE: usize = 112;
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

impl Svg {
    /// A white page with a title for screen readers.
    pub(super) fn file(width: f64, height: f64, title: &str) -> Self {
        let paper = [("width", "100%"), ("height", "100%"), ("fill", "#ffffff")];
        let root = Element::new("svg")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("viewBox", &format!("0 0 {width} {height}"))
            .with("width", &width.to_string())
            .with("height", &height.to_string())
            .with_all(&[("font-family", FONT), ("font-size", "13"), ("role", "img")])
            .child(Element::new("title").child(title))
            .child(Element::new("rect").with_all(&paper));
        Self { root, theme: Theme::File }
    }

    /// A drawing inside a page, as wide as its place; `id` is unique in the page.
    pub(super) fn page(width: f64, height: f64, id: &str, title: &str, description: &str) -> Self {
        let (title_id, description_id) = (format!("{id}-title"), format!("{id}-desc"));
        let root = Element::new("svg")
            .with("viewBox", &format!("0 0 {width} {height}"))
            .with_all(&[("font-size", "14"), ("role", "img")])
            .with("aria-labelledby", &format!("{title_id} {description_id}"))
            .child(Element::new("title").with("id", &title_id).child(title))
            .child(Element::new("desc").with("id", &description_id).child(description));
        Self { root, theme: Theme::Page }
    }

    fn push(&mut self, element: Element) {
        self.root.push(element);
    }

    /// The title of a file and the line below it.
    pub(super) fn heading(&mut self, title: &str, subtitle: &str) {
        let (ink, quiet) = (self.theme.ink(), self.theme.quiet());
        self.text((24.0, 34.0), &[("fill", ink), ("font-size", "18"), ("font-weight", "600")], title);
        self.text((24.0, 56.0), &[("fill", quiet)], &shortened(subtitle, SUBTITLE));
    }

    /// Where it is shown.
    pub(super) fn theme(&self) -> Theme {
        self.theme
    }

    /// A line along `places`.
    pub(super) fn line(&mut self, places: &[(f64, f64)], attributes: &Attributes) {
        if places.is_empty() {
            return;
        }
        let ends = [("fill", "none"), ("stroke-linejoin", "round"), ("stroke-linecap", "round")];
        self.push(Element::new("path").with("d", &path(places)).with_all(&ends).with_all(attributes));
    }

    /// The area inside `places`, faint.
    pub(super) fn area(&mut self, places: &[(f64, f64)], colour: &str) {
        if places.is_empty() {
            return;
        }
        let fill = [("fill", colour), ("fill-opacity", "0.25")];
        self.push(Element::new("path").with("d", &(path(places) + "Z")).with_all(&fill));
    }

    /// A faint bar of a height, from one place to an end on its right.
    pub(super) fn bar(&mut self, (x, y): (f64, f64), right: f64, height: f64, colour: &str) {
        let bar = Element::new("rect")
            .at("x", x)
            .at("y", y - 0.5 * height)
            .at("width", (right - x).max(0.0))
            .at("height", height)
            .with_all(&[("fill", colour), ("fill-opacity", "0.35")]);
        self.push(bar);
    }

    /// Text whose anchor is at the place.
    pub(super) fn text(&mut self, (x, y): (f64, f64), attributes: &Attributes, text: &str) {
        self.push(Element::new("text").at("x", x).at("y", y).with_all(attributes).child(text));
    }

    /// Text that runs upwards.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), attributes: &Attributes, text: &str) {
        let turned = format!("translate({x:.1} {y:.1}) rotate(-90)");
        self.push(Element::new("text").with("transform", &turned).with_all(attributes).child(text));
    }

    /// A dot with a text that is shown when the pointer is on it.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str, text: &str) {
        let rim = [("stroke", self.theme.paper()), ("stroke-width", "1.5")];
        let dot = Element::new("circle")
            .at("cx", x)
            .at("cy", y)
            .with_all(&[("r", "4.5"), ("fill", colour)])
            .with_all(&rim)
            .child(Element::new("title").child(text));
        self.push(dot);
    }

    /// The finished drawing, for a page.
    pub(super) fn finish(self) -> Markup {
        self.root.into()
    }

    /// The finished drawing, for a file.
    pub(super) fn finish_file(self) -> String {
        Markup::file(self.root)
    }
}

fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        path.push_str(&format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }));
    }
    path
}

/// At most so many letters, with an ellipsis where some are left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
