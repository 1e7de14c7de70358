//! Rényi curves, and how those of events are put together.

use crate::AccountingError;
use crate::kind::{Kind, of};
use reticent_core::{Event, Neighboring};

/// An upper bound on D_α as a function of α > 1.
pub struct RdpCurve(Box<dyn Fn(f64) -> f64 + Send + Sync>);

impl RdpCurve {
    /// A curve from its function.
    pub fn new(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self(Box::new(f))
    }

    /// The bound at an order; infinite where there is none.
    pub fn at(&self, order: f64) -> f64 {
        (self.0)(order)
    }
}

/// What rounding can add to a logarithm that is divided by α − 1.
pub(crate) fn divided(log_moment: f64, order: f64) -> f64 {
    if log_moment.is_nan() {
        return f64::INFINITY;
    }
    (log_moment.max(0.0) * (1.0 + 1e-14) + 4.0 * f64::EPSILON) / (order - 1.0)
}

/// The same for a logarithm that is small to a relative error only.
pub(crate) fn divided_finely(log_moment: f64, order: f64) -> f64 {
    if log_moment.is_nan() {
        return f64::INFINITY;
    }
    log_moment.max(0.0) * (1.0 + 1e-14) / (order - 1.0)
}

pub(crate) fn log_sum_exp(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    top + libm::log1p(libm::exp(a.min(b) - top))
}

pub(crate) fn unsupported(event: &'static str, why: &str) -> AccountingError {
    AccountingError::Unsupported { event, accountant: "rdp", why: why.into() }
}

/// Splits an event into curves with their counts.
pub(crate) fn collect(
    event: &Event,
    count: u64,
    neighboring: Neighboring,
    parts: &mut Vec<(u64, RdpCurve)>,
) -> Result<(), AccountingError> {
    if count == 0 {
        return Ok(());
    }
    of(event, |kind| kind.curves(count, neighboring, parts))
}

/// The curve of one event.
pub(crate) fn single(event: &Event, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
    of(event, |kind| kind.curve(neighboring))
}

/// The curve of an event that is the sum of several.
pub(crate) fn summed(kind: &dyn Kind, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
    let mut parts = Vec::new();
    kind.curves(1, neighboring, &mut parts)?;
    Ok(RdpCurve::new(move |order| {
        parts.iter().map(|(n, curve)| *n as f64 * curve.at(order)).sum::<f64>() * (1.0 + 1e-14)
    }))
}

/// The number of epochs in so many uses.
pub(crate) fn epochs_of(count: u64, epochs: u64) -> Result<u64, AccountingError> {
    count.checked_mul(epochs).ok_or_else(|| AccountingError::invalid("epochs", epochs, "give fewer epochs"))
}
