//! Where a budget is: a file, or a database.
//!
//! A budget in PostgreSQL is named `postgres://USER@HOST/DATABASE#NAME`, behind the feature `postgres`.

use crate::refusal::Refusal;
use reticent_ledger::{BudgetStore, BudgetTerms, SqliteBudget, StoreOptions};
use std::path::{Path, PathBuf};

/// Names the folder in which seals are kept.
pub const SEALS_FOLDER: &str = "RETICENT_SEALS";
/// The folder of seals beside a budget, where no other is named.
const SEALS: &str = ".reticent-seals";

/// How the store of a budget is opened: with a seal, which says how far its record was seen to go, in the folder that
/// [`SEALS_FOLDER`] names or else beside the budget, if one can be made there.
fn options(file: Option<&Path>) -> StoreOptions {
    let named = std::env::var_os(SEALS_FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = || file.map(|file| file.parent().unwrap_or(Path::new("")).join(SEALS));
    match named.or_else(beside) {
        Some(folder) if folder.is_dir() || std::fs::create_dir(&folder).is_ok() => {
            StoreOptions::default().sealed_in(folder)
        }
        _ => StoreOptions::default(),
    }
}

/// The connection and the name of a budget in a database.
fn database(place: &Path) -> Option<(&str, &str)> {
    let text = place.to_str()?;
    let is_database = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    is_database.then(|| text.split_once('#').unwrap_or((text, "")))
}

/// The name of a budget, as its place tells it.
pub(super) fn stem(place: &Path) -> Option<String> {
    let stem = match database(place) {
        Some((_, name)) => name.to_owned(),
        None => place.file_stem()?.to_string_lossy().into_owned(),
    };
    Some(stem).filter(|stem| !stem.is_empty())
}

/// The store of a budget.
pub(super) fn open(place: &Path) -> Result<Box<dyn BudgetStore>, Refusal> {
    if let Some((connection, name)) = database(place) {
        return postgres::open(connection, name);
    }
    // Nothing is made beside a file that is not there.
    let options = if place.is_file() { options(Some(place)) } else { StoreOptions::default() };
    Ok(Box::new(SqliteBudget::open(place, options)?))
}

/// A new budget.
pub(super) fn create(place: &Path, terms: &BudgetTerms) -> Result<(), Refusal> {
    if let Some((connection, name)) = database(place) {
        return postgres::create(connection, name, terms);
    }
    let is_free = std::fs::symlink_metadata(place).is_err();
    let options = if is_free { options(Some(place)) } else { StoreOptions::default() };
    SqliteBudget::create(place, terms, options)?;
    Ok(())
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use reticent_ledger::PostgresBudget;

    pub(super) fn open(connection: &str, name: &str) -> Result<Box<dyn BudgetStore>, Refusal> {
        Ok(Box::new(PostgresBudget::open(connection, name, options(None))?))
    }

    pub(super) fn create(connection: &str, name: &str, terms: &BudgetTerms) -> Result<(), Refusal> {
        PostgresBudget::create(connection, name, terms, options(None))?;
        Ok(())
    }
}

#[cfg(not(feature = "postgres"))]
mod postgres {
    use super::*;
    use reticent_core::Code;

    fn refusal(name: &str) -> Refusal {
        let remedy = "this build has no PostgreSQL: build it with the feature postgres, or use a file";
        Refusal::value("budget", format!("#{name}"), remedy).coded(Code::Conflict)
    }

    pub(super) fn open(_: &str, name: &str) -> Result<Box<dyn BudgetStore>, Refusal> {
        Err(refusal(name))
    }

    pub(super) fn create(_: &str, name: &str, _: &BudgetTerms) -> Result<(), Refusal> {
        Err(refusal(name))
    }
}
