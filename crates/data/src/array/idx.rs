//! The idx format of MNIST: a magic number, the dimensions, then bytes.

use std::path::Path;

use super::{Array, MOST_DIMENSIONS, Values, product};
use crate::error::DataError;
use crate::source::Source;

const FORMAT: &str = "idx";
/// The type byte of unsigned bytes.
const UNSIGNED_BYTES: u8 = 8;

/// Reads an idx file of unsigned bytes, plain or gzipped (its first bytes tell): images or labels.
///
/// # Errors
/// If the file cannot be read, is not an idx file, is shorter or longer than its header says, fails gzip's
/// checksum, or holds another type than unsigned bytes.
pub fn read_idx(path: &Path) -> Result<Array, DataError> {
    let mut source = Source::open(path, FORMAT)?;
    let [zero, also_zero, kind, dimensions] = source.bytes()?;
    if zero != 0 || also_zero != 0 || !matches!(kind, 8 | 9 | 11..=14) {
        return Err(source.malformed("it does not start as an idx file does"));
    }
    if kind != UNSIGNED_BYTES {
        let found = format!("an idx file of type {kind}");
        return Err(source.unsupported(found, "convert it to unsigned bytes (type 8)"));
    }
    let dimensions = usize::from(dimensions);
    if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
        let found = format!("an array of {dimensions} dimensions");
        return Err(source.unsupported(found, "give it one to four dimensions"));
    }
    let mut shape = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        let length = u32::from_be_bytes(source.bytes()?);
        shape.push(usize::try_from(length).map_err(|_| source.malformed("it is too large"))?);
    }
    let Some(count) = product(&shape) else {
        return Err(source.malformed("it is shorter than its header says"));
    };
    let values = source.values(count as u64, |[byte]: [u8; 1]| byte)?;
    source.end()?;
    Ok(Array { shape, values: Values::U8(values) })
}
