//! Bars and dots with error bars, one below the other, on one axis: the cells of a histogram, a statistic of every group.

use super::axis::Axis;
use super::ink::{END, MIDDLE};
use super::svg::{Svg, shortened};
use crate::markup::Markup;

/// A chart of rows that are a line high each.
pub struct BarPlot {
    /// What is shown, for screen readers.
    pub title: String,
    /// The axis that all rows share.
    pub x: Axis,
    /// Whether bars are drawn from 0; otherwise dots.
    pub from_zero: bool,
    /// The rows, from the top.
    pub rows: Vec<BarRow>,
}

/// One row: its name, its bar or dot with an error bar, its value.
pub struct BarRow {
    /// What it is about.
    pub label: String,
    /// The number in words.
    pub value: String,
    /// Where the bar ends, and where the error bar does.
    pub place: f64,
    /// The ends of the error bar.
    pub interval: [f64; 2],
}

/// Height of a row.
const ROW: f64 = 24.0;
/// Width of a letter at the size of the labels, at most on average.
const LETTER: f64 = 7.6;
/// Letters of a label or a value that are shown.
const LABEL: usize = 28;
const VALUE: usize = 34;

/// Where the rows are.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
}

const PAGE: Frame = Frame { left: 8.0, right: 812.0, top: 6.0 };
const FILE: Frame = Frame { left: 24.0, right: 836.0, top: 76.0 };

impl BarPlot {
    /// The chart inside a page; `id` is unique there.
    pub(crate) fn page(&self, id: &str, description: &str) -> Markup {
        let mut svg = Svg::page(PAGE.right + 8.0, self.bottom(PAGE) + 46.0, id, &self.title, description);
        self.draw(&mut svg, PAGE);
        svg.finish()
    }

    /// The chart as an SVG file, with a line below its title.
    pub fn svg(&self, subtitle: &str) -> String {
        let mut svg = Svg::file(FILE.right + 24.0, self.bottom(FILE) + 54.0, &self.title);
        svg.heading(&self.title, subtitle);
        self.draw(&mut svg, FILE);
        svg.finish_file()
    }

    fn bottom(&self, frame: Frame) -> f64 {
        frame.top + ROW * self.rows.len() as f64
    }

    /// The width that the longest of these texts takes.
    fn width(&self, text: impl Fn(&BarRow) -> &str, most: usize) -> f64 {
        let letters = self.rows.iter().map(|row| text(row).chars().count().min(most)).max().unwrap_or(0);
        letters as f64 * LETTER + 12.0
    }

    fn draw(&self, svg: &mut Svg, frame: Frame) {
        let (bottom, theme) = (self.bottom(frame), svg.theme());
        let left = frame.left + self.width(|row| &row.label, LABEL);
        let right = frame.right - self.width(|row| &row.value, VALUE);
        let place = |value: f64| left + (right - left) * self.x.share(value);
        for (value, text) in self.x.ticks() {
            let x = place(value);
            svg.line(&[(x, frame.top), (x, bottom)], &[("stroke", theme.grid())]);
            svg.text((x, bottom + 18.0), &[("fill", theme.quiet()), MIDDLE], &text);
        }
        svg.line(&[(left, bottom), (right, bottom)], &[("stroke", theme.axis())]);
        svg.text((0.5 * (left + right), bottom + 39.0), &[("fill", theme.ink()), MIDDLE], &self.x.label);
        let (colour, whisker) = (theme.series(0), [("stroke", theme.ink()), ("stroke-width", "1.5")]);
        for (row, index) in self.rows.iter().zip(0u32..) {
            let y = frame.top + ROW * (f64::from(index) + 0.5);
            let name = [("fill", theme.ink()), END];
            svg.text((left - 10.0, y + 5.0), &name, &shortened(&row.label, LABEL));
            let value = [("fill", theme.quiet()), END];
            svg.text((frame.right, y + 5.0), &value, &shortened(&row.value, VALUE));
            let [low, high] = row.interval.map(place);
            if self.from_zero {
                let ends = [place(0.0), place(row.place)];
                svg.bar((ends[0].min(ends[1]), y), ends[0].max(ends[1]), ROW - 8.0, colour);
            }
            svg.line(&[(low, y), (high, y)], &whisker);
            for end in [low, high] {
                svg.line(&[(end, y - 4.5), (end, y + 4.5)], &whisker);
            }
            if !self.from_zero {
                svg.dot((place(row.place), y), colour, &format!("{}: {}", row.label, row.value));
            }
        }
        if self.from_zero {
            svg.line(&[(place(0.0), frame.top), (place(0.0), bottom)], &[("stroke", theme.axis())]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_well_formed_and_escaped() {
        let row = |place: f64| BarRow {
            label: "<i>".repeat(30),
            value: "\"&".to_owned(),
            place,
            interval: [place - 2.0, place + 2.0],
        };
        for from_zero in [true, false] {
            let rows = vec![row(3.0), row(-1.0), row(f64::NAN)];
            let x = Axis::linear("<x>", -3.0, 5.0);
            let chart = BarPlot { title: "<T>".into(), x, from_zero, rows };
            for svg in [chart.page("a", "d").as_str(), &chart.svg(&"<s>".repeat(60))] {
                assert!(!svg.contains("<i>") && svg.contains('…') && svg.contains("&lt;x&gt;"), "{svg}");
                assert!(!svg.contains("width=\"-"), "{svg}");
            }
        }
    }
}
