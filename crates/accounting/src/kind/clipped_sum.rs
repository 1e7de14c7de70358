//! Gaussian noise on a sum to which a record adds at most C.

use super::{Kind, gaussian};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::{Sums, multiplier, plain};
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::{RdpCurve, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, unknown_inside};
use crate::words::Digits;
use reticent_core::event::kind::ClippedSum;
use reticent_core::{Event, Neighboring, NoiseMultiplier, SamplingRate};

impl Kind for ClippedSum<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        Ok(gaussian::curve(multiplier(*self.noise_multiplier, neighboring)?.get()))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, _: u64, _: &mut Found) -> Result<(), AccountingError> {
        Err(unknown_inside())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unknown_inside())
    }

    fn is_noise(&self) -> bool {
        true
    }

    fn weaker(&self, _: &Event, sums: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(Event::Gaussian { noise_multiplier: sums.noise(*self.noise_multiplier)? })
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(plain(whole, Neighboring::ReplaceOne)?.into_owned())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::ClippedSum { noise_multiplier: grid.less_noise(*self.noise_multiplier)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::ClippedSum { noise_multiplier: group.less_noise(*self.noise_multiplier)? })
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_noise(multiplier(*self.noise_multiplier, neighboring)?))
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

    fn sampled_gaussian(&self, neighboring: Neighboring) -> Option<(SamplingRate, NoiseMultiplier)> {
        Some((SamplingRate::new(1.0).ok()?, multiplier(*self.noise_multiplier, neighboring).ok()?))
    }

    fn named(&self, digits: &Digits) -> String {
        format!("clipped_sum {}", digits.exactly(self.noise_multiplier.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Gaussian noise of {} times what one record can add to a sum",
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
