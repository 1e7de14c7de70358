//! Which units enter a step.

use crate::{Selection, TrainError};
use reticent_core::SamplingRate;
use reticent_noise::Entropy;
use reticent_noise::entropy::{Bits, Repeatable};
use reticent_noise::sampler::{Inclusion, uniform_below};
use std::collections::BTreeMap;

/// The privacy units of a set of examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Every example by itself.
    Examples(usize),
    /// The examples of users, user by user, and where each user's end.
    Users { examples: Vec<usize>, ends: Vec<usize>, most: Option<usize> },
}

impl Units {
    /// Every one of `count` examples is a unit.
    pub fn examples(count: usize) -> Self {
        Self { kind: Kind::Examples(count) }
    }

    /// The examples with the same id are one unit; the ids are in the order of the examples. A sampled unit enters a
    /// step with `examples_per_unit` of its examples, drawn uniformly without replacement, or all if it has no more.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a cap of 0.
    pub fn users<I: Ord>(ids: &[I], examples_per_unit: Option<usize>) -> Result<Self, TrainError> {
        if examples_per_unit == Some(0) {
            return Err(TrainError::invalid("examples_per_unit", 0, "give at least 1, or nothing for all"));
        }
        let mut users: BTreeMap<&I, Vec<usize>> = BTreeMap::new();
        for (example, id) in ids.iter().enumerate() {
            users.entry(id).or_default().push(example);
        }
        let (mut examples, mut ends) = (Vec::with_capacity(ids.len()), Vec::with_capacity(users.len()));
        for user in users.into_values() {
            examples.extend(user);
            ends.push(examples.len());
        }
        Ok(Self { kind: Kind::Users { examples, ends, most: examples_per_unit } })
    }

    /// How many units there are.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Examples(count) => *count,
            Kind::Users { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many examples they have together.
    pub fn example_count(&self) -> usize {
        match &self.kind {
            Kind::Examples(count) => *count,
            Kind::Users { examples, .. } => examples.len(),
        }
    }

    /// The examples of one unit.
    pub fn members(&self, unit: usize) -> Vec<usize> {
        match &self.kind {
            Kind::Examples(_) => vec![unit],
            Kind::Users { examples, ends, .. } => {
                let start = if unit == 0 { 0 } else { ends[unit - 1] };
                examples[start..ends[unit]].to_vec()
            }
        }
    }

    /// Adds one unit to a selection.
    pub(crate) fn push<B: Bits>(&self, unit: usize, bits: &mut B, selection: &mut Selection) {
        match &self.kind {
            Kind::Examples(_) => selection.push([unit]),
            Kind::Users { examples, ends, most } => {
                let start = if unit == 0 { 0 } else { ends[unit - 1] };
                let own = &examples[start..ends[unit]];
                match most {
                    Some(most) if *most < own.len() => selection.push(subset(own, *most, bits)),
                    _ => selection.push(own.iter().copied()),
                }
            }
        }
    }
}

/// `count` of these, every subset equally likely: the beginning of a shuffle.
fn subset<B: Bits>(own: &[usize], count: usize, bits: &mut B) -> Vec<usize> {
    let mut own = own.to_vec();
    for place in 0..count {
        let left = (own.len() - place) as u64;
        own.swap(place, place + uniform_below(bits, left) as usize);
    }
    own.truncate(count);
    own
}

/// Poisson sampling: every unit enters a step with the same probability, independently of everything else.
///
/// # Guarantee
/// Units are independent, within a step and between steps, and are taken with probability
/// [`Inclusion::drawn_rate`], which is at most the rate given here and equal to it from 2⁻¹¹ up. An empty selection is
/// one of the outcomes.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016).
pub struct PoissonSampler {
    inclusion: Inclusion,
    taken: Vec<usize>,
}

impl PoissonSampler {
    /// Sampling at this rate.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a rate below 2⁻⁵³.
    pub fn new(rate: SamplingRate) -> Result<Self, TrainError> {
        Ok(Self { inclusion: Inclusion::new(rate)?, taken: Vec::new() })
    }

    /// The units of the next step, in place of what `selection` held.
    pub fn sample(&mut self, units: &Units, entropy: &mut Entropy, selection: &mut Selection) {
        selection.clear();
        self.inclusion.draw(units.len(), entropy, &mut self.taken);
        for unit in &self.taken {
            units.push(*unit, entropy, selection);
        }
    }
}

/// Every unit with the same probability, as a function of a key: for training without a guarantee.
pub(crate) struct Repeated {
    /// The rate times 2⁶⁴, rounded down.
    threshold: u128,
}

impl Repeated {
    pub(crate) fn new(rate: SamplingRate) -> Self {
        Self { threshold: (rate.get() * 18_446_744_073_709_551_616.0) as u128 }
    }

    /// The units of the next step.
    pub(crate) fn sample(&self, units: &Units, bits: &mut Repeatable, selection: &mut Selection) {
        selection.clear();
        for unit in 0..units.len() {
            if u128::from(bits.word()) < self.threshold {
                units.push(unit, bits, selection);
            }
        }
    }
}

/// Batches of one size from a shuffle, anew in every epoch: for training without a guarantee.
pub(crate) struct Shuffler {
    batch: usize,
    order: Vec<usize>,
    next: usize,
}

impl Shuffler {
    pub(crate) fn new(batch: usize) -> Self {
        Self { batch, order: Vec::new(), next: 0 }
    }

    /// The units of the next step; the last batch of an epoch may be smaller.
    pub(crate) fn sample<B: Bits>(&mut self, units: &Units, bits: &mut B, selection: &mut Selection) {
        selection.clear();
        if self.next >= self.order.len() {
            self.order = subset(&(0..units.len()).collect::<Vec<_>>(), units.len(), bits);
            self.next = 0;
        }
        let end = (self.next + self.batch).min(self.order.len());
        for unit in &self.order[self.next..end] {
            units.push(*unit, bits, selection);
        }
        self.next = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_grouped_and_capped() {
        let mut entropy = Entropy::new().unwrap();
        let units = Units::users(&["b", "a", "b", "b", "c"], Some(2)).unwrap();
        assert_eq!((units.len(), units.example_count()), (3, 5));
        let mut sampler = PoissonSampler::new(SamplingRate::new(1.0).unwrap()).unwrap();
        let mut selection = Selection::default();
        let mut seen = [0u32; 5];
        for _ in 0..3000 {
            sampler.sample(&units, &mut entropy, &mut selection);
            assert_eq!(selection.ends(), [1, 3, 4]);
            assert_eq!((selection.unit(0), selection.unit(2)), (&[1][..], &[4][..]));
            selection.unit(1).iter().for_each(|example| seen[*example] += 1);
            assert_ne!(selection.unit(1)[0], selection.unit(1)[1]);
        }
        // Two of three: 2000 each with standard deviation 26.
        assert!([0, 2, 3].iter().all(|e| seen[*e].abs_diff(2000) < 260), "{seen:?}");
        assert!(Units::users(&[1, 2], Some(0)).is_err());
        assert!(Units::users::<u8>(&[], None).unwrap().is_empty());
    }

    #[test]
    fn a_shuffle_visits_everything_once_an_epoch() {
        let mut entropy = Entropy::new().unwrap();
        let (units, mut shuffler) = (Units::examples(10), Shuffler::new(4));
        let mut selection = Selection::default();
        for _ in 0..3 {
            let mut all = Vec::new();
            for size in [4, 4, 2] {
                shuffler.sample(&units, &mut entropy, &mut selection);
                assert_eq!(selection.units(), size);
                all.extend_from_slice(selection.examples());
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..10));
        }
    }
}
