//! Anything (ε, δ)-differentially private.

use super::{Kind, pure};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::{RdpCurve, curve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, Pair, unknown_inside};
use crate::words::Digits;
use reticent_core::event::kind::Approximate;
use reticent_core::{Delta, Event, Guarantee, Neighboring};

impl Kind for Approximate<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let why = "an (epsilon, delta) claim has no Rényi curve: use optimal composition";
        Err(curve::unsupported("approximate", why))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.log_kept += count as f64 * libm::log1p(-self.delta.get());
        found.add(count, Pair::Same(pure::loss(self.epsilon.get())));
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unknown_inside())
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Approximate {
            epsilon: grid.more_loss(*self.epsilon)?,
            // At the same grid where there is room below 1.
            delta: Delta::new(grid.up(self.delta.get())).unwrap_or(*self.delta),
        }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let one = Guarantee { epsilon: *self.epsilon, delta: *self.delta };
        let Guarantee { epsilon, delta } = group::approximate(one, group.size)?;
        Ok(Event::Approximate { epsilon, delta })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_claim(Guarantee { epsilon: *self.epsilon, delta: *self.delta }))
    }

    fn is_idle(&self) -> bool {
        self.epsilon.get() == 0.0 && self.delta.get() == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        -libm::log1p(-self.delta.get())
    }

    /// Reveals everything with probability δ and is pure otherwise.
    fn apart(&self) -> Option<(f64, Event)> {
        Some((libm::log1p(-self.delta.get()), Event::Pure { epsilon: *self.epsilon }))
    }

    fn claim(&self, _: &Event, _: Neighboring) -> Result<Own, AccountingError> {
        Ok(Own::Fixed(Guarantee { epsilon: *self.epsilon, delta: *self.delta }))
    }

    fn stated(&self, _: Neighboring) -> Result<Option<Guarantee>, AccountingError> {
        Ok(Some(Guarantee { epsilon: *self.epsilon, delta: *self.delta }))
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn named(&self, digits: &Digits) -> String {
        let (epsilon, delta) = (digits.exactly(self.epsilon.get()), digits.exactly(self.delta.get()));
        format!("approximate ({epsilon}, {delta})")
    }

    fn sentence(&self, digits: &Digits) -> String {
        let (epsilon, delta) = (digits.exactly(self.epsilon.get()), digits.exactly(self.delta.get()));
        format!("a release with ε = {epsilon} and δ = {delta}")
    }
}
