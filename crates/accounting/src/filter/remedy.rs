//! What could be asked instead of a plan that does not fit.

use super::Filter;
use super::cost::Price;
use crate::AccountingError;
use reticent_core::{Delta, Epsilon, Event, Mu, NoiseMultiplier, Plan, Rho};

/// Less than this part of the limit's ε is called nothing in a message: a δ that is left still covers tiny ones.
const NOTHING: f64 = 1e-4;

/// Halvings of the part of a plan that fits.
const HALVINGS: u32 = 14;

/// The same plan at a part of its cost: ε and μ are multiplied by `part`, noise is divided by it. None where an event has no
/// such form, or `part` is not between 0 and 1.
///
/// # Guarantee
/// None: the events of the result are accounted for like any others.
///
/// # Reference
/// None.
pub fn scaled(plan: &Plan, part: f64) -> Option<Plan> {
    if !(part > 0.0 && part <= 1.0) {
        return None;
    }
    let events = plan.events().iter().map(|event| smaller(event, part)).collect::<Option<Vec<_>>>()?;
    Plan::new(events).ok()
}

fn smaller(event: &Event, part: f64) -> Option<Event> {
    let less = |epsilon: Epsilon| Epsilon::new(epsilon.get() * part).ok();
    let more = |noise: NoiseMultiplier| NoiseMultiplier::new(noise.get() / part).ok();
    Some(match event {
        Event::Pure { epsilon } => Event::Pure { epsilon: less(*epsilon)? },
        Event::Exponential { epsilon } => Event::Exponential { epsilon: less(*epsilon)? },
        Event::Approximate { epsilon, delta } => {
            Event::Approximate { epsilon: less(*epsilon)?, delta: *delta }
        }
        Event::Zcdp { rho } => Event::Zcdp { rho: Rho::new(rho.get() * part * part).ok()? },
        Event::Gdp { mu } => Event::Gdp { mu: Mu::new(mu.get() * part).ok()? },
        Event::Gaussian { noise_multiplier } => {
            Event::Gaussian { noise_multiplier: more(*noise_multiplier)? }
        }
        Event::ClippedSum { noise_multiplier } => {
            Event::ClippedSum { noise_multiplier: more(*noise_multiplier)? }
        }
        Event::Laplace { noise_multiplier } => Event::Laplace { noise_multiplier: more(*noise_multiplier)? },
        Event::DiscreteGaussian { noise_multiplier, sensitivity } => {
            let noise_multiplier = more(*noise_multiplier)?;
            Event::DiscreteGaussian { noise_multiplier, sensitivity: *sensitivity }
        }
        Event::DiscreteLaplace { noise_multiplier, sensitivity } => {
            let noise_multiplier = more(*noise_multiplier)?;
            Event::DiscreteLaplace { noise_multiplier, sensitivity: *sensitivity }
        }
        Event::TreeAggregation { noise_multiplier, steps } => {
            Event::TreeAggregation { noise_multiplier: more(*noise_multiplier)?, steps: *steps }
        }
        Event::Repeated { .. }
        | Event::Composed { .. }
        | Event::Parallel { .. }
        | Event::PoissonSampled { .. }
        | Event::SampledWithoutReplacement { .. }
        | Event::TruncatedPoisson { .. }
        | Event::Shuffled { .. }
        | Event::BallsInBins { .. } => event.try_map(&mut |inner| smaller(inner, part).ok_or(())).ok()?,
        _ => return None,
    })
}

impl Filter {
    /// The largest number up to 1, to about three digits and rounded down, for which the plan that `plan_at` gives fits all of
    /// these filters; none when none does. `plan_at` gives a plan for every part of what was asked, and smaller parts cost less.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn largest_part(
        filters: &[Self],
        plan_at: &dyn Fn(f64) -> Option<Plan>,
    ) -> Result<Option<f64>, AccountingError> {
        let fits = |part: f64| -> Result<bool, AccountingError> {
            let Some(plan) = plan_at(part) else { return Ok(false) };
            Ok(Self::admit_together(&mut filters.to_vec(), &plan)?.is_none())
        };
        if fits(1.0)? {
            return Ok(Some(1.0));
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if fits(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok((low > 0.0).then_some(low))
    }

    /// What could be asked instead of a plan that does not fit, in words.
    pub fn remedy(&self, plan: &Plan) -> String {
        let limit = self.total();
        let own = Price::new(plan, self.neighboring()).ok().and_then(|price| price.plain());
        if limit.delta.get() == 0.0 && own.is_none_or(|own| own.delta.get() > 0.0) {
            return format!("the limit ({limit}) has no delta, and this needs one: ask without a delta");
        }
        match self.left().map(|left| four_digits_down(left.get())) {
            Ok(left) if left > NOTHING * limit.epsilon.get() => {
                let noise = match own.is_some_and(|own| own.delta == Delta::ZERO) {
                    true => None,
                    false => self.noise_that_fits(plan),
                };
                let noise =
                    noise.map_or(String::new(), |times| format!("this fits with {times} times the noise; "));
                format!("{noise}one more question of up to epsilon = {left} fits the limit ({limit})")
            }
            _ => format!("nothing is left of the limit ({limit})"),
        }
    }

    /// How many times its noise a plan needs to fit, rounded up to a tenth.
    fn noise_that_fits(&self, plan: &Plan) -> Option<f64> {
        let part = Self::largest_part(std::slice::from_ref(self), &|part| scaled(plan, part)).ok()??;
        Some(libm::ceil(10.0 / part) / 10.0)
    }
}

/// The nearest number of at most four digits.
pub(super) fn four_digits_near(value: f64) -> f64 {
    let unit = unit(value);
    libm::round(value * unit) / unit
}

/// A number of at most four digits that is not above the given one.
pub fn four_digits_down(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let near = four_digits_near(value);
    if near <= value { near } else { libm::floor(value * unit(value)) / unit(value) }
}

/// What makes an integer of four digits of it.
fn unit(value: f64) -> f64 {
    let digits = (3.0 - libm::floor(libm::log10(value.max(f64::MIN_POSITIVE)))).clamp(-300.0, 300.0);
    libm::pow(10.0, digits)
}
