//! What the steps of a plan add up to.

use super::{PlanSettings, PrivacyPlan};
use crate::TrainError;
use crate::noise::NoiseLaw;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};
use reticent_core::rounding::{mul_down, mul_up};
use reticent_core::{Certificate, Delta, Epsilon, Event, Fact, Guarantee};
use reticent_noise::bulk::BulkNoise;

/// The shares of δ that are set aside for the noise sampler, from the smallest: the first that is enough is taken.
const SHARES: [f64; 4] = [1e-9, 1e-6, 1e-3, 0.5];

/// So many steps of a run whose stages have these events, by the tight method.
pub(super) fn account_of(
    settings: &PlanSettings,
    events: &[Event],
    steps: u64,
) -> Result<Accountant, AccountingError> {
    let mut account = Accountant::new(settings.neighboring, CompositionMethod::Pld);
    for (event, count) in events.iter().zip(settings.counts(steps)).filter(|(_, count)| *count > 0) {
        account.compose(event, count)?;
    }
    Ok(account)
}

/// What the noise sampler adds to δ over all steps at ε, rounded up; infinite when ε is too large for it.
pub(super) fn sampler_delta_up(noise: &BulkNoise, steps: u64, epsilon: Epsilon) -> f64 {
    noise.delta_up(epsilon).map_or(f64::INFINITY, |delta| mul_up(delta.get(), steps as f64))
}

/// The share of the budget's δ that covers the sampler.
pub(super) fn sampler_share(noise: &BulkNoise, steps: u64, budget: Guarantee) -> Result<f64, TrainError> {
    let needed = sampler_delta_up(noise, steps, budget.epsilon);
    let enough = |share: &f64| needed <= mul_down(budget.delta.get(), *share);
    SHARES.into_iter().find(enough).ok_or_else(|| {
        let remedy =
            format!("give more than {:e}, or a smaller epsilon: the noise sampler needs it", 2.0 * needed);
        TrainError::invalid("delta", budget.delta, remedy)
    })
}

/// ε at the plan's δ: what the events cost at the δ that the sampler leaves.
pub(super) fn epsilon(plan: &PrivacyPlan, steps: u64) -> Result<Epsilon, TrainError> {
    if steps == 0 {
        return Ok(Epsilon::new(0.0)?);
    }
    // With cyclic batches the whole run is one event, and the sampler's share is for all its draws.
    let steps = if plan.settings.cyclic.is_some() { steps.max(plan.settings.steps) } else { steps };
    let account = account_of(&plan.settings, &plan.events, steps)?;
    for share in SHARES {
        let spare = Delta::new(mul_down(plan.delta.get(), 1.0 - share))?;
        let epsilon = Epsilon::new(account.epsilon(spare)?.upper)?;
        if sampler_delta_up(&plan.noise, steps, epsilon) <= mul_down(plan.delta.get(), share) {
            return Ok(epsilon);
        }
    }
    let remedy = "give more noise, fewer steps or a larger delta: the epsilon would be without limit";
    Err(TrainError::invalid("noise_multiplier", plan.noise_multiplier(), remedy))
}

pub(super) fn certificate(plan: &PrivacyPlan, steps: u64) -> Result<Certificate, TrainError> {
    let settings = &plan.settings;
    let delta = if steps == 0 { Delta::ZERO } else { plan.delta };
    let derivation = match (settings.cyclic, plan.law) {
        (Some(_), _) => "tight accounting of all steps as one Gaussian event (BandMF, pld)",
        (None, NoiseLaw::Gaussian) => "tight accounting of Poisson-sampled Gaussian steps (pld)",
        (None, NoiseLaw::StudentT { .. }) => "tight accounting of Poisson-sampled Student-t steps (pld)",
    };
    let mut public = vec![Fact::Units(settings.size), divisor(settings), Fact::Recipe];
    public.extend(settings.clipping.profile().map(|profile| Fact::Other(profile.to_string())));
    public.extend(settings.cyclic.iter().flat_map(|own| own.facts(settings.steps)));
    Ok(Certificate::compose(
        settings.unit.clone(),
        settings.neighboring,
        if steps == 0 { Vec::new() } else { plan.events(steps) },
        Guarantee { epsilon: epsilon(plan, steps)?, delta },
        derivation,
        public,
    ))
}

/// What the sums of the steps are divided by.
fn divisor(settings: &PlanSettings) -> Fact {
    let batch = |step: u64| {
        let batch = settings.expected_batch(step);
        // A product of rate and size that is whole but for its last digit is shown as the whole number.
        if (batch - batch.round()).abs() <= 1e-12 * batch { batch.round() } else { batch }
    };
    if settings.growth.is_none() {
        return Fact::Divisor(batch(0));
    }
    let mut start = 0;
    let stage = |steps: u64| {
        let own = (steps, batch(start));
        start += steps;
        own
    };
    Fact::StagedDivisor(settings.stages().into_iter().map(|own| own.steps).map(stage).collect())
}

pub(super) fn steps_within(plan: &PrivacyPlan, budget: Guarantee) -> Result<u64, TrainError> {
    budget.epsilon.positive()?;
    super::check_delta(budget.delta.get())?;
    if plan.settings.cyclic.is_some() {
        let steps = plan.settings.steps;
        let is_within = plan.at_delta(budget.delta)?.epsilon(steps)? <= budget.epsilon;
        return Ok(if is_within { steps } else { 0 });
    }
    if plan.settings.growth.is_some() {
        // What follows the last stage is nothing that was planned.
        let plan = plan.at_delta(budget.delta)?;
        let (mut within, mut beyond) = (0, plan.settings.steps + 1);
        while beyond - within > 1 {
            let middle = within + (beyond - within) / 2;
            if plan.epsilon(middle)? <= budget.epsilon { within = middle } else { beyond = middle }
        }
        return Ok(within);
    }
    // The sampler's share for ten times the plan's steps, at least a million.
    let most = plan.settings.steps.saturating_mul(10).max(1 << 20);
    let share = sampler_share(&plan.noise, most, budget)?;
    let spare = Guarantee { delta: Delta::new(mul_down(budget.delta.get(), 1.0 - share))?, ..budget };
    let none = Accountant::new(plan.settings.neighboring, CompositionMethod::Pld);
    Ok(none.uses_left(plan.event()?, spare)?.min(most))
}
