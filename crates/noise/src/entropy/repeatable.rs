use super::Bits;
use chacha20::rand_core::{Rng, SeedableRng};

/// A generator that gives the same words again for the same key, for work that must be repeatable and protects nothing: the
/// starting weights and the batches of models without a guarantee.
///
/// It is not an [`Entropy`](super::Entropy), which is the only thing a mechanism draws from, so nothing that releases
/// data can run on it.
#[derive(Debug)]
pub struct Repeatable {
    #[allow(clippy::disallowed_types)]
    core: chacha20::ChaCha12Rng,
}

impl Repeatable {
    /// The generator with this key.
    #[allow(clippy::disallowed_types)]
    pub fn new(key: [u64; 4]) -> Self {
        let mut seed = [0u8; 32];
        for (place, word) in seed.chunks_exact_mut(8).zip(key) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Self { core: chacha20::ChaCha12Rng::from_seed(seed) }
    }
}

impl Bits for Repeatable {
    fn word(&mut self) -> u64 {
        self.core.next_u64()
    }
}
