//! Records as pictures, encoded as PNG within the page.

use serde::{Deserialize, Serialize};

/// The most pixels of a side.
const SIDE: usize = 4096;

/// A picture of one record: a byte per pixel for shades of gray, three for red, green and blue, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// Pictures side by side, with what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureStrip {
    /// What they show, e.g. `training records`.
    pub label: String,
    /// One for each record, the same record at the same place in every strip.
    pub pictures: Vec<Picture>,
}

/// Records beside what an attack recovered of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gallery {
    /// The name of the disclosure that they belong to.
    pub disclosure: String,
    /// Under which condition, e.g. `batch of 4`.
    pub condition: String,
    /// The records, what was recovered, and what is guessed without the model.
    pub strips: Vec<PictureStrip>,
}

impl Picture {
    /// A picture of this size; none when the bytes do not fit it.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Option<Self> {
        Some(Self { width, height, pixels }).filter(Self::is_sound)
    }

    /// Whether there are one or three bytes for every pixel, and each side has from 1 to 4096 pixels. What was read from a file may
    /// not be sound; it is shown as no picture.
    pub fn is_sound(&self) -> bool {
        let is_side = |side| (1..=SIDE).contains(&side);
        let (width, height, bytes) = (self.width, self.height, self.pixels.len());
        is_side(width) && is_side(height) && [1, 3].iter().any(|channels| channels * width * height == bytes)
    }

    /// The file; none for one that is not sound.
    pub(crate) fn png(&self) -> Option<Png> {
        self.is_sound().then(|| Png(self.encoded()))
    }

    /// Without compression: pictures of records are small, and a page is compressed where it matters.
    fn encoded(&self) -> Vec<u8> {
        let Self { width, height, pixels } = self;
        let stride = pixels.len() / height;
        let rows: Vec<u8> =
            pixels.chunks_exact(stride).flat_map(|row| [0].into_iter().chain(row.iter().copied())).collect();
        let color = if stride == *width { 0 } else { 2 };
        let mut header = [*width as u32, *height as u32].map(u32::to_be_bytes).concat();
        header.extend([8, color, 0, 0, 0]);
        let parts = [(b"IHDR", header), (b"IDAT", stored(&rows)), (b"IEND", Vec::new())];
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in parts {
            file.extend((data.len() as u32).to_be_bytes());
            let body = [&kind[..], &data].concat();
            file.extend(&body);
            file.extend(crc(&body).to_be_bytes());
        }
        file
    }
}

/// A PNG file that was made here.
pub(crate) struct Png(Vec<u8>);

impl Png {
    /// As an address that holds the file itself.
    pub(crate) fn data(&self) -> String {
        format!("data:image/png;base64,{}", base64(&self.0))
    }
}

/// A zlib stream of blocks that are stored as they are (RFC 1950, RFC 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(u16::MAX.into()).peekable();
    while let Some(block) = blocks.next() {
        stream.push(u8::from(blocks.peek().is_none()));
        let length = block.len() as u16;
        stream.extend([length, !length].map(u16::to_le_bytes).concat());
        stream.extend(block);
    }
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// The check sum of a chunk (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xedb8_8320 * (crc & 1)))
    })
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        (0..4)
            .map(move |place| match place <= three.len() {
                true => char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]),
                false => '=',
            })
            .collect::<Vec<_>>()
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_letters_are_the_known_ones() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(&stored(b"Wikipedia")[16..], 0x11e6_0398_u32.to_be_bytes());
        for (text, letters) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), letters);
        }
    }

    #[test]
    fn a_picture_fits_its_size() {
        assert!(Picture::new(2, 3, vec![0; 6]).is_some() && Picture::new(2, 3, vec![0; 18]).is_some());
        for (width, height, bytes) in [(2, 3, 12), (0, 3, 0), (2, 3, 0), (SIDE + 1, 1, SIDE + 1)] {
            assert!(Picture::new(width, height, vec![0; bytes]).is_none());
        }
    }

    #[test]
    fn the_file_is_the_one_that_other_encoders_write() {
        // The bytes of a 1 × 1 black pixel, stored: header, chunks and sums as zlib and libpng have them.
        let file = Picture::new(1, 1, vec![0]).unwrap().png().unwrap().0;
        let known = [
            &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55"[..],
            b"\0\0\0\x0dIDAT\x78\x01\x01\x02\0\xfd\xff\0\0\0\x02\0\x01",
        ];
        assert!(file.starts_with(&known.concat()), "{file:02x?}");
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
