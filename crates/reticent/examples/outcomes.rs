//! What a Rényi bound says about the probability of a bad outcome:
//! `cargo run --quiet --example outcomes -- FILE.svg`.

use reticent::accounting::rdp::{OutcomeRange, bad_outcome};
use reticent::core::{Epsilon, Order, Probability};
use reticent::report::digits::{RoundingSide, significant};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::error::Error;

const EPSILON: f64 = 0.1;

/// The range under pure ε: a factor e^ε either way.
fn pure(probability: f64) -> OutcomeRange {
    OutcomeRange { lower: probability * (-EPSILON).exp(), upper: (probability * EPSILON.exp()).min(1.0) }
}

/// The range under (α, ε)-RDP.
fn renyi(order: f64, epsilon: f64, probability: f64) -> Result<OutcomeRange, Box<dyn Error>> {
    Ok(bad_outcome(Order::new(order)?, Epsilon::new(epsilon)?, Probability::new(probability)?)?)
}

/// Gaussian noise has ε(α) = α/(2σ²); with ε(10) = 0.1 that is α/100. Every order holds, so the best is taken.
fn gaussian(probability: f64) -> Result<OutcomeRange, Box<dyn Error>> {
    let mut best = OutcomeRange { lower: 0.0, upper: 1.0 };
    for step in 1..200 {
        let order = 1.0 + 10f64.powf(f64::from(step) / 50.0 - 1.0);
        let range = renyi(order, order / 100.0, probability)?;
        best = OutcomeRange { lower: best.lower.max(range.lower), upper: best.upper.min(range.upper) };
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give the name of the picture, FILE.svg")?;
    let show = |range: OutcomeRange| {
        let ends =
            [significant(range.lower, 3, RoundingSide::Down), significant(range.upper, 3, RoundingSide::Up)];
        format!("{:>10} to {:<10}", ends[0], ends[1])
    };
    println!("{:>9}  {:^24}  {:^24}  {:^24}", "with", "pure ε = 0.1", "(10, 0.1)-RDP", "Gaussian, σ = √50");
    for probability in [0.5, 0.1, 0.001, 1e-6] {
        let row = [pure(probability), renyi(10.0, EPSILON, probability)?, gaussian(probability)?].map(show);
        println!("{probability:>9}  {}  {}  {}", row[0], row[1], row[2]);
    }

    type Law = Box<dyn Fn(f64) -> Result<OutcomeRange, Box<dyn Error>>>;
    let laws: [(&str, Law); 4] = [
        ("pure ε = 0.1", Box::new(|p| Ok(pure(p)))),
        ("(10, 0.1)-RDP", Box::new(|p| renyi(10.0, EPSILON, p))),
        ("(2, 0.1)-RDP", Box::new(|p| renyi(2.0, EPSILON, p))),
        ("Gaussian noise, the best order", Box::new(gaussian)),
    ];
    let mut curves = Vec::new();
    for (place, (name, law)) in laws.iter().enumerate() {
        let probabilities = (0..=60).map(|step| 10f64.powf(-6.0 + f64::from(step) / 10.0));
        let points: Result<Vec<(f64, f64)>, Box<dyn Error>> =
            probabilities.map(|p| Ok((p, law(p)?.upper / p))).collect();
        curves.push(Line {
            label: (*name).to_owned(),
            value: String::new(),
            stroke: Stroke::Solid(place),
            points: points?,
            marks: Vec::new(),
            fill: false,
        });
    }
    let chart = Chart {
        title: "How many times likelier a bad outcome may be without the record".to_owned(),
        subtitle: "the rarer the outcome, the weaker a bound at one order; pure ε does not care".to_owned(),
        x: Axis::log("probability of the outcome with the record", 1e-6, 1.0),
        y: Axis::log("largest factor", 1.0, 1000.0),
        labels: Labels::Below,
        curves,
    };
    Ok(std::fs::write(file, chart.svg())?)
}
