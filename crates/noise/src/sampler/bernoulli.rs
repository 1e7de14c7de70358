use super::big;
use crate::entropy::Bits;
use dashu_int::UBig;

/// True with probability exactly `num / den`, for num ≤ den and den > 0.
///
/// A uniform real u = 0.U₁U₂… in base 2⁶⁴ is below num/den iff its tail u′ satisfies
/// u′·den < num·2⁶⁴ − U₁·den: either the right side decides at once, or it is the new numerator.
#[inline]
pub fn bernoulli<B: Bits>(bits: &mut B, num: u128, den: u128) -> bool {
    debug_assert!(den > 0 && num <= den);
    match (u64::try_from(num), u64::try_from(den)) {
        (Ok(num), Ok(den)) => bernoulli_narrow(bits, num, den),
        _ => bernoulli_wide(bits, num, den),
    }
}

#[inline]
fn bernoulli_narrow<B: Bits>(bits: &mut B, num: u64, den: u64) -> bool {
    let mut num = num;
    loop {
        let (whole, used) = (u128::from(num) << 64, u128::from(bits.word()) * u128::from(den));
        if used >= whole {
            return false;
        }
        let rest = whole - used;
        if rest >= u128::from(den) {
            return true;
        }
        num = rest as u64;
    }
}

fn bernoulli_wide<B: Bits>(bits: &mut B, mut num: u128, den: u128) -> bool {
    loop {
        let word = u128::from(bits.word());
        // word·den in limbs (high u128, low u64), against num·2⁶⁴ whose low limb is 0.
        let low = word * (den & u128::from(u64::MAX));
        let high = word * (den >> 64) + (low >> 64);
        let low = low as u64;
        if high >= num {
            return false;
        }
        // rest = num·2⁶⁴ − (high·2⁶⁴ + low), positive.
        let borrow = u128::from(low != 0);
        let rest_high = num - high - borrow;
        let rest_low = low.wrapping_neg();
        if rest_high >> 64 != 0 {
            return true;
        }
        let rest = (rest_high << 64) | u128::from(rest_low);
        if rest >= den {
            return true;
        }
        num = rest;
    }
}

/// Denominators up to this width leave room for the factorial factor below.
const EXP_DEN_LIMIT: u128 = 1 << 112;

/// Runs this long have probability below 10⁻⁵⁷⁰⁰⁰.
const RUN_LIMIT: u64 = 1 << 14;

/// True with probability exactly exp(−num/den), den > 0.
///
/// # Reference
/// Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy* (2020), algorithm 1.
#[inline]
pub fn bernoulli_exp<B: Bits>(bits: &mut B, num: u128, den: u128) -> bool {
    debug_assert!(den > 0);
    if num == 0 {
        return true;
    }
    if num < den {
        return bernoulli_exp_fraction(bits, num, den);
    }
    let mut whole = num / den;
    while whole > 0 {
        if !bernoulli_exp_one(bits) {
            return false;
        }
        whole -= 1;
    }
    bernoulli_exp_fraction(bits, num % den, den)
}

/// exp(−num/den) for num < den: the number of successes of Bernoulli(x/1), Bernoulli(x/2), … before
/// the first failure is even with that probability.
#[inline]
fn bernoulli_exp_fraction<B: Bits>(bits: &mut B, num: u128, den: u128) -> bool {
    if den < 1 << 48 {
        return odd_stop(|k| bernoulli_narrow(bits, num as u64, den as u64 * k));
    }
    if den < EXP_DEN_LIMIT {
        return odd_stop(|k| bernoulli(bits, num, den * u128::from(k)));
    }
    big::bernoulli_exp(bits, &UBig::from(num), &UBig::from(den))
}

/// The first 256 bits of 1/e after the point.
pub(crate) const INVERSE_E: [u64; 4] =
    [0x5e2d_58d8_b3bc_df1a, 0xbade_c782_9054_f90d, 0xda98_05aa_b56c_7733, 0x3024_b9d0_a507_daed];

/// True with probability exactly 1/e: a uniform real is below it, digit by digit in base 2⁶⁴.
#[inline]
pub(super) fn bernoulli_exp_one<B: Bits>(bits: &mut B) -> bool {
    let word = bits.word();
    if word == INVERSE_E[0] { exp_one_tie(bits) } else { word < INVERSE_E[0] }
}

#[cold]
fn exp_one_tie<B: Bits>(bits: &mut B) -> bool {
    for index in 1.. {
        let digit = INVERSE_E.get(index).copied().unwrap_or_else(|| big::inverse_e_digit(index));
        let word = bits.word();
        if word != digit {
            return word < digit;
        }
        assert!(index < 64, "the random source is broken: it repeats itself");
    }
    unreachable!()
}

/// Runs trials number 1, 2, … to the first failure; whether its number is odd.
#[inline]
fn odd_stop(mut trial: impl FnMut(u64) -> bool) -> bool {
    let mut k = 1;
    while trial(k) {
        k += 1;
        assert!(k < RUN_LIMIT, "the random source is broken: it repeats itself");
    }
    k & 1 == 1
}
