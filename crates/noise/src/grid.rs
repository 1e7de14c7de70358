//! Power-of-two grids: a real value becomes an integer before any noise touches it.
//!
//! Rounding to the grid moves a value by at most half a step, so two values at distance Δ end up at
//! most ⌊Δ/step⌋ + 1 steps apart. Values beyond ±2¹⁰⁰ steps are cut off there, which brings no two
//! values further apart. A value that is not a number counts as 0.

use crate::NoiseError;
use libm::scalbn;
use reticent_core::Scale;

/// Integers of a grid stay within ± this.
pub const LIMIT: i128 = 1 << 100;

/// The multiples of 2^exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    exponent: i32,
}

impl Grid {
    /// The whole numbers.
    pub const INTEGERS: Self = Self { exponent: 0 };

    /// The grid on which `scale` is at least 2^bits and below 2^(bits + 1) steps.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the step would be below the smallest double.
    pub fn for_scale(scale: Scale, bits: u32) -> Result<Self, NoiseError> {
        let exponent = libm::ilogb(scale.get()) - bits as i32;
        if exponent < -1074 {
            return Err(NoiseError::invalid(
                "scale",
                scale.get(),
                format!("give a scale of at least 2^-{}: measure the data in smaller units", 1074 - bits),
            ));
        }
        Ok(Self { exponent })
    }

    /// The width of a step.
    pub fn step(self) -> f64 {
        scalbn(1.0, self.exponent)
    }

    /// A length in steps; exact wherever the result is an ordinary double.
    pub fn steps(self, length: f64) -> f64 {
        scalbn(length, -self.exponent)
    }

    /// The nearest grid point, as an integer.
    pub fn round(self, value: f64) -> i128 {
        let steps = self.steps(value).round_ties_even();
        if steps.is_nan() { 0 } else { (steps as i128).clamp(-LIMIT, LIMIT) }
    }

    /// The nearest grid point, in whole steps, of an integer: exact when the step divides 1.
    pub fn round_integer(self, value: i128) -> i128 {
        let value = value.clamp(-LIMIT, LIMIT);
        match self.exponent {
            0 => value,
            e if e < 0 => {
                // Saturates at the limit instead of shifting bits out.
                let shift = e.unsigned_abs();
                if shift < 100 && value.unsigned_abs() <= (LIMIT >> shift).unsigned_abs() {
                    value << shift
                } else {
                    value.signum() * LIMIT
                }
            }
            e if e >= 101 => 0,
            e => (value + (1i128 << (e - 1))) >> e,
        }
    }

    /// The double nearest to (point + offset) steps, never infinite.
    pub fn value(self, point: i128, offset: f64) -> f64 {
        let steps = if point.unsigned_abs() < 1 << 52 { point as f64 + offset } else { point as f64 };
        scalbn(steps, self.exponent).clamp(f64::MIN, f64::MAX)
    }

    /// The integer nearest to (point + ½) steps.
    pub fn integer(self, point: i128) -> i128 {
        match self.exponent {
            0 => point,
            e if e > 0 => point
                .checked_shl(e.unsigned_abs())
                .filter(|v| v >> e == point)
                .and_then(|v| v.checked_add(1i128 << (e - 1)))
                .unwrap_or(point.signum() * i128::MAX),
            e if e <= -127 => 0,
            e => {
                let shift = e.unsigned_abs();
                // (point + ½)·2^−shift rounded to nearest is ⌊(2·point + 1 + 2^shift) / 2^(shift+1)⌋.
                (point + (1i128 << (shift - 1))) >> shift
            }
        }
    }

    /// The exponent of the step.
    pub fn exponent(self) -> i32 {
        self.exponent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounding_moves_half_a_step_and_never_further_apart(a in -1e6f64..1e6, b in -1e6f64..1e6, exponent in -30i32..10) {
            let grid = Grid { exponent };
            prop_assert!((grid.value(grid.round(a), 0.0) - a).abs() <= grid.step() / 2.0);
            let apart = (grid.round(a) - grid.round(b)).unsigned_abs();
            prop_assert!(apart <= (grid.steps((a - b).abs()) + 1e-6).floor() as u128 + 1);
        }

        #[test]
        fn any_double_is_taken(value in any::<f64>(), exponent in -1074i32..1000) {
            let grid = Grid { exponent };
            let point = grid.round(value);
            prop_assert!(point.abs() <= LIMIT);
            prop_assert!(grid.value(point, 0.5).is_finite());
        }

        #[test]
        fn integers_come_back(value in -(1i128 << 60)..(1i128 << 60), exponent in -40i32..=0) {
            let grid = Grid { exponent };
            let point = grid.round_integer(value);
            if point.abs() < LIMIT {
                prop_assert_eq!(grid.integer(point), value);
            }
        }

        #[test]
        fn integer_rounding_is_lipschitz(a in any::<i64>(), b in any::<i64>(), exponent in -70i32..110) {
            let grid = Grid { exponent };
            let apart = (grid.round_integer(a.into()) - grid.round_integer(b.into())).unsigned_abs();
            let exact = i128::from(a).abs_diff(b.into());
            let bound = if exponent <= 0 { exact << exponent.unsigned_abs().min(60) } else { (exact >> exponent) + 1 };
            prop_assert!(exponent < -60 || apart <= bound);
        }
    }

    #[test]
    fn extremes() {
        assert!(Grid::for_scale(Scale::new(1e-320).unwrap(), 40).is_err());
        let grid = Grid::for_scale(Scale::new(1e-300).unwrap(), 40).unwrap();
        assert_eq!(grid.round(f64::INFINITY), LIMIT);
        assert_eq!(grid.round(f64::NAN), 0);
        let grid = Grid::for_scale(Scale::new(1e300).unwrap(), 40).unwrap();
        assert_eq!(grid.round(1e250), 0);
        assert!(grid.value(LIMIT, 0.5).is_finite());
        assert_eq!(Grid::INTEGERS.integer(-7), -7);
    }
}
