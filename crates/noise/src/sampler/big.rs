//! The same algorithms on big integers: slow, width without limit.

use crate::entropy::Bits;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

/// Uniform on {0, …, n − 1}: as many bits as n has, rejected until below n.
pub fn uniform_below<B: Bits>(bits: &mut B, n: &UBig) -> UBig {
    let width = n.bit_len();
    loop {
        let mut value = UBig::ZERO;
        for _ in 0..width.div_ceil(64) {
            value = (value << 64) | UBig::from(bits.word());
        }
        value >>= width.div_ceil(64) * 64 - width;
        if value < *n {
            return value;
        }
    }
}

/// True with probability num/den.
pub fn bernoulli<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> bool {
    uniform_below(bits, den) < *num
}

/// True with probability exp(−num/den).
pub fn bernoulli_exp<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> bool {
    let mut whole = num / den;
    let rest = num % den;
    while whole > UBig::ZERO {
        if !bernoulli_exp_unit(bits, &UBig::ONE, &UBig::ONE) {
            return false;
        }
        whole -= UBig::ONE;
    }
    bernoulli_exp_unit(bits, &rest, den)
}

fn bernoulli_exp_unit<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> bool {
    let mut k = 1u64;
    while bernoulli(bits, num, &(den * UBig::from(k))) {
        k += 1;
    }
    k % 2 == 1
}

/// Digit number `index` of 1/e = 0.D₀D₁… in base 2⁶⁴.
pub(super) fn inverse_e_digit(index: usize) -> u64 {
    let wanted = 64 * (index + 1);
    for guard in (64..).step_by(64) {
        // Σ (−1)^k / k! in fixed point; each of fewer than `precision` terms is off by less than a unit.
        let precision = wanted + guard;
        let (mut positive, mut negative, mut term) = (UBig::ZERO, UBig::ZERO, UBig::ONE << precision);
        let mut k = 0u64;
        while term != UBig::ZERO {
            if k.is_multiple_of(2) {
                positive += &term
            } else {
                negative += &term
            }
            k += 1;
            term /= UBig::from(k);
        }
        let (value, error) = (positive - negative, UBig::from(precision));
        let (low, high) = ((&value - &error) >> guard, (&value + &error) >> guard);
        if low == high {
            return u64::try_from(low & UBig::from(u64::MAX)).unwrap_or(0);
        }
    }
    unreachable!()
}

/// Geometric with ratio e^{−den/num}, i.e. scale num/den, one-sided.
pub fn geometric<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> UBig {
    let start = loop {
        let candidate = uniform_below(bits, num);
        if bernoulli_exp(bits, &candidate, num) {
            break candidate;
        }
    };
    let mut rounds = UBig::ZERO;
    while bernoulli_exp_unit(bits, &UBig::ONE, &UBig::ONE) {
        rounds += UBig::ONE;
    }
    (start + num * rounds) / den
}

/// Discrete Laplace with scale num/den.
pub fn discrete_laplace<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> IBig {
    loop {
        let magnitude = geometric(bits, num, den);
        let negative = bits.bit();
        if !(negative && magnitude == UBig::ZERO) {
            let value = IBig::from(magnitude);
            return if negative { -value } else { value };
        }
    }
}

/// Discrete Gaussian with σ = num/den.
pub fn discrete_gaussian<B: Bits>(bits: &mut B, num: &UBig, den: &UBig) -> IBig {
    let t = num / den + UBig::ONE;
    let (pp, qq, tt) = (num * num, den * den, &t * &t);
    let below = UBig::from(2u8) * &pp * &qq * tt;
    loop {
        let candidate = discrete_laplace(bits, &t, &UBig::ONE);
        let magnitude =
            UBig::try_from(if candidate < IBig::ZERO { -candidate.clone() } else { candidate.clone() })
                .unwrap_or(UBig::ZERO);
        let scaled = magnitude * &t * &qq;
        let gap = if scaled > pp { scaled - &pp } else { &pp - scaled };
        if bernoulli_exp(bits, &(&gap * &gap), &below) {
            return candidate;
        }
    }
}

/// As i128, cut to ±2¹²⁶.
pub fn saturate(value: &IBig) -> i128 {
    let limit = 1i128 << 126;
    match i128::try_from(value.clone()) {
        Ok(small) => small.clamp(-limit, limit),
        Err(_) if *value < IBig::ZERO => -limit,
        Err(_) => limit,
    }
}
