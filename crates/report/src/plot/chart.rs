//! A chart to SVG.

use super::axis::Axis;
use super::ink::{END, MIDDLE, Stroke, Theme};
use super::svg::{Svg, shortened};
use crate::markup::Markup;

/// Curves over two axes.
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// Of what; only in files.
    pub subtitle: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Where the names of curves stand.
    pub labels: Labels,
    /// The curves, the most important first.
    pub curves: Vec<Line>,
}

/// Where the names of curves stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// At the right end of each curve, with the values there under a heading.
    Ends(&'static str),
    /// In the upper right corner.
    Corner,
    /// Below the drawing, one per line, with the values.
    Below,
}

/// One line, with marks on some of its points.
pub struct Line {
    /// Its name.
    pub label: String,
    /// What the curve comes to at its end, beside the label.
    pub value: String,
    /// How it looks.
    pub stroke: Stroke,
    /// The line.
    pub points: Vec<(f64, f64)>,
    /// Points that are marked.
    pub marks: Vec<(f64, f64)>,
    /// Whether the area below it is shaded.
    pub fill: bool,
}

/// Where the drawing is.
#[derive(Debug, Clone, Copy)]
struct Frame {
    theme: Theme,
    left: f64,
    top: f64,
    width: f64,
    bottom: f64,
}

/// Height of a file.
const HEIGHT: f64 = 540.0;
const FILE: Frame = Frame { theme: Theme::File, left: 78.0, top: 84.0, width: 620.0, bottom: HEIGHT - 64.0 };
const PAGE: Frame = Frame { theme: Theme::Page, left: 58.0, top: 30.0, width: 406.0, bottom: 310.0 };
/// Distance between the lines of labels.
const LINE: f64 = 19.0;
/// Width of a letter of a label, at most on average.
const LETTER: f64 = 7.4;
/// Letters of a name that fit below a drawing, beside the value.
const LABEL: usize = 34;
/// More marks than this are not named.
const MARKS: usize = 3;

impl Frame {
    fn right(self) -> f64 {
        self.left + self.width
    }

    fn ink(self) -> (&'static str, &'static str) {
        ("fill", self.theme.ink())
    }

    fn quiet(self) -> (&'static str, &'static str) {
        ("fill", self.theme.quiet())
    }
}

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(self) -> String {
        let right = match self.labels {
            Labels::Ends(heading) => {
                48.0 + self.label_width() + LETTER * (heading.chars().count().max(8) as f64)
            }
            Labels::Corner | Labels::Below => 32.0,
        };
        let below = if self.labels == Labels::Below { LINE * self.curves.len() as f64 + 8.0 } else { 0.0 };
        let width = (FILE.right() + right).ceil();
        let chart = Self { y: self.y.roomy(), ..self };
        let mut svg = Svg::file(width, HEIGHT + below, &chart.title);
        svg.heading(&chart.title, &chart.subtitle);
        chart.draw(&mut svg, FILE);
        svg.finish_file()
    }

    /// The chart inside a page, which gives it a heading and a caption; `id` is unique there.
    pub(crate) fn page(&self, id: &str, description: &str) -> Markup {
        let below = if self.labels == Labels::Below { LINE * self.curves.len() as f64 + 8.0 } else { 0.0 };
        let mut svg =
            Svg::page(PAGE.right() + 16.0, PAGE.bottom + 52.0 + below, id, &self.title, description);
        self.draw(&mut svg, PAGE);
        svg.finish()
    }

    fn draw(&self, svg: &mut Svg, frame: Frame) {
        self.grid(svg, frame);
        // The first curves matter most: they are drawn last, above the others.
        for curve in self.curves.iter().rev() {
            self.curve(svg, frame, curve);
        }
        match self.labels {
            Labels::Ends(heading) => self.end_labels(svg, frame, heading),
            Labels::Corner => {
                let left = frame.right() - 56.0 - self.label_width();
                self.legend(svg, frame, (left, frame.top + 24.0), 1.2 * LINE);
            }
            Labels::Below => self.legend(svg, frame, (frame.left, frame.bottom + 66.0), LINE),
        }
    }

    /// Room for the longest label.
    fn label_width(&self) -> f64 {
        LETTER * self.curves.iter().map(|curve| curve.label.chars().count()).max().unwrap_or(0) as f64
    }

    fn place(&self, frame: Frame, (x, y): (f64, f64)) -> (f64, f64) {
        let height = frame.bottom - frame.top;
        (frame.left + frame.width * self.x.share(x), frame.bottom - height * self.y.share(y))
    }

    fn grid(&self, svg: &mut Svg, frame: Frame) {
        let Frame { theme, left, top, bottom, .. } = frame;
        let (right, grid) = (frame.right(), [("stroke", theme.grid())]);
        for (value, text) in self.y.ticks() {
            let y = bottom - (bottom - top) * self.y.share(value);
            svg.line(&[(left, y), (right, y)], &grid);
            svg.text((left - 10.0, y + 4.5), &[frame.quiet(), END], &text);
        }
        for (value, text) in self.x.ticks() {
            let x = left + frame.width * self.x.share(value);
            svg.line(&[(x, top), (x, bottom)], &grid);
            svg.text((x, bottom + 20.0), &[frame.quiet(), MIDDLE], &text);
        }
        svg.line(&[(left, top), (left, bottom), (right, bottom)], &[("stroke", theme.axis())]);
        svg.text((left + 0.5 * frame.width, bottom + 44.0), &[frame.ink(), MIDDLE], &self.x.label);
        match theme {
            Theme::File => svg.upright((22.0, 0.5 * (top + bottom)), &[frame.ink(), MIDDLE], &self.y.label),
            Theme::Page => svg.text((4.0, top - 14.0), &[frame.ink()], &self.y.label),
        }
    }

    fn curve(&self, svg: &mut Svg, frame: Frame, curve: &Line) {
        let places: Vec<(f64, f64)> = curve.points.iter().map(|point| self.place(frame, *point)).collect();
        let colour = curve.stroke.colour(frame.theme);
        if let (true, [first, .., last]) = (curve.fill, &places[..]) {
            let floor = [(last.0, frame.bottom), (first.0, frame.bottom)];
            svg.area(&[&places[..], &floor].concat(), colour);
        }
        svg.line(&places, &curve.stroke.attributes(frame.theme));
        for mark in &curve.marks {
            let (x, y) = self.place(frame, *mark);
            let name = format!("({}, {})", short(mark.0), short(mark.1));
            svg.dot((x, y), colour, &name);
            if curve.marks.len() <= MARKS && frame.theme == Theme::File {
                // A rim keeps the text readable where it crosses a line.
                let [paint, width, order] = frame.theme.rim();
                svg.text((x + 9.0, y - 3.0), &[frame.ink(), paint, width, order], &name);
            }
        }
    }

    /// Names beside the ends of curves, moved apart where they would overlap.
    fn end_labels(&self, svg: &mut Svg, frame: Frame, heading: &str) {
        let end = |curve: &Line| curve.points.last().map(|point| self.place(frame, *point));
        let mut ends: Vec<(&Line, (f64, f64))> =
            self.curves.iter().filter_map(|curve| Some((curve, end(curve)?))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let names = frame.right() + 28.0;
        let values = names + self.label_width() + 8.0;
        svg.text((values, frame.top - 14.0), &[frame.quiet()], heading);
        for ((curve, (x, y)), label) in ends.iter().zip(apart(&wanted, frame.top, frame.bottom)) {
            let leader = [(x + 4.0, *y), (names - 10.0, label), (names - 4.0, label)];
            let faint = [("stroke", curve.stroke.colour(frame.theme)), ("stroke-opacity", "0.7")];
            svg.line(&leader, &faint);
            svg.text((names, label + 4.5), &[frame.ink()], &curve.label);
            svg.text((values, label + 4.5), &[frame.quiet()], &curve.value);
        }
    }

    fn legend(&self, svg: &mut Svg, frame: Frame, (left, top): (f64, f64), line: f64) {
        for (index, curve) in self.curves.iter().enumerate() {
            let y = top + line * index as f64;
            svg.line(&[(left, y), (left + 28.0, y)], &curve.stroke.attributes(frame.theme));
            let label = if self.labels == Labels::Below {
                shortened(&curve.label, LABEL)
            } else {
                curve.label.clone()
            };
            svg.text((left + 36.0, y + 4.5), &[frame.ink()], &label);
            if self.labels == Labels::Below && !curve.value.is_empty() {
                svg.text((frame.right(), y + 4.5), &[frame.quiet(), END], &curve.value);
            }
        }
    }
}

/// A number beside a mark.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// Heights as near as can be to the wanted rising ones, at least a line apart and inside.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    // Less the lines above, heights need only not fall: those that would are averaged with their neighbours.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (index, height) in wanted.iter().enumerate() {
        let mut group = (height - LINE * index as f64, 1);
        while let Some((mean, size)) = groups.pop_if(|(mean, _)| *mean > group.0) {
            let together = size + group.1;
            group = ((mean * size as f64 + group.0 * group.1 as f64) / together as f64, together);
        }
        groups.push(group);
    }
    let last = bottom - LINE * wanted.len().saturating_sub(1) as f64;
    let means = groups.into_iter().flat_map(|(mean, size)| std::iter::repeat_n(mean, size));
    means.enumerate().map(|(index, mean)| mean.min(last).max(top) + LINE * index as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_stay_inside() {
        for wanted in [vec![100.0, 101.0, 102.0, 400.0], vec![90.0; 8], vec![470.0, 475.0, 476.0], vec![]] {
            let heights = apart(&wanted, 84.0, 476.0);
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 1e-6), "{heights:?}");
            assert!(heights.iter().all(|height| (83.9..=476.1).contains(height)), "{heights:?}");
        }
    }

    #[test]
    fn a_chart_is_well_formed() {
        let curve = |stroke, points| Line {
            label: "a < b & c".to_owned(),
            value: "7".to_owned(),
            stroke,
            points,
            marks: vec![(1.0, 1.0)],
            fill: true,
        };
        for labels in [Labels::Ends("y"), Labels::Corner, Labels::Below] {
            let chart = Chart {
                title: "<T>".to_owned(),
                subtitle: "s".repeat(300),
                x: Axis::log("x", 1.0, 100.0),
                y: Axis::log("y", 1.0, 10.0),
                labels,
                curves: vec![
                    curve(Stroke::Solid(0), vec![(1.0, 1.0), (100.0, 10.0)]),
                    curve(Stroke::Dashed(9), vec![(1.0, 2.0)]),
                    curve(Stroke::Guide, vec![]),
                ],
            };
            let inline = chart.page("a", "d");
            let inline = inline.as_str();
            assert!(!inline.contains('#') && !inline.contains("NaN") && inline.contains("var(--c0)"));
            let svg = chart.svg();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
            for tag in ["text", "title", "circle", "svg"] {
                let opened = svg.matches(&format!("<{tag}")).count();
                assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
            }
        }
    }
}
