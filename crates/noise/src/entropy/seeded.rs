use super::Bits;
use chacha20::rand_core::{Rng, SeedableRng};

/// A repeatable generator for tests of samplers.
///
/// It is not an [`Entropy`](super::Entropy), which is the only thing a mechanism draws from, so
/// nothing that releases data can run on it.
pub struct SeededForTests {
    #[allow(clippy::disallowed_types)]
    core: chacha20::ChaCha20Rng,
}

impl SeededForTests {
    /// The generator with this seed.
    #[allow(clippy::disallowed_types)]
    pub fn new(seed: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { core: chacha20::ChaCha20Rng::from_seed(key) }
    }
}

impl Bits for SeededForTests {
    fn word(&mut self) -> u64 {
        self.core.next_u64()
    }
}
