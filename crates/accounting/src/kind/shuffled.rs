//! Fixed batches over a shuffled data set.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, leak};
use crate::amplification::BatchRule;
use crate::clipped::{Sums, each_allowed};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{collect, epochs_of, summed};
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, times, unknown_inside};
use crate::tight::shuffle::Shuffle;
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::Shuffled;
use reticent_core::{Event, Neighboring};

impl Kind for Shuffled<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        summed(self, neighboring)
    }

    /// Each record is in one batch an epoch: without amplification this is the event once an epoch.
    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        collect(self.event, epochs_of(count, *self.epochs)?, neighboring, parts)
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        match found.end {
            // Each record is in one batch an epoch: without amplification this is the event once an epoch.
            End::Ceiling => found.collect(self.event, times(count, *self.epochs, "epochs")?),
            End::Floor => {
                // With sensitivity 1 under replace-one no two records are 2 apart, as the example needs.
                if let (Event::Gaussian { noise_multiplier }, 1.., Neighboring::AddRemove) =
                    (&**self.event, *self.epochs, found.neighboring)
                {
                    let (steps, sigma) = (*self.steps_per_epoch as f64, noise_multiplier.get());
                    found.shuffled.push(Shuffle { steps, sigma });
                }
                Ok(())
            }
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

    /// Each of the group may be in a batch of its own: the group is met once an epoch in every one of them.
    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("shuffled"))
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

    fn batch_rule(&self, _: Neighboring) -> Option<BatchRule> {
        Some(BatchRule::Shuffled)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("shuffled {} × {} ({})", self.epochs, self.steps_per_epoch, named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "{} passes over shuffled data in {} batches, each with {}",
            self.epochs,
            self.steps_per_epoch,
            sentence(self.event, digits)
        )
    }
}
