//! Events, relations and measured numbers in words.

use crate::digits::{self, Side};
use reticent_audit::findings::{Estimate, RateAt};
use reticent_core::{Event, Neighboring};

/// A space at which no line ends.
const HELD: char = '\u{a0}';

/// What stands where nobody said anything.
pub(crate) const NOT_DECLARED: &str = "not declared";

/// A reason that always says something.
pub(crate) fn not_measurable(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) if reason.starts_with("not measurable") => reason.to_owned(),
        Some(reason) => format!("not measurable: {reason}"),
        None => "not measurable: no reason was recorded".to_owned(),
    }
}

/// A number with four digits, or words where it is none.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        "not measurable: not a number".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞".to_owned() } else { "−∞".to_owned() }
    } else {
        digits::brief(value)
    }
}

/// A share as a percentage, for shares that were given and not measured: `0.1 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}{HELD}%", number(round_off(share * 100.0)))
}

/// Without the last bits that multiplication leaves.
fn round_off(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// `123 (95 %: 101 to 150)`, with a break at most before the interval.
pub(crate) fn interval(value: &str, confidence: f64, low: &str, high: &str) -> String {
    format!("{value} ({}:{HELD}{low}{HELD}to{HELD}{high})", level(confidence))
}

/// A confidence in percent, rounded down.
pub(crate) fn level(confidence: f64) -> String {
    format!("{}{HELD}%", digits::confidence(confidence))
}

/// `ε ≤ 8` without a break.
pub(crate) fn related(name: &str, relation: char, value: &str) -> String {
    format!("{name}{HELD}{relation}{HELD}{value}")
}

/// Whether all numbers of an estimate can be shown.
pub(crate) fn sound(estimate: &Estimate) -> bool {
    [estimate.value, estimate.lower, estimate.upper, estimate.confidence]
        .iter()
        .all(|value| value.is_finite())
}

/// `0.812 (95 %: 0.794 to 0.830)`.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    in_unit(estimate, 1.0, "")
}

/// `12.3 % (95 %: 10.9 to 13.8 %)`.
pub(crate) fn share(estimate: &Estimate) -> String {
    in_unit(estimate, 100.0, "\u{a0}%")
}

fn in_unit(estimate: &Estimate, factor: f64, unit: &str) -> String {
    if !sound(estimate) {
        return not_measurable(Some("not a number"));
    }
    let scaled = |value: f64| round_off(value * factor);
    let ends = [scaled(estimate.lower), scaled(estimate.upper)];
    let [value, low, high] = digits::with_interval(scaled(estimate.value), ends, false);
    interval(&format!("{value}{unit}"), estimate.confidence, &low, &format!("{high}{unit}"))
}

/// The rate in words, or why there is none.
pub(crate) fn rate(rate: &RateAt) -> Result<String, String> {
    match &rate.tpr {
        Some(tpr) if sound(tpr) => Ok(share(tpr)),
        Some(_) => Err(not_measurable(Some("not a number"))),
        None => Err(not_measurable(rate.reason.as_deref())),
    }
}

/// An ε or δ that is claimed as an upper bound: rounded up.
pub(crate) fn at_most(value: f64) -> String {
    digits::spent(value)
}

/// An ε that is proven from below: rounded down.
pub(crate) fn at_least(value: f64) -> String {
    if value.is_nan() { number(value) } else { digits::significant(value.max(0.0), 3, Side::Down) }
}

/// What a relation protects.
pub(crate) fn relation(neighboring: Neighboring, unit: &str) -> String {
    match neighboring {
        Neighboring::AddRemove => {
            format!("add-remove: it is hidden whether the data of one unit ({unit}) is there at all")
        }
        Neighboring::ReplaceOne => format!(
            "replace-one: it is hidden what the data of one unit ({unit}) says; how many units there are is public"
        ),
    }
}

/// One event as a sentence without a full stop.
pub(crate) fn event(event: &Event) -> String {
    let shown = digits::exactly;
    match event {
        Event::Gaussian { noise_multiplier: noise } => {
            format!("Gaussian noise of {} times the sensitivity", shown(noise.get()))
        }
        Event::ClippedSum { noise_multiplier: noise } => {
            format!("Gaussian noise of {} times what one record can add to a sum", shown(noise.get()))
        }
        Event::Laplace { noise_multiplier: noise } => {
            format!("Laplace noise of scale {} times the sensitivity", shown(noise.get()))
        }
        Event::DiscreteGaussian { noise_multiplier: noise, .. } => {
            format!("Gaussian noise on whole numbers, {} times the sensitivity", shown(noise.get()))
        }
        Event::DiscreteLaplace { noise_multiplier: noise, .. } => {
            format!("Laplace noise on whole numbers, scale {} times the sensitivity", shown(noise.get()))
        }
        Event::StudentT { noise_multiplier: noise, degrees_of_freedom } => format!(
            "Student-t noise ({degrees_of_freedom} degrees of freedom) of scale {} times the sensitivity",
            shown(noise.get())
        ),
        Event::RandomizedResponse { keep_probability, categories } => format!(
            "randomized response over {categories} categories, the true one kept with probability {}",
            shown(keep_probability.get())
        ),
        Event::Exponential { epsilon } => format!("a private selection with ε = {}", shown(epsilon.get())),
        Event::Pure { epsilon } => format!("a release with ε = {}", shown(epsilon.get())),
        Event::Approximate { epsilon, delta } => {
            format!("a release with ε = {} and δ = {}", shown(epsilon.get()), shown(delta.get()))
        }
        Event::Zcdp { rho } => format!("a release with ρ = {} (zCDP)", shown(rho.get())),
        Event::Rdp { order, epsilon } => format!(
            "a release with Rényi divergence at most {} at order {}",
            shown(epsilon.get()),
            shown(order.get())
        ),
        Event::Gdp { mu } => {
            format!("a release with μ = {} (Gaussian differential privacy)", shown(mu.get()))
        }
        Event::PoissonSampled { rate, event: inner } => format!(
            "{}, on a random sample that every record enters with probability {}",
            self::event(inner),
            shown(rate.get())
        ),
        Event::SampledWithoutReplacement { dataset_size, batch_size, event: inner } => {
            format!("{}, on a random sample of {batch_size} of {dataset_size} records", self::event(inner))
        }
        Event::Repeated { count, event: inner } => format!("{count} times: {}", self::event(inner)),
        Event::TruncatedPoisson { rate, max_batch, event: inner, .. } => format!(
            "{}, on a random sample that every record enters with probability {}, cut to {max_batch} records",
            self::event(inner),
            shown(rate.get())
        ),
        Event::Shuffled { steps_per_epoch, epochs, event: inner } => format!(
            "{epochs} passes over shuffled data in {steps_per_epoch} batches, each with {}",
            self::event(inner)
        ),
        Event::BallsInBins { bins, epochs, event: inner } => format!(
            "{epochs} passes with every record thrown into one of {bins} batches, each with {}",
            self::event(inner)
        ),
        Event::MixtureOfGaussians { sensitivities, noise_multiplier: noise, .. } => format!(
            "Gaussian noise of {} on a sum with {} possible sensitivities",
            shown(noise.get()),
            sensitivities.len()
        ),
        Event::TreeAggregation { noise_multiplier: noise, steps } => format!(
            "sums over a stream of {steps} steps by a tree, Gaussian noise of {} times the sensitivity of a node",
            shown(noise.get())
        ),
        Event::RepeatAndSelect { mean, event: inner, .. } => {
            format!("the best of {} runs on average, each with {}", shown(*mean), self::event(inner))
        }
        Event::Composed { events } => several(events, "one after the other on the same data"),
        Event::Parallel { events } => several(events, "on parts of the data that do not overlap"),
    }
}

fn several(events: &[Event], how: &str) -> String {
    match events {
        [] => format!("nothing, {how}"),
        [first] => self::event(first),
        [first, rest @ ..] => format!("{} events {how}, the first: {}", rest.len() + 1, event(first)),
    }
}
