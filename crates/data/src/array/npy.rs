//! NumPy's `.npy` format: a magic number, a header, then the values.

use std::io::Read;
use std::path::Path;

use super::{Array, MOST_DIMENSIONS, Values, header, product};
use crate::error::{DataError, shown};
use crate::source::Source;

pub(super) const FORMAT: &str = "NumPy";
const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// The most bytes that a header may have.
const MOST_HEADER: u32 = 1 << 20;

/// Reads a `.npy` file: an array of one to four dimensions in C or Fortran order, of little-endian `float16`, `float32`,
/// `float64`, `int32` or `int64`, of `uint8` or of `bool`. It may be gzipped. `float16` becomes `float32`, which holds it.
///
/// # Errors
/// If the file cannot be read, is not a `.npy` file, is shorter or longer than its header says, or holds an
/// array of another kind.
pub fn read_npy(path: &Path) -> Result<Array, DataError> {
    let mut source = Source::open(path, FORMAT)?;
    let array = read(&mut source)?;
    source.end()?;
    Ok(array)
}

/// Reads an array; what follows it is left.
pub(super) fn read(source: &mut Source<impl Read>) -> Result<Array, DataError> {
    if source.bytes()? != MAGIC {
        return Err(source.malformed("it does not start as a .npy file does"));
    }
    let [major, _] = source.bytes()?;
    let length = match major {
        1 => u32::from(u16::from_le_bytes(source.bytes()?)),
        2 | 3 => u32::from_le_bytes(source.bytes()?),
        _ => {
            let found = format!("version {major} of the .npy format");
            return Err(source.unsupported(found, "save it with numpy.save"));
        }
    };
    if length > MOST_HEADER {
        return Err(source.malformed("its header is too long"));
    }
    let header = source.values(u64::from(length), |[byte]: [u8; 1]| byte)?;
    let header = std::str::from_utf8(&header).ok().and_then(header::parse);
    let Some(header) = header else {
        return Err(source.malformed("its header is not one of NumPy's"));
    };
    let dimensions = header.shape.len();
    if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
        let found = format!("an array of {dimensions} dimensions");
        return Err(source.unsupported(found, "reshape it to one to four dimensions"));
    }
    let shape: Option<Vec<usize>> = header.shape.iter().map(|length| usize::try_from(*length).ok()).collect();
    let sized = shape.and_then(|shape| product(&shape).map(|count| (shape, count as u64)));
    let Some((shape, count)) = sized else {
        return Err(source.malformed("it is shorter than its header says"));
    };
    let values = values(source, header.descr.as_deref(), count)?;
    let values = if header.fortran_order && dimensions > 1 { last_fastest(values, &shape) } else { values };
    Ok(Array { shape, values })
}

fn values(source: &mut Source<impl Read>, descr: Option<&str>, count: u64) -> Result<Values, DataError> {
    Ok(match descr {
        Some("<f2") => Values::F32(source.values(count, |bytes| half(u16::from_le_bytes(bytes)))?),
        Some("<f4") => Values::F32(source.values(count, f32::from_le_bytes)?),
        Some("<f8") => Values::F64(source.values(count, f64::from_le_bytes)?),
        Some("<i4") => Values::I32(source.values(count, i32::from_le_bytes)?),
        Some("<i8") => Values::I64(source.values(count, i64::from_le_bytes)?),
        Some("|u1" | "<u1" | ">u1") => Values::U8(source.values(count, u8::from_le_bytes)?),
        Some("|b1" | "<b1" | ">b1") => {
            let bytes = source.values(count, u8::from_le_bytes)?;
            if bytes.iter().any(|byte| *byte > 1) {
                return Err(source.malformed("a boolean is neither 0 nor 1"));
            }
            Values::Bool(bytes.into_iter().map(|byte| byte == 1).collect())
        }
        other => {
            let found = match other {
                Some(descr) => format!("an array of type \"{}\"", shown(descr)),
                None => "an array of records".to_owned(),
            };
            let advice =
                "save it as little-endian float16, float32, float64, int32 or int64, or as uint8 or bool";
            return Err(source.unsupported(found, advice));
        }
    })
}

/// An IEEE 754 number of 16 bits: sign, 5 bits of exponent, 10 of mantissa.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2.0_f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + mantissa) * 2.0_f32.powi(exponent - 25),
    };
    sign * size
}

/// Values whose first dimension runs fastest, in the order in which the last one does.
fn last_fastest(values: Values, shape: &[usize]) -> Values {
    match values {
        Values::Bool(values) => Values::Bool(turned(&values, shape)),
        Values::U8(values) => Values::U8(turned(&values, shape)),
        Values::I32(values) => Values::I32(turned(&values, shape)),
        Values::I64(values) => Values::I64(turned(&values, shape)),
        Values::F32(values) => Values::F32(turned(&values, shape)),
        Values::F64(values) => Values::F64(turned(&values, shape)),
    }
}

fn turned<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut steps = vec![1; shape.len()];
    (1..shape.len()).for_each(|place| steps[place] = steps[place - 1] * shape[place - 1]);
    let mut at = vec![0; shape.len()];
    (0..values.len())
        .map(|_| {
            let value = values[at.iter().zip(&steps).map(|(at, step)| at * step).sum::<usize>()];
            for place in (0..shape.len()).rev() {
                at[place] += 1;
                if at[place] < shape[place] {
                    break;
                }
                at[place] = 0;
            }
            value
        })
        .collect()
}
