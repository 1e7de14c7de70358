//! Plans that are chosen after seeing earlier answers: privacy filters and an odometer.
//!
//! The events of one [`Plan`] are fixed before its first draw, and the tight accountant may add them up. The next plan may
//! depend on the answers of the earlier ones. Adding up the events that happened to be chosen proves nothing then; a
//! filter does, because it bounds every path that the interaction could have taken.
//!
//! ```
//! use reticent_accounting::filter::{Filter, FilterRule};
//! use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, Plan};
//!
//! let total = Guarantee { epsilon: Epsilon::new(2.0)?, delta: Delta::new(1e-6)? };
//! let mut filter = Filter::new(total, Neighboring::AddRemove, FilterRule::Best)?;
//! let question = Plan::new(vec![Event::Pure { epsilon: Epsilon::new(0.01)? }])?;
//! let mut asked = 0;
//! while filter.admit(&question)? {
//!     asked += 1;
//! }
//! // The sum of their ε would have allowed 200.
//! assert!(asked > 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("proof.md")]

mod approximate;
mod basic;
mod budget;
mod cost;
mod gaussian;
mod odometer;
mod remedy;
mod renyi;
mod state;

pub use budget::{Budget, charge_share};
pub use odometer::Odometer;
pub use remedy::{four_digits_down, scaled};
pub use state::FilterState;

use crate::AccountingError;
use basic::Basic;
pub(crate) use cost::Cost;
use cost::Price;
use reticent_core::rounding::{add_up, mul_down};
use reticent_core::{Delta, Epsilon, Event, EventLog, Guarantee, InvalidValue, Neighboring, Order, Plan};

/// Which filter decides. It is chosen before the first answer, from public numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum FilterRule {
    /// Whichever of the others allows a plan, each with its own share of δ. If the first plan needs more of δ than a share,
    /// the whole δ goes to [`FilterRule::Basic`].
    Best,
    /// Every plan by its own (ε, δ); these add up.
    Basic,
    /// Plans of Gaussian noise and pure events: Σμ². Nothing else fits.
    Gaussian,
    /// Plans with a Rényi curve, at this order.
    Renyi(Order),
    /// Pure, (ε, δ) and zCDP events by advanced composition. Half of δ is for the events' own.
    Approximate,
}

/// The shares of δ under [`FilterRule::Best`]; they add up to 1.
mod share {
    pub(super) const BASIC: f64 = 0.25;
    pub(super) const LEAKS: f64 = 0.125;
    pub(super) const GAUSSIAN: f64 = 0.25;
    pub(super) const APPROXIMATE: f64 = 0.125;
    pub(super) const RENYI: f64 = 0.25;
}

/// Something that adds up within a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sum {
    limit: f64,
    spent: f64,
}

impl Sum {
    fn up_to(limit: f64) -> Self {
        Self { limit, spent: 0.0 }
    }

    fn then(self, cost: f64) -> Option<Self> {
        let spent = add_up(self.spent, cost);
        (spent <= self.limit).then_some(Self { spent, ..self })
    }
}

/// The filters that still allow everything so far. One that has refused a plan which was drawn never allows another.
#[derive(Debug, Clone, PartialEq)]
struct Open {
    basic: Option<Basic>,
    leaks: Sum,
    gaussian: Option<Sum>,
    approximate: Option<Sum>,
    renyi: Vec<(f64, Sum)>,
}

impl Open {
    fn new(total: Guarantee, rule: FilterRule) -> Result<Self, InvalidValue> {
        let Guarantee { epsilon, delta } = total;
        let part = |share: f64| Delta::new(mul_down(delta.get(), share).max(0.0));
        let none = Self {
            basic: None,
            leaks: Sum::up_to(0.0),
            gaussian: None,
            approximate: None,
            renyi: Vec::new(),
        };
        Ok(match rule {
            FilterRule::Basic => Self { basic: Some(Basic::new(total)), ..none },
            FilterRule::Gaussian => {
                Self { gaussian: Some(Sum::up_to(gaussian::limit(epsilon, delta))), ..none }
            }
            FilterRule::Renyi(order) => {
                let limit = Sum::up_to(renyi::limit(order.get(), epsilon, delta));
                Self { renyi: vec![(order.get(), limit)], ..none }
            }
            FilterRule::Approximate => {
                let half = part(0.5)?;
                let limit = Sum::up_to(approximate::limit(epsilon, half));
                Self { leaks: Sum::up_to(half.get()), approximate: Some(limit), ..none }
            }
            FilterRule::Best if delta.get() == 0.0 => Self { basic: Some(Basic::new(total)), ..none },
            FilterRule::Best => {
                let each = part(share::RENYI / f64::from(renyi::ORDERS))?;
                let orders = renyi::orders(epsilon, each);
                Self {
                    basic: Some(Basic::new(Guarantee { epsilon, delta: part(share::BASIC)? })),
                    leaks: Sum::up_to(part(share::LEAKS)?.get()),
                    gaussian: Some(Sum::up_to(gaussian::limit(epsilon, part(share::GAUSSIAN)?))),
                    approximate: Some(Sum::up_to(approximate::limit(epsilon, part(share::APPROXIMATE)?))),
                    renyi: orders
                        .map(|order| (order, Sum::up_to(renyi::limit(order, epsilon, each))))
                        .collect(),
                }
            }
        })
    }

    /// The filters that allow the plan after everything so far; none when no filter does.
    fn then(&self, price: &Price) -> Result<Option<Self>, AccountingError> {
        let basic = self.basic.as_ref().map(|basic| basic.then(price)).transpose()?.flatten();
        let leaks = self.leaks.then(price.cost.leak);
        let open = |sum: Option<Sum>, cost: f64| leaks.and(sum).and_then(|sum| sum.then(cost));
        let next = Self {
            basic,
            gaussian: open(self.gaussian, price.cost.gaussian),
            approximate: open(self.approximate, price.cost.concentrated),
            renyi: self
                .renyi
                .iter()
                .filter_map(|(order, sum)| Some((*order, open(Some(*sum), price.divergence(*order))?)))
                .collect(),
            leaks: leaks.unwrap_or(self.leaks),
        };
        let is_open = next.basic.is_some()
            || next.gaussian.is_some()
            || next.approximate.is_some()
            || !next.renyi.is_empty();
        Ok(is_open.then_some(next))
    }
}

/// Decides, plan by plan, what still fits a total (ε, δ).
///
/// # Guarantee
/// An interaction in which every plan was admitted before its first draw is (ε, δ)-private as a whole, under the relation
/// given at the start, whichever way the plans are chosen from earlier answers. All sums are rounded up and
/// all limits down.
///
/// # Reference
/// Rogers, Roth, Ullman, Vadhan (2016); Feldman, Zrnic (2021); Koskela, Tobaben, Honkela (2022); Smith, Thakurta (2022);
/// Whitehouse, Ramdas, Rogers, Wu (2023). That several of them may be used side by side is proved in this module.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    total: Guarantee,
    neighboring: Neighboring,
    rule: FilterRule,
    open: Open,
    /// Whether no plan has been admitted.
    is_fresh: bool,
}

impl Filter {
    /// A filter with nothing admitted.
    ///
    /// # Errors
    /// [`InvalidValue`] when the rule needs a δ above 0 or an order above 1.
    pub fn new(total: Guarantee, neighboring: Neighboring, rule: FilterRule) -> Result<Self, InvalidValue> {
        let needs_delta = !matches!(rule, FilterRule::Best | FilterRule::Basic);
        if needs_delta && total.delta.get() == 0.0 {
            return Err(InvalidValue::new("delta", 0, "give a delta above 0, or use the basic rule"));
        }
        if let FilterRule::Renyi(order) = rule
            && order.get() <= 1.0
        {
            return Err(InvalidValue::new("order", order, "give an order above 1"));
        }
        Ok(Self { total, neighboring, rule, open: Open::new(total, rule)?, is_fresh: true })
    }

    /// The total that every path stays within.
    pub fn total(&self) -> Guarantee {
        self.total
    }

    /// The neighbouring relation of every plan and of the total.
    pub fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    /// Admits a plan, and counts it as drawn, if it fits. A plan that does not fit changes nothing.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when the events cannot be counted.
    pub fn admit(&mut self, plan: &Plan) -> Result<bool, AccountingError> {
        self.admit_priced(&Price::new(plan, self.neighboring)?)
    }

    fn admit_priced(&mut self, price: &Price) -> Result<bool, AccountingError> {
        let next = self.after(price)?;
        let fits = next.is_some();
        if let Some(open) = next {
            (self.open, self.is_fresh) = (open, false);
        }
        Ok(fits)
    }

    /// Admits a plan to several filters at once, such as those of a total and of a part of it: to all of them, or to none.
    /// Returns the place of the first one that refuses.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when the filters are about different relations, and as [`admit`](Self::admit).
    pub fn admit_together(filters: &mut [Self], plan: &Plan) -> Result<Option<usize>, AccountingError> {
        let Some(neighboring) = filters.first().map(Self::neighboring) else { return Ok(None) };
        if let Some(other) = filters.iter().find(|filter| filter.neighboring != neighboring) {
            let remedy = "filters that decide together are about one neighboring relation";
            return Err(AccountingError::invalid("neighboring", other.neighboring, remedy));
        }
        let price = Price::new(plan, neighboring)?;
        let mut next = Vec::with_capacity(filters.len());
        for (place, filter) in filters.iter().enumerate() {
            match filter.after(&price)? {
                Some(open) => next.push(open),
                None => return Ok(Some(place)),
            }
        }
        for (filter, open) in filters.iter_mut().zip(next) {
            (filter.open, filter.is_fresh) = (open, false);
        }
        Ok(None)
    }

    /// Whether a plan fits. Nothing is counted.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn fits(&self, plan: &Plan) -> Result<bool, AccountingError> {
        Ok(self.after(&Price::new(plan, self.neighboring)?)?.is_some())
    }

    /// The largest ε, rounded down, of one more pure event that fits; 0 when none does.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn left(&self) -> Result<Epsilon, AccountingError> {
        let plan = |epsilon: f64| -> Result<Plan, AccountingError> {
            Ok(Plan::new(vec![Event::Pure { epsilon: Epsilon::new(epsilon)? }])?)
        };
        // The tight account of a pure event is below its ε by about δ: nothing that many accounts are worth.
        let fits = |epsilon: f64| -> Result<bool, AccountingError> {
            let mut price = Price::new(&plan(epsilon)?, self.neighboring)?;
            price.is_quick = true;
            Ok(self.after(&price)?.is_some())
        };
        let (mut low, mut high) = (0.0, self.total.epsilon.get());
        if fits(high)? {
            return Ok(self.total.epsilon);
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if fits(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        // A number of four digits that the δ makes up for.
        let near = remedy::four_digits_near(low);
        if near > low && near < low * (1.0 + 1e-5) && self.fits(&plan(near)?)? {
            low = near;
        }
        Ok(Epsilon::new(low)?)
    }

    fn after(&self, price: &Price) -> Result<Option<Open>, AccountingError> {
        let next = self.open.then(price)?;
        if next.is_none() && self.is_fresh && self.rule == FilterRule::Best {
            // No answer has been given: the choice between the two depends on the first plan alone.
            return Open::new(self.total, FilterRule::Basic)?.then(price);
        }
        Ok(next)
    }
}

/// The sum of the events' own ε and δ, where each has one.
///
/// # Guarantee
/// The events together are (ε, δ)-private for the sum, under the relation of the log, by basic composition. Rounded up.
///
/// # Reference
/// As [`Guarantee::then`].
///
/// # Errors
/// [`AccountingError::Invalid`] when the events cannot be counted.
pub fn plain_sum(log: &EventLog) -> Result<Option<Guarantee>, AccountingError> {
    Ok(Price::new(&Plan::new(log.events.clone())?, log.neighboring)?.plain())
}

/// The largest number that a predicate allows which is true up to some point, rounded down; 0 where it is never true.
fn largest(fits: impl Fn(f64) -> bool) -> f64 {
    let mut high = 1e-6;
    if !fits(0.0) {
        return 0.0;
    }
    let mut low = 0.0;
    while fits(high) {
        low = high;
        high *= 2.0;
        if high > 1e12 {
            return low;
        }
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
