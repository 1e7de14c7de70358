//! Anything with Rényi divergence at most ε at one order.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, unsupported};
use crate::words::Digits;
use reticent_core::event::kind::Rdp;
use reticent_core::{Epsilon, Event, Neighboring, Order};

impl Kind for Rdp<'_> {
    /// Divergences grow with the order: one point bounds the orders below it.
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let (known, epsilon) = (self.order.get(), self.epsilon.get());
        Ok(RdpCurve::new(move |order| if order <= known { epsilon } else { f64::INFINITY }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, _: u64, found: &mut Found) -> Result<(), AccountingError> {
        match found.end {
            End::Floor => Ok(()),
            End::Ceiling => self.loss(found).map(|_| ()),
        }
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unsupported("rdp", "a Rényi claim has no loss distribution"))
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Rdp { order: *self.order, epsilon: grid.more_loss(*self.epsilon)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let (order, epsilon) = group::renyi(*self.order, *self.epsilon, group.size)?;
        Ok(Event::Rdp { order, epsilon })
    }

    /// A divergence at one order bounds no loss that a filter adds up, other than by its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
    }

    fn is_idle(&self) -> bool {
        self.epsilon.get() == 0.0
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn one_order(&self) -> Option<(Order, Epsilon)> {
        Some((*self.order, *self.epsilon))
    }

    fn named(&self, digits: &Digits) -> String {
        format!("rdp ({}, {})", digits.exactly(self.order.get()), digits.exactly(self.epsilon.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "a release with Rényi divergence at most {} at order {}",
            digits.exactly(self.epsilon.get()),
            digits.exactly(self.order.get())
        )
    }
}
