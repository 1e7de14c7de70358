//! What a guarantee for one says about k together.

use crate::AccountingError;
use crate::clipped::plain;
use crate::kind::of;
use reticent_core::rounding::{div_up, exp_m1_down, exp_m1_up, mul_up};
use reticent_core::{Delta, Epsilon, Event, EventLog, Guarantee, Neighboring, NoiseMultiplier, Order};

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
/// [`AccountingError::Invalid`] when `size` is not a power of two or the order is below 2·size.
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
    let group = Group { size, neighboring: log.neighboring };
    let events = log.events.iter().map(|event| group.meets(&*plain(event, log.neighboring)?)).collect();
    Ok(EventLog {
        neighboring: log.neighboring,
        events: if size == 1 { Ok(log.events.clone()) } else { events }?,
    })
}

/// People whose records change together.
pub(crate) struct Group {
    pub(crate) size: u64,
    pub(crate) neighboring: Neighboring,
}

impl Group {
    /// The event as it meets the group.
    pub(crate) fn meets(&self, event: &Event) -> Result<Event, AccountingError> {
        of(event, |kind| kind.for_group(self))
    }

    /// The noise over a sensitivity that is `size` times as large, rounded down.
    pub(crate) fn less_noise(&self, noise: NoiseMultiplier) -> Result<NoiseMultiplier, AccountingError> {
        Ok(NoiseMultiplier::new((noise.get() / self.size as f64).next_down())?)
    }

    /// `size` times the ε, rounded up.
    pub(crate) fn more_loss(&self, epsilon: Epsilon) -> Result<Epsilon, AccountingError> {
        Ok(Epsilon::new(mul_up(self.size as f64, epsilon.get()))?)
    }
}

/// An event whose loss for a group is not known.
pub(crate) fn unknown(event: &'static str) -> AccountingError {
    AccountingError::Unsupported {
        event,
        accountant: "group privacy",
        why: "its loss for a group is not known: state its own claim as an approximate or pure event".into(),
    }
}

/// How many of `size` are in a Poisson sample: the numbers with their probabilities.
pub(crate) fn binomial(size: u64, rate: f64) -> (Vec<f64>, Vec<f64>) {
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
