//! The mechanisms. Each is built from checked parameters, says what it costs, and draws only with
//! [`Randomness`], which only a permit for its event leads to.
#![doc = include_str!("proof.md")]

mod discrete;
mod gaussian;
mod laplace;
mod quadrature;
mod response;
mod selection;
mod stable;
mod student;
mod utility;

pub(crate) use discrete::l2_of_units;
pub use discrete::{DiscreteGaussian, DiscreteLaplace};
pub(crate) use gaussian::sampler_delta_up;
pub use gaussian::{Gaussian, IntegerGaussian, classical_sigma, short_classical_sigma};
pub use laplace::Laplace;
pub use response::{RandomizedResponse, ShareEstimate};
pub use selection::{PrivateSelection, SelectionRule};
pub use stable::StableHistogram;
pub use student::StudentT;
pub use utility::{RuleErrors, compare_rules};

use crate::{NoiseError, Randomness};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, Neighboring};

/// A released value with what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Released<T> {
    /// What may be published.
    pub value: T,
    /// What an accountant is told.
    pub event: Event,
    /// The claim the mechanism was calibrated to.
    pub guarantee: Guarantee,
}

/// A private map from an input to a random output.
///
/// # Guarantee
/// For inputs at [`distance`](Self::distance) at most 1, the outputs satisfy
/// [`guarantee`](Self::guarantee). They also satisfy [`event`](Self::event), up to the share of δ that
/// `guarantee` sets aside for the normal sampler (at most 2⁻¹²⁰ a number). Drawing never fails; the
/// number of draws depends on the input only in a [`PrivateSelection`] and in a [`StableHistogram`].
pub trait Mechanism {
    /// What goes in.
    type Input: ?Sized;
    /// What comes out.
    type Output;

    /// The cost in the language of accountants.
    fn event(&self) -> Event;

    /// The (ε, δ) claim, rounded up.
    fn guarantee(&self) -> Guarantee;

    /// How far two inputs are apart, in units of the declared sensitivity.
    fn distance(&self, a: &Self::Input, b: &Self::Input) -> f64;

    /// One draw, of what is paid for. Callers draw through [`Draws::draw`](crate::Draws::draw) or a [`Releaser`].
    fn draw(&self, input: &Self::Input, draws: &mut Randomness<'_>) -> Self::Output;
}

/// Additive noise, whose error does not depend on the data.
pub trait Accuracy {
    /// The error that one coordinate exceeds with probability at most 1 − confidence, rounded up.
    fn error(&self, confidence: Confidence) -> f64;
}

/// Something that can run a mechanism: [`Paid`](crate::Paid) in earnest, a recorder in tests.
pub trait Releaser {
    /// Runs the mechanism once.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when nobody paid for it, and what charging refuses where it is charged here; the input has
    /// not been looked at then.
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static;

    /// The neighbouring relation under which releases are charged; none where any is as good.
    fn neighboring(&self) -> Option<Neighboring> {
        None
    }
}

/// A source whose releases are paid for, or are about nobody: what a request about rows is answered through.
///
/// The source of [`query::quote`](crate::query::quote) is not one. To implement it for another source is to state that every
/// release of that source is on record in a ledger, or that its data belong to nobody, as those of a test do.
pub trait PaidSource: Releaser {}

/// One draw with what it cost.
pub(crate) fn released<M: Mechanism>(
    mechanism: &M,
    input: &M::Input,
    draws: &mut Randomness<'_>,
) -> Released<M::Output> {
    Released {
        value: mechanism.draw(input, draws),
        event: mechanism.event(),
        guarantee: mechanism.guarantee(),
    }
}

/// Draws are made in batches of at least this many, so the time of a release says next to
/// nothing about the one draw that is used.
const BATCH: usize = 128;

/// `count` draws out of a batch of at least [`BATCH`].
fn draw_ahead<T>(count: usize, mut draw: impl FnMut() -> T) -> Vec<T> {
    let mut batch: Vec<T> = (0..count.max(BATCH)).map(|_| draw()).collect();
    batch.truncate(count);
    batch
}

/// Σ|aᵢ − bᵢ| / sensitivity for vectors of integers; infinite when their lengths differ.
fn l1_distance(a: &[i128], b: &[i128], sensitivity: f64) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter().zip(b).map(|(x, y)| x.abs_diff(*y) as f64).sum::<f64>() / sensitivity
}

/// √Σ(aᵢ − bᵢ)² / sensitivity for vectors; infinite when their lengths differ.
fn l2_distance(
    a: impl ExactSizeIterator<Item = f64>,
    b: impl ExactSizeIterator<Item = f64>,
    sensitivity: f64,
) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.zip(b).map(|(x, y)| ((x - y) / sensitivity).powi(2)).sum::<f64>().sqrt()
}

/// ℓ2 distance of integer vectors, the gaps taken exactly.
fn integer_l2_distance(a: &[i128], b: &[i128], sensitivity: f64) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let gaps = a.iter().zip(b).map(|(x, y)| x.abs_diff(*y) as f64 / sensitivity);
    gaps.map(|gap| gap * gap).sum::<f64>().sqrt()
}

/// Values without end: beyond the given ones they are 0.
fn padded<T: Copy + Default>(values: &[T]) -> impl Iterator<Item = T> {
    values.iter().copied().chain(std::iter::repeat(T::default()))
}

/// A δ that Gaussian noise can be calibrated to.
fn positive(delta: Delta) -> Result<f64, NoiseError> {
    if delta.get() > 0.0 {
        Ok(delta.get())
    } else {
        Err(NoiseError::invalid("delta", 0, "give a delta above 0: Gaussian noise has no pure guarantee"))
    }
}

/// The smallest ε found, from `first` up, whose error keeps to what was asked.
fn settle(
    first: Epsilon,
    wanted: f64,
    error: impl Fn(Epsilon) -> Result<f64, NoiseError>,
) -> Result<Epsilon, NoiseError> {
    let (mut epsilon, mut raise) = (first, 1e-12);
    while error(epsilon)? > wanted {
        epsilon = Epsilon::new(first.get() * (1.0 + raise))?;
        raise *= 2.0;
        if raise > 1.0 {
            return Err(NoiseError::invalid(
                "error",
                wanted,
                "give a larger error: the grid of the noise is too coarse for this one",
            ));
        }
    }
    Ok(epsilon)
}

#[cfg(test)]
mod tests;
