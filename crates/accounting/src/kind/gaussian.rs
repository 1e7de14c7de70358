//! Continuous Gaussian noise.

use super::{Kind, OnSample};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, something};
use crate::words::Digits;
use reticent_core::event::kind::Gaussian;
use reticent_core::{Event, Neighboring, NoiseMultiplier, SamplingRate};

/// D_α of Gaussian noise of multiplier z: α/2z².
pub(super) fn curve(z: f64) -> RdpCurve {
    RdpCurve::new(move |order| order / (2.0 * z * z) * (1.0 + 1e-15))
}

impl Kind for Gaussian<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        Ok(curve(self.noise_multiplier.get()))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(0.5 / self.noise_multiplier.get().powi(2) * (1.0 + 1e-14))
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(f64::INFINITY)
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        found.add_same(count, self.loss(found)?);
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Ok(something(PrivacyLoss::Gaussian(self.noise_multiplier.get())))
    }

    fn is_noise(&self) -> bool {
        true
    }

    fn on_sample(&self) -> OnSample {
        OnSample::Gaussian(self.noise_multiplier.get())
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::Gaussian { noise_multiplier: grid.less_noise(*self.noise_multiplier)? }))
    }

    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        Ok(Event::Gaussian { noise_multiplier: group.less_noise(*self.noise_multiplier)? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::of_noise(*self.noise_multiplier))
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, _: &Event, _: Neighboring) -> Result<Own, AccountingError> {
        Ok(Own::Gaussian(*self.noise_multiplier))
    }

    fn sampled_gaussian(&self, _: Neighboring) -> Option<(SamplingRate, NoiseMultiplier)> {
        Some((SamplingRate::new(1.0).ok()?, *self.noise_multiplier))
    }

    fn named(&self, digits: &Digits) -> String {
        format!("gaussian {}", digits.exactly(self.noise_multiplier.get()))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!("Gaussian noise of {} times the sensitivity", digits.exactly(self.noise_multiplier.get()))
    }
}
