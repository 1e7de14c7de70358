use super::{Answer, QueryTerms};
use crate::grid::Grid;
use crate::mechanism::{PrivateSelection, SelectionRule};
use crate::{NoiseError, Releaser};
use reticent_core::{Code, MergeError, Neighboring, Partial, Scale};

/// The most common of the declared categories, as its index.
///
/// The interval is how many rows the chosen category may have fewer than the most common one, from
/// 0 up, at the terms' confidence.
///
/// # Guarantee
/// Pure ε. Counts move by at most 1; under add-remove they all move the same way (monotone), under
/// replace-one they need not.
///
/// # Reference
/// McSherry, Talwar (2007); Dwork, Roth (2014), section 3.4.
///
/// # Errors
/// [`NoiseError::Invalid`] when there are no categories or the terms cannot be met.
pub fn mode(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    rule: SelectionRule,
    cells: &[u64],
) -> Result<Answer<usize>, NoiseError> {
    if cells.is_empty() {
        return Err(NoiseError::coded(Code::List, "categories", "none", "declare at least one"));
    }
    let selection = PrivateSelection::for_integers(rule, 1, terms.epsilon)?;
    let scores: Vec<i128> = cells.iter().map(|count| i128::from(*count)).collect();
    choose(source, terms, selection, &scores)
}

/// The price, out of a public list, that sells best to bidders who buy at or below their bid.
///
/// The interval is how much revenue the chosen price may lose against the best one, from 0 up, in
/// the unit of the prices, at the terms' confidence; prices are rounded to 2⁻³⁸ of the largest.
///
/// # Guarantee
/// Pure ε. A bidder adds at most the price to its revenue, so the sensitivity is the largest price on
/// the list, whatever the bids are; under add-remove all revenues move the same way.
///
/// # Reference
/// McSherry, Talwar, *Mechanism Design via Differential Privacy* (2007), section 4.
///
/// # Errors
/// [`NoiseError::Invalid`] when a price is not positive and finite, or the terms cannot be met.
pub fn best_price(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    rule: SelectionRule,
    prices: &[f64],
    bids: &[f64],
) -> Result<Answer<usize>, NoiseError> {
    let mut table = BidTable::new(prices.to_vec())?;
    bids.iter().for_each(|bid| table.add(*bid));
    table.best_price(source, terms, rule)
}

/// How many bidders would buy at each of a public list of prices.
#[derive(Debug, Clone, PartialEq)]
pub struct BidTable {
    prices: Vec<f64>,
    /// The bids at or above each price.
    buyers: Vec<u64>,
}

impl BidTable {
    /// A table without bids.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when there are no prices, or one is not positive and finite.
    pub fn new(prices: Vec<f64>) -> Result<Self, NoiseError> {
        if let Some(bad) = prices.iter().find(|p| !(p.is_finite() && **p > 0.0)) {
            return Err(NoiseError::invalid("prices", bad, "give finite numbers above 0"));
        }
        if prices.is_empty() {
            return Err(NoiseError::invalid("prices", "none", "give at least one"));
        }
        let buyers = vec![0; prices.len()];
        Ok(Self { prices, buyers })
    }

    /// Counts one bid; one that is not a number buys at no price.
    pub fn add(&mut self, bid: f64) {
        for (price, buyers) in self.prices.iter().zip(&mut self.buyers) {
            *buyers += u64::from(bid >= *price);
        }
    }

    /// The price that sells best, as [`best_price`] describes it.
    ///
    /// # Guarantee
    /// That of [`best_price`].
    ///
    /// # Reference
    /// That of [`best_price`].
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the terms cannot be met.
    pub fn best_price(
        &self,
        source: &mut impl Releaser,
        terms: &QueryTerms,
        rule: SelectionRule,
    ) -> Result<Answer<usize>, NoiseError> {
        // There is at least one price, and all are above 0.
        let top = self.prices.iter().copied().fold(0.0, f64::max);
        // Revenue in whole steps of a grid on which the top price is 2³⁸ to 2³⁹: exact for any order of bids.
        let grid = Grid::for_scale(Scale::new(top)?, 38)?;
        let points: Vec<i128> = self.prices.iter().map(|p| grid.round(*p).max(1)).collect();
        let reach = points.iter().copied().max().unwrap_or(1) as u64;
        let scores: Vec<i128> =
            self.buyers.iter().zip(&points).map(|(buyers, point)| i128::from(*buyers) * point).collect();
        let mut answer =
            choose(source, terms, PrivateSelection::for_integers(rule, reach, terms.epsilon)?, &scores)?;
        answer.interval = vec![[0.0, answer.interval[0][1] * grid.step()]];
        Ok(answer)
    }
}

/// The prices must be the same.
impl Partial for BidTable {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.prices != other.prices {
            return Err(MergeError::Mismatch { what: "prices" });
        }
        self.buyers.merge(&other.buyers)
    }
}

fn choose(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    selection: PrivateSelection,
    scores: &[i128],
) -> Result<Answer<usize>, NoiseError> {
    if terms.delta.get() > 0.0 {
        return Err(NoiseError::invalid("delta", terms.delta, "leave delta out: a private choice is pure"));
    }
    let selection = match terms.neighboring {
        Neighboring::AddRemove => selection.monotone()?,
        Neighboring::ReplaceOne => selection,
    };
    let shortfall = selection.shortfall(scores.len() as u64, 1, terms.confidence)?;
    terms.check(source)?;
    let released = source.release(&selection, scores)?;
    Ok(Answer {
        value: released.value,
        interval: vec![[0.0, shortfall]],
        events: vec![released.event],
        guarantee: released.guarantee,
    })
}
