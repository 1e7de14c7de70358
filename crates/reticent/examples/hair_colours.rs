//! Which hair colour is the most common? A private choice, computed by hand and drawn from the
//! library: `cargo run --quiet --example hair_colours -- FILE.svg`.

use reticent::core::{Epsilon, Event, Neighboring};
use reticent::noise::mechanism::{PrivateSelection, SelectionRule};
use reticent::noise::{Mechanism, NoiseError, NoiseSession};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::error::Error;

const COLOURS: [&str; 4] = ["dark", "brown", "blond", "red"];
const COUNTS: [i128; 4] = [500, 399, 60, 40];
const EPSILON: f64 = 0.1;
const DRAWS: u32 = 100_000;

/// What each candidate weighs beside the best one: e^(−ε·gap/factor).
fn weights(epsilon: f64, factor: f64) -> [f64; 4] {
    let best = COUNTS.iter().copied().max().unwrap_or(0);
    COUNTS.map(|count| (-epsilon * (best - count) as f64 / factor).exp())
}

/// The exponential mechanism: every candidate with its share of the weights.
fn exponential(epsilon: f64, factor: f64) -> [f64; 4] {
    let weights = weights(epsilon, factor);
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Permute-and-flip: a random candidate is taken with its weight as probability, else struck off the list.
fn permute_and_flip(epsilon: f64, factor: f64) -> [f64; 4] {
    fn walk(weights: &[f64; 4], left: &[usize], reached: f64, taken: &mut [f64; 4]) {
        for &candidate in left {
            let here = reached / left.len() as f64;
            taken[candidate] += here * weights[candidate];
            let rest: Vec<usize> = left.iter().copied().filter(|other| *other != candidate).collect();
            walk(weights, &rest, here * (1.0 - weights[candidate]), taken);
        }
    }
    let mut taken = [0.0; 4];
    walk(&weights(epsilon, factor), &[0, 1, 2, 3], 1.0, &mut taken);
    taken
}

/// The shares of the candidates among many draws.
fn drawn(
    selection: &PrivateSelection,
    count: u32,
    session: &mut NoiseSession,
) -> Result<[f64; 4], NoiseError> {
    let event = Event::Repeated { count: u64::from(count), event: Box::new(selection.event()) };
    let mut draws = session.draws(&event)?;
    let mut seen = [0u32; 4];
    for _ in 0..count {
        seen[draws.draw(selection, &COUNTS)?] += 1;
    }
    Ok(seen.map(|times| f64::from(times) / f64::from(count)))
}

/// The three ways to choose at some ε. Counts are whole numbers that one person moves by at most 1. They are
/// monotone if a person is added or removed (no count moves against another), not if a person is replaced.
fn selections(epsilon: f64) -> Result<[PrivateSelection; 3], Box<dyn Error>> {
    let rule = |rule| -> Result<PrivateSelection, Box<dyn Error>> {
        Ok(PrivateSelection::for_integers(rule, 1, Epsilon::new(epsilon)?)?)
    };
    let flip = rule(SelectionRule::PermuteAndFlip)?.monotone()?;
    Ok([rule(SelectionRule::Exponential)?, rule(SelectionRule::Exponential)?.monotone()?, flip])
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give the name of the picture, FILE.svg")?;
    // The counts are made up: no budget limits what is learnt about them.
    let mut session = NoiseSession::without_limit("person", Neighboring::AddRemove)?;
    type Law = fn(f64, f64) -> [f64; 4];
    let laws: [(&str, Law, f64); 3] = [
        ("exponential, ε/2", exponential, 2.0),
        ("exponential, monotone", exponential, 1.0),
        ("permute-and-flip, monotone", permute_and_flip, 1.0),
    ];

    let mut curves = Vec::new();
    for (place, (name, law, factor)) in laws.into_iter().enumerate() {
        let selection = &selections(EPSILON)?[place];
        let (exact, shares) = (law(EPSILON, factor), drawn(selection, DRAWS, &mut session)?);
        println!("{name} (cost {})", selection.guarantee());
        for candidate in 0..4 {
            let (colour, count) = (COLOURS[candidate], COUNTS[candidate]);
            println!(
                "  {colour:<6} {count:>4}  exactly {:.5}  drawn {:.5}",
                exact[candidate], shares[candidate]
            );
        }
        let mut marks = vec![(EPSILON, shares[0])];
        for epsilon in [0.003, 0.01, 0.03] {
            marks.push((epsilon, drawn(&selections(epsilon)?[place], 10_000, &mut session)?[0]));
        }
        let grid = (0..=60).map(|step| 10f64.powf(-3.0 + f64::from(step) / 20.0));
        curves.push(Line {
            label: name.to_owned(),
            value: format!("{:.5} at ε = 0.1", exact[0]),
            stroke: Stroke::Solid(place),
            points: grid.map(|epsilon| (epsilon, law(epsilon, factor)[0])).collect(),
            marks,
            fill: false,
        });
    }
    let chart = Chart {
        title: "How likely the private choice is the right one".to_owned(),
        subtitle: "four hair colors, counts 500, 399, 60 and 40; lines: exact; dots: drawn".to_owned(),
        x: Axis::log("ε", 0.001, 1.0),
        y: Axis::unit("probability of dark"),
        labels: Labels::Below,
        curves,
    };
    Ok(std::fs::write(file, chart.svg())?)
}
