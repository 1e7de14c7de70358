//! A budget in one SQLite file.
//!
//! A connection lives for one operation and no longer. So a process that forks hands no connection to its child (SQLite
//! forbids that), a file that is replaced while a process runs is noticed, and no lock outlives an operation. A charge syncs the log
//! and, because its connection is new, the folder.

mod rows;

use crate::book::Book;
use crate::rows::{Backend, Mode, Rows};
use crate::{BudgetTerms, StoreError, StoreOptions};
use reticent_core::Cause;
use rows::SqliteRows;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SCHEMA: &str = include_str!("schema.sql");

/// What tells a budget from other SQLite files: "RTBL", and the version of its tables.
const APPLICATION: i32 = 0x5254_424C;
const VERSION: i32 = 1;

/// A write-ahead log beyond so many bytes is written back by the next commit of an answer.
const LONG_LOG: u64 = 1 << 20;

/// A budget in one SQLite file, for the processes of one machine.
///
/// # Guarantee
/// As [`BudgetStore`](crate::BudgetStore). A reservation is in the write-ahead log and synced (`synchronous=FULL`) before it is
/// returned, and, where seals are kept, its mark is in the seal. A commit is written without a sync of its own: when the
/// machine fails, it may be lost, and the reservation still counts.
///
/// # Reference
/// As [`BudgetStore`](crate::BudgetStore); SQLite, *Write-Ahead Logging* and *How To Corrupt An SQLite Database File*.
pub type SqliteBudget = Book<Sqlite>;

impl SqliteBudget {
    /// Creates a budget. The file appears under its name when it is complete.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when something has that name, [`StoreError::Invalid`] for terms that no budget can have,
    /// [`StoreError::Io`] when it cannot be written.
    pub fn create(path: &Path, terms: &BudgetTerms, options: StoreOptions) -> Result<Self, StoreError> {
        let first = Self::first(terms, &options)?;
        let wrong = Wrong { place: path.display().to_string(), patience: options.patience };
        if fs::symlink_metadata(path).is_ok() {
            return Err(StoreError::Taken { place: wrong.place });
        }
        let temporary = beside(path, &format!(".{}.new", std::process::id()));
        let made = made(&temporary, &wrong, |rows| rows.insert(&first, None));
        let named = made.and_then(|()| appear(&temporary, path, &wrong));
        for file in [temporary.clone(), beside(&temporary, "-wal"), beside(&temporary, "-shm")] {
            let _ = fs::remove_file(file);
        }
        named?;
        Self::open(path, options)
    }

    /// Opens a budget.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotABudget`], [`StoreError::Altered`] when the record contradicts itself or is
    /// behind its seal, [`StoreError::Busy`], [`StoreError::Io`].
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let wrong = Wrong { place, patience: options.patience };
        // Opened again for every operation, wherever the process is by then.
        let path = fs::canonicalize(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => StoreError::NotFound { place: wrong.place.clone() },
            _ => wrong.system("read", &error),
        })?;
        Self::new(Sqlite { path, wrong, has_written: false }, options)
    }
}

/// The path with more at its end.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

/// A whole file with tables, and what `fill` adds to them.
fn made(
    path: &Path,
    wrong: &Wrong,
    fill: impl FnOnce(&mut dyn Rows) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let writing = |error| wrong.writing(error);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(writing)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(writing)?;
    connection.pragma_update(None, "application_id", APPLICATION).map_err(writing)?;
    connection.pragma_update(None, "user_version", VERSION).map_err(writing)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(writing)?;
    transaction.execute_batch(SCHEMA).map_err(writing)?;
    fill(&mut SqliteRows { connection: &transaction, wrong })?;
    transaction.commit().map_err(writing)?;
    // File systems without shared memory keep the rollback journal.
    let _: String = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0)).map_err(writing)?;
    connection.close().map_err(|(_, error)| wrong.writing(error))?;
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| wrong.system("write", &error))
}

/// Gives a whole file its name, if nothing has it.
fn appear(temporary: &Path, path: &Path, wrong: &Wrong) -> Result<(), StoreError> {
    let refused = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Taken { place: wrong.place.clone() },
        _ => wrong.system("write", error),
    };
    match fs::hard_link(temporary, path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(refused(&error)),
        // No links on this file system.
        Err(_) => fs::rename(temporary, path).map_err(|error| refused(&error))?,
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| refused(&error))
}

/// The words for what goes wrong with one file.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    place: String,
    patience: Duration,
}

impl Wrong {
    fn system(&self, action: &'static str, error: &std::io::Error) -> StoreError {
        StoreError::Io { place: self.place.clone(), action, cause: Cause::of_system(error) }
    }

    fn reading(&self, error: rusqlite::Error) -> StoreError {
        self.typed("read", error)
    }

    fn writing(&self, error: rusqlite::Error) -> StoreError {
        self.typed("write", error)
    }

    fn typed(&self, action: &'static str, error: rusqlite::Error) -> StoreError {
        let place = self.place.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy { place, seconds: self.patience.as_secs() }
            }
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotABudget { place, what: "it is not a SQLite file".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
                StoreError::Altered { place, what: error.to_string() }
            }
            Some(_) => StoreError::Io { place, action, cause: Cause::new(error) },
            // A column of another type or range.
            None => StoreError::Altered { place, what: error.to_string() },
        }
    }
}

/// The file of a budget.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    wrong: Wrong,
    has_written: bool,
}

impl Sqlite {
    /// A connection whose file is a budget of this version.
    fn connect(&self, mode: Mode) -> Result<Connection, StoreError> {
        let reading = |error| self.wrong.reading(error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(&self.path, flags).map_err(|error| {
                match fs::metadata(&self.path) {
                    Err(gone) if gone.kind() == std::io::ErrorKind::NotFound => {
                        StoreError::NotFound { place: self.wrong.place.clone() }
                    }
                    _ => self.wrong.reading(error),
                }
            })?;
        connection.busy_timeout(self.wrong.patience).map_err(reading)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(reading)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(reading)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(reading)?;
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let (application, version) =
            (number("application_id").map_err(reading)?, number("user_version").map_err(reading)?);
        if (application, version) != (APPLICATION, VERSION) {
            let what = match application == APPLICATION {
                true => format!("it has version {version}, and this program reads version {VERSION}"),
                false => "it is a SQLite file of something else".to_owned(),
            };
            return Err(StoreError::NotABudget { place: self.wrong.place.clone(), what });
        }
        let journal: String =
            connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(reading)?;
        let synchronous = if mode == Mode::Prompt && journal == "wal" { "NORMAL" } else { "FULL" };
        connection.pragma_update(None, "synchronous", synchronous).map_err(reading)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(reading)?;
        self.same_tables(&connection)?;
        Ok(connection)
    }

    /// Refuses tables that are not exactly those of a budget: a trigger would act in every charge.
    fn same_tables(&self, connection: &Connection) -> Result<(), StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let text = "SELECT sql FROM sqlite_schema ORDER BY rowid";
            connection.prepare(text)?.query_map([], |row| row.get(0))?.collect()
        };
        let found = read().map_err(|error| self.wrong.reading(error))?;
        let expected = SCHEMA.split(';').map(str::trim).filter(|text| !text.is_empty());
        match found.iter().map(String::as_str).eq(expected) {
            true => Ok(()),
            false => {
                let what = "its tables are not those of a budget".to_owned();
                Err(StoreError::Altered { place: self.wrong.place.clone(), what })
            }
        }
    }

    /// Writes a long log back into the file, as far as nobody else is in the way. Nothing depends on it.
    fn shorten_log(&self, connection: &Connection) {
        let log = fs::metadata(beside(&self.path, "-wal")).map_or(0, |file| file.len());
        if log > LONG_LOG {
            let _ = connection.busy_timeout(Duration::ZERO);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

impl Backend for Sqlite {
    fn place(&self) -> String {
        self.wrong.place.clone()
    }

    fn transaction<T>(
        &mut self,
        mode: Mode,
        work: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connect(mode)?;
        let (behavior, action) = match mode {
            Mode::Read => (TransactionBehavior::Deferred, "read"),
            Mode::Durable | Mode::Prompt => (TransactionBehavior::Immediate, "write"),
        };
        let failed = |error| self.wrong.typed(action, error);
        let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
        // Dropped without a commit, it is rolled back.
        let found = work(&mut SqliteRows { connection: &transaction, wrong: &self.wrong })?;
        transaction.commit().map_err(failed)?;
        if mode != Mode::Read {
            self.has_written = true;
        }
        if mode == Mode::Prompt {
            self.shorten_log(&connection);
        }
        Ok(found)
    }
}

impl Drop for Sqlite {
    /// Leaves one whole file, unless others are using it: the last connection that closes writes the log back and removes it.
    fn drop(&mut self) {
        if self.has_written
            && let Ok(connection) = self.connect(Mode::Durable)
        {
            let _ = connection.busy_timeout(Duration::ZERO);
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        }
    }
}
