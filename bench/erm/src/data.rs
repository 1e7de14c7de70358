//! The two datasets, encoded by their public schemas.

use anyhow::{Context, Result, bail};
use reticent::data::{Encoder, FeatureMatrix, Schema, Split, bundled, find_dataset, open_table};
use reticent::erm::SparseRows;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const KDD_SCHEMA: &str = include_str!("../kdd.toml");

/// Train and test parts of a dataset.
pub(crate) struct Sides {
    pub(crate) name: String,
    pub(crate) train: FeatureMatrix,
    pub(crate) test: FeatureMatrix,
    l1_bound: f64,
}

/// Reads a dataset: Adult in its official parts, KDDCup99 (10 %) split 80 to 20 by hash.
pub(crate) fn load(name: &str) -> Result<Sides> {
    match name {
        "adult" => {
            let folder = find_dataset("adult", None)?;
            let encoder = Encoder::new(&Schema::parse(bundled::ADULT_SCHEMA, "adult")?)?;
            let part = |file: &str| -> Result<FeatureMatrix> {
                Ok(encoder.encode(&open_table(&folder.join(file))?, &mut |_| {})?.0)
            };
            let (train, test) = (part("adult_train.parquet")?, part("adult_test.parquet")?);
            Ok(Sides { name: name.into(), train, test, l1_bound: encoder.l1_bound() })
        }
        "kdd" => {
            let file = find_dataset("kddcup99_10pct", None)?.join("kddcup99_10pct.parquet");
            let encoder = Encoder::new(&Schema::parse(KDD_SCHEMA, "kdd.toml")?)?;
            let split = Split::new("bench", 0.2)?;
            let (sides, _) = encoder.encode_split(&open_table(&file)?, &split, &mut |_| {})?;
            let (train, test) = (sides.train, sides.test);
            Ok(Sides { name: name.into(), train, test, l1_bound: encoder.l1_bound() })
        }
        _ => bail!("{name}: give adult or kdd"),
    }
}

impl Sides {
    /// A side for the model library.
    pub(crate) fn rows<'a>(&self, design: &'a FeatureMatrix) -> Result<SparseRows<'a>> {
        let rows = SparseRows::new(
            design.dimension(),
            design.offsets(),
            design.columns(),
            design.values(),
            design.labels(),
        )?;
        Ok(rows.with_l1_bound(self.l1_bound)?)
    }

    /// Writes `train_x.npy`, `train_y.npy`, `test_x.npy` and `test_y.npy`, all doubles.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)?;
        for (side, design) in [("train", &self.train), ("test", &self.test)] {
            let (rows, width) = (design.rows(), design.dimension());
            let mut out = npy(&folder.join(format!("{side}_x.npy")), &format!("{rows}, {width}"))?;
            for row in 0..rows {
                let mut dense = vec![0.0; width];
                let (columns, values) = design.row(row);
                columns.iter().zip(values).for_each(|(column, value)| dense[*column as usize] = *value);
                dense.iter().try_for_each(|value: &f64| out.write_all(&value.to_le_bytes()))?;
            }
            out.flush()?;
            let mut out = npy(&folder.join(format!("{side}_y.npy")), &format!("{rows},"))?;
            design.labels().iter().try_for_each(|label| out.write_all(&label.to_le_bytes()))?;
            out.flush()?;
        }
        Ok(())
    }
}

/// A file with the header of an array of doubles.
fn npy(path: &Path, shape: &str) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    let mut out = BufWriter::new(file);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    // The header with its ten bytes before it and the line's end is a multiple of 64.
    let padded = (header.len() + 11).div_ceil(64) * 64 - 10;
    let header = format!("{header:width$}\n", width = padded - 1);
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    Ok(out)
}
