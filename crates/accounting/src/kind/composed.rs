//! Events in sequence on the same data.

use super::{Kind, of};
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, is_plain, leak};
use crate::clipped::{Sums, each_allowed};
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::curve::{collect, summed};
use crate::rdp::{RdpCurve, ends, kullback_leibler, largest_loss};
use crate::tight::PrivacyLoss;
use crate::tight::events::Found;
use crate::words::{Digits, several};
use reticent_core::event::kind::Composed;
use reticent_core::{Event, Neighboring};

impl Kind for Composed<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        summed(self, neighboring)
    }

    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        self.events.iter().try_for_each(|event| collect(event, count, neighboring, parts))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        ends::sum(self.events, kullback_leibler)
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        ends::sum(self.events, largest_loss)
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        self.events.iter().try_for_each(|event| found.collect(event, count))
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        found.as_one(self)
    }

    fn is_noise(&self) -> bool {
        self.events.iter().all(|event| of(event, |kind| kind.is_noise()))
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
        let events = self.events.iter().map(|event| group.meets(event));
        Ok(Event::Composed { events: events.collect::<Result<_, AccountingError>>()? })
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        Cost::sum(self.events, neighboring)
    }

    fn is_idle(&self) -> bool {
        self.events.iter().all(is_idle)
    }

    fn in_sequence(&self) -> Option<u64> {
        Some(1)
    }

    fn leak(&self, neighboring: Neighboring) -> f64 {
        self.events.iter().map(|event| leak(event, neighboring)).sum()
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::in_sequence(whole, neighboring)
    }

    fn is_plain(&self) -> bool {
        self.events.iter().all(is_plain)
    }

    fn named(&self, _: &Digits) -> String {
        format!("composed of {}", self.events.len())
    }

    fn sentence(&self, digits: &Digits) -> String {
        several(self.events, "one after the other on the same data", digits)
    }
}
