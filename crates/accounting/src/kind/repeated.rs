//! The same event, several times in sequence.

use super::{Kind, of};
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, is_plain, leak};
use crate::clipped::{Sums, each_allowed};
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::curve::{collect, summed};
use crate::rdp::{RdpCurve, ends, kullback_leibler, largest_loss};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, times};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::Repeated;
use reticent_core::{Event, Neighboring};

impl Kind for Repeated<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        summed(self, neighboring)
    }

    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        let total = count.checked_mul(*self.count).ok_or_else(|| {
            let remedy = "give fewer repetitions: the total is beyond 2^64";
            AccountingError::invalid("count", self.count, remedy)
        })?;
        collect(self.event, total, neighboring, parts)
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(ends::times(*self.count, kullback_leibler(self.event)?))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(ends::times(*self.count, largest_loss(self.event)?))
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.collect(self.event, times(count, *self.count, "count")?)
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        found.as_one(self)
    }

    fn is_noise(&self) -> bool {
        of(self.event, |kind| kind.is_noise())
    }

    fn weaker(&self, whole: &Event, sums: &Sums<'_>) -> Result<Event, AccountingError> {
        sums.inside(whole)
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        each_allowed(whole)
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Repeated { count: *self.count, event: Box::new(group.meets(self.event)?) })
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        match *self.count {
            0 => Ok(Cost::NONE),
            count => Ok(Cost::of(self.event, neighboring)?.times(count)),
        }
    }

    fn is_idle(&self) -> bool {
        *self.count == 0 || is_idle(self.event)
    }

    fn in_sequence(&self) -> Option<u64> {
        Some(*self.count)
    }

    fn leak(&self, neighboring: Neighboring) -> f64 {
        *self.count as f64 * leak(self.event, neighboring)
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::in_sequence(whole, neighboring)
    }

    fn is_plain(&self) -> bool {
        is_plain(self.event)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("{} × {}", self.count, named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("{} times: {}", self.count, sentence(self.event, digits))
    }
}
