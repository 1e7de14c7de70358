//! The few elements of SVG that charts are made of.

use super::ink::Theme;
use crate::escape::escaped;

/// A drawing in the making.
pub(super) struct Svg {
    text: String,
    theme: Theme,
}

/// Letters of a subtitle that fit into a line.
const SUBTITLE: usize = 112;
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

impl Svg {
    /// A white page with a title for those who cannot see it.
    pub(super) fn file(width: f64, height: f64, title: &str) -> Self {
        let size = format!(r#"viewBox="0 0 {width} {height}" width="{width}" height="{height}""#);
        let font = format!(r#"font-family="{FONT}" font-size="13""#);
        let title = escaped(title);
        let text = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">
<title>{title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
"##
        );
        Self { text, theme: Theme::File }
    }

    /// A drawing inside a page, as wide as its place; `id` is unique in the page.
    pub(super) fn page(width: f64, height: f64, id: &str, title: &str, description: &str) -> Self {
        let (id, title, description) = (escaped(id), escaped(title), escaped(description));
        let text = format!(
            r#"<svg viewBox="0 0 {width} {height}" font-size="14" role="img" aria-labelledby="{id}-title {id}-desc">
<title id="{id}-title">{title}</title>
<desc id="{id}-desc">{description}</desc>
"#
        );
        Self { text, theme: Theme::Page }
    }

    /// The title of a file and the line below it.
    pub(super) fn heading(&mut self, title: &str, subtitle: &str) {
        let (ink, quiet) = (self.theme.ink(), self.theme.quiet());
        self.text((24.0, 34.0), &format!("fill=\"{ink}\" font-size=\"18\" font-weight=\"600\""), title);
        self.text((24.0, 56.0), &format!("fill=\"{quiet}\""), &shortened(subtitle, SUBTITLE));
    }

    /// Where it is shown.
    pub(super) fn theme(&self) -> Theme {
        self.theme
    }

    /// A line along `places`.
    pub(super) fn line(&mut self, places: &[(f64, f64)], attributes: &str) {
        if places.is_empty() {
            return;
        }
        let path = path(places);
        let ends = r#"fill="none" stroke-linejoin="round" stroke-linecap="round""#;
        self.text.push_str(&format!("<path d=\"{path}\" {ends} {attributes}/>\n"));
    }

    /// The area inside `places`, faint.
    pub(super) fn area(&mut self, places: &[(f64, f64)], colour: &str) {
        if places.is_empty() {
            return;
        }
        let path = path(places);
        self.text.push_str(&format!("<path d=\"{path}Z\" fill=\"{colour}\" fill-opacity=\"0.25\"/>\n"));
    }

    /// A faint bar from one place to the right of it, as high as it says, that ends exactly there.
    pub(super) fn bar(&mut self, (x, y): (f64, f64), right: f64, height: f64, colour: &str) {
        let width = (right - x).max(0.0);
        self.text.push_str(&format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\" fill-opacity=\"0.35\"/>\n",
            y - 0.5 * height
        ));
    }

    /// Text whose anchor is at the place.
    pub(super) fn text(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let text = escaped(text);
        self.text.push_str(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>\n"));
    }

    /// Text that runs upwards.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let turned = format!("translate({x:.1} {y:.1}) rotate(-90)");
        let text = escaped(text);
        self.text.push_str(&format!("<text transform=\"{turned}\" {attributes}>{text}</text>\n"));
    }

    /// A dot that tells what it is when pointed at.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str, text: &str) {
        let rim = format!("stroke=\"{}\" stroke-width=\"1.5\"", self.theme.paper());
        let text = escaped(text);
        self.text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\" {rim}><title>{text}</title></circle>\n"
        ));
    }

    /// The finished drawing.
    pub(super) fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        path.push_str(&format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }));
    }
    path
}

/// At most so many letters, with a sign where some are left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
