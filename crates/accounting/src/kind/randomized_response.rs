//! k-ary randomized response.

use super::Kind;
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
use reticent_core::event::kind::RandomizedResponse;
use reticent_core::{Event, Neighboring};

/// ln(keep/stray) without cancellation where the two are close, rounded up.
pub(super) fn response_loss(keep: f64, categories: u64) -> f64 {
    let k = categories as f64;
    let stray = (1.0 - keep) / (k - 1.0);
    // keep − stray = (k·keep − 1)/(k − 1), with one rounding.
    let gap = libm::fma(k, keep, -1.0).max(0.0) / (k - 1.0);
    libm::log1p(gap / stray) * (1.0 + 1e-14) + f64::EPSILON * gap
}

impl Kind for RandomizedResponse<'_> {
    /// D_α between two answers.
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let (keep, categories) = (self.keep_probability.get(), *self.categories);
        Ok(RdpCurve::new(move |order| {
            let others = categories as f64 - 1.0;
            let (kept, stray) = (libm::log(keep), libm::log((1.0 - keep) / others));
            let largest = response_loss(keep, categories);
            let swap =
                log_sum_exp(order * kept + (1.0 - order) * stray, order * stray + (1.0 - order) * kept);
            let unmoved = libm::log((categories as f64 - 2.0) * libm::exp(stray));
            let total = if categories > 2 { log_sum_exp(swap, unmoved) } else { swap };
            divided(total, order).min(largest)
        }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        let (keep, k) = (self.keep_probability.get(), *self.categories as f64);
        let gap = libm::fma(k, keep, -1.0).max(0.0) / (k - 1.0);
        Ok(gap * response_loss(keep, *self.categories) * (1.0 + 1e-14))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(response_loss(self.keep_probability.get(), *self.categories))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        let keep = self.keep_probability.get();
        let stray = (1.0 - keep) / (*self.categories as f64 - 1.0);
        let epsilon = response_loss(keep, *self.categories);
        Ok(something(PrivacyLoss::Response { epsilon, plus: keep, minus: stray }))
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

    /// k people answer independently.
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let one = Event::RandomizedResponse {
            keep_probability: *self.keep_probability,
            categories: *self.categories,
        };
        Ok(Event::Repeated { count: group.size, event: Box::new(one) })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_pure(response_loss(self.keep_probability.get(), *self.categories)))
    }

    fn is_idle(&self) -> bool {
        response_loss(self.keep_probability.get(), *self.categories) == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, _: &Event, _: Neighboring) -> Result<Own, AccountingError> {
        Own::pure(response_loss(self.keep_probability.get(), *self.categories))
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn named(&self, digits: &Digits) -> String {
        let keep = digits.exactly(self.keep_probability.get());
        format!("randomized_response {keep} of {}", self.categories)
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "randomized response over {} categories, the true one kept with probability {}",
            self.categories,
            digits.exactly(self.keep_probability.get())
        )
    }
}
