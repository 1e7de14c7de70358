//! The few elements of SVG that charts are made of.

/// An SVG file in the making.
pub(super) struct Svg(String);

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

impl Svg {
    /// A white page with a title for those who cannot see it.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let size = format!(r#"viewBox="0 0 {width} {height}" width="{width}" height="{height}""#);
        let font = format!(r#"font-family="{FONT}" font-size="13""#);
        let title = escaped(title);
        Self(format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">
<title>{title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
"##
        ))
    }

    /// A line along `places`.
    pub(super) fn line(&mut self, places: &[(f64, f64)], attributes: &str) {
        let mut path = String::new();
        for (index, (x, y)) in places.iter().enumerate() {
            path.push_str(&format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }));
        }
        let ends = r#"fill="none" stroke-linejoin="round" stroke-linecap="round""#;
        self.0.push_str(&format!("<path d=\"{path}\" {ends} {attributes}/>\n"));
    }

    /// Text whose anchor is at the place.
    pub(super) fn text(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let text = escaped(text);
        self.0.push_str(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>\n"));
    }

    /// Text that runs upwards.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let turned = format!("translate({x:.1} {y:.1}) rotate(-90)");
        let text = escaped(text);
        self.0.push_str(&format!("<text transform=\"{turned}\" {attributes}>{text}</text>\n"));
    }

    /// A dot that tells what it is when pointed at.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str, text: &str) {
        let rim = r##"stroke="#ffffff" stroke-width="1.5""##;
        let text = escaped(text);
        self.0.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\" {rim}><title>{text}</title></circle>\n"
        ));
    }

    /// The finished file.
    pub(super) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Text that SVG shows as it is.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
