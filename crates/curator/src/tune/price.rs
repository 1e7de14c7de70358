//! What a search costs, and the noise of a trial that keeps it within a budget.
//!
//! The theorem bounds the Rényi divergences of the best of K runs of one algorithm Q by those of Q. Here Q draws settings c from a public
//! law, trains with them, tests, and gives out (c, weights, score). The law of c is the same on neighbours and c is given out, so
//! exp((α − 1)·D_α(Q ‖ Q′)) is the mean over c of exp((α − 1)·D_α(Q_c ‖ Q′_c)): D_α is at most the largest of the settings'. Trials with
//! equal scores are ordered by when they were made, which has the law of an order by independent uniform numbers that are added to the
//! outputs.
//!
//! What D_α(Q_c ‖ Q′_c) depends on is the sampling rate, the number of steps and the noise multiplier of c, and the test, which is the
//! same for all. Settings that agree in these are one [`Candidate`]. Each candidate has a curve ε_c(α), and for every order by itself
//! D_α(Q ‖ Q′) ≤ max over c of ε_c(α). The theorem is used with this maximum as the curve of Q. It takes the curve at two orders, and these
//! may be the largest for two different candidates: the largest of the candidates' own prices would be too little.
//!
//! The event of a trial lists the candidates, and the test, as parts of `parallel`. A trial with c is such a composition: the units that
//! it trains on are in the part of c, those that are held out are in the part of the test, and all other parts have no units and give
//! nothing out. Under add-remove the curve of `parallel` is the largest of its parts' at every order. Under replace-one it is the sum of
//! the two largest, which would be paid for nothing: there a search has one candidate.
//!
//! Any multipliers would do. Each candidate gets the one with which a search with it alone costs the budget, times a factor that all have
//! in common, so no candidate has much more noise than it needs.
//!
//! The samplers of bulk noise are 2⁻¹²⁰ a number from their law. In one trial that is d·steps numbers, and K trials have at most E(K)
//! times as much in expectation: `mean` times what one trial of the longest candidate adds to δ.

use crate::refusal::Refusal;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod, calibrate};
use reticent_core::rounding::{mul_down, mul_up};
use reticent_core::{
    Code, Delta, Epsilon, Event, Fact, Guarantee, InvalidValue, Neighboring, NoiseMultiplier,
};
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

    /// The event of the whole search, each of whose trials takes the steps of one candidate and beside them this test.
    pub(crate) fn event(
        &self,
        candidates: &[Candidate],
        test: Option<&Event>,
    ) -> Result<Event, InvalidValue> {
        let steps = candidates.iter().map(Candidate::event).collect::<Result<Vec<_>, _>>()?;
        let trial = match (<[Event; 1]>::try_from(steps), test) {
            (Ok([only]), None) => only,
            (steps, test) => {
                let steps = steps.map_or_else(|several| several, |one| one.to_vec());
                let parts = steps.into_iter().map(|steps| Event::Composed { events: vec![steps] });
                Event::Parallel { events: parts.chain(test.cloned()).collect() }
            }
        };
        Ok(Event::RepeatAndSelect { mean: self.mean, shape: self.law.shape(), event: Box::new(trial) })
    }
}

/// What the cost of a trial depends on, but for the test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    settings: PlanSettings,
    /// The noise multiplier that a trial has at least.
    pub(crate) multiplier: f64,
}

impl Candidate {
    /// Whether trials with these settings are of this kind.
    fn is_of(&self, settings: &PlanSettings) -> bool {
        self.settings.sampling_rate == settings.sampling_rate && self.settings.steps == settings.steps
    }

    /// All steps.
    pub(crate) fn event(&self) -> Result<Event, InvalidValue> {
        let step = self.settings.event(NoiseMultiplier::new(self.multiplier)?)?;
        Ok(Event::Repeated { count: self.settings.steps, event: Box::new(step) })
    }
}

/// A search that is within its budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Price {
    /// What trials may be like.
    candidates: Vec<Candidate>,
    /// The whole search.
    pub(crate) event: Event,
    /// What it costs.
    pub(crate) guarantee: Guarantee,
}

impl Price {
    /// The noise of every candidate with which the whole search stays within the budget. The settings have the most weights that a trial
    /// can have.
    ///
    /// # Guarantee
    /// The event costs at most the budget, with what the samplers of all trials add to δ, whichever of the candidates each trial is.
    ///
    /// # Reference
    /// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022), theorem 2.
    ///
    /// # Errors
    /// [`Refusal`] when δ is too small for the samplers, no noise is enough, or there are several candidates under replace-one.
    pub(crate) fn of(
        candidates: &[PlanSettings],
        trials: TrialTerms,
        test: Option<&Event>,
        budget: Guarantee,
    ) -> Result<Self, Refusal> {
        let mut own: Vec<Candidate> = Vec::new();
        for settings in candidates {
            if !own.iter().any(|known| known.is_of(settings)) {
                own.push(Candidate { settings: settings.clone(), multiplier: 1.0 });
            }
        }
        let Some(neighboring) = own.first().map(|one| one.settings.neighboring) else {
            return Err(Refusal::internal("a search without a candidate"));
        };
        if own.len() > 1 && neighboring == Neighboring::ReplaceOne {
            let remedy = "epochs, steps and batch size are searched under add-remove alone: give ⟦neighboring⟧ add-remove, or one value of \
                          each";
            return Err(Refusal::about(Code::Relation, "search", remedy));
        }
        let mut needed: f64 = 0.0;
        for one in &own {
            needed = needed.max(mul_up(one.settings.sampler_delta_up(budget.epsilon)?, trials.mean));
        }
        let is_enough = |share: &f64| needed <= mul_down(budget.delta.get(), *share);
        let Some(share) = SHARES.into_iter().find(is_enough) else {
            let remedy = format!(
                "give more than {:e}, or a smaller epsilon: the noise sampler needs it",
                2.0 * needed
            );
            return Err(Refusal::value("delta", budget.delta, remedy));
        };
        let spare = Guarantee { delta: Delta::new(mul_down(budget.delta.get(), 1.0 - share))?, ..budget };
        let cost = |own: &[Candidate]| account(&trials.event(own, test)?, neighboring);
        for one in &mut own {
            let alone = |multiplier: f64| cost(&[Candidate { multiplier, ..one.clone() }]);
            one.multiplier = calibrate::noise_multiplier(spare, alone)?;
        }
        if own.len() > 1 {
            let times = |factor: f64| -> Vec<Candidate> {
                let more = |one: &Candidate| Candidate { multiplier: one.multiplier * factor, ..one.clone() };
                own.iter().map(more).collect()
            };
            own = times(calibrate::noise_multiplier(spare, |factor| cost(&times(factor)))?);
        }
        let epsilon = Epsilon::new(cost(&own)?.epsilon(spare.delta)?.upper)?;
        let guarantee = Guarantee { epsilon, delta: budget.delta };
        Ok(Self { event: trials.event(&own, test)?, candidates: own, guarantee })
    }

    /// What a reader of the event has to know; none with one candidate.
    pub(crate) fn fact(&self) -> Option<Fact> {
        let count = self.candidates.len();
        let text = format!(
            "a trial is one of {count} candidates, drawn without the data: its training units are in that part of `parallel`, and the parts of \
             the other candidates are empty"
        );
        (count > 1).then_some(Fact::Other(text))
    }

    /// The candidate that a trial with these settings is; none where the search was not priced for them.
    pub(crate) fn candidate(&self, settings: &PlanSettings) -> Option<&Candidate> {
        self.candidates.iter().find(|one| one.is_of(settings))
    }
}

/// One event by its Rényi divergences.
fn account(event: &Event, neighboring: Neighboring) -> Result<Accountant, AccountingError> {
    let mut account = Accountant::new(neighboring, CompositionMethod::Rdp);
    account.compose(event, 1)?;
    Ok(account)
}
