use super::{Answer, Terms};
use crate::grid::Grid;
use crate::mechanism::{Rule, Selection};
use crate::{NoiseError, Releaser};
use reticent_core::{Code, Neighboring, Scale};

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
    terms: &Terms,
    rule: Rule,
    cells: &[u64],
) -> Result<Answer<usize>, NoiseError> {
    if cells.is_empty() {
        return Err(NoiseError::coded(Code::List, "categories", "none", "declare at least one"));
    }
    let selection = Selection::for_integers(rule, 1, terms.epsilon)?;
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
    terms: &Terms,
    rule: Rule,
    prices: &[f64],
    bids: &[f64],
) -> Result<Answer<usize>, NoiseError> {
    if let Some(bad) = prices.iter().find(|p| !(p.is_finite() && **p > 0.0)) {
        return Err(NoiseError::invalid("prices", bad, "give finite numbers above 0"));
    }
    let Some(top) = prices.iter().copied().reduce(f64::max) else {
        return Err(NoiseError::invalid("prices", "none", "give at least one"));
    };
    // Revenue in whole steps of a grid on which the top price is 2³⁸ to 2³⁹: exact for any order of bids.
    let grid = Grid::for_scale(Scale::new(top)?, 38)?;
    let points: Vec<i128> = prices.iter().map(|p| grid.round(*p).max(1)).collect();
    let reach = points.iter().copied().max().unwrap_or(1) as u64;
    let sold = |price: f64| bids.iter().filter(|bid| **bid >= price).count() as i128;
    let scores: Vec<i128> = prices.iter().zip(&points).map(|(price, point)| sold(*price) * point).collect();
    let mut answer = choose(source, terms, Selection::for_integers(rule, reach, terms.epsilon)?, &scores)?;
    answer.interval = vec![[0.0, answer.interval[0][1] * grid.step()]];
    Ok(answer)
}

fn choose(
    source: &mut impl Releaser,
    terms: &Terms,
    selection: Selection,
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
