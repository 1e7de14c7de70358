//! The ChaCha12 keystream, as many blocks at a time as the processor's vectors have lanes.
//!
//! A vector holds the same word of several blocks, so the rounds never move a number from lane to lane. The order of the
//! words in the output depends on the number of lanes; that they are the words of the keystream, each once, does not.

use pulp::{Arch, Simd, WithSimd};
use zeroize::Zeroize;

/// 64-bit words of one fill: the words of 128 blocks, a multiple of every number of lanes.
pub(super) const WORDS: usize = 1024;

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// More lanes than any processor has.
const LANES: [u32; 64] = {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane] = lane as u32;
        lane += 1;
    }
    lanes
};

/// A keystream: the key, erased on drop, and the number of blocks used.
///
/// # Reference
/// Bernstein, *ChaCha, a variant of Salsa20* (2008), with 12 rounds, a 64-bit block counter and the nonce 0.
pub(super) struct ChaCha12 {
    key: [u32; 8],
    /// A multiple of the blocks of a fill.
    counter: u64,
}

impl ChaCha12 {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key: words, counter: 0 }
    }

    /// The next words of the keystream: their low and their high halves.
    pub(super) fn fill(&mut self, low: &mut [u32; WORDS], high: &mut [u32; WORDS]) {
        Arch::new().dispatch(Fill { stream: self, low, high });
    }
}

impl Drop for ChaCha12 {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

struct Fill<'a> {
    stream: &'a mut ChaCha12,
    low: &'a mut [u32; WORDS],
    high: &'a mut [u32; WORDS],
}

/// The bits of each number rotated to the left.
#[inline(always)]
fn rotate<S: Simd>(simd: S, x: S::u32s, bits: u32) -> S::u32s {
    let left = simd.wrapping_dyn_shl_u32s(x, simd.splat_u32s(bits));
    simd.or_u32s(left, simd.wrapping_dyn_shr_u32s(x, simd.splat_u32s(32 - bits)))
}

#[inline(always)]
fn quarter_round<S: Simd>(simd: S, x: &mut [S::u32s; 16], [a, b, c, d]: [usize; 4]) {
    for (to, from, into, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        x[to] = simd.add_u32s(x[to], x[from]);
        x[into] = rotate(simd, simd.xor_u32s(x[into], x[to]), bits);
    }
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { stream: ChaCha12 { key, counter }, low, high } = self;
        let (lows, highs) = (S::as_mut_simd_u32s(low).0, S::as_mut_simd_u32s(high).0);
        let (lanes, _) = S::as_simd_u32s(&LANES);
        for (lows, highs) in lows.chunks_exact_mut(8).zip(highs.chunks_exact_mut(8)) {
            let mut start = [simd.splat_u32s(0); 16];
            for (vector, word) in start.iter_mut().zip(CONSTANTS.iter().chain(key.iter())) {
                *vector = simd.splat_u32s(*word);
            }
            // The low half of the counter cannot overflow within a vector, whose lanes divide 2³².
            start[12] = simd.add_u32s(simd.splat_u32s(*counter as u32), lanes[0]);
            start[13] = simd.splat_u32s((*counter >> 32) as u32);
            *counter = counter.wrapping_add(S::U32_LANES as u64);
            let mut x = start;
            for _ in 0..6 {
                for column in 0..4 {
                    quarter_round(simd, &mut x, [column, column + 4, column + 8, column + 12]);
                }
                for diagonal in 0..4 {
                    let place = |row: usize| 4 * row + (diagonal + row) % 4;
                    quarter_round(simd, &mut x, [0, 1, 2, 3].map(place));
                }
            }
            for word in 0..8 {
                lows[word] = simd.add_u32s(x[2 * word], start[2 * word]);
                highs[word] = simd.add_u32s(x[2 * word + 1], start[2 * word + 1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::rand_core::{Rng, SeedableRng};

    const BLOCKS: u64 = WORDS as u64 / 8;

    /// A fill on the scalar path or on the widest vectors, with the number of lanes.
    fn fill(stream: &mut ChaCha12, wide: bool) -> (usize, Vec<u64>) {
        struct Counted<'a>(Fill<'a>);
        impl WithSimd for Counted<'_> {
            type Output = usize;
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> usize {
                self.0.with_simd(simd);
                S::U32_LANES
            }
        }
        let (mut low, mut high) = ([0; WORDS], [0; WORDS]);
        let fill = Counted(Fill { stream, low: &mut low, high: &mut high });
        let lanes = if wide { Arch::new().dispatch(fill) } else { Arch::Scalar.dispatch(fill) };
        let words = low.iter().zip(&high).map(|(low, high)| u64::from(*low) | u64::from(*high) << 32);
        (lanes, words.collect())
    }

    #[test]
    #[allow(clippy::disallowed_types)]
    fn words_are_those_of_an_independent_implementation() {
        let key: [u8; 32] = std::array::from_fn(|i| (i * 37 + 5) as u8);
        for wide in [false, true] {
            let mut peer = chacha20::ChaCha12Rng::from_seed(key);
            let mut stream = ChaCha12::new(&key);
            for _ in 0..3 {
                let (lanes, words) = fill(&mut stream, wide);
                let expected: Vec<u64> = (0..WORDS).map(|_| peer.next_u64()).collect();
                for (block, expected) in expected.chunks_exact(8).enumerate() {
                    for (word, expected) in expected.iter().enumerate() {
                        let place = (block / lanes * 8 + word) * lanes + block % lanes;
                        assert_eq!(words[place], *expected, "{lanes} lanes, block {block}, word {word}");
                    }
                }
            }
        }
    }

    #[test]
    #[allow(clippy::disallowed_types)]
    fn the_counter_has_64_bits() {
        let key = [7; 32];
        let mut peer = chacha20::ChaCha12Rng::from_seed(key);
        for counter in [(1u64 << 32) - BLOCKS, 5 << 32] {
            let mut stream = ChaCha12::new(&key);
            stream.counter = counter;
            let (lanes, words) = fill(&mut stream, true);
            peer.set_word_pos(u128::from(counter) * 16);
            assert_eq!(words[0], peer.next_u64());
            assert_eq!(stream.counter, counter + BLOCKS);
            let (_, next) = fill(&mut stream, true);
            peer.set_word_pos(u128::from(counter + BLOCKS + lanes as u64 - 1) * 16);
            assert_eq!(next[lanes - 1], peer.next_u64());
        }
    }
}
