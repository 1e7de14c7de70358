//! Named arrays of single-precision numbers, with a text beside them and a checksum of it all.

use crate::TrainError;
use crate::digest::checksum;
use safetensors::{Dtype, SafeTensors, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// An array to be stored.
pub struct Tensor<'a> {
    /// Its shape, outermost dimension first.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub values: &'a [f32],
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = Vec::with_capacity(self.data_len());
        self.values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        Cow::Owned(bytes)
    }

    fn data_len(&self) -> usize {
        4 * self.values.len()
    }
}

/// Tensors as they were read.
pub struct Tensors {
    /// The text that was stored with them.
    pub text: String,
    values: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Tensors {
    /// Takes out an array of this shape.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is none, or one of another shape.
    pub fn take(&mut self, path: &Path, name: &str, shape: &[usize]) -> Result<Vec<f32>, TrainError> {
        match self.values.remove(name) {
            Some((stored, values)) if stored == shape => Ok(values),
            Some((stored, _)) => {
                Err(refused(path, format!("{name} has the shape {stored:?}, but the model needs {shape:?}")))
            }
            None => Err(refused(path, format!("{name} is missing: this is a checkpoint of another model"))),
        }
    }
}

const TEXT: &str = "state";
const CHECKSUM: &str = "checksum";

fn refused(path: &Path, why: String) -> TrainError {
    TrainError::file(path, why)
}

/// A checksum over the text and every array with its name and shape.
fn sum_of<'a>(text: &str, arrays: impl Iterator<Item = (&'a str, &'a [usize], Cow<'a, [u8]>)>) -> String {
    let mut parts = checksum(text.as_bytes()).to_le_bytes().to_vec();
    for (name, shape, bytes) in arrays {
        parts.extend(checksum(format!("{name} {shape:?}").as_bytes()).to_le_bytes());
        parts.extend(checksum(&bytes).to_le_bytes());
    }
    format!("{:016x}", checksum(&parts))
}

/// The bytes of a file with these arrays and this text. The path is for messages.
///
/// # Errors
/// [`TrainError::File`] when an array has not as many numbers as its shape says.
pub fn encode(path: &Path, arrays: &BTreeMap<String, Tensor<'_>>, text: &str) -> Result<Vec<u8>, TrainError> {
    let sum = sum_of(text, arrays.iter().map(|(name, array)| (&name[..], &array.shape[..], array.data())));
    let about = [(TEXT.to_owned(), text.to_owned()), (CHECKSUM.to_owned(), sum)];
    let views = arrays
        .iter()
        .map(|(name, array)| (name, Tensor { shape: array.shape.clone(), values: array.values }));
    safetensors::serialize(views, Some(about.into_iter().collect()))
        .map_err(|error| refused(path, format!("cannot be encoded: {error}")))
}

/// The arrays and the text of a file. The path is for messages.
///
/// # Errors
/// [`TrainError::File`] when the bytes are not what was written.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<Tensors, TrainError> {
    let broken = |why: String| refused(path, format!("truncated or corrupt ({why}): restore it from a copy"));
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()))?;
    let arrays = SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()))?;
    let about = header.metadata().as_ref().ok_or_else(|| broken("no description".to_owned()))?;
    let field = |name: &str| about.get(name).ok_or_else(|| broken(format!("no {name}")));
    let (text, sum) = (field(TEXT)?, field(CHECKSUM)?);
    let views: BTreeMap<String, _> = arrays.tensors().into_iter().collect();
    let found =
        sum_of(text, views.iter().map(|(name, view)| (&name[..], view.shape(), Cow::Borrowed(view.data()))));
    if found != *sum {
        return Err(broken("the checksum does not fit".to_owned()));
    }
    let mut values = BTreeMap::new();
    for (name, view) in views {
        if view.dtype() != Dtype::F32 {
            return Err(broken(format!("{name} is not in single precision")));
        }
        let numbers = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        values.insert(name, (view.shape().to_vec(), numbers));
    }
    Ok(Tensors { text: text.clone(), values })
}
