//! A chart to SVG.

use super::axis::Axis;
use super::svg::Svg;

/// Curves over two axes.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) labels: Labels,
    pub(crate) curves: Vec<Curve>,
}

/// Where the names of curves stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    /// At the right end of each curve, with the values there under a heading.
    Ends(&'static str),
    /// In the upper right corner.
    Corner,
}

/// One line, with marks on some of its points.
pub(crate) struct Curve {
    pub(crate) label: String,
    /// What the curve comes to at its end, beside the label.
    pub(crate) value: String,
    pub(crate) stroke: Stroke,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) marks: Vec<(f64, f64)>,
}

/// How a line looks; numbers are places in the palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid(usize),
    /// For what is no bound.
    Dashed(usize),
    /// A line to compare with.
    Guide,
}

/// Colours that people with any colour vision tell apart (Okabe, Ito 2008).
const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8c6d46"];
const INK: &str = "fill=\"#1f2328\"";
const QUIET: &str = "fill=\"#59636e\"";
const GRID: &str = "stroke=\"#e4e7eb\"";
const HEIGHT: f64 = 540.0;
/// Width of the drawing itself.
const DRAWING: f64 = 620.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = HEIGHT - 64.0;
/// Distance between the lines of labels.
const LINE: f64 = 19.0;
/// Width of a letter of a label, at most on average.
const LETTER: f64 = 7.4;
/// Letters of a subtitle that fit into a line.
const SUBTITLE: usize = 112;
/// More marks than this are not named.
const MARKS: usize = 3;

impl Stroke {
    fn colour(self) -> &'static str {
        match self {
            Self::Solid(place) | Self::Dashed(place) => PALETTE[place % PALETTE.len()],
            Self::Guide => "#8b949e",
        }
    }

    fn attributes(self) -> String {
        let (width, dashes) = match self {
            Self::Solid(_) => ("2.25", ""),
            Self::Dashed(_) => ("1.75", " stroke-dasharray=\"6 5\""),
            Self::Guide => ("1.5", " stroke-dasharray=\"1 5\""),
        };
        format!("stroke=\"{}\" stroke-width=\"{width}\"{dashes}", self.colour())
    }
}

impl Chart {
    /// The chart as an SVG file.
    pub(crate) fn svg(self) -> String {
        let right = match self.labels {
            Labels::Ends(heading) => {
                48.0 + self.label_width() + LETTER * (heading.chars().count().max(8) as f64)
            }
            Labels::Corner => 32.0,
        };
        let width = (LEFT + DRAWING + right).ceil();
        let chart = Self { y: self.y.roomy(), ..self };
        let mut svg = Svg::new(width, HEIGHT, &chart.title);
        chart.heading(&mut svg);
        chart.grid(&mut svg);
        // The first curves matter most: they are drawn last, above the others.
        for curve in chart.curves.iter().rev() {
            chart.curve(&mut svg, curve);
        }
        match chart.labels {
            Labels::Ends(heading) => chart.end_labels(&mut svg, heading),
            Labels::Corner => chart.legend(&mut svg),
        }
        svg.finish()
    }

    /// Room for the longest label.
    fn label_width(&self) -> f64 {
        LETTER * self.curves.iter().map(|curve| curve.label.chars().count()).max().unwrap_or(0) as f64
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (LEFT + DRAWING * self.x.share(x), BOTTOM - (BOTTOM - TOP) * self.y.share(y))
    }

    fn heading(&self, svg: &mut Svg) {
        let mut subtitle: String = self.subtitle.chars().take(SUBTITLE).collect();
        if self.subtitle.chars().nth(SUBTITLE).is_some() {
            subtitle.push('…');
        }
        svg.text((24.0, 34.0), &format!("{INK} font-size=\"18\" font-weight=\"600\""), &self.title);
        svg.text((24.0, 56.0), QUIET, &subtitle);
    }

    fn grid(&self, svg: &mut Svg) {
        let right = LEFT + DRAWING;
        for (value, text) in self.y.ticks() {
            let y = BOTTOM - (BOTTOM - TOP) * self.y.share(value);
            svg.line(&[(LEFT, y), (right, y)], GRID);
            svg.text((LEFT - 10.0, y + 4.5), &format!("{QUIET} text-anchor=\"end\""), &text);
        }
        let middle = |fill: &str| format!("{fill} text-anchor=\"middle\"");
        for (value, text) in self.x.ticks() {
            let x = LEFT + DRAWING * self.x.share(value);
            svg.line(&[(x, TOP), (x, BOTTOM)], GRID);
            svg.text((x, BOTTOM + 20.0), &middle(QUIET), &text);
        }
        svg.line(&[(LEFT, TOP), (LEFT, BOTTOM), (right, BOTTOM)], "stroke=\"#8b949e\"");
        svg.text((LEFT + 0.5 * DRAWING, BOTTOM + 44.0), &middle(INK), &self.x.label);
        svg.upright((22.0, 0.5 * (TOP + BOTTOM)), &middle(INK), &self.y.label);
    }

    fn curve(&self, svg: &mut Svg, curve: &Curve) {
        let places: Vec<(f64, f64)> = curve.points.iter().map(|point| self.place(*point)).collect();
        svg.line(&places, &curve.stroke.attributes());
        for mark in &curve.marks {
            let (x, y) = self.place(*mark);
            let name = format!("({}, {})", short(mark.0), short(mark.1));
            svg.dot((x, y), curve.stroke.colour(), &name);
            if curve.marks.len() <= MARKS {
                // A white rim keeps the text readable where it crosses a line.
                let rim = "stroke=\"#ffffff\" stroke-width=\"4\" paint-order=\"stroke\"";
                svg.text((x + 9.0, y - 3.0), &format!("{INK} {rim}"), &name);
            }
        }
    }

    /// Names beside the ends of curves, moved apart where they would overlap.
    fn end_labels(&self, svg: &mut Svg, heading: &str) {
        let end = |curve: &Curve| curve.points.last().map(|point| self.place(*point));
        let mut ends: Vec<(&Curve, (f64, f64))> =
            self.curves.iter().filter_map(|curve| Some((curve, end(curve)?))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let names = LEFT + DRAWING + 28.0;
        let values = names + self.label_width() + 8.0;
        svg.text((values, TOP - 14.0), QUIET, heading);
        for ((curve, (x, y)), label) in ends.iter().zip(apart(&wanted, TOP, BOTTOM)) {
            let leader = [(x + 4.0, *y), (names - 10.0, label), (names - 4.0, label)];
            let faint = format!("stroke=\"{}\" stroke-opacity=\"0.7\"", curve.stroke.colour());
            svg.line(&leader, &faint);
            svg.text((names, label + 4.5), INK, &curve.label);
            svg.text((values, label + 4.5), QUIET, &curve.value);
        }
    }

    fn legend(&self, svg: &mut Svg) {
        let left = LEFT + DRAWING - 56.0 - self.label_width();
        for (index, curve) in self.curves.iter().enumerate() {
            let y = TOP + 24.0 + 1.2 * LINE * index as f64;
            svg.line(&[(left, y), (left + 28.0, y)], &curve.stroke.attributes());
            svg.text((left + 36.0, y + 4.5), INK, &curve.label);
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
        let curve = |stroke, points| Curve {
            label: "a < b & c".to_owned(),
            value: "7".to_owned(),
            stroke,
            points,
            marks: vec![(1.0, 1.0)],
        };
        for labels in [Labels::Ends("y"), Labels::Corner] {
            let svg = Chart {
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
            }
            .svg();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
            for tag in ["text", "title", "circle", "svg"] {
                let opened = svg.matches(&format!("<{tag}")).count();
                assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
            }
        }
    }
}
