//! What one party computes.

use super::share::{Sampling, Share};
use crate::cyclic::refuse_cyclic;
use crate::engine::{Engine, FixedGrid, FixedSum};
use crate::growth::refuse_growth;
use crate::{Clipping, Examples, Layout, PrivacyPlan, TrainError, Units};
use std::sync::Arc;

/// The part of one party in a private training: it samples its units, clips their gradients and adds them up. It has no noise and
/// cannot draw any; [`Aggregation`](super::Aggregation) adds it once for all parties.
///
/// # Guarantee
/// Each unit of this party is in a step with the plan's sampling rate, independently of all other units and steps, and adds at most
/// the clipping norm to [`sum`](Self::sum). The sum is exact and unprotected: it is for the aggregation alone, which must not learn
/// anything else about it than the total, or be trusted with it.
///
/// # Reference
/// The crate's proof, "Sums of several parties"; McMahan et al., *Learning differentially private recurrent language models* (2018).
pub struct Contribution {
    engine: Box<dyn Engine>,
    share: Share,
    clipping: Clipping,
    grid: FixedGrid,
    most_units: u64,
}

impl Contribution {
    /// A party with these examples. `most_units` is a public number that is declared for it: its units are at most as many, and all
    /// parties together have at most [`FixedGrid::most_units`].
    ///
    /// # Errors
    /// [`TrainError::Invalid`] when the units do not belong to the examples or are more than declared, or the plan is for another
    /// number of weights; what the engine says about the examples; when there is no randomness.
    pub fn new(
        engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        units: Units,
        plan: &PrivacyPlan,
        grid: FixedGrid,
        most_units: u64,
    ) -> Result<Self, TrainError> {
        let settings = plan.settings();
        super::check_dimension(plan, engine.layout())?;
        refuse_quantile(plan)?;
        refuse_cyclic(plan, "parties sample their batches: leave it out")?;
        refuse_growth(plan, "parties sample at one rate in every step: leave it out")?;
        check_grid(&grid, plan)?;
        // Refuses a number that the grid has no room for.
        FixedSum::new(grid, most_units)?;
        if units.len() as u64 > most_units {
            let remedy = "declare more for this party: it has more units than that";
            return Err(TrainError::invalid("most_units", most_units, remedy));
        }
        let clipping = settings.clipping.clone();
        let sampling = Sampling::poisson(settings.constant_rate()?)?;
        let share = Share::new(&*engine, examples, units, sampling, Some(clipping.clone()))?;
        Ok(Self { engine, share, clipping, grid, most_units })
    }

    /// The names and places of the weights.
    pub fn layout(&self) -> &Layout {
        self.engine.layout()
    }

    /// Samples units and adds up their clipped gradients at these weights, which the aggregation gave out.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn sum(&mut self, weights: &[f32]) -> Result<FixedSum, TrainError> {
        self.engine.load_weights(weights)?;
        self.share.sample();
        let mut sum = FixedSum::new(self.grid, self.most_units)?;
        let (examples, selection) = (self.share.examples(), self.share.selection());
        self.engine.fixed_sum(examples, selection, &self.clipping, &mut sum)?;
        Ok(sum)
    }
}

impl Contribution {
    /// What a party sends that claims this sum for its own, as if it were that of one unit.
    pub(crate) fn claimed(&self, vector: &[f32]) -> Result<FixedSum, TrainError> {
        let mut sum = FixedSum::new(self.grid, self.most_units)?;
        sum.add_clipped(&self.clipping, self.engine.rounding_margin(), self.engine.layout(), vector)?;
        Ok(sum)
    }
}

/// Refuses quantile clipping: parties have no sum that counts unclipped units.
pub(super) fn refuse_quantile(plan: &PrivacyPlan) -> Result<(), TrainError> {
    match plan.quantile() {
        None => Ok(()),
        Some(_) => {
            let remedy = "parties clip to a fixed norm: give flat, per-layer or automatic";
            Err(TrainError::invalid("clipping", "quantile", remedy))
        }
    }
}

/// Refuses a grid for another clipping norm or dimension.
pub(super) fn check_grid(grid: &FixedGrid, plan: &PrivacyPlan) -> Result<(), TrainError> {
    if grid.fits(plan) {
        return Ok(());
    }
    let remedy = "make the grid for the plan's clipping norm and number of weights";
    Err(TrainError::invalid("grid", grid.step(), remedy))
}
