//! Discrete Laplace noise on the integers.

use super::{Kind, OnSample, pure};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::rdp::curve::{divided, log_sum_exp};
use crate::tight::events::{End, Found, something};
use crate::tight::{PrivacyLoss, lattice};
use crate::words::Digits;
use reticent_core::event::kind::DiscreteLaplace;
use reticent_core::rounding::div_up;
use reticent_core::{Event, Neighboring};

/// Integers that move so far are taken for real numbers where a lower end is asked for.
const FINE: u64 = 100_000;

impl Kind for DiscreteLaplace<'_> {
    /// D_α for integers that move by the sensitivity in all.
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let (z, sensitivity) = (self.noise_multiplier.get(), self.sensitivity.unwrap_or(1));
        let plain = pure::curve(1.0 / z * (1.0 + 1e-15));
        if sensitivity == 1 {
            return Ok(plain);
        }
        let (s, scale) = (sensitivity as f64, z * sensitivity as f64);
        Ok(RdpCurve::new(move |order| {
            // Masses 1/(1 + r) of loss s/b and r^s/(1 + r) of −s/b, and (1 − r)r^j/(1 + r) of (s − 2j)/b between them.
            let log_end = -libm::log1p(libm::exp(-1.0 / scale));
            let top = (order - 1.0) / z;
            let ends = log_sum_exp(top + log_end, log_end - order / z);
            let decay = (2.0 * order - 1.0) / scale;
            let series = -decay + libm::log(libm::expm1(-decay * (s - 1.0)) / libm::expm1(-decay));
            let between = log_end + libm::log(-libm::expm1(-1.0 / scale)) + top + series;
            divided(log_sum_exp(ends, between), order).min(plain.at(order))
        }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(pure::kullback_leibler(1.0 / self.noise_multiplier.get()))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(1.0 / self.noise_multiplier.get() * (1.0 + 1e-14))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        let z = self.noise_multiplier.get();
        Ok(something(match (self.sensitivity, found.end) {
            // On ever finer integers this is continuous Laplace noise, which a coarser grid never betters: see the proof.
            (Some(many), End::Floor) if *many > FINE => PrivacyLoss::Laplace(1.0 / z),
            (known, _) => lattice::discrete_laplace(z, known.unwrap_or(1)),
        }))
    }

    fn on_sample(&self) -> OnSample {
        OnSample::Pure(1.0 / self.noise_multiplier.get())
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    /// The scale stays; the integers move k times as far.
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let sensitivity = self.sensitivity.unwrap_or(1).checked_mul(group.size).ok_or_else(|| {
            let remedy = "give a smaller group: the sensitivity is beyond 2^64";
            AccountingError::invalid("size", group.size, remedy)
        })?;
        Ok(Event::DiscreteLaplace {
            noise_multiplier: group.less_noise(*self.noise_multiplier)?,
            sensitivity: Some(sensitivity),
        })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_pure(div_up(1.0, self.noise_multiplier.get())))
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, _: &Event, _: Neighboring) -> Result<Own, AccountingError> {
        Own::pure((1.0 / self.noise_multiplier.get()).next_up())
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn named(&self, digits: &Digits) -> String {
        let noise = digits.exactly(self.noise_multiplier.get());
        format!("discrete_laplace {noise}{}", digits.moved(self.sensitivity.map(|own| own as f64)))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Laplace noise on whole numbers, scale {} times the sensitivity",
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
