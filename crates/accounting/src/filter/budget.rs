//! A ledger with a limit.

use super::cost::Price;
use super::{Filter, FilterRule, Odometer};
use crate::AccountingError;
use reticent_core::{
    Epsilon, Guarantee, InvalidValue, Ledger, LedgerError, Neighboring, Permit, Plan, ShareError,
};

/// A record in memory that refuses what would exceed a limit.
///
/// # Guarantee
/// Everything that is drawn by permits of this ledger is (ε, δ)-private together, for the limit (ε, δ) and under the
/// relation given at the start, also when plans are chosen by earlier answers and when permits are drawn from in turn. That
/// is about the events' ideal laws: each number that is sampled may be 2⁻¹²⁰ from its law in total variation, which adds
/// (1 + e^ε)·2⁻¹²⁰ a number to δ where no share of a mechanism's own δ was set aside for it.
///
/// A second budget for the same data is another limit beside this one, so a budget cannot be copied:
///
/// ```compile_fail,E0599
/// use reticent_accounting::filter::Budget;
/// use reticent_core::{Epsilon, Guarantee, Neighboring};
///
/// let budget = Budget::new(Guarantee::pure(Epsilon::new(1.0)?), Neighboring::AddRemove)?;
/// let second = budget.clone();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// As [`Filter`].
///
/// ```
/// use reticent_accounting::filter::Budget;
/// use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, Plan, charge};
///
/// let limit = Guarantee { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-6)? };
/// let mut budget = Budget::new(limit, Neighboring::AddRemove)?;
/// let count = Plan::new(vec![Event::Pure { epsilon: Epsilon::new(0.75)? }])?;
/// assert!(charge(&mut budget, &count).is_ok());
/// let refused = charge(&mut budget, &count).unwrap_err();
/// assert!(refused.to_string().contains("epsilon = 0.25"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct Budget {
    filter: Filter,
    plans: Vec<Plan>,
}

impl Budget {
    /// An empty record, by the best of the filters.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn new(limit: Guarantee, neighboring: Neighboring) -> Result<Self, InvalidValue> {
        Self::by(limit, neighboring, FilterRule::Best)
    }

    /// An empty record, by a rule.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn by(limit: Guarantee, neighboring: Neighboring, rule: FilterRule) -> Result<Self, InvalidValue> {
        Ok(Self { filter: Filter::new(limit, neighboring, rule)?, plans: Vec::new() })
    }

    /// The limit.
    pub fn limit(&self) -> Guarantee {
        self.filter.total()
    }

    /// The neighbouring relation of the limit and of every plan.
    pub fn neighboring(&self) -> Neighboring {
        self.filter.neighboring()
    }

    /// Every plan that was charged, in sequence.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The largest ε, rounded down, of one more pure event that fits; 0 when none does.
    ///
    /// # Errors
    /// As [`Filter::left`].
    pub fn left(&self) -> Result<Epsilon, AccountingError> {
        self.filter.left()
    }

    /// What has been spent, as an [`Odometer`] up to the limit reads it; none where it reads nothing, and only the limit
    /// itself is known to hold.
    ///
    /// # Guarantee
    /// As [`Odometer`]; where the limit is pure, the sum of what was charged.
    ///
    /// # Reference
    /// As [`Odometer`].
    ///
    /// # Errors
    /// As [`Odometer::record`].
    pub fn spent(&self) -> Result<Option<Guarantee>, AccountingError> {
        // An odometer starts at the first of its levels.
        if self.plans.is_empty() {
            return Ok(Some(Guarantee::pure(Epsilon::new(0.0)?)));
        }
        if self.limit().delta.get() == 0.0 {
            let mut spent = Guarantee::pure(Epsilon::new(0.0)?);
            for plan in &self.plans {
                let Some(own) = Price::new(plan, self.neighboring())?.plain() else { return Ok(None) };
                spent = spent.then(own)?;
            }
            return Ok(Some(spent));
        }
        let mut odometer = Odometer::new(self.limit(), self.neighboring())?;
        self.plans.iter().try_for_each(|plan| odometer.record(plan))?;
        Ok(odometer.spent())
    }
}

impl Ledger for Budget {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        match self.filter.admit(plan) {
            Ok(true) => {
                self.plans.push(plan.clone());
                Ok(())
            }
            Ok(false) => Err(LedgerError::Exceeded { remedy: self.filter.remedy(plan) }),
            Err(error) => Err(LedgerError::Exceeded { remedy: error.to_string() }),
        }
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.filter.neighboring())
    }

    fn limit(&self) -> Option<Guarantee> {
        Some(self.filter.total())
    }
}

/// Charges a plan that is settled only after earlier answers to a share that was charged before them, as one claim.
///
/// The share may be used up by this plan alone, by its tight account.
///
/// # Guarantee
/// Whatever the earlier answers were, what is drawn by the returned permit is (ε, δ)-private for the share (ε, δ), so the
/// claim in the permit's plan holds for every answer, as the proof of a chain needs; up to the samplers' 2⁻¹²⁰ a number, as
/// for [`Budget`].
///
/// # Reference
/// As [`Filter`], its first plan.
///
/// # Errors
/// [`ShareError`] when the permit has no such claim left, or the plan costs more than the share.
///
/// ```
/// use reticent_accounting::filter::{Budget, charge_share};
/// use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, Plan, charge};
///
/// let relation = Neighboring::AddRemove;
/// let guarantee = |epsilon, delta| -> Result<Guarantee, Box<dyn std::error::Error>> {
///     Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
/// };
/// let (count, share) = (guarantee(0.125, 0.0)?, guarantee(0.875, 1e-6)?);
/// let mut budget = Budget::new(guarantee(1.0, 1e-6)?, relation)?;
/// let mut permit = charge(&mut budget, &Plan::new(vec![count.claim(), share.claim()])?)?;
/// // The count is drawn, and decides the noise.
/// let noise_multiplier = NoiseMultiplier::new(6.0)?;
/// let steps = Plan::new(vec![Event::Gaussian { noise_multiplier }])?;
/// let paid = charge_share(&mut permit, share, relation, &steps)?;
/// # let _ = paid;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn charge_share(
    permit: &mut Permit,
    share: Guarantee,
    neighboring: Neighboring,
    plan: &Plan,
) -> Result<Permit, ShareError> {
    let mut within = Budget::by(share, neighboring, FilterRule::Basic)
        .map_err(|invalid| LedgerError::Exceeded { remedy: invalid.to_string() })?;
    permit.charge_within(share, &mut within, plan)
}
