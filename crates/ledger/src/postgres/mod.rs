//! A budget in a PostgreSQL database: one row that is locked by every charge, and its entries.
//!
//! A process that was forked leaves the connection of its parent alone and makes one of its own.

mod rows;

use crate::book::Book;
use crate::rows::{Backend, Mode, Rows};
use crate::{BudgetTerms, StoreError, StoreOptions};
use postgres::error::SqlState;
use postgres::{Client, Config, IsolationLevel, NoTls};
use reticent_core::Cause;
use rows::PostgresRows;
use std::time::Duration;

const SCHEMA: &str = include_str!("schema.sql");

/// The version of the tables.
const VERSION: i32 = 1;

/// The advisory lock under which tables are created: "RTBL".
const CREATION: i64 = 0x5254_424C;

/// A budget in a PostgreSQL database, for processes of many machines.
///
/// # Guarantee
/// As [`BudgetStore`](crate::BudgetStore). Every charge locks the row of its budget before it reads the last state
/// (`SELECT … FOR UPDATE`), and `synchronous_commit` is on for it. A server that runs with `fsync = off` is refused.
///
/// # Reference
/// As [`BudgetStore`](crate::BudgetStore); PostgreSQL, *Explicit Locking* and *Reliability and the Write-Ahead Log*.
pub type PostgresBudget = Book<Postgres>;

impl PostgresBudget {
    /// Creates a budget with this name. The tables are created with the first one. The connection is described as by libpq, without
    /// encryption: use a local socket or a tunnel.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when there is a budget of that name, [`StoreError::Invalid`] for terms that no budget can have,
    /// [`StoreError::Io`] when the server cannot be used.
    pub fn create(
        connection: &str,
        name: &str,
        terms: &BudgetTerms,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let first = Self::first(terms, &options)?;
        let mut postgres = Postgres::new(connection, name, options.patience)?;
        postgres.connected()?;
        let wrong = postgres.wrong.clone();
        let writing = |error| wrong.writing(error);
        let Some((_, client)) = &mut postgres.client else {
            return Err(wrong.unread("there is no connection"));
        };
        let mut transaction = client.transaction().map_err(writing)?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&CREATION]).map_err(writing)?;
        transaction.batch_execute(SCHEMA).map_err(writing)?;
        let text =
            "INSERT INTO reticent_budgets (name, id, version) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        let added =
            transaction.execute(text, &[&name, &first.digest.as_slice(), &VERSION]).map_err(writing)?;
        if added == 0 {
            return Err(StoreError::Taken { place: postgres.wrong.place.clone() });
        }
        PostgresRows { transaction: &mut transaction, budget: name, wrong: &wrong }.insert(&first, None)?;
        transaction.commit().map_err(writing)?;
        Self::new(postgres, options)
    }

    /// Opens the budget with this name.
    ///
    /// # Errors
    /// As [`SqliteBudget::open`](crate::SqliteBudget::open).
    pub fn open(connection: &str, name: &str, options: StoreOptions) -> Result<Self, StoreError> {
        Self::new(Postgres::new(connection, name, options.patience)?, options)
    }
}

/// The words for what goes wrong with one budget.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    place: String,
    patience: Duration,
}

impl Wrong {
    fn unread(&self, what: &str) -> StoreError {
        StoreError::Altered { place: self.place.clone(), what: what.to_owned() }
    }

    fn reading(&self, error: postgres::Error) -> StoreError {
        self.typed("read", error)
    }

    fn writing(&self, error: postgres::Error) -> StoreError {
        self.typed("write", error)
    }

    fn typed(&self, action: &'static str, error: postgres::Error) -> StoreError {
        let place = self.place.clone();
        match error.code() {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => {
                StoreError::Busy { place, seconds: self.patience.as_secs() }
            }
            Some(code) if *code == SqlState::UNDEFINED_TABLE => StoreError::NotFound { place },
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => {
                StoreError::Altered { place, what: error.to_string() }
            }
            _ => StoreError::Io { place, action, cause: Cause::new(error) },
        }
    }
}

/// A budget in a database.
pub struct Postgres {
    config: Config,
    name: String,
    wrong: Wrong,
    /// With the process that made it.
    client: Option<(u32, Client)>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The description of the connection may have a password.
        f.debug_struct("Postgres").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Postgres {
    fn new(connection: &str, name: &str, patience: Duration) -> Result<Self, StoreError> {
        let wrong = Wrong { place: format!("budget \"{name}\" in PostgreSQL"), patience };
        let mut config: Config = connection.parse().map_err(|error| wrong.reading(error))?;
        config.connect_timeout(patience.max(Duration::from_secs(1)));
        Ok(Self { config, name: name.to_owned(), wrong, client: None })
    }

    /// Makes a connection, unless there is one of this process.
    fn connected(&mut self) -> Result<(), StoreError> {
        let process = std::process::id();
        if let Some((owner, client)) = self.client.take() {
            if owner != process {
                // It is the parent's: closing it would end the parent's session.
                std::mem::forget(client);
            } else if !client.is_closed() {
                self.client = Some((owner, client));
                return Ok(());
            }
        }
        let reading = |error| self.wrong.reading(error);
        let mut client = self.config.connect(NoTls).map_err(reading)?;
        let fsync: String = client.query_one("SHOW fsync", &[]).map_err(reading)?.get(0);
        if fsync != "on" {
            let what = std::io::Error::other("the server runs with fsync = off: what it commits may be lost");
            let place = self.wrong.place.clone();
            return Err(StoreError::Io { place, action: "write", cause: Cause::new(what) });
        }
        self.client = Some((process, client));
        Ok(())
    }
}

impl Backend for Postgres {
    fn place(&self) -> String {
        self.wrong.place.clone()
    }

    fn transaction<T>(
        &mut self,
        mode: Mode,
        work: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.connected()?;
        let (wrong, name) = (&self.wrong, self.name.as_str());
        let Some((_, client)) = &mut self.client else { return Err(wrong.unread("there is no connection")) };
        let action = if mode == Mode::Read { "read" } else { "write" };
        let failed = |error| wrong.typed(action, error);
        let builder = client.build_transaction();
        let builder = match mode {
            // One state of the record for all statements.
            Mode::Read => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
            // Each statement sees what is committed, so all after the lock see the last state.
            Mode::Durable | Mode::Prompt => builder.isolation_level(IsolationLevel::ReadCommitted),
        };
        let mut transaction = builder.start().map_err(failed)?;
        let lock = match mode {
            Mode::Read => "",
            Mode::Durable | Mode::Prompt => {
                let patience = wrong.patience.as_millis().max(1);
                let settings =
                    format!("SET LOCAL lock_timeout = '{patience}ms'; SET LOCAL synchronous_commit = on");
                transaction.batch_execute(&settings).map_err(failed)?;
                "FOR UPDATE"
            }
        };
        let text = format!("SELECT version FROM reticent_budgets WHERE name = $1 {lock}");
        let found = transaction.query_opt(&text, &[&name]).map_err(failed)?;
        let Some(row) = found else { return Err(StoreError::NotFound { place: wrong.place.clone() }) };
        let version: i32 = row.get(0);
        if version != VERSION {
            let what = format!("it has version {version}, and this program reads version {VERSION}");
            return Err(StoreError::NotABudget { place: wrong.place.clone(), what });
        }
        let found = work(&mut PostgresRows { transaction: &mut transaction, budget: name, wrong })?;
        transaction.commit().map_err(failed)?;
        Ok(found)
    }
}
