//! The best of a random number of runs.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, leak, probability};
use crate::clipped::{Sums, as_they_are};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{self, single};
use crate::rdp::{RdpCurve, ends, largest_loss, repeat_and_select};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, unsupported};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::RepeatAndSelect;
use reticent_core::{Event, Neighboring};

impl Kind for RepeatAndSelect<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        if matches!(**self.event, Event::RepeatAndSelect { .. }) {
            return Err(curve::unsupported(
                "repeat_and_select",
                "a selection inside a selection is not supported: state the inner one's own claim",
            ));
        }
        Ok(repeat_and_select(single(self.event, neighboring)?, *self.mean, *self.shape))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        let once = largest_loss(self.event)?;
        let several = *self.mean > 1.0 || self.shape.is_infinite();
        Ok(if several { (2.0 + self.shape) * once * (1.0 + 1e-14) } else { once })
    }

    fn losses(&self, _: u64, found: &mut Found) -> Result<(), AccountingError> {
        match found.end {
            End::Floor => Ok(()),
            End::Ceiling => self.loss(found).map(|_| ()),
        }
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unsupported("repeat_and_select", "only a Rényi bound is known"))
    }

    fn weaker(&self, whole: &Event, sums: &Sums<'_>) -> Result<Event, AccountingError> {
        sums.inside(whole)
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        as_they_are(whole)
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("repeat_and_select"))
    }

    /// No filter adds up more of it than its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
    }

    fn is_idle(&self) -> bool {
        is_idle(self.event)
    }

    /// A trial that reveals may be the best. There is at least one, or none with probability e^{−mean}.
    fn leak(&self, neighboring: Neighboring) -> f64 {
        let once = leak(self.event, neighboring);
        if *self.shape == f64::INFINITY { self.mean * probability(once) } else { once }
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("repeat_and_select {} ({})", digits.exactly(*self.mean), named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        let (mean, inner) = (digits.exactly(*self.mean), sentence(self.event, digits));
        format!("the best of {mean} runs on average, each with {inner}")
    }
}
