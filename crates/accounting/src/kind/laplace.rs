//! Continuous Laplace noise.

use super::{Kind, OnSample};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::rdp::curve::{divided, log_sum_exp};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, something};
use crate::words::Digits;
use reticent_core::event::kind::Laplace;
use reticent_core::rounding::div_up;
use reticent_core::{Event, Neighboring};

impl Kind for Laplace<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let z = self.noise_multiplier.get();
        Ok(RdpCurve::new(move |order| {
            let e = 1.0 / z;
            let up = libm::log(order / (2.0 * order - 1.0)) + (order - 1.0) * e;
            let down = libm::log((order - 1.0) / (2.0 * order - 1.0)) - order * e;
            divided(log_sum_exp(up, down), order).min(e * (1.0 + 1e-15))
        }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        let e = 1.0 / self.noise_multiplier.get();
        Ok((e + libm::expm1(-e)) * (1.0 + 1e-14) + f64::EPSILON * e)
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(1.0 / self.noise_multiplier.get() * (1.0 + 1e-14))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Ok(something(PrivacyLoss::Laplace(1.0 / self.noise_multiplier.get())))
    }

    fn is_noise(&self) -> bool {
        true
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

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Laplace { noise_multiplier: grid.less_noise(*self.noise_multiplier)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Laplace { noise_multiplier: group.less_noise(*self.noise_multiplier)? })
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
        format!("laplace {}", digits.exactly(self.noise_multiplier.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Laplace noise of scale {} times the sensitivity",
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
