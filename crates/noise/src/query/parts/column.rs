//! A column's values as integers, before anything is added up.

use crate::NoiseError;
use crate::grid::Grid;
use reticent_core::{Code, Scale};

/// Fineness of sums of real columns: the larger bound is this many bits of steps.
const SUM_BITS: u32 = 31;
/// Fineness of places between the bounds.
pub(super) const PLACE_BITS: u32 = 40;

/// A column of numbers clamped to public bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartColumn {
    low: f64,
    high: f64,
    grid: Grid,
    low_point: i128,
    high_point: i128,
}

impl PartColumn {
    /// A column with these bounds; whole-number bounds up to 2³² with `integers` give sums in steps of 1.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] naming `bounds` unless low < high, both finite.
    pub fn new(low: f64, high: f64, integers: bool) -> Result<Self, NoiseError> {
        let refuse = |remedy| Err(NoiseError::coded(Code::Bounds, "bounds", format!("{low},{high}"), remedy));
        if !(low.is_finite() && high.is_finite() && (high - low).is_finite()) {
            return refuse("give two finite numbers");
        }
        if low >= high {
            return refuse("give the lower bound first, below the upper one");
        }
        let whole = |v: f64| v == v.trunc() && v.abs() <= (1u64 << 32) as f64;
        let grid = if integers && whole(low) && whole(high) {
            Grid::INTEGERS
        } else {
            Grid::for_scale(Scale::new(low.abs().max(high.abs()))?, SUM_BITS)?
        };
        let (low_point, high_point) = (grid.round(low), grid.round(high));
        if low_point == high_point {
            return refuse("give bounds further apart: they are the same to 9 digits");
        }
        Ok(Self { low, high, grid, low_point, high_point })
    }

    /// The lower bound.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper bound.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Upper bound − lower bound.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// One step of sums.
    pub fn step(&self) -> f64 {
        self.grid.step()
    }

    /// The value clamped to the bounds; not-a-number counts as the lower bound.
    pub(super) fn clamped(&self, value: f64) -> f64 {
        if value.is_nan() { self.low } else { value.clamp(self.low, self.high) }
    }

    /// The clamped value in steps.
    pub(super) fn point(&self, value: f64) -> i128 {
        self.grid.round(self.clamped(value)).clamp(self.low_point, self.high_point)
    }

    /// Any number in steps; what is not a number counts as 0. At most 2⁶⁰ steps, so that totals cannot overflow.
    pub(super) fn steps(&self, value: f64) -> i128 {
        self.grid.round(value).clamp(-(1 << 60), 1 << 60)
    }

    /// A total in steps, clamped to the bounds.
    pub(super) fn clamped_point(&self, point: i128) -> i128 {
        point.clamp(self.low_point, self.high_point)
    }

    /// The bounds in steps.
    pub(super) fn points(&self) -> [i128; 2] {
        [self.low_point, self.high_point]
    }

    /// The place of the clamped value between the bounds, from 0 to 2⁴⁰.
    pub(super) fn place(&self, value: f64) -> u64 {
        let whole = (1u64 << PLACE_BITS) as f64;
        let place = ((self.clamped(value) - self.low) / self.width() * whole).round_ties_even();
        place.clamp(0.0, whole) as u64
    }
}
