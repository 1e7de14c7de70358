//! Clipped sums as integers: the same for any number of parties and in any order.

use super::check_sum;
use crate::{Clipping, Layout, PrivacyPlan, RoundingMargin, TrainError};
use reticent_core::rounding::{add_up, mul_up, sqrt_up, sub_down};

/// Units that all parties of a step may have together unless something else is agreed.
pub const MOST_UNITS: u64 = 1 << 32;

/// Sums stay below this in absolute value, so 64 bits with a sign hold them.
const ROOM: f64 = (1u64 << 62) as f64;

/// The share of the clipping norm that rounding may take.
const MOST_ROUNDING: f64 = 1.0 / 4096.0;

/// The grid that unit gradients are rounded to before they are added, from public numbers alone.
///
/// Its step is the smallest power of two for which as many units as agreed, each of the clipping norm, fit into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedGrid {
    norm: f64,
    dimension: usize,
    most_units: u64,
    step: f64,
    /// ⌊C/step⌋: no coordinate and no norm of a unit is larger.
    limit: u64,
}

impl FixedGrid {
    /// The grid for a clipping norm, a number of trained weights, and the most units that all parties may have together in a step.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for numbers without meaning, or so many units or weights that rounding would take more than 1/4096 of
    /// the clipping norm.
    pub fn new(norm: f64, dimension: usize, most_units: u64) -> Result<Self, TrainError> {
        Clipping::Flat { norm }.check()?;
        if most_units == 0 || most_units > 1 << 50 {
            return Err(TrainError::invalid("most_units", most_units, "give a number from 1 to 2^50"));
        }
        let needed = mul_up(norm, most_units as f64) / ROOM;
        let mut step = f64::MIN_POSITIVE;
        // Doubling reaches the smallest power of two that is large enough.
        while step < needed {
            step *= 2.0;
        }
        let grid = Self { norm, dimension, most_units, step, limit: (norm / step) as u64 };
        if grid.rounding_up() > norm * MOST_ROUNDING {
            let remedy = "give fewer units: the grid is too coarse for the clipping norm and so many weights";
            return Err(TrainError::invalid("most_units", most_units, remedy));
        }
        Ok(grid)
    }

    /// The grid of a plan, for [`MOST_UNITS`].
    ///
    /// # Errors
    /// As [`new`](Self::new); [`TrainError::Invalid`] for a plan with encoded gradients, whose magnitudes rounding would change.
    pub fn of(plan: &PrivacyPlan) -> Result<Self, TrainError> {
        plan.settings().clipping.check_by_norm("several parties")?;
        Self::new(plan.settings().clipping.norm(), plan.settings().dimension, MOST_UNITS)
    }

    /// What one step of the integers means.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The most units of all parties together.
    pub fn most_units(&self) -> u64 {
        self.most_units
    }

    /// Whether sums on this grid are those of a plan.
    pub(crate) fn fits(&self, plan: &PrivacyPlan) -> bool {
        let settings = plan.settings();
        // Rounding to the grid would bring magnitudes above a profile.
        settings.clipping.profile().is_none()
            && self.norm == settings.clipping.norm()
            && self.dimension == settings.dimension
    }

    /// How far rounding moves a unit's gradient at most, with one step to spare.
    fn rounding_up(&self) -> f64 {
        mul_up(self.step, add_up(sqrt_up(self.dimension as f64) / 2.0, 1.0))
    }

    /// The rule for gradients that are rounded afterwards: the norm with the rounding taken off.
    pub(crate) fn clipping(&self, rule: &Clipping) -> Result<Clipping, TrainError> {
        rule.check_by_norm("several parties")?;
        let inner = rule.with_norm(sub_down(self.norm, self.rounding_up()));
        inner.check()?;
        Ok(inner)
    }
}

/// A sum of units' clipped gradients, without noise, as integers on a grid.
///
/// # Guarantee
/// Each unit adds an integer vector whose ℓ2 norm times the grid's step is at most the clipping norm: it is measured exactly, as
/// integers, and a unit beyond it adds nothing. So adding or removing one unit moves the sum by at most the clipping norm, and
/// replacing one by at most twice that. The sum itself is exact: only noise makes it private. It is for the aggregation and for
/// nobody else.
///
/// # Reference
/// The crate's proof, "Sums of several parties".
#[derive(Debug, Clone, PartialEq)]
pub struct FixedSum {
    grid: FixedGrid,
    /// Units that may be in it at most: public.
    most_units: u64,
    sums: Vec<i64>,
}

impl FixedSum {
    /// No units yet, and room for so many: a public number that is declared, not counted.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for more than the grid has room for.
    pub fn new(grid: FixedGrid, most_units: u64) -> Result<Self, TrainError> {
        if most_units > grid.most_units {
            let remedy = format!("give at most {}, what the grid has room for", grid.most_units);
            return Err(TrainError::invalid("most_units", most_units, remedy));
        }
        Ok(Self { grid, most_units, sums: vec![0; grid.dimension] })
    }

    /// A sum that came from elsewhere, as [`integers`](Self::integers) gave it there. That it holds clipped units of that party is taken
    /// on trust: nothing here can tell.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`TrainError::Shape`] for another length; [`TrainError::Invalid`] for integers that so many units
    /// cannot add up to.
    pub fn from_integers(grid: FixedGrid, most_units: u64, integers: Vec<i64>) -> Result<Self, TrainError> {
        let sum = Self { sums: integers, ..Self::new(grid, most_units)? };
        if sum.sums.len() != grid.dimension {
            let why = format!("{} integers for {} trained weights", sum.sums.len(), grid.dimension);
            return Err(TrainError::Shape(why));
        }
        let most = u128::from(grid.limit) * u128::from(most_units);
        if let Some(odd) = sum.sums.iter().find(|n| u128::from(n.unsigned_abs()) > most) {
            let remedy = format!("so many units add up to at most {most}: the sum was damaged on its way");
            return Err(TrainError::invalid("integers", odd, remedy));
        }
        Ok(sum)
    }

    /// The grid.
    pub fn grid(&self) -> &FixedGrid {
        &self.grid
    }

    /// The units it may hold at most.
    pub fn most_units(&self) -> u64 {
        self.most_units
    }

    /// The integers: exact and not private.
    pub fn integers(&self) -> &[i64] {
        &self.sums
    }

    /// Adds the sum of other units.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a sum on another grid, or when both together may have more units than the grid has room for.
    pub fn merge(&mut self, other: &Self) -> Result<(), TrainError> {
        if self.grid != other.grid {
            return Err(TrainError::invalid("grid", other.grid.step, "give sums on the same grid"));
        }
        let together = self.most_units + other.most_units;
        if together > self.grid.most_units {
            let remedy = format!("declare fewer for each party: together at most {}", self.grid.most_units);
            return Err(TrainError::invalid("most_units", together, remedy));
        }
        self.most_units = together;
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        Ok(())
    }

    /// Checks that units clipped by this rule can be added.
    pub(crate) fn check(&self, rule: &Clipping, dimension: usize, units: usize) -> Result<(), TrainError> {
        if rule.norm() != self.grid.norm || dimension != self.grid.dimension {
            let remedy = "make the grid for the plan's clipping norm and the model's trained weights";
            return Err(TrainError::invalid("grid", self.grid.step, remedy));
        }
        if units as u64 > self.most_units {
            let remedy = "declare more for this party: it has more units than that";
            return Err(TrainError::invalid("most_units", self.most_units, remedy));
        }
        Ok(())
    }

    /// The same grid without units, for another thread; [`absorb`](Self::absorb) adds it again.
    pub(crate) fn part(&self) -> Self {
        Self { sums: vec![0; self.sums.len()], ..*self }
    }

    /// Adds a part of the same units.
    pub(crate) fn absorb(&mut self, part: &Self) {
        self.sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| *sum += part);
    }

    /// Clips a vector of one unit, with this margin for the rounding of its arithmetic, and adds it.
    pub(crate) fn add_clipped(
        &mut self,
        rule: &Clipping,
        margin: RoundingMargin,
        layout: &Layout,
        vector: &[f32],
    ) -> Result<(), TrainError> {
        check_sum(layout, vector)?;
        self.check(rule, vector.len(), 1)?;
        self.add_unit(&self.grid.clipping(rule)?.clipped(margin, layout, vector));
        Ok(())
    }

    /// Rounds a unit's clipped gradient and adds it. One that is longer than the norm after that, or not finite, adds nothing.
    pub(crate) fn add_unit(&mut self, clipped: &[f32]) {
        let (inverse, limit) = (1.0 / self.grid.step, self.grid.limit);
        let rounded = |value: f32| (f64::from(value) * inverse).round_ties_even();
        let mut square = 0u128;
        for value in clipped {
            let steps = rounded(*value).abs();
            if steps.is_nan() || steps > limit as f64 {
                return;
            }
            let steps = steps as u64;
            square = square.saturating_add(u128::from(steps) * u128::from(steps));
        }
        if clipped.len() != self.sums.len() || square > u128::from(limit) * u128::from(limit) {
            return;
        }
        for (sum, value) in self.sums.iter_mut().zip(clipped) {
            *sum += rounded(*value) as i64;
        }
    }

    /// The sum in single precision.
    pub(crate) fn to_floats(&self) -> Vec<f32> {
        self.sums.iter().map(|sum| (*sum as f64 * self.grid.step) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_a_power_of_two_that_holds_all_units() {
        for (norm, dimension, most) in
            [(1.0, 10, MOST_UNITS), (2e-9, 1, 1), (1e9, 1 << 20, 1 << 40), (0.3, 7, 1000)]
        {
            let grid = FixedGrid::new(norm, dimension, most).unwrap();
            assert_eq!(grid.step.to_bits() & ((1 << 52) - 1), 0, "{}", grid.step);
            assert!(u128::from(grid.limit) * u128::from(most) <= 1 << 62);
            assert!(norm / grid.step * most as f64 > (1u64 << 60) as f64, "no finer than needed");
            let inner = grid.clipping(&Clipping::Flat { norm }).unwrap().norm();
            assert!(inner < norm && inner > norm * (1.0 - 1.0 / 2048.0));
        }
        assert!(FixedGrid::new(1.0, 10, 0).is_err());
        assert!(FixedGrid::new(0.0, 10, 1).is_err());
        assert!(FixedGrid::new(1.0, 1 << 40, 1 << 50).is_err(), "too coarse");
    }

    #[test]
    fn a_unit_beyond_the_norm_adds_nothing() {
        let grid = FixedGrid::new(1.0, 2, 1 << 20).unwrap();
        let mut sum = FixedSum::new(grid, 10).unwrap();
        for odd in [[f32::NAN, 0.0], [0.0, f32::INFINITY], [1e30, 0.0], [0.8, 0.8], [1.1, 0.0]] {
            sum.add_unit(&odd);
            assert_eq!(sum.integers(), [0, 0], "{odd:?}");
        }
        sum.add_unit(&[0.5, 0.5]);
        sum.add_unit(&[-1.0, 0.0]);
        assert_eq!(sum.to_floats(), [-0.5, 0.5]);
    }

    #[test]
    fn sums_join_within_their_room() {
        let grid = FixedGrid::new(1.0, 1, 100).unwrap();
        let mut sum = FixedSum::new(grid, 60).unwrap();
        assert!(sum.merge(&FixedSum::new(grid, 41).unwrap()).is_err());
        assert!(sum.merge(&FixedSum::new(FixedGrid::new(1.0, 1, 101).unwrap(), 1).unwrap()).is_err());
        let other = FixedSum::from_integers(grid, 40, vec![-3]).unwrap();
        sum.merge(&other).unwrap();
        assert_eq!((sum.integers(), sum.most_units()), (&[-3][..], 100));
        assert!(FixedSum::new(grid, 101).is_err());
        assert!(FixedSum::from_integers(grid, 1, vec![0, 0]).is_err());
        assert!(FixedSum::from_integers(grid, 1, vec![i64::MIN]).is_err());
    }
}
