use super::{Bits, Entropy};
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroize;

const BUFFER_WORDS: usize = 1024;

/// A short-lived ChaCha12 stream keyed by an [`Entropy`], for filling vectors from worker threads.
///
/// It can be sent to a thread because it lives only inside one bulk call, in one process.
pub(crate) struct Stream {
    #[allow(clippy::disallowed_types)]
    core: chacha20::ChaCha12Rng,
    buffer: Box<[u64; BUFFER_WORDS]>,
    bytes: Box<[u8; 8 * BUFFER_WORDS]>,
    next: usize,
}

impl Stream {
    #[allow(clippy::disallowed_types)]
    pub(crate) fn new(entropy: &mut Entropy) -> Self {
        let mut key = entropy.key();
        let core = chacha20::ChaCha12Rng::from_seed(key);
        key.zeroize();
        Self {
            core,
            buffer: Box::new([0; BUFFER_WORDS]),
            bytes: Box::new([0; 8 * BUFFER_WORDS]),
            next: BUFFER_WORDS,
        }
    }

    #[cold]
    fn refill(&mut self) {
        self.core.fill_bytes(&mut self.bytes[..]);
        for (word, chunk) in self.buffer.iter_mut().zip(self.bytes.chunks_exact(8)) {
            let mut eight = [0u8; 8];
            eight.copy_from_slice(chunk);
            *word = u64::from_le_bytes(eight);
        }
        self.next = 0;
    }
}

impl Bits for Stream {
    #[inline]
    fn word(&mut self) -> u64 {
        if self.next == BUFFER_WORDS {
            self.refill();
        }
        let word = self.buffer[self.next];
        self.next += 1;
        word
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.buffer.zeroize();
        self.bytes.zeroize();
    }
}
