//! A table with derived columns after its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};

use super::Derivation;
use crate::error::DataError;
use crate::filter::mask::{amounts, floats};
use crate::filter::tree::Expression;
use crate::table::{BatchReader, CellBatch, ColumnInfo, ColumnKind, Reading, Table};

/// How a column is computed.
#[derive(Clone, Debug)]
struct DerivedColumn {
    /// The positions, in the derived table, of the expression's columns.
    inputs: Vec<usize>,
    expression: Expression,
    bounds: [f64; 2],
}

impl DerivedColumn {
    /// The column for a batch that has exactly its inputs.
    fn values(&self, batch: &CellBatch<'_>) -> Float64Array {
        let [low, high] = self.bounds;
        match floats(&self.expression, batch) {
            Some(values) => {
                let settled = |value: f64| (!value.is_nan()).then(|| value.clamp(low, high));
                values.into_iter().map(settled).collect()
            }
            None => amounts(&self.expression, batch)
                .into_iter()
                .map(|value| value.map(|value| value.clamp(low, high)))
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(super) struct DerivedTable {
    inner: Arc<dyn Table>,
    columns: Vec<ColumnInfo>,
    /// Those after the columns of the inner table, in order.
    derived: Vec<DerivedColumn>,
    /// All that the columns are computed by, those of the inner table first.
    derivations: Vec<Derivation>,
}

impl DerivedTable {
    pub(super) fn new(inner: Arc<dyn Table>) -> Self {
        let (columns, derivations) = (inner.columns().to_vec(), inner.derivations().to_vec());
        Self { inner, columns, derived: Vec::new(), derivations }
    }

    /// Adds a column, whose inputs are columns that are there.
    pub(super) fn add(&mut self, derivation: &Derivation, inputs: Vec<usize>) {
        self.columns.push(ColumnInfo { name: derivation.name.clone(), kind: ColumnKind::Float });
        let (expression, bounds) = (derivation.expression.clone(), derivation.bounds);
        self.derived.push(DerivedColumn { inputs, expression, bounds });
        self.derivations.push(derivation.clone());
    }

    fn derived(&self, position: usize) -> Option<&DerivedColumn> {
        self.derived.get(position.checked_sub(self.inner.columns().len())?)
    }

    /// The positions that these columns need, in rising order, and how many of them belong to the inner table.
    fn needed(&self, columns: &[usize]) -> (Vec<usize>, usize) {
        let mut needed: BTreeSet<usize> = columns.iter().copied().collect();
        // A column is computed from columns before it.
        for position in (0..self.columns.len()).rev() {
            if let Some(derived) = self.derived(position).filter(|_| needed.contains(&position)) {
                needed.extend(&derived.inputs);
            }
        }
        let inner = needed.iter().filter(|position| **position < self.inner.columns().len()).count();
        (needed.into_iter().collect(), inner)
    }

    fn reader<'a>(
        &'a self,
        columns: &[usize],
        begin: impl FnOnce(&[usize]) -> Result<Box<dyn BatchReader + 'a>, DataError>,
    ) -> Result<Box<dyn BatchReader + 'a>, DataError> {
        let (needed, inner) = self.needed(columns);
        let reader = begin(&needed[..inner])?;
        let wanted = columns.iter().map(|position| needed.partition_point(|own| own < position)).collect();
        Ok(Box::new(DerivedBatches { table: self, reader, needed, wanted }))
    }
}

impl Table for DerivedTable {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn path(&self) -> Option<&Path> {
        self.inner.path()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.inner.files()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn declares_kinds(&self) -> bool {
        self.inner.declares_kinds()
    }

    fn missing(&self) -> &[String] {
        self.inner.missing()
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn literal(&self, column: usize) -> Option<Arc<dyn Table>> {
        // Derived columns are numbers, in which no text is anything but missing.
        let inner = (column < self.inner.columns().len()).then(|| self.inner.literal(column)).flatten()?;
        let (columns, derived) = (self.columns.clone(), self.derived.clone());
        Some(Arc::new(Self { inner, columns, derived, derivations: self.derivations.clone() }))
    }

    fn is_literal(&self, column: usize) -> bool {
        column < self.inner.columns().len() && self.inner.is_literal(column)
    }

    fn derivations(&self) -> &[Derivation] {
        &self.derivations
    }

    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }

    fn stated_rows(&self) -> Option<u64> {
        self.inner.stated_rows()
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        self.reader(columns, |inner| self.inner.batches(inner))
    }

    fn parts(&self) -> usize {
        self.inner.parts()
    }

    fn part(&self, columns: &[usize], part: usize) -> Result<Box<dyn BatchReader + '_>, DataError> {
        self.reader(columns, |inner| self.inner.part(inner, part))
    }
}

struct DerivedBatches<'a> {
    table: &'a DerivedTable,
    reader: Box<dyn BatchReader + 'a>,
    /// The positions of all columns that are read or computed, rising.
    needed: Vec<usize>,
    /// The places among them of the columns asked for.
    wanted: Vec<usize>,
}

impl DerivedBatches<'_> {
    /// A batch of these arrays, which are the first of the needed columns, at these places among them.
    fn assemble(&self, arrays: &[ArrayRef], places: &[usize], rows: usize) -> Result<RecordBatch, DataError> {
        let field = |place: &usize| {
            let name = &self.table.columns[self.needed[*place]].name;
            Field::new(name, arrays[*place].data_type().clone(), true)
        };
        let schema = Schema::new(places.iter().map(field).collect::<Vec<_>>());
        let chosen = places.iter().map(|place| Arc::clone(&arrays[*place])).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(schema), chosen, &options)
            .map_err(|error| DataError::malformed(self.table.name(), "table", &error.to_string()))
    }
}

impl BatchReader for DerivedBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let Some(batch) = self.reader.next_batch()? else { return Ok(None) };
        let rows = batch.num_rows();
        let mut arrays = batch.columns().to_vec();
        for position in &self.needed[arrays.len()..] {
            let Some(derived) = self.table.derived(*position) else { break };
            let places: Vec<usize> =
                derived.inputs.iter().map(|input| self.needed.partition_point(|own| own < input)).collect();
            let inputs = self.assemble(&arrays, &places, rows)?;
            let all: Vec<usize> = (0..places.len()).collect();
            let values = derived.values(&CellBatch::new(self.table.name(), &inputs, &all, 1)?);
            arrays.push(Arc::new(values));
        }
        self.assemble(&arrays, &self.wanted, rows).map(Some)
    }

    fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }

    fn rows_before(&self) -> u64 {
        self.reader.rows_before()
    }
}
