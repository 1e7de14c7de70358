//! Discrete Gaussian noise on the integers.

use super::{Kind, gaussian};
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::tight::events::{End, Found, something, unsupported};
use crate::tight::{PrivacyLoss, lattice};
use crate::words::Digits;
use reticent_core::event::kind::DiscreteGaussian;
use reticent_core::{Event, Neighboring, Rho};

impl Kind for DiscreteGaussian<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        Ok(gaussian::curve(self.noise_multiplier.get()))
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

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        // Of integers that move by nobody knows how much, one may move by one.
        let known = self.sensitivity.map(|own| own.get()).or((found.end == End::Floor).then_some(1.0));
        let why = "state the sensitivity of the integers: without it only a Rényi bound is known";
        let sensitivity = known.ok_or_else(|| unsupported("discrete_gaussian", why))?;
        let atoms = lattice::discrete_gaussian(self.noise_multiplier.get(), sensitivity, found.end)
            .ok_or_else(|| unsupported("discrete_gaussian", "there are too many ways to move so far"))?;
        Ok(something(PrivacyLoss::Atoms(atoms)))
    }

    fn atoms(&self) -> f64 {
        self.noise_multiplier.get()
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    /// Only its Rényi curve is known for larger moves: that of ρ = 1/2z².
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        let z = self.noise_multiplier.get() / group.size as f64;
        Ok(Event::Zcdp { rho: Rho::new((0.5 / (z * z)) * (1.0 + 1e-14))? })
    }

    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost { gaussian: f64::INFINITY, ..Cost::of_noise(*self.noise_multiplier) })
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
        format!("discrete_gaussian {noise}{}", digits.moved(self.sensitivity.map(|own| own.get())))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Gaussian noise on whole numbers, {} times the sensitivity",
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
