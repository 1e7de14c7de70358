//! Each record thrown into one of several batches, anew each epoch.

use super::{Kind, of};
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, leak};
use crate::amplification::BatchRule;
use crate::clipped::{Sums, each_allowed};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{collect, epochs_of, summed};
use crate::rdp::{self, RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::balls::epoch;
use crate::tight::events::{End, Found, Pair, times, unknown_inside};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::BallsInBins;
use reticent_core::{Event, Neighboring};

/// The noise multiplier where amplification is known: Gaussian noise under add-remove.
fn amplified(event: &BallsInBins<'_>, neighboring: Neighboring) -> Option<f64> {
    let (rate, noise) = of(event.event, |kind| kind.sampled_gaussian(neighboring))?;
    (neighboring == Neighboring::AddRemove && rate.get() == 1.0).then_some(noise.get())
}

impl Kind for BallsInBins<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        summed(self, neighboring)
    }

    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        let total = epochs_of(count, *self.epochs)?;
        if let Some(z) = amplified(self, neighboring) {
            let epoch = rdp::BallsInBins::new(*self.bins, z);
            parts.push((total, RdpCurve::new(move |order| epoch.rdp(order))));
            return Ok(());
        }
        // Each record is in one batch an epoch: without amplification this is the event once an epoch.
        collect(self.event, total, neighboring, parts)
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        if found.end == End::Floor {
            return Ok(());
        }
        let count = times(count, *self.epochs, "epochs")?;
        let known = amplified(self, found.neighboring).and_then(|sigma| epoch(*self.bins, sigma));
        match known.filter(|_| count > 0) {
            Some(epoch) => {
                found.log_kept += count as f64 * libm::log1p(-epoch.revealed);
                let (remove, add) = (PrivacyLoss::Atoms(epoch.remove), PrivacyLoss::Atoms(epoch.add));
                found.add(count, Pair::Epoch { remove, add });
                Ok(())
            }
            // Each record is in one batch an epoch: without amplification this is the event once an epoch.
            None => found.collect(self.event, count),
        }
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unknown_inside())
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

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("balls_in_bins"))
    }

    /// No filter adds up more of it than its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
    }

    fn is_idle(&self) -> bool {
        *self.epochs == 0 || is_idle(self.event)
    }

    /// Each record is in one batch an epoch, and what is run on that batch may reveal it.
    fn leak(&self, neighboring: Neighboring) -> f64 {
        *self.epochs as f64 * leak(self.event, neighboring)
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn batch_rule(&self, neighboring: Neighboring) -> Option<BatchRule> {
        Some(BatchRule::BallsInBins { is_amplified: amplified(self, neighboring).is_some() })
    }

    fn named(&self, digits: &Digits) -> String {
        format!("balls_in_bins {} × {} ({})", self.epochs, self.bins, named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "{} passes with every record thrown into one of {} batches, each with {}",
            self.epochs,
            self.bins,
            sentence(self.event, digits)
        )
    }
}
