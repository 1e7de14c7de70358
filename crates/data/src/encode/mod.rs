//! From rows of a table to numbers, by the public schema alone.
//!
//! - A **numeric** column becomes its position between its bounds, from 0 to 1; values outside are
//!   clamped. It is not centred: the value 0 takes no space in a sparse row, and an intercept can
//!   do the centring. A second feature marks a missing number: a null, NaN, or text that is not a
//!   number.
//! - A **categorical** column becomes one feature per declared category, one for every other label and
//!   one for the null; the one that holds is 1.
//! - Every column then has norm at most 1, so a row of k columns has norm at most √k. Rows are divided
//!   by √k, a constant of the schema: all norms are at most 1 as the proofs need, no row has to be
//!   clipped further, and rows keep their proportions. The constant is rounded down: the bound
//!   holds for the floats themselves.
//! - A **label** is never an error. Two classes: what is not the positive label is negative, nulls
//!   included. Several: an undeclared or missing label counts as the class that the schema names.
//!   Regression: clamped, and in the middle if missing. Rows are never dropped, so their number does
//!   not depend on their content.
//!
//! The intercept belongs to the model, not to the encoding.
//!
//! # Guarantee
//! A row's features and label depend on the schema and on that row alone. Adding, removing or replacing
//! a row of the table adds, removes or replaces one row of the matrix, and nothing is learned from the
//! others. Only a file that cannot be read as a table is an error: a ragged line, a quote that is not closed,
//! text that is not UTF-8.

mod feature;
mod matrix;

use std::collections::BTreeMap;
use std::sync::Arc;

use reticent_core::{MergeError, Partial};

use crate::cell::Cell;
use crate::error::{DataError, shown};
use crate::schema::{FeatureKind, Label, LabelKind, PrivacyUnit, Schema};
use crate::split::{Split, SplitSide};
use crate::table::{ColumnKind, Table};

use feature::Conformance;
pub use feature::{Feature, FeaturePart};
pub use matrix::FeatureMatrix;

/// Turns rows into numbers, as the module documentation describes.
#[derive(Clone, Debug)]
pub struct Encoder {
    schema: Schema,
    /// The columns that become features.
    plans: Vec<ColumnPlan>,
    features: Vec<Feature>,
    /// Divides rows by the root of the number of columns.
    scale: f64,
    label: Option<Label>,
}

#[derive(Clone, Debug)]
struct ColumnPlan {
    column: String,
    kind: FeatureKind,
    /// The number of its first feature.
    first: usize,
}

/// How the values of a table conform to their declarations.
///
/// These counts are made from the private records. They let the owner of the data see whether
/// a schema fits the table; they must not be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodingTally {
    /// How many rows there were.
    pub rows: u64,
    /// For each feature column, in the order of the schema.
    pub columns: Vec<ColumnTally>,
    /// For the label.
    pub label: ColumnTally,
}

/// How the values of one column conform to their declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnTally {
    /// How many were clamped or not among the categories.
    pub outside: u64,
    /// How many were null or not a number.
    pub missing: u64,
}

/// The columns must be the same.
impl Partial for EncodingTally {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.columns.len() != other.columns.len() {
            return Err(MergeError::Mismatch { what: "columns" });
        }
        let mut merged = self.clone();
        merged.rows.merge(&other.rows)?;
        for (own, more) in merged.columns.iter_mut().zip(&other.columns) {
            own.merge(more)?;
        }
        merged.label.merge(&other.label)?;
        *self = merged;
        Ok(())
    }
}

impl Partial for ColumnTally {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let mut merged = self.clone();
        merged.outside.merge(&other.outside)?;
        merged.missing.merge(&other.missing)?;
        *self = merged;
        Ok(())
    }
}

impl ColumnTally {
    fn add(&mut self, met: Conformance) {
        match met {
            Conformance::Inside => {}
            Conformance::Outside => self.outside += 1,
            Conformance::Missing => self.missing += 1,
        }
    }
}

/// The two sides of a split table.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitMatrices {
    /// The rows for training.
    pub train: FeatureMatrix,
    /// The rows for testing.
    pub test: FeatureMatrix,
}

impl Encoder {
    /// The encoder of a schema.
    ///
    /// # Errors
    /// If the schema has no features, or more than fit 32 bits.
    pub fn new(schema: &Schema) -> Result<Self, DataError> {
        let (mut plans, mut features) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            let more = feature::features(&column.name, &column.kind);
            if !more.is_empty() {
                let first = features.len();
                plans.push(ColumnPlan { column: column.name.clone(), kind: column.kind.clone(), first });
                features.extend(more);
            }
        }
        if plans.is_empty() {
            return Err(DataError::NoFeatures);
        }
        let most = u32::MAX as usize;
        if features.len() > most {
            return Err(DataError::TooManyFeatures { features: features.len(), most });
        }
        let scale = (1.0 - matrix::slack(plans.len())) / (plans.len() as f64).sqrt();
        let label = schema.label().cloned();
        Ok(Self { schema: schema.clone(), plans, features, scale, label })
    }

    /// The same encoder for tables without a label, to predict it. Rows are encoded one by one: users are not read.
    pub fn without_label(mut self) -> Self {
        self.label = None;
        self.schema = self.schema.by_row();
        self
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What each feature is.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// How many features there are.
    pub fn dimension(&self) -> usize {
        self.features.len()
    }

    /// A bound on the ℓ1 norm of every encoded row: a row of k columns has at most k entries and norm at
    /// most 1, so √k.
    pub fn l1_bound(&self) -> f64 {
        (self.plans.len() as f64).sqrt()
    }

    /// The columns that a pass reads: the features', then the label, then the user.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.plans.iter().map(|plan| plan.column.as_str()).collect();
        columns.extend(self.label.iter().map(|label| label.column.as_str()));
        if let PrivacyUnit::Column(column) = self.schema.unit() {
            columns.push(column);
        }
        columns
    }

    /// Checks, without reading a row, that the table has the schema's columns, that those with
    /// bounds can hold numbers, and that no declared category counts as missing.
    ///
    /// # Errors
    /// An error that names the column.
    pub fn check(&self, table: &dyn Table) -> Result<(), DataError> {
        for column in self.columns() {
            table.column(column)?;
        }
        let numeric = self.plans.iter().filter(|plan| matches!(plan.kind, FeatureKind::Numeric(_)));
        let label = self.label.iter().filter(|label| matches!(label.target, LabelKind::Number(_)));
        let numeric = numeric.map(|plan| &plan.column).chain(label.map(|label| &label.column));
        for column in numeric {
            if table.column(column)?.kind == ColumnKind::Boolean {
                let file = table.name().to_owned();
                return Err(DataError::NotNumeric { file, column: shown(column) });
            }
        }
        for plan in &self.plans {
            if let FeatureKind::Categorical(categories) = &plan.kind {
                table.check_values(&plan.column, categories.labels())?;
            }
        }
        if let Some(label) = &self.label {
            match &label.target {
                LabelKind::Binary { positive } => {
                    table.check_values(&label.column, std::slice::from_ref(positive))?;
                }
                LabelKind::Classes { categories, .. } => {
                    table.check_values(&label.column, categories.labels())?
                }
                LabelKind::Number(_) => {}
            }
        }
        Ok(())
    }

    /// Encodes a whole table. `on_progress` gets the bytes read so far, at most [`Table::size_bytes`].
    ///
    /// # Errors
    /// As [`Encoder::check`], or if the file cannot be read.
    pub fn encode(
        &self,
        table: &dyn Table,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(FeatureMatrix, EncodingTally), DataError> {
        let mut sink = self.sink();
        let tally = self.pass::<DataError>(table, on_progress, &mut |row| sink.add(row))?;
        Ok((sink.design, tally))
    }

    /// Encodes a whole table into the two sides of a split: by user where the schema's privacy unit is one, else by the
    /// row's own encoded content and by how many equal rows came before it.
    ///
    /// # Guarantee
    /// Under add-remove, a row (or user) more or less changes one of the sides by that one and leaves the other as it
    /// is, as collections without an order; see `split/proof.md`.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_split(
        &self,
        table: &dyn Table,
        split: &Split,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(SplitMatrices, EncodingTally), DataError> {
        let (mut train, mut test) = (self.sink(), self.sink());
        // For every hash the rows that have it: where the first of equal ones is, and how many there have been.
        let mut met: BTreeMap<u64, Vec<(SplitSide, usize, u64)>> = BTreeMap::new();
        let tally = self.pass::<DataError>(table, on_progress, &mut |row| {
            let side = match row.user.filter(|user| user.label().is_some()) {
                Some(user) => split.user(user),
                None => {
                    let hash = split.content(row.content(), row.label);
                    let rows = met.entry(hash).or_default();
                    let known = rows.iter_mut().find(|(side, place, _)| match side {
                        SplitSide::Train => train.holds(*place, row),
                        SplitSide::Test => test.holds(*place, row),
                    });
                    match known {
                        Some((_, _, count)) => {
                            *count += 1;
                            split.occurrence(hash, *count)
                        }
                        None => {
                            let side = split.occurrence(hash, 1);
                            let sink = if side == SplitSide::Train { &train } else { &test };
                            rows.push((side, sink.design.rows(), 1));
                            side
                        }
                    }
                }
            };
            match side {
                SplitSide::Train => train.add(row),
                SplitSide::Test => test.add(row),
            }
        })?;
        Ok((SplitMatrices { train: train.design, test: test.design }, tally))
    }

    /// Encodes a table in chunks of that many rows (the last one may have fewer) and hands each to
    /// `visit`: a table of any size needs memory for one chunk. Users keep their numbers from
    /// chunk to chunk.
    ///
    /// # Errors
    /// As [`Encoder::encode`], or what `visit` returns.
    pub fn scan<E: From<DataError>>(
        &self,
        table: &dyn Table,
        chunk_rows: usize,
        on_progress: &mut dyn FnMut(u64),
        visit: &mut dyn FnMut(&FeatureMatrix) -> Result<(), E>,
    ) -> Result<EncodingTally, E> {
        let mut sink = self.sink();
        let tally = self.pass::<E>(table, on_progress, &mut |row| {
            sink.add(row)?;
            if sink.design.rows() >= chunk_rows.max(1) {
                visit(&sink.design)?;
                sink.design.clear();
            }
            Ok(())
        })?;
        if sink.design.rows() > 0 {
            visit(&sink.design)?;
        }
        Ok(tally)
    }

    /// Encodes row by row.
    fn pass<E: From<DataError>>(
        &self,
        table: &dyn Table,
        on_progress: &mut dyn FnMut(u64),
        take: &mut dyn FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<EncodingTally, E> {
        self.check(table)?;
        let columns = self.columns();
        let has_user = *self.schema.unit() != PrivacyUnit::Row;
        let literal = literal_names(table, &self.schema);
        let table = literal.as_deref().unwrap_or(table);
        let mut tally = EncodingTally {
            columns: vec![ColumnTally::default(); self.plans.len()],
            ..EncodingTally::default()
        };
        let mut entries = Vec::with_capacity(self.plans.len());
        table.scan::<E>(&columns, on_progress, &mut |_, cells| {
            entries.clear();
            for ((plan, cell), count) in self.plans.iter().zip(cells).zip(&mut tally.columns) {
                let (part, value, met) = feature::coordinate(&plan.kind, cell);
                count.add(met);
                // The number of features fits 32 bits.
                entries.push(((plan.first + part) as u32, value * self.scale));
            }
            let label = self.label.as_ref().zip(cells.get(self.plans.len())).map(|(label, cell)| {
                let (label, met) = feature::label(&label.target, cell);
                tally.label.add(met);
                label
            });
            tally.rows += 1;
            take(&Row { entries: &entries, label, user: cells.last().filter(|_| has_user) })
        })?;
        Ok(tally)
    }

    fn sink(&self) -> Sink {
        let has_users = *self.schema.unit() != PrivacyUnit::Row;
        let design = FeatureMatrix::empty(self.dimension(), has_users, 1.0);
        Sink { design, users: Users::default() }
    }
}

/// An encoded row.
struct Row<'a> {
    entries: &'a [(u32, f64)],
    label: Option<f64>,
    user: Option<&'a Cell<'a>>,
}

impl Row<'_> {
    /// The entries that are not 0.
    fn content(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.entries.iter().copied().filter(|(_, value)| *value != 0.0)
    }
}

/// A matrix being filled.
struct Sink {
    design: FeatureMatrix,
    users: Users,
}

impl Sink {
    /// Whether the row at a place has the same entries and the same label, bit by bit.
    fn holds(&self, place: usize, row: &Row<'_>) -> bool {
        let (columns, values) = self.design.row(place);
        let own = columns.iter().zip(values).map(|(column, value)| (*column, value.to_bits()));
        own.eq(row.content().map(|(column, value)| (column, value.to_bits())))
            && self.design.labels.get(place).map(|label| label.to_bits()) == row.label.map(f64::to_bits)
    }

    fn add(&mut self, row: &Row<'_>) -> Result<(), DataError> {
        for (column, value) in row.content() {
            self.design.columns.push(column);
            self.design.values.push(value);
        }
        self.design.offsets.push(self.design.values.len());
        self.design.labels.extend(row.label);
        if let Some(user) = row.user {
            let number = self.users.number(user)?;
            self.design.users.get_or_insert_default().push(number);
        }
        Ok(())
    }
}

/// The table with the names of its users read literally, where that makes a difference: a user may have any name.
pub(crate) fn literal_names(table: &dyn Table, schema: &Schema) -> Option<Arc<dyn Table>> {
    match schema.unit() {
        PrivacyUnit::Row => None,
        PrivacyUnit::Column(column) => table.literal(table.position(column).ok()?),
    }
}

/// The names of a table's users, by their numbers; none for a row without an id.
///
/// # Errors
/// If the table has no such column, or cannot be read.
pub fn user_names(table: &dyn Table, schema: &Schema) -> Result<Vec<Option<String>>, DataError> {
    let PrivacyUnit::Column(column) = schema.unit() else { return Ok(Vec::new()) };
    let literal = literal_names(table, schema);
    let table = literal.as_deref().unwrap_or(table);
    let (mut users, mut names) = (Users::default(), Vec::new());
    table.scan::<DataError>(&[column.as_str()], &mut |_| {}, &mut |_, cells| {
        let number = users.number(&cells[0])? as usize;
        if number == names.len() {
            names.push(cells[0].label().map(|label| label.as_ref().to_owned()));
        }
        Ok(())
    })?;
    Ok(names)
}

/// A label as a number, as the [`FeatureMatrix`] describes it.
pub(crate) fn label_of(target: &LabelKind, cell: &Cell<'_>) -> f64 {
    feature::label(target, cell).0
}

/// Users, numbered from 0 in the order they first appear in.
#[derive(Default)]
pub(crate) struct Users {
    /// The number of every user with an id, and how many rows have none.
    numbers: BTreeMap<Box<str>, u32>,
    unnamed: usize,
}

impl Users {
    /// The number of a user, a new one if it has none yet. A row without an id is a user by itself.
    pub(crate) fn number(&mut self, user: &Cell<'_>) -> Result<u32, DataError> {
        let label = user.label();
        if let Some(number) = label.as_ref().and_then(|label| self.numbers.get(label.as_ref())) {
            return Ok(*number);
        }
        let next = self.numbers.len() + self.unnamed;
        let next =
            u32::try_from(next).map_err(|_| DataError::InvalidMatrix { problem: "it has too many users" })?;
        match label {
            Some(label) => drop(self.numbers.insert(label.as_ref().into(), next)),
            None => self.unnamed += 1,
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests;
