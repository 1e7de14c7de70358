//! A textbook Laplace sampler in doubles gives its input away; one on a grid does not:
//! `cargo run --quiet --example floats_leak`.

use reticent::core::{Epsilon, Neighboring, Scale, Sensitivity};
use reticent::noise::grid::Grid;
use reticent::noise::mechanism::Laplace;
use reticent::noise::sampler::uniform_below;
use reticent::noise::{Entropy, NoiseSession};
use std::error::Error;

const DRAWS: usize = 100_000;
/// U is a multiple of 2⁻⁵³, as random number libraries make it.
const UNIFORMS: u64 = 1 << 53;
/// b of the noise; ε is its inverse.
const SCALE: f64 = 1.0;

/// Noise as textbooks draw it: −b·ln U with a random sign.
fn noise(numerator: u64, negative: bool) -> f64 {
    let size = -SCALE * (numerator as f64 / UNIFORMS as f64).ln();
    if negative { -size } else { size }
}

/// Whether the textbook sampler can say `output` when the truth is `input`: is there a U that leads there?
fn reachable(output: f64, input: f64) -> bool {
    let wanted = output - input;
    let guess = ((-wanted.abs() / SCALE).exp() * UNIFORMS as f64) as u64;
    // The sum is monotone in U, so only numbers beside the guess can hit.
    let near = guess.saturating_sub(64).max(1)..=(guess + 64).min(UNIFORMS);
    near.into_iter().any(|numerator| input + noise(numerator, wanted < 0.0) == output)
}

fn textbook(input: f64, entropy: &mut Entropy) -> f64 {
    let numerator = uniform_below(entropy, UNIFORMS) + 1;
    input + noise(numerator, uniform_below(entropy, 2) == 1)
}

fn percent(outputs: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
    100.0 * outputs.iter().filter(|output| holds(**output)).count() as f64 / outputs.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
    println!("textbook sampler, {DRAWS} outputs per input, ε = {}", 1.0 / SCALE);
    for (input, other) in [(0.0, 1.0), (1.0, 0.0)] {
        let outputs: Vec<f64> = (0..DRAWS).map(|_| textbook(input, session.entropy())).collect();
        let own = percent(&outputs, |output| reachable(output, input));
        let betrayed = percent(&outputs, |output| !reachable(output, other));
        println!(
            "  from {input}: {own:.1} % reachable from {input}, {betrayed:.1} % impossible from {other}"
        );
    }

    // The same noise from the library, all numbers as one vector. Its grid depends on the scale alone.
    let ours = Laplace::new(Sensitivity::new(1.0)?, Epsilon::new(1.0 / SCALE)?, DRAWS)?;
    let step = Grid::for_scale(Scale::new(SCALE)?, 45)?.step();
    println!("our sampler, grid of step {step:e}, ε = {}", 1.0 / SCALE);
    for (input, other) in [(0.0, 1.0), (1.0, 0.0)] {
        let outputs = session.release(&ours, &[input; DRAWS])?.value;
        // Every value is (k + ½)·step for a whole k, and every k has noise that leads to it from any input.
        let outside = percent(&outputs, |output| (output / step - 0.5).fract() != 0.0);
        println!("  from {input}: {outside:.1} % off the grid, the only values impossible from {other}");
    }
    Ok(())
}
