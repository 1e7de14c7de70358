//! Binary-tree aggregation over a stream.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, times, unknown_inside};
use crate::words::Digits;
use reticent_core::event::kind::TreeAggregation;
use reticent_core::{Event, Neighboring};

/// The levels of a binary tree over a stream: a record is in one node of each.
fn levels(steps: u64) -> u32 {
    u64::BITS - steps.leading_zeros()
}

impl Kind for TreeAggregation<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let (z, levels) = (self.noise_multiplier.get(), f64::from(levels(*self.steps)));
        Ok(RdpCurve::new(move |order| levels * order / (2.0 * z * z) * (1.0 + 1e-15)))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        let levels = f64::from(levels(*self.steps));
        Ok(levels * 0.5 / self.noise_multiplier.get().powi(2) * (1.0 + 1e-14))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(f64::INFINITY)
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        let node = Event::Gaussian { noise_multiplier: *self.noise_multiplier };
        found.collect(&node, times(count, u64::from(levels(*self.steps)), "steps")?)
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
        let noise_multiplier = grid.less_noise(*self.noise_multiplier)?;
        Ok(Some(Event::TreeAggregation { noise_multiplier, steps: *self.steps }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let noise_multiplier = group.less_noise(*self.noise_multiplier)?;
        Ok(Event::TreeAggregation { noise_multiplier, steps: *self.steps })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        // A record is in one node of each level of the binary tree.
        let levels = u64::from(u64::BITS - self.steps.leading_zeros());
        Ok(Cost::of_noise(*self.noise_multiplier).times(levels))
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        let noise = digits.exactly(self.noise_multiplier.get());
        format!("tree_aggregation {noise} over {}", self.steps)
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "sums over a stream of {} steps by a tree, Gaussian noise of {} times the sensitivity of a node",
            self.steps,
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
