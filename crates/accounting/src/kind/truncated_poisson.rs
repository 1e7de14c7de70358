//! A Poisson sample cut to a largest batch.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle};
use crate::clipped::{Sums, as_they_are};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{self, divided};
use crate::rdp::{self, RdpCurve, binomial_tail_up, ends};
use crate::tight::PrivacyLoss;
use crate::tight::events::{End, Found, Pair, unknown_inside, unsupported};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::TruncatedPoisson;
use reticent_core::{Event, Neighboring};

impl Kind for TruncatedPoisson<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        if neighboring == Neighboring::ReplaceOne {
            return Err(curve::unsupported(
                "truncated_poisson",
                "the bound is for add-remove: state the events under that relation",
            ));
        }
        let Event::Gaussian { noise_multiplier } = **self.event else {
            return Err(curve::unsupported(
                "truncated_poisson",
                "only a gaussian event is supported inside: state that, or poisson_sampled without a cap",
            ));
        };
        let (size, rate, cap) = (*self.dataset_size, self.rate.get(), *self.max_batch);
        let sampler = rdp::TruncatedPoisson::new(size, rate, cap, noise_multiplier.get());
        Ok(RdpCurve::new(move |order| divided(sampler.log_moment(order), order)))
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
        match (&**self.event, found.neighboring, self.rate.get()) {
            (Event::Gaussian { noise_multiplier }, Neighboring::AddRemove, rate) if rate < 1.0 => {
                let spilled = binomial_tail_up(*self.dataset_size, rate, *self.max_batch);
                found.add(count, Pair::Truncated { spilled, rate, sigma: noise_multiplier.get() });
                Ok(())
            }
            _ => {
                let why = "the bound is for Gaussian noise, a rate below 1 and add-remove";
                Err(unsupported("truncated_poisson", why))
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
        as_they_are(whole)
    }

    fn coarser(&self, _: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(None)
    }

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("truncated_poisson"))
    }

    /// No filter adds up more of it than its curve.
    fn cost(&self, _: Neighboring) -> Result<Cost, AccountingError> {
        Ok(Cost::UNKNOWN)
    }

    fn is_idle(&self) -> bool {
        self.rate.get() == 0.0 || is_idle(self.event)
    }

    /// Has bounds for Gaussian noise only, which reveals nothing outright.
    fn leak(&self, _: Neighboring) -> f64 {
        0.0
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        Own::curve(whole, neighboring)
    }

    fn named(&self, digits: &Digits) -> String {
        let (rate, inner) = (digits.exactly(self.rate.get()), named(self.event, digits));
        format!("truncated_poisson {rate} up to {} ({inner})", self.max_batch)
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "{}, on a random sample that every record enters with probability {}, cut to {} records",
            sentence(self.event, digits),
            digits.exactly(self.rate.get()),
            self.max_batch
        )
    }
}
