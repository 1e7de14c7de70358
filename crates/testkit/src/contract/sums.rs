//! Clipped sums against the reference.

use super::{Subject, Violation, length, rules, units};
use reticent_train::{Clipping, Examples, Layout, RoundingMargin, Selection};

/// How far a sum may be from the reference, over the norm of what was added.
const TOLERANCE: f64 = 3e-5;

/// Checks that the sum over units of several examples, of one and of none, in any order, is the sum of the units' clipped gradients,
/// for every clipping rule and without one, and that a repeated call gives the same.
///
/// `truth` is the gradient of one example's loss in double precision. At least six examples are needed.
///
/// # Errors
/// What does not hold.
pub fn sums(
    subject: &mut dyn Subject,
    truth: &dyn Fn(&Examples, usize) -> Vec<f64>,
    examples: &Examples,
) -> Result<(), Violation> {
    let layout = subject.layout();
    let gradients: Vec<Vec<f64>> = (0..examples.len()).map(|example| truth(examples, example)).collect();
    let mut norms: Vec<f64> = gradients.iter().map(|gradient| length(gradient.iter().copied())).collect();
    norms.sort_by(f64::total_cmp);
    // Half of the examples are longer than this.
    let norm = norms[norms.len() / 2].clamp(1e-6, 1e6);
    let all: Vec<usize> = (0..examples.len()).collect();
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let selections = [
        Selection::default(),
        units([&[][..]]),
        units([&[4][..]]),
        Selection::of_examples(all.clone()),
        Selection::of_examples(backwards),
        units([&[2][..], &[], &[0, 3, 1], &[5, 4]]),
        units([&[5, 4][..], &[1, 0, 3], &[], &[2]]),
        units([&all[..]]),
    ];
    for selection in &selections {
        let own: Vec<Vec<f64>> = (0..selection.units())
            .map(|unit| {
                let mut sum = vec![0.0; layout.gradients()];
                for example in selection.unit(unit) {
                    sum.iter_mut().zip(&gradients[*example]).for_each(|(sum, g)| *sum += g);
                }
                sum
            })
            .collect();
        for rule in rules(norm).iter().map(Some).chain([None]) {
            let (expected, longest) = clipped(&layout, &own, rule);
            for call in ["first", "repeated"] {
                let found = subject.sum(examples, selection, rule);
                let found =
                    found.map_err(|error| Violation::new("a sum for every selection", error.to_string()))?;
                if found.len() != expected.len() {
                    let detail = format!("{} numbers, not {}", found.len(), expected.len());
                    return Err(Violation::new("a sum as long as the gradient", detail));
                }
                let distance = length(found.iter().zip(&expected).map(|(f, e)| f64::from(*f) - e));
                let scale = longest * (selection.units().max(1) as f64);
                // What is not a number is not within any distance.
                if distance.is_nan() || distance > TOLERANCE * scale + 1e-30 {
                    let detail = format!(
                        "{distance:.2e} away beside {scale:.2e}, {rule:?}, units {:?}, {call} call",
                        selection.ends()
                    );
                    return Err(Violation::new("the sum of the units' clipped gradients", detail));
                }
            }
        }
    }
    Ok(())
}

/// The clipped sum in double precision, and the length of the longest unit's part in it.
fn clipped(layout: &Layout, units: &[Vec<f64>], rule: Option<&Clipping>) -> (Vec<f64>, f64) {
    let groups = layout.groups();
    let (mut sum, mut longest) = (vec![0.0; layout.gradients()], 0.0f64);
    for gradient in units {
        let mut factors = vec![1.0f32; groups];
        if let Some(rule) = rule {
            let mut squares = vec![0.0; groups];
            for (number, parameter) in layout.parameters().iter().enumerate() {
                let own = &gradient[layout.gradient_range(number)];
                squares[parameter.group] += own.iter().map(|g| g * g).sum::<f64>();
            }
            rule.factors(RoundingMargin::SINGLE_PRECISION, groups, &squares, &mut factors);
        }
        let mut own = 0.0;
        for (number, parameter) in layout.parameters().iter().enumerate() {
            for place in layout.gradient_range(number) {
                let part = f64::from(factors[parameter.group]) * gradient[place];
                sum[place] += part;
                own += part * part;
            }
        }
        longest = longest.max(own.sqrt());
    }
    (sum, longest)
}
