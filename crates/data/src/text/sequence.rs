//! Whole texts as positions in a vocabulary, for language models.

use super::TextPlan;
use crate::encode::{Users, literal_names};
use crate::error::DataError;
use crate::schema::PrivacyUnit;
use crate::table::Table;

/// All tokens of some texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    /// Text by text.
    pub positions: Vec<u32>,
    /// Where each text ends.
    pub ends: Vec<usize>,
    /// The number of every text's user, if the unit is a column and users were asked for.
    pub users: Option<Vec<u32>>,
}

impl Sequences {
    /// The texts.
    pub fn texts(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.positions[start..*end])
    }

    /// Adds a text.
    pub fn push(&mut self, positions: &[u32]) {
        self.positions.extend_from_slice(positions);
        self.ends.push(self.positions.len());
    }
}

impl TextPlan<'_> {
    /// Reads the whole texts of a table, with users or without. The plan's length and label play no part. A null is a text without
    /// tokens.
    ///
    /// # Errors
    /// If the table has no such column, or cannot be read.
    pub fn read_whole(
        &self,
        table: &dyn Table,
        with_users: bool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<Sequences, DataError> {
        let unit = match self.schema.unit() {
            PrivacyUnit::Column(column) if with_users => Some(column.as_str()),
            _ => None,
        };
        let columns: Vec<&str> = std::iter::once(self.column).chain(unit).collect();
        let mut read = Sequences { users: unit.map(|_| Vec::new()), ..Sequences::default() };
        let mut users = Users::default();
        let literal = literal_names(table, self.schema);
        let table = literal.as_deref().unwrap_or(table);
        table.scan::<DataError>(&columns, on_progress, &mut |_, cells| {
            let text = cells[0].label().unwrap_or_default();
            read.push(&self.vocabulary.positions_of(&text));
            if let (Some(numbers), Some(cell)) = (&mut read.users, cells.get(1)) {
                numbers.push(users.number(cell)?);
            }
            Ok(())
        })?;
        Ok(read)
    }
}
