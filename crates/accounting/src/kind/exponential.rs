//! A selection whose privacy loss has range ε.

use super::{Kind, OnSample, pure};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, something};
use crate::words::Digits;
use reticent_core::event::kind::Exponential;
use reticent_core::rounding::mul_up;
use reticent_core::{Event, Guarantee, Neighboring};

impl Kind for Exponential<'_> {
    /// A selection of range ε is ε²/8-zCDP, and pure.
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let epsilon = self.epsilon.get();
        let plain = pure::curve(epsilon);
        Ok(RdpCurve::new(move |order| (order * epsilon * epsilon / 8.0 * (1.0 + 1e-15)).min(plain.at(order))))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        let epsilon = self.epsilon.get();
        Ok((epsilon.powi(2) / 8.0 * (1.0 + 1e-14)).min(pure::kullback_leibler(epsilon)))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(self.epsilon.get())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Ok(something(pure::loss(match found.end {
            // Two candidates: randomized response of half the range.
            End::Floor => 0.5 * self.epsilon.get(),
            End::Ceiling => self.epsilon.get(),
        })))
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
        Ok(Some(Event::Exponential { epsilon: grid.more_loss(*self.epsilon)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Exponential { epsilon: group.more_loss(*self.epsilon)? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        // A range of the loss of ε: ε²/8-zCDP.
        let epsilon = self.epsilon.get();
        Ok(Cost { concentrated: mul_up(0.125, mul_up(epsilon, epsilon)), ..Cost::of_pure(epsilon) })
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
        format!("exponential {}", digits.exactly(self.epsilon.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("a private selection with ε = {}", digits.exactly(self.epsilon.get()))
    }
}
