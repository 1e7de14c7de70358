//! Independent Student-t noise.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::{RdpCurve, student_t_rdp};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, unsupported};
use crate::words::Digits;
use reticent_core::event::kind::StudentT;
use reticent_core::{Event, Neighboring};

impl Kind for StudentT<'_> {
    fn curve(&self, _: Neighboring) -> Result<RdpCurve, AccountingError> {
        let (z, freedom) = (self.noise_multiplier.get(), *self.degrees_of_freedom);
        Ok(RdpCurve::new(move |order| student_t_rdp(z, freedom, order)))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Ok(student_t_rdp(self.noise_multiplier.get(), *self.degrees_of_freedom, 1.0))
    }

    /// The loss is bounded in each coordinate, and there may be any number of coordinates.
    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(f64::INFINITY)
    }

    fn losses(&self, _: u64, found: &mut Found) -> Result<(), AccountingError> {
        match found.end {
            End::Floor => Ok(()),
            End::Ceiling => self.loss(found).map(|_| ()),
        }
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unsupported("student_t", "its loss is not known here"))
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
        Err(group::unknown("student_t"))
    }

    /// No filter adds up more of it than its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
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
        format!("student_t {noise} ({})", self.degrees_of_freedom)
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Student-t noise ({} degrees of freedom) of scale {} times the sensitivity",
            self.degrees_of_freedom,
            digits.exactly(self.noise_multiplier.get())
        )
    }
}
