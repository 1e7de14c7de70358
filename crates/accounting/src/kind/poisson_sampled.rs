//! An event run on a Poisson sample.

use super::{Kind, OnSample, of, pure};
use crate::AccountingError;
use crate::account::{Grid, Own, is_idle, leak, thinned, worse};
use crate::amplification::{BatchRule, subsampled};
use crate::clipped::{Sums, allowed, as_they_are};
use crate::filter::Cost;
use crate::group::{self, Group};
use crate::rdp::curve::{self, divided_finely, single};
use crate::rdp::{RdpCurve, ends, replaced_log_moment, sampled_gaussian_log_moment};
use crate::tight::PrivacyLoss;
use crate::tight::events::{Found, Pair, unknown_inside};
use crate::words::{Digits, named, sentence};
use reticent_core::event::kind::PoissonSampled;
use reticent_core::{Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

impl Kind for PoissonSampled<'_> {
    /// Exact for Gaussian noise, through ε′ = ln(1 + q(e^ε − 1)) for pure events, or as without sampling where that is less.
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError> {
        let rate = self.rate.get();
        if neighboring == Neighboring::ReplaceOne {
            if let Event::ClippedSum { noise_multiplier } = **self.event {
                let z = noise_multiplier.get();
                return Ok(RdpCurve::new(move |order| {
                    divided_finely(replaced_log_moment(rate, z, order), order)
                }));
            }
            return Err(curve::unsupported(
                "poisson_sampled",
                "under replace-one the bound is for clipped_sum: state that, or the events under add-remove",
            ));
        }
        let pure_epsilon = match of(self.event, |kind| kind.on_sample()) {
            OnSample::Gaussian(z) => {
                return Ok(RdpCurve::new(move |order| {
                    divided_finely(sampled_gaussian_log_moment(rate, z, order), order)
                }));
            }
            OnSample::Pure(epsilon) => epsilon,
            OnSample::Unknown => {
                let why = "only Gaussian and pure events are supported inside";
                return Err(curve::unsupported("poisson_sampled", why));
            }
        };
        let inner = Guarantee::pure(Epsilon::new(pure_epsilon * (1.0 + 1e-15))?);
        let outer = subsampled(inner, SamplingRate::new(rate)?)?;
        // A mixture with the other law only brings the two closer (quasi-convexity): never above the event itself.
        let (amplified, whole) = (pure::curve(outer.epsilon.get()), single(self.event, neighboring)?);
        Ok(RdpCurve::new(move |order| amplified.at(order).min(whole.at(order))))
    }

    fn kullback_leibler(&self) -> Result<f64, AccountingError> {
        Err(ends::no_divergence())
    }

    fn largest_loss(&self) -> Result<f64, AccountingError> {
        Err(ends::no_largest())
    }

    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError> {
        let rate = self.rate.get();
        if rate == 1.0 {
            return found.collect(self.event, count);
        }
        if rate == 0.0 {
            return Ok(());
        }
        let pair = match **self.event {
            // Only what is replaced is left as a clipped sum.
            Event::ClippedSum { noise_multiplier } => {
                Some(Pair::Same(PrivacyLoss::Replaced { rate, sigma: noise_multiplier.get() }))
            }
            _ => found.sampled(rate, self.event, "poisson_sampled")?,
        };
        if let Some(pair) = pair {
            found.add(count, pair);
        }
        Ok(())
    }

    fn loss(&self, _: &Found) -> Result<Option<PrivacyLoss>, AccountingError> {
        Err(unknown_inside())
    }

    /// With every record in every batch nothing is sampled. What is replaced in a sample of a sum is kept where it is to be.
    fn weaker(&self, whole: &Event, sums: &Sums<'_>) -> Result<Event, AccountingError> {
        if self.rate.get() == 1.0 {
            return sums.written(self.event);
        }
        if sums.keeps_sampled && matches!(**self.event, Event::ClippedSum { .. }) {
            return Ok(whole.clone());
        }
        sums.inside(whole)
    }

    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError> {
        if self.rate.get() == 1.0 {
            return Ok(allowed(self.event, Neighboring::ReplaceOne)?.into_owned());
        }
        if matches!(**self.event, Event::ClippedSum { .. }) {
            return Ok(whole.clone());
        }
        as_they_are(whole)
    }

    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError> {
        Ok(Some(Event::PoissonSampled {
            rate: SamplingRate::new(grid.up(self.rate.get()).min(1.0))?,
            event: Box::new(worse(self.event, grid)?),
        }))
    }

    /// The mixture over how many of the group are in the batch.
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError> {
        match (&**self.event, group.neighboring) {
            (Event::Gaussian { noise_multiplier }, Neighboring::AddRemove) => {
                let (sensitivities, probabilities) = group::binomial(group.size, self.rate.get());
                let noise_multiplier = *noise_multiplier;
                Ok(Event::MixtureOfGaussians { sensitivities, probabilities, noise_multiplier })
            }
            _ => Err(group::unknown("poisson_sampled")),
        }
    }

    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError> {
        match neighboring {
            Neighboring::AddRemove => Cost::of(self.event, neighboring)?.sampled(*self.rate),
            Neighboring::ReplaceOne => Ok(Cost::UNKNOWN),
        }
    }

    fn is_idle(&self) -> bool {
        self.rate.get() == 0.0 || is_idle(self.event)
    }

    fn leak(&self, neighboring: Neighboring) -> f64 {
        thinned(self.rate.get(), leak(self.event, neighboring))
    }

    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError> {
        match neighboring {
            Neighboring::AddRemove => Own::amplified(*self.rate, self.event, neighboring),
            Neighboring::ReplaceOne => Own::curve(whole, neighboring),
        }
    }

    /// Under add-remove only: a record that is replaced in a sample has another loss.
    fn sampled_gaussian(&self, neighboring: Neighboring) -> Option<(SamplingRate, NoiseMultiplier)> {
        let (rate, noise) = of(self.event, |kind| kind.sampled_gaussian(neighboring))?;
        match neighboring {
            Neighboring::AddRemove if rate.get() == 1.0 => Some((*self.rate, noise)),
            _ => None,
        }
    }

    fn batch_rule(&self, _: Neighboring) -> Option<BatchRule> {
        Some(BatchRule::Poisson)
    }

    fn named(&self, digits: &Digits) -> String {
        format!("poisson_sampled {} ({})", digits.exactly(self.rate.get()), named(self.event, digits))
    }

    fn sentence(&self, digits: &Digits) -> String {
        format!(
            "{}, on a random sample that every record enters with probability {}",
            sentence(self.event, digits),
            digits.exactly(self.rate.get())
        )
    }
}
