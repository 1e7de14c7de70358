use super::big::saturate;
use super::normal::{CELL_BITS, Normal};
use crate::entropy::Bits;
use dashu_int::ops::SquareRoot;
use dashu_int::{IBig, UBig};
use zeroize::Zeroize;

/// Rounded Student-t: ⌊scale · T⌋ with T = Z₀ / √((Z₁² + … + Z_ν²)/ν).
///
/// Doubles decide when the result is clear of an integer; otherwise the normals behind it are
/// refined 64 bits at a time in integers until the floor is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StudentSampler {
    scale: u64,
    degrees_of_freedom: u32,
}

impl StudentSampler {
    /// The sampler with an integer scale below 2³⁴ and at least one degree of freedom.
    pub fn new(scale: u64, degrees_of_freedom: u32) -> Self {
        debug_assert!(scale > 0 && scale < 1 << 34 && degrees_of_freedom > 0);
        Self { scale, degrees_of_freedom }
    }

    /// One draw. Beyond ±2¹²⁶ it saturates.
    pub fn sample<B: Bits>(&self, bits: &mut B) -> i128 {
        let mut draw = || Normal::sample(bits).fixed(bits);
        let top = draw();
        let below: Vec<i128> = (0..self.degrees_of_freedom).map(|_| draw()).collect();
        self.floor_in_doubles(top, &below).unwrap_or_else(|| self.floor_exactly(bits, top, &below))
    }

    /// Fills `out` with draws, each cut to ±`limit`.
    pub(crate) fn fill<B: Bits>(&self, bits: &mut B, out: &mut [i64], limit: i64) {
        let mut below = vec![0; self.degrees_of_freedom as usize];
        for place in out {
            let mut draw = || Normal::sample(bits).fixed(bits);
            let top = draw();
            below.fill_with(draw);
            let floor = self
                .floor_in_cells(top, &below)
                .unwrap_or_else(|| self.floor_exactly(bits, top, &below))
                .clamp(-i128::from(limit), i128::from(limit));
            *place = floor as i64;
        }
        below.zeroize();
    }

    /// As [`floor_in_doubles`](Self::floor_in_doubles), for results below 2⁶² and in fewer operations.
    #[inline]
    pub(super) fn floor_in_cells(&self, top: i128, below: &[i128]) -> Option<i128> {
        let nu = f64::from(self.degrees_of_freedom);
        let top = in_cells(top);
        let square_sum: f64 = below.iter().map(|z| in_cells(*z)).map(|x| x * x).sum();
        let inverse = (nu / square_sum).sqrt();
        let value = self.scale as f64 * top * inverse;
        // Every number is off by less than (|x| + 1)·2⁻⁵² cells: see the proof.
        let relative = (nu + 16.0) + 2.0 * inverse;
        let doubt = f64::EPSILON * (value.abs() * relative + 2.0 * self.scale as f64 * inverse + 1.0);
        let floor = value.floor();
        let is_clear = inverse < 1.0 && doubt < 0.25 && value - floor > doubt && floor + 1.0 - value > doubt;
        is_clear.then_some(i128::from(floor as i64))
    }

    pub(super) fn floor_in_doubles(&self, top: i128, below: &[i128]) -> Option<i128> {
        let unit = (2f64).powi(-(CELL_BITS as i32) - 64);
        let square_sum: f64 = below.iter().map(|z| (*z as f64 * unit).powi(2)).sum();
        let nu = f64::from(self.degrees_of_freedom);
        let value = self.scale as f64 * (top as f64 * unit) * (nu / square_sum).sqrt();
        // Each double operation is off by a relative 2⁻⁵³, the sum of ν squares by less than ν of them; and the
        // numbers themselves are known to one unit only.
        let known = 1.0 / (top as f64).abs().max(1.0) + 2.0 * nu.sqrt() * unit / square_sum.sqrt();
        let doubt = value.abs() * ((nu + 16.0) * f64::EPSILON + 2.0 * known) + f64::EPSILON;
        let floor = value.floor();
        (doubt < 0.25 && value - floor > doubt && floor + 1.0 - value > doubt).then_some(floor as i128)
    }

    #[cold]
    pub(super) fn floor_exactly<B: Bits>(&self, bits: &mut B, top: i128, below: &[i128]) -> i128 {
        let mut numbers: Vec<IBig> = std::iter::once(&top).chain(below).map(|z| IBig::from(*z)).collect();
        loop {
            let (low, high) = self.floor_bounds(&numbers);
            if low == high {
                return saturate(&low);
            }
            for number in &mut numbers {
                *number = (number.clone() << 64) + IBig::from(bits.word());
            }
        }
    }

    /// The floors at the two ends of what the known digits allow.
    fn floor_bounds(&self, numbers: &[IBig]) -> (IBig, IBig) {
        // A number n stands for a real in [n, n + 1); squares of magnitudes are bounded likewise.
        let square_ends = |n: &IBig| {
            let (near, far) = if *n < IBig::ZERO { (-n - IBig::ONE, -n) } else { (n.clone(), n + IBig::ONE) };
            (magnitude(&near).pow(2), magnitude(&far).pow(2))
        };
        let (mut least, mut most) = (UBig::ZERO, UBig::ZERO);
        for number in &numbers[1..] {
            let (near, far) = square_ends(number);
            least += near;
            most += far;
        }
        if least == UBig::ZERO {
            return (IBig::ZERO, IBig::ONE);
        }
        let factor = UBig::from(self.scale).pow(2) * UBig::from(self.degrees_of_freedom);
        let (near, far) = square_ends(&numbers[0]);
        let small = IBig::from((&factor * near / most).sqrt());
        let large = IBig::from((&factor * far / least).sqrt());
        if numbers[0] < IBig::ZERO { (-large - IBig::ONE, -small - IBig::ONE) } else { (small, large) }
    }
}

/// A number of units of 2⁻⁸⁸ in cells.
#[inline]
fn in_cells(fixed: i128) -> f64 {
    (fixed >> 64) as i64 as f64 + fixed as u64 as f64 * (1.0 / 18_446_744_073_709_551_616.0)
}

fn magnitude(value: &IBig) -> UBig {
    UBig::try_from(value.clone()).unwrap_or(UBig::ZERO)
}
