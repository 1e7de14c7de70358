//! The suites that every store passes, and the broken twins that they catch.
//!
//! | suite | what it does |
//! |---|---|
//! | `contract` | what a store promises, one statement at a time |
//! | `race` | many processes at once |
//! | `kills` | processes that are killed at random moments |
//! | `faults` | logs that are cut off, pages that are half written, full disks, flipped bytes |
//! | `synced` | which writes are synced, and when |
//! | `tampering` | rows that were changed, records that were rolled back or copied |
//! | `twins` | stores with a mistake, which the suites above must find |
//! | `child` | what other processes do |
//! | `server` | a PostgreSQL server for a test |

mod child;
mod contract;
mod faults;
mod kills;
mod race;
#[cfg(feature = "postgres")]
mod server;
mod synced;
mod tampering;
mod twins;

use crate::{
    Asking, BudgetStore, BudgetTerms, Charge, EntryKind, QuestionDigest, SqliteBudget, StoreError,
    StoreOptions,
};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where the store of a test is.
#[derive(Debug, Clone)]
enum Place {
    Sqlite(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres {
        connection: String,
        name: String,
    },
}

impl Place {
    fn create(&self, terms: &BudgetTerms, options: StoreOptions) -> Result<Box<dyn BudgetStore>, StoreError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(SqliteBudget::create(path, terms, options)?),
            #[cfg(feature = "postgres")]
            Self::Postgres { connection, name } => {
                Box::new(crate::PostgresBudget::create(connection, name, terms, options)?)
            }
        })
    }

    fn open(&self, options: StoreOptions) -> Result<Box<dyn BudgetStore>, StoreError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(SqliteBudget::open(path, options)?),
            #[cfg(feature = "postgres")]
            Self::Postgres { connection, name } => {
                Box::new(crate::PostgresBudget::open(connection, name, options)?)
            }
        })
    }

    /// One line that another process reads.
    fn line(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite\t{}", path.display()),
            #[cfg(feature = "postgres")]
            Self::Postgres { connection, name } => format!("postgres\t{connection}\t{name}"),
        }
    }

    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["sqlite", path] => Self::Sqlite(PathBuf::from(path)),
            #[cfg(feature = "postgres")]
            ["postgres", connection, name] => {
                Self::Postgres { connection: connection.to_owned(), name: name.to_owned() }
            }
            _ => panic!("{line}"),
        }
    }
}

fn guarantee(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn terms(epsilon: f64, delta: f64) -> BudgetTerms {
    BudgetTerms::new("patients of 2026", guarantee(epsilon, delta), Neighboring::AddRemove, "row")
}

fn pure(epsilon: f64) -> Plan {
    Plan::new(vec![Event::Pure { epsilon: Epsilon::new(epsilon).unwrap() }]).unwrap()
}

/// A charge whose question has a name.
fn question(plan: Plan, about: &str) -> Charge {
    let digest = QuestionDigest::of(about.as_bytes());
    Charge { plan, asking: Asking { question: Some(digest), about: about.to_owned(), ..Asking::default() } }
}

fn exceeded<T: std::fmt::Debug>(result: Result<T, StoreError>) -> (crate::BudgetScope, String) {
    match result {
        Err(StoreError::Exceeded { scope, remedy, .. }) => (scope, remedy),
        other => panic!("{other:?}"),
    }
}

/// What every reservation on record is about.
fn on_record(store: &mut dyn BudgetStore) -> Vec<String> {
    let entries = store.entries(0..u64::MAX).unwrap();
    let about = |entry: crate::BudgetEntry| match entry.kind {
        EntryKind::Reserved { about, .. } => Some(about),
        _ => None,
    };
    entries.into_iter().filter_map(about).collect()
}

/// The lines of a file, as far as they are whole.
fn lines(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

/// Numbers that look random; a test says where they began.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let asked = std::env::var("RETICENT_SEED").ok().and_then(|text| text.parse().ok());
        let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let seed = asked.unwrap_or_else(|| clock() as u64 | 1);
        println!("RETICENT_SEED={seed}");
        Self(seed)
    }

    /// A number below another one.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

/// A number that the environment may raise, for the lane of long tests.
fn asked(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().unwrap())
}
