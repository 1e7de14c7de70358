//! Gaussian noise on a sum whose sensitivity is random.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{self, divided_finely};
use crate::rdp::{RdpCurve, ends, mixture_log_moment};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, Pair, unknown_inside, unsupported};
use crate::words::Digits;
use reticent_core::event::kind::MixtureOfGaussians;
use reticent_core::{Event, Neighboring};

impl Kind for MixtureOfGaussians<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        if neighboring == Neighboring::ReplaceOne {
            return Err(curve::unsupported(
                "mixture_of_gaussians",
                "the bound is for add-remove: state the events under that relation",
            ));
        }
        let (s, p) = (self.sensitivities.clone(), self.probabilities.clone());
        let z = self.noise_multiplier.get();
        Ok(RdpCurve::new(move |order| {
            let (remove, add) =
                (mixture_log_moment(&s, &p, z, order), mixture_log_moment(&s, &p, z, 1.0 - order));
            divided_finely(if remove.is_nan() { remove } else { add.max(remove) }, order)
        }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        if found.neighboring == Neighboring::ReplaceOne {
            return Err(unsupported(
                "mixture_of_gaussians",
                "the loss is known for add-remove: state the events under that relation",
            ));
        }
        // The probabilities are known to about 1e-9: made to add up exactly.
        let total: f64 = self.probabilities.iter().sum();
        let (mut shifts, mut weights) = (Vec::new(), Vec::new());
        for (s, p) in self.sensitivities.iter().zip(self.probabilities).filter(|(_, p)| **p > 0.0) {
            shifts.push(*s);
            weights.push(p / total);
        }
        if shifts.iter().any(|s| *s != 0.0) {
            found.add(count, Pair::Mixture { shifts, weights, sigma: self.noise_multiplier.get() });
        }
        Ok(())
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

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("mixture_of_gaussians"))
    }

    /// No filter adds up more of it than its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
    }

    fn is_idle(&self) -> bool {
        self.sensitivities.iter().zip(self.probabilities).all(|(s, p)| *s == 0.0 || *p == 0.0)
    }

    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        let noise = digits.exactly(self.noise_multiplier.get());
        format!("mixture_of_gaussians {noise} of {}", self.sensitivities.len())
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Gaussian noise of {} on a sum with {} possible sensitivities",
            digits.exactly(self.noise_multiplier.get()),
            self.sensitivities.len()
        )
    }
}
