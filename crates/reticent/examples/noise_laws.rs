//! How much noise Laplace and Gaussian releases need, and how far it strays:
//! `cargo run --quiet --example noise_laws -- FILE.svg`.

use reticent::core::{Confidence, Delta, Epsilon, Neighboring, Sensitivity};
use reticent::noise::NoiseSession;
use reticent::noise::mechanism::{Accuracy, Gaussian, Laplace, classical_sigma};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::error::Error;

const DRAWS: usize = 100_000;

/// The error that is exceeded with probability β, for β from 1/2 down to 10⁻⁶, as points (error, β).
fn tail(noise: &impl Accuracy) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let beta = |step: i32| 0.5 * (2e-6f64).powf(f64::from(step) / 40.0);
    let point = |beta: f64| Ok((noise.error(Confidence::new(1.0 - beta)?), beta));
    (0..=40).map(beta).map(point).collect()
}

/// The share of draws beyond each of some errors.
fn measured(draws: &[f64], errors: &[f64]) -> Vec<(f64, f64)> {
    let beyond = |error: f64| draws.iter().filter(|draw| draw.abs() > error).count();
    errors.iter().map(|error| (*error, beyond(*error) as f64 / draws.len() as f64)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give the name of the picture, FILE.svg")?;
    let (one, delta) = (Sensitivity::new(1.0)?, Delta::new(1e-5)?);

    println!("sensitivity 1, δ = 1e-5");
    println!("{:>5}  {:>9}  {:>9}  classical σ", "ε", "Laplace b", "tight σ");
    for epsilon in [0.1, 0.5, 0.9, 1.0, 4.0, 8.0] {
        let epsilon = Epsilon::new(epsilon)?;
        let (laplace, gaussian) = (Laplace::new(one, epsilon, 1)?, Gaussian::new(one, epsilon, delta, 1)?);
        let classical = match classical_sigma(one, epsilon, delta) {
            Ok(sigma) => format!("{:.3}", sigma.get()),
            Err(_) => "refused: proven below ε = 1 only".to_owned(),
        };
        println!("{:>5}  {:>9.3}  {:>9.3}  {classical}", epsilon.get(), laplace.scale(), gaussian.sigma());
    }

    // Many numbers as one vector: the noise of each is that of a single one, to 10 digits.
    let epsilon = Epsilon::new(1.0)?;
    let laplace = Laplace::new(one, epsilon, DRAWS)?;
    let gaussian = Gaussian::new(one, epsilon, delta, DRAWS)?;
    let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
    let zeros = vec![0.0; DRAWS];
    let laplace_draws = session.release(&laplace, &zeros)?.value;
    let gaussian_draws = session.release(&gaussian, &zeros)?.value;
    let curve = |label: &str, value: &str, place, points, marks| Line {
        label: label.to_owned(),
        value: value.to_owned(),
        stroke: Stroke::Solid(place),
        points,
        marks,
        fill: false,
    };
    let chart = Chart {
        title: "How often noise is larger than t".to_owned(),
        subtitle: "sensitivity 1, ε = 1; lines: the law; dots: 100 000 draws".to_owned(),
        x: Axis::linear("t", 0.0, 20.0),
        y: Axis::log("share of releases that are off by more than t", 1e-6, 1.0),
        labels: Labels::Below,
        curves: vec![
            curve(
                "Laplace, δ = 0",
                "straight tail",
                0,
                tail(&laplace)?,
                measured(&laplace_draws, &[1.0, 2.0, 4.0, 6.0, 8.0]),
            ),
            curve(
                "Gaussian, δ = 10⁻⁵",
                "bent tail",
                1,
                tail(&gaussian)?,
                measured(&gaussian_draws, &[3.0, 6.0, 9.0, 12.0, 15.0]),
            ),
        ],
    };
    Ok(std::fs::write(file, chart.svg())?)
}
