//! The rows of a budget in SQLite.

use super::Wrong;
use crate::record::{Digest, Record};
use crate::rows::{EntryCounts, Rows};
use crate::{BudgetScope, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};

const COLUMNS: &str = "number, kind, time, latest, charges, charged, analyst, purpose, question, refers, body, answer, \
                       state, analyst_state, purpose_state, digest";

/// The rows, through a connection with a transaction.
pub(super) struct SqliteRows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) wrong: &'a Wrong,
}

/// A number as SQLite keeps it.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count or number that is not negative.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let found: i64 = row.get(column)?;
    u64::try_from(found).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, found))
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let refers: Option<i64> = row.get(9)?;
    let refers = refers
        .map(|found| u64::try_from(found).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(9, found)))
        .transpose()?;
    Ok(Record {
        number: count(row, 0)?,
        kind: row.get(1)?,
        time: row.get(2)?,
        latest: row.get(3)?,
        charges: count(row, 4)?,
        charged: count(row, 5)?,
        analyst: row.get(6)?,
        purpose: row.get(7)?,
        question: row.get(8)?,
        refers,
        body: row.get(10)?,
        answer: row.get(11)?,
        state: row.get(12)?,
        analyst_state: row.get(13)?,
        purpose_state: row.get(14)?,
        digest: row.get(15)?,
    })
}

impl SqliteRows<'_> {
    fn one(&self, rest: &str, values: impl rusqlite::Params) -> Result<Option<Record>, StoreError> {
        let text = format!("SELECT {COLUMNS} FROM entries {rest}");
        self.connection.query_row(&text, values, record).optional().map_err(|error| self.wrong.reading(error))
    }

    fn many(&self, rest: &str, values: impl rusqlite::Params) -> Result<Vec<Record>, StoreError> {
        let text = format!("SELECT {COLUMNS} FROM entries {rest}");
        let read = || -> rusqlite::Result<Vec<Record>> {
            self.connection.prepare(&text)?.query_map(values, record)?.collect()
        };
        read().map_err(|error| self.wrong.reading(error))
    }

    fn number(&self, text: &str, values: impl rusqlite::Params) -> Result<u64, StoreError> {
        self.connection
            .query_row(text, values, |row| count(row, 0))
            .map_err(|error| self.wrong.reading(error))
    }
}

/// The column of the name and that of the state of a sub-budget.
fn columns(scope: &BudgetScope) -> Option<(&'static str, &str)> {
    match scope {
        BudgetScope::Total => None,
        BudgetScope::Analyst(name) => Some(("analyst", name)),
        BudgetScope::Purpose(name) => Some(("purpose", name)),
    }
}

impl Rows for SqliteRows<'_> {
    fn last(&mut self) -> Result<Option<Record>, StoreError> {
        self.one("ORDER BY number DESC LIMIT 1", [])
    }

    fn at(&mut self, number: u64) -> Result<Option<Record>, StoreError> {
        self.one("WHERE number = ?", [whole(number)])
    }

    fn from(&mut self, number: u64, most: u64) -> Result<Vec<Record>, StoreError> {
        self.many("WHERE number >= ? ORDER BY number LIMIT ?", [whole(number), whole(most)])
    }

    fn rare(&mut self, kind: &str) -> Result<Vec<Record>, StoreError> {
        let rest = "WHERE kind = ? AND kind <> 'reserved' AND kind <> 'committed' ORDER BY number";
        self.many(rest, [kind])
    }

    fn last_of(&mut self, scope: &BudgetScope) -> Result<Option<Record>, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(None) };
        let rest = format!("WHERE {role} = ? AND {role}_state IS NOT NULL ORDER BY number DESC LIMIT 1");
        self.one(&rest, [name])
    }

    fn count_of(&mut self, scope: &BudgetScope) -> Result<u64, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(0) };
        let text = format!("SELECT count(*) FROM entries WHERE {role} = ? AND {role}_state IS NOT NULL");
        self.number(&text, [name])
    }

    fn commit_of(&mut self, number: u64) -> Result<Option<Record>, StoreError> {
        self.one("WHERE refers = ? AND refers IS NOT NULL AND kind = 'committed' LIMIT 1", [whole(number)])
    }

    fn has_recalled(&mut self, number: u64, scope: &BudgetScope) -> Result<bool, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(false) };
        let text = format!(
            "SELECT count(*) FROM entries WHERE refers = ? AND refers IS NOT NULL AND kind = 'recalled' AND {role} = ? \
             AND {role}_state IS NOT NULL"
        );
        Ok(self.number(&text, params![whole(number), name])? > 0)
    }

    fn answered(&mut self, question: &Digest) -> Result<Option<Record>, StoreError> {
        self.one(
            "WHERE question = ? AND answer IS NOT NULL ORDER BY number DESC LIMIT 1",
            [question.as_slice()],
        )
    }

    fn answer(&mut self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let text = "SELECT body FROM answers WHERE number = ?";
        let found = self.connection.query_row(text, [whole(number)], |row| row.get(0)).optional();
        found.map_err(|error| self.wrong.reading(error))
    }

    fn counts(&mut self) -> Result<EntryCounts, StoreError> {
        let referring = self.number("SELECT count(*) FROM entries WHERE refers IS NOT NULL", [])?;
        let rest = "kind = 'recalled' AND kind <> 'reserved' AND kind <> 'committed'";
        let recalled = self.number(&format!("SELECT count(*) FROM entries WHERE {rest}"), [])?;
        let committed = referring.saturating_sub(recalled);
        Ok(EntryCounts { committed, answers: self.number("SELECT count(*) FROM answers", [])? })
    }

    fn insert(&mut self, record: &Record, answer: Option<&[u8]>) -> Result<(), StoreError> {
        let places = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
        let text = format!("INSERT INTO entries ({COLUMNS}) VALUES ({places})");
        let values = params![
            whole(record.number),
            record.kind,
            record.time,
            record.latest,
            whole(record.charges),
            whole(record.charged),
            record.analyst,
            record.purpose,
            record.question.as_ref().map(<[u8; 32]>::as_slice),
            record.refers.map(whole),
            record.body,
            record.answer.as_ref().map(<[u8; 32]>::as_slice),
            record.state,
            record.analyst_state,
            record.purpose_state,
            record.digest.as_slice(),
        ];
        let write = || -> rusqlite::Result<()> {
            self.connection.execute(&text, values)?;
            if let Some(answer) = answer {
                let text = "INSERT INTO answers (number, body) VALUES (?, ?)";
                self.connection.execute(text, params![whole(record.number), answer])?;
            }
            Ok(())
        };
        write().map_err(|error| self.wrong.writing(error))
    }

    fn defects(&mut self) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare("PRAGMA integrity_check(20)")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let found = read().map_err(|error| self.wrong.reading(error))?;
        Ok(found
            .into_iter()
            .filter(|line| line != "ok")
            .map(|line| format!("the file is damaged: {line}"))
            .collect())
    }
}
