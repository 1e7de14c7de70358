//! A budget in a file.

use super::{names, place};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::watch::Watch;
use reticent_core::{Code, Coded};
use reticent_data::{Reading, Schema, is_same_file};
use reticent_ledger::{Asking, BudgetReceipt, BudgetStore, BudgetTerms, DataName, SharedStore, StoreError};
use std::path::{Path, PathBuf};

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Invalid(invalid) => invalid.into(),
            error => Self::new(error.code(), error.to_string()).because(error),
        }
    }
}

/// A budget in a file, and who asks.
///
/// The file is opened for every question anew, so a value of this type may be used by many threads and in a forked process.
///
/// # Guarantee
/// Everything that its sessions draw, in all processes and at all times together, is private within the limit of the budget: as of
/// [`BudgetStore`].
///
/// # Reference
/// [`BudgetStore`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBudget {
    file: PathBuf,
    analyst: Option<String>,
    purpose: Option<String>,
}

impl StoredBudget {
    /// The budget in this file.
    ///
    /// # Errors
    /// [`Refusal`] when there is none, or it cannot be read.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, Refusal> {
        let budget = Self { file: file.into(), analyst: None, purpose: None };
        budget.terms()?;
        Ok(budget)
    }

    /// The same budget, charged in these names.
    ///
    /// # Errors
    /// [`Refusal`] for an empty name.
    pub fn asked_by(self, analyst: Option<String>, purpose: Option<String>) -> Result<Self, Refusal> {
        for (field, name) in [("analyst", &analyst), ("purpose", &purpose)] {
            if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
                return Err(Refusal::value(field, "", "give a name, or leave it out"));
            }
        }
        Ok(Self { analyst, purpose, ..self })
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What was settled when it was created, and the data that were added.
    ///
    /// # Errors
    /// [`Refusal`] when it cannot be read.
    pub fn terms(&self) -> Result<BudgetTerms, Refusal> {
        Ok(self.store()?.terms()?)
    }

    pub(super) fn store(&self) -> Result<Box<dyn BudgetStore>, Refusal> {
        place::open(&self.file)
    }

    /// Who asks, about this question.
    pub(super) fn asking(&self, about: impl Into<String>) -> Asking {
        Asking {
            analyst: self.analyst.clone(),
            purpose: self.purpose.clone(),
            question: None,
            about: about.into(),
        }
    }

    /// A session that charges it. What it charges counts as spent; [`within`](Self::within) also puts on record that it was
    /// answered.
    ///
    /// # Errors
    /// [`Refusal`] when the file cannot be read, and as [`Session::new`].
    pub fn session(&self, about: &str) -> Result<Session, Refusal> {
        Ok(self.charging(self.asking(about))?.0)
    }

    pub(super) fn charging(&self, asking: Asking) -> Result<(Session, BudgetReceipt), Refusal> {
        let shared = SharedStore::new(self.store()?)?;
        let BudgetTerms { name, unit, neighboring, .. } = shared.terms().clone();
        let (ledger, receipt) = shared.ledger(asking);
        Ok((Session::new(&name, &unit, neighboring, Box::new(ledger))?, receipt))
    }

    /// Does work in a session that charges it, about data in memory, and puts on record that the work was done.
    ///
    /// # Errors
    /// [`Refusal`] when data in memory do not belong to the budget, when it does not cover the work, or of the work itself.
    pub fn within<T>(
        &self,
        about: &str,
        watch: Option<Box<dyn Watch>>,
        work: impl FnOnce(&mut Session) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.check_data(&[PathBuf::new()])?;
        let (session, receipt) = self.charging(self.asking(about))?;
        let done = work(&mut watched(session, watch))?;
        receipt.commit(None)?;
        Ok(done)
    }

    /// The names that the budget has for data, which all belong to it.
    ///
    /// # Errors
    /// [`Refusal`] naming data that do not belong to the budget.
    pub(super) fn check_data(&self, data: &[PathBuf]) -> Result<Vec<String>, Refusal> {
        self.check_read(data, None)
    }

    /// As [`check_data`](Self::check_data), for data that are read in this way, if it is known.
    ///
    /// # Errors
    /// [`Refusal`] naming data that do not belong to the budget, or that it says to read in another way.
    pub(super) fn check_read(
        &self,
        data: &[PathBuf],
        reading: Option<&Reading>,
    ) -> Result<Vec<String>, Refusal> {
        let declared = self.terms()?.data;
        let reading = reading.map(reading_words);
        let mut found = Vec::new();
        for path in data {
            let name = names::name(&self.file, path);
            let covering: Vec<&DataName> =
                declared.iter().filter(|declared| names::covers(&declared.path, &name)).collect();
            if covering.is_empty() {
                return Err(self.other_data(&name, path));
            }
            // Nothing of a table in memory is text.
            let is_file = name != names::MEMORY && name != names::BUNDLED;
            if let Some(reading) = reading.as_ref().filter(|_| is_file)
                && covering.iter().all(|declared| declared.reading != *reading)
            {
                return Err(self.other_reading(path, &covering));
            }
            found.push(name);
        }
        Ok(found)
    }

    /// Refuses a file that is taken as public and is one of the budget's data.
    pub(super) fn check_public(&self, field: &str, file: &Path) -> Result<(), Refusal> {
        let canonical = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let own = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let called = [names::name(&self.file, file), names::name(&own, &canonical)];
        let declared = self.terms()?.data;
        let is_private = |name: &String| declared.iter().any(|declared| names::covers(&declared.path, name));
        // Declared files may be links themselves.
        let is_linked = |declared: &DataName| {
            let folder = self.file.parent().unwrap_or(Path::new(""));
            is_same_file(&folder.join(&declared.path), file)
        };
        if !called.iter().any(is_private) && !declared.iter().any(is_linked) {
            return Ok(());
        }
        let remedy = format!(
            "this file belongs to the private data of the budget {}: give a file that is public, outside of them",
            self.file.display()
        );
        Err(Refusal::value(field, file.display(), remedy).coded(Code::Conflict))
    }

    fn other_reading(&self, path: &Path, covering: &[&DataName]) -> Refusal {
        let usual = || "without options about its text".to_owned();
        let ways: Vec<String> = covering
            .iter()
            .map(|declared| declared.reading.as_ref().map_or_else(usual, |reading| format!("as {reading}")))
            .collect();
        let text = format!(
            "{}: the budget {} reads this file {}: what a row is was settled when the data were declared; ask with the same options, or \
             declare another way with 'reticent budget add-data'",
            path.display(),
            self.file.display(),
            ways.join(" or ")
        );
        Refusal::new(Code::OtherData, text)
    }

    fn other_data(&self, name: &str, path: &Path) -> Refusal {
        let file = self.file.display();
        let (shown, add) = match name {
            names::MEMORY => ("a table in memory".to_owned(), name.to_owned()),
            names::BUNDLED => ("the bundled records".to_owned(), name.to_owned()),
            _ => (path.display().to_string(), path.display().to_string()),
        };
        let text = format!(
            "{shown}: the budget {file} is not about these data: if they hold the same people, add them with \
             'reticent budget add-data {file} {add}'; otherwise use the budget of the people they hold"
        );
        Refusal::new(Code::OtherData, text)
    }
}

/// A way to read files as a budget keeps it; none for the usual one.
pub(super) fn reading_words(reading: &Reading) -> Option<String> {
    let own = reading.dialect_only();
    if own.is_default() { None } else { serde_json::to_string(&own).ok() }
}

/// A session with a display of progress, if there is one.
pub(super) fn watched(session: Session, watch: Option<Box<dyn Watch>>) -> Session {
    match watch {
        Some(watch) => session.watched(watch),
        None => session,
    }
}

/// The budget that a request is charged to: the one that is named, or the one that its schema names; none where neither does.
///
/// # Errors
/// [`Refusal`] when the schema cannot be read, or names another budget.
pub fn declared_budget(named: Option<&Path>, schema: Option<&Path>) -> Result<Option<PathBuf>, Refusal> {
    let declared = match schema {
        Some(schema) => Schema::read(schema)
            .map_err(Refusal::data("schema"))?
            .budget()
            .map(|file| schema.parent().unwrap_or(Path::new("")).join(file)),
        None => None,
    };
    match (named, declared) {
        (Some(named), Some(declared)) if !is_same(named, &declared) => {
            let remedy = format!("the schema names another budget, {}: leave it out", declared.display());
            Err(Refusal::conflict("budget", named.display(), remedy))
        }
        (Some(named), _) => Ok(Some(named.to_path_buf())),
        (None, declared) => Ok(declared),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
