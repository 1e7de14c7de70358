//! Text in other encodings, decoded to UTF-8 while it is read.

use std::io::{self, Read};

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// Every byte is the character of that number.
    Latin1,
    /// As Latin-1, with other characters from 128 to 159.
    Windows1252,
    /// Two bytes a unit, the order of which a byte-order mark tells; little-endian without one.
    Utf16,
}

/// The characters of Windows-1252 from 128 to 159, by the WHATWG Encoding Standard: unassigned bytes are control characters.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// The encoding of that name, in any case, with or without hyphens.
    pub(super) fn named(name: &str) -> Option<Self> {
        let plain: String = name.to_lowercase().chars().filter(|sign| !"-_ ".contains(*sign)).collect();
        Some(match plain.as_str() {
            "utf8" => Self::Utf8,
            "latin1" | "iso88591" => Self::Latin1,
            "windows1252" | "cp1252" => Self::Windows1252,
            "utf16" => Self::Utf16,
            _ => return None,
        })
    }
}

/// Bytes in another encoding as UTF-8. A unit of UTF-16 without its partner becomes U+FFFD.
pub(super) struct Decoded<R> {
    inner: R,
    encoding: Encoding,
    /// Bytes that are read and not decoded yet.
    raw: Vec<u8>,
    /// Decoded text that is not handed out yet, from `at` on.
    text: String,
    at: usize,
    /// Whether UTF-16 has the high byte first; `None` before its first unit.
    high_first: Option<bool>,
    /// The first half of a pair.
    first_half: Option<u16>,
    ended: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(inner: R, encoding: Encoding) -> Self {
        let (raw, text) = (Vec::new(), String::new());
        Self { inner, encoding, raw, text, at: 0, high_first: None, first_half: None, ended: false }
    }

    /// Reads and decodes a piece.
    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.at = 0;
        let kept = self.raw.len();
        self.raw.resize(1 << 16, 0);
        let count = loop {
            match self.inner.read(&mut self.raw[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.raw.truncate(kept + count);
        self.ended = count == 0;
        match self.encoding {
            Encoding::Utf16 => self.units(),
            encoding => {
                let character = |byte: u8| match byte {
                    128..=159 if encoding == Encoding::Windows1252 => WINDOWS[usize::from(byte - 128)],
                    _ => char::from(byte),
                };
                self.text.extend(self.raw.drain(..).map(character));
            }
        }
        Ok(())
    }

    fn units(&mut self) {
        let whole = self.raw.len() & !1;
        for pair in self.raw[..whole].as_chunks::<2>().0 {
            let high_first = *self.high_first.get_or_insert(*pair == [0xfe, 0xff]);
            let unit = if high_first { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
            let pending = self.first_half.take();
            match (pending, unit) {
                (None, 0xd800..=0xdbff) => self.first_half = Some(unit),
                (Some(first), 0xdc00..=0xdfff) => {
                    self.text.extend(char::decode_utf16([first, unit]).flatten())
                }
                (pending, unit) => {
                    if pending.is_some() {
                        self.text.push(char::REPLACEMENT_CHARACTER);
                    }
                    if (0xd800..=0xdbff).contains(&unit) {
                        self.first_half = Some(unit);
                    } else {
                        self.text
                            .push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                }
            }
        }
        self.raw.drain(..whole);
        if self.ended && (self.first_half.take().is_some() || !self.raw.is_empty()) {
            self.raw.clear();
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.ended {
            self.refill()?;
        }
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], encoding: Encoding) -> String {
        let mut text = String::new();
        Decoded::new(bytes, encoding).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn bytes_become_their_characters() {
        assert_eq!(decoded(b"caf\xe9 \x80 \x9f", Encoding::Windows1252), "café € Ÿ");
        assert_eq!(decoded(b"caf\xe9 \x80", Encoding::Latin1), "café \u{80}");
        let little: Vec<u8> = "\u{feff}a;é\n🙂".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}a;é\n🙂".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(&little, Encoding::Utf16), "\u{feff}a;é\n🙂");
        assert_eq!(decoded(&big, Encoding::Utf16), "\u{feff}a;é\n🙂");
        assert_eq!(decoded(&little[2..], Encoding::Utf16), "a;é\n🙂");
        assert_eq!(decoded(&little[..little.len() - 1], Encoding::Utf16), "\u{feff}a;é\n\u{fffd}");
        assert_eq!(decoded(b"\x00\xdcx\x00", Encoding::Utf16), "\u{fffd}x");
        assert_eq!(decoded(b"", Encoding::Latin1), "");
    }

    #[test]
    fn long_text_is_decoded_in_pieces() {
        let units: Vec<u8> = "🙂é".repeat(50_000).encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&units[..], Encoding::Utf16), "🙂é".repeat(50_000));
        assert_eq!(decoded(&[0xe9; 200_001], Encoding::Latin1), "é".repeat(200_001));
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        assert_eq!(Encoding::named("UTF-8"), Some(Encoding::Utf8));
        assert_eq!(Encoding::named("ISO-8859-1"), Some(Encoding::Latin1));
        assert_eq!(Encoding::named("cp1252"), Some(Encoding::Windows1252));
        assert_eq!(Encoding::named("shift-jis"), None);
    }
}
