//! Anything ε-differentially private.

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
use reticent_core::event::kind::Pure;
use reticent_core::{Event, Guarantee, Neighboring};

/// The tight curve of anything ε-private: binary randomized response.
pub(super) fn curve(epsilon: f64) -> RdpCurve {
    RdpCurve::new(move |order| {
        // ln(p^α(1−p)^{1−α} + (1−p)^α p^{1−α}) with p = e^ε/(1 + e^ε).
        let log_p = -libm::log1p(libm::exp(-epsilon));
        let up = (order - 1.0) * epsilon + log_p;
        let down = -order * epsilon + log_p;
        divided(log_sum_exp(up, down), order).min(epsilon)
    })
}

/// D₁ of the same.
pub(super) fn kullback_leibler(epsilon: f64) -> f64 {
    epsilon * libm::tanh(epsilon / 2.0) * (1.0 + 1e-14)
}

/// The worst ε-private pair.
pub(super) fn loss(epsilon: f64) -> PrivacyLoss {
    let minus = 1.0 / (1.0 + libm::exp(epsilon));
    PrivacyLoss::Response { epsilon, plus: 1.0 - minus, minus }
}

impl Kind for Pure<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        Ok(curve(self.epsilon.get()))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(kullback_leibler(self.epsilon.get()))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(self.epsilon.get())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Ok(something(loss(self.epsilon.get())))
    }

    fn on_sample(&self) -> OnSample {
        OnSample::Pure(self.epsilon.get())
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Pure { epsilon: grid.more_loss(*self.epsilon)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Pure { epsilon: group.more_loss(*self.epsilon)? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_pure(self.epsilon.get()))
    }

    fn is_idle(&self) -> bool {
        self.epsilon.get() == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, _: &Event, _: Neighboring) -> Result<Own, AccountingError> {
        Ok(Own::Fixed(Guarantee::pure(*self.epsilon)))
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn named(&self, digits: &Digits) -> String {
        format!("pure {}", digits.exactly(self.epsilon.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("a release with ε = {}", digits.exactly(self.epsilon.get()))
    }
}
