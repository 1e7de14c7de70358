//! The noise of a device from the samplers of this crate and an independent ChaCha12.

use super::super::threads;
use crate::entropy::Bits;
use crate::sampler::normal::{TAIL_BITS, TAIL_SCALE, TAIL_START, layers};
use crate::sampler::{Normal, geometric, normal_big as exact};
use chacha20::rand_core::{Rng, SeedableRng};

/// The words of the block with this counter and this nonce.
#[allow(clippy::disallowed_types)]
fn block(key: &[u32; 8], counter: u64, nonce: u64) -> [u64; 8] {
    let mut seed = [0; 32];
    for (bytes, word) in seed.as_chunks_mut().0.iter_mut().zip(key) {
        *bytes = word.to_le_bytes();
    }
    let mut peer = chacha20::ChaCha12Rng::from_seed(seed);
    peer.set_stream(nonce);
    peer.set_block_pos(counter);
    std::array::from_fn(|_| peer.next_u64())
}

/// Further words of a group.
pub(super) struct Further<'a> {
    key: &'a [u32; 8],
    group: u64,
    nonce: u64,
    words: std::array::IntoIter<u64, 8>,
}

impl<'a> Further<'a> {
    pub(super) fn new(key: &'a [u32; 8], group: u64) -> Self {
        let mut words = [0; 8].into_iter();
        words.by_ref().for_each(drop);
        Self { key, group, nonce: 0, words }
    }
}

impl Bits for Further<'_> {
    fn word(&mut self) -> u64 {
        self.words.next().unwrap_or_else(|| {
            self.nonce += 1;
            self.words = block(self.key, self.group, self.nonce).into_iter();
            self.words.next().unwrap()
        })
    }
}

/// The cell of a word that is left open.
pub(super) fn settle(word: u64, further: &mut Further<'_>) -> i32 {
    Normal::attempt_with(word, further, layers()).unwrap_or_else(|| Normal::sample(further)).cell
}

/// As [`settle`], with every comparison in fixed point.
pub(super) fn settle_exactly(mut word: u64, further: &mut Further<'_>) -> i32 {
    let table = layers();
    loop {
        let layer = (word & 255) as usize;
        let (width, cells) = (table.width(layer), u64::from(2 * table.width(layer)));
        let mut product = u128::from(word & !255) * u128::from(cells);
        while ((product as u64) >> 8) < (1 << 56) % cells {
            product = u128::from(further.word() & !255) * u128::from(cells);
        }
        let cell = (product >> 64) as i32 - width as i32;
        let mut magnitude = (cell ^ (cell >> 31)) as u32;
        let accept = if magnitude < table.sure(layer) {
            true
        } else if layer == 0 && magnitude >= TAIL_START {
            let steps = geometric(further, TAIL_SCALE).min(1 << 60) as u64;
            magnitude = TAIL_START + (steps >> TAIL_BITS) as u32;
            let (inside, height) = (further.word() as u32, further.word());
            exact::tail(further, steps, inside, height)
        } else {
            let (position, height) = (further.word(), further.word());
            exact::wedge(further, layer, magnitude, position, height)
        };
        if accept {
            return if cell < 0 { -(magnitude as i32) - 1 } else { magnitude as i32 };
        }
        word = further.word();
    }
}

/// The noise of n coordinates, in steps.
pub(super) fn cells(n: usize, key: &[u32; 8]) -> Vec<i32> {
    let mut cells = vec![0; n];
    for group in 0..threads(n) {
        let mut further = Further::new(key, group as u64);
        let places = (0..8).map(|j| group / 32 * 256 + 32 * j + group % 32);
        for (place, word) in places.zip(block(key, group as u64, 0)).filter(|(place, _)| *place < n) {
            let (cell, is_open) = layers().cell_at_once(word as u32, (word >> 32) as u32);
            cells[place] = if is_open { settle(word, &mut further) } else { cell };
        }
    }
    cells
}
