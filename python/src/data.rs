//! Tables and images in memory.

use crate::error::{Fault, guarded, parse};
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, Field, Schema};
use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray4, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use reticent_core::Code;
use reticent_curator::Refusal;
use reticent_curator::train::GivenData;
use reticent_data::{Images, MemoryTable, Reading, open_table_with, with_derived};
use std::path::Path;
use std::sync::Arc;

/// A table of Arrow columns.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct Table {
    pub(crate) table: Arc<dyn reticent_data::Table>,
}

#[pymethods]
impl Table {
    /// The table of an object with the Arrow PyCapsule interface.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        guarded(py, || {
            let stream = RecordBatchStreamReader::from_pyarrow_bound(data)?;
            let schema = arrow_array::RecordBatchReader::schema(&stream);
            let batches = stream.collect::<Result<Vec<_>, _>>().map_err(|error| malformed(&error))?;
            // Whoever made the data is not trusted to have kept to the format: text that is not UTF-8 would be read as such.
            for column in batches.iter().flat_map(RecordBatch::columns) {
                column.to_data().validate_full().map_err(|error| malformed(&error))?;
            }
            Self::of(MemoryTable::new(name, schema, batches)?)
        })
    }

    /// A table of columns: arrays of 64-bit floats, 64-bit integers or booleans, pairs of integers and whether they are present, or
    /// lists of texts and `None`.
    #[staticmethod]
    fn from_columns(py: Python<'_>, name: &str, columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        guarded(py, || {
            let arrays = columns.iter().map(|(name, values)| Ok((name, column(name, values)?)));
            let arrays = arrays.collect::<Result<Vec<(&String, ArrayRef)>, Fault>>()?;
            let fields: Vec<Field> = arrays
                .iter()
                .map(|(name, values)| Field::new(*name, values.data_type().clone(), true))
                .collect();
            let schema = Arc::new(Schema::new(fields));
            let values = arrays.into_iter().map(|(_, values)| values).collect();
            let batch =
                RecordBatch::try_new(Arc::clone(&schema), values).map_err(|error| malformed(&error))?;
            Self::of(MemoryTable::new(name, schema, vec![batch])?)
        })
    }

    /// A file, or several, read as the JSON of a `Reading` says.
    #[staticmethod]
    #[pyo3(signature = (path, reading = "{}"))]
    fn open(py: Python<'_>, path: &str, reading: &str) -> PyResult<Self> {
        guarded(py, || Ok(Self { table: open_table_with(Path::new(path), &parse::<Reading>(reading)?)? }))
    }

    /// The same table with the columns that the JSON of a `Reading` derives.
    fn derived(&self, py: Python<'_>, reading: &str) -> PyResult<Self> {
        guarded(py, || Ok(Self { table: with_derived(self.table.clone(), &parse::<Reading>(reading)?)? }))
    }

    /// The census records that come with the package, and their schema.
    #[staticmethod]
    fn bundled(py: Python<'_>) -> PyResult<(Self, String)> {
        guarded(py, || {
            let (table, schema) = reticent_data::bundled::adult()?;
            Ok((Self { table }, schema.to_toml()))
        })
    }

    /// The names and types of the columns.
    fn columns(&self) -> Vec<(String, String)> {
        self.table.columns().iter().map(|column| (column.name.clone(), column.kind.to_string())).collect()
    }
}

impl Table {
    fn of(table: MemoryTable) -> Result<Self, Fault> {
        Ok(Self { table: Arc::new(table) })
    }
}

/// The numbers of an array, in the order of its places, whatever its layout in memory is.
pub(crate) fn list<T: Element + Copy, D: Dimension>(
    array: &Bound<'_, PyArray<T, D>>,
) -> Result<Vec<T>, Fault> {
    let is_aligned = (array.data() as usize).is_multiple_of(align_of::<T>());
    // Fields of packed records may have strides that are not multiples of their size: NumPy copies those.
    let plain = match is_aligned && array.is_c_contiguous() {
        true => array.clone(),
        false => array.call_method1("copy", ("C",))?.cast_into::<PyArray<T, D>>().map_err(PyErr::from)?,
    };
    let values = plain.try_readonly().map_err(|error| Refusal::internal(error.to_string()))?;
    Ok(values.as_slice().map_err(|error| Refusal::internal(error.to_string()))?.to_vec())
}

/// A column of an array or a list.
fn column(name: &str, values: &Bound<'_, PyAny>) -> Result<ArrayRef, Fault> {
    if let Ok(values) = values.cast::<PyArray1<f64>>() {
        let present = |value: f64| (!value.is_nan()).then_some(value);
        return Ok(Arc::new(list(values)?.into_iter().map(present).collect::<Float64Array>()));
    }
    if let Ok(values) = values.cast::<PyArray1<i64>>() {
        return Ok(Arc::new(Int64Array::from(list(values)?)));
    }
    if let Ok((values, present)) = values.extract::<(Bound<'_, PyArray1<i64>>, Bound<'_, PyArray1<bool>>)>() {
        let (values, present) = (list(&values)?, list(&present)?);
        if values.len() != present.len() {
            let text = format!("column {name}: {} values and {} flags", values.len(), present.len());
            return Err(Refusal::new(Code::Type, text).into());
        }
        let cells = values.into_iter().zip(present).map(|(value, is_present)| is_present.then_some(value));
        return Ok(Arc::new(cells.collect::<Int64Array>()));
    }
    if let Ok(values) = values.cast::<PyArray1<bool>>() {
        return Ok(Arc::new(BooleanArray::from(list(values)?)));
    }
    match values.extract::<Vec<Option<String>>>() {
        Ok(values) => Ok(Arc::new(StringArray::from(values))),
        Err(_) => {
            let text = format!("column {name}: give an array of numbers or truth values, or a list of texts");
            Err(Refusal::new(Code::Type, text).into())
        }
    }
}

fn malformed(error: &ArrowError) -> Fault {
    Refusal::new(Code::Format, format!("the data cannot be read: {error}")).into()
}

/// Images of bytes, with their classes.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct Pictures {
    name: String,
    images: Arc<Images>,
}

#[pymethods]
impl Pictures {
    /// Images as `[image][channel][row][column]`.
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        pixels: Bound<'_, PyArray4<u8>>,
        labels: Bound<'_, PyArray1<u8>>,
    ) -> PyResult<Self> {
        guarded(py, || {
            let &[_, channels, height, width] = pixels.shape() else {
                return Err(Refusal::internal("an array of four dimensions has another number").into());
            };
            let images = Images::new((channels, height, width), list(&pixels)?, list(&labels)?, &name)?;
            Ok(Self { name, images: Arc::new(images) })
        })
    }
}

/// Data of either kind.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A table.
    Table(PyRef<'py, Table>),
    /// Images.
    Pictures(PyRef<'py, Pictures>),
}

impl Given<'_> {
    pub(crate) fn data(&self) -> GivenData {
        match self {
            Self::Table(table) => GivenData::Table(Arc::clone(&table.table)),
            Self::Pictures(own) => GivenData::Images(own.name.clone(), Arc::clone(&own.images)),
        }
    }
}
