//! What a guarantee for one says about k together.

use crate::AccountingError;
use crate::clipped::plain;
use reticent_core::rounding::{div_up, exp_m1_down, exp_m1_up, mul_up};
use reticent_core::{
    Delta, Epsilon, Event, EventLog, Guarantee, Mu, Neighboring, NoiseMultiplier, Order, Rho,
};

/// (kε, δ(e^{kε} − 1)/(e^ε − 1)) for a group of k; (0, kδ) when ε = 0.
///
/// # Guarantee
/// For data sets that differ in k units of the relation the claim is for; rounded up.
///
/// # Reference
/// Vadhan, *The Complexity of Differential Privacy* (2017), lemma 2.2.
///
/// # Errors
/// [`AccountingError::Invalid`] when k = 0 or δ would reach 1.
pub fn approximate(one: Guarantee, size: u64) -> Result<Guarantee, AccountingError> {
    if size == 0 {
        return Err(AccountingError::invalid("size", 0, "give a group of at least 1"));
    }
    let (e, k) = (one.epsilon.get(), size as f64);
    let epsilon = mul_up(k, e);
    let delta = if one.delta.get() == 0.0 {
        0.0
    } else if e == 0.0 {
        mul_up(k, one.delta.get())
    } else {
        mul_up(one.delta.get(), div_up(exp_m1_up(epsilon), exp_m1_down(e)))
    };
    Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
}

/// From D_α ≤ ε to D_{α/2^c} ≤ 3^c·ε for a group of 2^c.
///
/// # Guarantee
/// For data sets that differ in 2^c units, α ≥ 2^{c+1}; rounded up.
///
/// # Reference
/// Mironov, *Rényi Differential Privacy* (2017), proposition 2.
///
/// # Errors
/// [`AccountingError::Invalid`] when `size` is no power of two or the order is below 2·size.
pub fn renyi(order: Order, epsilon: Epsilon, size: u64) -> Result<(Order, Epsilon), AccountingError> {
    if !size.is_power_of_two() {
        return Err(AccountingError::invalid(
            "size",
            size,
            "give a power of two: the Rényi bound is for those",
        ));
    }
    let least = 2.0 * size as f64;
    if order.get() < least {
        return Err(AccountingError::invalid(
            "order",
            order,
            format!("give an order of at least 2·size = {least}"),
        ));
    }
    let doublings = size.trailing_zeros();
    let grown = (0..doublings).fold(epsilon.get(), |e, _| mul_up(3.0, e));
    Ok((Order::new(order.get() / size as f64)?, Epsilon::new(grown)?))
}

/// Groups larger than this would make mixtures of too many parts.
const LARGEST_GROUP: u64 = 1000;

/// The events as a group of `size` meets them: what the same mechanisms cost when all of the group's records
/// change together.
///
/// # Guarantee
/// The returned events bound the loss between data sets that differ in `size` units of the log's relation, so any
/// account of them is a claim for the group. Sensitivities grow `size`-fold. A Poisson-sampled Gaussian becomes the
/// mixture over how many of the group are in the batch, which is tight, for a group that is added or removed as a
/// whole.
///
/// # Reference
/// Ganesh, *Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms* (2024);
/// Vadhan (2017), lemma 2.2, for (ε, δ) claims.
///
/// # Errors
/// [`AccountingError::Invalid`] when the group is empty or too large,
/// [`AccountingError::Unsupported`] for events whose group loss is not known.
pub fn log(log: &EventLog, size: u64) -> Result<EventLog, AccountingError> {
    if !(1..=LARGEST_GROUP).contains(&size) {
        return Err(AccountingError::invalid("size", size, format!("give a group of 1 to {LARGEST_GROUP}")));
    }
    let events = log
        .events
        .iter()
        .map(|event| for_group(&*plain(event, log.neighboring)?, size, log.neighboring))
        .collect();
    Ok(EventLog {
        neighboring: log.neighboring,
        events: if size == 1 { Ok(log.events.clone()) } else { events }?,
    })
}

fn for_group(event: &Event, size: u64, neighboring: Neighboring) -> Result<Event, AccountingError> {
    let k = size as f64;
    let less = |z: &NoiseMultiplier| NoiseMultiplier::new((z.get() / k).next_down());
    let more = |epsilon: &Epsilon| Epsilon::new(mul_up(k, epsilon.get()));
    let all = |events: &[Event]| {
        events
            .iter()
            .map(|e| for_group(e, size, neighboring))
            .collect::<Result<Vec<Event>, AccountingError>>()
    };
    let unknown = |event: &'static str| AccountingError::Unsupported {
        event,
        accountant: "group privacy",
        why: "its loss for a group is not known: state its own claim as an approximate or pure event".into(),
    };
    Ok(match event {
        Event::Gaussian { noise_multiplier } => Event::Gaussian { noise_multiplier: less(noise_multiplier)? },
        Event::ClippedSum { noise_multiplier } => {
            Event::ClippedSum { noise_multiplier: less(noise_multiplier)? }
        }
        Event::Laplace { noise_multiplier } => Event::Laplace { noise_multiplier: less(noise_multiplier)? },
        // The scale stays; the integers move k times as far.
        Event::DiscreteLaplace { noise_multiplier, sensitivity } => {
            let sensitivity = sensitivity.unwrap_or(1).checked_mul(size).ok_or_else(|| {
                AccountingError::invalid("size", size, "give a smaller group: the sensitivity is beyond 2^64")
            })?;
            Event::DiscreteLaplace {
                noise_multiplier: less(noise_multiplier)?,
                sensitivity: Some(sensitivity),
            }
        }
        // Only its Rényi curve is known for larger moves: that of ρ = 1/2z².
        Event::DiscreteGaussian { noise_multiplier, .. } => {
            let z = noise_multiplier.get() / k;
            Event::Zcdp { rho: Rho::new((0.5 / (z * z)) * (1.0 + 1e-14))? }
        }
        Event::Pure { epsilon } => Event::Pure { epsilon: more(epsilon)? },
        Event::Exponential { epsilon } => Event::Exponential { epsilon: more(epsilon)? },
        Event::RandomizedResponse { keep_probability, categories } => {
            // k people answer independently.
            let one =
                Event::RandomizedResponse { keep_probability: *keep_probability, categories: *categories };
            Event::Repeated { count: size, event: Box::new(one) }
        }
        Event::Approximate { epsilon, delta } => {
            let group = approximate(Guarantee { epsilon: *epsilon, delta: *delta }, size)?;
            Event::Approximate { epsilon: group.epsilon, delta: group.delta }
        }
        // Distances in standard deviations add up: ρ grows with the square.
        Event::Zcdp { rho } => Event::Zcdp { rho: Rho::new(mul_up(mul_up(k, k), rho.get()))? },
        Event::Gdp { mu } => Event::Gdp { mu: Mu::new(mul_up(k, mu.get()))? },
        Event::Rdp { order, epsilon } => {
            let (order, epsilon) = renyi(*order, *epsilon, size)?;
            Event::Rdp { order, epsilon }
        }
        Event::PoissonSampled { rate, event } => match (&**event, neighboring) {
            (Event::Gaussian { noise_multiplier }, Neighboring::AddRemove) => {
                let (sensitivities, probabilities) = binomial(size, rate.get());
                Event::MixtureOfGaussians {
                    sensitivities,
                    probabilities,
                    noise_multiplier: *noise_multiplier,
                }
            }
            _ => return Err(unknown("poisson_sampled")),
        },
        Event::Repeated { count, event } => {
            Event::Repeated { count: *count, event: Box::new(for_group(event, size, neighboring)?) }
        }
        Event::Composed { events } => Event::Composed { events: all(events)? },
        Event::TreeAggregation { noise_multiplier, steps } => {
            Event::TreeAggregation { noise_multiplier: less(noise_multiplier)?, steps: *steps }
        }
        // Each of the group may be in a batch of its own: the group is met once an epoch in every one of them.
        Event::Shuffled { .. } => return Err(unknown("shuffled")),
        Event::BallsInBins { .. } => return Err(unknown("balls_in_bins")),
        Event::StudentT { .. } => return Err(unknown("student_t")),
        Event::SampledWithoutReplacement { .. } => return Err(unknown("sampled_without_replacement")),
        Event::TruncatedPoisson { .. } => return Err(unknown("truncated_poisson")),
        Event::MixtureOfGaussians { .. } => return Err(unknown("mixture_of_gaussians")),
        Event::RepeatAndSelect { .. } => return Err(unknown("repeat_and_select")),
        Event::Parallel { .. } => return Err(unknown("parallel")),
    })
}

/// How many of `size` are in a Poisson sample: the numbers with their probabilities.
fn binomial(size: u64, rate: f64) -> (Vec<f64>, Vec<f64>) {
    let k = size as f64;
    let log = |j: f64| {
        libm::lgamma(k + 1.0) - libm::lgamma(j + 1.0) - libm::lgamma(k - j + 1.0)
            + if j > 0.0 { j * libm::log(rate) } else { 0.0 }
            + if j < k { (k - j) * libm::log1p(-rate) } else { 0.0 }
    };
    let mut probabilities: Vec<f64> = (0..=size).map(|j| libm::exp(log(j as f64))).collect();
    let total: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= total);
    ((0..=size).map(|j| j as f64).collect(), probabilities)
}
