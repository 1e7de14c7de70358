//! A budget in memory that sessions charge one after the other, or at the same time.

use crate::refusal::Refusal;
use crate::session::Session;
use reticent_accounting::filter::Budget;
use reticent_core::{Code, Guarantee, Ledger, LedgerError, Neighboring, Plan};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A limit for several sessions about the same data.
///
/// ```
/// use reticent_core::{Code, Epsilon, Guarantee, Neighboring};
/// use reticent_curator::budget::SharedBudget;
/// use reticent_curator::release::{Release, ReleaseQuestion};
/// use reticent_curator::{Planned, Request};
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("visits.csv");
/// # std::fs::write(&file, "age\n30\n41\n57\n")?;
/// let limit = Guarantee::pure(Epsilon::new(1.5)?);
/// let budget = SharedBudget::new("visits", "row", limit, Neighboring::AddRemove)?;
/// let count = Release::new(&file, ReleaseQuestion::Count { column: None, error: None }, 1.0);
/// count.check()?.run(&mut budget.session()?)?;
/// let refusal = count.check()?.run(&mut budget.session()?).err().ok_or("charged beyond the limit")?;
/// assert_eq!(refusal.code(), Code::Spent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
/// Everything drawn in its sessions together is private within the limit, as of [`Budget`], whichever threads they are on. A forked
/// process has a copy of the record, which would be a second limit beside the first: there it refuses to be charged.
///
/// # Reference
/// [`Budget`].
#[derive(Debug)]
pub struct SharedBudget {
    data: String,
    unit: String,
    process: u32,
    inner: Arc<Mutex<Budget>>,
}

impl SharedBudget {
    /// A budget of which nothing is spent, for these data and this privacy unit.
    ///
    /// # Errors
    /// [`Refusal`] for a limit that no filter can hold.
    pub fn new(
        data: impl Into<String>,
        unit: impl Into<String>,
        limit: Guarantee,
        neighboring: Neighboring,
    ) -> Result<Self, Refusal> {
        let inner = Arc::new(Mutex::new(Budget::new(limit, neighboring)?));
        Ok(Self { data: data.into(), unit: unit.into(), process: std::process::id(), inner })
    }

    /// A session that charges it.
    ///
    /// # Errors
    /// [`Refusal`] in another process than the one that it was made in, and as [`Session::new`].
    pub fn session(&self) -> Result<Session, Refusal> {
        let neighboring = self.own()?.neighboring();
        let ledger = Charged { neighboring, inner: Arc::clone(&self.inner) };
        Session::new(&self.data, &self.unit, neighboring, Box::new(ledger))
    }

    /// The record, in the process that it was made in.
    ///
    /// # Errors
    /// [`Refusal`] in any other process.
    pub fn own(&self) -> Result<MutexGuard<'_, Budget>, Refusal> {
        if self.process != std::process::id() {
            let remedy = "belongs to another process, and a copy would be a second limit beside the first: charge it in the \
                          process that created it";
            return Err(Refusal::about(Code::Conflict, "budget", remedy));
        }
        Ok(locked(&self.inner))
    }

    /// The privacy unit.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The name of the data.
    pub fn data(&self) -> &str {
        &self.data
    }
}

fn locked(budget: &Mutex<Budget>) -> MutexGuard<'_, Budget> {
    // Whoever panicked while holding it had either recorded a plan or not.
    budget.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Charged {
    neighboring: Neighboring,
    inner: Arc<Mutex<Budget>>,
}

impl Ledger for Charged {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        locked(&self.inner).reserve(plan)
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.neighboring)
    }

    fn limit(&self) -> Option<Guarantee> {
        Some(locked(&self.inner).limit())
    }
}
