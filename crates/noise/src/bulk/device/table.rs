//! What the kernels read beside their arguments.

use crate::sampler::INVERSE_E;
use crate::sampler::normal::{BASE_WIDTH, CLEAR, LAYERS, TAIL_START, layers};
use crate::sampler::normal_big as exact;
use dashu_int::UBig;
use std::sync::OnceLock;

/// Words of a number in fixed point, the lowest first.
const WIDE: usize = 8;

/// The words of the table that the kernels read. It is the same for every call, and public.
///
/// | from | words | content |
/// |---|---|---|
/// | 0 | 256 | layer i: half-width in cells, and 2³² times the number of sure cells |
/// | 256 | 256 | height at which layer i begins, divided by the area of a layer, as a double |
/// | 512 | 2048 | the same height in fixed point of 384 bits: 8 words for each layer, the lowest first |
/// | 2560 | 8 | t(1 − e^{−1/t}) for the scale t of the tail, in the same fixed point |
/// | 2568 | 4 | the first 256 bits of 1/e, the highest word first |
/// | 2572 | 1 | the area of a layer as a double |
/// | 2573 | 1 | the same area, multiplied by a power of two that makes it whole |
/// | 2574 | 1 | the exponent of that power |
/// | 2575 | 1 | relative distance from which doubles decide, as a double |
/// | 2576 | 1 | where the tail begins, in cells |
/// | 2577 | 1 | half-width of layer 0, in cells |
pub fn table() -> &'static [u64] {
    static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let layers = layers();
        let mut table: Vec<u64> = Vec::new();
        table.extend((0..LAYERS).map(|i| u64::from(layers.width(i)) | u64::from(layers.sure(i)) << 32));
        table.extend((0..LAYERS).map(|i| layers.floor(i).to_bits()));
        (0..LAYERS).for_each(|i| extend_wide(&mut table, &exact::floor(i)));
        extend_wide(&mut table, &exact::correction());
        table.extend(INVERSE_E);
        let (mantissa, shift) = exact::area();
        table.extend([layers.area.to_bits(), mantissa, u64::from(shift), CLEAR.to_bits()]);
        table.extend([TAIL_START, BASE_WIDTH].map(u64::from));
        table
    })
}

fn extend_wide(table: &mut Vec<u64>, value: &UBig) {
    let mut bytes = value.to_le_bytes().into_vec();
    assert!(bytes.len() <= 8 * WIDE, "a number of the table has more than {WIDE} words");
    bytes.resize(8 * WIDE, 0);
    table.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
}
