//! What is spent so far, when nobody knows beforehand where the interaction will end.

use super::cost::Price;
use super::{Filter, FilterRule};
use crate::AccountingError;
use reticent_core::rounding::{mul_down, mul_up};
use reticent_core::{Delta, Epsilon, Guarantee, InvalidValue, Neighboring, Plan};

/// Levels into which the largest ε is divided.
const LEVELS: u32 = 16;

/// A running bound on the ε of an interaction, in sixteenths of a largest one.
///
/// # Guarantee
/// Let E be any set of transcripts and Eₖ those of them after which the odometer reads εₖ. Then
/// P(E) ≤ Σₖ e^{εₖ}·Q(Eₖ) + δ if E has no transcript after which it reads nothing. So the reading may be used as if it
/// had been the total from the start, whichever way the plans and the end are chosen from earlier answers.
///
/// # Reference
/// Rogers, Roth, Ullman, Vadhan (2016), definition 3.3; Feldman, Zrnic (2021), section 4.2, for levels that are filters.
#[derive(Debug, Clone, PartialEq)]
pub struct Odometer {
    delta: Delta,
    neighboring: Neighboring,
    /// From the smallest ε; none where more than that has been drawn.
    levels: Vec<Option<Filter>>,
}

impl Odometer {
    /// An odometer that reads up to `most`, at its δ.
    ///
    /// # Errors
    /// [`InvalidValue`] when δ = 0.
    pub fn new(most: Guarantee, neighboring: Neighboring) -> Result<Self, InvalidValue> {
        if most.delta.get() == 0.0 {
            return Err(InvalidValue::new("delta", 0, "give a delta above 0: the levels share it"));
        }
        let delta = Delta::new(mul_down(most.delta.get(), 1.0 / f64::from(LEVELS)))?;
        let level = |k: u32| {
            let epsilon = mul_up(most.epsilon.get(), f64::from(k) / f64::from(LEVELS));
            let total = Guarantee { epsilon: Epsilon::new(epsilon)?, delta };
            Ok(Some(Filter::new(total, neighboring, FilterRule::Best)?))
        };
        let levels = (1..=LEVELS).map(level).collect::<Result<_, InvalidValue>>()?;
        Ok(Self { delta: most.delta, neighboring, levels })
    }

    /// Counts a plan as drawn.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when the events cannot be counted; the plan then counts as more than any level.
    pub fn record(&mut self, plan: &Plan) -> Result<(), AccountingError> {
        let levels = std::mem::take(&mut self.levels);
        let price = Price::new(plan, self.neighboring)?;
        let admitted = |level: Option<Filter>| -> Result<Option<Filter>, AccountingError> {
            let Some(mut filter) = level else { return Ok(None) };
            Ok(filter.admit_priced(&price)?.then_some(filter))
        };
        self.levels = levels.into_iter().map(admitted).collect::<Result<_, AccountingError>>()?;
        Ok(())
    }

    /// What has been spent; none when it is more than the odometer reads.
    pub fn spent(&self) -> Option<Guarantee> {
        let level = self.levels.iter().flatten().next()?;
        Some(Guarantee { epsilon: level.total().epsilon, delta: self.delta })
    }
}
