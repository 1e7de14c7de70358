//! The height comparisons of the ziggurat in fixed point, for the rare ones doubles leave open.

use super::normal::{BASE_WIDTH, CELL_BITS, TAIL_BITS, TAIL_SCALE, TAIL_START, layers};
use crate::entropy::Bits;
use dashu_int::UBig;

/// Fixed-point precision in bits.
pub(super) const PRECISION: usize = 384;

/// Words of height drawn beyond the first.
const MORE_WORDS: usize = 4;

/// 2^PRECISION · e^{−num/den}, off by less than 2²⁰ units, for num/den below 2¹⁰.
pub(super) fn exp_neg(num: &UBig, den: &UBig) -> UBig {
    const HALVINGS: usize = 12;
    const GUARD: usize = 64;
    let precision = PRECISION + GUARD;
    let one = UBig::ONE << precision;
    // e^{−z} for z = num/den/2^HALVINGS ≤ 1/4 by its alternating series, then squared back.
    let z = ((num << precision) / den) >> HALVINGS;
    let (mut positive, mut negative) = (one.clone(), UBig::ZERO);
    let mut term = one;
    for k in 1u32.. {
        term = ((&term * &z) >> precision) / UBig::from(k);
        if term == UBig::ZERO {
            break;
        }
        if k % 2 == 1 {
            negative += &term;
        } else {
            positive += &term;
        }
    }
    let mut value = positive - negative;
    for _ in 0..HALVINGS {
        value = (&value * &value) >> precision;
    }
    value >> GUARD
}

/// The area of a layer as an exact ratio: a whole number and the power of two it is divided by.
pub(crate) fn area() -> (u64, u32) {
    let bits = layers().area.to_bits();
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let exponent = (bits >> 52) as i32 - 1075;
    (mantissa, exponent.unsigned_abs())
}

/// A uniform number in fixed point that begins with `first`.
fn uniform<B: Bits>(bits: &mut B, first: u64) -> UBig {
    let mut value = UBig::from(first);
    for _ in 0..MORE_WORDS {
        value = (value << 64) | UBig::from(bits.word());
    }
    value << (PRECISION - 64 * (1 + MORE_WORDS))
}

/// e^{−x²/2} in fixed point for x = (2·steps + 1) / 2^(point + 1), the middle of a step.
fn density(steps: UBig, point: usize) -> UBig {
    let twice = steps * UBig::from(2u8) + UBig::ONE;
    exp_neg(&(&twice * &twice), &(UBig::ONE << (2 * point + 3)))
}

/// Height at which a layer begins, divided by the area, in fixed point.
pub(crate) fn floor(layer: usize) -> UBig {
    let unit = UBig::ONE << (PRECISION + CELL_BITS as usize);
    (0..layer).map(|below| &unit / UBig::from(layers().width(below))).fold(UBig::ZERO, |sum, part| sum + part)
}

/// Whether a point of a layer's wedge lies under the density.
pub(crate) fn wedge<B: Bits>(bits: &mut B, layer: usize, magnitude: u32, position: u64, height: u64) -> bool {
    let within = (uniform(bits, height) << CELL_BITS as usize) / UBig::from(layers().width(layer));
    let (area, shift) = area();
    let level = ((floor(layer) + within) * UBig::from(area)) >> shift as usize;
    let steps = (UBig::from(magnitude) << 64) | UBig::from(position);
    level < density(steps, CELL_BITS as usize + 64)
}

/// t(1 − e^{−1/t}) for the scale t of the tail, in fixed point.
pub(crate) fn correction() -> UBig {
    let scale = UBig::from(TAIL_SCALE);
    ((UBig::ONE << PRECISION) - exp_neg(&UBig::ONE, &scale)) * scale
}

/// Whether a point under the tail's staircase lies under the density.
///
/// Step j of the geometric proposal, filled uniformly, has height y₁·t(1 − e^{−1/t})·e^{−j/t}, which
/// makes the staircase's total area exactly that of the part of layer 0 beyond the tail's start.
pub(crate) fn tail<B: Bits>(bits: &mut B, steps: u64, inside: u32, height: u64) -> bool {
    let scale = UBig::from(TAIL_SCALE);
    let (area, shift) = area();
    let envelope = (exp_neg(&UBig::from(steps), &scale) * correction()) >> PRECISION;
    let level = (uniform(bits, height) * envelope) >> PRECISION;
    let level =
        ((level * UBig::from(area)) << CELL_BITS as usize) / (UBig::from(BASE_WIDTH) << shift as usize);
    let position = (UBig::from(TAIL_START) << TAIL_BITS as usize) + UBig::from(steps);
    level < density((position << 32) | UBig::from(inside), (CELL_BITS + TAIL_BITS) as usize + 32)
}
