//! Anything ρ-zCDP.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, something, unsupported};
use crate::words::Digits;
use reticent_core::event::kind::Zcdp;
use reticent_core::rounding::mul_up;
use reticent_core::{Event, Neighboring, Rho};

impl Kind for Zcdp<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let rho = self.rho.get();
        Ok(RdpCurve::new(move |order| rho * order * (1.0 + 1e-15)))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(self.rho.get())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(ends::unbounded(self.rho.get()))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        match found.end {
            End::Ceiling => Err(unsupported("zcdp", "a zCDP claim has no loss distribution")),
            // Gaussian noise is a ρ-zCDP mechanism.
            End::Floor if self.rho.get() > 0.0 => {
                let sigma = 1.0 / (2.0 * self.rho.get()).sqrt() * (1.0 + 4.0 * f64::EPSILON);
                Ok(something(PrivacyLoss::Gaussian(sigma)))
            }
            End::Floor => Ok(None),
        }
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Zcdp { rho: Rho::new(grid.up(self.rho.get()))? }))
    }

    /// Distances in standard deviations add up: ρ grows with the square.
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let k = group.size as f64;
        Ok(Event::Zcdp { rho: Rho::new(mul_up(mul_up(k, k), self.rho.get()))? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost { concentrated: self.rho.get(), ..Cost::UNKNOWN })
    }

    fn is_idle(&self) -> bool {
        self.rho.get() == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("zcdp {}", digits.exactly(self.rho.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("a release with ρ = {} (zCDP)", digits.exactly(self.rho.get()))
    }
}
