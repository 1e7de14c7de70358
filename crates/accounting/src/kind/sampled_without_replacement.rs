//! An event run on a fixed-size sample without replacement.

use super::Kind;
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, leak, thinned};
use crate::clipped::{Sums, each_allowed};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{self, single};
use crate::rdp::{GaussianDifferences, Inner, RdpCurve, ends, without_replacement_rdp};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, unknown_inside, unsupported};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::SampledWithoutReplacement;
use reticent_core::rounding::div_up;
use reticent_core::{Event, Neighboring, SamplingRate};

/// The probability with which a record is in the sample.
fn rate(event: &SampledWithoutReplacement<'_>) -> f64 {
    *event.batch_size as f64 / *event.dataset_size as f64
}

impl Kind for SampledWithoutReplacement<'_> {
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        if neighboring == Neighboring::AddRemove {
            return Err(curve::unsupported(
                "sampled_without_replacement",
                "the bound is for replace-one: state the events under that relation",
            ));
        }
        if matches!(**self.event, Event::SampledWithoutReplacement { .. } | Event::RepeatAndSelect { .. }) {
            return Err(curve::unsupported(
                "sampled_without_replacement",
                "a sampler inside a sampler is not supported: state what is run on the batch",
            ));
        }
        let inner = single(self.event, neighboring)?;
        let rate = rate(self);
        let differences = match **self.event {
            Event::Gaussian { noise_multiplier } => Some(GaussianDifferences::new(noise_multiplier.get())),
            _ => None,
        };
        Ok(RdpCurve::new(move |order| {
            let difference = |l| differences.as_ref().map_or(f64::INFINITY, |d| d.log_difference(l));
            let inner = Inner {
                curve: &|j| inner.at(j),
                log_difference: differences.is_some().then_some(&difference),
            };
            without_replacement_rdp(rate, order, &inner)
        }))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        match (found.neighboring, *self.batch_size) {
            (_, 0) => Ok(()),
            (Neighboring::AddRemove, _) => Err(unsupported(
                "sampled_without_replacement",
                "the bound is for replace-one: state the events under that relation",
            )),
            (Neighboring::ReplaceOne, batch) if batch == *self.dataset_size => {
                found.collect(self.event, count)
            }
            (Neighboring::ReplaceOne, _) => {
                if let Some(pair) = found.sampled(rate(self), self.event, "sampled_without_replacement")? {
                    found.add(count, pair);
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

    fn for_group(&self, _: &Group) -> Result<Event, AccountingError> {
        Err(group::unknown("sampled_without_replacement"))
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        if neighboring == Neighboring::AddRemove {
            return Ok(Cost::UNKNOWN);
        }
        let rate = div_up(*self.batch_size as f64, *self.dataset_size as f64).min(1.0);
        Cost::of(self.event, neighboring)?.sampled(SamplingRate::new(rate)?)
    }

    fn is_idle(&self) -> bool {
        *self.batch_size == 0 || is_idle(self.event)
    }

    fn leak(&self, neighboring: Neighboring) -> f64 {
        thinned(rate(self), leak(self.event, neighboring))
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        match neighboring {
            Neighboring::ReplaceOne => {
                Own::amplified(SamplingRate::new(rate(self))?, self.event, neighboring)
            }
            Neighboring::AddRemove => Own::curve(whole, neighboring),
        }
    }

    fn named(&self, digits: &Digits) -> String {
        let (batch, size) = (self.batch_size, self.dataset_size);
        format!("sampled_without_replacement {batch} of {size} ({})", named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        let (batch, size) = (self.batch_size, self.dataset_size);
        format!("{}, on a random sample of {batch} of {size} records", sentence(self.event, digits))
    }
}
