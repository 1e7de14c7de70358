use super::{Bits, Entropy};
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroize;

const BUFFER_WORDS: usize = 256;

/// Words drawn together, kept as the keystream's bytes and erased on drop.
pub(crate) struct Block {
    words: Box<[[u8; 8]; Self::WORDS]>,
}

impl Block {
    pub(crate) const WORDS: usize = 1024;

    pub(crate) fn new() -> Self {
        Self { words: Box::new([[0; 8]; Self::WORDS]) }
    }

    /// All words, in order.
    #[inline]
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// One word.
    #[inline]
    pub(crate) fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self.words[index])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.words.as_flattened_mut().zeroize();
    }
}

/// A short-lived ChaCha12 stream keyed by an [`Entropy`], for filling vectors from worker threads.
///
/// It can be sent to a thread because it lives only inside one bulk call, in one process.
pub(crate) struct Stream {
    #[allow(clippy::disallowed_types)]
    core: chacha20::ChaCha12Rng,
    buffer: [[u8; 8]; BUFFER_WORDS],
    next: usize,
}

impl Stream {
    #[allow(clippy::disallowed_types)]
    pub(crate) fn new(entropy: &mut Entropy) -> Self {
        let mut key = entropy.key();
        let core = chacha20::ChaCha12Rng::from_seed(key);
        key.zeroize();
        Self { core, buffer: [[0; 8]; BUFFER_WORDS], next: BUFFER_WORDS }
    }

    /// Fills a block with fresh words.
    pub(crate) fn fill(&mut self, block: &mut Block) {
        self.core.fill_bytes(block.words.as_flattened_mut());
    }

    #[cold]
    fn refill(&mut self) {
        self.core.fill_bytes(self.buffer.as_flattened_mut());
        self.next = 0;
    }
}

impl Bits for Stream {
    #[inline]
    fn word(&mut self) -> u64 {
        if self.next == BUFFER_WORDS {
            self.refill();
        }
        let word = u64::from_le_bytes(self.buffer[self.next]);
        self.next += 1;
        word
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.buffer.as_flattened_mut().zeroize();
    }
}
