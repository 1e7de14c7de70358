//! Values with intervals and one-sided bounds, one below the other, on one axis.

use super::axis::Axis;
use super::ink::{END, MIDDLE};
use super::svg::{Svg, shortened};
use crate::markup::Markup;

/// A chart of rows.
pub struct DotPlot {
    /// What is shown, for screen readers.
    pub title: String,
    /// The axis that all rows share.
    pub x: Axis,
    /// The rows, from the top.
    pub rows: Vec<DotRow>,
    /// Upright lines to compare with.
    pub guides: Vec<f64>,
}

/// One row: a name and a number above its mark.
pub struct DotRow {
    /// What it is about.
    pub label: String,
    /// The number in words, or why it is missing.
    pub value: String,
    /// What is drawn.
    pub mark: Mark,
    /// Its place in the palette.
    pub colour: usize,
}

/// What is drawn in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    /// A dot with whiskers.
    Interval {
        /// Where the dot is.
        value: f64,
        /// Where the left whisker ends.
        low: f64,
        /// Where the right whisker ends.
        high: f64,
    },
    /// Everything from the left end up to a number.
    AtMost(f64),
    /// Everything from a number to the right end.
    AtLeast(f64),
    /// Nothing: the number is missing.
    Nothing,
}

/// Where the rows are.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    /// Letters of a label that fit beside a short value.
    letters: usize,
}

const PAGE: Frame = Frame { left: 14.0, right: 462.0, top: 4.0, letters: 60 };
const FILE: Frame = Frame { left: 24.0, right: 696.0, top: 72.0, letters: 90 };
/// Height of a row.
const ROW: f64 = 46.0;

impl DotPlot {
    /// The chart inside a page; `id` is unique there.
    pub(crate) fn page(&self, id: &str, description: &str) -> Markup {
        let mut svg = Svg::page(PAGE.right + 18.0, self.bottom(PAGE) + 50.0, id, &self.title, description);
        self.draw(&mut svg, PAGE);
        svg.finish()
    }

    /// The chart as an SVG file, with a line below its title.
    pub fn svg(&self, subtitle: &str) -> String {
        let mut svg = Svg::file(FILE.right + 24.0, self.bottom(FILE) + 58.0, &self.title);
        svg.heading(&self.title, subtitle);
        self.draw(&mut svg, FILE);
        svg.finish_file()
    }

    fn bottom(&self, frame: Frame) -> f64 {
        frame.top + ROW * self.rows.len() as f64
    }

    fn draw(&self, svg: &mut Svg, frame: Frame) {
        let (Frame { left, right, top, .. }, bottom, theme) = (frame, self.bottom(frame), svg.theme());
        let place = |value: f64| left + (right - left) * self.x.share(value);
        for (value, text) in self.x.ticks() {
            let x = place(value);
            svg.line(&[(x, top), (x, bottom)], &[("stroke", theme.grid())]);
            svg.text((x, bottom + 19.0), &[("fill", theme.quiet()), MIDDLE], &text);
        }
        for guide in &self.guides {
            let x = place(*guide);
            let dotted = [("stroke", theme.axis()), ("stroke-width", "1.5"), ("stroke-dasharray", "2 5")];
            svg.line(&[(x, top), (x, bottom)], &dotted);
        }
        svg.line(&[(left, bottom), (right, bottom)], &[("stroke", theme.axis())]);
        svg.text((0.5 * (left + right), bottom + 41.0), &[("fill", theme.ink()), MIDDLE], &self.x.label);
        for (index, row) in self.rows.iter().enumerate() {
            row.draw(svg, frame, top + ROW * index as f64, &place);
        }
    }
}

impl DotRow {
    fn draw(&self, svg: &mut Svg, frame: Frame, top: f64, place: &dyn Fn(f64) -> f64) {
        let (Frame { left, right, letters, .. }, theme) = (frame, svg.theme());
        let [paint, width, order] = theme.rim();
        let room = letters.saturating_sub(self.value.chars().count()).max(12);
        let name = [("fill", theme.ink()), paint, width, order];
        svg.text((left, top + 17.0), &name, &shortened(&self.label, room));
        let value = [("fill", theme.quiet()), END, paint, width, order];
        svg.text((right, top + 17.0), &value, &shortened(&self.value, letters));
        let (y, colour) = (top + 32.0, theme.series(self.colour));
        let thin = [("stroke", colour), ("stroke-width", "2")];
        let edge = |svg: &mut Svg, x: f64| svg.line(&[(x, y - 7.0), (x, y + 7.0)], &thin);
        match self.mark {
            Mark::Interval { value, low, high } => {
                let (low, high) = (place(low), place(high));
                svg.line(&[(low, y), (high, y)], &thin);
                edge(svg, low);
                edge(svg, high);
                svg.dot((place(value), y), colour, &format!("{}: {}", self.label, self.value));
            }
            Mark::AtMost(value) => {
                svg.bar((left, y), place(value), 10.0, colour);
                edge(svg, place(value));
            }
            Mark::AtLeast(value) => {
                svg.bar((place(value), y), right - 2.0, 10.0, colour);
                svg.line(&[(right - 7.0, y - 6.0), (right, y), (right - 7.0, y + 6.0)], &thin);
                edge(svg, place(value));
            }
            Mark::Nothing => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_well_formed_and_escaped() {
        let marks = [
            Mark::Interval { value: 0.1, low: 0.0, high: 0.2 },
            Mark::AtMost(3.0),
            Mark::AtLeast(0.1),
            Mark::Nothing,
        ];
        let rows =
            marks.map(|mark| DotRow { label: "<i>".repeat(40), value: "\"&".to_owned(), mark, colour: 9 });
        let chart = DotPlot {
            title: "<T>".into(),
            x: Axis::linear("x", 0.0, 8.0),
            rows: rows.into(),
            guides: vec![1.0],
        };
        for svg in [chart.page("a", "d").as_str(), &chart.svg(&"<s>".repeat(60))] {
            assert!(!svg.contains("<i>") && !svg.contains("NaN") && svg.contains('…'));
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        }
    }
}
