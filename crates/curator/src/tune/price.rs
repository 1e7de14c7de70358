//! What a search costs, and the noise of a trial that keeps it within a budget.
//!
//! The theorem bounds the Rényi divergences of the best of K runs of one algorithm Q by those of Q. Here Q draws settings c from a public
//! law, trains with them, tests, and gives out (c, weights, score). The law of c is the same on neighbours and c is given out, so
//! exp((α − 1)·D_α(Q ‖ Q′)) is the mean over c of exp((α − 1)·D_α(Q_c ‖ Q′_c)): D_α is at most the largest of the settings'. All settings have one event: sampling
//! rate, number of steps and test are the same, and each has noise of at least the event's multiplier. Trials with equal scores are
//! ordered by when they were made, which has the law of an order by independent uniform numbers that are added to the outputs.
//!
//! The samplers of bulk noise are 2⁻¹²⁰ a number from their law. In one trial that is d·steps numbers, and K trials have at most E(K)
//! times as much in expectation: `mean` times what one trial adds to δ.

use crate::refusal::Refusal;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod, calibrate};
use reticent_core::rounding::{mul_down, mul_up};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier};
use reticent_noise::sampler::TrialLaw;
use reticent_train::PlanSettings;

/// The shares of δ that are set aside for the samplers, from the smallest: the first that is enough is taken.
const SHARES: [f64; 4] = [1e-9, 1e-6, 1e-3, 0.5];

/// The law of the number of trials, and its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialTerms {
    pub(crate) law: TrialLaw,
    pub(crate) mean: f64,
}

impl TrialTerms {
    /// The ε of the noisy score of a trial: a search that did nothing else would cost half of the budget. Its noise is small beside that
    /// of sampling, and steps are left nearly all.
    pub(crate) fn test_epsilon(&self, budget: Epsilon) -> Result<Epsilon, Refusal> {
        let shape = self.law.shape();
        Ok(Epsilon::new(mul_down(budget.get(), 0.5 / (2.0 + shape)))?)
    }

    /// The event of the whole search, whose trials take these steps and beside them this test.
    pub(crate) fn event(&self, steps: Event, test: Option<&Event>) -> Event {
        let trial = match test {
            Some(test) => {
                let steps = Event::Composed { events: vec![steps] };
                Event::Parallel { events: vec![steps, test.clone()] }
            }
            None => steps,
        };
        Event::RepeatAndSelect { mean: self.mean, shape: self.law.shape(), event: Box::new(trial) }
    }
}

/// A search that is within its budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Price {
    /// The noise multiplier that every trial has at least.
    pub(crate) multiplier: f64,
    /// The whole search.
    pub(crate) event: Event,
    /// What it costs.
    pub(crate) guarantee: Guarantee,
}

impl Price {
    /// The least noise with which the whole search stays within the budget. The settings have the most weights that a trial can have.
    ///
    /// # Guarantee
    /// The event costs at most the budget, with what the samplers of all trials add to δ.
    ///
    /// # Reference
    /// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022), theorem 2.
    ///
    /// # Errors
    /// [`Refusal`] when δ is too small for the samplers, or no noise is enough.
    pub(crate) fn of(
        settings: &PlanSettings,
        trials: TrialTerms,
        test: Option<&Event>,
        budget: Guarantee,
    ) -> Result<Self, Refusal> {
        let needed = mul_up(settings.sampler_delta_up(budget.epsilon)?, trials.mean);
        let is_enough = |share: &f64| needed <= mul_down(budget.delta.get(), *share);
        let Some(share) = SHARES.into_iter().find(is_enough) else {
            let remedy = format!(
                "give more than {:e}, or a smaller epsilon: the noise sampler needs it",
                2.0 * needed
            );
            return Err(Refusal::value("delta", budget.delta, remedy));
        };
        let spare = Guarantee { delta: Delta::new(mul_down(budget.delta.get(), 1.0 - share))?, ..budget };
        let event = |multiplier: f64| -> Result<Event, AccountingError> {
            let step = settings.event(NoiseMultiplier::new(multiplier)?)?;
            Ok(trials.event(Event::Repeated { count: settings.steps, event: Box::new(step) }, test))
        };
        let account = |multiplier: f64| account(&event(multiplier)?, settings.neighboring);
        let multiplier = calibrate::noise_multiplier(spare, account)?;
        let epsilon = Epsilon::new(account(multiplier)?.epsilon(spare.delta)?.upper)?;
        let guarantee = Guarantee { epsilon, delta: budget.delta };
        Ok(Self { multiplier, event: event(multiplier)?, guarantee })
    }
}

/// One event by its Rényi divergences.
fn account(event: &Event, neighboring: Neighboring) -> Result<Accountant, AccountingError> {
    let mut account = Accountant::new(neighboring, CompositionMethod::Rdp);
    account.compose(event, 1)?;
    Ok(account)
}
