//! Which units enter a step where nothing is sampled.

use crate::Selection;
use crate::sampler::Units;
use reticent_noise::Entropy;
use reticent_noise::sampler::uniform_below;

/// Batches that are drawn once.
///
/// # Guarantee
/// Every unit has the same chance to be in each batch, independently of all other units: where one unit is not there, the batches of the others have
/// the law that they have with it.
///
/// # Reference
/// The crate's proof, "Cyclic batches".
pub(crate) struct CyclicSampler {
    batches: Vec<Vec<usize>>,
    next: usize,
}

impl CyclicSampler {
    /// Puts each of so many units into one of the batches.
    pub(crate) fn new(batches: u64, units: usize, entropy: &mut Entropy) -> Self {
        let mut own = vec![Vec::new(); usize::try_from(batches).unwrap_or(usize::MAX)];
        for unit in 0..units {
            own[uniform_below(entropy, batches) as usize].push(unit);
        }
        Self { batches: own, next: 0 }
    }

    /// Says which step comes next, from 0.
    pub(crate) fn set_step(&mut self, step: u64) {
        self.next = (step % self.batches.len() as u64) as usize;
    }

    /// The units of that step.
    pub(crate) fn sample(&self, units: &Units, entropy: &mut Entropy, selection: &mut Selection) {
        selection.clear();
        for unit in &self.batches[self.next] {
            units.push(*unit, entropy, selection);
        }
    }
}
