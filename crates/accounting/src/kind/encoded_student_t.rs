//! Independent Student-t noise on a sum to which a record adds a vector of bounded shape.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::{RdpCurve, ends, student_t_rdp};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, unsupported};
use crate::tight::student::encoded_student;
use crate::words::Digits;
use reticent_core::event::kind::EncodedStudentT;
use reticent_core::{Event, Neighboring};

impl Kind for EncodedStudentT<'_> {
    /// That of the ℓ2 norm alone; replacing a record moves the sum by two such vectors.
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        let moved = match neighboring {
            Neighboring::AddRemove => 1.0,
            Neighboring::ReplaceOne => 2.0,
        };
        let (z, freedom) = (self.noise_multiplier.get() / moved, *self.degrees_of_freedom);
        Ok(RdpCurve::new(move |order| student_t_rdp(z, freedom, order)))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    /// The loss is bounded in each coordinate, and there may be any number of coordinates.
    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Ok(f64::INFINITY)
    }

    /// The atoms bound the loss from above only, so the floor is 0.
    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        match found.end {
            End::Floor => Ok(()),
            End::Ceiling => {
                let loss = self.loss(found)?;
                found.add_same(count, loss);
                Ok(())
            }
        }
    }

    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        let refused = |why| Err(unsupported("encoded_student_t", why));
        if found.neighboring == Neighboring::ReplaceOne {
            return refused(
                "its loss is known for add-remove: state the events under that relation, or use rdp",
            );
        }
        if found.end == End::Floor {
            return refused("no lower bound is known");
        }
        let (z, nu) = (self.noise_multiplier.get(), *self.degrees_of_freedom);
        match encoded_student(z, nu, self.levels, self.counts) {
            Some(atoms) => Ok(Some(PrivacyLoss::Atoms(atoms))),
            None => refused("the noise is too small, or the profile too long: use rdp"),
        }
    }

    fn weaker(&self, whole: &Event, _: &Sums<'_>) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        Ok(whole.clone())
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::EncodedStudentT {
            noise_multiplier: grid.less_noise(*self.noise_multiplier)?,
            degrees_of_freedom: *self.degrees_of_freedom,
            levels: self.levels.clone(),
            counts: self.counts.clone(),
        }))
    }

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("encoded_student_t"))
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
        let entries: u64 = self.counts.iter().sum();
        format!("encoded_student_t {noise} ({}) on {entries} entries", self.degrees_of_freedom)
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "Student-t noise ({} degrees of freedom) of scale {} times the norm of what one record can add to a sum, in at most {} entries of bounded magnitudes",
            self.degrees_of_freedom,
            digits.exactly(self.noise_multiplier.get()),
            self.counts.iter().sum::<u64>()
        )
    }
}
