//! Units that try to move a sum by more than the clipping norm.

use super::{Subject, Violation, apart, length, rules, units};
use reticent_train::{Clipping, Examples, Inputs, Selection, Targets};

/// Numbers that a hostile input or target may hold.
const ODD: [f32; 10] =
    [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e30, -1e19, 1e15, 1e8, 1e-40, f32::MIN_POSITIVE];

/// What rounding may add to a difference of two sums, over the norm and the number of units.
const ROUNDING: f64 = 1e-6;

/// Checks that a unit adds at most the clipping norm whatever its inputs and targets hold, by itself and beside others, and that what
/// others add does not change. The last example turns hostile; inputs that are tokens stay as they are.
///
/// # Errors
/// What does not hold.
pub fn hostile(subject: &mut dyn Subject, examples: &Examples) -> Result<(), Violation> {
    hostile_under(subject, examples, &rules(1.0))
}

/// As [`hostile`], under these rules.
///
/// # Errors
/// What does not hold.
pub fn hostile_under(
    subject: &mut dyn Subject,
    examples: &Examples,
    rules: &[Clipping],
) -> Result<(), Violation> {
    for (what, odd) in poisoned(examples) {
        for rule in rules {
            bounded(subject, &odd, &what, rule)?;
        }
    }
    Ok(())
}

/// Checks that a unit whose two examples have opposite targets of this size, and else are the same, adds at most the norm: what
/// cancels within a unit must not drown what others have added.
///
/// # Errors
/// What does not hold.
pub fn cancelling(subject: &mut dyn Subject, examples: &Examples) -> Result<(), Violation> {
    let Targets::Numbers(targets) = examples.targets() else { return Ok(()) };
    let count = examples.len();
    for huge in [1e4f32, 1e8, 1e10, 1e15] {
        let doubled: Vec<usize> = (0..count).chain([count - 1]).collect();
        let twice = examples.subset(&doubled);
        let mut targets: Vec<f32> = targets.clone();
        targets[count - 1] = huge;
        targets.push(-huge);
        let odd = with_targets(&twice, Targets::Numbers(targets))?;
        let others: Vec<Vec<usize>> = (0..count - 1).map(|example| vec![example]).collect();
        let pair = [count - 1, count];
        for rule in rules(1.0) {
            let without = units(others.iter().map(Vec::as_slice));
            let with = units(others.iter().map(Vec::as_slice).chain([&pair[..]]));
            compare(subject, &odd, &format!("opposite targets of {huge:e}"), &rule, &without, &with)?;
        }
    }
    Ok(())
}

/// The same examples with the last one turned hostile in one way.
fn poisoned(examples: &Examples) -> Vec<(String, Examples)> {
    let (last, size) = (examples.len() - 1, examples.size());
    let mut found = Vec::new();
    for odd in ODD {
        if let Inputs::Real(values) = examples.inputs() {
            for (places, name) in
                [(last * size..(last + 1) * size, "all inputs"), (last * size..last * size + 1, "one input")]
            {
                let mut values = values.clone();
                values[places].fill(odd);
                let made = Examples::new(examples.shape(), Inputs::Real(values), examples.targets().clone());
                found.extend(made.ok().map(|examples| (format!("{name} {odd:e}"), examples)));
            }
        }
        if let Targets::Numbers(numbers) = examples.targets() {
            let mut numbers = numbers.clone();
            numbers[last] = odd;
            let made = with_targets(examples, Targets::Numbers(numbers));
            found.extend(made.ok().map(|examples| (format!("target {odd:e}"), examples)));
        }
    }
    found
}

fn with_targets(examples: &Examples, targets: Targets) -> Result<Examples, Violation> {
    Examples::new(examples.shape(), examples.inputs().clone(), targets)
        .map_err(|error| Violation::new("examples for the suite", error.to_string()))
}

/// The last example as a unit by itself, beside others, and in one unit with another example.
fn bounded(
    subject: &mut dyn Subject,
    examples: &Examples,
    what: &str,
    rule: &Clipping,
) -> Result<(), Violation> {
    let last = examples.len() - 1;
    let others: Vec<Vec<usize>> = (0..last).map(|example| vec![example]).collect();
    let slices = || others.iter().map(Vec::as_slice);
    let alone = sum(subject, examples, &units([&[last][..]]), rule, what)?;
    let norm = length(alone.iter().map(|g| f64::from(*g)));
    if norm.is_nan() || norm > rule.norm() {
        let detail = format!("{what}: a unit alone adds {norm:e} under {rule:?}");
        return Err(Violation::new("at most the clipping norm from one unit", detail));
    }
    let without = units(slices());
    for with in [units(slices().chain([&[last][..]])), units([&[last][..]].into_iter().chain(slices()))] {
        compare(subject, examples, what, rule, &without, &with)?;
    }
    let pair = [last, 0];
    compare(
        subject,
        examples,
        what,
        rule,
        &units(slices().skip(1)),
        &units(slices().skip(1).chain([&pair[..]])),
    )
}

/// The sum with a unit is within the norm of the one without it.
fn compare(
    subject: &mut dyn Subject,
    examples: &Examples,
    what: &str,
    rule: &Clipping,
    without: &Selection,
    with: &Selection,
) -> Result<(), Violation> {
    let (one, two) =
        (sum(subject, examples, without, rule, what)?, sum(subject, examples, with, rule, what)?);
    let moved = apart(&one, &two);
    let most = rule.norm() * (1.0 + ROUNDING * with.units() as f64);
    if moved <= most {
        return Ok(());
    }
    let detail = format!("{what}: the sum moves by {moved:e} of {:e} under {rule:?}", rule.norm());
    Err(Violation::new("at most the clipping norm from one unit beside others", detail))
}

fn sum(
    subject: &mut dyn Subject,
    examples: &Examples,
    selection: &Selection,
    rule: &Clipping,
    what: &str,
) -> Result<Vec<f32>, Violation> {
    let sum = subject
        .sum(examples, selection, Some(rule))
        .map_err(|error| Violation::new("a sum whatever the examples hold", format!("{what}: {error}")))?;
    match sum.iter().all(|g| g.is_finite()) {
        true => Ok(sum),
        false => Err(Violation::new("finite sums", format!("{what} under {rule:?}"))),
    }
}
