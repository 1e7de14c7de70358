//! The rows of a budget in PostgreSQL.

use super::Wrong;
use crate::record::{Digest, Record};
use crate::rows::{EntryCounts, Rows};
use crate::{BudgetScope, StoreError};
use postgres::types::ToSql;
use postgres::{Row, Transaction};

const COLUMNS: &str = "number, kind, time, latest, charges, charged, analyst, purpose, question, refers, body, answer, \
                       state, analyst_state, purpose_state, digest";

/// The rows, inside of a transaction.
pub(super) struct PostgresRows<'a, 'b> {
    pub(super) transaction: &'a mut Transaction<'b>,
    pub(super) budget: &'a str,
    pub(super) wrong: &'a Wrong,
}

/// A number as PostgreSQL keeps it.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A value of a row; none where it has another type or range.
fn digest(bytes: Vec<u8>) -> Option<Digest> {
    bytes.try_into().ok()
}

fn count(row: &Row, column: usize) -> Option<u64> {
    u64::try_from(row.try_get::<_, i64>(column).ok()?).ok()
}

fn optional<T>(value: Option<Vec<u8>>, read: impl Fn(Vec<u8>) -> Option<T>) -> Option<Option<T>> {
    match value {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn record(row: &Row) -> Option<Record> {
    let refers: Option<i64> = row.try_get(9).ok()?;
    let refers = match refers {
        None => None,
        Some(number) => Some(u64::try_from(number).ok()?),
    };
    Some(Record {
        number: count(row, 0)?,
        kind: row.try_get(1).ok()?,
        time: row.try_get(2).ok()?,
        latest: row.try_get(3).ok()?,
        charges: count(row, 4)?,
        charged: count(row, 5)?,
        analyst: row.try_get(6).ok()?,
        purpose: row.try_get(7).ok()?,
        question: optional(row.try_get(8).ok()?, digest)?,
        refers,
        body: row.try_get(10).ok()?,
        answer: optional(row.try_get(11).ok()?, digest)?,
        state: row.try_get(12).ok()?,
        analyst_state: row.try_get(13).ok()?,
        purpose_state: row.try_get(14).ok()?,
        digest: digest(row.try_get(15).ok()?)?,
    })
}

impl PostgresRows<'_, '_> {
    fn many(&mut self, rest: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Record>, StoreError> {
        let text = format!("SELECT {COLUMNS} FROM reticent_entries WHERE budget = $1 {rest}");
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![&self.budget];
        all.extend_from_slice(values);
        let rows = self.transaction.query(&text, &all).map_err(|error| self.wrong.reading(error))?;
        let read = |row: &Row| record(row).ok_or_else(|| self.wrong.unread("a row cannot be read"));
        rows.iter().map(read).collect()
    }

    fn one(&mut self, rest: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Option<Record>, StoreError> {
        Ok(self.many(rest, values)?.into_iter().next())
    }

    fn number(&mut self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, StoreError> {
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![&self.budget];
        all.extend_from_slice(values);
        let row = self.transaction.query_one(text, &all).map_err(|error| self.wrong.reading(error))?;
        count(&row, 0).ok_or_else(|| self.wrong.unread("a count cannot be read"))
    }
}

fn columns(scope: &BudgetScope) -> Option<(&'static str, &str)> {
    match scope {
        BudgetScope::Total => None,
        BudgetScope::Analyst(name) => Some(("analyst", name)),
        BudgetScope::Purpose(name) => Some(("purpose", name)),
    }
}

impl Rows for PostgresRows<'_, '_> {
    fn last(&mut self) -> Result<Option<Record>, StoreError> {
        self.one("ORDER BY number DESC LIMIT 1", &[])
    }

    fn at(&mut self, number: u64) -> Result<Option<Record>, StoreError> {
        self.one("AND number = $2", &[&whole(number)])
    }

    fn from(&mut self, number: u64, most: u64) -> Result<Vec<Record>, StoreError> {
        self.many("AND number >= $2 ORDER BY number LIMIT $3", &[&whole(number), &whole(most)])
    }

    fn rare(&mut self, kind: &str) -> Result<Vec<Record>, StoreError> {
        let rest = "AND kind = $2 AND kind <> 'reserved' AND kind <> 'committed' ORDER BY number";
        self.many(rest, &[&kind])
    }

    fn last_of(&mut self, scope: &BudgetScope) -> Result<Option<Record>, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(None) };
        let rest = format!("AND {role} = $2 AND {role}_state IS NOT NULL ORDER BY number DESC LIMIT 1");
        self.one(&rest, &[&name])
    }

    fn count_of(&mut self, scope: &BudgetScope) -> Result<u64, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(0) };
        let text = format!(
            "SELECT count(*) FROM reticent_entries WHERE budget = $1 AND {role} = $2 AND {role}_state IS NOT NULL"
        );
        self.number(&text, &[&name])
    }

    fn commit_of(&mut self, number: u64) -> Result<Option<Record>, StoreError> {
        self.one("AND refers = $2 AND kind = 'committed' LIMIT 1", &[&whole(number)])
    }

    fn has_recalled(&mut self, number: u64, scope: &BudgetScope) -> Result<bool, StoreError> {
        let Some((role, name)) = columns(scope) else { return Ok(false) };
        let text = format!(
            "SELECT count(*) FROM reticent_entries WHERE budget = $1 AND refers = $2 AND kind = 'recalled' AND {role} = $3 \
             AND {role}_state IS NOT NULL"
        );
        Ok(self.number(&text, &[&whole(number), &name])? > 0)
    }

    fn answered(&mut self, question: &Digest) -> Result<Option<Record>, StoreError> {
        let rest = "AND question = $2 AND answer IS NOT NULL ORDER BY number DESC LIMIT 1";
        self.one(rest, &[&question.as_slice()])
    }

    fn answer(&mut self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let text = "SELECT body FROM reticent_answers WHERE budget = $1 AND number = $2";
        let found = self.transaction.query_opt(text, &[&self.budget, &whole(number)]);
        Ok(found.map_err(|error| self.wrong.reading(error))?.map(|row| row.get(0)))
    }

    fn counts(&mut self) -> Result<EntryCounts, StoreError> {
        let committed = "SELECT count(*) FROM reticent_entries WHERE budget = $1 AND refers IS NOT NULL AND kind = 'committed'";
        let answers = "SELECT count(*) FROM reticent_answers WHERE budget = $1";
        Ok(EntryCounts { committed: self.number(committed, &[])?, answers: self.number(answers, &[])? })
    }

    fn insert(&mut self, record: &Record, answer: Option<&[u8]>) -> Result<(), StoreError> {
        let places = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17";
        let text = format!("INSERT INTO reticent_entries (budget, {COLUMNS}) VALUES ({places})");
        let number = whole(record.number);
        let written = self.transaction.execute(
            &text,
            &[
                &self.budget,
                &number,
                &record.kind,
                &record.time,
                &record.latest,
                &whole(record.charges),
                &whole(record.charged),
                &record.analyst,
                &record.purpose,
                &record.question.as_ref().map(<[u8; 32]>::as_slice),
                &record.refers.map(whole),
                &record.body,
                &record.answer.as_ref().map(<[u8; 32]>::as_slice),
                &record.state,
                &record.analyst_state,
                &record.purpose_state,
                &record.digest.as_slice(),
            ],
        );
        written.map_err(|error| self.wrong.writing(error))?;
        if let Some(answer) = answer {
            let text = "INSERT INTO reticent_answers (budget, number, body) VALUES ($1, $2, $3)";
            let written = self.transaction.execute(text, &[&self.budget, &number, &answer]);
            written.map_err(|error| self.wrong.writing(error))?;
        }
        Ok(())
    }

    fn defects(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}
