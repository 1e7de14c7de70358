//! SipHash-2-4 (Aumasson and Bernstein, 2012).

/// A hash in the making.
#[derive(Clone)]
pub(super) struct Sip {
    state: [u64; 4],
    /// The bytes that do not yet fill a word, the first one lowest.
    tail: u64,
    /// How many bytes came in.
    length: u64,
}

impl Sip {
    /// Of no bytes, with a key.
    pub(super) fn new([k0, k1]: [u64; 2]) -> Self {
        let state = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        Self { state, tail: 0, length: 0 }
    }

    /// The same with more bytes.
    pub(super) fn with(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            let place = self.length % 8;
            self.tail |= u64::from(*byte) << (8 * place);
            self.length += 1;
            if place == 7 {
                self.word(self.tail);
                self.tail = 0;
            }
        }
        self
    }

    /// The hash.
    pub(super) fn finish(mut self) -> u64 {
        self.word(self.tail | self.length << 56);
        self.state[2] ^= 0xff;
        (0..4).for_each(|_| self.round());
        self.state.iter().fold(0, |hash, word| hash ^ word)
    }

    fn word(&mut self, word: u64) {
        self.state[3] ^= word;
        (0..2).for_each(|_| self.round());
        self.state[0] ^= word;
    }

    fn round(&mut self) {
        let [mut v0, mut v1, mut v2, mut v3] = self.state;
        v0 = v0.wrapping_add(v1);
        v1 = v1.rotate_left(13) ^ v0;
        v0 = v0.rotate_left(32);
        v2 = v2.wrapping_add(v3);
        v3 = v3.rotate_left(16) ^ v2;
        v0 = v0.wrapping_add(v3);
        v3 = v3.rotate_left(21) ^ v0;
        v2 = v2.wrapping_add(v1);
        v1 = v1.rotate_left(17) ^ v2;
        v2 = v2.rotate_left(32);
        self.state = [v0, v1, v2, v3];
    }
}
