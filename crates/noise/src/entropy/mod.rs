//! The project's only source of randomness.
//!
//! [`Entropy`] is a ChaCha20 generator keyed by the operating system. It cannot be cloned, printed or
//! serialised; it may move to another thread, where it remains the only holder of its key. It is rekeyed when the process has
//! forked and after every [`RESEED_WORDS`] words, its buffer forgets words as they are handed out, and key and buffers are
//! erased on drop.
//!
//! [`SeededForTests`] and [`Repeatable`] are different types: samplers accept them through [`Bits`], mechanisms do not.

mod chacha;
mod fork;
mod repeatable;
mod seeded;
mod stream;

pub(crate) use fork::generation;
pub use repeatable::Repeatable;
pub use seeded::SeededForTests;
pub(crate) use stream::{Block, Stream};

use crate::NoiseError;
use chacha20::rand_core::{Rng, SeedableRng};
use reticent_core::Cause;
use zeroize::Zeroize;

/// Words drawn before fresh operating-system randomness replaces the key (16 MiB).
pub const RESEED_WORDS: u64 = 1 << 21;

const BUFFER_WORDS: usize = 256;

/// A source of independent uniform 64-bit words.
pub trait Bits {
    /// The next word.
    fn word(&mut self) -> u64;

    /// One fair bit.
    fn bit(&mut self) -> bool {
        self.word() >> 63 == 1
    }
}

/// The generator behind every release.
///
/// # Guarantee
/// Words are indistinguishable from uniform to anyone who cannot break ChaCha20 or the operating
/// system's generator. A child process made by `fork` never repeats its parent's words.
pub struct Entropy {
    #[allow(clippy::disallowed_types)]
    core: chacha20::ChaCha20Rng,
    buffer: [[u8; 8]; BUFFER_WORDS],
    next: usize,
    generation: u64,
    drawn: u64,
}

/// 32 bytes from the operating system.
fn os_key() -> Result<[u8; 32], NoiseError> {
    let mut key = [0u8; 32];
    #[allow(clippy::disallowed_methods)]
    getrandom::fill(&mut key).map_err(|error| NoiseError::Entropy(Cause::new(error)))?;
    Ok(key)
}

#[allow(clippy::disallowed_types)]
fn keyed(mut key: [u8; 32]) -> chacha20::ChaCha20Rng {
    let core = chacha20::ChaCha20Rng::from_seed(key);
    key.zeroize();
    core
}

impl Entropy {
    /// A generator freshly keyed by the operating system.
    ///
    /// # Errors
    /// [`NoiseError::Entropy`] when the operating system gives no randomness.
    pub fn new() -> Result<Self, NoiseError> {
        let generation = fork::generation();
        Ok(Self {
            core: keyed(os_key()?),
            buffer: [[0; 8]; BUFFER_WORDS],
            next: BUFFER_WORDS,
            generation,
            drawn: 0,
        })
    }

    /// Throws away buffered words and takes a fresh key.
    ///
    /// Panics when the operating system provides no randomness: there is no safe way to continue.
    #[cold]
    fn reseed(&mut self) {
        self.generation = fork::generation();
        self.drawn = 0;
        match os_key() {
            Ok(key) => self.core = keyed(key),
            Err(error) => panic!("{error}"),
        }
        self.refill();
    }

    #[cold]
    fn refill(&mut self) {
        if self.drawn >= RESEED_WORDS {
            return self.reseed();
        }
        self.core.fill_bytes(self.buffer.as_flattened_mut());
        self.next = 0;
        self.drawn += BUFFER_WORDS as u64;
    }

    /// A key for an independent stream, e.g. for a worker thread.
    pub(crate) fn key(&mut self) -> [u8; 32] {
        let mut key = [0u8; 32];
        for chunk in key.chunks_exact_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes());
        }
        key
    }
}

impl Bits for Entropy {
    #[inline]
    fn word(&mut self) -> u64 {
        if fork::generation() != self.generation {
            self.reseed();
        }
        if self.next == BUFFER_WORDS {
            self.refill();
        }
        let word = u64::from_le_bytes(self.buffer[self.next]);
        self.buffer[self.next] = [0; 8];
        self.next += 1;
        word
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        self.buffer.as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests;
