//! Gradient perturbation: noisy gradient descent, on all rows or on Poisson samples.
//!
//! The gradient of one record is ∂ℓ/∂m·x, of norm at most L for every loss of the crate, so nothing is clipped. The
//! sum over records is taken in integers: neither order nor rounding can add to its sensitivity.

mod course;
mod defaults;
mod softmax;
mod sums;

pub use course::{CourseSigma, course_sigma};
pub use defaults::DescentSchedule;
pub(crate) use defaults::proven;
pub use softmax::SOFTMAX_LIPSCHITZ;

use crate::ErmError;
use crate::multiclass::Classes;
use crate::plan::Outcome;
use crate::problem::{Problem, norm_up};
use crate::settings::Scope;
use reticent_accounting::{Accountant, CompositionMethod, calibrate};
use reticent_core::rounding::{add_up, exp_up, mul_up, sub_down};
use reticent_core::{
    Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate, Scale, Sensitivity,
};
use reticent_noise::mechanism::Gaussian;
use reticent_noise::sampler::NORMAL_DISTANCE_LOG2;
use reticent_noise::{Entropy, Paid};
use softmax::softmax_sum;
use sums::{Sample, gradient_sum, record_norm_up};

/// A descent with every number in it settled.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientPlan {
    /// Steps, learning rate, radius and sampling.
    pub schedule: DescentSchedule,
    /// The noise of one step.
    pub noise: Gaussian,
    /// What one step costs.
    pub event: Event,
    /// λ beside the sum of losses; 0 for none.
    pub lambda: f64,
    /// The public number of rows, by which sums become means.
    pub size: u64,
    /// Number of weights.
    pub width: usize,
    /// The theorem, for the certificate.
    pub theorem: &'static str,
}

/// Noisy descent on this schedule, the noise from the tight accountant. `runs` descents share the budget.
///
/// # Guarantee
/// All `runs` descents together are (ε, δ)-private under the scope's relation, n public under replace-one: each step
/// is Gaussian noise on the sum of the sampled gradients, to which a record adds at most L,
/// enlarged for the rounding to integers; everything else is post-processing.
///
/// # Reference
/// Bassily, Smith, Thakurta, *Private empirical risk minimization* (2014); Abadi et al., *Deep learning with
/// differential privacy* (2016).
///
/// # Errors
/// [`ErmError::Invalid`] for ε = 0, δ = 0 or a schedule without meaning; what the accountant refuses.
pub fn plan(
    scope: &Scope,
    budget: Guarantee,
    schedule: DescentSchedule,
    runs: u64,
) -> Result<GradientPlan, ErmError> {
    plan_with(scope, Reach::of(scope), budget, schedule, runs)
}

/// What one record's gradient can be: its largest norm, and its number of coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reach {
    pub(crate) lipschitz: f64,
    pub(crate) width: usize,
}

impl Reach {
    /// Of the scope's own loss.
    pub(crate) fn of(scope: &Scope) -> Self {
        Self { lipschitz: scope.constants().lipschitz, width: scope.width }
    }
}

/// As [`plan`] for gradients of this reach.
pub(crate) fn plan_with(
    scope: &Scope,
    reach: Reach,
    budget: Guarantee,
    schedule: DescentSchedule,
    runs: u64,
) -> Result<GradientPlan, ErmError> {
    scope.check()?;
    schedule.check()?;
    budget.epsilon.positive()?;
    let width = reach.width;
    let repetitions = u64::from(schedule.steps) * runs;
    let sampler = sampler_delta_up(width, repetitions, budget.epsilon.get());
    let spare = sub_down(budget.delta.get(), sampler);
    if spare <= 0.0 {
        return Err(ErmError::invalid("delta", budget.delta, "give a larger delta: noisy descent needs one"));
    }
    let target = Guarantee { epsilon: budget.epsilon, delta: Delta::new(spare)? };
    let account = |z: f64| {
        let mut account = Accountant::new(scope.neighboring, CompositionMethod::Pld);
        account.compose(&step_event(z, schedule.rate_exact()?, scope.neighboring)?, repetitions)?;
        Ok(account)
    };
    let multiplier = calibrate::noise_multiplier(target, account)?;
    let noise = noise_at_least(multiplier, record_norm_up(reach), budget.delta, width)?;
    let event = step_event(noise.noise_multiplier().get(), schedule.rate_exact()?, scope.neighboring)?;
    let lambda = scope.regularization.map_or(0.0, |regularization| scope.lambda(regularization));
    let theorem = "noisy gradient descent, tight accounting of the steps";
    Ok(GradientPlan { schedule, noise, event, lambda, size: scope.size, width, theorem })
}

/// T·d·2⁻¹²⁰(1 + e^ε): what the normal sampler adds to δ over all steps.
fn sampler_delta_up(width: usize, steps: u64, epsilon: f64) -> f64 {
    let distance = mul_up(mul_up(width as f64, steps as f64), (2f64).powi(NORMAL_DISTANCE_LOG2));
    mul_up(distance, add_up(1.0, exp_up(epsilon)))
}

/// What a step costs whose noise is so many times what one record can add to the sum.
fn step_event(
    multiplier: f64,
    rate: Option<f64>,
    neighboring: Neighboring,
) -> Result<Event, reticent_core::InvalidValue> {
    let noise_multiplier = NoiseMultiplier::new(multiplier)?;
    let event = match neighboring {
        Neighboring::AddRemove => Event::Gaussian { noise_multiplier },
        Neighboring::ReplaceOne => Event::ClippedSum { noise_multiplier },
    };
    Ok(match rate {
        None => event,
        Some(rate) => Event::PoissonSampled { rate: SamplingRate::new(rate)?, event: Box::new(event) },
    })
}

/// Noise whose event, rounding paid, has at least this multiplier.
fn noise_at_least(
    multiplier: f64,
    sensitivity: f64,
    delta: Delta,
    width: usize,
) -> Result<Gaussian, ErmError> {
    let mut more = 1e-9;
    loop {
        let sigma = Scale::new(multiplier * sensitivity * (1.0 + more))?;
        let noise = Gaussian::with_sigma(Sensitivity::new(sensitivity)?, sigma, delta, width)?;
        if noise.noise_multiplier().get() >= multiplier {
            return Ok(noise);
        }
        more *= 4.0;
        if more > 1.0 {
            return Err(ErmError::invalid(
                "dimension",
                width,
                "give fewer features: the noise grid is too coarse",
            ));
        }
    }
}

impl GradientPlan {
    /// What one descent costs: all its steps.
    pub fn events(&self) -> Vec<Event> {
        vec![self.steps()]
    }

    fn steps(&self) -> Event {
        Event::Repeated { count: u64::from(self.schedule.steps), event: Box::new(self.event.clone()) }
    }

    /// Runs the descent of a binary problem from 0.
    pub(crate) fn run(&self, problem: &Problem<'_>, paid: &mut Paid<'_>) -> Result<Outcome, ErmError> {
        let sample = Sample::new(&self.schedule)?;
        self.descend(paid, |weights, bits| gradient_sum(problem, weights, &sample, bits))
    }

    /// Runs the descent of a softmax problem from 0; the weights of the classes come one class after the other.
    pub(crate) fn run_softmax(
        &self,
        problem: &Problem<'_>,
        classes: Classes<'_>,
        paid: &mut Paid<'_>,
    ) -> Result<Outcome, ErmError> {
        let sample = Sample::new(&self.schedule)?;
        self.descend(paid, |weights, bits| softmax_sum(problem, classes, weights, &sample, bits))
    }

    /// The descent on sums of gradients that [`Reach`] bounds. All steps are paid for before the first sum is taken.
    fn descend(
        &self,
        paid: &mut Paid<'_>,
        mut sum_at: impl FnMut(&[f64], &mut Entropy) -> Vec<f64>,
    ) -> Result<Outcome, ErmError> {
        let mut draws = paid.draws(&self.steps())?;
        let width = self.width;
        let schedule = &self.schedule;
        let per_record = 1.0 / (self.size as f64 * schedule.rate_exact()?.unwrap_or(1.0));
        let (mut weights, mut velocity, mut mean) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        let averaged_from = schedule.steps - schedule.steps.div_ceil(2);
        let mut last = 0.0;
        for step in 0..schedule.steps {
            let sum = sum_at(&weights, draws.entropy());
            let noisy = draws.draw(&self.noise, &sum)?;
            let gradient: Vec<f64> = noisy
                .iter()
                .zip(&weights)
                .map(|(g, w)| g * per_record + self.lambda / self.size as f64 * w)
                .collect();
            last = norm_up(&gradient);
            for index in 0..width {
                velocity[index] =
                    schedule.momentum * velocity[index] - schedule.learning_rate * gradient[index];
                weights[index] += velocity[index];
            }
            project(&mut weights, schedule.radius);
            if step >= averaged_from {
                mean.iter_mut().zip(&weights).for_each(|(m, w)| *m += w);
            }
        }
        let count = f64::from(schedule.steps - averaged_from);
        mean.iter_mut().for_each(|m| *m /= count);
        Ok(Outcome { weights: mean, gradient_norm: last, steps: schedule.steps })
    }

    /// The (ε, δ) of `runs` descents, from the events themselves, at most the budget.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn guarantee(&self, scope: &Scope, budget: Guarantee, runs: u64) -> Result<Guarantee, ErmError> {
        let repetitions = u64::from(self.schedule.steps) * runs;
        let mut account = Accountant::new(scope.neighboring, CompositionMethod::Pld);
        account.compose(&self.event, repetitions)?;
        // The sampler's share grows with ε: at the budget's it is large enough for the smaller one that is found.
        let reserve = sampler_delta_up(self.width, repetitions, budget.epsilon.get());
        let spare = Delta::new(sub_down(budget.delta.get(), reserve).max(0.0))?;
        let epsilon = Epsilon::new(account.epsilon(spare)?.upper.min(budget.epsilon.get()))?;
        if !account.meets(Guarantee { epsilon: budget.epsilon, delta: spare })? {
            return Err(ErmError::invalid("epsilon", budget.epsilon, "the steps cost more than this"));
        }
        Ok(Guarantee { epsilon, delta: budget.delta })
    }
}

/// Brings weights back to the ball; those that are not finite to 0.
fn project(weights: &mut [f64], radius: f64) {
    weights.iter_mut().filter(|w| !w.is_finite()).for_each(|w| *w = 0.0);
    let norm = norm_up(weights);
    if norm > radius {
        weights.iter_mut().for_each(|w| *w *= radius / norm);
    }
}
