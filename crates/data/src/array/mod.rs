//! Arrays in: NumPy's `.npy` and `.npz`, and the idx files of MNIST.
//!
//! Every reader checks what a header promises against what the file can hold before it allocates, refuses a
//! file that is shorter or longer than its header says, and never panics on its bytes.

mod header;
mod idx;
mod npy;
mod npz;

pub use idx::read_idx;
pub use npy::read_npy;
pub use npz::NpzFile;

/// The most dimensions that an array may have.
pub const MOST_DIMENSIONS: usize = 4;

/// The values of an array, the last dimension running fastest.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `bool`
    Bool(Vec<bool>),
    /// `uint8`
    U8(Vec<u8>),
    /// `int32`
    I32(Vec<i32>),
    /// `int64`
    I64(Vec<i64>),
    /// `float32`
    F32(Vec<f32>),
    /// `float64`
    F64(Vec<f64>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Bool(values) => values.len(),
            Values::U8(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array of one to four dimensions in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The product is the number of values.
    shape: Vec<usize>,
    values: Values,
}

impl Array {
    /// The array, if the shape has that many values.
    pub fn new(shape: Vec<usize>, values: Values) -> Option<Self> {
        let fits = (1..=MOST_DIMENSIONS).contains(&shape.len()) && product(&shape) == Some(values.len());
        fits.then_some(Self { shape, values })
    }

    /// The length of every dimension; one to four of them.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values, the last dimension running fastest.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The values by themselves.
    pub fn into_values(self) -> Values {
        self.values
    }

    /// The length of the first dimension: how many rows, or images, or labels.
    pub fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// How many values a row has: the product of the other dimensions.
    pub fn width(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// The values as floats; booleans are 0 and 1, and integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.values {
            Values::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
            Values::U8(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Values::I32(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Values::I64(values) => values.iter().map(|value| *value as f64).collect(),
            Values::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Values::F64(values) => values.clone(),
        }
    }
}

/// The product, unless it is too large. With a zero among them the others must still not overflow.
fn product(shape: &[usize]) -> Option<usize> {
    let nonzero = shape.iter().filter(|length| **length > 0);
    let product = nonzero.copied().try_fold(1usize, usize::checked_mul)?;
    Some(if shape.contains(&0) { 0 } else { product })
}

#[cfg(test)]
mod tests;
