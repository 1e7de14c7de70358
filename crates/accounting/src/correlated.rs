//! Correlated noise for training without sampling: banded matrix factorization (BandMF).
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `steps` | T | steps of the run |
//! | `bands` | b | bands of the factor, its diagonal included |
//! | `coefficients` | c₀, …, c_{b−1} | Cᵢⱼ = c_{i−j} for 0 ≤ i − j < b, 0 elsewhere |
//! | `separation` | | a unit's steps are at least this far apart |
//! | `times` | k | steps of a unit at most |
//!
//! # Proof
//! Let G be the T × d matrix whose rows are the sums of the steps, of which a unit adds a vector gₜ of norm at most 1 (in units of the clipping norm) to
//! the rows t of its participations. The run releases C·G + Z with Z Gaussian of deviation σ, or a post-processing: the sums with noise
//! C⁻¹Z, C being invertible as c₀ > 0. Adding or removing the unit changes C·G by Σₜ C[:, t]·gₜᵀ. Column t of C is 0 outside the rows t, …, t + b − 1, so columns
//! of participations that are at least b apart have disjoint supports: the squared Frobenius norm of the change is Σₜ ‖C[:, t]‖²·‖gₜ‖² ≤ Σₜ ‖C[:, t]‖². ‖C[:, t]‖² = Σ c_d² over
//! d < min(b, T − t) does not increase with t, and the j-th participation is not before step j·separation (from 0), so the sum is at most that of
//! the pattern 0, separation, 2·separation, …, which is one of those allowed: the sensitivity is exact. As C is lower triangular and the noise Gaussian, the
//! guarantee holds as well where later sums depend on what was released before (Denisov et al. 2022, theorem 2.1). So the whole run is one
//! Gaussian mechanism of multiplier σ/sensitivity. ∎

use crate::AccountingError;
use reticent_core::rounding::{div_down, mul_up, sqrt_up};
use reticent_core::{Event, NoiseMultiplier};

/// Steps at most.
const MOST_STEPS: u64 = 1 << 24;

/// How far rounding of a sum of squares may be off, with room to spare.
const ROUNDING: f64 = 1e-8;

/// In which steps of a run one unit takes part.
///
/// The schedule does not depend on the data, and a unit that is removed leaves its places empty: the other batches stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Participation {
    /// In at most so many steps, at least 1: e.g. the number of epochs.
    pub times: u64,
    /// Any two of them at least this far apart, at least 1: e.g. the steps of an epoch whose batches are the same in every epoch.
    pub separation: u64,
}

/// A lower-triangular banded Toeplitz matrix C: noise of the steps is C⁻¹Z for independent Gaussian Z.
///
/// # Guarantee
/// [`event`](Self::event) bounds the whole run under add-remove, for units that take part as [`Participation`] says. The sensitivity is exact but for
/// rounding, which is up.
///
/// # Reference
/// Choquette-Choo et al., *(Amplified) banded matrix factorization* (2023); Fichtenberger, Henzinger, Upadhyay, *Constant matters* (2022), for the
/// coefficients; the proof stands above.
#[derive(Debug, Clone, PartialEq)]
pub struct BandedFactor {
    coefficients: Vec<f64>,
    steps: u64,
}

impl BandedFactor {
    /// The square root of the matrix of running sums, cut to so many bands and scaled to columns of norm 1. One band is independent noise.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] without bands or steps, with more bands than steps, and for more than 2²⁴ steps.
    pub fn square_root(bands: u64, steps: u64) -> Result<Self, AccountingError> {
        check_sizes(bands, steps)?;
        // (1 − x)^{−1/2} = Σ c_d x^d.
        let mut coefficients = vec![1.0];
        for d in 1..bands {
            let last = coefficients[d as usize - 1];
            coefficients.push(last * (2 * d - 1) as f64 / (2 * d) as f64);
        }
        let norm = coefficients.iter().map(|c| c * c).sum::<f64>().sqrt();
        coefficients.iter_mut().for_each(|c| *c /= norm);
        Self::new(coefficients, steps)
    }

    /// The factor with these coefficients, from the diagonal down.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] as [`square_root`](Self::square_root), for coefficients that are not finite or beyond 10¹⁰⁰, and for a diagonal that is not
    /// above 10⁻¹⁰⁰.
    pub fn new(coefficients: Vec<f64>, steps: u64) -> Result<Self, AccountingError> {
        check_sizes(coefficients.len() as u64, steps)?;
        if let Some(bad) = coefficients.iter().find(|c| c.is_nan() || c.abs() > 1e100) {
            return Err(AccountingError::invalid("coefficients", bad, "give numbers of at most 1e100"));
        }
        if coefficients[0] < 1e-100 {
            let remedy = "give a first coefficient above 1e-100: the factor must be invertible";
            return Err(AccountingError::invalid("coefficients", coefficients[0], remedy));
        }
        Ok(Self { coefficients, steps })
    }

    /// The coefficients, from the diagonal down. The noise of step t is (Zₜ − Σ_{d>0} c_d·noise_{t−d})/c₀.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The largest ℓ2 norm by which a unit that adds vectors of norm at most 1 changes C·G, rounded up.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] for a participation without times, and for one whose steps are closer than the number of bands.
    pub fn sensitivity(&self, participation: Participation) -> Result<f64, AccountingError> {
        let Participation { times, separation } = participation;
        if times == 0 {
            return Err(AccountingError::invalid("times", times, "give at least 1"));
        }
        let bands = self.coefficients.len() as u64;
        if separation < bands {
            let remedy = format!("give at least the number of bands, {bands}, or fewer bands");
            return Err(AccountingError::invalid("separation", separation, remedy));
        }
        // Squared norms of columns from their length.
        let mut squares = vec![0.0];
        for c in &self.coefficients {
            squares.push(squares[squares.len() - 1] + c * c);
        }
        // Before the last columns all have the same norm.
        let column = |t: u64| squares[bands.min(self.steps - t) as usize];
        let possible = (self.steps - 1) / separation + 1;
        let count = times.min(possible);
        let full = count.min((self.steps - bands) / separation + 1);
        let short: f64 = (full..count).map(|j| column(j * separation)).sum();
        Ok(sqrt_up(mul_up(full as f64 * column(0) + short, 1.0 + ROUNDING)))
    }

    /// What the whole run costs, with noise Z of deviation `noise_multiplier` times the clipping norm.
    ///
    /// # Guarantee
    /// Under add-remove between units, for everything that the run releases together; see [`BandedFactor`].
    ///
    /// # Reference
    /// The proof of this module.
    ///
    /// # Errors
    /// As [`sensitivity`](Self::sensitivity).
    pub fn event(
        &self,
        noise_multiplier: NoiseMultiplier,
        participation: Participation,
    ) -> Result<Event, AccountingError> {
        let sensitivity = self.sensitivity(participation)?;
        Ok(Event::Gaussian {
            noise_multiplier: NoiseMultiplier::new(div_down(noise_multiplier.get(), sensitivity))?,
        })
    }

    /// The mean over steps of the variance of the running sums' noise, in one coordinate, where the run is that of
    /// a Gaussian mechanism of multiplier 1 and clipping norm 1: what to compare factors by.
    ///
    /// # Errors
    /// As [`sensitivity`](Self::sensitivity).
    pub fn running_sum_variance(&self, participation: Participation) -> Result<f64, AccountingError> {
        let sensitivity = self.sensitivity(participation)?;
        // C⁻¹ is Toeplitz as well; its running sums are the entries of A·C⁻¹.
        let steps = self.steps as usize;
        let (mut inverse, mut sum, mut total): (Vec<f64>, f64, f64) = (Vec::with_capacity(steps), 0.0, 0.0);
        for t in 0..steps {
            let own = if t == 0 { 1.0 } else { 0.0 };
            let past: f64 =
                self.coefficients.iter().enumerate().skip(1).take(t).map(|(d, c)| c * inverse[t - d]).sum();
            inverse.push((own - past) / self.coefficients[0]);
            sum += inverse[t];
            total += (steps - t) as f64 * sum * sum;
        }
        Ok(sensitivity * sensitivity * total / steps as f64)
    }
}

fn check_sizes(bands: u64, steps: u64) -> Result<(), AccountingError> {
    if !(1..=MOST_STEPS).contains(&steps) {
        return Err(AccountingError::invalid(
            "steps",
            steps,
            format!("give a number from 1 to {MOST_STEPS}"),
        ));
    }
    if !(1..=steps).contains(&bands) {
        return Err(AccountingError::invalid(
            "bands",
            bands,
            format!("give a number from 1 to steps = {steps}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "correlated_tests.rs"]
mod tests;
