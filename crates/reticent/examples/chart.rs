//! Curves from lines of text: reads `series,x,y` from standard input and draws one curve for each series.
//!
//! ```text
//! cargo run --quiet --example chart -- FILE.svg --title T --x LABEL --y LABEL [--log-x] [--log-y]
//! ```

use reticent::report::digits;
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::error::Error;
use std::io::BufRead;

/// What the arguments ask for.
#[derive(Default)]
struct Asked {
    file: String,
    title: String,
    subtitle: String,
    labels: [String; 2],
    logs: [bool; 2],
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut asked = Self::default();
        while let Some(word) = words.next() {
            let mut text = || words.next().ok_or(format!("{word} needs a text behind it"));
            match word.as_str() {
                "--title" => asked.title = text()?,
                "--subtitle" => asked.subtitle = text()?,
                "--x" => asked.labels[0] = text()?,
                "--y" => asked.labels[1] = text()?,
                "--log-x" => asked.logs[0] = true,
                "--log-y" => asked.logs[1] = true,
                other if other.starts_with("--") => return Err(format!("{other} is not known").into()),
                _ => asked.file = word,
            }
        }
        if asked.file.is_empty() { Err("give the name of the picture, FILE.svg".into()) } else { Ok(asked) }
    }

    /// An axis that holds all values.
    fn axis(&self, which: usize, values: &[f64]) -> Axis {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let make = if self.logs[which] { Axis::log } else { Axis::linear };
        make(&self.labels[which], low, high)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = Asked::read(std::env::args().skip(1))?;
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (line, text) in std::io::stdin().lock().lines().enumerate() {
        let text = text?;
        // From the right, so that a name may have commas.
        let mut cells = text.rsplitn(3, ',');
        let (Some(y), Some(x), Some(name)) = (cells.next(), cells.next(), cells.next()) else {
            return Err(format!("line {}: give series,x,y, not {text:?}", line + 1).into());
        };
        let number = |cell: &str| match cell.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("line {}: {cell:?} is no number", line + 1)),
        };
        let point = (number(x)?, number(y)?);
        match series.iter_mut().find(|(known, _)| known == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name.to_owned(), vec![point])),
        }
    }
    let values = |which: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        series.iter().flat_map(|(_, points)| points.iter().map(which)).collect()
    };
    let (x, y) = (asked.axis(0, &values(|point| point.0)), asked.axis(1, &values(|point| point.1)));
    let curve = |(place, (label, points)): (usize, (String, Vec<(f64, f64)>))| Line {
        label,
        value: points.last().map(|(_, y)| digits::brief(*y)).unwrap_or_default(),
        stroke: Stroke::Solid(place),
        // A line to compare with has two points; they need no marks.
        marks: if points.len() > 2 { points.clone() } else { Vec::new() },
        points,
        fill: false,
    };
    let chart = Chart {
        title: asked.title.clone(),
        subtitle: asked.subtitle.clone(),
        x,
        y,
        labels: Labels::Ends("at the end"),
        curves: series.into_iter().enumerate().map(curve).collect(),
    };
    Ok(std::fs::write(&asked.file, chart.svg())?)
}
