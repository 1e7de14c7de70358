//! From rows of a table to numbers, by the public schema alone.
//!
//! - A **numeric** column becomes its place between its bounds, from 0 to 1: what lies outside is
//!   clamped. It is not centred, so that the value 0 costs nothing in a sparse row and an intercept can
//!   do the centring. A second feature says whether there is no number: a null, NaN, or text that is
//!   none.
//! - A **categorical** column becomes one feature per declared category, one for every other label and
//!   one for the null; the one that holds is 1.
//! - Every column then has norm at most 1, so a row of k columns has norm at most √k. Rows are divided
//!   by √k, a constant of the schema: all norms are at most 1 as the proofs need, no row has to be
//!   clipped further, and rows keep their proportions. The constant is rounded down, so that the bound
//!   holds for the floats themselves.
//! - A **label** is never an error. Two classes: what is not the positive label is negative, nulls
//!   included. Several: an undeclared or missing label counts as the class that the schema names.
//!   Regression: clamped, and in the middle if missing. Rows are never dropped, so their number does
//!   not depend on their content.
//!
//! There is no intercept here: it belongs to the model.
//!
//! # Guarantee
//! A row's features and label depend on the schema and on that row alone. Adding, removing or replacing
//! a row of the table adds, removes or replaces one row of the design, and nothing is learned from the
//! others. Only a file that cannot be read as a table is an error: a ragged line, a quote that is not closed,
//! text that is not UTF-8.

mod design;
mod feature;

use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::error::{DataError, shown};
use crate::schema::{Kind, Label, Schema, Target, Unit};
use crate::split::{Side, Split};
use crate::table::{ColumnKind, TableFile};

pub use design::Design;
use feature::Met;
pub use feature::{Feature, FeaturePart};

/// What turns rows into numbers; the module's page says how.
#[derive(Clone, Debug)]
pub struct Encoder {
    schema: Schema,
    /// The columns that become features.
    plans: Vec<Plan>,
    features: Vec<Feature>,
    /// Divides rows by the root of the number of columns.
    scale: f64,
    label: Option<Label>,
}

#[derive(Clone, Debug)]
struct Plan {
    column: String,
    kind: Kind,
    /// The number of its first feature.
    first: usize,
}

/// How the values of a table met their declarations.
///
/// These counts are made from the private records. They are for whoever holds the data, to see whether
/// a schema fits the table; they must not be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many rows there were.
    pub rows: u64,
    /// For each feature column, in the order of the schema.
    pub columns: Vec<ColumnTally>,
    /// For the label.
    pub label: ColumnTally,
}

/// How the values of one column met their declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnTally {
    /// How many were clamped or not among the categories.
    pub outside: u64,
    /// How many were null or no number.
    pub missing: u64,
}

impl ColumnTally {
    fn add(&mut self, met: Met) {
        match met {
            Met::Inside => {}
            Met::Outside => self.outside += 1,
            Met::Missing => self.missing += 1,
        }
    }
}

/// The two sides of a split table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The rows for training.
    pub train: Design,
    /// The rows for testing.
    pub test: Design,
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
                plans.push(Plan { column: column.name.clone(), kind: column.kind.clone(), first });
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
        let scale = (1.0 - design::slack(plans.len())) / (plans.len() as f64).sqrt();
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
        if let Unit::Column(column) = self.schema.unit() {
            columns.push(column);
        }
        columns
    }

    /// Checks, without reading a row, that the table has the schema's columns and that those with
    /// bounds can hold numbers.
    ///
    /// # Errors
    /// An error that names the column.
    pub fn check(&self, table: &TableFile) -> Result<(), DataError> {
        for column in self.columns() {
            table.column(column)?;
        }
        let numeric = self.plans.iter().filter(|plan| matches!(plan.kind, Kind::Numeric(_)));
        let label = self.label.iter().filter(|label| matches!(label.target, Target::Number(_)));
        let numeric = numeric.map(|plan| &plan.column).chain(label.map(|label| &label.column));
        for column in numeric {
            if table.column(column)?.kind == ColumnKind::Boolean {
                let file = crate::error::shown_path(table.path());
                return Err(DataError::NotNumeric { file, column: shown(column) });
            }
        }
        Ok(())
    }

    /// Encodes a whole table. `on_progress` is as for [`TableFile::scan`].
    ///
    /// # Errors
    /// As [`Encoder::check`], or if the file cannot be read.
    pub fn encode(
        &self,
        table: &TableFile,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(Design, Tally), DataError> {
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
        table: &TableFile,
        split: &Split,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(Sides, Tally), DataError> {
        let (mut train, mut test) = (self.sink(), self.sink());
        // For every hash the rows that have it: where the first of equal ones is, and how many there have been.
        let mut met: BTreeMap<u64, Vec<(Side, usize, u64)>> = BTreeMap::new();
        let tally = self.pass::<DataError>(table, on_progress, &mut |row| {
            let side = match row.user.filter(|user| user.label().is_some()) {
                Some(user) => split.user(user),
                None => {
                    let hash = split.content(row.content(), row.label);
                    let rows = met.entry(hash).or_default();
                    let known = rows.iter_mut().find(|(side, place, _)| match side {
                        Side::Train => train.holds(*place, row),
                        Side::Test => test.holds(*place, row),
                    });
                    match known {
                        Some((_, _, count)) => {
                            *count += 1;
                            split.occurrence(hash, *count)
                        }
                        None => {
                            let side = split.occurrence(hash, 1);
                            let sink = if side == Side::Train { &train } else { &test };
                            rows.push((side, sink.design.rows(), 1));
                            side
                        }
                    }
                }
            };
            match side {
                Side::Train => train.add(row),
                Side::Test => test.add(row),
            }
        })?;
        Ok((Sides { train: train.design, test: test.design }, tally))
    }

    /// Encodes a table in chunks of that many rows (the last one may have fewer) and hands each to
    /// `visit`, so that a table of any size needs memory for one chunk. Users keep their numbers from
    /// chunk to chunk.
    ///
    /// # Errors
    /// As [`Encoder::encode`], or what `visit` returns.
    pub fn scan<E: From<DataError>>(
        &self,
        table: &TableFile,
        chunk_rows: usize,
        on_progress: &mut dyn FnMut(u64),
        visit: &mut dyn FnMut(&Design) -> Result<(), E>,
    ) -> Result<Tally, E> {
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
        table: &TableFile,
        on_progress: &mut dyn FnMut(u64),
        take: &mut dyn FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<Tally, E> {
        self.check(table)?;
        let columns = self.columns();
        let has_user = *self.schema.unit() != Unit::Row;
        let mut tally = Tally { columns: vec![ColumnTally::default(); self.plans.len()], ..Tally::default() };
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
        let has_users = *self.schema.unit() != Unit::Row;
        let design = Design::empty(self.dimension(), has_users, 1.0);
        Sink { design, users: Users::default() }
    }
}

/// An encoded row on its way into a design.
struct Row<'a> {
    entries: &'a [(u32, f64)],
    label: Option<f64>,
    user: Option<&'a Cell<'a>>,
}

impl Row<'_> {
    /// The entries that a design keeps.
    fn content(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.entries.iter().copied().filter(|(_, value)| *value != 0.0)
    }
}

/// A design in the making.
struct Sink {
    design: Design,
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

/// A label as a number, as the [`Design`] describes it.
pub(crate) fn label_of(target: &Target, cell: &Cell<'_>) -> f64 {
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
        let next = u32::try_from(next).map_err(|_| DataError::Design { problem: "it has too many users" })?;
        match label {
            Some(label) => drop(self.numbers.insert(label.as_ref().into(), next)),
            None => self.unnamed += 1,
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests;
