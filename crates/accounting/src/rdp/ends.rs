//! The two ends of a Rényi curve: D₁ and D_∞.

use super::curve::{response_loss, unsupported};
use super::student::student_t_rdp;
use crate::AccountingError;
use reticent_core::Event;

/// D₁, the Kullback–Leibler divergence, where a closed form bounds it.
///
/// # Guarantee
/// Between neighbouring data, under the relation of the event's parameters, in the worse direction; rounded
/// up. It is that of the worst mechanism the event allows; discrete Laplace noise is taken as any pure event.
///
/// # Reference
/// Mironov (2017), table II; the limits at order 1 of the curves used here.
///
/// # Errors
/// [`AccountingError::Unsupported`] for other events.
pub fn kullback_leibler(event: &Event) -> Result<f64, AccountingError> {
    let up = |v: f64| v * (1.0 + 1e-14);
    let pure = |e: f64| up(e * libm::tanh(e / 2.0));
    Ok(match event {
        Event::Gaussian { noise_multiplier } | Event::DiscreteGaussian { noise_multiplier, .. } => {
            up(0.5 / noise_multiplier.get().powi(2))
        }
        Event::Laplace { noise_multiplier } => {
            let e = 1.0 / noise_multiplier.get();
            up(e + libm::expm1(-e)) + f64::EPSILON * e
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            let (keep, k) = (keep_probability.get(), *categories as f64);
            let gap = libm::fma(k, keep, -1.0).max(0.0) / (k - 1.0);
            up(gap * response_loss(keep, *categories))
        }
        Event::DiscreteLaplace { noise_multiplier, .. } => pure(1.0 / noise_multiplier.get()),
        Event::Pure { epsilon } => pure(epsilon.get()),
        Event::Exponential { epsilon } => up(epsilon.get().powi(2) / 8.0).min(pure(epsilon.get())),
        Event::StudentT { noise_multiplier, degrees_of_freedom } => {
            student_t_rdp(noise_multiplier.get(), *degrees_of_freedom, 1.0)
        }
        Event::Zcdp { rho } => rho.get(),
        Event::Gdp { mu } => up(0.5 * mu.get().powi(2)),
        Event::TreeAggregation { noise_multiplier, steps } => {
            up(f64::from(u64::BITS - steps.leading_zeros()) * 0.5 / noise_multiplier.get().powi(2))
        }
        Event::Repeated { count, event } => times(*count, kullback_leibler(event)?),
        Event::Composed { events } => sum(events, kullback_leibler)?,
        _ => return Err(unsupported("event", "its Kullback-Leibler divergence has no closed form here")),
    })
}

/// D_∞, the largest privacy loss; infinite where it has no bound.
///
/// # Guarantee
/// Between neighbouring data, under the relation of the event's parameters, in both directions; rounded up.
///
/// # Reference
/// Mironov (2017), table II; Papernot, Steinke (2022), theorem 2 at infinite orders, for the best of a
/// random number of runs.
///
/// # Errors
/// [`AccountingError::Unsupported`] for other events.
pub fn largest_loss(event: &Event) -> Result<f64, AccountingError> {
    let up = |v: f64| v * (1.0 + 1e-14);
    let unbounded = |size: f64| if size == 0.0 { 0.0 } else { f64::INFINITY };
    Ok(match event {
        // Student-t noise has a bounded loss in each coordinate, and any number of coordinates.
        Event::Gaussian { .. }
        | Event::DiscreteGaussian { .. }
        | Event::StudentT { .. }
        | Event::TreeAggregation { .. } => f64::INFINITY,
        Event::Zcdp { rho } => unbounded(rho.get()),
        Event::Gdp { mu } => unbounded(mu.get()),
        Event::Laplace { noise_multiplier } | Event::DiscreteLaplace { noise_multiplier, .. } => {
            up(1.0 / noise_multiplier.get())
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            response_loss(keep_probability.get(), *categories)
        }
        Event::Pure { epsilon } | Event::Exponential { epsilon } => epsilon.get(),
        Event::RepeatAndSelect { mean, shape, event } => {
            let once = largest_loss(event)?;
            if *mean > 1.0 || shape.is_infinite() { up((2.0 + shape) * once) } else { once }
        }
        Event::Repeated { count, event } => times(*count, largest_loss(event)?),
        Event::Composed { events } => sum(events, largest_loss)?,
        _ => return Err(unsupported("event", "its largest loss has no closed form here")),
    })
}

fn times(count: u64, value: f64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * value * (1.0 + 1e-15) }
}

fn sum(
    events: &[Event],
    each: impl Fn(&Event) -> Result<f64, AccountingError>,
) -> Result<f64, AccountingError> {
    events.iter().try_fold(0.0, |total: f64, event| Ok((total + each(event)?).next_up()))
}
