//! Location-30 (Shokri et al. 2017): 5 010 records of 446 bits, 30 classes.

use anyhow::{Context, Result};
use arrow_array::{Array, FixedSizeBinaryArray, UInt8Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reticent_train::{Examples, Inputs, Targets};
use std::fs::File;
use std::path::Path;

pub(crate) const FEATURES: usize = 446;
pub(crate) const CLASSES: usize = 30;

/// Reads `location30.parquet`: `label` from 1 to 30, `features` of 56 bytes, the most significant bit first.
pub(crate) fn read(folder: &Path) -> Result<(Examples, Vec<u32>)> {
    let path = folder.join("location30.parquet");
    let file = File::open(&path).with_context(|| format!("{}", path.display()))?;
    let (mut inputs, mut labels) = (Vec::new(), Vec::new());
    for batch in ParquetRecordBatchReaderBuilder::try_new(file)?.build()? {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name).with_context(|| format!("no column {name}"));
        let classes =
            column("label")?.as_any().downcast_ref::<UInt8Array>().context("labels are no bytes")?;
        let rows = column("features")?.as_any().downcast_ref::<FixedSizeBinaryArray>();
        let rows = rows.context("features are no bytes")?;
        for row in 0..rows.len() {
            let bits = rows.value(row);
            inputs.extend((0..FEATURES).map(|place| f32::from(bits[place / 8] >> (7 - place % 8) & 1)));
            labels.push(u32::from(classes.value(row)) - 1);
        }
    }
    Ok((Examples::new(&[FEATURES], Inputs::Real(inputs), Targets::Classes(labels.clone()))?, labels))
}
