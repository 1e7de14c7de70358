//! Anything μ-Gaussian differentially private.

use super::{Kind, OnSample};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, something};
use crate::words::Digits;
use reticent_core::event::kind::Gdp;
use reticent_core::rounding::mul_up;
use reticent_core::{Event, Mu, Neighboring};

impl Kind for Gdp<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let mu = self.mu.get();
        Ok(RdpCurve::new(move |order| order * mu * mu / 2.0 * (1.0 + 1e-15)))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(0.5 * self.mu.get().powi(2) * (1.0 + 1e-14))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(ends::unbounded(self.mu.get()))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        if self.mu.get() > 0.0 { Ok(something(PrivacyLoss::Gaussian(1.0 / self.mu.get()))) } else { Ok(None) }
    }

    fn on_sample(&self) -> OnSample {
        OnSample::Gaussian(1.0 / self.mu.get())
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Gdp { mu: Mu::new(grid.up(self.mu.get()))? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Gdp { mu: Mu::new(mul_up(group.size as f64, self.mu.get()))? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_gaussian(self.mu.get()))
    }

    fn is_idle(&self) -> bool {
        self.mu.get() == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("gdp {}", digits.exactly(self.mu.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("a release with μ = {} (Gaussian differential privacy)", digits.exactly(self.mu.get()))
    }
}
