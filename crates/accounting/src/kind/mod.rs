//! Every kind of event in one file: what it costs, what it becomes, and how it is told.
//!
//! The list of kinds is the one of [`reticent_core::event`]. A new kind touches four places:
//!
//! 1. its entry in that list, with the name of the check of its fields;
//! 2. that check, in `event/check.rs` beside the list, unless its field types check everything (`check::by_types`);
//! 3. its file here, which implements [`Kind`] for its view;
//! 4. the file's `mod` line below.
//!
//! Until all four are there the compiler names what is missing: the check, the kind without an implementation, or the methods
//! that it lacks. Everything else asks [`of`] and knows no kinds.
//!
//! Methods that have a default are those for which the default is never wrong, only less than what may be known. What decides how
//! an event is charged has none: a kind of which nothing is known says so itself.

mod approximate;
mod balls_in_bins;
mod clipped_sum;
mod composed;
mod discrete_gaussian;
mod discrete_laplace;
mod encoded_student_t;
mod exponential;
mod gaussian;
mod gdp;
mod laplace;
mod mixture_of_gaussians;
mod parallel;
mod poisson_sampled;
mod pure;
mod randomized_response;
mod rdp;
mod repeat_and_select;
mod repeated;
mod sampled_without_replacement;
mod shuffled;
mod student_t;
mod tree_aggregation;
mod truncated_poisson;
mod zcdp;

use crate::AccountingError;
use crate::account::{Grid, Own};
use crate::amplification::BatchRule;
use crate::clipped::Sums;
use crate::filter::Cost;
use crate::group::Group;
use crate::rdp::RdpCurve;
use crate::tight::PrivacyLoss;
use crate::tight::events::Found;
use crate::words::Digits;
use reticent_core::event::{Visitor, kind};
use reticent_core::{Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Order, SamplingRate};

/// What is known of a kind of event.
pub(crate) trait Kind {
    /// An upper bound on its Rényi divergences, in both directions.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] where none is known under the relation.
    fn curve(&self, neighboring: Neighboring) -> Result<RdpCurve, AccountingError>;

    /// Adds the curves of `count` uses, at least one: those of what it is made of, where these add up by themselves.
    ///
    /// # Errors
    /// As [`curve`](Self::curve).
    fn curves(
        &self,
        count: u64,
        neighboring: Neighboring,
        parts: &mut Vec<(u64, RdpCurve)>,
    ) -> Result<(), AccountingError> {
        parts.push((count, self.curve(neighboring)?));
        Ok(())
    }

    /// D₁, rounded up, where a closed form bounds it.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] elsewhere.
    fn kullback_leibler(&self) -> Result<f64, AccountingError>;

    /// D_∞, rounded up, where a closed form bounds it; infinite where it has no bound.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] elsewhere.
    fn largest_loss(&self) -> Result<f64, AccountingError>;

    /// Adds the losses of `count` uses, at least one, at the end that is asked for.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] where they are not known.
    fn losses(&self, count: u64, found: &mut Found) -> Result<(), AccountingError>;

    /// Its loss as a single one that is the same both ways, as where it is run on a sample; none where nothing is lost.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] where it is not known or no such loss.
    fn loss(&self, found: &Found) -> Result<Option<PrivacyLoss>, AccountingError>;

    /// Whether it is noise on numbers, and not a claim about any mechanism: one that publishes who is in the sample may be as
    /// private as Gaussian noise where a record is replaced, and gains nothing by the sample.
    fn is_noise(&self) -> bool {
        false
    }

    /// What is known of its Rényi divergences on a Poisson sample under add-remove.
    fn on_sample(&self) -> OnSample {
        OnSample::Unknown
    }

    /// So much of the noise of a discrete Gaussian as has atoms to be held in memory.
    fn atoms(&self) -> f64 {
        0.0
    }

    /// The weaker form: the event with its clipped sums as Gaussian noise.
    ///
    /// A kind without events inside is its own weaker form; [`Sums::inside`] is that of a kind that only holds events.
    ///
    /// # Errors
    /// As the rule for the noise.
    fn weaker(&self, whole: &Event, sums: &Sums<'_>) -> Result<Event, AccountingError>;

    /// The stronger form: the event with its clipped sums as Gaussian noise that mechanisms of its kind certainly allow where
    /// a record is replaced.
    ///
    /// A kind without events inside is its own stronger form; [`each_allowed`](crate::clipped::each_allowed) is that of a kind
    /// in which a replaced record may move a sum by 2C, and [`as_they_are`](crate::clipped::as_they_are) claims least: a record
    /// only comes or goes.
    ///
    /// # Errors
    /// As [`crate::clipped::allowed`].
    fn stronger(&self, whole: &Event) -> Result<Event, AccountingError>;

    /// An event that is never better, with its parameters on a grid; none where it is to be kept as it is.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] where the grid leads out of range.
    fn coarser(&self, grid: &Grid) -> Result<Option<Event>, AccountingError>;

    /// The event as a group meets it.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] where its loss for a group is not known.
    fn for_group(&self, group: &Group) -> Result<Event, AccountingError>;

    /// What a privacy filter charges for it; [`Cost::UNKNOWN`] where only the accountants have a bound.
    ///
    /// # Errors
    /// [`AccountingError`] where an amplified claim is out of range.
    fn cost(&self, neighboring: Neighboring) -> Result<Cost, AccountingError>;

    /// Whether it certainly loses nothing.
    fn is_idle(&self) -> bool;

    /// How often each of its events is run in sequence on the same data, where that is all that it is.
    fn in_sequence(&self) -> Option<u64> {
        None
    }

    /// −ln of the probability that nothing is revealed outright, rounded to nearest.
    fn leak(&self, neighboring: Neighboring) -> f64;

    /// ln of the probability that it reveals nothing outright, and the event that it is otherwise. The [`cost`](Self::cost) of a
    /// kind that has it counts the rest as its leak.
    fn apart(&self) -> Option<(f64, Event)> {
        None
    }

    /// Its own (ε, δ). `whole` is the event itself.
    ///
    /// # Errors
    /// As [`curve`](Self::curve).
    fn claim(&self, whole: &Event, neighboring: Neighboring) -> Result<Own, AccountingError>;

    /// The (ε, δ) that it states, or that its largest loss amounts to; none where it has a different ε for every δ, or only a
    /// bound that is not a claim.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] where the claims inside it add up to none.
    fn stated(&self, _: Neighboring) -> Result<Option<Guarantee>, AccountingError> {
        match self.largest_loss() {
            Ok(loss) if loss.is_finite() => Ok(Some(Guarantee::pure(Epsilon::new(loss)?))),
            _ => Ok(None),
        }
    }

    /// The order and the divergence, where the divergence at one order is all that is known.
    fn one_order(&self) -> Option<(Order, Epsilon)> {
        None
    }

    /// The sampling rate and the noise multiplier, where it is nothing but Gaussian noise on a Poisson sample of the records, or
    /// on all of them (rate 1).
    fn sampled_gaussian(&self, _: Neighboring) -> Option<(SamplingRate, NoiseMultiplier)> {
        None
    }

    /// How it draws batches, where that is to be told.
    fn batch_rule(&self, _: Neighboring) -> Option<BatchRule> {
        None
    }

    /// Whether it has an (ε, δ) of its own, without a δ to choose.
    fn is_plain(&self) -> bool {
        false
    }

    /// Its name and numbers: `gaussian 1.1`, `poisson_sampled 0.01 (gaussian 1)`.
    fn named(&self, digits: &Digits) -> String;

    /// A sentence without a full stop.
    fn sentence(&self, digits: &Digits) -> String;
}

/// What a Rényi bound for Poisson samples takes an event for.
pub(crate) enum OnSample {
    /// Gaussian noise of this multiplier.
    Gaussian(f64),
    /// Anything of this ε.
    Pure(f64),
    /// Nothing is known.
    Unknown,
}

/// Asks what is known of an event's kind.
pub(crate) fn of<R>(event: &Event, ask: impl FnOnce(&dyn Kind) -> R) -> R {
    event.visit(Ask(ask))
}

struct Ask<F>(F);

macro_rules! ask_every_kind {
    ($($name:ident $Kind:ident,)*) => {
        impl<R, F: FnOnce(&dyn Kind) -> R> Visitor for Ask<F> {
            type Output = R;
            $(fn $name(self, event: kind::$Kind<'_>) -> R {
                (self.0)(&event)
            })*
        }
    };
}

reticent_core::event_kinds!(ask_every_kind);
