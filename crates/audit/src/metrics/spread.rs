//! How far the mean over records of a few users may be from the truth.

use crate::interval;
use reticent_core::special::normal_tail_quantile;

/// How many units of the worst law with the same mean are added to those that were seen. A handful of numbers near 1 says
/// little about the rare ones far below; measured in `proof.md`.
const PRIOR: f64 = 2.0;

/// Sums over independent units: records, or users with all their records.
#[derive(Default)]
pub(crate) struct Tally {
    units: f64,
    records: f64,
    sizes: f64,
    squares: f64,
    fourths: f64,
}

/// The variance of a mean, and the degrees of freedom with which it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) variance: f64,
    pub(crate) freedom: f64,
}

impl Tally {
    /// Units that are alike: how many, the records of each, and the sum of their deviations from the mean.
    pub(crate) fn add(&mut self, units: u64, size: f64, deviation: f64) {
        let (units, square) = (units as f64, deviation * deviation);
        self.units += units;
        self.records += units * size;
        self.sizes += units * size * size;
        self.squares += units * square;
        self.fourths += units * square * square;
    }

    /// How many records of different users would be as much evidence if all of a user's records agreed.
    pub(crate) fn fewest(&self) -> f64 {
        if self.sizes > 0.0 { self.records * self.records / self.sizes } else { 0.0 }
    }

    /// The spread of the mean of the records' numbers, each from 0 to 1, where `worst` is the largest variance that numbers
    /// of such a mean can have.
    pub(crate) fn spread(&self, worst: f64) -> Spread {
        let prior = worst * self.sizes / self.units;
        let total = self.squares + PRIOR * prior;
        let variance = total * self.units / (self.units - 1.0 + PRIOR) / (self.records * self.records);
        // How many units the variance rests on: that of a variance seen in n units of kurtosis n/k is 2/k − 2/n.
        let carriers = total * total / (self.fourths + PRIOR * prior * prior);
        let freedom = 2.0 / (1.0 / carriers - 1.0 / self.units).max(1e-12);
        Spread { variance, freedom: freedom.min(self.units - 1.0 + PRIOR) }
    }
}

/// The number of independent trials whose share of successes is as well known as a mean: the binomial variance `worst` over
/// its own, less what is due to a variance that is itself estimated.
pub(crate) fn effective(worst: f64, spread: Spread, alpha: f64) -> f64 {
    let ratio =
        normal_tail_quantile(alpha / 2.0) / interval::student_quantile(alpha / 2.0, spread.freedom.max(1.0));
    worst / spread.variance * ratio * ratio
}
