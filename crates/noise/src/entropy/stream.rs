use super::chacha::{ChaCha12, WORDS};
use super::{Bits, Entropy};
use zeroize::Zeroize;

/// Words drawn together, as their low and high halves, erased on drop.
pub(crate) struct Block {
    halves: Box<[[u32; Self::WORDS]; 2]>,
}

impl Block {
    pub(crate) const WORDS: usize = WORDS;

    pub(crate) fn new() -> Self {
        Self { halves: Box::new([[0; Self::WORDS]; 2]) }
    }

    /// The low and the high halves of all words, in order.
    #[inline]
    pub(crate) fn halves(&self) -> [&[u32; Self::WORDS]; 2] {
        self.halves.each_ref()
    }

    /// One word.
    #[inline]
    pub(crate) fn word(&self, index: usize) -> u64 {
        let [low, high] = self.halves();
        u64::from(low[index]) | u64::from(high[index]) << 32
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.halves.as_flattened_mut().zeroize();
    }
}

/// A short-lived ChaCha12 stream keyed by an [`Entropy`], for filling vectors from worker threads.
///
/// It can be sent to a thread because it lives only inside one bulk call, in one process.
pub(crate) struct Stream {
    core: ChaCha12,
    /// Single words are taken from here.
    buffer: Block,
    next: usize,
}

impl Stream {
    pub(crate) fn new(entropy: &mut Entropy) -> Self {
        let mut key = entropy.key();
        let core = ChaCha12::new(&key);
        key.zeroize();
        Self { core, buffer: Block::new(), next: Block::WORDS }
    }

    /// Fills a block with fresh words.
    pub(crate) fn fill(&mut self, block: &mut Block) {
        let [low, high] = block.halves.each_mut();
        self.core.fill(low, high);
    }

    #[cold]
    fn refill(&mut self) {
        let [low, high] = self.buffer.halves.each_mut();
        self.core.fill(low, high);
        self.next = 0;
    }
}

impl Bits for Stream {
    #[inline]
    fn word(&mut self) -> u64 {
        if self.next == Block::WORDS {
            self.refill();
        }
        let word = self.buffer.word(self.next);
        self.next += 1;
        word
    }
}
