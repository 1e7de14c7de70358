//! Noise on numbers whose sensitivity the caller declares.

use super::{add_remove, ninety_five, no_epsilon};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Code, Confidence, Delta, Epsilon, Event, Guarantee, Neighboring, Scale, Sensitivity};
use reticent_noise::mechanism::{
    Accuracy, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Mechanism, StudentT,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

thread_local! {
    static GAUSSIAN: Last<Gaussian> = const { Last(RefCell::new(None)) };
    static STUDENT_T: Last<StudentT> = const { Last(RefCell::new(None)) };
}

/// The mechanism that a thread made last, for its request and so many numbers: to calibrate one takes longer than to draw.
struct Last<M>(RefCell<Option<(Perturb, usize, M)>>);

impl<M: Copy> Last<M> {
    /// The mechanism of the request: the last one if it is the same.
    fn of(
        &self,
        request: &Perturb,
        dimension: usize,
        make: impl FnOnce() -> Result<M, Refusal>,
    ) -> Result<M, Refusal> {
        if let Some((known, size, noise)) = &*self.0.borrow()
            && known == request
            && *size == dimension
        {
            return Ok(*noise);
        }
        let noise = make()?;
        *self.0.borrow_mut() = Some((request.clone(), dimension, noise));
        Ok(noise)
    }
}

/// Additive noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditiveMechanism {
    /// Laplace noise on real numbers; the sensitivity is in ℓ1.
    Laplace,
    /// Gaussian noise on real numbers; the sensitivity is in ℓ2.
    Gaussian,
    /// Student-t noise on real numbers; the sensitivity is in ℓ2.
    StudentT,
    /// Discrete Laplace noise on integers; the sensitivity is in ℓ1.
    DiscreteLaplace,
    /// Discrete Gaussian noise on integers; the sensitivity is in ℓ2.
    DiscreteGaussian,
}

/// Noise for numbers whose sensitivity the caller declares.
///
/// # Guarantee
/// For numbers that differ by at most the declared sensitivity between neighbors, under the declared relation: that of the mechanism,
/// charged to the session before the numbers are looked at. Whether the sensitivity is true is the caller's responsibility. It
/// is of the whole list together.
///
/// # Reference
/// The mechanisms of [`reticent_noise::mechanism`].
///
/// # Errors
/// [`Refusal`] naming the field, for numbers without meaning and where the session refuses the cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Perturb {
    /// The mechanism.
    pub mechanism: AdditiveMechanism,
    /// How far the numbers can be apart between neighbors.
    pub sensitivity: f64,
    /// The privacy budget ε; or `scale`.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The δ, for Gaussian noise.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The scale of the noise (σ for Gaussian noise), in place of ε.
    #[serde(default)]
    pub scale: Option<f64>,
    /// Of Student-t noise.
    #[serde(default = "three")]
    pub degrees_of_freedom: u32,
    /// The confidence of the stated error.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// The neighboring relation that the sensitivity is under.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
}

fn three() -> u32 {
    3
}

/// Numbers with noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbed<T> {
    /// What may be published.
    pub values: Vec<T>,
    /// What an accountant is told.
    pub event: Event,
    /// The claim of the mechanism.
    pub guarantee: Guarantee,
    /// The scale of the noise.
    pub scale: f64,
    /// The error that one number exceeds with probability at most 1 − confidence.
    pub error: f64,
}

impl Perturb {
    /// A mechanism with a sensitivity; the budget is still missing.
    pub fn new(mechanism: AdditiveMechanism, sensitivity: f64) -> Self {
        Self {
            mechanism,
            sensitivity,
            epsilon: None,
            delta: None,
            scale: None,
            degrees_of_freedom: three(),
            confidence: ninety_five(),
            neighboring: add_remove(),
        }
    }

    /// Adds noise to real numbers. One that is not a number counts as 0, and infinite ones as the ends of the grid.
    ///
    /// # Errors
    /// As of [`Perturb`], and for a mechanism of integers.
    pub fn reals(&self, values: &[f64], session: &mut Session) -> Result<Perturbed<f64>, Refusal> {
        let (moved, dimension) = (self.sensitivity()?, values.len());
        match self.mechanism {
            AdditiveMechanism::Laplace => {
                self.pure()?;
                let noise = match self.scale()? {
                    Some(scale) => Laplace::with_scale(moved, scale, dimension)?,
                    None => Laplace::new(moved, self.epsilon()?, dimension)?,
                };
                self.drawn(&noise, values, noise.scale(), session)
            }
            AdditiveMechanism::Gaussian => {
                let noise = GAUSSIAN.with(|last| last.of(self, dimension, || self.gaussian(dimension)))?;
                self.drawn(&noise, values, noise.sigma(), session)
            }
            AdditiveMechanism::StudentT => {
                let noise = STUDENT_T.with(|last| last.of(self, dimension, || self.student_t(dimension)))?;
                self.drawn(&noise, values, noise.scale(), session)
            }
            AdditiveMechanism::DiscreteLaplace | AdditiveMechanism::DiscreteGaussian => {
                Err(Refusal::about(Code::Kind, "mechanism", "discrete noise is for integers: give integers"))
            }
        }
    }

    /// Adds noise to integers. A result beyond 64 bits is the nearest integer that has as many, which is post-processing.
    ///
    /// # Errors
    /// As of [`Perturb`], and for a mechanism of real numbers.
    pub fn integers(&self, values: &[i64], session: &mut Session) -> Result<Perturbed<i64>, Refusal> {
        let values: Vec<i128> = values.iter().map(|value| i128::from(*value)).collect();
        let drawn = match self.mechanism {
            AdditiveMechanism::DiscreteLaplace => {
                self.pure()?;
                let moved = self.whole_sensitivity()?;
                let noise = match self.scale()? {
                    Some(scale) => DiscreteLaplace::with_scale(moved, scale)?,
                    None => DiscreteLaplace::new(moved, self.epsilon()?)?,
                };
                self.drawn(&noise, &values, noise.scale(), session)?
            }
            AdditiveMechanism::DiscreteGaussian => {
                let moved = self.sensitivity()?;
                let noise = match self.scale()? {
                    Some(scale) => DiscreteGaussian::with_sigma(moved, scale, self.delta()?)?,
                    None => DiscreteGaussian::new(moved, self.epsilon()?, self.delta()?)?,
                };
                self.drawn(&noise, &values, noise.sigma(), session)?
            }
            _ => {
                let remedy = "this noise is for real numbers: give those, or use discrete noise";
                return Err(Refusal::about(Code::Kind, "mechanism", remedy));
            }
        };
        let Perturbed { values, event, guarantee, scale, error } = drawn;
        let ends = (i128::from(i64::MIN), i128::from(i64::MAX));
        let values = values.into_iter().map(|value| value.clamp(ends.0, ends.1) as i64).collect();
        Ok(Perturbed { values, event, guarantee, scale, error })
    }

    /// The Gaussian mechanism for so many numbers.
    fn gaussian(&self, dimension: usize) -> Result<Gaussian, Refusal> {
        let moved = self.sensitivity()?;
        Ok(match self.scale()? {
            Some(scale) => Gaussian::with_sigma(moved, scale, self.delta()?, dimension)?,
            None => Gaussian::new(moved, self.epsilon()?, self.delta()?, dimension)?,
        })
    }

    /// The Student-t mechanism for so many numbers.
    fn student_t(&self, dimension: usize) -> Result<StudentT, Refusal> {
        self.pure()?;
        let (moved, degrees) = (self.sensitivity()?, self.degrees_of_freedom);
        Ok(match self.scale()? {
            Some(scale) => StudentT::new(moved, scale, degrees, dimension)?,
            None => StudentT::for_epsilon(moved, self.epsilon()?, degrees, dimension)?,
        })
    }

    fn drawn<M, T>(
        &self,
        noise: &M,
        values: &[T],
        scale: f64,
        session: &mut Session,
    ) -> Result<Perturbed<T>, Refusal>
    where
        M: Mechanism<Input = [T], Output = Vec<T>> + Accuracy,
    {
        let confidence = Confidence::new(self.confidence)?;
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, self.neighboring)?;
        let released = payer.release(noise, values)?;
        let (event, guarantee) = (released.event, released.guarantee);
        Ok(Perturbed { values: released.value, event, guarantee, scale, error: noise.error(confidence) })
    }

    fn sensitivity(&self) -> Result<Sensitivity, Refusal> {
        Ok(Sensitivity::new(self.sensitivity)?)
    }

    fn whole_sensitivity(&self) -> Result<u64, Refusal> {
        match self.sensitivity.fract() == 0.0 && (1.0..=2f64.powi(40)).contains(&self.sensitivity) {
            true => Ok(self.sensitivity as u64),
            false => {
                Err(Refusal::value("sensitivity", self.sensitivity, "give a whole number from 1 to 2^40"))
            }
        }
    }

    fn epsilon(&self) -> Result<Epsilon, Refusal> {
        match self.epsilon {
            Some(epsilon) => Ok(Epsilon::new(epsilon)?),
            None => Err(no_epsilon()),
        }
    }

    fn delta(&self) -> Result<Delta, Refusal> {
        match self.delta {
            Some(delta) => Ok(Delta::new(delta)?),
            None => Err(Refusal::missing(
                "delta",
                "Gaussian noise needs a delta, well below 1 / number of people, such as 1e-6",
            )),
        }
    }

    /// The scale, if it is given in place of an ε.
    fn scale(&self) -> Result<Option<Scale>, Refusal> {
        match (self.scale, self.epsilon) {
            (Some(scale), None) => Ok(Some(Scale::new(scale)?)),
            (Some(scale), Some(_)) => {
                Err(Refusal::conflict("scale", scale, "give either ⟦epsilon⟧ or ⟦scale⟧, not both"))
            }
            (None, _) => Ok(None),
        }
    }

    /// Refuses a δ where the mechanism has none.
    fn pure(&self) -> Result<(), Refusal> {
        match self.delta {
            None => Ok(()),
            Some(delta) => {
                let remedy = "this mechanism has no delta: leave it out, or use Gaussian noise";
                Err(Refusal::conflict("delta", delta, remedy))
            }
        }
    }
}
