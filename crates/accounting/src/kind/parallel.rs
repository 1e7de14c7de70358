//! Events on disjoint parts of the data.

use super::{Kind, of};
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, is_plain, leak};
use crate::clipped::{Sums, allowed, as_they_are};
use crate::composition;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{collect, summed};
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::Found;
use crate::words::{Digits, several};
use reticent_core::event::kind::Parallel;
use reticent_core::{Event, Guarantee, Neighboring};

/// How many parts a change of one record touches.
fn touched(neighboring: Neighboring) -> usize {
    match neighboring {
        Neighboring::AddRemove => 1,
        Neighboring::ReplaceOne => 2,
    }
}

/// The largest of the parts' curves; under replace-one the two largest, as a record may change parts.
fn largest(inner: Vec<Vec<(u64, RdpCurve)>>, neighboring: Neighboring) -> RdpCurve {
    RdpCurve::new(move |order| {
        let mut sums: Vec<f64> =
            inner.iter().map(|own| own.iter().map(|(n, curve)| *n as f64 * curve.at(order)).sum()).collect();
        sums.sort_by(|a, b| b.total_cmp(a));
        sums.into_iter().take(touched(neighboring)).sum::<f64>() * (1.0 + 1e-14)
    })
}

impl Kind for Parallel<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        summed(self, neighboring)
    }

    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        let mut inner = Vec::new();
        for event in self.events {
            let mut own = Vec::new();
            collect(event, 1, neighboring, &mut own)?;
            inner.push(own);
        }
        parts.push((count, largest(inner, neighboring)));
        Ok(())
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        let mut parts = found.possibilities(self.events)?;
        match (parts.pop(), parts.is_empty()) {
            (None, _) => {}
            (Some(only), true) => found.absorb(&only, count as f64),
            (Some(last), false) => {
                parts.push(last);
                found.parallels.push((count as f64, parts));
            }
        }
        Ok(())
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

    /// With one part there is no other to cross to.
    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        match &self.events[..] {
            [only] => Ok(allowed(only, Neighboring::ReplaceOne)?.into_owned()),
            _ => as_they_are(whole),
        }
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("parallel"))
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        Cost::parallel(self.events, neighboring)
    }

    fn is_idle(&self) -> bool {
        self.events.iter().all(is_idle)
    }

    fn leak(&self, neighboring: Neighboring) -> f64 {
        let mut leaks: Vec<f64> = self.events.iter().map(|event| leak(event, neighboring)).collect();
        leaks.sort_by(|a, b| b.total_cmp(a));
        leaks.into_iter().take(touched(neighboring)).sum()
    }

    fn claim(&self, _: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        let parts = self.events.iter().map(|event| Own::new(event, neighboring));
        Ok(Own::Parallel(parts.collect::<Result<_, AccountingError>>()?))
    }

    fn stated(&self, neighboring: Neighboring) -> Result<Option<Guarantee>, AccountingError> {
        let mut parts = Vec::new();
        for event in self.events {
            let Some(claim) = of(event, |kind| kind.stated(neighboring))? else { return Ok(None) };
            parts.push(claim);
        }
        composition::parallel(&parts, neighboring).map(Some)
    }

    fn is_plain(&self) -> bool {
        self.events.iter().all(is_plain)
    }

    fn named(&self, _: &Digits) -> String {
        format!("parallel, {} parts", self.events.len())
    }

    fn sentence(&self, digits: &Digits) -> String {
        several(self.events, "on parts of the data that do not overlap", digits)
    }
}
