//! Output and objective perturbation as plans: made from public numbers, then run on rows.

use crate::ErmError;
use crate::draw::{Drawn, PerturbationLaw};
use crate::problem::{Extent, Problem, margin_error_up, norm_up};
use crate::settings::Scope;
use crate::solver::minimise;
use reticent_accounting::rdp::largest_loss;
use reticent_core::rounding::{div_up, mul_down, mul_up, sqrt_up, sub_down};
use reticent_core::{Delta, Epsilon, Event, Guarantee, InvalidValue, Sensitivity};
use reticent_noise::mechanism::{Gaussian, Laplace, Mechanism};
use reticent_noise::{NoiseError, Paid, Releaser};
use serde::{Deserialize, Serialize};

/// The share of ε and δ that pays for the distance between the computed and the exact result.
pub const FINISHING_SHARE: f64 = 0.01;

/// Where the noise enters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoisePlacement {
    /// A linear term bᵀw of the objective.
    Objective {
        /// The law of b.
        shape: PerturbationLaw,
        /// Its scale, beside the sum of losses.
        scale: f64,
    },
    /// Added to the minimiser.
    Output {
        /// The law of the noise.
        shape: PerturbationLaw,
        /// Its scale.
        scale: f64,
    },
    /// Only the finishing noise, calibrated to the whole sensitivity.
    Finish,
}

/// A perturbation with every number in it settled.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbationPlan {
    /// λ beside the sum of losses.
    pub lambda: f64,
    /// Where the noise enters, and how much.
    pub place: NoisePlacement,
    /// The certified gradient norm of the sum that the guarantee needs.
    pub tolerance: f64,
    /// What the main noise costs; none when the finishing noise is all.
    pub main: Option<Event>,
    /// The share of the finishing noise.
    pub finish: Guarantee,
    /// Distance between neighbours' exact results that the finishing noise must also cover.
    pub(crate) sensitivity: f64,
    /// The theorem, for the certificate.
    pub theorem: &'static str,
}

/// What a plan gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) weights: Vec<f64>,
    pub(crate) gradient_norm: f64,
    pub(crate) steps: u32,
}

/// A budget in two parts: the main noise and the finishing noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    pub(crate) main: Guarantee,
    pub(crate) finish: Guarantee,
}

impl Split {
    pub(crate) fn of(budget: Guarantee) -> Result<Self, InvalidValue> {
        let epsilon = budget.epsilon.positive()?;
        let finish = (mul_down(FINISHING_SHARE, epsilon), mul_down(FINISHING_SHARE, budget.delta.get()));
        Ok(Self {
            main: Guarantee {
                epsilon: Epsilon::new(sub_down(epsilon, finish.0))?,
                delta: Delta::new(sub_down(budget.delta.get(), finish.1).max(0.0))?,
            },
            finish: Guarantee { epsilon: Epsilon::new(finish.0)?, delta: Delta::new(finish.1)? },
        })
    }
}

/// The share of the sensitivity cL/λ that twice tolerance/λ may be.
const MOST_INEXACT: f64 = 0.01;

/// The gradient norm of the sum that a plan asks of the solver: eight times what rounding can add to a certificate,
/// whatever the rows are, and a little more. So whether it can be certified hangs on no row; `proof.md` has the
/// argument.
///
/// # Errors
/// [`ErmError::Invalid`] when that is not far below the gradient of one record: the finishing noise would be as strong as
/// the main noise.
pub(crate) fn tolerance(scope: &Scope, lambda: f64, place: NoisePlacement) -> Result<f64, ErmError> {
    let (constants, size) = (scope.constants(), scope.size as f64);
    let (linear, added, inexact) = match place {
        NoisePlacement::Objective { shape, scale } => {
            let (norm, error) = shape.extremes(scope.width, scale);
            (norm, 0.0, error)
        }
        NoisePlacement::Output { shape, scale } => {
            let (norm, error) = shape.extremes(scope.width, scale);
            (0.0, norm, lambda * error)
        }
        NoisePlacement::Finish => (0.0, 0.0, 0.0),
    };
    // F at its minimum is at most F(0), which keeps the minimiser in this ball.
    let energy = 2.0 * lambda * size * scope.loss.at_zero();
    let farthest = (linear + libm::sqrt(linear * linear + energy)) / lambda;
    let extent = Extent { loss: scope.loss, rows: size, longest: scope.width };
    let rounding = extent.gradient_error_up(farthest, lambda, size * constants.lipschitz, linear)
        + inexact
        + lambda * f64::EPSILON * (farthest + added);
    let least = constants.lipschitz * ((2f64).powi(-40) * size).max(1e-6);
    let tolerance = least + 8.0 * rounding;
    // The error of a margin must also fade with the distance from the minimum.
    let drift = 8.0 * size * constants.smoothness * margin_error_up(scope.width);
    if 2.0 * tolerance <= MOST_INEXACT * scope.changes() * constants.lipschitz && drift <= lambda {
        return Ok(tolerance);
    }
    Err(ErmError::invalid(
        "regularization",
        lambda / size,
        "give more, or a larger epsilon, fewer features or a smoother loss: double precision cannot certify the \
         minimum for every data set of this size",
    ))
}

impl PerturbationPlan {
    /// A plan with a pure law at `place`, finished with Laplace noise for the solver's distance.
    pub(crate) fn pure(
        scope: &Scope,
        split: Split,
        lambda: f64,
        place: NoisePlacement,
        theorem: &'static str,
    ) -> Result<Self, ErmError> {
        Ok(Self {
            lambda,
            place,
            tolerance: tolerance(scope, lambda, place)?,
            main: Some(Event::Pure { epsilon: split.main.epsilon }),
            finish: split.finish,
            sensitivity: 0.0,
            theorem,
        })
    }

    /// What a run on so many weights costs, in sequence: the main noise, then the finishing noise.
    ///
    /// # Errors
    /// [`ErmError::Noise`] when the finishing noise cannot be calibrated.
    pub fn events(&self, width: usize) -> Result<Vec<Event>, ErmError> {
        let finishing = match self.finishing(width)? {
            Finishing::Laplace(noise) => noise.event(),
            Finishing::Gaussian(noise) => noise.event(),
        };
        Ok(self.main.iter().cloned().chain([finishing]).collect())
    }

    /// The main noise, which its own event pays for.
    fn main_noise(
        &self,
        shape: PerturbationLaw,
        scale: f64,
        width: usize,
        paid: &mut Paid<'_>,
    ) -> Result<Drawn, ErmError> {
        let event = self.main.as_ref().ok_or(NoiseError::Unpaid)?;
        Ok(shape.draw(paid.randomness_for(event)?, width, scale))
    }

    /// Runs the plan. The result is released by a mechanism of `reticent-noise` in every case.
    pub(crate) fn run(&self, problem: &Problem<'_>, paid: &mut Paid<'_>) -> Result<Outcome, ErmError> {
        let width = problem.width();
        let zero = vec![0.0; width];
        let (weights, solution) = match self.place {
            NoisePlacement::Objective { shape, scale } => {
                let b = self.main_noise(shape, scale, width, paid)?;
                let solution = minimise(problem, self.lambda, &b.values, b.error, self.tolerance)?;
                (solution.weights.clone(), solution)
            }
            NoisePlacement::Output { shape, scale } => {
                let noise = self.main_noise(shape, scale, width, paid)?;
                let inexact = self.lambda * noise.error;
                // A quarter is for adding the noise.
                let mut solution = minimise(problem, self.lambda, &zero, inexact, 0.75 * self.tolerance)?;
                let weights: Vec<f64> =
                    solution.weights.iter().zip(&noise.values).map(|(w, b)| w + b).collect();
                // Each sum is rounded once.
                solution.gradient_norm += self.lambda * f64::EPSILON * norm_up(&weights);
                if solution.gradient_norm > self.tolerance {
                    let (reached, needed) = (solution.gradient_norm, self.tolerance);
                    return Err(ErmError::NotConverged { reached, needed });
                }
                (weights, solution)
            }
            NoisePlacement::Finish => {
                let solution = minimise(problem, self.lambda, &zero, 0.0, self.tolerance)?;
                (solution.weights.clone(), solution)
            }
        };
        let weights = self.finish(&weights, paid)?;
        Ok(Outcome { weights, gradient_norm: solution.gradient_norm, steps: solution.steps })
    }

    /// How far neighbours' computed results can be apart, given the same exact result of the main noise:
    /// its own sensitivity and twice tolerance/λ, rounded up. `proof.md` has the argument.
    pub fn finishing_sensitivity_up(&self) -> f64 {
        let inexact = mul_up(2.0 * (1.0 + 1e-9), div_up(self.tolerance, self.lambda));
        reticent_core::rounding::add_up(self.sensitivity, inexact)
    }

    /// What a run guarantees, for a plan that was made for this budget: no δ where all noise is pure.
    pub fn guarantee(&self, budget: Guarantee) -> Guarantee {
        let main_is_pure = self.main.as_ref().is_none_or(|main| largest_loss(main).is_ok_and(f64::is_finite));
        if main_is_pure && self.finish.delta.get() == 0.0 { Guarantee::pure(budget.epsilon) } else { budget }
    }

    /// √E‖ξ‖² of the finishing noise ξ on `width` weights.
    pub(crate) fn finishing_norm(&self, width: usize) -> Result<f64, ErmError> {
        Ok(match self.finishing(width)? {
            Finishing::Laplace(noise) => PerturbationLaw::Laplace.typical_norm(width, noise.scale()),
            Finishing::Gaussian(noise) => PerturbationLaw::Gaussian.typical_norm(width, noise.sigma()),
        })
    }

    fn finishing(&self, width: usize) -> Result<Finishing, ErmError> {
        let sensitivity = self.finishing_sensitivity_up();
        let Guarantee { epsilon, delta } = self.finish;
        Ok(if delta.get() == 0.0 {
            let l1 = Sensitivity::new(mul_up(sqrt_up(width as f64), sensitivity))?;
            Finishing::Laplace(Laplace::new(l1, epsilon, width)?)
        } else {
            Finishing::Gaussian(Gaussian::new(Sensitivity::new(sensitivity)?, epsilon, delta, width)?)
        })
    }

    fn finish(&self, weights: &[f64], paid: &mut Paid<'_>) -> Result<Vec<f64>, ErmError> {
        let released = match self.finishing(weights.len())? {
            Finishing::Laplace(noise) => paid.release(&noise, weights),
            Finishing::Gaussian(noise) => paid.release(&noise, weights),
        };
        Ok(released?.value)
    }
}

/// The mechanism of the last step.
enum Finishing {
    Laplace(Laplace),
    Gaussian(Gaussian),
}
