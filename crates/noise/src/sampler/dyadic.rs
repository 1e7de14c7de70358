use crate::NoiseError;
use dashu_int::UBig;

/// A positive rational with a power of two below: `numerator / 2^shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dyadic {
    /// The numerator, not 0.
    pub numerator: u128,
    /// The exponent of the denominator.
    pub shift: u32,
}

impl Dyadic {
    /// The smallest dyadic of at most `bits` significant bits that is at least `value`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] naming `field` unless 2⁻⁶⁰ ≤ value ≤ 2¹⁰⁰.
    pub fn at_least(field: &'static str, value: f64, bits: u32) -> Result<Self, NoiseError> {
        if !(value >= (2f64).powi(-60) && value <= (2f64).powi(100)) {
            return Err(NoiseError::invalid(field, value, "give a number from 2^-60 to 2^100"));
        }
        let raw = value.to_bits();
        let mantissa = (raw & ((1 << 52) - 1)) | (1 << 52);
        let exponent = (raw >> 52) as i32 - 1075;
        // value = mantissa·2^exponent with a 53-bit mantissa; keep its top `bits`, rounding up.
        let drop = 53u32.saturating_sub(bits);
        let kept = (mantissa >> drop) + u64::from(mantissa & ((1 << drop) - 1) != 0);
        let exponent = exponent + drop as i32;
        let zeros = kept.trailing_zeros().min((-exponent).max(0) as u32);
        let (kept, exponent) = (u128::from(kept >> zeros), exponent + zeros as i32);
        Ok(if exponent >= 0 {
            Self { numerator: kept << exponent, shift: 0 }
        } else {
            Self { numerator: kept, shift: -exponent as u32 }
        })
    }

    /// An integer.
    pub fn integer(numerator: u128) -> Self {
        Self { numerator, shift: 0 }
    }

    /// As a double, rounded down.
    pub fn to_f64_down(self) -> f64 {
        let nearest = self.numerator as f64;
        // A cast to f64 rounds to nearest; step down when it went up.
        let nearest = if nearest as u128 > self.numerator { nearest.next_down() } else { nearest };
        nearest * (2f64).powi(-(self.shift as i32))
    }

    pub(super) fn denominator(self) -> UBig {
        UBig::ONE << self.shift as usize
    }
}
